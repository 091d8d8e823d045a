/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Standard error and standard output. A failed run says one line: the first error, kept until the
 * end, so that what follows from it stays unsaid. Warnings are said at once. Any thread.
 */
#ifndef GPUME_CLI_CONSOLE_H
#define GPUME_CLI_CONSOLE_H

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdio.h>

#if defined(__GNUC__)
#define GPUME_CONSOLE_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define GPUME_CONSOLE_PRINTF
#endif

/* Gives the three standard streams something to refer to if the caller's were closed, so that no
 * file of ours becomes one of them by accident. Before anything else. */
void gpume_console_init(void);

void gpume_console_set_verbosity(int verbosity);

/* Keeps the line if it is the first. */
void gpume_console_error(const char *format, ...) GPUME_CONSOLE_PRINTF;

/* Puts what the kept line is about in front of it. */
void gpume_console_error_about(const char *subject);

void gpume_console_warning(const char *format, ...) GPUME_CONSOLE_PRINTF;

/* Only with -v. */
void gpume_console_info(const char *format, ...) GPUME_CONSOLE_PRINTF;

/* A gpume_log_fn; opaque is not used. */
void gpume_console_log(void *opaque, enum gpume_log_level level, const char *line);

/* Says a kept error only to those who asked for more: what failed has been made good, such as a GPU
 * in whose place the CPU engine works. */
void gpume_console_forget_error(void);

/* Shows text in place of the last status line; NULL takes it away. rewrite: with a carriage return
 * and cut to the terminal's width; otherwise as a line of its own. */
void gpume_console_status(const char *text, bool rewrite);

/* Columns of the terminal that standard error is; 80 where it does not say. */
int gpume_console_columns(void);

/* Says the kept error, if there is one. The last call of every failed run. */
void gpume_console_flush_error(void);

/* May the stream have colours: a terminal that knows them, and whose user wants them (NO_COLOR)? */
bool gpume_console_colour(FILE *stream);

/* What makes text bold and ends it; "" where there are no colours. */
const char *gpume_console_bold(FILE *stream);
const char *gpume_console_plain(FILE *stream);

/* Can a line of the stream be rewritten? */
bool gpume_console_rewrites(FILE *stream);

/* A name of a file, for people: what a terminal would obey is shown as '?'. */
void gpume_console_print_name(const char *name, FILE *stream);

/* Has everything written to standard output arrived? Keeps an error if not; unneeded: what -q
 * leaves out of what was to go there, NULL if nothing. */
bool gpume_console_flush_output(const char *unneeded);

#endif
