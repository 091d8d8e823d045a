/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbered file names, "folder/frame%03d.png": exactly one %d or %0Nd, in the last part of the
 * path; %% is a percent sign.
 */
#ifndef GPUME_MEDIA_PATTERN_H
#define GPUME_MEDIA_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpume_pattern_kind {
    GPUME_PATTERN_PLAIN,    /* no number in it */
    GPUME_PATTERN_NUMBERED, /* one number, in the last part */
    GPUME_PATTERN_WRONG,    /* several numbers, another conversion, or a number in the folder */
};

enum gpume_pattern_kind gpume_pattern_kind(const char *path);

/* The name of one file: %d becomes the number, %% a percent sign. NULL: out of memory. */
char *gpume_pattern_name(const char *path, uint64_t number);

/* Is the name (of a file in the pattern's folder; pattern without it) one that the pattern gives,
 * and for which number? */
bool gpume_pattern_matches(const char *pattern, const char *name, uint64_t *number);

/* Looks through the folder of a numbered pattern. False: no file matches. */
bool gpume_pattern_find(const char *path, uint64_t *lowest);

#endif
