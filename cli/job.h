/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands do with signals, with the options of a video, and with a whole job: names, video,
 * outputs and answers. */
#ifndef GPUME_CLI_JOB_H
#define GPUME_CLI_JOB_H

#include "console.h"
#include "encode/lookahead.h"
#include "files/forms.h"
#include "files/out.h"
#include "media/source.h"
#include "options/common.h"
#include "options/option.h"
#include "sinks/sink.h"

#include "gpume/filter.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * --- SIGINT, SIGTERM and SIGHUP. The first one ends the run in order: it keeps the motion fields
 * that arrive within a second, or waits up to ten seconds for the current one. The second ends the
 * program at once. SIGPIPE and SIGXFSZ are ignored and show as failed writes.
 *
 * --timeout: when the time is up, the run ends like after a signal, but at once. If it has not
 * ended ten seconds later, whatever it waits for, the program ends.
 */

/* Starts the thread that waits for signals and for the time limit. Call it before other threads
 * start. catches: blocks the signals in all threads; otherwise they keep their default action.
 * limit: seconds; 0: none. False after one line: no thread can be started. */
bool gpume_signals_start(bool catches, double limit);

/* From now on a signal ends the source, and cancels the context and the filter if that does not
 * suffice. Before this call a signal ends the program, since there is nothing to clean up. */
void gpume_signals_attach(gpume *ctx, gpume_filter *filter, struct gpume_source *source);

/* A function to call before a signal or --timeout ends the program. It runs on another thread,
 * and none of the functions here returns afterwards. NULL: none. */
void gpume_signals_set_leave(void (*leave)(void *opaque), void *opaque);

/* From now on a signal is only noted, for gpume_signals_caught. */
void gpume_signals_keep(void);

/* From now on a signal ends the program at once, by way of `leave`: of code that does not look for
 * signals. One that came before is still noted. */
void gpume_signals_leave_at_once(void);

/* Output has begun that cannot be removed, such as on a pipe: messages say so. */
void gpume_signals_end(void);

/* From now on a signal changes nothing. completing: the outputs are being completed, which may take
 * seconds; a signal says so. */
void gpume_signals_detach(bool completing);

/* True if the run was interrupted by a signal, or its time has run out. */
bool gpume_signals_caught(void);

/* What an interrupted run leaves, for its message. */
void gpume_signals_set_left(const char *text);

/* Says that the run was interrupted, which the caller has noticed, and what it leaves. After
 * --timeout, which has said why, it adds only that.
 */
void gpume_signals_say_interrupted(void);

/* True if that was at least a second ago. The current frame pair is the last one then. */
bool gpume_signals_overdue(void);

/* Nothing but standard output is written: from now on the program ends with its reader, without a
 * word, as others in a pipeline do. */
void gpume_signals_end_with_reader(void);

void gpume_signals_stop(void);

/* --- Options that say how to read a video, for the commands that do. */

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

/* Which frames of a video are read, for commands whose rows have --start and --duration, too. */
struct gpume_frame_range {
    struct gpume_place start; /* the first */
    int64_t duration_us;      /* 0: not given */
};

/* GPUME_INVALID after one line: a time where there is no file to find it in, or --duration after a
 * number of frames. */
int gpume_range_check(
    const struct gpume_common_options *common, const struct gpume_frame_range *range);

/* For set_defaults and check. */
/* A warning, if the video is to be rotated before it is shown. which: what follows "but". */
void gpume_source_warn_of_rotation(const struct gpume_source_info *info, const char *which);

void gpume_video_options_default(void *options);
int gpume_video_options_check(void *options, const struct gpume_line *line);

/* Rows of tables, in this order; a command's own rows for the output come between. m: a struct
 * gpume_video_options. */
#define GPUME_OPTION_VIDEO_FRAMES(s, m)                                                            \
    GPUME_ROW_NUMBER("frames", s, m, 1, UINT32_MAX),                                               \
        .help = "take no more frames than this (default: all)"
