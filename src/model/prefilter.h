/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A filter's parameters in, whole numbers out: what both engines compute with. Doubles are used
 * here and nowhere behind. gpume.h has the definition of every kind.
 */
#ifndef GPUME_MODEL_PREFILTER_H
#define GPUME_MODEL_PREFILTER_H

#include "base/log.h"

#define GPUME_PREFILTER_RADIUS_MAX 48u /* rows and columns: three sigmas of 16 */
#define GPUME_PREFILTER_WEIGHTS (31u * 31u)
#define GPUME_PREFILTER_STEPS 1024u /* differences that BILATERAL tells apart */

/* Of the range tables' bits, those that a product with a spatial weight loses. */
#define GPUME_PREFILTER_PRODUCT_SHIFT 8u

struct gpume_prefilter_tables {
    enum gpume_prefilter_kind kind;
    uint32_t radius_x, radius_y; /* pixels */
    uint32_t peak;               /* 2^bits - 1 */
    uint32_t shift;   /* GAUSS, BOX: bits cut off the columns' sums. BILATERAL: off differences */
    uint32_t divisor; /* GAUSS, BOX: of the rows' sums. KERNEL: of the sum */
    /* GAUSS, BOX: 2 radius + 1 for columns and rows alike. BILATERAL, KERNEL: (2 radius_x + 1) *
     * (2 radius_y + 1) in raster order. */
    int32_t weights[GPUME_PREFILTER_WEIGHTS];
    int32_t likeness[GPUME_PREFILTER_STEPS]; /* BILATERAL: by difference >> shift */
};

/* GPUME_INVALID, logged, if a member that the kind looks at is out of range. */
int gpume_prefilter_make(const struct gpume_prefilter *filter, uint32_t bits,
    const struct gpume_log *log, struct gpume_prefilter_tables *tables);

#endif
