/* SPDX-License-Identifier: BSD-2-Clause */
/* Values that describe the search, and how they become parameters. */
#ifndef GPUME_CLI_OPTIONS_SEARCH_TYPES_H
#define GPUME_CLI_OPTIONS_SEARCH_TYPES_H

#include "gpume/gpume.h"
#include "options/option.h"

/* As given, such as "16x8,8" or "64..8+rect"; a shape may be named twice. */
struct gpume_shape_list {
    struct gpume_block_size shapes[GPUME_SHAPES_MAX];
    uint32_t count; /* 0: not given */
};

struct gpume_distance_list {
    uint32_t distances[GPUME_DISTANCES_MAX]; /* rising; a distance may be given twice */
    uint32_t count;                          /* 0: not given */
};

extern const struct gpume_option_type gpume_type_shapes;    /* a struct gpume_shape_list */
extern const struct gpume_option_type gpume_type_distances; /* a struct gpume_distance_list */
extern const struct gpume_option_type gpume_type_subpel;    /* a uint32_t: 1, 2 or 4 */

/* Sets the members of *params that say which shapes are searched. */
void gpume_shape_list_apply(const struct gpume_shape_list *list, struct gpume_params *params);

/* The same for distances; params->ref_distance is the nearest one. */
void gpume_distance_list_apply(const struct gpume_distance_list *list, struct gpume_params *params);

/* The price of vectors: --lambda or --qp, of which the other one is negative. */
void gpume_lambda_apply(double lambda, double qp, struct gpume_params *params);

#endif
