/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What two runs have in common: adds up fields of both as they pass, and keeps the first and the
 * worst differences. One thread.
 */
#ifndef GPUME_COMPARE_COMPARISON_H
#define GPUME_COMPARE_COMPARISON_H

#include "base/log.h"
#include "compare/frames_reader.h"
#include "compare/summary_reader.h"
#include "vectors/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* Grows by one when a key of the JSON object or a column changes its meaning or goes away. */
#define GPUME_COMPARISON_FORMAT 1

#define GPUME_COMPARISON_WORST 5u /* fields that are kept */

/* Counts of blocks, and sums over them, of a field or of many. [0] is A, [1] is B. */
struct gpume_compared {
    bool has_costs; /* do both know them? If not, what is said of costs is 0, and both_equal is of
                     * vectors alone */
    uint64_t blocks, vectors_equal, costs_equal, both_equal;
    uint64_t cheaper[2];         /* blocks that cost less in this one */
    uint64_t zero[2];            /* vectors (0,0) */
    uint64_t costs[2];           /* their sum */
    double apart_sum, apart_max; /* length of the difference of two vectors, in pixels */
    uint64_t cost_apart_max;
};

struct gpume_compared_field {
    uint64_t frame, ref[2];
    bool has_refs;
    struct gpume_compared blocks;
    struct gpume_read_figures figures[2];
};

/* Sums of a frames.csv over the fields compared; where there are two, over those in both. */
struct gpume_compared_figures {
    uint64_t fields;
    double sad_before, sad_after;
    double psnr_sum; /* after; of the fields where it is finite */
    uint64_t psnr_finite;
};

struct gpume_comparison {
    const char *names[2];                   /* as the user gave them */
    bool has_figures[2];                    /* is there a frames.csv? */
    bool has_costs[2];                      /* do its vectors have costs? */
    struct gpume_read_settings settings[2]; /* none: there is no summary.json */
    uint64_t fields, equal_fields;
    uint64_t only[2];    /* fields that the other has not */
    uint64_t refs_apart; /* fields with another reference */
    uint64_t unknown[2]; /* fields compared without a row in frames.csv, where there is one */
    struct gpume_compared blocks;
    struct gpume_compared_figures figures[2];
    struct gpume_compared_field worst[GPUME_COMPARISON_WORST]; /* by blocks that are not equal */
    uint32_t worst_count;
    bool has_first; /* difference */
    bool first_has_ref;
    uint64_t first_frame, first_ref; /* of A */
    struct gpume_vectors_block first[2];
};

/* Both fields are of the same frame and look the same way. GPUME_INVALID, logged, unless their
 * grids are the same. */
int gpume_comparison_add(struct gpume_comparison *comparison, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_read_figures figures[2],
    struct gpume_compared_field *field, const struct gpume_log *log);

/* How the runs were made differently: the setting at or after *at in A or B whose values differ;
 * *values[i] is NULL where that one has none of this name. False after the last, and at once where
 * only one of them is known. *at starts as 0. */
bool gpume_comparison_setting(const struct gpume_comparison *comparison, uint32_t *at,
    const char **name, const char *values[2]);

/* Every field in both, and every vector and cost the same? */
bool gpume_comparison_equal(const struct gpume_comparison *comparison);

struct gpume_out;

/* A table for programs on standard output, a row a field. Failures are logged and sticky; finish
 * says whether all has arrived. close sets *csv to NULL. */
int gpume_comparison_csv_open(struct gpume_out **csv, const struct gpume_log *log);
void gpume_comparison_csv_row(struct gpume_out *csv, const struct gpume_compared_field *field);
int gpume_comparison_csv_finish(struct gpume_out *csv);
void gpume_comparison_csv_close(struct gpume_out **csv);

/* To standard output. Failures are logged. */
int gpume_comparison_write_json(
    const struct gpume_comparison *comparison, const struct gpume_log *log);

#endif
