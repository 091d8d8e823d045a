/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume bench --sort` and `--reduce`: times one core and a device, and prints the table once all
 * results agree.
 */
#include "bench/array_rows.h"
#include "commit.h"
#include "console.h"
#include "host.h"
#include "library_log.h"

#include <string.h>

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
