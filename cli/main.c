/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume: from the command line to an exit status. Every failure ends here with its one line on
 * standard error.
 */
#include "bench/arrays.h"
#include "bench/bench.h"
#include "cache_folder.h"
#include "compare/compare.h"
#include "console.h"
#include "convert/convert.h"
#include "deadline.h"
#include "devices.h"
#include "estimate/run.h"
#include "options/completion.h"
#include "options/options.h"
#include "signals.h"
#include "sort/sort.h"

#include <stdio.h>

/* A signal ends it as it ends any program: it has nothing to take away. */
static enum gpume_exit run_bench(const struct gpume_options *options)
{
    if (!gpume_deadline_start(options->timeout)) {
        return GPUME_EXIT_FAILED;
    }
    const enum gpume_exit result = options->bench_sort || options->bench_reduce
                                       ? gpume_bench_arrays_run(options)
                                       : gpume_bench_run(options);
    gpume_deadline_stop();
    return result;
}

static enum gpume_exit dispatch(const struct gpume_options *options)
{
    switch (options->command) {
    case GPUME_COMMAND_HELP:
        gpume_options_print_help();
        return GPUME_EXIT_DONE;
    case GPUME_COMMAND_VERSION:
        printf("gpume %s\n", gpume_version());
        return GPUME_EXIT_DONE;
    case GPUME_COMMAND_COMPLETION:
        gpume_completion_print((enum gpume_shell)options->completion);
        return GPUME_EXIT_DONE;
    case GPUME_COMMAND_DEVICES:
        return gpume_devices_print(options);
    case GPUME_COMMAND_BENCH:
        return run_bench(options);
    case GPUME_COMMAND_SORT:
    case GPUME_COMMAND_COMPARE:
    case GPUME_COMMAND_CONVERT:
    case GPUME_COMMAND_ESTIMATE:
        break;
    }
    if (!gpume_signals_start() || !gpume_deadline_start(options->timeout)) {
        return GPUME_EXIT_FAILED;
    }
    const enum gpume_exit result =
        options->command == GPUME_COMMAND_SORT      ? gpume_sort_run(options)
        : options->command == GPUME_COMMAND_COMPARE ? gpume_compare_run(options)
        : options->command == GPUME_COMMAND_CONVERT ? gpume_convert_run(options)
                                                    : gpume_run_job(options);
    gpume_deadline_stop();
    gpume_signals_stop();
    return result;
}

int main(int argc, char **argv)
{
    struct gpume_options options;
    enum gpume_exit result = GPUME_EXIT_FAILED;
    gpume_console_init();
    if (gpume_api_version() != GPUME_API_VERSION) {
        gpume_console_error("the gpume library is of another version (%u) than this program (%u)",
            (unsigned)gpume_api_version(), (unsigned)GPUME_API_VERSION);
    } else if (gpume_options_parse(&options, argc, argv) != GPUME_OK) {
        result = GPUME_EXIT_USAGE;
    } else {
        gpume_console_set_verbosity(options.verbosity);
        options.params.cache_dir = gpume_cache_folder();
        result = dispatch(&options);
        if (result == GPUME_EXIT_DONE && !gpume_console_flush_output(NULL)) {
            result = GPUME_EXIT_FAILED;
        }
    }
    if (result != GPUME_EXIT_DONE) {
        gpume_console_flush_error();
    }
    return (int)result;
}
