/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume bench --sort` and `--reduce`: times one core and a device, and prints the table once all
 * results agree.
 */
#include "bench/bench.h"
#include "bench/places.h"
#include "bench/timing.h"
#include "cache_folder.h"
#include "commit.h"
#include "console.h"
#include "host.h"
#include "library_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SLOW 8.0 /* a run may take so many times the budget of a row */

struct gpume_array_row *gpume_bench_row(struct gpume_bench_places *places,
    const struct gpume_bench_method *method, const char *work, uint64_t items, uint32_t bits)
{
    struct gpume_array_bench *bench = &places->bench;
    if (bench->count == GPUME_ARRAY_ROWS_MAX) {
        return NULL;
    }
    struct gpume_array_row *row = &bench->rows[bench->count++];
    const bool cpu = method->compute == places->cpu;
    *row = (struct gpume_array_row){.work = work,
        .engine = cpu ? "cpu" : "vulkan",
        .method = method->name,
        .items = items,
        .bits = bits};
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

static int open_places(struct gpume_bench_places *places)
{
    const struct gpume_params *asked = &places->options->params;
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.log = gpume_library_log;
    params.backend = GPUME_BACKEND_CPU;
    int status = gpume_compute_open(&places->cpu, &params);
    if (status != GPUME_OK || asked->backend == GPUME_BACKEND_CPU) {
        return status;
    }
    params.backend = asked->backend;
    params.device = asked->device;
    params.cache_dir = gpume_cache_folder();
    status = gpume_compute_open(&places->gpu, &params);
    if (status == GPUME_OK) {
        struct gpume_compute_info info;
        gpume_compute_get_info(places->gpu, &info);
        if (strcmp(info.backend, "cpu") == 0) { /* auto found no hardware */
            status = gpume_compute_close(&places->gpu);
        }
    }
    return status;
}

static bool same_work(const struct gpume_array_row *a, const struct gpume_array_row *b)
{
    return strcmp(a->work, b->work) == 0 && a->bits == b->bits;
}

static void print_row(const struct gpume_array_row *row)
{
    char wall[32] = "-", core[32] = "-", share[32] = "-";
    if (row->wall_us > 0) {
        snprintf(wall, sizeof(wall), "%.1f", row->wall_us);
    }
    if (row->over_core > 0) {
        snprintf(core, sizeof(core), "%.2f", row->over_core);
    }
    if (row->share_of_copy > 0) {
        snprintf(share, sizeof(share), "%.1f %%", row->share_of_copy * 100);
    }
    printf("%-6s  %-8s  %10" PRIu64 "  %12.1f  %14s  %10.1f  %8s  %8s\n", row->engine, row->method,
        row->items, row->us, wall, row->items_per_second / 1e6, core, share);
}

static void print_head(const struct gpume_array_bench *bench)
{
    printf("gpume    %s%s%s%s\ncpu      %s\n", gpume_version(), bench->commit[0] ? " (" : "",
        bench->commit, bench->commit[0] ? ")" : "", bench->cpu);
    for (uint32_t i = 0; i < bench->count; i++) {
        if (strcmp(bench->rows[i].engine, "vulkan") == 0) {
            printf("device   %s, driver %s\n", bench->rows[i].device, bench->rows[i].driver);
            break;
        }
    }
}

static void print_rows(const struct gpume_array_bench *bench)
{
    print_head(bench);
    for (uint32_t i = 0; i < bench->count; i++) {
        bool first = true;
        for (uint32_t j = 0; j < i; j++) {
            first = first && !same_work(&bench->rows[i], &bench->rows[j]);
        }
        if (!first) {
            continue;
        }
        printf("\n%s, %" PRIu32 " bits\n%-6s  %-8s  %10s  %12s  %14s  %10s  %8s  %8s\n",
            bench->rows[i].work, bench->rows[i].bits, "engine", "method", "items", "us",
            "with copies us", "M items/s", "x core", "of copy");
        for (uint32_t j = i; j < bench->count; j++) {
            if (same_work(&bench->rows[i], &bench->rows[j])) {
                print_row(&bench->rows[j]);
            }
        }
    }
}

static enum gpume_exit exit_of(int status)
{
    return status == GPUME_OK                                      ? GPUME_EXIT_DONE
           : status == GPUME_FORMAT                                ? GPUME_EXIT_MISMATCH
           : status == GPUME_DEVICE || status == GPUME_UNSUPPORTED ? GPUME_EXIT_DEVICE
                                                                   : GPUME_EXIT_FAILED;
}

static int write_rows(const struct gpume_array_bench *bench, enum gpume_form form)
{
    const struct gpume_log log = {.fn = gpume_console_log};
    if (form == GPUME_FORM_TABLE) {
        print_rows(bench);
        return GPUME_OK;
    }
    return form == GPUME_FORM_JSON ? gpume_array_bench_write_json(bench, &log)
                                   : gpume_array_bench_write_csv(bench, &log);
}

enum gpume_exit gpume_bench_arrays(const struct gpume_bench_options *options)
{
    static struct gpume_bench_places places; /* large */
    places = (struct gpume_bench_places){.options = options,
        .budget_ns = (uint64_t)(options->seconds * 1e9),
        .bench = {.commit = GPUME_COMMIT}};
    gpume_bench_cpu_name(places.bench.cpu);
    gpume_progress_init(&places.progress, &options->common, 0);
    int status = open_places(&places);
    if (status == GPUME_OK && options->sort) {
        status = gpume_bench_sorts(&places);
    }
    if (status == GPUME_OK && options->reduce) {
        status = gpume_bench_reductions(&places);
    }
    gpume_console_status(NULL, true);
    gpume_compute_close(&places.gpu);
    gpume_compute_close(&places.cpu);
    return exit_of(status == GPUME_OK ? write_rows(&places.bench, options->common.form) : status);
}
