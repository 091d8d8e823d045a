/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume_sort on the calling thread, in host memory, by the method that its parameters name. */
#ifndef GPUME_ARRAYS_HOST_SORT_H
#define GPUME_ARRAYS_HOST_SORT_H

#include "gpume/compute.h"

/* Parameters have been checked. GPUME_NOMEM: there is no memory for scratch; nothing has changed.
 * Nothing is logged. */
int gpume_host_sort(
    const struct gpume_sort_params *params, uint32_t *keys, uint32_t *payload, uint64_t count);

#endif
