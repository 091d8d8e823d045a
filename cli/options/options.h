/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line as a struct. One table in options.c makes the parsing and --help; the test of
 * the man page reads --help.
 */
#ifndef GPUME_CLI_OPTIONS_OPTIONS_H
#define GPUME_CLI_OPTIONS_OPTIONS_H

#include "estimate/prefilter_option.h"
#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdint.h>

/* Exit statuses; a promise to users. */
enum gpume_exit {
    GPUME_EXIT_DONE = 0,
    GPUME_EXIT_FAILED = 1,
    GPUME_EXIT_USAGE = 2,
    GPUME_EXIT_INPUT = 3,
    GPUME_EXIT_DEVICE = 4,
    GPUME_EXIT_MISMATCH = 5,
};

enum gpume_command {
    GPUME_COMMAND_ESTIMATE,
    GPUME_COMMAND_BENCH,
    GPUME_COMMAND_SORT,
    GPUME_COMMAND_COMPARE,
    GPUME_COMMAND_CONVERT,
    GPUME_COMMAND_DEVICES,
    GPUME_COMMAND_HELP,
    GPUME_COMMAND_VERSION,
    GPUME_COMMAND_COMPLETION,
};

struct gpume_vectors_format;

enum gpume_form { GPUME_FORM_TABLE, GPUME_FORM_JSON, GPUME_FORM_CSV };

/* What goes into gpume sort, and comes out. */
enum gpume_sort_form { GPUME_SORT_TEXT, GPUME_SORT_U32, GPUME_SORT_I32 };

enum gpume_progress_mode { GPUME_PROGRESS_AUTO, GPUME_PROGRESS_ON, GPUME_PROGRESS_OFF };

/* Strings point into argv. */
struct gpume_options {
    enum gpume_command command;
    const char *inputs[2];
    uint32_t input_count;
    /* What the library is asked for; but for the bench's generated frames size and depth are those
     * of the input and still to come. */
    struct gpume_params params;
    uint64_t start;  /* index of the first target frame */
    uint64_t frames; /* targets; 0 = to the end of the input */
    struct gpume_prefilter_option prefilter;
    bool compat_ffmpeg;              /* the fields of mestimate=method=esa */
    uint32_t block;                  /* as asked for, where that makes it another */
    const char *filter;              /* NULL: none */
    int stream;                      /* -1: best */
    const char *hwaccel;             /* NULL: none */
    bool allow_network, allow_files; /* as gpume_trust has them */
    uint64_t max_pixels;             /* 0: not given */
    double timeout;                  /* seconds; 0: none */
    const char *output;              /* folder, for gpume sort a file; NULL: not given */
    const char *vectors, *predicted, *residual, *difference, *report; /* NULL: not given */
    uint32_t report_pictures;
    bool residual_signed;
    double gain, gamma;
    const struct gpume_vectors_format *format; /* of vectors; NULL: as their name says */
    const struct gpume_vectors_format *from;   /* of convert's input; NULL: as its bytes say */
    bool has_block;                            /* was params.block given? */
    const char *overlay;                       /* NULL: not given */
    int overlay_style;                         /* an enum gpume_overlay_style */
    int overlay_key;                           /* an enum gpume_overlay_key */
    uint32_t scale;                            /* of the overlay */
    const char *map;                           /* of gpume compare; NULL: not given */
    double seconds;                            /* for a row of the bench */
    enum gpume_form form;
    bool bench_sort, bench_reduce; /* in place of the search */
    bool descending, time;         /* of gpume sort */
    enum gpume_sort_form sort_binary;
    int completion; /* an enum gpume_shell */
    bool overwrite;
    bool resume;
    int verbosity; /* -1 quiet, 0, 1 verbose */
    enum gpume_progress_mode progress;
};

/* The first frame that has a reference, or the one asked for. */
static inline uint64_t gpume_options_first_target(const struct gpume_options *options)
{
    const bool past = options->params.direction == GPUME_DIRECTION_PAST;
    const uint64_t distance = past ? options->params.ref_distance : 0;
    return options->start > distance ? options->start : distance;
}

/* GPUME_OK, or GPUME_INVALID after one line through gpume_console_error. */
int gpume_options_parse(struct gpume_options *options, int argc, char **argv);

/* Standard output; the caller checks that it arrived. */
void gpume_options_print_help(void);

#endif
