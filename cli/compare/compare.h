/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume compare`: compare.c compares two runs, table.c prints what it found, and truth.c measures
 * one run against true flow. Main thread only.
 */
#ifndef GPUME_CLI_COMPARE_COMPARE_H
#define GPUME_CLI_COMPARE_COMPARE_H

#include "compare/comparison.h"
#include "exit.h"
#include "options/common.h"

#include <stdint.h>

struct gpume_truth_options {
    const char *path; /* NULL: not given. A file, or a pattern with one number or two */
    uint32_t start;   /* the number of frame 0 in the pattern */
};

/* gpume compare RUN --truth FILE. GPUME_INVALID after one line: the options do not go together. */
int gpume_compare_check_truth(const struct gpume_common_options *common,
    const struct gpume_truth_options *truth, const struct gpume_line *line);

/* Reads inputs[0] and prints to standard output. block, memory_max: as for reading vectors. */
enum gpume_exit gpume_compare_truth(const struct gpume_common_options *common,
    const struct gpume_truth_options *truth, uint32_t block, uint64_t memory_max);

/* To standard output; the caller checks that it arrived. */
void gpume_compare_print_table(const struct gpume_comparison *comparison);

#endif
