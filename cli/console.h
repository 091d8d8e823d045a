/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Standard error and standard output. A failed run prints one line, the first error, which is kept
 * until the end; errors that follow from it are not printed. Warnings are printed at once. Messages
 * of the library get the names of options. Any thread.
 */
#ifndef GPUME_CLI_CONSOLE_H
#define GPUME_CLI_CONSOLE_H

#include "base/log.h"
#include "options/common.h"

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define GPUME_CONSOLE_PRINTF __attribute__((format(printf, 2, 3)))
#else
#define GPUME_CONSOLE_PRINTF
#endif

/* Opens standard streams that are closed, so that no file of ours becomes one of them by accident.
 * Call it first. */
void gpume_console_init(void);

void gpume_console_set_verbosity(int verbosity);

/* From now on no line waits for the reader of standard error: the program is to end, and what a
 * full pipe or a stopped terminal does not take is dropped. Takes no lock. */
void gpume_console_hurry(void);

/* Keeps an error if it is the first, prints a warning, and prints other levels only with -v. */
void gpume_console_print(enum gpume_log_level level, const char *format, ...) GPUME_CONSOLE_PRINTF;
#define gpume_console_error(...) gpume_console_print(GPUME_LOG_ERROR, __VA_ARGS__)
#define gpume_console_warning(...) gpume_console_print(GPUME_LOG_WARNING, __VA_ARGS__)
#define gpume_console_info(...) gpume_console_print(GPUME_LOG_INFO, __VA_ARGS__)

/* Keeps the line as gpume_console_error does. The value is the status, of whichever type. */
#define gpume_refuse(status, ...) (gpume_console_error(__VA_ARGS__), (status))

/* Prepends a subject to the kept error: "subject: ...". The second appends to it: "...; more". */
void gpume_console_error_about(const char *subject);
void gpume_console_error_add(const char *more);

/* A gpume_log_fn. opaque: not NULL for lines of the library. */
void gpume_console_log(void *opaque, enum gpume_log_level level, const char *line);

extern const struct gpume_log gpume_console;

/* The same without warnings: for an input that is read again, which gives them again. */
extern const struct gpume_log gpume_console_errors; /* the same as a target */

/* Drops the kept error if it is the library's, or prints it with -v: the program has recovered, for
 * example by using the CPU instead of a GPU. An error of another thread, such as one that reads
 * ahead, is kept. */
void gpume_console_forget_error(void);

/* Replaces the status line; NULL erases it. rewrite: overwrites the line in place, cut to the width
 * of the terminal; otherwise prints a new line. */
void gpume_console_status(const char *text, bool rewrite);

/* Prints the kept error, if any. The last call of every failed run. */
void gpume_console_flush_error(void);

/* Escape sequences that begin and end bold text; "" unless the stream is a terminal that has
 * colours, and NO_COLOR is not set. */
const char *gpume_console_bold(FILE *stream);
const char *gpume_console_plain(FILE *stream);

/* Prints a file name with control characters replaced by '?'. */
void gpume_console_print_name(const char *name, FILE *stream);

/* Prints the line of a closing summary that names an output. */
void gpume_console_print_written(const char *name, FILE *stream);

/* Flushes standard output and keeps an error if that fails. unneeded: what -q would have omitted,
 * for the message; NULL: nothing. */
bool gpume_console_flush_output(const char *unneeded);

/* Progress: on a terminal one line that is overwritten in place, ten times per second; elsewhere,
 * with
 * --progress, a line per second. Main thread only. */
struct gpume_progress {
    bool shown, rewrite;
    uint64_t total;   /* 0: unknown */
    const char *unit; /* what is counted: "frame pairs", unless changed after init */
    uint64_t start_ns, last_ns;
    uint64_t last_done;
    double psnr; /* of the last predicted frame; NAN: none yet */
};

void gpume_progress_init(
    struct gpume_progress *progress, const struct gpume_common_options *options, uint64_t total);

/* psnr: of the latest predicted frame. */
void gpume_progress_step(struct gpume_progress *progress, uint64_t done, double psnr);

void gpume_progress_finish(struct gpume_progress *progress, uint64_t done);

/*
 * --- The library's messages, for users of the command: the library names its parameters, the user
 * knows the options that set them.
 */

/* A gpume_log_fn for parameters of the library: passes the line to gpume_console_log, with the
 * names of options where it names parameters. opaque is not used. */
void gpume_library_log(void *opaque, enum gpume_log_level level, const char *line);

/* gpume_params_check, whose message goes to gpume_library_log. */
int gpume_library_check(const struct gpume_params *params);

#endif
