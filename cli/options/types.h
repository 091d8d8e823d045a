/* SPDX-License-Identifier: BSD-2-Clause */
/* The types of values. A type of one option alone may lie beside its command. */
#ifndef GPUME_CLI_OPTIONS_TYPES_H
#define GPUME_CLI_OPTIONS_TYPES_H

#include "gpume/gpume.h"
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

/* A frame's number or a time; of a length, the number of frames or the duration. */
struct gpume_place {
    bool is_time;
    uint64_t frame; /* if it is no time */
    int64_t us;     /* if it is one: microseconds */
};

extern const struct gpume_option_type gpume_type_place;    /* a struct gpume_place; limits */
extern const struct gpume_option_type gpume_type_duration; /* an int64_t: microseconds, above 0 */

/* As given, such as "16x8,8" or "64..8+rect"; a shape may be named twice. */
struct gpume_shape_list {
    struct gpume_block_size shapes[GPUME_SHAPES_MAX];
    uint32_t count; /* 0: not given */
};

struct gpume_distance_list {
    uint32_t distances[GPUME_DISTANCES_MAX]; /* rising; a distance may be given twice */
    uint32_t count;                          /* 0: not given */
};

extern const struct gpume_option_type gpume_type_shapes;    /* a struct gpume_shape_list */
extern const struct gpume_option_type gpume_type_distances; /* a struct gpume_distance_list */
extern const struct gpume_option_type gpume_type_subpel;    /* a uint32_t: 1, 2 or 4 */

/* Sets the members of *params that say which shapes are searched. */
void gpume_shape_list_apply(const struct gpume_shape_list *list, struct gpume_params *params);

/* The same for distances; params->ref_distance is the nearest one. */
void gpume_distance_list_apply(const struct gpume_distance_list *list, struct gpume_params *params);

/* The price of vectors: --lambda or --qp, of which the other one is negative. */
void gpume_lambda_apply(double lambda, double qp, struct gpume_params *params);

#endif
