/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the command and its text outputs share: names of files, their test before any work, and
 * numbers as text that do not depend on the locale.
 */
#ifndef GPUME_FILES_TEXT_FILE_H
#define GPUME_FILES_TEXT_FILE_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "-", a device, a pipe, or a name that ends in extension (".csv"). Logs one line and returns
 * GPUME_INVALID for anything else. stem: what a file of this kind is called in an example. */
int gpume_text_check(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log);

/* No folder; stem and extension are for the message. Logs likewise. */
int gpume_text_check_file(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log);

/* "-", a device or a pipe? */
bool gpume_text_is_special(const char *path);

/* Is it a name of standard output: "-", /dev/stdout, /dev/fd/1? */
bool gpume_text_is_stdout(const char *path);

/* The name of an input's file, without "file:". */
const char *gpume_text_input_file(const char *input);

/* Is the path's last part one that a numbered name stands for, or that name's own? */
bool gpume_text_is_of_series(const char *numbered, const char *path);

/* A name without the widths of its numbers: two that are the same then are the same for large ones.
 * For free(); NULL without memory. */
char *gpume_text_plain(const char *path);

/* A file in a folder. For free(); NULL without memory. */
char *gpume_text_join(const char *folder, const char *name);

/* Does a file or folder stand under this name? Devices and pipes do not stand in the way. */
bool gpume_text_exists(const char *path);

/* Is it a file, or will it be one? */
bool gpume_text_can_continue(const char *path);

/* Before any work: can what an interrupted run leaves get its name? Logs one line and returns
 * GPUME_INVALID where a folder has that. */
int gpume_text_check_partial(const char *path, const struct gpume_log *log);

/* Removes what an interrupted run has left of this output. */
void gpume_text_remove_partial(const char *path);

/* Removes the temporary files of killed runs; nothing if path is a device or a pipe. */
void gpume_text_clear(const char *path);

/* Seconds with six decimals. */
void gpume_text_time(char *text, size_t bytes, int64_t time_us);

/* Three decimals, or "inf". */
void gpume_text_psnr(char *text, size_t bytes, double psnr);

#endif
