/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers for status codes. */
#ifndef GPUME_BASE_STATUS_H
#define GPUME_BASE_STATUS_H

#include "gpume/gpume.h"

#include <stdbool.h>

/* True for failures after which GPUME_BACKEND_AUTO takes the CPU instead: the GPU is missing, lost,
 * lacks a feature, or has run out of memory (its own, or the host's that its driver needs). */
static inline bool gpume_status_is_of_gpu(int status)
{
    return status == GPUME_DEVICE || status == GPUME_UNSUPPORTED || status == GPUME_NOMEM ||
           status == GPUME_DEVICE_LOST;
}

/* Returns the value of the expression if it is not GPUME_OK. For functions that release nothing. */
#define GPUME_CHECK(expression)                                                                    \
    do {                                                                                           \
        const int checked = (expression);                                                          \
        if (checked != GPUME_OK) {                                                                 \
            return checked;                                                                        \
        }                                                                                          \
    } while (0)

/* Jumps to the label `fail` if the expression, stored in `int status`, is not GPUME_OK. */
#define GPUME_TRY(expression)                                                                      \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != GPUME_OK) {                                                                  \
            goto fail;                                                                             \
        }                                                                                          \
    } while (0)

#endif
