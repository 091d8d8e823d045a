/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done with status codes in many places. */
#ifndef GPUME_BASE_STATUS_H
#define GPUME_BASE_STATUS_H

#include "gpume/gpume.h"

#include <stdbool.h>

/* With GPUME_BACKEND_AUTO the CPU takes over: the GPU is not there, lacks something, has no memory
 * left, the host's that its driver needs included, or is lost. */
static inline bool gpume_status_is_of_gpu(int status)
{
    return status == GPUME_DEVICE || status == GPUME_UNSUPPORTED || status == GPUME_NOMEM ||
           status == GPUME_DEVICE_LOST;
}

/* Jumps: needs `int status` and a label `fail`. */
#define GPUME_TRY(expression)                                                                      \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != GPUME_OK) {                                                                  \
            goto fail;                                                                             \
        }                                                                                          \
    } while (0)

#endif