/* The same with --start and --duration; r: a struct gpume_frame_range. */
#define GPUME_OPTIONS_RANGE(s, r, m)                                                               \
    {GPUME_ROW("start", "N|TIME", place, s, r.start), .max = UINT32_MAX,                           \
        .help = "index of the first frame, counted from 0, or its time from the first frame, "     \
                "such as 1:23.4 or 12.5s (default 0)"},                                            \
        {GPUME_OPTION_VIDEO_FRAMES(s, m.frames)},                                                  \
    {                                                                                              \
        GPUME_ROW("duration", "TIME", duration, s, r.duration_us),                                 \
            .excludes = "frames",                                                                  \
            .help = "read frames for this long, such as 10s or 1:30, from the time of --start or " \
                    "from the first frame"                                                         \
    }
#define GPUME_OPTIONS_VIDEO(s, m)                                                                  \
    {.heading = "Input"}, GPUME_OPTIONS_SOURCE(s, m.source),                                       \
        {GPUME_OPTION_VIDEO_FRAMES(s, m.frames)}, {GPUME_OPTION_TIMEOUT}, {.heading = "Output"},   \
    {                                                                                              \
        GPUME_ROW_FILE("output", "FILE", s, m.output),                                             \
            .letter = 'o', .help = "write to this file (default: standard output)"                 \
    }
#define GPUME_OPTIONS_VIDEO_LAST(s, m)                                                             \
    {GPUME_OPTION_OVERWRITE, .help = "replace an existing output"}, {.heading = "Engine"},         \
        GPUME_OPTIONS_ENGINE(s, m.params), {.heading = "Messages"},                                \
        GPUME_OPTIONS_MESSAGES("print no closing summary and no progress")

/*
 * --- One job: what every command does that reads a video, writes outputs or prints an answer. A
 * client names its outputs and gives functions, most of which it can leave out; the job calls them
 * in this order:
 *
 *                                            function   a signal or the end of --timeout
 *   1. the outputs are named, then checked   plan       ends the program: nothing was begun
 *   2. the video is opened                              ends the program
 *   3. what takes its frames is opened       prepare    ends the program
 *   4. the outputs are opened                open       ends the video
 *   5. frames are read                       take, run  ends the video; after 10 s the engine, too
 *   6. the rest is written                   finish     is noted
 *   7. outputs are completed, then named     complete   changes nothing
 *   8. the answer is printed on standard     print,     changes nothing
 *      output, as a table, JSON or CSV       put_...
 *   9. the closing summary is printed        conclude   changes nothing
 *
 * The first step that fails ends the job, after one line on standard error. Outputs have temporary
 * names until step 7, so a job that fails leaves none, unless `abandon` keeps what is complete.
 *
 * Step 1 checks the outputs one by one, in the order in which they were added. The name of each
 * must suit its kind, be no folder and no file that is read, and leave the name of a partial result
 * free; with --resume the output must be one that can be continued; without -y or --resume there
 * must be no such file. Then all together: no two may be one file or both standard output, and
 * --json needs standard output for its summary. If standard output is the only output and its
 * reader goes away, the job ends silently.
 *
 * Everything runs on the main thread, but frames of step 5 are decoded by another one, a few ahead,
 * from step 2 on: while the client opens what takes them, and while it works. A client with `run`
 * reads the source on its own. Signals and --timeout are taken by a third thread (signals.c). A
 * client with an answer and no outputs has nothing to clean up: signals end the program until step
 * 7.
 */

#define GPUME_JOB_HELD 4u /* frames that are valid: the last one taken, and those before it */
#define GPUME_JOB_OUTPUTS_MAX 12u

struct gpume_job_output {
    const struct gpume_sink_ops *ops; /* checks the name; NULL: any name of a file will do */
    char *path;                       /* as it was named */
    char *plain;                      /* in a form that can be compared */
    bool exists;                      /* before the job */
    struct gpume_out *out;            /* closed with the job; see gpume_job_open_output */
};

