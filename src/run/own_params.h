/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters for an engine that is opened later: a copy in which nothing is the caller's but the
 * functions and what they are given. */
#ifndef GPUME_RUN_OWN_PARAMS_H
#define GPUME_RUN_OWN_PARAMS_H

#include "gpume/gpume.h"

#define GPUME_OWN_TEXTS 4u /* search, cache_dir, device, devices */

struct gpume_own_params {
    struct gpume_params params; /* points into the others: it must stay where it is */
    struct gpume_prefilter prefilter;
    double *weights;
    char *texts[GPUME_OWN_TEXTS];
};

/* The struct is zeroed before. GPUME_NOMEM, not logged. Call finish after a failure too. */
int gpume_own_params_init(struct gpume_own_params *own, const struct gpume_params *params);
void gpume_own_params_finish(struct gpume_own_params *own);

#endif
