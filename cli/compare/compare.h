/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume compare`: compare.c compares two runs, table.c prints what it found, and truth.c measures
 * one run against true flow. Main thread only.
 */
#ifndef GPUME_CLI_COMPARE_COMPARE_H
#define GPUME_CLI_COMPARE_COMPARE_H

#include "compare/comparison.h"
#include "job.h"

struct gpume_compare_options {
    struct gpume_common_options common;
    const char *map;    /* NULL: not given */
    const char *video;  /* below the map, in the page; NULL: none */
    const char *report; /* NULL: not given */
    struct gpume_source_options source;
    enum gpume_overlay_key key;
    const char *truth;    /* NULL: not given. A file, or a pattern with one number or two */
    uint32_t truth_start; /* the number of frame 0 in the pattern */
    uint32_t block;       /* 0: not given */
    uint64_t memory_max;  /* bytes; 0: no limit */
};

/* gpume compare RUN --truth FILE. GPUME_INVALID after one line: the options do not go together. */
int gpume_compare_check_truth(
    const struct gpume_compare_options *options, const struct gpume_line *line);
enum gpume_exit gpume_compare_truth(const struct gpume_compare_options *options);

/* To standard output; the caller checks that it arrived. */
void gpume_compare_print_table(const struct gpume_comparison *comparison);

#endif
