/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/compare.h"

#include "console.h"
#include "files/forms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Percentages are rounded down: 100 % means all. */
static double percent_down(uint64_t part, uint64_t whole)
{
    return floor((double)part / (double)whole * 10000) / 100;
}

static void print_settings(const struct gpume_comparison *comparison)
{
    uint32_t at = 0;
    const char *name, *values[2], *title = "made with";
    while (gpume_comparison_setting(comparison, &at, &name, values)) {
        printf("%-13s", title);
        gpume_console_print_name(name, stdout);
        for (size_t i = 0; i < 2; i++) {
            printf("%s", i ? ", B " : ": A ");
            gpume_console_print_name(values[i] ? values[i] : "-", stdout);
        }
        printf("\n");
        title = "";
    }
}

static void print_counts(const struct gpume_comparison *comparison)
{
    const struct gpume_compared *blocks = &comparison->blocks;
    const uint64_t all = blocks->blocks;
    printf("compared     %" PRIu64 " frame pair%s, %" PRIu64 " block%s\n", comparison->fields,
        comparison->fields == 1 ? "" : "s", all, all == 1 ? "" : "s");
    for (size_t i = 0; i < 2; i++) {
        if (comparison->only[i] > 0) {
            printf("only in %c    %" PRIu64 " frame pair%s, not compared\n", "AB"[i],
                comparison -> only[i], comparison -> only[i] == 1 ? "" : "s");
        }
    }
    if (comparison->refs_differ > 0) {
        printf("references   differ in %" PRIu64 " frame pair%s\n", comparison->refs_differ,
            comparison->refs_differ == 1 ? "" : "s");
    }
    printf("vectors      %" PRIu64 " of %" PRIu64 " equal (%.2f %%)", blocks->vectors_equal, all,
        percent_down(blocks->vectors_equal, all));
    if (blocks->vectors_equal < all) {
        printf(", %.3f pixels apart on average, %.3f at most", blocks->distance_sum / (double)all,
            blocks->distance_max);
    }
    if (!blocks->has_costs) {
        printf("\ncosts        not compared, %s has any\n", comparison->has_costs[0]   ? "only A"
                                                            : comparison->has_costs[1] ? "only B"
                                                                                       : "neither");
    } else {
        printf("\ncosts        %" PRIu64 " of %" PRIu64 " equal (%.2f %%)", blocks->costs_equal,
            all, percent_down(blocks->costs_equal, all));
        if (blocks->costs_equal < all) {
            printf(", at most %" PRIu64 " apart", blocks->cost_difference_max);
        }
        printf("\nboth         %" PRIu64 " of %" PRIu64 " equal (%.2f %%)\n", blocks->both_equal,
            all, percent_down(blocks->both_equal, all));
    }
    printf("frame pairs  %" PRIu64 " of %" PRIu64 " equal in all blocks\n",
        comparison->equal_fields, comparison->fields);
}

#define FRAME_BYTES 64

/* Tells the two fields of a frame apart. */
static void name_field(char name[FRAME_BYTES], uint64_t frame, uint64_t ref)
{
    if (ref > frame) {
        snprintf(name, FRAME_BYTES, "frame %" PRIu64 " to %" PRIu64, frame, ref);
    } else {
        snprintf(name, FRAME_BYTES, "frame %" PRIu64, frame);
    }
}

static double pixels(int32_t value)
{
    return (double)value / GPUME_VECTORS_UNITS;
}

static void print_first(const struct gpume_comparison *comparison)
{
    if (comparison->has_first) {
        const struct gpume_vectors_block *a = &comparison->first[0], *b = &comparison->first[1];
        char name[FRAME_BYTES], costs[2][32] = {"", ""};
        name_field(name, comparison->first_frame, comparison->first_ref);
        for (size_t i = 0; i < 2 && comparison->blocks.has_costs; i++) {
            snprintf(costs[i], sizeof(costs[i]), " at cost %" PRIu32, comparison->first[i].cost);
        }
        printf("first        %s, block at (%" PRIu32 ",%" PRIu32 "): A (%g,%g)%s, B (%g,%g)%s\n",
            name, a->x, a->y, pixels(a->dx), pixels(a->dy), costs[0], pixels(b->dx), pixels(b->dy),
            costs[1]);
    }
}

struct statistics_row {
    const char *name;
    char cells[3][48]; /* of A, of B, and how much more B has */
};

static const struct gpume_column statistics_columns[] = {
    {GPUME_COLUMN(NULL, struct statistics_row, name), .title = "", .width = 22},
    {GPUME_COLUMN(NULL, struct statistics_row, cells[0]), .title = "A", .width = 16, .right = true},
    {GPUME_COLUMN(NULL, struct statistics_row, cells[1]), .title = "B", .width = 16, .right = true},
    {GPUME_COLUMN(NULL, struct statistics_row, cells[2]), .title = "B - A", .width = 16,
        .right = true},
};
static const struct gpume_table statistics_table = {
    GPUME_TABLE(statistics_columns, struct statistics_row)};

