/* SPDX-License-Identifier: BSD-2-Clause */
/* The frame pair in which fast searches lose most, and what each found there. Main thread only. */
#ifndef GPUME_CLI_METHODS_WORST_H
#define GPUME_CLI_METHODS_WORST_H

#include "methods/tally.h"

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

/* Does a pair that loses so much take the place of the one that is kept? */
bool gpume_worst_is_worse(const struct gpume_worst *worst, uint64_t loss);

/* Takes the pair; gpume_worst_vectors then says where the vectors of each search go. */
void gpume_worst_take(struct gpume_worst *worst, const struct gpume_tally_pair *pair,
    uint64_t target, uint64_t reference, uint64_t loss);
void gpume_worst_vectors(
    struct gpume_worst *worst, size_t search, const struct gpume_vector *vectors);

/* The pair with the vectors of a search. */
struct gpume_tally_pair gpume_worst_pair(const struct gpume_worst *worst, size_t search);

#endif
