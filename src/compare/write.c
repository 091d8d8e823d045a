/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparisons as CSV and JSON. */
#include "compare/comparison.h"
#include "files/json.h"
#include "files/out.h"
#include "files/text_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

int gpume_comparison_csv_open(struct gpume_out **csv, const struct gpume_log *log)
{
    static const char header[] =
        "frame,blocks,vectors_equal,costs_equal,both_equal,a_cheaper,b_cheaper,a_zero,b_zero,"
        "a_costs,b_costs,vector_difference_mean,vector_difference_max,cost_difference_max,"
        "a_sad_after,b_sad_after,a_psnr_after,b_psnr_after,a_ref,b_ref\n";
    const int status = gpume_out_open(csv, "-", true, log);
    if (status == GPUME_OK) {
        (void)gpume_out_text(*csv, header);
    }
    return status;
}

void gpume_comparison_csv_row(struct gpume_out *out, const struct gpume_compared_field *field)
{
    const struct gpume_compared *blocks = &field->blocks;
    char row[512], text[3][2][32] = {{"", ""}, {"", ""}, {"", ""}};
    char costs[6][24] = {"", "", "", "", "", ""};
    const uint64_t counts[6] = {blocks->costs_equal, blocks->cheaper[0], blocks->cheaper[1],
        blocks->costs[0], blocks->costs[1], blocks->cost_difference_max};
    for (size_t i = 0; i < 6 && blocks->has_costs; i++) {
        snprintf(costs[i], sizeof(costs[i]), "%" PRIu64, counts[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        if (field->statistics[i].known) {
            snprintf(text[0][i], sizeof(text[0][i]), "%" PRIu64, field->statistics[i].sad_after);
            gpume_text_psnr(text[1][i], sizeof(text[1][i]), field->statistics[i].psnr_after);
        }
        if (field->has_refs) {
            snprintf(text[2][i], sizeof(text[2][i]), "%" PRIu64, field->ref[i]);
        }
    }
    snprintf(row, sizeof(row),
        "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64 ",%s,%s,%" PRIu64 ",%" PRIu64
        ",%s,%s,%.3f,%.3f,%s,%s,%s,%s,%s,%s,%s\n",
        field->frame, blocks->blocks, blocks->vectors_equal, costs[0], blocks->both_equal, costs[1],
        costs[2], blocks->zero[0], blocks->zero[1], costs[3], costs[4],
        blocks->distance_sum / (double)blocks->blocks, blocks->distance_max, costs[5], text[0][0],
        text[0][1], text[1][0], text[1][1], text[2][0], text[2][1]);
    (void)gpume_out_text(out, row);
}

static void put_side(struct gpume_json *json, const struct gpume_comparison *comparison, size_t i)
{
    const struct gpume_compared_statistics *statistics = &comparison->statistics[i];
    const double fields = (double)statistics->fields, finite = (double)statistics->psnr_finite;
    const double none = (double)INFINITY;
    gpume_json_begin(json, i ? "b" : "a");
    gpume_json_text(json, "name", comparison->names[i]);
    gpume_json_count(json, "only", comparison->only[i]);
    gpume_json_count_or_null(
        json, "cheaper", comparison->blocks.has_costs, comparison->blocks.cheaper[i]);
    gpume_json_count(json, "zero", comparison->blocks.zero[i]);
    gpume_json_count_or_null(json, "costs", comparison->has_costs[i], comparison->blocks.costs[i]);
    gpume_json_real(json, "sad_before", fields > 0 ? statistics->sad_before / fields : none, 3);
    gpume_json_real(json, "sad_after", fields > 0 ? statistics->sad_after / fields : none, 3);
    gpume_json_real(json, "psnr_after", finite > 0 ? statistics->psnr_sum / finite : none, 3);
    gpume_json_count(json, "psnr_after_infinite", statistics->fields - statistics->psnr_finite);
    gpume_json_end(json);
}

static void put_blocks(struct gpume_json *json, const struct gpume_compared *blocks)
{
    gpume_json_count(json, "blocks", blocks->blocks);
    gpume_json_count(json, "vectors_equal", blocks->vectors_equal);
    gpume_json_count_or_null(json, "costs_equal", blocks->has_costs, blocks->costs_equal);
    gpume_json_count(json, "both_equal", blocks->both_equal);
    gpume_json_real(json, "vector_difference_mean",
        blocks->blocks > 0 ? blocks->distance_sum / (double)blocks->blocks : 0, 6);
    gpume_json_real(json, "vector_difference_max", blocks->distance_max, 6);
    gpume_json_count_or_null(
        json, "cost_difference_max", blocks->has_costs, blocks->cost_difference_max);
}

static void put_pixels(struct gpume_json *json, const char *key, int32_t value)
{
    char digits[16];
    snprintf(digits, sizeof(digits), "%.8g", (double)value / GPUME_VECTORS_UNITS);
    gpume_json_digits(json, key, digits);
}

static void put_first(struct gpume_json *json, const struct gpume_comparison *comparison)
{
    if (!comparison->has_first) {
        gpume_json_text(json, "first_difference", NULL);
        return;
    }
    gpume_json_begin(json, "first_difference");
    gpume_json_count(json, "frame", comparison->first_frame);
    if (comparison->first_has_ref) {
        gpume_json_count(json, "ref", comparison->first_ref);
    }
    gpume_json_count(json, "x", comparison->first[0].x);
    gpume_json_count(json, "y", comparison->first[0].y);
    for (size_t i = 0; i < 2; i++) {
        gpume_json_begin(json, i ? "b" : "a");
        put_pixels(json, "dx", comparison->first[i].dx);
        put_pixels(json, "dy", comparison->first[i].dy);
        gpume_json_count_or_null(json, "cost", comparison->has_costs[i], comparison->first[i].cost);
        gpume_json_end(json);
    }
    gpume_json_end(json);
}

static void put_settings(struct gpume_json *json, const struct gpume_comparison *comparison)
{
    uint32_t at = 0;
    const char *name, *values[2];
    gpume_json_begin_list(json, "settings_differ");
    while (gpume_comparison_setting(comparison, &at, &name, values)) {
        gpume_json_begin(json, NULL);
        gpume_json_text(json, "name", name);
        gpume_json_text(json, "a", values[0]);
        gpume_json_text(json, "b", values[1]);
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

static void put_worst(struct gpume_json *json, const struct gpume_comparison *comparison)
{
    gpume_json_begin_list(json, "worst_fields");
    for (uint32_t i = 0; i < comparison->worst_count; i++) {
        const struct gpume_compared_field *field = &comparison->worst[i];
        gpume_json_begin(json, NULL);
        gpume_json_count(json, "frame", field->frame);
        if (field->has_refs) {
            gpume_json_count(json, "ref", field->ref[0]);
        }
        put_blocks(json, &field->blocks);
        gpume_json_count_or_null(
            json, "a_cheaper", field->blocks.has_costs, field->blocks.cheaper[0]);
        gpume_json_count_or_null(
            json, "b_cheaper", field->blocks.has_costs, field->blocks.cheaper[1]);
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

int gpume_comparison_write_json(
    const struct gpume_comparison *comparison, const struct gpume_log *log)
{
    struct gpume_json json;
    const int status = gpume_json_start(&json, GPUME_COMPARISON_FORMAT, log);
    if (status != GPUME_OK) {
        return status;
    }
    gpume_json_truth(&json, "equal", gpume_comparison_equal(comparison));
    gpume_json_count(&json, "fields", comparison->fields);
    gpume_json_count(&json, "fields_equal", comparison->equal_fields);
    gpume_json_count(&json, "references_differ", comparison->refs_differ);
    put_blocks(&json, &comparison->blocks);
    put_side(&json, comparison, 0);
    put_side(&json, comparison, 1);
    put_first(&json, comparison);
    put_worst(&json, comparison);
    put_settings(&json, comparison);
    return gpume_json_finish(&json);
}
