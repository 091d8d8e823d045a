/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run. It checks the outputs, then opens the input, the context and the outputs. The source
 * thread sends frames while this one, the main thread, receives motion fields and passes them to
 * the sinks. The outputs get their names after the context has closed without an error; if
 * anything fails before, incomplete outputs are removed.
 */
#include "base/clock.h"
#include "estimate/estimate.h"

#include "console.h"
#include "estimate/caution.h"
#include "estimate/checkpoint.h"
#include "estimate/compat.h"
#include "estimate/conclude.h"
#include "estimate/feed.h"
#include "estimate/open_input.h"
#include "estimate/outputs.h"
#include "estimate/predictor.h"
#include "estimate/run_window.h"
#include "estimate/target_stream.h"
#include "host.h"
#include "library_log.h"
#include "progress.h"
#include "signals.h"
#include "sinks/summary.h"

#include <inttypes.h>

struct job {
    const struct gpume_estimate_options *options;
    struct gpume_outputs outputs;
    struct gpume_source *source;
    struct gpume_source_info info;
    struct gpume_run_input input; /* its identity when it was opened */
    bool is_steady;               /* it did not change while it was being opened */
    gpume *ctx;
    struct gpume_run run;
    struct gpume_feed feed;
    struct gpume_prefilter_option prefilter;
    double weights[GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX]; /* of its kernel */
    struct gpume_predictor_source predictor;                             /* path NULL: none */
    struct gpume_summary summary;
    struct gpume_run_window window;
    struct gpume_summary before; /* of the runs that this one resumes */
    uint64_t start_ns;
    struct gpume_checkpoint checkpoint;
    bool interrupted;
    struct gpume_progress progress;
    struct gpume_sink *sinks[GPUME_OUTPUTS_MAX];
};

static const char *input_name(const struct gpume_estimate_options *options)
{
    return options->common.inputs[options->common.input_count - 1];
}

static const char *reference_name(const struct gpume_estimate_options *options)
{
    return options->common.input_count == 2 ? options->common.inputs[0] : NULL;
}

static void look(struct gpume_run_input *input, const struct gpume_estimate_options *options)
{
    gpume_run_input_look(
        input, input_name(options), reference_name(options), options->search.predictor.file);
}

/* libavformat does not say which file it has opened, so the identity of the file with that name is
 * taken before and after. */
static enum gpume_exit open_input(struct job *job)
{
    const struct gpume_estimate_options *options = job->options;
    struct gpume_run_input after;
    look(&job->input, options);
    const enum gpume_exit result = gpume_open_input(
        options, gpume_outputs_want_colour(&job->outputs), &job->source, &job->info);
    look(&after, options);
    job->is_steady = gpume_run_input_is_same(&job->input, &after);
    return result;
}

/* Comes first, so that a kernel that cannot be read ends the run before any work. */
static enum gpume_exit read_prefilter(struct job *job)
{
    job->prefilter = job->options->prefilter;
    return gpume_prefilter_option_read(&job->prefilter, job->weights) == GPUME_OK
               ? GPUME_EXIT_DONE
               : GPUME_EXIT_INPUT;
}

static enum gpume_exit open_predictor(struct job *job)
{
    const char *path = job->options->search.predictor.file;
    struct gpume_params *params = &job->run.params;
    if (!path) {
        return GPUME_EXIT_DONE;
    }
    params->predict = gpume_predictor_give;
    params->predict_opaque = &job->predictor;
    return gpume_exit_of_reader(gpume_predictor_open(&job->predictor, path, params));
}

static int take_colour(void *source, uint64_t frame, struct gpume_plane *rgb)
{
    return gpume_source_take_colour(source, frame, rgb);
}

