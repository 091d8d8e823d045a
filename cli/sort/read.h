/* SPDX-License-Identifier: BSD-2-Clause */
/* The integers of `gpume sort`, from a file or standard input into memory. */
#ifndef GPUME_CLI_SORT_READ_H
#define GPUME_CLI_SORT_READ_H

#include "sort/sort.h"

#define GPUME_SORT_COUNT_MAX (UINT64_C(1) << 30) /* as gpume_sort takes */

/* 32-bit words: negative integers in two's complement, others unsigned. */
struct gpume_sort_input {
    const char *name; /* for messages */
    uint32_t *words;
    uint64_t count;
    uint64_t negatives;
    /* Some words are negative and some are above 2^31 - 1, which no one order of words knows apart:
     * the negative ones come first, or last for falling order. Otherwise words are in the order
     * of the input. */
    bool split;
};

/* GPUME_EXIT_DONE; GPUME_EXIT_INPUT and others: one line has been kept. */
enum gpume_exit gpume_sort_input_read(
    struct gpume_sort_input *input, const struct gpume_sort_options *options);

void gpume_sort_input_finish(struct gpume_sort_input *input);

#endif
