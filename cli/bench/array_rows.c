/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/array_rows.h"

#include "base/status.h"
#include "bench/rows.h"
#include "files/csv.h"
#include "files/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_csv_row(
    struct gpume_out *out, const char *commit, const struct gpume_array_row *row)
{
    char text[96];
    gpume_csv_text(out, row->device);
    gpume_csv_text(out, row->driver);
    gpume_csv_text(out, commit);
    snprintf(text, sizeof(text), "%" PRIu64 ",%" PRIu32 ",", row->items, row->bits);
    gpume_csv_put(out, text);
    gpume_csv_text(out, row->work);
    gpume_csv_put(out, ",,"); /* block, window */
    gpume_csv_text(out, row->engine);
    gpume_csv_text(out, row->method);
    gpume_csv_put(out, strcmp(row->engine, "cpu") == 0 ? ",1," : ",,"); /* elimination, threads */
    gpume_csv_real(out, row->us, 3);
    gpume_csv_real(out, row->items_per_second, 0);
    gpume_csv_real(out, row->over_core, 6);
    gpume_csv_put(out, ","); /* speedup_mestimate */
    gpume_csv_real(out, row->wall_us, 3);
    gpume_csv_real(out, row->share_of_copy, 6);
    gpume_csv_put(out, "\n"); /* rows */
}

int gpume_array_bench_write_csv(const struct gpume_array_bench *bench, const struct gpume_log *log)
{
    int status;
    struct gpume_out *out = NULL;
    GPUME_TRY(gpume_out_open(&out, "-", true, log));
    gpume_csv_put(out, gpume_bench_csv_header);
    for (uint32_t i = 0; i < bench->count; i++) {
        put_csv_row(out, bench->commit, &bench->rows[i]);
    }
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&out);
    return status;
}

static void put_json_row(struct gpume_json *json, const struct gpume_array_row *row)
{
    gpume_json_begin(json, NULL);
    gpume_json_text(json, "work", row->work);
    gpume_json_text(json, "engine", row->engine);
    gpume_json_text(json, "method", row->method);
    gpume_json_text(json, "device", row->device);
    gpume_json_text(json, "driver", row->driver);
    gpume_json_count(json, "items", row->items);
    gpume_json_count(json, "bits", row->bits);
    gpume_json_real(json, "us", row->us, 3);
    gpume_json_figure(json, "wall_us", row->wall_us, 3);
    gpume_json_real(json, "items_per_s", row->items_per_second, 0);
    gpume_json_figure(json, "share_of_copy", row->share_of_copy, 6);
    gpume_json_figure(json, "speedup_core", row->over_core, 6);
    gpume_json_end(json);
}

int gpume_array_bench_write_json(const struct gpume_array_bench *bench, const struct gpume_log *log)
{
    struct gpume_json json;
    const int status = gpume_json_start(&json, GPUME_ARRAY_BENCH_FORMAT, log);
    if (status != GPUME_OK) {
        return status;
    }
    gpume_json_text(&json, "commit", bench->commit[0] ? bench->commit : NULL);
    gpume_json_text(&json, "cpu", bench->cpu);
    gpume_json_begin_list(&json, "arrays");
    for (uint32_t i = 0; i < bench->count; i++) {
        put_json_row(&json, &bench->rows[i]);
    }
    gpume_json_end_list(&json);
    return gpume_json_finish(&json);
}
