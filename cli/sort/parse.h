/* SPDX-License-Identifier: BSD-2-Clause */
/* Text to integers, a part of the text at a time. */
#ifndef GPUME_CLI_SORT_PARSE_H
#define GPUME_CLI_SORT_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_SORT_VALUE_MIN (-(INT64_C(1) << 31))
#define GPUME_SORT_VALUE_MAX ((INT64_C(1) << 32) - 1)

/* Bytes behind a text that reading may touch. */
#define GPUME_SORT_TEXT_SLACK 8u

/* A blank, a tab, or what ends a line or page. */
static inline bool gpume_sort_is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The integers of a text whose last byte is white space. values: room for half as many as bytes.
 * An integer is an optional sign and digits, within the bounds above. *bad: where the first word
 * begins that is none, before which reading ends; NULL: there is none. Returns their number. */
size_t gpume_sort_parse(
    const unsigned char *text, size_t bytes, int64_t *values, const unsigned char **bad);

#endif
