/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that commands which analyse a video have in common. Their job is in job.h. */
#ifndef GPUME_CLI_VIDEO_H
#define GPUME_CLI_VIDEO_H

#include "source_options.h"

/* The first member of a command's options. */
struct gpume_video_options {
    struct gpume_common_options common;
    struct gpume_params params; /* only backend, device and threads are used */
    struct gpume_source_choice source;
    uint64_t frames;    /* to read at most; 0: all */
    const char *output; /* NULL: standard output */
};

/* For set_defaults and check. */
void gpume_video_options_default(void *options);
int gpume_video_options_check(void *options, const struct gpume_line *line);

/* Rows of tables, in this order; a command's own rows for the output come between. m: a struct
 * gpume_video_options. */
#define GPUME_OPTION_VIDEO_FRAMES(s, m)                                                            \
    GPUME_ROW_NUMBER("frames", s, m, 1, UINT32_MAX),                                               \
        .help = "read no more frames than this (default: all)"
#define GPUME_OPTIONS_VIDEO(s, m)                                                                  \
    {.heading = "Input"}, {GPUME_OPTION_VF(s, m.source.filter)},                                   \
        {GPUME_OPTION_STREAM(s, m.source.stream)}, {GPUME_OPTION_HWACCEL(s, m.source.hwaccel)},    \
        {GPUME_OPTION_DECODERS(s, m.source.decoders)}, GPUME_OPTIONS_TRUST(s, m.source),           \
        {GPUME_OPTION_VIDEO_FRAMES(s, m.frames)},                                                  \
        {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},             \
        {.heading = "Output"},                                                                     \
    {                                                                                              \
        GPUME_ROW_FILE("output", "FILE", s, m.output),                                             \
            .letter = 'o', .help = "write to this file (default: standard output)"                 \
    }
#define GPUME_OPTIONS_VIDEO_LAST(s, m)                                                             \
    {GPUME_OPTION_OVERWRITE, .help = "replace an existing output"}, {.heading = "Engine"},         \
        GPUME_OPTIONS_ENGINE(s, m.params), {.heading = "Messages"},                                \
        GPUME_OPTIONS_MESSAGES("print no closing summary and no progress", "show this help")

#endif
