/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume bench --sort` and `--reduce`: times one core and a device, and prints the table once all
 * results agree.
 */
#include "bench/arrays.h"
#include "commit.h"
#include "console.h"
#include "host.h"
#include "library_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SLOW 8.0 /* a run may take so many times the budget of a row */

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
    params.cache_dir = gpume_host_cache_folder();
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

enum gpume_exit gpume_bench_arrays(const struct gpume_bench_options *options)
{
    static struct gpume_bench_places places; /* large */
    places = (struct gpume_bench_places){.options = options,
        .budget_ns = (uint64_t)(options->seconds * 1e9),
        .bench = {.commit = GPUME_COMMIT, .arrays = true}};
    gpume_host_cpu(places.bench.cpu);
    places.bench.processors = gpume_host_processors();
    gpume_progress_init(&places.progress, &options->common, 0);
    int status = open_places(&places);
    status = status || !options->sort ? status : gpume_bench_sorts(&places);
    status = status || !options->reduce ? status : gpume_bench_reductions(&places);
    gpume_console_status(NULL, true);
    gpume_compute_close(&places.gpu);
    gpume_compute_close(&places.cpu);
    status = status ? status : gpume_bench_write(&places.bench, options->common.form);
    return gpume_exit_of_engine(status);
}

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
