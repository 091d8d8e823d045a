/* SPDX-License-Identifier: BSD-2-Clause */
/* The cheapest prediction of each block of a frame, when the matches are known. Any thread. */
#ifndef GPUME_ENCODE_CHOICE_H
#define GPUME_ENCODE_CHOICE_H

#include "encode/blocks.h"
#include "encode/lookahead.h"

/* Of everything that it consists of, the costs are known. */
struct gpume_choice {
    const struct gpume_half *target;
    const uint16_t *intra_costs; /* beside a future reference by pattern.has_intra_b alone */
    const struct gpume_match *past, *future; /* NULL: the frame has no such reference */
    const struct gpume_mean *mean;           /* of both; NULL: it has not both */
    struct gpume_pattern_costs pattern;
    uint16_t *costs;
    uint8_t *kinds; /* both are filled in */
};

/* Among equal costs: past, future, self, both, still; of a B frame, self at the last. Everything
 * but the weight is filled in. */
struct gpume_frame_cost gpume_choose(const struct gpume_choice *choice);

#endif
