/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion estimation: from an input, through the library, to output files. This folder has the
 * options (options.c), the frames that they mean (frames.c), files that some of them name (read.c),
 * the outputs with their checkpoints for --resume (outputs.c), the run (run.c), and other modes
 * (modes.c, against.c). Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_ESTIMATE_H
#define GPUME_CLI_ESTIMATE_ESTIMATE_H

#include "job.h"
#include "options/option.h"
#include "resume/state.h"
#include "sinks/sink.h"

#include <stdatomic.h>

/* What a field of an interlaced video is searched in. */
enum gpume_fields {
    GPUME_FIELDS_NONE,    /* whole frames are searched */
    GPUME_FIELDS_SAME,    /* fields of the same parity */
    GPUME_FIELDS_NEAREST, /* the fields nearest in time */
};

struct gpume_search_choice {
    struct gpume_shape_list shapes;
    struct gpume_distance_list distances;
    double lambda, qp; /* negative: not given */
};

extern const struct gpume_option_type gpume_type_predictor; /* a struct gpume_predictor_option */
extern const struct gpume_option_type gpume_type_prefilter; /* a struct gpume_prefilter_option */

/* Strings point into argv; NULL: not given. */
struct gpume_estimate_options {
    struct gpume_common_options common;
    struct gpume_params params;        /* without size and depth, which the input decides */
    struct gpume_search_choice search; /* the parameters follow it */
    struct gpume_run_request asked;
    enum gpume_fields fields;
    struct gpume_place start_at; /* --start as given */
    int64_t duration_us;         /* --duration; 0: not given */
    bool against_stream;         /* compare with the vectors that the input holds */
    uint32_t asked_block;        /* --block as given; compat_ffmpeg rounds up params.block */
    uint32_t side;               /* of squares, for the vectors of a stream; 0: blocks as coded */
    bool resume;
    const char *output; /* folder */
    const char *vectors, *report, *report_dir;
    const char *files[GPUME_SINK_COUNT]; /* of gpume_named_sinks */
};

/* The first frame that has a reference, or the one asked for. */
static inline uint64_t gpume_estimate_first_target(const struct gpume_estimate_options *options)
{
    const bool past = options->params.direction == GPUME_DIRECTION_PAST;
    const uint64_t distance = past ? options->params.ref_distance : 0; /* the nearest */
    return options->asked.start > distance ? options->asked.start : distance;
}

/* --- files that options name */

/* Reads the kernel's file, if there is one, into option->filter, which then points to weights.
 * GPUME_OK, or GPUME_FORMAT after one line through gpume_console_error. */
int gpume_prefilter_option_read(struct gpume_prefilter_option *option,
    double weights[GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX]);

/* A checksum (FNV-1a) of weights read from a file, to recognize them; 0: none were read. */
uint64_t gpume_prefilter_option_sum(const struct gpume_prefilter_option *option);

struct gpume_predictor_rows;

/* --predictor FILE. The main thread opens and closes it; one thread of the library uses it. */
struct gpume_predictor_source {
    const char *path;
    struct gpume_params params; /* of the run */
    struct gpume_vectors_reader *reader;
    const struct gpume_vectors_field *next; /* the first that has not been taken; NULL: none */
    /* The rows of the last frames that were read, by frame modulo `kept`: pairs come in the order
     * of their targets, but for the reverse pairs that --confidence searches. */
    struct gpume_predictor_rows *frames;
    uint64_t kept;
    atomic_bool failed; /* the file lacks what the run needs; reported */
};

/* Opens the file, reads its first frame, and makes the parameters of gpume_open ask the source for
 * predictors. A failure has been reported. Call close in either case. */
int gpume_predictor_open(
    struct gpume_predictor_source *source, const char *path, struct gpume_params *params);

void gpume_predictor_close(struct gpume_predictor_source *source);

/* --- outputs */

extern const struct gpume_sink_ops *const gpume_named_sinks[GPUME_SINK_COUNT];

/* Names the outputs of the job (job.h). GPUME_EXIT_DONE, or the exit status after one line. */
enum gpume_exit gpume_estimate_plan(
    struct gpume_cli_job *job, const struct gpume_estimate_options *options);

/* Checkpoints for --resume. */
struct gpume_checkpoint {
    struct gpume_cli_job *job; /* its outputs, whose set is the run's; with --resume they stay if
                              the run fails */
    struct gpume_run_state state;
    struct gpume_run_state_output outputs[GPUME_JOB_OUTPUTS_MAX];
    struct gpume_out_mark marks[GPUME_JOB_OUTPUTS_MAX];
    char *path;       /* of the state */
    bool possible;    /* the run can be resumed */
    uint64_t next_ns; /* when the next checkpoint is due; 0: at once */
    bool written;     /* the state of this run has been saved */
};

/* Call it before the first output is opened; the arguments must outlive the checkpoint. input: its
 * identity when it was opened, or NULL if it changed meanwhile, since a later run could not know
 * what this one has read. weights: a checksum of the prefilter's kernel. With --resume, reads the
 * state of an earlier run, and its sums into *summary. */
enum gpume_exit gpume_checkpoint_open(struct gpume_checkpoint *checkpoint,
    struct gpume_cli_job *job, struct gpume_summary *summary, const struct gpume_run_input *input,
    uint64_t weights);

/* Gives outputs that have their final names their temporary ones again, the last output first;
 * call it before they are opened. The second reverses that if the run has nothing to add. */
int gpume_checkpoint_take_back(const struct gpume_checkpoint *checkpoint);
int gpume_checkpoint_give_back(struct gpume_checkpoint *checkpoint);

/* Removes temporary files that killed runs have left. Call it once the outputs are open. */
void gpume_checkpoint_clear(const struct gpume_checkpoint *checkpoint);

/* True if it is time to update the summary and save a checkpoint. */
bool gpume_checkpoint_is_due(const struct gpume_checkpoint *checkpoint);

/* Saves a checkpoint after a frame: every output holds all that the summary counts. */
int gpume_checkpoint_save(struct gpume_checkpoint *checkpoint);

/* Call it after the last frame pair: all outputs are flushed before the first of them gets its
 * name, and the run can be resumed until the last one has. partial: the run ends early, and outputs
 * that are finished from now on are partial. */
int gpume_checkpoint_begin_end(struct gpume_checkpoint *checkpoint, bool partial);

/* Call it when all of them have their names. Of a complete run, removes its state, and states and
 * partial results of earlier runs. */
int gpume_checkpoint_end(struct gpume_checkpoint *checkpoint, bool partial);

void gpume_checkpoint_finish(struct gpume_checkpoint *checkpoint);

/* --- the run */

/* The run of the command; signals have been started. Reads the prefilter's kernel into the options.
 */
enum gpume_exit gpume_estimate_run(struct gpume_estimate_options *options);

#endif
