/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the integers of `gpume sort` from a file or standard input. */
#ifndef GPUME_CLI_SORT_READ_H
#define GPUME_CLI_SORT_READ_H

#include "sort/options.h"

#define GPUME_SORT_COUNT_MAX (UINT64_C(1) << 30) /* the limit of gpume_sort */

/* 32-bit words: negative integers in two's complement, others unsigned. */
struct gpume_sort_input {
    uint32_t *words;
    uint64_t count;
    uint64_t negatives;
    /* Some integers are negative and some exceed 2^31 - 1, so words alone do not tell them apart:
     * the negative ones come first, or last for descending order. Otherwise words have the order of
     * the input. */
    bool split;
};

/* GPUME_EXIT_DONE, or another status after one line through gpume_console_error. */
enum gpume_exit gpume_sort_input_read(
    struct gpume_sort_input *input, const struct gpume_sort_options *options);

void gpume_sort_input_finish(struct gpume_sort_input *input);

#endif
