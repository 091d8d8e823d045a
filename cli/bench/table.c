/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/rows.h"

#include "base/params.h"
#include "console.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACE_MAX 24 /* columns */

static bool same_device(const struct gpume_bench_row *a, const struct gpume_bench_row *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0;
}

/* One line per Vulkan device. */
static void print_devices(const struct gpume_bench *bench)
{
    for (uint32_t i = 0; i < bench->count; i++) {
        const struct gpume_bench_row *row = &bench->rows[i];
        bool first = strcmp(row->engine, "vulkan") == 0 || strcmp(row->engine, "several") == 0;
        for (uint32_t j = 0; j < i && first; j++) {
            first = !same_device(row, &bench->rows[j]);
        }
        if (first) {
            printf("device   %s, driver %s\n", row->device, row->driver);
        }
    }
}

static void print_work(const struct gpume_bench *bench)
{
    const struct gpume_params *params = &bench->params;
    printf("work     ");
    if (bench->input) {
        gpume_console_print_name(bench->input, stdout);
        printf(": ");
    }
    char shapes[GPUME_SHAPES_TEXT_BYTES], search[GPUME_BENCH_TEXT_BYTES];
    gpume_shapes_text(params, shapes);
    gpume_bench_search_text(params, search);
    printf("%" PRIu32 " x %" PRIu32 " pixels, %" PRIu32 " bits, block %s, window %" PRIu32
           "x%" PRIu32 ", edge %s%s%s\n",
        params->width, params->height, params->bits, shapes, params->window_x, params->window_y,
        gpume_names_edge[params->edge], search[0] ? ", " : "", search);
    printf("         %" PRIu32 " blocks of up to %" PRIu64 " candidates: %.4g G pixel differences "
           "(px) per frame pair\n",
        bench->blocks, bench->candidates, bench->differences / 1e9);
    printf("agreed   every vector and cost of %" PRIu32 " frame pairs; with plain on %" PRIu32
           " of %" PRIu32 " rows",
        bench->fields, bench->plain_rows, params->height);
    if (bench->mestimate_rows > 0) {
        printf(", with mestimate on %" PRIu32, bench->mestimate_rows);
    }
    printf("\n");
    for (uint32_t i = 0; i < bench->note_count; i++) {
        printf("note     %s\n", bench->notes[i]);
    }
}

/* "-" for an unknown value. */
static void print_cell(int width, double value, int decimals, const char *unit)
{
    char text[32] = "-";
    if (value > 0) {
        snprintf(text, sizeof(text), "%.*f%s", decimals, value, unit);
    }
    printf("  %*s", width, text);
}

static void print_factor(int width, double value, const char *unit)
{
    print_cell(width, value, value < 0.1 ? 4 : value < 10 ? 2 : value < 1000 ? 1 : 0, unit);
}

/* Where a row ran, shortened if necessary: the lines above the table have the full name. */
static void describe_place(const struct gpume_bench_row *row, char where[PLACE_MAX + 1])
{
    if (row->threads > 0) {
        snprintf(where, PLACE_MAX + 1, "%" PRIu32 " thread%s", row->threads,
            row->threads == 1 ? "" : "s");
    } else {
        snprintf(where, PLACE_MAX + 1, "%.*s", PLACE_MAX, row->device);
    }
}

static int place_width(const struct gpume_bench *bench)
{
    size_t width = 0;
    for (uint32_t i = 0; i < bench->count; i++) {
        char where[PLACE_MAX + 1];
        describe_place(&bench->rows[i], where);
        width = strlen(where) > width ? strlen(where) : width;
    }
    return (int)width;
}

static void print_row(const struct gpume_bench_row *row, int width)
{
    char where[PLACE_MAX + 1], elimination[16] = "off";
    describe_place(row, where);
    if (row->elimination) {
        snprintf(elimination, sizeof(elimination), "on, %.1f %%", 100 * row->eliminated);
    }
    printf("%-7s  %-9s  %-*s  %-11s  %c%10.1f  %10.1f", row->engine, row->search, width, where,
        elimination, row->whole ? ' ' : '~', row->us, row->wall_us);
    print_factor(9, row->per_second / 1e9, "");
    print_factor(10, row->share * 100, " %");
    print_factor(8, row->over_core, "");
    print_factor(11, row->over_mestimate, "");
    printf("\n");
}

static void print_searches(const struct gpume_bench *bench)
{
    bool partly = false;
    const int width = place_width(bench);
    for (uint32_t i = 0; i < bench->count; i++) {
        const struct gpume_bench_row *row = &bench->rows[i];
        if (i == 0 || strcmp(row->content, bench->rows[i - 1].content) != 0) {
            printf("\n%s\n%-7s  %-9s  %-*s  %-11s  %11s  %10s  %9s  %10s  %8s  %11s\n",
                row->content, "engine", "search", width, "on", "elimination", "us/pair", "wall us",
                "G px/s", "of ceiling", "x core", "x mestimate");
        }
        print_row(row, width);
        partly = partly || !row->whole;
    }
    if (partly) {
        printf("\n~ too slow for the whole picture: measured on its upper rows\n");
    }
}

static bool is_same_work(const struct gpume_bench_row *a, const struct gpume_bench_row *b)
{
    return strcmp(a->content, b->content) == 0 && a->item_bits == b->item_bits;
}

/* All rows of the work of the first. */
static void print_array(const struct gpume_bench_row *first, const struct gpume_bench_row *end)
{
    printf("\n%s, %" PRIu32 " bits\n%-6s  %-8s  %10s  %12s  %14s  %10s  %8s  %8s\n", first->content,
        first->item_bits, "engine", "method", "items", "us", "with copies us", "M items/s",
        "x core", "of copy");
    for (const struct gpume_bench_row *row = first; row < end; row++) {
        if (is_same_work(row, first)) {
            printf(
                "%-6s  %-8s  %10" PRIu64 "  %12.1f", row->engine, row->search, row->items, row->us);
            print_cell(14, row->wall_us, 1, "");
            printf("  %10.1f", row->per_second / 1e6);
            print_cell(8, row->over_core, 2, "");
            print_cell(8, row->share * 100, 1, " %");
            printf("\n");
        }
    }
}

static void print_arrays(const struct gpume_bench *bench)
{
    for (uint32_t i = 0; i < bench->count; i++) {
        bool first = true;
        for (uint32_t j = 0; j < i; j++) {
            first = first && !is_same_work(&bench->rows[i], &bench->rows[j]);
        }
        if (first) {
            print_array(&bench->rows[i], bench->rows + bench->count);
        }
    }
}

void gpume_bench_print_table(const struct gpume_bench *bench)
{
    printf("gpume    %s%s%s%s\n", gpume_version(), bench->commit[0] ? " (" : "", bench->commit,
        bench->commit[0] ? ")" : "");
    printf("cpu      %s, %" PRIu32 " processor%s\n", bench->cpu, bench->processors,
        bench->processors == 1 ? "" : "s");
    print_devices(bench);
    if (bench->arrays) {
        print_arrays(bench);
    } else {
        print_work(bench);
        print_searches(bench);
    }
}
