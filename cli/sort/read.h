/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume sort`: integers from a file or standard input, sorted on the GPU or the CPU. read.c reads
 * them; sort.c sorts, times and writes them.
 */
#ifndef GPUME_CLI_SORT_READ_H
#define GPUME_CLI_SORT_READ_H

#include "options/common.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The form of input and output. */
enum gpume_sort_form { GPUME_SORT_TEXT, GPUME_SORT_U32, GPUME_SORT_I32 };

struct gpume_sort_options {
    struct gpume_common_options common;
    struct gpume_params params; /* only backend, device, validate, check and memory_max are used */
    const char *output;         /* NULL: standard output */
    bool descending, time;
    enum gpume_sort_form binary;
};

#define GPUME_SORT_VALUE_MIN (-(INT64_C(1) << 31))
#define GPUME_SORT_VALUE_MAX ((INT64_C(1) << 32) - 1)

/* Bytes after the text that parsing may read. */
#define GPUME_SORT_TEXT_SLACK 8u

/* A blank, a tab, or the end of a line or page. */
static inline bool gpume_sort_is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Parses a text that ends in white space, and returns the number of integers. An integer is an
 * optional sign and digits, within the limits above. values: half as many as bytes. *bad: the first
 * word that is not an integer, where parsing stops; NULL: there is none. */
size_t gpume_sort_parse(
    const unsigned char *text, size_t bytes, int64_t *values, const unsigned char **bad);

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
