/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/compare compares the outputs of two runs, A and B, for `gpume compare`.
 *
 * A comparison adds up the fields of both runs and keeps the first and the worst differences. One
 * thread.
 */
#ifndef GPUME_COMPARE_COMPARISON_H
#define GPUME_COMPARE_COMPARISON_H

#include "base/log.h"
#include "compare/run_reader.h"
#include "vectors/reader.h"

#include <stdbool.h>
#include <stdint.h>

/* Raise it by one when a key of the JSON object or a column is removed or changes its meaning. */
#define GPUME_COMPARISON_FORMAT 1

#define GPUME_COMPARISON_WORST 5u /* fields listed */

/* Counts of blocks and sums over blocks, of one field or several. [0] is A, [1] is B. */
struct gpume_compared {
    bool has_costs; /* in both? If not, members about costs are 0, and both_equal ignores costs */
    uint64_t blocks, vectors_equal, costs_equal, both_equal;
    uint64_t cheaper[2];               /* blocks with a lower cost in this one */
    uint64_t zero[2];                  /* vectors (0,0) */
    uint64_t costs[2];                 /* sums of costs */
    double distance_sum, distance_max; /* between the two vectors, in pixels */
    uint64_t cost_difference_max;
};

struct gpume_compared_field {
    uint64_t frame, ref[2];
    bool has_refs;
    struct gpume_compared blocks;
    struct gpume_read_statistics statistics[2];
};

/* Sums over the rows of frames.csv for the compared fields; if both runs have one, for those fields
 * that are in both. */
struct gpume_compared_statistics {
    uint64_t fields, pixels; /* of all pictures */
    double sad_before, sad_after;
    double psnr_sum; /* after; of the fields where it is finite */
    uint64_t psnr_finite;
};

struct gpume_comparison {
    const char *names[2];                   /* as given by the user */
    bool has_statistics[2];                 /* is there a frames.csv? */
    bool has_costs[2];                      /* do its vectors have costs? */
    struct gpume_read_settings settings[2]; /* none without summary.json */
    uint64_t fields, equal_fields;
    uint64_t only[2];     /* fields that the other run lacks */
    uint64_t refs_differ; /* fields with different references */
    uint64_t unknown[2];  /* compared fields without a row in an existing frames.csv */
    struct gpume_compared blocks;
    struct gpume_compared_statistics statistics[2];
    struct gpume_compared_field worst[GPUME_COMPARISON_WORST]; /* by number of unequal blocks */
    uint32_t worst_count;
    bool has_first; /* difference */
    bool first_has_ref;
    uint64_t first_frame, first_ref; /* of A */
    struct gpume_vectors_block first[2];
};

/* Adds a field of each run, of the same frame and direction. GPUME_INVALID, logged: their blocks
 * form different grids. */
int gpume_comparison_add(struct gpume_comparison *comparison, const struct gpume_vectors_field *a,
    const struct gpume_vectors_field *b, const struct gpume_read_statistics statistics[2],
    struct gpume_compared_field *field, const struct gpume_log *log);

/* Iterates over the settings that differ; *at starts as 0. values[i] is NULL if that run lacks the
 * setting. False after the last one, and if the settings of a run are unknown. */
bool gpume_comparison_setting(const struct gpume_comparison *comparison, uint32_t *at,
    const char **name, const char *values[2]);

/* Whether both runs have the same fields, vectors and costs. */
bool gpume_comparison_equal(const struct gpume_comparison *comparison);

struct gpume_out;

/* A CSV table on standard output, one row per field. gpume_out_finish returns errors of rows. */
int gpume_comparison_csv_open(struct gpume_out **csv, const struct gpume_log *log);
void gpume_comparison_csv_row(struct gpume_out *csv, const struct gpume_compared_field *field);

/* Writes to standard output. Errors are logged. */
int gpume_comparison_write_json(
    const struct gpume_comparison *comparison, const struct gpume_log *log);

#endif
