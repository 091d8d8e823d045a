/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far the run is, on standard error: one line rewritten on a terminal, lines elsewhere if
 * asked for. Main thread only.
 */
#ifndef GPUME_CLI_PROGRESS_H
#define GPUME_CLI_PROGRESS_H

#include "options/common.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_progress {
    bool shown, rewrite;
    uint64_t total; /* fields; 0: not known */
    uint64_t start_ns, last_ns;
    uint64_t last_done;
    double psnr; /* of the last field, after; NAN: none yet */
};

/* Monotonic wall time. */
uint64_t gpume_progress_clock_ns(void);

void gpume_progress_init(
    struct gpume_progress *progress, const struct gpume_common_options *options, uint64_t total);

/* psnr: of the field that has just come, after. */
void gpume_progress_step(struct gpume_progress *progress, uint64_t done, double psnr);

void gpume_progress_finish(struct gpume_progress *progress, uint64_t done);

#endif
