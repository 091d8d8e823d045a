/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a video and hands each frame to a function, for the commands that analyse one. A signal or
 * --timeout ends the reading, and from then on is only noted (gpume_signals_keep). Main thread
 * only.
 */
#ifndef GPUME_CLI_VIDEO_H
#define GPUME_CLI_VIDEO_H

#include "progress.h"
#include "source_options.h"

struct gpume_video {
    struct gpume_source *source;
    struct gpume_source_info info;
    struct gpume_plane plane; /* the current frame */
    uint64_t frames;          /* read so far */
    struct gpume_progress progress;
};

/* Starts as zero. On failure one line has been logged; close it in any case. params: threads,
 * memory_max. */
enum gpume_exit gpume_video_open(struct gpume_video *video,
    const struct gpume_common_options *common, const struct gpume_source_choice *choice,
    const struct gpume_params *params);

/* Takes a frame, which is valid during the call. A negative gpume_status ends the reading; it has
 * been logged. */
typedef int (*gpume_video_fn)(void *opaque, const struct gpume_plane *luma, int64_t time_us);

/* Reads the next `count` frames, or all that remain if it is 0. An input that ends earlier is no
 * failure. */
enum gpume_exit gpume_video_read(
    struct gpume_video *video, uint64_t count, gpume_video_fn take, void *opaque);

void gpume_video_close(struct gpume_video *video);

/* Rows of tables. m: a struct gpume_source_choice, */
#define GPUME_OPTIONS_VIDEO(s, m)                                                                  \
    {GPUME_OPTION_VF(s, m.filter)}, {GPUME_OPTION_STREAM(s, m.stream)},                            \
        {GPUME_OPTION_HWACCEL(s, m.hwaccel)}, {GPUME_OPTION_ALLOW_NETWORK(s, m.allow_network)},    \
        {GPUME_OPTION_ALLOW_FILES(s, m.allow_files)}, {GPUME_OPTION_MAX_PIXELS(s, m.max_pixels)},  \
    {                                                                                              \
        GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"                \
    }

/* or a struct gpume_params. */
#define GPUME_OPTIONS_ENGINE(s, m)                                                                 \
    {GPUME_OPTION_BACKEND(s, m.backend), .help = GPUME_BACKEND_HELP},                              \
        {GPUME_OPTION_DEVICE(s, m.device), .help = GPUME_DEVICE_HELP},                             \
    {                                                                                              \
        GPUME_OPTION_THREADS(s, m.threads)                                                         \
    }

#endif
