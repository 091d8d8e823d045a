/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Public structs that begin with `size_t size`: how many bytes of the struct the caller's program
 * knows. They let a program that was compiled for one version of the library run with another.
 */
#ifndef GPUME_BASE_SIZED_H
#define GPUME_BASE_SIZED_H

#include "base/log.h"

#include <stddef.h>

/* Whether the caller's program knows a member of its struct. */
#define GPUME_SIZED_HAS(s, member)                                                                 \
    ((s)->size >= (size_t)((const char *)(&(s)->member + 1) - (const char *)(s)))

/* The log target of the caller's parameters; silent if the caller's program does not know it. */
#define GPUME_SIZED_LOG(s)                                                                         \
    (GPUME_SIZED_HAS(s, log_opaque) ? (struct gpume_log){(s)->log, (s)->log_opaque}                \
                                    : (struct gpume_log){0})

/* Copies the caller's struct into ours, of `bytes` bytes; members that the caller does not know
 * become zero. GPUME_INVALID: size is smaller than itself. GPUME_UNSUPPORTED: the caller sets a
 * member that this version does not know. Both are logged under the name of the struct. */
int gpume_sized_read(
    void *ours, size_t bytes, const void *theirs, const char *name, const struct gpume_log *log);

/* Copies as much of ours as the caller knows, and leaves the caller's size alone. GPUME_INVALID:
 * size is smaller than itself. */
int gpume_sized_write(void *theirs, const void *ours, size_t bytes);

#endif
