/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of values. A type of one option alone may lie beside its command. */
#ifndef GPUME_CLI_OPTIONS_TYPES_H
#define GPUME_CLI_OPTIONS_TYPES_H

#include "options/option.h"

extern const struct gpume_option_type gpume_type_flag;           /* stores `stored`, or 1 */
extern const struct gpume_option_type gpume_type_number;         /* a whole number; limits, step */
extern const struct gpume_option_type gpume_type_number_or_auto; /* the same; auto is 0 */
extern const struct gpume_option_type gpume_type_real;           /* a double; limits */
extern const struct gpume_option_type gpume_type_window; /* two uint32_t: N or XxY; limits */
extern const struct gpume_option_type gpume_type_size;   /* two uint32_t: WxH; limits */
extern const struct gpume_option_type gpume_type_pixel;  /* two uint32_t: X,Y; limits */
extern const struct gpume_option_type gpume_type_count;  /* a uint64_t with K or M; limits */
extern const struct gpume_option_type gpume_type_bytes;  /* the same, also G, T, KiB ... */
extern const struct gpume_option_type gpume_type_choice; /* an enum, `stored` its first value */
extern const struct gpume_option_type gpume_type_text;   /* a string, not empty */
extern const struct gpume_option_type gpume_type_search; /* a string: a search implementation */
extern const struct gpume_option_type gpume_type_format; /* a struct gpume_vectors_format * */
extern const struct gpume_option_type gpume_type_readable_format; /* ... that can be read */

/* Parses `length` digits, a number up to max, which is at most 2^50. */
bool gpume_parse_digits(const char *text, size_t length, uint64_t max, uint64_t *number);

/* Parses digits with at most one point, followed by `end`; strtod would take signs, exponents,
 * hexadecimals and words too. Returns the end, or NULL: malformed or out of range. */
const char *gpume_parse_real(const char *text, char end, double min, double max, double *real);

#endif
