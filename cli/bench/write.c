/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/rows.h"

#include "base/params.h"
#include "base/status.h"
#include "console.h"
#include "files/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Raise it by one when a key of the JSON object is removed or changes its meaning. */
#define FORMAT 1

static void put_work(struct gpume_json *json, const struct gpume_bench *bench)
{
    const struct gpume_params *params = &bench->params;
    char window[32], search[GPUME_BENCH_TEXT_BYTES], shapes[GPUME_SHAPES_TEXT_BYTES];
    gpume_shapes_text(params, shapes);
    gpume_bench_search_text(params, search);
    snprintf(window, sizeof(window), "%ux%u", params->window_x, params->window_y);
    gpume_json_begin(json, "work");
    gpume_json_text(json, "input", bench->input);
    gpume_json_count(json, "width", params->width);
    gpume_json_count(json, "height", params->height);
    gpume_json_count(json, "bits", params->bits);
    (params->shape_count > 0 ? gpume_json_text : gpume_json_digits)(json, "block", shapes);
    gpume_json_text(json, "window", window);
    gpume_json_text(json, "edge", gpume_names_edge[params->edge]);
    if (search[0]) {
        gpume_json_text(json, "search", search);
    }
    gpume_json_count(json, "fields", bench->fields);
    gpume_json_count(json, "blocks", bench->blocks);
    gpume_json_count(json, "candidates", bench->candidates);
    gpume_json_real(json, "differences_per_field", bench->differences, 0);
    gpume_json_end(json);
    gpume_json_begin(json, "agreed");
    gpume_json_count(json, "plain_rows", bench->plain_rows);
    gpume_json_count(json, "mestimate_rows", bench->mestimate_rows);
    gpume_json_end(json);
}

static void put_search(struct gpume_json *json, const struct gpume_bench_row *row)
{
    gpume_json_text(json, "content", row->content);
    gpume_json_text(json, "engine", row->engine);
    gpume_json_text(json, "search", row->search);
    gpume_json_text(json, "device", row->device);
    gpume_json_text(json, "driver", row->driver);
    gpume_json_figure(json, "threads", row->threads, 0);
    gpume_json_truth(json, "elimination", row->elimination);
    gpume_json_real(json, "eliminated", row->eliminated, 6);
    gpume_json_count(json, "rows", row->rows);
    gpume_json_real(json, "us_per_field", row->us, 3);
    gpume_json_real(json, "wall_us_per_field", row->wall_us, 3);
    gpume_json_real(json, "px_per_s", row->per_second, 0);
    gpume_json_figure(json, "ceiling_px_per_s", row->ceiling, 0);
    gpume_json_figure(json, "share_of_ceiling", row->share, 6);
    gpume_json_figure(json, "speedup_core", row->over_core, 6);
    gpume_json_figure(json, "speedup_mestimate", row->over_mestimate, 6);
}

static void put_array(struct gpume_json *json, const struct gpume_bench_row *row)
{
    gpume_json_text(json, "work", row->content);
    gpume_json_text(json, "engine", row->engine);
    gpume_json_text(json, "method", row->search);
    gpume_json_text(json, "device", row->device);
    gpume_json_text(json, "driver", row->driver);
    gpume_json_count(json, "items", row->items);
    gpume_json_count(json, "bits", row->item_bits);
    gpume_json_real(json, "us", row->us, 3);
    gpume_json_figure(json, "wall_us", row->wall_us, 3);
    gpume_json_real(json, "items_per_s", row->per_second, 0);
    gpume_json_figure(json, "share_of_copy", row->share, 6);
    gpume_json_figure(json, "speedup_core", row->over_core, 6);
}

static int write_json(const struct gpume_bench *bench)
{
    struct gpume_json json;
    GPUME_CHECK(gpume_json_start(&json, FORMAT, &gpume_console));
    gpume_json_text(&json, "commit", bench->commit[0] ? bench->commit : NULL);
    gpume_json_text(&json, "cpu", bench->cpu);
    if (!bench->arrays) {
        gpume_json_count(&json, "processors", bench->processors);
        put_work(&json, bench);
    }
    gpume_json_begin_list(&json, bench->arrays ? "arrays" : "rows");
    for (uint32_t i = 0; i < bench->count; i++) {
        gpume_json_begin(&json, NULL);
        (bench->arrays ? put_array : put_search)(&json, &bench->rows[i]);
        gpume_json_end(&json);
    }
    gpume_json_end_list(&json);
    if (!bench->arrays) {
        gpume_json_begin_list(&json, "notes");
        for (uint32_t i = 0; i < bench->note_count; i++) {
            gpume_json_text(&json, NULL, bench->notes[i]);
        }
        gpume_json_end_list(&json);
    }
    return gpume_json_finish(&json);
}

