/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields that every command has, and rows that several tables share. */
#ifndef GPUME_CLI_OPTIONS_COMMON_H
#define GPUME_CLI_OPTIONS_COMMON_H

#include "gpume/gpume.h"
#include "options/option.h"
#include "options/types.h"

/* What to do in place of running the command. */
enum gpume_request {
    GPUME_REQUEST_NONE,
    GPUME_REQUEST_HELP,
    GPUME_REQUEST_HELP_ALL,
    GPUME_REQUEST_VERSION,
    GPUME_REQUEST_BASH, /* a completion script */
    GPUME_REQUEST_ZSH,
    GPUME_REQUEST_FISH,
};

enum gpume_form { GPUME_FORM_TABLE, GPUME_FORM_JSON, GPUME_FORM_CSV };

enum gpume_progress_mode { GPUME_PROGRESS_AUTO, GPUME_PROGRESS_ON, GPUME_PROGRESS_OFF };

/* Strings point into argv. A command that lacks an option leaves its field at zero. */
struct gpume_common_options {
    const char *inputs[2]; /* operands */
    uint32_t input_count;
    enum gpume_request request;
    int verbosity; /* -1 quiet, 0, 1 verbose */
    enum gpume_form form;
    enum gpume_progress_mode progress;
    double timeout; /* seconds; 0: no limit */
    bool overwrite;
};

extern const char *const gpume_choices_backend[];
extern const char *const gpume_choices_edge[];
extern const char *const gpume_choices_metric[];
extern const char *const gpume_choices_shell[];

/*
 * Rows that several tables share, as initialisers, to which a table may add others such as .brief:
 *     {GPUME_OPTION_VF(struct gpume_bench_options, source.filter), .uses = INPUT},
 * s: the command's struct, with a member `common`; m: the member that takes the value.
 */
#define GPUME_OPTION_BLOCK(s, m)                                                                   \
    .name = "block", .letter = 'b', .value = "N", .type = &gpume_type_number, GPUME_FIELD(s, m),   \
    .min = GPUME_BLOCK_MIN, .max = GPUME_BLOCK_MAX, .step = 4

#define GPUME_OPTION_WINDOW(s, m)                                                                  \
    .name = "window", .letter = 'w', .value = "N|XxY", .type = &gpume_type_window,                 \
    GPUME_FIELD(s, m), .max = GPUME_WINDOW_MAX,                                                    \
    .help = "largest displacement in pixels, 0 to 512, for both axes or for each (default 7)"

#define GPUME_OPTION_EDGE(s, m)                                                                    \
    .name = "edge", .value = "extend|inside", .type = &gpume_type_choice, GPUME_FIELD(s, m),       \
    .choices = gpume_choices_edge,                                                                 \
    .help = "candidates that reach outside the reference: extend repeats its edge samples, "       \
            "inside skips them (default extend)"

#define GPUME_OPTION_METRIC(s, m)                                                                  \
    .name = "metric", .value = "sad", .type = &gpume_type_choice, GPUME_FIELD(s, m),               \
    .choices = gpume_choices_metric,                                                               \
    .help = "cost of a candidate: the sum of absolute differences (default sad)"

#define GPUME_OPTION_VF(s, m)                                                                      \
    .name = "vf", .value = "GRAPH", .type = &gpume_type_text, GPUME_FIELD(s, m),                   \
    .help = "FFmpeg filter graph to apply after decoding, e.g. crop=640:360",                      \
    .words = "bwdif crop= format= fps= hflip hqdn3d scale= transpose= vflip yadif"

#define GPUME_OPTION_STREAM(s, m)                                                                  \
    .name = "stream", .value = "N", .type = &gpume_type_number, GPUME_FIELD(s, m), .max = 65535,   \
    .help = "video stream to read, counted from 0 (default: the best)"

#define GPUME_OPTION_ALLOW_NETWORK(s, m)                                                           \
    .name = "allow-network", .type = &gpume_type_flag, GPUME_FIELD(s, m),                          \
    .help = "let INPUT, and what it refers to, be on the network"

#define GPUME_OPTION_ALLOW_FILES(s, m)                                                             \
    .name = "allow-files", .type = &gpume_type_flag, GPUME_FIELD(s, m),                            \
    .help = "let INPUT refer to other local files, as playlists do"

#define GPUME_OPTION_MAX_PIXELS(s, m)                                                              \
    .name = "max-pixels", .value = "N", .type = &gpume_type_count, GPUME_FIELD(s, m), .min = 1,    \
    .max = 536870912.0,                                                                            \
    .help = "refuse pictures with more pixels, e.g. 9M (default: 268435456, or twice that for "    \
            "uncompressed Y4M)"

#define GPUME_OPTION_MAX_MEMORY(s, m)                                                              \
    .name = "max-memory", .value = "BYTES", .type = &gpume_type_bytes, GPUME_FIELD(s, m),          \
    .min = 1, .max = 1125899906842624.0