static void describe_run(struct job *job)
{
    const struct gpume_estimate_options *options = job->options;
    struct gpume_params params = options->params;
    params.width = job->info.width;
    params.height = job->info.height;
    params.bits = job->info.bits;
    params.log = gpume_library_log;
    params.cache_dir = gpume_host_cache_folder();
    params.prefilter = job->prefilter.text ? &job->prefilter.filter : NULL;
    for (size_t i = 0; i < job->outputs.count; i++) {
        const struct gpume_sink_ops *ops = job->outputs.items[i].ops;
        params.want_predicted = params.want_predicted || ops->want_predicted;
        params.want_frames = params.want_frames || ops->want_frames;
    }
    job->run = (struct gpume_run){
        .input = input_name(options),
        .reference = reference_name(options),
        .params = params,
        .block_w = params.shape_count > 0 ? params.shapes[0].width : params.block,
        .block_h = params.shape_count > 0 ? params.shapes[0].height : params.block,
        .start = options->start,
        .frames = options->frames,
        .prefilter = job->prefilter.text,
        .predictor = options->search.predictor.file,
        .compat = options->compat_ffmpeg ? "ffmpeg" : NULL,
        .fields_last = !options->compat_ffmpeg, /* whose first one is of the command's own */
        .expected = gpume_run_window_expect(
            options, options->common.input_count == 2 ? 2 : job->info.frames),
        .filter = options->source.filter,
        .stream = options->source.stream,
        .hwaccel = options->source.hwaccel,
        .rate_num = job->info.rate_num,
        .rate_den = job->info.rate_den,
        .aspect_num = job->info.aspect_num,
        .aspect_den = job->info.aspect_den,
        .full_range = job->info.full_range,
        .residual_signed = options->residual_signed,
        .gain = options->gain,
        .gamma = options->gamma,
        .look = options->look,
        .vectors_format = job->outputs.vectors_format,
        .report_pictures = options->report_pictures,
        .report_pictures_asked = options->report_pictures_asked,
        .with_surface = options->with_surface,
        .surface = {options->surface_x, options->surface_y},
        .take_colour = take_colour,
        .colours = job->source,
        .set = &job->checkpoint.set,
        .summary = &job->summary,
        .log = gpume_console,
    };
    job->summary = (struct gpume_summary){
        .run = &job->run,
        .codec = job->info.codec,
        .decoder = job->info.decoder,
        .pixel_format = job->info.pixel_format,
    };
}

/* Prepares to resume the run after the last frame pair that its outputs hold. */
static enum gpume_exit resume(struct job *job)
{
    enum gpume_exit result = gpume_checkpoint_init(&job->checkpoint, &job->outputs, job->sinks,
        job->options, &job->summary, job->is_steady ? &job->input : NULL);
    result = result ? result
                    : gpume_checkpoint_resume(&job->checkpoint, &job->summary,
                          gpume_prefilter_option_sum(&job->prefilter));
    job->before = job->summary;
    job->window = gpume_run_window_make(job->options, &job->before);
    job->run.params.first_frame = job->window.first_frame;
    job->run.params.first_target = job->window.first_target;
    job->run.params.target_count = job->window.target_count;
    return result;
}

static enum gpume_exit check_depth(const struct job *job)
{
    const struct gpume_params *params = &job->run.params;
    if (params->subpel > 1 && params->interpolation == GPUME_INTERPOLATION_HEVC &&
        params->bits > 12) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "%s: has %" PRIu32 " bits per sample, but --interpolation hevc supports at most 12; "
            "use h264 or bilinear",
            job->info.label, params->bits);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit open_context(struct job *job)
{
    if (gpume_library_check(&job->run.params) != GPUME_OK) { /* at this bit depth */
        return GPUME_EXIT_USAGE;
    }
    int status = gpume_open(&job->ctx, &job->run.params);
    if (status == GPUME_OK && job->run.params.validate) { /* all that is there */
        status = gpume_open_devices(job->ctx);
    }
    if (status == GPUME_OK) {
        gpume_console_forget_error();
    } else if (status == GPUME_INVALID) { /* the picture's size or a kernel: options are checked */
        gpume_console_error_about(job->info.label);
    }
    return gpume_exit_of_engine(status);
}

