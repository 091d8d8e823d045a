/* SPDX-License-Identifier: BSD-2-Clause */
/* Output names, checked before any work, and numbers as text that does not depend on the locale. */
#ifndef GPUME_FILES_TEXT_FILE_H
#define GPUME_FILES_TEXT_FILE_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Log one line and return GPUME_INVALID: a file exists that must not be replaced; a name is that of
 * a folder. stem, extension: of the file in it that the message suggests; NULL: none. */
int gpume_text_refuse_existing(const char *path, const struct gpume_log *log);
int gpume_text_refuse_folder(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log);

/* Refuses a file that exists, unless it may be replaced. series: as for gpume_text_exists. */
int gpume_text_check_new(
    const char *path, bool series, bool overwrite, const struct gpume_log *log);

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

/* GPUME_INVALID after one line: a folder or an input has the name that a partial result would get.
 */
int gpume_text_check_partial(const char *path, const struct gpume_log *log);

/* Removes the partial result of this output. */
void gpume_text_remove_partial(const char *path);

/* Removes the temporary files of killed runs; nothing if path is a device or a pipe. */
void gpume_text_clear(const char *path, bool series);

/* Seconds with six decimals. */
void gpume_text_time(char *text, size_t bytes, int64_t time_us);

/* Three decimals, or "inf". */
void gpume_text_psnr(char *text, size_t bytes, double psnr);

#endif
