/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion estimation: from an input, through the library, to output files. This folder has the
 * options (options.c), the run with the frames that it reads (run.c), other modes (modes.c), the
 * outputs with their checkpoints for --resume (outputs.c), and files that options name (read.c).
 * Each file calls those named after it. Main thread only.
 */
#ifndef GPUME_CLI_ESTIMATE_ESTIMATE_H
#define GPUME_CLI_ESTIMATE_ESTIMATE_H

#include "job.h"
#include "media/source.h"
#include "options/option.h"
#include "resume/state.h"
#include "sinks/sink.h"
#include "sinks/summary.h"

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
    struct gpume_frame_range range; /* as given; asked.start and asked.frames follow from it */
    bool against_stream;            /* compare with the vectors that the input holds */
    uint32_t asked_block;           /* --block as given; compat_ffmpeg rounds up params.block */
    uint32_t side; /* of squares, for the vectors of a stream; 0: blocks as coded */
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

/* True if --report is a page, not its data for programs. */
bool gpume_estimate_has_page(const struct gpume_estimate_options *options);

/* True if the run writes pictures, or a page that has some. */
bool gpume_estimate_draws(const struct gpume_estimate_options *options);

extern const struct gpume_sink_ops *const gpume_named_sinks[GPUME_SINK_COUNT];

/* Names the output folder: job->folder. GPUME_OK, or another status after one line. */
int gpume_estimate_name_folder(
    struct gpume_cli_job *job, const struct gpume_estimate_options *options);

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

/*
 * --- Which frames a run reads, and which of them are targets: --start, --frames, --duration and
 * --fields. Main thread only.
 */

struct gpume_run_window {
    uint64_t first_frame;  /* the first frame to send */
    uint64_t send;         /* number of frames to send; 0: to the end of the input */
    uint64_t first_target; /* see struct gpume_params */
    uint64_t target_count;
    uint64_t known; /* frames that the input must have, since an earlier run read them */
};

/* done: the summary of the runs that this one resumes; zero: none. */
struct gpume_run_window gpume_run_window_make(
    const struct gpume_estimate_options *options, const struct gpume_summary *done);

/* Frame pairs of the whole run, for an input of that many frames. 0: unknown. */
uint64_t gpume_run_window_expect(const struct gpume_estimate_options *options, uint64_t frames);

/* True if no further field of its target can follow. */
bool gpume_run_window_ends(const struct gpume_params *params, const struct gpume_field *field);

/* --- fields of interlaced video: the frames of the run are fields */

/* Their names as values of an option. */
extern const char *const gpume_fields_names[];

/* Makes the distances count fields. GPUME_INVALID after one line: one is too long. */
int gpume_fields_count(enum gpume_fields fields, struct gpume_distance_list *list);

/* A filter graph, or NULL, and after it the one that separates fields; the caller frees it. NULL:
 * out of memory. */
char *gpume_fields_graph(const char *filter);

/* --- What gpume INPUT does in place of a plain search. Main thread only. */

/*
 * --compat ffmpeg: the vectors of FFmpeg's mestimate=method=esa. That filter searches both
 * directions with blocks whose side is a power of two, ignores partial blocks at the right and
 * bottom edges, compares the first frame with itself, and outputs all frames but the last.
 */

/* Refuses options that contradict it, and changes the search to the filter's; options->asked_block
 * keeps the block size that was given. GPUME_OK, or GPUME_INVALID after one line. */
int gpume_compat_apply(struct gpume_estimate_options *options, const struct gpume_line *line);

/* The filter graph: that of --vf, then one that crops the picture to whole blocks. The caller frees
 * it; NULL: out of memory. */
char *gpume_compat_graph(const struct gpume_estimate_options *options);

/* Refuses input that mestimate would not take unconverted. */
enum gpume_exit gpume_compat_check_input(
    const struct gpume_estimate_options *options, const struct gpume_source_info *info);

/* --from-stream: the vectors that a coded video holds, in place of a search (coded/vectors.c). */

/* Refuses options that have no meaning without a search. GPUME_INVALID after one line. */
int gpume_from_stream_check(struct gpume_estimate_options *options, const struct gpume_line *line);

enum gpume_exit gpume_from_stream_run(const struct gpume_estimate_options *options);

/*
 * --against-stream: for every block of a coded video, the best match that exhaustive search finds
 * in the frame that the encoder took, beside the vector that the encoder chose.
 */

/* Refuses options that have no meaning here, and sets the defaults of those that have others.
 * GPUME_INVALID after one line. */
int gpume_against_check(struct gpume_estimate_options *options, const struct gpume_line *line);

enum gpume_exit gpume_against_run(const struct gpume_estimate_options *options);

#endif
