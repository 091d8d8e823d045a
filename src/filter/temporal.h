/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The temporal filter of gpume-filter(1), which defines every sample: pictures and their motion
 * fields in, filtered pictures out. One thread calls; the rows of a picture are shared by several.
 *
 *     gpume_temporal_search       the parameters of the search whose fields it takes
 *     gpume_temporal_put          every picture, in order, while there is room
 *     gpume_temporal_add          every field of the next picture to be filtered
 *     gpume_temporal_filter       that picture; then the fields of the one after it may be added
 *
 * All memory is allocated when it is opened.
 */
#ifndef GPUME_FILTER_TEMPORAL_H
#define GPUME_FILTER_TEMPORAL_H

#include "gpume/gpume.h"

#define GPUME_TEMPORAL_RADIUS_MAX 4u
#define GPUME_TEMPORAL_PLANES 3u
#define GPUME_TEMPORAL_SIGMA_MAX 50u /* steps of 8 bits */
#define GPUME_TEMPORAL_AHEAD 8u      /* pictures that there is room for beyond those in use */

struct gpume_temporal;

struct gpume_temporal_params {
    uint32_t width, height, bits; /* of luma; all planes have its depth */
    bool chroma;                  /* two more planes, smaller by these powers of two: 0 or 1 */
    uint32_t shift_x, shift_y;
    uint32_t radius;
    uint32_t window_x, window_y; /* pixels */
    uint32_t threads;            /* 0: one per processor */
};

/* How strongly a picture is filtered. */
struct gpume_temporal_choice {
    uint32_t strength; /* in 1/32, up to 64 */
    bool measure;      /* the noise; else it is sigma */
    uint32_t sigma;    /* in 1/100 of a step of 8 bits */
    uint32_t least;    /* the same: noise counts as this much, if it is less */
};

/* What was found and done. */
struct gpume_temporal_facts {
    uint64_t variance[GPUME_TEMPORAL_PLANES]; /* V */
    uint32_t references;                      /* that were used */
};

/* GPUME_NOMEM; GPUME_AGAIN: no more threads can be started. */
int gpume_temporal_open(
    struct gpume_temporal **temporal, const struct gpume_temporal_params *params);

/* Sets the members of *search that decide the fields; prefilter: memory for it, which outlives
 * gpume_open. */
void gpume_temporal_search(const struct gpume_temporal_params *params, struct gpume_params *search,
    struct gpume_prefilter *prefilter);

/* Whether another picture may be put. There is room for those after the next one to be filtered
 * that its fields need, and for GPUME_TEMPORAL_AHEAD more. */
bool gpume_temporal_has_room(const struct gpume_temporal *temporal);

/* Copies a picture: its planes in the sizes and bits of the parameters. */
void gpume_temporal_put(struct gpume_temporal *temporal, const struct gpume_plane *planes);

/* Copies what it needs of a field, whose target is the next picture to be filtered. */
void gpume_temporal_add(struct gpume_temporal *temporal, const struct gpume_field *field);

/* Filters the next picture. *planes: its planes, which are valid until the next call. */
void gpume_temporal_filter(struct gpume_temporal *temporal,
    const struct gpume_temporal_choice *choice, const struct gpume_plane **planes,
    struct gpume_temporal_facts *facts);

/* NULL is fine. Sets *temporal to NULL. */
void gpume_temporal_close(struct gpume_temporal **temporal);

#endif
