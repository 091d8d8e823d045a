/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that say how to read a video, for the commands that do. */
#ifndef GPUME_CLI_SOURCE_OPTIONS_H
#define GPUME_CLI_SOURCE_OPTIONS_H

#include "media/source.h"
#include "options/common.h"

/* Whether the inputs, one video or two pictures, go together and with the options. */
int gpume_source_options_check(
    const struct gpume_common_options *common, const struct gpume_source_options *asked);

/* What the rows have set, completed for gpume_source_open. params: threads, memory_max. */
struct gpume_source_options gpume_source_options_make(const struct gpume_common_options *common,
    const struct gpume_source_options *asked, const struct gpume_params *params);

/* Lets several decoders share the source, which was opened with these options, and notes it in the
 * log. frames: that will be read, 0: all; gpus: that search, so that decoding limits the speed and
 * is worth the memory, 0: none does; memory: bytes that are left for it. Returns how many decoders
 * there may be. */
uint32_t gpume_source_share(const struct gpume_source_options *options, struct gpume_source *source,
    uint64_t frames, uint32_t gpus, uint64_t memory);

/* GPUME_FORMAT after one line: an input is what gpume has written, a file of vectors or the folder
 * of a run, of which FFmpeg could only say that it does not know it. */
int gpume_source_check_inputs(const struct gpume_source_options *options);

/* gpume_source_open after this check. */
int gpume_source_open_inputs(struct gpume_source **source,
    const struct gpume_source_options *options, struct gpume_source_info *info);

/* The exit status for a failure to open or to read. */
enum gpume_exit gpume_source_exit(int status);

/* The input ended after `found` frames, but the first frame pair needs more. causes: the options
 * that ask for more than two, with ", " before each; "": none. */
enum gpume_exit gpume_refuse_short_source(const struct gpume_source_info *info, const char *filter,
    uint64_t found, uint64_t needed, const char *causes);

/* --- the options that commands which analyse a video have in common; their job is in job.h */

/* The first member of a command's options. */
struct gpume_video_options {
    struct gpume_common_options common;
    struct gpume_params params; /* only backend, device and threads are used */
    struct gpume_source_options source;
    uint64_t frames;    /* to read at most; 0: all */
    const char *output; /* NULL: standard output */
};

/* For set_defaults and check. */
/* A warning, if the video asks to be turned before it is shown. which: what "which" does not do. */
void gpume_source_warn_of_rotation(const struct gpume_source_info *info, const char *which);

void gpume_video_options_default(void *options);
int gpume_video_options_check(void *options, const struct gpume_line *line);

/* Rows of tables, in this order; a command's own rows for the output come between. m: a struct
 * gpume_video_options. */
#define GPUME_OPTION_VIDEO_FRAMES(s, m)                                                            \
    GPUME_ROW_NUMBER("frames", s, m, 1, UINT32_MAX),                                               \
        .help = "take no more frames than this (default: all)"
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

/* What a run's frames.csv or summary.json is, by its first bytes; NULL: another file. */
const char *gpume_name_result(const char *path);

#endif
