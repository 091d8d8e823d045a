/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks of parameters that the contexts of gpume.h and compute.h have in common. GPUME_OK, or
 * GPUME_INVALID after one line in the log. Any thread.
 */
#ifndef GPUME_BASE_ARGS_H
#define GPUME_BASE_ARGS_H

#include "base/log.h"

#include <stdbool.h>

/* Whether the value is within the limits of the parameter's row. */
int gpume_args_check_number(
    const struct gpume_param *param, uint64_t value, const struct gpume_log *log);

int gpume_args_check(enum gpume_backend backend, const struct gpume_log *log);

/* The CPU has neither devices nor validation. device: NULL for none. */
int gpume_args_check_cpu(const char *device, bool validate, const struct gpume_log *log);

#endif
