/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of files: joined, split and followed through links; numbered names, "frame%03d.png"; and
 * what is checked of an output's name before any work. Strings that are returned are for free().
 */
#ifndef GPUME_FILES_PATH_H
#define GPUME_FILES_PATH_H

#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The first bytes of a folder's name, followed by the name; NULL without memory. */
char *gpume_path_join(const char *folder, size_t folder_bytes, const char *name);

/* The name, shortened to `limit` bytes if it is longer: its beginning and a checksum of all of it.
 */
#define GPUME_PATH_FITTED_BYTES 256
void gpume_path_fit(char fitted[GPUME_PATH_FITTED_BYTES], const char *name, size_t limit);

/* A name in the folder of the path: `before`, the path's last part fitted to `limit`, and `after`.
 * NULL without memory. */
char *gpume_path_beside(const char *path, const char *before, size_t limit, const char *after);

/* The path followed by the suffix, with a last part that is fitted to the longest name that file
 * systems allow. NULL without memory. */
char *gpume_path_with_suffix(const char *path, const char *suffix);

/* The length of the path's folder, with the slash. */
size_t gpume_path_folder(const char *path);

/* The last part of a path, which may end in slashes; for free(). NULL without memory. */
char *gpume_path_last(const char *path);

/* Opens the path's folder, for closedir(). NULL: errno. */
DIR *gpume_path_open_folder(const char *path);

/* The path with symbolic links resolved, also if the last one is dangling. NULL: errno. */
char *gpume_path_resolve(const char *path);

/* Whether both are names of one file or folder that exists, by device and inode. So links, mounts
 * and, where the file system takes them for equal, other cases of letters are seen through. */
bool gpume_path_is_one_file(const char *a, const char *b);

/* The file name of an input: the part after "file:", which FFmpeg accepts as a protocol, unless a
 * file of the whole name exists. Within the path. */
const char *gpume_path_of_input(const char *path);

/* The descriptor that a name refers to ("-", "-.nut", /dev/stdout, /dev/fd/N and the like), or -1.
 * Opening /dev/stdout instead would truncate a file that the shell has opened for appending. */
int gpume_path_descriptor(const char *path);

/* A file in a folder. For free(); NULL without memory. */
char *gpume_path_in_folder(const char *folder, const char *name);

/* --- names as a terminal may see them. They may contain line ends and sequences that control
 * terminals: C0 and DEL, and C1, which are two bytes in UTF-8, or one that is part of no character.
 */

/* Bytes of the UTF-8 character that the text begins with; 0: they are none. */
size_t gpume_visible_utf8(const unsigned char *text);

/* Bytes of the control character that the text begins with; 0: it begins with another. *bytes: of
 * that one. */
size_t gpume_visible_control(const char *text, size_t *bytes);

/* Replaces each control character by '?', in place. */
void gpume_visible_clean(char *text);

/* Writes the text in that form. */
void gpume_visible_put(const char *text, FILE *stream);

/* --- what to do where a file cannot be opened, for the end of a message */

/* For errors that say nothing about the file; otherwise what the caller advises. */
static inline const char *gpume_remedy(int error, const char *otherwise)
{
    return error == EMFILE   ? "raise the limit on open files (ulimit -n)"
           : error == ENFILE ? "the system has no more open files; end other programs"
           : error == ENOMEM ? "free some memory"
                             : otherwise;
}

/*
 * --- Numbered file names, "folder/frame%03d.png": one %d or %0Nd in the last part of the path, or
 * two that are not separated by digits alone; %% is a percent sign.
 */

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

/* --- Output names, checked before any work, and numbers as text that does not depend on the
 * locale. */

/* Accepts "-", a device, a pipe, or a name with the extension (".csv"). Otherwise GPUME_INVALID
 * after one line. stem: of the example in it. */
int gpume_text_check(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log);

/* The same where standard output is not offered: the caller refuses it. */
int gpume_text_check_named(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log);

/* Refuses the name of video on standard output, for outputs that are none. */
int gpume_text_check_name(const char *path, const struct gpume_log *log);

/* Refuses a folder as well. */
int gpume_text_check_file(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log);

/* Log one line and return GPUME_INVALID: a file exists that must not be replaced, of a series the
 * first; a name is that of a folder. series: as for gpume_text_exists. stem, extension: of the file
 * in it that the message suggests; NULL: none. */
int gpume_text_refuse_existing(const char *path, bool series, const struct gpume_log *log);
int gpume_text_refuse_folder(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log);

/* Whether it is "-", a device or a pipe. */
bool gpume_text_is_special(const char *path);

/* Whether it is a name of standard output: "-", /dev/stdout, /dev/fd/1. */
bool gpume_text_is_stdout(const char *path);

/* Whether the path's last part is a name of the numbered series, or the series' own. */
bool gpume_text_is_of_series(const char *numbered, const char *path);

/* Whether there is a file of this name, or a dangling link. series: a numbered name, for which any
 * of its files counts, or one picture's, in which %% is a percent sign. */
bool gpume_text_exists(const char *path, bool series);

/* Whether it is a file, or will be one. */
bool gpume_text_can_continue(const char *path);

#endif
