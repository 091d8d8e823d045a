/* SPDX-License-Identifier: BSD-2-Clause */
/* What the vectors of one search are worth: sums over frame pairs; and the pair in which fast
 * searches lose most. Main thread only. */
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

/* Whether every vector leads to a place inside the reference, at most `window` away. */
bool gpume_tally_fits(const struct gpume_tally_pair *pair, uint32_t window);

/* The SAD of every block. */
void gpume_tally_costs(const struct gpume_tally_pair *pair, uint32_t *costs);

/* Entropy of the differences, in x and y together: bits per vector. */
double gpume_tally_bits(const struct gpume_tally *tally);

/* The frame pair in which fast searches lose most, and what each found there. */
struct gpume_worst {
    bool found;
    uint64_t target, reference;     /* numbers of the frames */
    uint64_t loss;                  /* SAD of all searches, beyond the exact one's */
    struct gpume_tally_pair pair;   /* its vectors: NULL; both frames are copies */
    struct gpume_plane planes[2];   /* target, reference */
    struct gpume_vector **searches; /* vectors of each */
    size_t count;                   /* searches; the first is exact */
    size_t blocks;
};

/* frame: whose size all have. False: out of memory. To be finished in either case. */
bool gpume_worst_init(
    struct gpume_worst *worst, const struct gpume_plane *frame, uint32_t block, size_t searches);
void gpume_worst_finish(struct gpume_worst *worst);

/* Whether a pair that loses that much takes the place of the one that is kept. */
bool gpume_worst_is_worse(const struct gpume_worst *worst, uint64_t loss);

/* Takes the pair; gpume_worst_vectors then says where the vectors of each search go. */
void gpume_worst_take(struct gpume_worst *worst, const struct gpume_tally_pair *pair,
    uint64_t target, uint64_t reference, uint64_t loss);
void gpume_worst_vectors(
    struct gpume_worst *worst, size_t search, const struct gpume_vector *vectors);

/* The pair with the vectors of a search. */
struct gpume_tally_pair gpume_worst_pair(const struct gpume_worst *worst, size_t search);

#endif