/* NAN: unknown. */
static struct statistics_row pair_row(const char *name, double a, double b, int decimals)
{
    struct statistics_row row = {.name = name};
    const double values[3] = {a, b, isfinite(a) && isfinite(b) ? b - a : (double)NAN};
    for (size_t i = 0; i < 3; i++) {
        snprintf(row.cells[i], sizeof(row.cells[i]),
            isnan(values[i]) ? "-"
            : i == 2         ? "%+.*f"
                             : "%.*f",
            decimals, values[i]);
    }
    return row;
}

static double mean_of(double sum, uint64_t count)
{
    return count > 0 ? sum / (double)count : (double)NAN;
}

/* Infinite if every frame is predicted exactly. */
static double mean_psnr(const struct gpume_compared_statistics *statistics)
{
    return statistics->psnr_finite == 0 && statistics->fields > 0
               ? (double)INFINITY
               : mean_of(statistics->psnr_sum, statistics->psnr_finite);
}

static void print_statistics(const struct gpume_comparison *comparison)
{
    const struct gpume_compared *blocks = &comparison->blocks;
    const struct gpume_compared_statistics *a = &comparison->statistics[0], *b = a + 1;
    const double fields = (double)comparison->fields;
    struct statistics_row rows[8];
    size_t count = 0;
    if (blocks->has_costs) {
        rows[count++] = pair_row("cost per frame pair", (double)blocks->costs[0] / fields,
            (double)blocks->costs[1] / fields, 1);
        rows[count++] =
            pair_row("cheaper blocks", (double)blocks->cheaper[0], (double)blocks->cheaper[1], 0);
    }
    rows[count++] = pair_row("zero vectors", (double)blocks->zero[0], (double)blocks->zero[1], 0);
    if (a->fields > 0 || b->fields > 0) {
        rows[count++] = pair_row("SAD per pair, before", mean_of(a->sad_before, a->fields),
            mean_of(b->sad_before, b->fields), 1);
        rows[count++] = pair_row("SAD per pair, after", mean_of(a->sad_after, a->fields),
            mean_of(b->sad_after, b->fields), 1);
        rows[count++] = pair_row("SAD per pixel, before", mean_of(a->sad_before, a->pixels),
            mean_of(b->sad_before, b->pixels), 3);
        rows[count++] = pair_row("SAD per pixel, after", mean_of(a->sad_after, a->pixels),
            mean_of(b->sad_after, b->pixels), 3);
        rows[count++] = pair_row("mean PSNR after, dB", mean_psnr(a), mean_psnr(b), 3);
    }
    printf("\n");
    gpume_table_print(&statistics_table, rows, count, stdout, gpume_console_bold(stdout),
        gpume_console_plain(stdout));
}

struct worst_row {
    char name[FRAME_BYTES];
    uint64_t blocks, cheaper[2];
    double share, pixels;
};

static const struct gpume_column worst_columns[] = {
    {GPUME_COLUMN(NULL, struct worst_row, name), .title = "most unequal"},
    {GPUME_COLUMN(NULL, struct worst_row, blocks), .title = "blocks", .width = 10},
    {GPUME_COLUMN(NULL, struct worst_row, share), .title = "share", .width = 8, .shown = 2,
        .unit = " %"},
    {GPUME_COLUMN(NULL, struct worst_row, cheaper[0]), .title = "A cheaper", .width = 10},
    {GPUME_COLUMN(NULL, struct worst_row, cheaper[1]), .title = "B cheaper", .width = 10},
    {GPUME_COLUMN(NULL, struct worst_row, pixels), .title = "pixels at most", .shown = 3},
};
static const struct gpume_table worst_table = {GPUME_TABLE(worst_columns, struct worst_row)};

static void print_worst(const struct gpume_comparison *comparison)
{
    struct worst_row rows[GPUME_COMPARISON_WORST];
    for (uint32_t i = 0; i < comparison->worst_count; i++) {
        const struct gpume_compared_field *field = &comparison->worst[i];
        const struct gpume_compared *blocks = &field->blocks;
        const uint64_t unequal = blocks->blocks - blocks->both_equal;
        rows[i] = (struct worst_row){.blocks = unequal,
            .cheaper = {blocks->cheaper[0], blocks->cheaper[1]},
            .share = percent_down(unequal, blocks->blocks),
            .pixels = blocks->distance_max};
        name_field(rows[i].name, field->frame, field->ref[0]);
    }
    if (comparison->worst_count > 0) {
        printf("\n");
        gpume_table_print(&worst_table, rows, comparison->worst_count, stdout,
            gpume_console_bold(stdout), gpume_console_plain(stdout));
    }
}

void gpume_compare_print_table(const struct gpume_comparison *comparison)
{
    for (size_t i = 0; i < 2; i++) {
        printf("%c            ", "AB"[i]);
        gpume_console_print_name(comparison->names[i], stdout);
        printf("\n");
    }
    print_settings(comparison);
    print_counts(comparison);
    print_first(comparison);
    print_statistics(comparison);
    print_worst(comparison);
}
