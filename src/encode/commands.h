/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command lines of a second pass, as lists of arguments. They name every option that the files
 * depend on, so that a user may change presets and other options. Encoders read Y4M themselves; all
 * else is decoded by ffmpeg and piped to them. So they get the frames that gpume has analysed,
 * whatever their own readers would make of the input.
 */
#ifndef GPUME_ENCODE_COMMANDS_H
#define GPUME_ENCODE_COMMANDS_H

#include "encode/encoder.h"

struct gpume_colours;

/* Stands for the name of the encoded video. */
#define GPUME_COMMAND_OUTPUT "OUTPUT"

/* Starts as zero. */
struct gpume_argv {
    char **items; /* for free(), one by one */
    size_t count;
    bool failed; /* out of memory: an argument is missing */
};

void gpume_argv_finish(struct gpume_argv *argv);

struct gpume_command_params {
    const struct gpume_encode_options *options; /* settled */
    const char *input;                          /* as gpume reads it */
    bool piped;                                 /* it is Y4M that another program makes of it */
    bool is_file;                               /* there is a file of that name */
    bool is_y4m;                                /* a Y4M file that says its frame rate */
    bool is_list;                               /* FFmpeg's concat: it names other files */
    uint64_t first_number;                      /* of numbered pictures */
    const char *filter;                         /* FFmpeg filter graph; NULL: none */
    const char *stated;                         /* such a graph, instead of that, which says what
                                                   the input does not say of its colours */
    int stream;                                 /* among the video streams; -1: the only one */
    bool full_range;                            /* of the input's luma */
    int chroma_place;                           /* of 4:2:0; 0: unknown, or it has none */
    const struct gpume_colours *colours;        /* of the input */
    uint32_t width, height, bits;               /* of the frames that were analysed */
    const char *pixel_format;                   /* of the input, by FFmpeg's name */
    /* Files: without an ending; statistics; QPs or NULL. stats NULL: the program's own single pass
     * at a CRF, and none by ffmpeg. */
    const char *name, *stats, *qps;
    struct gpume_pass_video video;
    struct gpume_encode_target target;
    uint64_t bitrate; /* of a quality: expected */
    uint64_t frames;
};

/* Whether ffmpeg's second pass keeps to what was asked. If not, it takes the bitrate that the
 * quality is expected to take. */
bool gpume_command_ffmpeg_keeps(const struct gpume_encoder *encoder, enum gpume_goal goal);

/* Second pass by ffmpeg; empty if it has none. */
void gpume_command_ffmpeg(struct gpume_argv *argv, const struct gpume_command_params *params);

/* Second pass by the encoder's program; empty if it cannot read such frames. */
void gpume_command_encoder(struct gpume_argv *argv, const struct gpume_command_params *params);

/* The ffmpeg that pipes frames into that program; empty if the program reads the input itself or
 * cannot read such frames. */
void gpume_command_feed(struct gpume_argv *argv, const struct gpume_command_params *params);

/* A filter graph, NULL: none, followed by scaling, to full range if it is told so. For free(); NULL
 * without memory. */
char *gpume_command_scaling(const char *filter, uint32_t width, uint32_t height, bool full_range);

/* The options of one pass for libavcodec, as "NAME-params=..." with everything escaped; stats: path
 * of the statistics. For free(); NULL without memory. */
char *gpume_command_settings(const struct gpume_encode_options *options,
    const struct gpume_pass_video *video, int pass, const char *stats);

/* --- for the files in encoders/ */

/* Adds an argument, or two. */
GPUME_PRINTF(2, 3) void gpume_argv_add(struct gpume_argv *argv, const char *format, ...);
void gpume_argv_add_pair(struct gpume_argv *argv, const char *name, const char *value);

/* The program's name and its options for the second pass, as most programs spell them. */
void gpume_command_add_second_pass(
    struct gpume_argv *argv, const struct gpume_command_params *params);

/* A program's options for what the input says of its colours: of the parameters only `colours`,
 * `full_range`, `chroma_place` and `pixel_format` are looked at. */
void gpume_command_add_colours(struct gpume_argv *argv, const struct gpume_colour_options *options,
    const struct gpume_command_params *params);

#endif
