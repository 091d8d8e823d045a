/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume firstpass`: one analysis of a video, then the files of an encoder's second pass for every
 * bitrate or quality, and picture size.
 */
#ifndef GPUME_CLI_FIRSTPASS_FIRSTPASS_H
#define GPUME_CLI_FIRSTPASS_FIRSTPASS_H

#include "encoder_options.h"
#include "filter/filter.h"
#include "job.h"

#define GPUME_FIRSTPASS_MAX 32u /* items of each list */
/* Of --size, and what the encoders take. */
#define GPUME_FIRSTPASS_SIDE_MIN 16u
#define GPUME_FIRSTPASS_SIDE_MAX 16384u
#define GPUME_FIRSTPASS_PIXELS_MAX 256000000u /* FFmpeg takes a few more */

/* A second pass's size, bitrate or quality, or both. */
struct gpume_firstpass_rung {
    uint32_t width, height;
    struct gpume_encode_target target;
};

struct gpume_firstpass_rungs {
    struct gpume_firstpass_rung items[GPUME_FIRSTPASS_MAX + 1]; /* all in use: too many */
    uint32_t count;
};

/* Types of options that may be repeated, of a whole struct gpume_firstpass_rungs: sizes, and what
 * is asked for beside a bitrate. */
extern const struct gpume_option_type gpume_type_sizes, gpume_type_goals;

/* Strings point into argv. */
struct gpume_firstpass_options {
    struct gpume_video_options video; /* output: the beginning of the files' names */
    int encoder;                      /* in gpume_encoders; -1: not given */
    struct gpume_firstpass_rungs targets;
    struct gpume_firstpass_rungs sizes; /* each with every target; none: the input's */
    struct gpume_firstpass_rungs rungs;
    enum { GPUME_PER_VIDEO, GPUME_PER_SCENE } per; /* what a fidelity is of */
    uint32_t probes;                               /* encodes by which CRFs are corrected */
    bool verify;
    double strength;           /* of the filter before the encoder; 0: none */
    const char *filtered;      /* file of the filtered video; NULL: the encoder's lines filter */
    const char *preset, *tune; /* NULL: not given */
    union gpume_firstpass_value {
        uint64_t number; /* also of a word, or 0 or 1 */
        double real;
    } values[GPUME_ENCODER_ROWS_MAX];   /* those given of the encoders' options */
    struct gpume_encode_options encode; /* min_keyint 0, bits 0: not given */
};

/* --- the filter before the encoder (filtered.c) */

struct gpume_argv;

/* What gpume filter is given: with --filter, for the finest quality of the run, or else the highest
 * bitrate. */
struct gpume_filter_options gpume_firstpass_filter_options(
    const struct gpume_firstpass_options *options);

/* The command line of that, which writes to standard output. */
void gpume_firstpass_filter_command(
    const struct gpume_filter_options *options, struct gpume_argv *argv);

enum gpume_exit gpume_firstpass_run(const struct gpume_firstpass_options *options);

#endif
