/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of parameters' values, as options, summaries and files have them. The lists are in the
 * order of their enumerations and end with NULL.
 */
#ifndef GPUME_BASE_NAMES_H
#define GPUME_BASE_NAMES_H

#include "gpume/gpume.h"

extern const char *const gpume_names_backend[];
extern const char *const gpume_names_device_type[];
extern const char *const gpume_names_direction[]; /* GPUME_DIRECTION_MANUAL has none */
extern const char *const gpume_names_edge[];
extern const char *const gpume_names_interpolation[];
extern const char *const gpume_names_metric[];
extern const char *const gpume_names_subpel_search[];

/* The shapes of blocks: "64,64x32,32x64,32", or one side for one square. */
#define GPUME_SHAPES_TEXT_BYTES (GPUME_SHAPES_MAX * 8)
void gpume_shapes_text(const struct gpume_params *params, char text[GPUME_SHAPES_TEXT_BYTES]);

#endif
