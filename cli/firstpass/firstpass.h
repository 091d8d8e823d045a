/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume firstpass`: one analysis of a video, then the files of an encoder's second pass for every
 * bitrate and picture size.
 */
#ifndef GPUME_CLI_FIRSTPASS_FIRSTPASS_H
#define GPUME_CLI_FIRSTPASS_FIRSTPASS_H

#include "encode/options.h"
#include "video.h"

#define GPUME_FIRSTPASS_MAX 32u /* bitrates, and sizes */
/* Of --size, and what the encoders take. */
#define GPUME_FIRSTPASS_SIDE_MIN 16u
#define GPUME_FIRSTPASS_SIDE_MAX 16384u
#define GPUME_FIRSTPASS_PIXELS_MAX 256000000u /* FFmpeg takes a few more */

struct gpume_firstpass_rates {
    uint64_t rates[GPUME_FIRSTPASS_MAX + 1]; /* bits per second; all in use: too many */
    uint32_t count;
};

struct gpume_firstpass_size {
    uint32_t width, height;
};

struct gpume_firstpass_sizes {
    struct gpume_firstpass_size sizes[GPUME_FIRSTPASS_MAX + 1]; /* all in use: too many */
    uint32_t count;
};

/* One second pass of its own size and bitrate. */
struct gpume_firstpass_rung {
    struct gpume_firstpass_size size;
    uint64_t rate;
};

struct gpume_firstpass_rungs {
    struct gpume_firstpass_rung rungs[GPUME_FIRSTPASS_MAX + 1]; /* all in use: too many */
    uint32_t count;
};

/* Strings point into argv. */
struct gpume_firstpass_options {
    struct gpume_video_options video; /* output: the beginning of the files' names */
    int encoder;                      /* enum gpume_encoder; -1: not given */
    struct gpume_firstpass_rates rates;
    struct gpume_firstpass_sizes sizes; /* each with all rates; none: the input's */
    struct gpume_firstpass_rungs rungs;
    bool verify;
    int preset, tune;                   /* by presets.h; -1: not given */
    struct gpume_encode_options encode; /* min_keyint 0, bits 0: not given */
};

enum gpume_exit gpume_firstpass_run(const struct gpume_firstpass_options *options);

#endif
