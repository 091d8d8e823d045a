/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/rows.h"

#include "files/json.h"

#include <stdio.h>

static void put_work(struct gpume_json *json, const struct gpume_bench *bench)
{
    const struct gpume_params *params = &bench->params;
    char window[32];
    snprintf(window, sizeof(window), "%ux%u", params->window_x, params->window_y);
    gpume_json_begin(json, "work");
    gpume_json_text(json, "input", bench->input);
    gpume_json_count(json, "width", params->width);
    gpume_json_count(json, "height", params->height);
    gpume_json_count(json, "bits", params->bits);
    gpume_json_count(json, "block", params->block);
    gpume_json_text(json, "window", window);
    gpume_json_text(json, "edge", params->edge == GPUME_EDGE_INSIDE ? "inside" : "extend");
    gpume_json_count(json, "fields", bench->fields);
    gpume_json_count(json, "blocks", bench->blocks);
    gpume_json_count(json, "candidates", bench->candidates);
    gpume_json_real(json, "differences_per_field", bench->differences, 0);
    gpume_json_end(json);
}

static void put_row(struct gpume_json *json, const struct gpume_bench_row *row)
{
    gpume_json_begin(json, NULL);
    gpume_json_text(json, "content", row->content);
    gpume_json_text(json, "engine", row->engine);
    gpume_json_text(json, "search", row->search);
    gpume_json_text(json, "device", row->device);
    gpume_json_text(json, "driver", row->driver);
    if (row->threads > 0) {
        gpume_json_count(json, "threads", row->threads);
    } else {
        gpume_json_text(json, "threads", NULL);
    }
    gpume_json_truth(json, "elimination", row->elimination);
    gpume_json_count(json, "rows", row->rows);
    gpume_json_real(json, "us_per_field", row->search_us, 3);
    gpume_json_real(json, "wall_us_per_field", row->wall_us, 3);
    gpume_json_real(json, "px_per_s", row->differences_per_second, 0);
    gpume_json_figure(json, "ceiling_px_per_s", row->ceiling, 0);
    gpume_json_figure(json, "share_of_ceiling",
        row->ceiling > 0 ? row->differences_per_second / row->ceiling : 0, 6);
    gpume_json_figure(json, "speedup_core", row->over_core, 6);
    gpume_json_figure(json, "speedup_mestimate", row->over_mestimate, 6);
    gpume_json_end(json);
}

int gpume_bench_write_json(const struct gpume_bench *bench, const struct gpume_log *log)
{
    struct gpume_json json;
    const int status = gpume_json_start(&json, GPUME_BENCH_FORMAT, log);
    if (status != GPUME_OK) {
        return status;
    }
    gpume_json_text(&json, "commit", bench->commit[0] ? bench->commit : NULL);
    gpume_json_text(&json, "cpu", bench->cpu);
    gpume_json_count(&json, "processors", bench->processors);
    put_work(&json, bench);
    gpume_json_begin(&json, "agreed");
    gpume_json_count(&json, "plain_rows", bench->plain_rows);
    gpume_json_count(&json, "mestimate_rows", bench->mestimate_rows);
    gpume_json_end(&json);
    gpume_json_begin_list(&json, "rows");
    for (uint32_t i = 0; i < bench->count; i++) {
        put_row(&json, &bench->rows[i]);
    }
    gpume_json_end_list(&json);
    gpume_json_begin_list(&json, "notes");
    for (uint32_t i = 0; i < bench->note_count; i++) {
        gpume_json_text(&json, NULL, bench->notes[i]);
    }
    gpume_json_end_list(&json);
    return gpume_json_finish(&json);
}