static enum gpume_exit open_sinks(struct job *job)
{
    struct gpume_info info;
    gpume_get_info(job->ctx, &info);
    gpume_summary_set_engine(&job->summary, &info);
    gpume_console_info("%s: %s; search %s; %.1f MiB of host memory, %.1f MiB of device memory",
        info.backend, info.device, info.search, (double)info.host_bytes / 1048576,
        (double)info.device_bytes / 1048576);
    gpume_divide_input(job->options, job->ctx, &info, job->source);
    gpume_caution(&job->info, &info, &job->outputs, &job->run);
    const enum gpume_exit made = gpume_outputs_make_folder(&job->outputs);
    if (made != GPUME_EXIT_DONE) {
        return made;
    }
    if (gpume_checkpoint_take_back(&job->checkpoint) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    for (size_t i = 0; i < job->outputs.count; i++) {
        const struct gpume_output *output = &job->outputs.items[i];
        const int status = gpume_sink_open(&job->sinks[i], output->ops, output->path, &job->run);
        if (status != GPUME_OK) {
            /* Such as a format that cannot hold the input's bit depth, or a file in use. */
            return status == GPUME_INVALID || status == GPUME_AGAIN ? GPUME_EXIT_USAGE
                                                                    : GPUME_EXIT_FAILED;
        }
    }
    gpume_checkpoint_clear(&job->checkpoint, &job->outputs); /* our own are locked */
    return GPUME_EXIT_DONE;
}

/* Adds the times of this run to those of the runs that it resumes. */
static void sum_times(struct job *job)
{
    struct gpume_stats stats;
    gpume_get_stats(job->ctx, &stats);
    gpume_summary_set_stats(&job->summary, &job->before, &stats);
    job->summary.whole_ns = job->before.whole_ns + gpume_clock_ns() - job->start_ns;
}

/* Passes a motion field to every sink. */
static int deliver(void *opaque, const struct gpume_field *field)
{
    struct job *job = opaque;
    const uint64_t pixels = (uint64_t)job->info.width * job->info.height;
    const uint64_t before = gpume_clock_ns();
    int status = GPUME_OK;
    for (size_t i = 0; i < job->outputs.count && status == GPUME_OK; i++) {
        status = job->sinks[i]->ops->field(job->sinks[i], field);
    }
    gpume_summary_add(&job->summary, field);
    if (status == GPUME_OK && gpume_run_window_ends(&job->run.params, field) &&
        gpume_checkpoint_is_due(&job->checkpoint)) {
        sum_times(job);
        status = gpume_checkpoint_save(&job->checkpoint);
    }
    job->summary.write_ns += gpume_clock_ns() - before;
    gpume_progress_step(&job->progress, job->summary.all.fields,
        gpume_psnr(job->info.bits, pixels, field->sums.sse_after));
    return status;
}

static bool is_whole(void *opaque, uint64_t target)
{
    struct job *job = opaque;
    return !gpume_signals_caught() ||
           target + gpume_run_window_ahead(&job->run.params) < job->feed.sent;
}

static int receive_all(struct job *job)
{
    const struct gpume_params *params = &job->run.params;
    const bool several = params->distance_count > 1 && !params->best_reference;
    int status = GPUME_OK;
    struct gpume_target_stream stream = {
        .both = params->direction == GPUME_DIRECTION_BOTH && !params->best_reference && !several,
        .compat = job->options->compat_ffmpeg,
        .deliver = deliver,
        .is_whole = is_whole,
        .opaque = job,
    };
    while (status == GPUME_OK) {
        const struct gpume_field *field = NULL;
        status = gpume_receive(job->ctx, &field, GPUME_WAIT);
        if (status == GPUME_OK) {
            status = gpume_target_stream_take(&stream, field);
        }
        if (status == GPUME_OK && gpume_signals_overdue()) {
            status = GPUME_CANCELLED;
            job->checkpoint.possible &= !several; /* maybe in the middle of a target */
        }
    }
    if (status == GPUME_EOF) {
        const int ended = gpume_target_stream_end(&stream);
        status = ended == GPUME_OK ? GPUME_EOF : ended;
    }
    gpume_target_stream_finish(&stream);
    const int let_go = gpume_sinks_let_go(job->sinks, job->outputs.count);
    return status == GPUME_EOF && let_go != GPUME_OK ? let_go : status;
}

/* The frames that the feed will send, as far as is known; 0: unknown. */
static uint64_t expected_frames(const struct job *job)
{
    const uint64_t known = job->info.frames, skip = job->window.first_frame;
    const uint64_t most = job->window.send, rest = known > skip ? known - skip : 0;
    return most > 0 && (rest == 0 || most < rest) ? most : rest;
}

/* Runs both threads, from the first frame to the last motion field. */
static enum gpume_exit transfer(struct job *job)
{
    const struct gpume_estimate_options *options = job->options;
    job->feed = (struct gpume_feed){
        .source = job->source,
        .ctx = job->ctx,
        .skip = job->window.first_frame,
        .count = job->window.send,
        .known = job->window.known,
    };
    gpume_progress_init(&job->progress, &options->common, job->run.expected);
    (void)gpume_expect(job->ctx, expected_frames(job));
    if (gpume_feed_start(&job->feed) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    const int status = receive_all(job);
    if (status != GPUME_EOF) {
        gpume_cancel(job->ctx);
        gpume_source_cancel(job->source);
    }
    gpume_feed_join(&job->feed);
    gpume_progress_finish(&job->progress, job->summary.all.fields);

    struct gpume_source_counts counts = {0};
    gpume_source_get_counts(job->source, &counts);
    job->summary.delivered = counts.delivered;
    job->summary.refused = counts.refused;
    job->summary.scaled = counts.scaled;
    struct gpume_info info; /* again, since another engine may have taken over */
    gpume_get_info(job->ctx, &info);
    gpume_summary_set_engine(&job->summary, &info);
    gpume_summary_set_lanes(&job->summary, job->ctx);
    sum_times(job);
    job->summary.decode_ns = job->before.decode_ns + job->feed.decode_ns;
    job->interrupted = gpume_signals_caught() && !job->feed.source_failed &&
                       (status == GPUME_EOF || status == GPUME_CANCELLED);
    if (job->interrupted) {
        return GPUME_EXIT_FAILED;
    }
    if (job->feed.source_failed) {
        return job->feed.status == GPUME_NOMEM ? GPUME_EXIT_FAILED : GPUME_EXIT_INPUT;
    }
    if (job->predictor.failed) {
        return GPUME_EXIT_INPUT;
    }
    if (status != GPUME_EOF || job->feed.status != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    if (job->summary.all.fields == 0) {
        return gpume_refuse_short_input(options, &job->info, counts.delivered);
    }
    if (job->summary.targets < options->frames) {
        gpume_console_warning("--frames %" PRIu64 ": the input ends after %" PRIu64,
            options->frames, job->summary.targets);
    }
    return GPUME_EXIT_DONE;
}

/* Completes all outputs before any of them gets its name, so that a full disk leaves none. */
static enum gpume_exit finish_outputs(struct job *job)
{
    uint64_t before = gpume_clock_ns();
    for (size_t i = 0; i < job->outputs.count; i++) {
        /* Before each: report and summary, which contain these times, come last. */
        const uint64_t now = gpume_clock_ns();
        job->summary.write_ns += now - before;
        job->summary.whole_ns = job->before.whole_ns + now - job->start_ns;
        before = now;
        if (job->sinks[i]->ops->finish(job->sinks[i]) != GPUME_OK) {
            return GPUME_EXIT_FAILED;
        }
    }
    return gpume_out_set_name(&job->checkpoint.set, &job->run.log) == GPUME_OK ? GPUME_EXIT_DONE
                                                                               : GPUME_EXIT_FAILED;
}

static enum gpume_exit complete(struct job *job)
{
    if (gpume_checkpoint_begin_end(&job->checkpoint) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    const enum gpume_exit result = finish_outputs(job);
    if (result == GPUME_EXIT_DONE) {
        gpume_checkpoint_complete(&job->checkpoint);
    }
    return result;
}

/* Gives the outputs of an interrupted run the names of partial results. */
static enum gpume_exit leave_partial(struct job *job)
{
    const uint64_t fields = job->summary.all.fields;
    if (fields == 0) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "interrupted before the first frame pair was done; unfinished outputs were removed");
    }
    if (gpume_checkpoint_begin_partial(&job->checkpoint) != GPUME_OK ||
        finish_outputs(job) != GPUME_EXIT_DONE ||
        gpume_checkpoint_end_partial(&job->checkpoint) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    const char *rest =
        job->outputs.count == 1 && job->outputs.to_stdout ? "standard output ends there"
        : job->checkpoint.possible
            ? "files with their results end in .partial, and --resume continues after them"
            : "files with their results end in .partial";
    return gpume_refuse(GPUME_EXIT_FAILED, "interrupted after %" PRIu64 " frame pair%s; %s", fields,
        fields == 1 ? "" : "s", rest);
}

/* --resume with an input that is certainly another: all outputs stay under their names. */
static enum gpume_exit refuse_input(struct job *job)
{
    gpume_console_error("--resume: %s ends after %" PRIu64 " frame%s, but %" PRIu64
                        " were read before; give the same video, or start anew without --resume",
        job->info.label, job->feed.read, job->feed.read == 1 ? "" : "s", job->window.known);
    return gpume_checkpoint_give_back(&job->checkpoint) == GPUME_OK ? GPUME_EXIT_INPUT
                                                                    : GPUME_EXIT_FAILED;
}

static enum gpume_exit work(struct job *job)
{
    enum gpume_exit result = gpume_outputs_init(&job->outputs, job->options);
    if (result == GPUME_EXIT_DONE && job->outputs.to_stdout &&
        job->options->common.form == GPUME_FORM_JSON) {
        gpume_console_error(
            "--json: standard output is taken by another output; leave one of them out");
        result = GPUME_EXIT_USAGE;
    }
    result = result ? result : read_prefilter(job);
    result = result ? result : open_input(job);
    if (result == GPUME_EXIT_DONE && job->options->compat_ffmpeg) {
        result = gpume_compat_check_input(job->options, &job->info);
    }
    if (result == GPUME_EXIT_DONE) {
        describe_run(job);
        result = check_depth(job);
    }
    if (result == GPUME_EXIT_DONE) {
        result = open_predictor(job);
    }
    result = result ? result : resume(job);
    result = result ? result : open_context(job);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    if (job->options->compat_ffmpeg && job->options->asked_block != job->run.params.block) {
        gpume_console_warning("--block %" PRIu32 ": --compat ffmpeg makes it %" PRIu32
                              ", the next power of two, as mestimate does",
            job->options->asked_block, job->run.params.block);
    }
    gpume_signals_attach(job->ctx, job->source);
    job->start_ns = gpume_clock_ns();
    result = open_sinks(job);
    result = result ? result : transfer(job);
    gpume_signals_detach();
    /* Closing may report messages of the validation layer. */
    if (gpume_close(&job->ctx) != GPUME_OK && result == GPUME_EXIT_DONE) {
        result = GPUME_EXIT_FAILED;
    }
    if (job->interrupted) {
        return leave_partial(job);
    }
    if (job->feed.is_short) {
        return refuse_input(job);
    }
    result = result ? result : complete(job);
    return result ? result : gpume_run_conclude(job->options, &job->outputs, &job->summary);
}

enum gpume_exit gpume_estimate_run(const void *options)
{
    struct job job = {.options = options};
    const enum gpume_exit result = work(&job);
    for (size_t i = 0; i < job.outputs.count; i++) {
        gpume_sink_close(&job.sinks[i]);
    }
    gpume_checkpoint_finish(&job.checkpoint);
    gpume_outputs_remove_folder(&job.outputs);
    gpume_close(&job.ctx);
    gpume_source_close(&job.source);
    gpume_predictor_close(&job.predictor);
    gpume_outputs_finish(&job.outputs);
    return result;
}
