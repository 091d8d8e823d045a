/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress on standard error: on a terminal one line that is overwritten in place; elsewhere, with
 * --progress, a line per second. Main thread only.
 */
#ifndef GPUME_CLI_PROGRESS_H
#define GPUME_CLI_PROGRESS_H

#include "options/common.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_progress {
    bool shown, rewrite;
    uint64_t total;   /* 0: unknown */
    const char *unit; /* what is counted: "frame pairs", unless changed after init */
    uint64_t start_ns, last_ns;
    uint64_t last_done;
    double psnr; /* of the last predicted frame; NAN: none yet */
};

void gpume_progress_init(
    struct gpume_progress *progress, const struct gpume_common_options *options, uint64_t total);

/* psnr: of the latest predicted frame. */
void gpume_progress_step(struct gpume_progress *progress, uint64_t done, double psnr);

void gpume_progress_finish(struct gpume_progress *progress, uint64_t done);

#endif