/* The client sets the first members, the others start as zero. */
struct gpume_cli_job {
    const struct gpume_common_options *common;
    const struct gpume_source_options *choice; /* NULL: the job reads no video */
    const struct gpume_params *params;         /* with a video: threads, memory_max, backend */
    uint64_t skip;                             /* frames that are dropped before the first read */
    uint64_t frames_max;                       /* to read; 0: all */
    const char *output;                        /* without `plan`: a file; NULL: standard output */
    struct gpume_out_set set;                  /* overwrite follows -y */

    /* Set by plan. */
    struct gpume_source_options wanted; /* made from the options; colour and such may be added */
    bool loads_drivers;                 /* those of Vulkan, while the video is opened */
    struct gpume_sink_shape shape;      /* what names of outputs depend on */
    bool leaves_partial;                /* outputs of an interrupted job are kept as NAME.partial */
    bool resumes;                       /* every output must be one that can be continued */
    bool keeps;                         /* outputs that exist may be those to be continued */
    const char *const *inputs;          /* by default those of the command line */
    uint32_t input_count;
    bool unguarded; /* signals end the program in steps 4 to 6, too */

    struct gpume_job_output outputs[GPUME_JOB_OUTPUTS_MAX];
    size_t output_count;
    struct gpume_sink *sinks[GPUME_JOB_OUTPUTS_MAX]; /* of these outputs, closed with the job; NULL:
                                                        it has none */
    bool to_stdout;                                  /* an output goes to standard output */
    char *folder;       /* of outputs that the job names; NULL: there is none */
    size_t made_length; /* of the part of `folder` that names the outermost folder that the job
                           made; 0: none */

    struct gpume_source *source; /* from step 2 on */
    struct gpume_source_info info;
    gpume *ctx;            /* an engine that step 5 may wait for; closed after it */
    gpume_filter *filter;  /* the same */
    uint64_t frames;       /* taken so far */
    struct gpume_out *csv; /* from step 4 to 8: standard output, of an answer with --csv */
    struct gpume_progress progress;
    struct gpume_job_ahead *ahead;
};

/* A job that reads a video, with the options that such commands have in common. */
static inline struct gpume_cli_job gpume_job_of(const struct gpume_video_options *options)
{
    return (struct gpume_cli_job){
        .common = &options->common,
        .choice = &options->source,
        .params = &options->params,
        .frames_max = options->frames,
        .output = options->output,
        .set = {.together = true},
    };
}

/* Takes a frame, which is valid until GPUME_JOB_HELD more are taken. A negative gpume_status ends
 * the reading; it has been logged. */
typedef int (*gpume_job_take_fn)(void *client, const struct gpume_plane *luma, int64_t time_us);

/* Each may be NULL. Failures have been logged. */
struct gpume_job_work {
    enum gpume_exit (*plan)(void *client);
    enum gpume_exit (*prepare)(void *client);
    enum gpume_exit (*open)(void *client);
    gpume_job_take_fn take;
    enum gpume_exit (*run)(void *client); /* without take */
    enum gpume_exit (*finish)(void *client);
    enum gpume_exit (*complete)(void *client); /* NULL: gpume_job_complete */
    /* The answer. put_csv: NULL: rows are added to job->csv on the way. */
    void (*print)(const void *client);
    bool optional; /* -q omits what `print` prints */
    void (*put_csv)(const void *client, struct gpume_out *out);
    void (*put_json)(const void *client, struct gpume_json *json); /* members of the object */
    uint64_t format; /* its number: one more when a key is removed or changes its meaning */
    /* stream: for a summary, which the names of outputs follow; NULL: none is wanted. */
    enum gpume_exit (*conclude)(void *client, FILE *stream);
    /* Steps 4 to 6 failed, which has been logged, or were interrupted, which has not. Returns the
     * exit status. */
    enum gpume_exit (*abandon)(void *client, enum gpume_exit result);
};

