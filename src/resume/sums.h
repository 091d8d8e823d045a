/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums that a resumed run continues, with their keys in its saved state (resume/state.h). */
#ifndef GPUME_RESUME_SUMS_H
#define GPUME_RESUME_SUMS_H

#include "sinks/summary.h"

#include <stddef.h>
#include <stdint.h>

#define GPUME_RUN_SUMS_MAX 72 /* 3 times 15 and 19 */

struct gpume_run_sum {
    char key[40];
    uint64_t *value; /* NULL: real */
    double *real;    /* saved as its 64 bits */
};

struct gpume_run_sums {
    struct gpume_run_sum all[GPUME_RUN_SUMS_MAX];
    size_t count;
};

/* Always in the same order, with pointers into the summary. */
void gpume_run_sums_list(struct gpume_summary *summary, struct gpume_run_sums *sums);

#endif
