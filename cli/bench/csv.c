/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/rows.h"

#include "base/status.h"
#include "files/csv.h"

#include <stdio.h>

const char gpume_bench_csv_header[] =
    "device,driver,commit,size,bits,content,block,window,engine,search,elimination,threads,"
    "us_per_field,px_per_s,speedup_core,speedup_mestimate,wall_us_per_field,share_of_ceiling,"
    "rows\n";

static void put_row(
    struct gpume_out *out, const struct gpume_bench *bench, const struct gpume_bench_row *row)
{
    const struct gpume_params *params = &bench->params;
    char text[96];
    gpume_csv_text(out, row->device);
    gpume_csv_text(out, row->driver);
    gpume_csv_text(out, bench->commit);
    snprintf(text, sizeof(text), "%ux%u,%u,", params->width, params->height, params->bits);
    gpume_csv_put(out, text);
    gpume_csv_text(out, row->content);
    snprintf(text, sizeof(text), "%u,%ux%u,", params->block, params->window_x, params->window_y);
    gpume_csv_put(out, text);
    gpume_csv_text(out, row->engine);
    gpume_csv_text(out, row->search);
    gpume_csv_text(out, row->elimination ? "on" : "off");
    gpume_csv_real(out, row->threads, 0);
    gpume_csv_real(out, row->search_us, 3);
    gpume_csv_real(out, row->differences_per_second, 0);
    gpume_csv_real(out, row->over_core, 6);
    gpume_csv_real(out, row->over_mestimate, 6);
    gpume_csv_real(out, row->wall_us, 3);
    gpume_csv_real(out, row->ceiling > 0 ? row->differences_per_second / row->ceiling : 0, 6);
    snprintf(text, sizeof(text), "%u\n", row->rows);
    gpume_csv_put(out, text);
}

int gpume_bench_write_csv(const struct gpume_bench *bench, const struct gpume_log *log)
{
    int status;
    struct gpume_out *out = NULL;
    GPUME_TRY(gpume_out_open(&out, "-", true, log));
    gpume_csv_put(out, gpume_bench_csv_header);
    for (uint32_t i = 0; i < bench->count; i++) {
        put_row(out, bench, &bench->rows[i]);
    }
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&out);
    return status;
}
