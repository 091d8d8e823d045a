/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion estimation: from an input, through the library, to output files. This folder has the
 * options (options.c), the frames that they mean (frames.c), the list of outputs (outputs.c), the
 * run (run.c) with its checkpoints for --resume (checkpoint.c), and other modes (modes.c,
 * against.c).
 */
#ifndef GPUME_CLI_ESTIMATE_ESTIMATE_H
#define GPUME_CLI_ESTIMATE_ESTIMATE_H

#include "estimate/prefilter.h"
#include "options/option.h"
#include "options/types.h"
#include "sinks/sink.h"
#include "source_options.h"

struct gpume_cli_job;
struct gpume_vectors_format;

/* What a field of an interlaced video is searched in. */
enum gpume_fields {
    GPUME_FIELDS_NONE,    /* whole frames are searched */
    GPUME_FIELDS_SAME,    /* fields of the same parity */
    GPUME_FIELDS_NEAREST, /* the fields nearest in time */
};

/* The value of --predictor. file points into argv; NULL: not a file. */
struct gpume_predictor_option {
    enum gpume_predictor kind;
    const char *file;
};

struct gpume_search_choice {
    struct gpume_shape_list shapes;
    struct gpume_distance_list distances;
    double lambda, qp; /* negative: not given */
    struct gpume_predictor_option predictor;
};

extern const struct gpume_option_type gpume_type_predictor; /* a struct gpume_predictor_option */

/* Strings point into argv; NULL: not given. */
struct gpume_estimate_options {
    struct gpume_common_options common;
    struct gpume_params params;        /* without size and depth, which the input decides */
    struct gpume_search_choice search; /* the parameters follow it */
    struct gpume_source_choice source;
    enum gpume_fields fields;
    struct gpume_place start_at; /* --start as given */
    int64_t duration_us;         /* --duration; 0: not given */
    uint64_t start;              /* index of the first target frame */
    uint64_t frames;             /* targets; 0: to the end of the input */
    struct gpume_prefilter_option prefilter;
    bool from_stream;     /* take the vectors that the input holds */
    bool against_stream;  /* compare with the vectors that the input holds */
    bool compat_ffmpeg;   /* produce the vectors of mestimate=method=esa */
    uint32_t asked_block; /* --block as given; compat_ffmpeg rounds up params.block */
    const char *output;   /* folder */
    const char *vectors, *predicted, *residual, *difference, *overlay, *report, *report_dir;
    const struct gpume_vectors_format *format; /* of vectors; NULL: by the ending of the name */
    bool residual_signed;
    double gain, gamma;
    struct gpume_overlay_look look; /* of the overlay */
    uint32_t report_pictures;
    bool report_pictures_asked;    /* not the default */
    uint32_t surface_x, surface_y; /* a pixel of the block */
    bool with_surface;
    bool resume;
};

/* The first frame that has a reference, or the one asked for. */
static inline uint64_t gpume_estimate_first_target(const struct gpume_estimate_options *options)
{
    const bool past = options->params.direction == GPUME_DIRECTION_PAST;
    const uint64_t distance = past ? options->params.ref_distance : 0; /* the nearest */
    return options->start > distance ? options->start : distance;
}

/* Names the outputs of the job (job.h). GPUME_EXIT_DONE, or the exit status after one line. */
enum gpume_exit gpume_estimate_plan(
    struct gpume_cli_job *job, const struct gpume_estimate_options *options);

/* The run of the command; signals have been started. */
enum gpume_exit gpume_estimate_run(const void *options);

#endif