#define GPUME_OPTION_TIMEOUT(s)                                                                    \
    .name = "timeout", .value = "SECONDS", .type = &gpume_type_real,                               \
    GPUME_FIELD(s, common.timeout), .min = 0.001, .max = 604800

#define GPUME_OPTION_OVERWRITE(s)                                                                  \
    .name = "overwrite", .letter = 'y', .type = &gpume_type_flag, GPUME_FIELD(s, common.overwrite)

#define GPUME_OPTION_BACKEND(s, m)                                                                 \
    .name = "backend", .value = "auto|vulkan|cpu", .type = &gpume_type_choice, GPUME_FIELD(s, m),  \
    .choices = gpume_choices_backend

#define GPUME_OPTION_DEVICE(s, m)                                                                  \
    .name = "device", .value = "N|NAME", .type = &gpume_type_text, GPUME_FIELD(s, m),              \
    .complete = GPUME_COMPLETE_DEVICES

/* Help of the two above, for a command that uses one engine. */
#define GPUME_BACKEND_HELP                                                                         \
    "auto: the best hardware GPU, otherwise the CPU; vulkan: a GPU or a software driver (default " \
    "auto)"
#define GPUME_DEVICE_HELP                                                                          \
    "Vulkan device: its index in 'gpume devices', or part of its name (default: the best)"

#define GPUME_OPTION_THREADS(s, m)                                                                 \
    .name = "threads", .value = "N", .type = &gpume_type_number, GPUME_FIELD(s, m), .min = 1,      \
    .max = 1024, .help = "CPU threads, 1 to 1024 (default: one per processor)"

#define GPUME_OPTION_SEARCH(s, m)                                                                  \
    .name = "search", .value = "NAME", .type = &gpume_type_search, GPUME_FIELD(s, m)

#define GPUME_OPTION_CHECK(s, m) .name = "check", .type = &gpume_type_flag, GPUME_FIELD(s, m)

#define GPUME_OPTION_VALIDATE(s, m)                                                                \
    .name = "validate", .type = &gpume_type_flag, GPUME_FIELD(s, m),                               \
    .help = "turn on the Vulkan validation layer; any message from it is a failure"

#define GPUME_OPTION_JSON(s)                                                                       \
    .name = "json", .type = &gpume_type_flag, GPUME_FIELD(s, common.form), .stored = GPUME_FORM_JSON

#define GPUME_OPTION_CSV(s)                                                                        \
    .name = "csv", .type = &gpume_type_flag, GPUME_FIELD(s, common.form),                          \
    .stored = GPUME_FORM_CSV, .excludes = "json"

#define GPUME_OPTION_QUIET(s)                                                                      \
    .name = "quiet", .letter = 'q', .type = &gpume_type_flag, GPUME_FIELD(s, common.verbosity),    \
    .stored = -1

#define GPUME_OPTION_VERBOSE(s)                                                                    \
    .name = "verbose", .letter = 'v', .type = &gpume_type_flag, GPUME_FIELD(s, common.verbosity),  \
    .help = "print more on standard error"

#define GPUME_OPTION_PROGRESS(s)                                                                   \
    .name = "progress", .type = &gpume_type_flag, GPUME_FIELD(s, common.progress),                 \
    .stored = GPUME_PROGRESS_ON, .help = "show progress even if standard error is not a terminal"

#define GPUME_OPTION_NO_PROGRESS(s)                                                                \
    .name = "no-progress", .type = &gpume_type_flag, GPUME_FIELD(s, common.progress),              \
    .stored = GPUME_PROGRESS_OFF, .help = "show no progress"

#define GPUME_OPTION_COMPLETION(s)                                                                 \
    .name = "completion", .value = "SHELL", .type = &gpume_type_choice,                            \
    GPUME_FIELD(s, common.request), .stored = GPUME_REQUEST_BASH, .choices = gpume_choices_shell,  \
    .help = "print a completion script for bash, zsh or fish"

#define GPUME_OPTION_HELP(s)                                                                       \
    .name = "help", .letter = 'h', .type = &gpume_type_flag, GPUME_FIELD(s, common.request),       \
    .stored = GPUME_REQUEST_HELP

#define GPUME_OPTION_VERSION(s)                                                                    \
    .name = "version", .type = &gpume_type_flag, GPUME_FIELD(s, common.request),                   \
    .stored = GPUME_REQUEST_VERSION, .help = "print the version"

/* The last rows of every table. */
#define GPUME_OPTIONS_LAST(s, help_text)                                                           \
    {GPUME_OPTION_COMPLETION(s)}, {GPUME_OPTION_HELP(s), .help = help_text},                       \
    {                                                                                              \
        GPUME_OPTION_VERSION(s)                                                                    \
    }

#endif
