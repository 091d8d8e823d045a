/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a video and hands each frame to a function, for the commands that analyse one. Most of them
 * also write what they find to one output; they have options and their run in common. A signal or
 * --timeout ends the reading, and from then on is only noted (gpume_signals_keep). Main thread
 * only.
 */
#ifndef GPUME_CLI_VIDEO_H
#define GPUME_CLI_VIDEO_H

#include "encode/lookahead.h"
#include "files/out.h"
#include "files/out_set.h"
#include "progress.h"
#include "read_ahead.h"
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
void gpume_video_options_default(struct gpume_video_options *options);
int gpume_video_options_check(void *options, const struct gpume_line *line);

struct gpume_video {
    const struct gpume_video_options *options;
    struct gpume_source *source;
    struct gpume_source_info info;
    struct gpume_read_ahead ahead;
    uint64_t frames; /* taken so far */
    struct gpume_progress progress;
    const char *output; /* these four: only in gpume_video_run */
    struct gpume_out_set set;
    struct gpume_out *out;
    struct gpume_out *page; /* NULL, or what work->open has opened beside it, in the set */
};

/* Opens the video and begins to decode it, while its caller opens what takes the frames. Starts as
 * zero but for the options. On failure one line has been logged; close it in any case. */
enum gpume_exit gpume_video_open(struct gpume_video *video);

/* Takes a frame, which is valid until GPUME_AHEAD_HELD more are taken. A negative gpume_status ends
 * the reading; it has been logged. */
typedef int (*gpume_video_fn)(void *opaque, const struct gpume_plane *luma, int64_t time_us);

/* Reads the frames that the options ask for. An input that ends earlier is no failure; a signal or
 * --timeout is, after one line. */
enum gpume_exit gpume_video_read(struct gpume_video *video, gpume_video_fn take, void *opaque);

/* That of what was done after the reading; GPUME_EXIT_FAILED, after one line, if a signal or
 * --timeout came meanwhile. */
enum gpume_exit gpume_video_result(enum gpume_exit result);

void gpume_video_close(struct gpume_video *video);

/* What an analysis of the video's frames starts from. */
struct gpume_lookahead_params gpume_video_lookahead(const struct gpume_video *video);

/* To be called when the analysis has been opened, or could not be: names the engine for -v, or the
 * video if the status is GPUME_INVALID, which is its fault. */
enum gpume_exit gpume_video_opened(const struct gpume_video *video, int status, const char *engine);

/* What a command does with the frames. The functions take its job. */
struct gpume_video_work {
    enum gpume_exit (*open)(void *job);
    gpume_video_fn take;
    enum gpume_exit (*finish)(void *job); /* all frames were taken; writes the rest */
    void (*conclude)(const void *job);    /* prints the closing summary */
};

/* The whole run of such a command but for its end, gpume_video_close: opens the video, reserves the
 * name of the output, reads the video, and names what was written. */
enum gpume_exit gpume_video_run(
    struct gpume_video *video, const struct gpume_video_work *work, void *job);

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
