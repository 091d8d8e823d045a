/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbered file names, "folder/frame%03d.png": one %d or %0Nd in the last part of the path, or two
 * that are not separated by digits alone; %% is a percent sign.
 */
#ifndef GPUME_FILES_PATTERN_H
#define GPUME_FILES_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpume_pattern_kind {
    GPUME_PATTERN_PLAIN,    /* no number in it */
    GPUME_PATTERN_NUMBERED, /* one number, in the last part */
    GPUME_PATTERN_PAIR,     /* two */
    GPUME_PATTERN_WRONG,    /* more, two that are ambiguous, one in the folder, or another % */
};

struct gpume_pattern_numbers {
    uint64_t first, second; /* second: 0 unless it is a pair */
};

enum gpume_pattern_kind gpume_pattern_kind(const char *path);

/* Whether it has one number or two. */
bool gpume_pattern_is_numbered(const char *path);

/* The name of one file: %d becomes the number, %% a percent sign. NULL: out of memory. */
char *gpume_pattern_name(const char *path, uint64_t number);

/* The name of one file of a pair. */
char *gpume_pattern_name_pair(const char *path, struct gpume_pattern_numbers numbers);

/* The pattern without widths, "frame%d.png" for "frame%03d.png": both give the same names to large
 * numbers. NULL: out of memory. */
char *gpume_pattern_plain(const char *path);

/* A name for the series: the pattern without widths, in its folder. NULL: out of memory. */
char *gpume_pattern_series(const char *path);

/* Whether it is a name that the pattern gives, and for which numbers. Both are without the folder.
 */
bool gpume_pattern_matches(
    const char *pattern, const char *name, struct gpume_pattern_numbers *numbers);

/* Finds the lowest first number of the files that match. False: there is none. */
bool gpume_pattern_find(const char *path, uint64_t *lowest);

/* The same for an input, which is a file's name if it is no pattern, and may begin with "file:".
 * False: it is no pattern with one number, or nothing matches. */
bool gpume_pattern_find_input(const char *input, uint64_t *lowest);

/* The numbers of all files that match, in rising order, for free(). GPUME_NOMEM, not logged. */
int gpume_pattern_list(const char *path, struct gpume_pattern_numbers **numbers, size_t *count);

#endif
