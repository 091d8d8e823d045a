/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What callers of gpume.h and compute.h hand over. Checks of parameters that the contexts of both
 * have in common: GPUME_OK, or GPUME_INVALID after one line in the log. Any thread.
 */
#ifndef GPUME_BASE_ARGS_H
#define GPUME_BASE_ARGS_H

#include "base/log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether the value is within the limits of the parameter's row. */
int gpume_args_check_number(
    const struct gpume_param *param, uint64_t value, const struct gpume_log *log);

/* The CPU has neither devices nor validation. device: NULL for none. */
int gpume_args_check_cpu(const char *device, bool validate, const struct gpume_log *log);

/* --- public structs that begin with `size_t size`: how many bytes of the struct the caller's
 * program knows. They let a program that was compiled for one version of the library run with
 * another. */

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

/* --- a caller's log callback, wrapped so that it never runs in two threads at once */

struct gpume_locked_log {
    struct gpume_log log; /* what others write to; points into this */
    gpume_log_fn fn;
    void *opaque;
    pthread_mutex_t mutex;
};

/* It must stay where it is until finish. fn may be NULL. */
void gpume_locked_log_init(struct gpume_locked_log *locked, gpume_log_fn fn, void *opaque);
void gpume_locked_log_finish(struct gpume_locked_log *locked);

#endif
