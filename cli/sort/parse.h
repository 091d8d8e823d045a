/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses integers from text, part by part. */
#ifndef GPUME_CLI_SORT_PARSE_H
#define GPUME_CLI_SORT_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
