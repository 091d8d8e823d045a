/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of parameters: a row for each member of struct gpume_params. Who reads it: the checks
 * of ranges (model/plan.c), the library's messages, summary.json, --resume and merge, the
 * command's rows and help, and through gpume_param_at the Python package and the plugin.
 */
#ifndef GPUME_BASE_PARAMS_H
#define GPUME_BASE_PARAMS_H

#include "gpume/gpume.h"

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

#endif
