/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/array_rows.h"

#include "console.h"

#include <inttypes.h>
#include <stdio.h>

#define SLOW 8.0 /* a run may take so many times the budget of a row */

struct gpume_bench_row *gpume_bench_row(struct gpume_bench_places *places,
    const struct gpume_bench_method *method, const char *work, uint64_t items, uint32_t bits)
{
    struct gpume_bench *bench = &places->bench;
    if (bench->count == GPUME_BENCH_ROWS_MAX) {
        return NULL;
    }
    struct gpume_bench_row *row = &bench->rows[bench->count++];
    const bool cpu = method->compute == places->cpu;
    *row = (struct gpume_bench_row){.content = work,
        .engine = cpu ? "cpu" : "vulkan",
        .threads = cpu ? 1 : 0,
        .items = items,
        .item_bits = bits};
    snprintf(row->search, sizeof(row->search), "%s", method->name);
    snprintf(row->device, sizeof(row->device), "%s", cpu ? bench->cpu : method->info.device);
    snprintf(row->driver, sizeof(row->driver), "%s", method->info.driver);
    return row;
}

void gpume_bench_show(const struct gpume_bench_places *places, const char *work,
    const struct gpume_bench_method *method, uint64_t items)
{
    char line[128];
    snprintf(line, sizeof(line), "%s: %s, %" PRIu64 ", %.50s", work, method->name, items,
        method->info.device);
    if (places->progress.shown) {
        gpume_console_status(line, places->progress.rewrite);
    }
}

bool gpume_bench_too_slow(const struct gpume_bench_places *places, double us, double times)
{
    return us * 1e3 * times > SLOW * (double)places->budget_ns;
}
