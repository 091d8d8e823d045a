/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of gpume methods: one file without scripts. Main thread only. */
#ifndef GPUME_CLI_METHODS_PAGE_H
#define GPUME_CLI_METHODS_PAGE_H

#include "files/table.h"
#include "methods/tally.h"

/* A search in all frame pairs. */
struct gpume_methods_row {
    const char *method;
    uint64_t frame_pairs, blocks, pixels, sad, sse, vectors_equal, as_good;
    double psnr, sad_per_pixel, bits_per_vector;
    double loss;        /* dB, 0 or less as a rule; NAN where a prediction has no error */
    double same, good;  /* percent: vectors_equal and as_good */
    double ms_per_pair; /* NAN: not measured */
};

struct gpume_methods_page {
    const char *input, *label; /* label: the page's name, for messages */
    uint32_t window;
    const struct gpume_table *table;
    /* Of all searches: the exact one, methods, and none at last. */
    const struct gpume_methods_row *rows;
    size_t count;
    const struct gpume_worst *worst;
};

/* GPUME_OK, or a status after one line. */
int gpume_methods_page_write(struct gpume_out *out, const struct gpume_methods_page *page);

#endif