/* The whole job but for its end: gpume_job_close follows. */
enum gpume_exit gpume_job_run(
    struct gpume_cli_job *job, const struct gpume_job_work *work, void *client);

void gpume_job_close(struct gpume_cli_job *job);

/* Adds an output, in the order in which they are completed and get their names. The second names it
 * in job->folder. GPUME_NOMEM, logged. */
int gpume_job_add(struct gpume_cli_job *job, const struct gpume_sink_ops *ops, const char *path);
int gpume_job_add_standard(
    struct gpume_cli_job *job, const struct gpume_sink_ops *ops, const char *name);

/* Step 1 after `plan`, which gpume_job_run takes itself. */
enum gpume_exit gpume_job_check(struct gpume_cli_job *job);

/* True of a series of numbered files, each of which gets its name when it is complete. */
bool gpume_job_is_series(const struct gpume_job_output *output);

/* True if a later job could continue it. */
bool gpume_job_can_continue(const struct gpume_job_output *output);

/* Opens the output of this index as a file of the set. Step 4 does so for outputs without ops,
 * before it calls `open`. */
enum gpume_exit gpume_job_open_output(struct gpume_cli_job *job, size_t index);

/* Makes job->folder and its parents. They are removed with the job if they are empty. */
enum gpume_exit gpume_job_make_folder(struct gpume_cli_job *job);

/* Opens an engine as job->ctx. */
enum gpume_exit gpume_job_open_engine(struct gpume_cli_job *job, const struct gpume_params *params);

/* Completes what gpume_job_open_output has opened, and gives all outputs of the set their names. */
enum gpume_exit gpume_job_complete(struct gpume_cli_job *job);

/* GPUME_EXIT_FAILED, after one line, if a signal or --timeout came; otherwise the result. */
enum gpume_exit gpume_job_result(enum gpume_exit result);

/* Where --start and --duration lie: job->skip and job->frames_max. A time is found by reading the
 * input once, as job->wanted says; it is opened again for the job. */
enum gpume_exit gpume_job_find_range(
    struct gpume_cli_job *job, const struct gpume_frame_range *range);

/* Steps 2 and 5 alone, for one that reads a video in the middle of a job. The second does not call
 * `take` again after a signal, and then returns GPUME_EXIT_FAILED after one line. */
enum gpume_exit gpume_job_open_video(struct gpume_cli_job *job, bool ahead);
enum gpume_exit gpume_job_read(struct gpume_cli_job *job, gpume_job_take_fn take, void *client);

/* The parameters with which an analysis of the frames is opened. */
struct gpume_lookahead_params gpume_job_lookahead(const struct gpume_cli_job *job);

/* Call it after opening an analysis or a context. Logs the engine, which -v shows; with
 * GPUME_INVALID, the error names the video. Returns the exit status. */
enum gpume_exit gpume_job_opened(const struct gpume_cli_job *job, int status, const char *engine);

struct gpume_vectors_format;

/* --- names of outputs */

/* True of a name of standard output, or of the pipe behind it. */
bool gpume_name_is_stdout(const char *path);

/* The file of vectors that an input stands for: vectors.csv in the folder of a run, else the input
 * itself. To be freed; NULL after one line. */
char *gpume_name_vectors_input(const char *input);

/* What the vectors to be written have: enum gpume_vectors_column, and one size of blocks that form
 * a grid. */
struct gpume_name_vectors {
    unsigned columns;
    bool grid;
};

extern const struct gpume_name_vectors gpume_name_any_vectors; /* all that formats need */

/* The format asked for; otherwise that of the name's ending, or csv for standard output, devices
 * and pipes. NULL after one line: the name does not tell, or the format needs what the vectors do
 * not have. */
const struct gpume_vectors_format *gpume_name_vectors_format(
    const struct gpume_vectors_format *asked, const char *path, struct gpume_name_vectors vectors);

#endif
