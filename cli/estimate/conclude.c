/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/conclude.h"

#include "console.h"

#include <stdio.h>

enum gpume_exit gpume_run_conclude(
    const struct gpume_estimate_options *options, const struct gpume_summary *summary, FILE *stream)
{
    const int verbosity = options->common.verbosity;
    char line[128];
    gpume_summary_check_line(summary, line, sizeof(line));
    if (verbosity > 0) {
        char busy[256];
        gpume_summary_busy_line(summary, busy, sizeof(busy));
        gpume_console_info("%s", busy);
    }
    if (options->common.form == GPUME_FORM_JSON) {
        if (gpume_summary_print_json(summary) != GPUME_OK) {
            return GPUME_EXIT_FAILED;
        }
    } else if (stream) {
        gpume_summary_print(summary, verbosity > 0, stream);
    } else if (options->params.check && verbosity == 0 && summary->matched == summary->checked) {
        fprintf(stderr, "%s\n", line);
    }
    if (summary->matched != summary->checked) {
        return gpume_refuse(GPUME_EXIT_MISMATCH, "--check: %s: the results of %s (%s) are wrong",
            line, summary->backend, summary->device);
    }
    return GPUME_EXIT_DONE;
}
