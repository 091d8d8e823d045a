/* SPDX-License-Identifier: BSD-2-Clause */
/* The cheapest prediction of each block of a frame, when the matches are known. Any thread. */
#ifndef GPUME_ENCODE_CHOICE_H
#define GPUME_ENCODE_CHOICE_H

#include "encode/half.h"
#include "encode/lookahead.h"
#include "encode/searches.h"
#include "encode/split.h"

/* A reference, and the matches of the target's blocks in it. */
struct gpume_source {
    const struct gpume_half *half;
    const struct gpume_match *match; /* NULL: the frame has no such reference */
};

struct gpume_choice {
    const struct gpume_half *target;
    const uint16_t *intra_costs; /* not considered beside a future reference */
    struct gpume_source past, future;
    uint32_t past_share;           /* in means of both, of GPUME_SHARES */
    const struct gpume_mean *mean; /* of both, ready; NULL: found here */
    const struct gpume_split *split;
    uint16_t *scratch; /* two rows of blocks for each part of the split */
    uint16_t *costs;
    uint8_t *kinds; /* both are filled in */
};

/* Among equal costs: past, future, self, both, still. Everything but the weight is filled in. */
struct gpume_frame_cost gpume_choose(struct gpume_choice *choice);

#endif
