/* SPDX-License-Identifier: BSD-2-Clause */
/* What the vectors of one search are worth: sums over frame pairs. Main thread only. */
#ifndef GPUME_CLI_METHODS_TALLY_H
#define GPUME_CLI_METHODS_TALLY_H

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdint.h>

/* Two frames of 8 bits whose sides are multiples of the block, and what one search found. */
struct gpume_tally_pair {
    const struct gpume_plane *target, *reference;
    uint32_t block;
    const struct gpume_vector *vectors; /* of every block, which lead to places inside */
    const struct gpume_vector *exact;
};

struct gpume_tally {
    uint64_t pairs, blocks, pixels;
    uint64_t sad, sse;
    uint64_t equal;   /* vectors that are the exact ones */
    uint64_t as_good; /* blocks that cost as much as with the exact vector */
    uint64_t ns;      /* of the search */
    /* How often each difference of a vector from its predictor occurs, in x and in y. */
    uint64_t *differences[2];
    uint32_t difference_max;
};

/* window: largest component of a vector. False: out of memory. */
bool gpume_tally_init(struct gpume_tally *tally, uint32_t window);
void gpume_tally_finish(struct gpume_tally *tally);

void gpume_tally_add(struct gpume_tally *tally, const struct gpume_tally_pair *pair);

/* Does every vector lead to a place inside the reference, at most `window` away? */
bool gpume_tally_fits(const struct gpume_tally_pair *pair, uint32_t window);

/* The SAD of every block. */
void gpume_tally_costs(const struct gpume_tally_pair *pair, uint32_t *costs);

/* Entropy of the differences, in x and y together: bits per vector. */
double gpume_tally_bits(const struct gpume_tally *tally);

#endif
