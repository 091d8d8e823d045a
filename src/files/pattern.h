/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbered file names, "folder/frame%03d.png": one %d or %0Nd, or two with more than digits between
 * them, in the last part of the path; %% is a percent sign.
 */
#ifndef GPUME_FILES_PATTERN_H
#define GPUME_FILES_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpume_pattern_kind {
    GPUME_PATTERN_PLAIN,    /* no number in it */
    GPUME_PATTERN_NUMBERED, /* one number, in the last part */
    GPUME_PATTERN_PAIR,     /* two, likewise */
    /* More numbers, two that cannot be told apart, another conversion, or a number in the folder.
     */
    GPUME_PATTERN_WRONG,
};

struct gpume_pattern_numbers {
    uint64_t first, second; /* second: 0 unless it is a pair */
};

enum gpume_pattern_kind gpume_pattern_kind(const char *path);

/* The name of one file: %d becomes the number, %% a percent sign. NULL: out of memory. */
char *gpume_pattern_name(const char *path, uint64_t number);

/* The same of a pair. */
char *gpume_pattern_name_pair(const char *path, struct gpume_pattern_numbers numbers);

/* The pattern without widths, "frame%d.png" of "frame%03d.png": large numbers have the same names.
 * NULL: out of memory. */
char *gpume_pattern_plain(const char *path);

/* One name for all files of a pattern, in their folder, whatever its width. NULL: out of memory. */
char *gpume_pattern_series(const char *path);

/* Is the name (of a file in the pattern's folder; pattern without it) one that the pattern gives,
 * and for which numbers? */
bool gpume_pattern_matches(
    const char *pattern, const char *name, struct gpume_pattern_numbers *numbers);

/* Removes temporaries of its files, and of its series, whose runs are gone (files/temporary.h). */
void gpume_pattern_clear(const char *path);

/* Looks through the folder of a pattern with numbers. False: no file matches. lowest: the first. */
bool gpume_pattern_find(const char *path, uint64_t *lowest);

/* All files there that match, in rising order; *numbers is the caller's to free. GPUME_NOMEM, not
 * logged; *count is 0 where there is none. */
int gpume_pattern_list(const char *path, struct gpume_pattern_numbers **numbers, size_t *count);

#endif
