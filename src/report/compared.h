/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of `gpume compare --report`: the vectors of two runs, A and B, side by side. It holds
 * the blocks, and pictures, of every frame pair or, where these take too many bytes, of every
 * second, fourth... one. One thread.
 */
#ifndef GPUME_REPORT_COMPARED_H
#define GPUME_REPORT_COMPARED_H

#include "files/bytes.h"
#include "files/json.h"
#include "report/set.h"
#include "vectors/vectors.h"

#include <stdbool.h>
#include <stdint.h>

/* [0] is A, [1] is B. */
struct gpume_report_compared_pair {
    uint64_t frame, refs[2]; /* refs: if has_refs */
    bool has_refs;
    uint64_t blocks, differ; /* by vector or cost */
    uint64_t cheaper[2];
    struct gpume_bytes picture; /* a file of it; empty: none */
    struct gpume_bytes packed;  /* empty: the page does not hold its blocks */
};

struct gpume_report_compared_setting {
    const char *name, *values[2]; /* NULL: that run lacks it */
};

struct gpume_report_compared_totals {
    const char *names[2]; /* of the runs; pages say no folders */
    bool has_costs;
    uint64_t blocks, vectors_equal, cheaper[2], costs[2], only[2];
    struct gpume_report_size picture; /* of all pictures; scale 0: there are none */
    const struct gpume_report_compared_setting *settings; /* those that differ */
    size_t setting_count;
};

/* Starts as zero. */
struct gpume_report_compared {
    struct gpume_report_compared_pair *pairs;
    size_t count, room;
    uint64_t bytes, step;
    uint32_t width, height;  /* of the area that all blocks cover */
    uint32_t cell_w, cell_h; /* sides of the smallest blocks */
};

/* pair: all members but packed; takes its picture over. Blocks of a and b are the same, in the same
 * order. GPUME_NOMEM is not logged. */
int gpume_report_compared_add(struct gpume_report_compared *compared,
    struct gpume_report_compared_pair *pair, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b);

/* gpume_out_finish reports failures. */
void gpume_report_compared_write(const struct gpume_report_compared *compared,
    const struct gpume_report_compared_totals *totals, struct gpume_out *out);

void gpume_report_compared_finish(struct gpume_report_compared *compared);

#endif
