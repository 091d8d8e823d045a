/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parameters of the library's callers: the table, with a row for each member of struct
 * gpume_params; what is checked of them; and structs that begin with their size. Who reads the
 * table: the checks of ranges (model/plan.c), the library's messages, summary.json, --resume and
 * merge, the command's rows and help, and through gpume_param_at the Python package and the plugin.
 */
#ifndef GPUME_BASE_PARAMS_H
#define GPUME_BASE_PARAMS_H

#include "base/log.h"

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>

/* Names of the values of enumerations, in their order, then NULL. */
extern const char *const gpume_names_backend[];
extern const char *const gpume_names_device_type[];
extern const char *const gpume_names_direction[]; /* GPUME_DIRECTION_MANUAL has none */
extern const char *const gpume_names_edge[];
extern const char *const gpume_names_interpolation[];
extern const char *const gpume_names_metric[];
extern const char *const gpume_names_subpel_search[];

extern const struct gpume_param gpume_params_table[];
extern const uint32_t gpume_params_count;

/* The row of the member at this offset. Never NULL for a member's. */
const struct gpume_param *gpume_param_of(size_t offset);
#define GPUME_PARAM(member) gpume_param_of(offsetof(struct gpume_params, member))

/* The value of a number, a flag or a choice. */
uint64_t gpume_param_value(const struct gpume_param *param, const struct gpume_params *params);

/* The shapes of blocks: "64,64x32,32x64,32", or one side for one square. */
#define GPUME_SHAPES_TEXT_BYTES (GPUME_SHAPES_MAX * 8)
void gpume_shapes_text(const struct gpume_params *params, char text[GPUME_SHAPES_TEXT_BYTES]);

/*
 * --- What callers of gpume.h and compute.h hand over. Checks of parameters that the contexts of
 * both have in common: GPUME_OK, or GPUME_INVALID after one line in the log. Any thread.
 */

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

#endif