/* A cell, quoted if necessary, and a comma. */
static void put_text(struct gpume_out *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    (void)gpume_out_text(out, quoted ? "\"" : "");
    for (; *text; text++) {
        (void)gpume_out_write(out, text, 1);
        if (*text == '"') {
            (void)gpume_out_text(out, "\"");
        }
    }
    (void)gpume_out_text(out, quoted ? "\"," : ",");
}

/* Empty unless the value is positive. */
static void put_real(struct gpume_out *out, double value, int decimals)
{
    char text[64] = "";
    if (value > 0) {
        snprintf(text, sizeof(text), "%.*f", decimals, value);
    }
    put_text(out, text);
}

/* The shapes and what else is asked of the search, in quotes where they hold commas. */
static void work_text(const struct gpume_params *params, char text[2 * GPUME_BENCH_TEXT_BYTES + 8])
{
    char shapes[GPUME_SHAPES_TEXT_BYTES], search[GPUME_BENCH_TEXT_BYTES];
    gpume_shapes_text(params, shapes);
    gpume_bench_search_text(params, search);
    const bool quoted = search[0] || strchr(shapes, ',');
    snprintf(text, 2 * GPUME_BENCH_TEXT_BYTES + 8, "%s%s%s%s%s", quoted ? "\"" : "", shapes,
        search[0] ? "; " : "", search, quoted ? "\"" : "");
}

static void put_csv_row(
    struct gpume_out *out, const struct gpume_bench *bench, const struct gpume_bench_row *row)
{
    const struct gpume_params *params = &bench->params;
    char size[96], work[2 * GPUME_BENCH_TEXT_BYTES + 8], rows[16] = "\n";
    char shape[3 * GPUME_BENCH_TEXT_BYTES] = ",,";
    snprintf(size, sizeof(size), "%" PRIu64 ",%u,", row->items, row->item_bits);
    if (!bench->arrays) {
        snprintf(size, sizeof(size), "%ux%u,%u,", params->width, params->height, params->bits);
        work_text(params, work);
        snprintf(shape, sizeof(shape), "%s,%ux%u,", work, params->window_x, params->window_y);
        snprintf(rows, sizeof(rows), "%u\n", row->rows);
    }
    put_text(out, row->device);
    put_text(out, row->driver);
    put_text(out, bench->commit);
    (void)gpume_out_text(out, size);
    put_text(out, row->content);
    (void)gpume_out_text(out, shape);
    put_text(out, row->engine);
    put_text(out, row->search);
    (void)gpume_out_text(out, bench->arrays ? "," : row->elimination ? "on," : "off,");
    put_real(out, row->threads, 0);
    put_real(out, row->us, 3);
    put_real(out, row->per_second, 0);
    put_real(out, row->over_core, 6);
    put_real(out, row->over_mestimate, 6);
    put_real(out, row->wall_us, 3);
    put_real(out, row->share, 6);
    (void)gpume_out_text(out, rows);
}

static int write_csv(const struct gpume_bench *bench)
{
    int status;
    struct gpume_out *out = NULL;
    GPUME_TRY(gpume_out_open(&out, "-", true, &gpume_console));
    (void)gpume_out_text(out,
        "device,driver,commit,size,bits,content,block,window,engine,search,"
        "elimination,threads,us_per_field,px_per_s,speedup_core,speedup_mestimate,"
        "wall_us_per_field,share_of_ceiling,rows\n");
    for (uint32_t i = 0; i < bench->count; i++) {
        put_csv_row(out, bench, &bench->rows[i]);
    }
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&out);
    return status;
}

int gpume_bench_write(const struct gpume_bench *bench, enum gpume_form form)
{
    if (form == GPUME_FORM_TABLE) {
        gpume_bench_print_table(bench);
        return GPUME_OK;
    }
    return form == GPUME_FORM_JSON ? write_json(bench) : write_csv(bench);
}
