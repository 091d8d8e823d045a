/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume methods: what the searches of methods.c have found, and page.c adds up and shows on the
 * page of --report. Main thread only.
 */
#ifndef GPUME_CLI_METHODS_SEARCHES_H
#define GPUME_CLI_METHODS_SEARCHES_H

#include "files/forms.h"
#include "gpume/gpume.h"

#define GPUME_METHODS_ROWS 11u /* searches: the exact one, methods, and none at last */

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

/* Entropy of the differences, in x and y together: bits per vector. */
double gpume_tally_bits(const struct gpume_tally *tally);

/* The frame pair in which fast searches lose most, and what each found there. */
struct gpume_worst {
    bool found;
    uint64_t target, reference;   /* numbers of the frames */
    uint64_t loss;                /* SAD of all searches, beyond the exact one's */
    struct gpume_plane planes[2]; /* copies of target and reference */
    uint32_t block, blocks;
    struct gpume_vector *vectors[GPUME_METHODS_ROWS]; /* of each search; the first is exact */
};

static inline struct gpume_tally_pair gpume_worst_pair(
    const struct gpume_worst *worst, size_t search)
{
    return (struct gpume_tally_pair){.target = &worst->planes[0],
        .reference = &worst->planes[1],
        .block = worst->block,
        .vectors = worst->vectors[search],
        .exact = worst->vectors[0]};
}

/* A search in all frame pairs. */
struct gpume_methods_row {
    const char *method;
    uint64_t frame_pairs, blocks, pixels, sad, sse, vectors_equal, as_good;
    double psnr, sad_per_pixel, bits_per_vector;
    double loss;        /* dB, 0 or less as a rule; NAN where a prediction has no error */
    double same, good;  /* percent: vectors_equal and as_good */
    double ms_per_pair; /* NAN: not measured */
    double ms_plain;    /* on one thread, without vector instructions; NAN: not measured */
};

struct gpume_methods_page {
    const char *input, *label; /* label: the page's name, for messages */
    const char *engine;        /* of the exact search: "2 threads, avx512" */
    uint32_t window;
    const struct gpume_table *table;
    const struct gpume_methods_row *rows; /* GPUME_METHODS_ROWS */
    const struct gpume_worst *worst;
};

/* GPUME_OK, or a status after one line. */
int gpume_methods_page_write(struct gpume_out *out, const struct gpume_methods_page *page);

#endif
