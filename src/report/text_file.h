/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the text outputs share: the test of a name before any work, and numbers as text that do not
 * depend on the locale.
 */
#ifndef GPUME_REPORT_TEXT_FILE_H
#define GPUME_REPORT_TEXT_FILE_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "-", a device, a pipe, or a name that ends in extension (".csv"). Logs one line and returns
 * GPUME_INVALID for anything else. */
int gpume_text_check(const char *path, const char *extension, const struct gpume_log *log);

/* No folder; extension is for the message. Logs likewise. */
int gpume_text_check_file(const char *path, const char *extension, const struct gpume_log *log);

/* "-", a device or a pipe? */
bool gpume_text_is_special(const char *path);

/* Is it a name of standard output: "-", /dev/stdout, /dev/fd/1? */
bool gpume_text_is_stdout(const char *path);

/* Does a file or folder stand under this name? Devices and pipes do not stand in the way. */
bool gpume_text_exists(const char *path);

/* Seconds with six decimals. */
void gpume_text_time(char *text, size_t bytes, int64_t time_us);

/* Three decimals, or "inf". */
void gpume_text_psnr(char *text, size_t bytes, double psnr);

#endif
