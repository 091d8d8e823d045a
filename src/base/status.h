/* SPDX-License-Identifier: BSD-2-Clause */
/* The one jumping macro for status codes: needs `int status` and a label `fail`. */
#ifndef GPUME_BASE_STATUS_H
#define GPUME_BASE_STATUS_H

#include "gpume/gpume.h"

#define GPUME_TRY(expression)                                                                      \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != GPUME_OK) {                                                                  \
            goto fail;                                                                             \
        }                                                                                          \
    } while (0)

#endif
