/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arguments that every context of the library takes, motion estimation's and compute.h's alike.
 * GPUME_OK, or GPUME_INVALID after one line in the log. Any thread.
 */
#ifndef GPUME_BASE_ARGS_H
#define GPUME_BASE_ARGS_H

#include "base/log.h"

#include <stdbool.h>

/* name: of the struct, without "struct "; reserved_is_zero: its reserved bytes. */
int gpume_args_check(const char *name, enum gpume_backend backend, bool reserved_is_zero,
    const struct gpume_log *log);

/* The CPU has neither devices nor validation. device: NULL for none. */
int gpume_args_check_cpu(const char *device, bool validate, const struct gpume_log *log);

#endif
