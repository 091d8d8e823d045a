/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/statistics.h"

#include "base/base.h"
#include "sinks/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Bins on either side of the middle one; each gets a few pixels of the drawing. */
#define REACH_MAX 64u

/* A possible scene cut: sad_after is at least CUT_JUMP times that of the previous field of the same
 * distance, at least 1 / CUT_SHARE of sad_before, and on average at least CUT_LEVELS 8-bit gray
 * levels per pixel. */
#define CUT_JUMP 2u
#define CUT_SHARE 2u
#define CUT_LEVELS 4u

static void make_bins(uint32_t *bins, uint32_t window, uint32_t side, uint32_t reach)
{
    for (uint32_t i = 0; i <= 2 * window; i++) {
        /* Offset by whole bins to keep the dividend positive. */
        bins[i] = (i + reach * side + (side - 1) / 2 - window) / side;
    }
}

int gpume_report_histogram_init(
    struct gpume_report_histogram *histogram, const struct gpume_params *params)
{
    const uint32_t x = params->window_x, y = params->window_y, larger = x > y ? x : y;
    uint32_t side = 1;
    while ((larger + (side - 1) / 2) / side > REACH_MAX) {
        side += 2;
    }
    *histogram = (struct gpume_report_histogram){
        .side = side,
        .reach_x = (x + (side - 1) / 2) / side,
        .reach_y = (y + (side - 1) / 2) / side,
        .window_x = x,
        .window_y = y,
    };
    make_bins(histogram->bins_x, x, side, histogram->reach_x);
    make_bins(histogram->bins_y, y, side, histogram->reach_y);
    const size_t bins = (2 * (size_t)histogram->reach_x + 1) * (2 * histogram->reach_y + 1);
    histogram->counts = calloc(bins, sizeof(*histogram->counts));
    return histogram->counts ? GPUME_OK : GPUME_NOMEM;
}

void gpume_report_histogram_finish(struct gpume_report_histogram *histogram)
{
    free(histogram->counts);
    histogram->counts = NULL;
}

void gpume_report_histogram_put(
    const struct gpume_report_histogram *histogram, struct gpume_json *json)
{
    const uint32_t columns = 2 * histogram->reach_x + 1, rows = 2 * histogram->reach_y + 1;
    const int64_t side = histogram->side;
    gpume_json_begin(json, "histogram");
    gpume_json_count(json, "bin", histogram->side);
    gpume_json_begin_list(json, "counts");
    for (uint32_t y = 0; y < rows; y++) {
        for (uint32_t x = 0; x < columns; x++) {
            const uint64_t count = histogram->counts[(size_t)y * columns + x];
            if (count > 0) {
                char text[80];
                snprintf(text, sizeof(text), "[%" PRId64 ", %" PRId64 ", %" PRIu64 "]",
                    ((int64_t)x - histogram->reach_x) * side,
                    ((int64_t)y - histogram->reach_y) * side, count);
                gpume_json_digits(json, NULL, text);
            }
        }
    }
    gpume_json_end_list(json);
    gpume_json_end(json);
}

void gpume_report_cuts_init(struct gpume_report_cuts *cuts, const struct gpume_params *params)
{
    const uint64_t pixels = (uint64_t)params->width * params->height;
    *cuts = (struct gpume_report_cuts){.least = (CUT_LEVELS * pixels) << (params->bits - 8)};
}

bool gpume_report_is_cut(
    struct gpume_report_cuts *cuts, uint64_t frame, uint64_t ref, const struct gpume_sums *sums)
{
    const bool ahead = ref > frame;
    const uint64_t distance = ahead ? ref - frame : frame - ref;
    uint64_t *last = &cuts->last[ahead][gpume_min_u64(distance, GPUME_REPORT_DISTANCES - 1)];
    /* No overflow: 2^32 pixels of 16 bits have a SAD below 2^48. */
    const bool cut = *last > 0 && sums->sad_after >= cuts->least &&
                     sums->sad_after >= CUT_JUMP * (*last - 1) &&
                     CUT_SHARE * sums->sad_after >= sums->sad_before;
    *last = sums->sad_after + 1;
    return cut;
}

void gpume_report_measure(struct gpume_report_statistics *statistics,
    struct gpume_report_cuts *cuts, struct gpume_report_histogram *histogram,
    const struct gpume_field *field)
{
    const int32_t units = field->vector_units > 0 ? (int32_t)field->vector_units : 1;
    const uint64_t blocks = gpume_shown_count(field);
    double length_sum = 0;
    *statistics = (struct gpume_report_statistics){.blocks = blocks,
        .units = units,
        .cut = gpume_report_is_cut(cuts, field->frame, field->ref, &field->sums)};
    for (uint64_t i = 0; i < blocks; i++) {
        const struct gpume_part *part = field->part_count > 0 ? &field->parts[i] : NULL;
        const struct gpume_layer *layer = field->layers[part ? part->layer : 0];
        const size_t index = part ? part->block : (size_t)i;
        const int32_t dx = layer->vectors[index].dx, dy = layer->vectors[index].dy;
        const uint32_t squared = (uint32_t)(dx * dx + dy * dy);
        statistics->dx_sum += dx;
        statistics->dy_sum += dy;
        length_sum += sqrt((double)squared);
        if (squared > statistics->length_max_squared) {
            statistics->length_max_squared = squared;
        }
        if (layer->costs[index] > statistics->cost_max) {
            statistics->cost_max = layer->costs[index];
        }
        if (histogram) {
            const uint32_t x =
                histogram->bins_x[gpume_div_nearest(dx, units) + histogram->window_x];
            const uint32_t y =
                histogram->bins_y[gpume_div_nearest(dy, units) + histogram->window_y];
            histogram->counts[(size_t)y * (2 * histogram->reach_x + 1) + x]++;
        }
    }
    statistics->length_mean_milli = (uint64_t)llround(1000 * length_sum / units / (double)blocks);
}

void gpume_report_statistics_put(
    struct gpume_frame_row *row, const struct gpume_report_statistics *statistics)
{
    const double units = statistics->units, blocks = units * (double)statistics->blocks;
    row->dx_mean = (double)statistics->dx_sum / blocks;
    row->dy_mean = (double)statistics->dy_sum / blocks;
    row->length_mean = (double)statistics->length_mean_milli / 1000;
    row->length_max = sqrt((double)statistics->length_max_squared) / units;
    row->cost_max = statistics->cost_max;
    row->cut = statistics->cut;
}
