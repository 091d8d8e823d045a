/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dense flow, one vector per pixel, as benchmarks give it as ground truth, and the errors of a
 * field of blocks against it. Vectors count in fixed units, so that every threshold is decided by
 * integers. One thread.
 */
#ifndef GPUME_COMPARE_FLOW_H
#define GPUME_COMPARE_FLOW_H

#include "vectors/vectors.h"

#include "base/log.h"

#define GPUME_FLOW_ONE 32768                                /* units in a pixel */
#define GPUME_FLOW_MAX 16384                                /* pixels: largest component */
#define GPUME_FLOW_UNKNOWN INT32_MIN                        /* u of a pixel without truth */
#define GPUME_FLOW_LIMITS 3u                                /* thresholds of the end-point error */
extern const uint32_t gpume_flow_limits[GPUME_FLOW_LIMITS]; /* pixels */

struct gpume_flow_vector {
    int32_t u, v; /* in units: to the right, downwards */
};

struct gpume_flow {
    uint32_t width, height;
    struct gpume_flow_vector *vectors; /* in raster order; NULL: there is no flow */
};

/* Sums over pixels. */
struct gpume_flow_errors {
    uint64_t known;                    /* pixels with truth */
    uint64_t pixels;                   /* those of them that have a vector */
    uint64_t above[GPUME_FLOW_LIMITS]; /* end-point error above a threshold */
    uint64_t outliers;                 /* above 3 pixels and above 5 % of the true length */
    double distance_sum, distance_max; /* end-point error, pixels */
    double opposite_sum;               /* of end-point errors, if all vectors were negated */
    double angle_sum;                  /* degrees */
};

/* Reads the truth of a field from names[1], a Middlebury .flo file or a KITTI .png file, by its
 * first bytes; names[0] has the field. Failures are logged: GPUME_IO, GPUME_INVALID (damaged, or
 * not of the field's size), GPUME_NOMEM. To be released with gpume_flow_finish in either case. */
int gpume_flow_read(struct gpume_flow *flow, const struct gpume_vectors_field *field,
    const char *const names[2], const struct gpume_log *log);
void gpume_flow_finish(struct gpume_flow *flow);

/* Every pixel takes the vector of its block. flow: read for this field. Failures are logged with
 * the run's name: GPUME_INVALID (several vectors for one pixel), GPUME_NOMEM. */
int gpume_flow_measure(struct gpume_flow_errors *errors, const struct gpume_flow *flow,
    const struct gpume_vectors_field *field, const char *run, const struct gpume_log *log);

void gpume_flow_add(struct gpume_flow_errors *total, const struct gpume_flow_errors *errors);

#endif
