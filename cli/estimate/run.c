/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run. It checks the outputs, then opens the input, the context and the outputs. The source
 * thread sends frames while this one, the main thread, receives motion fields and passes them to
 * the sinks. The outputs get their names after the context has closed without an error; if
 * anything fails before, incomplete outputs are removed.
 */
#include "base/clock.h"
#include "estimate/estimate.h"

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
#include "signals.h"
#include "sinks/summary.h"

#include <inttypes.h>
#include <stdlib.h>

struct estimate {
    struct gpume_cli_job job;
    const struct gpume_estimate_options *options;
    struct gpume_run_input input; /* its identity when it was opened */
    bool is_steady;               /* it did not change while it was being opened */
    struct gpume_run run;
    struct gpume_feed feed;
    struct gpume_prefilter_option prefilter;
    double weights[GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX]; /* of its kernel */
    char *graph;                                                         /* of --compat */
    struct gpume_predictor_source predictor;                             /* path NULL: none */
    struct gpume_summary summary;
    struct gpume_run_window window;
    struct gpume_summary before; /* of the runs that this one resumes */
    uint64_t start_ns;
    struct gpume_checkpoint checkpoint;
    bool interrupted;
};

static const char *input_name(const struct gpume_estimate_options *options)
{
    return options->common.inputs[options->common.input_count - 1];
}

static const char *reference_name(const struct gpume_estimate_options *options)
{
    return options->common.input_count == 2 ? options->common.inputs[0] : NULL;
}

static void look_at_input(
    struct gpume_run_input *input, const struct gpume_estimate_options *options)
{
    gpume_run_input_look(
        input, input_name(options), reference_name(options), options->search.predictor.file);
}

/* What is wrong with the outputs or a kernel ends the run before any work. With validation the
 * drivers are loaded again anyway, and a search that is named is often one of the CPU engine.
 * libavformat does not say which file it opens, so the identity of the file of that name is taken
 * before and after. */
static enum gpume_exit plan(void *client)
{
    struct estimate *estimate = client;
    struct gpume_cli_job *job = &estimate->job;
    const struct gpume_estimate_options *options = estimate->options;
    const enum gpume_exit result = gpume_estimate_plan(job, options);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    estimate->prefilter = options->prefilter;
    if (gpume_prefilter_option_read(&estimate->prefilter, estimate->weights) != GPUME_OK) {
        return GPUME_EXIT_INPUT;
    }
    if (options->compat_ffmpeg) {
        estimate->graph = gpume_compat_graph(options);
        if (!estimate->graph) {
            return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
        }
        job->wanted.filter = estimate->graph;
    }
    for (size_t i = 0; i < job->output_count; i++) {
        job->wanted.colour = job->wanted.colour || job->outputs[i].ops->want_colour;
    }
    job->wanted.colour_first = gpume_estimate_first_target(options);
    job->loads_drivers = options->params.backend != GPUME_BACKEND_CPU &&
                         !options->params.validate && !options->params.search;
    look_at_input(&estimate->input, options);
    return GPUME_EXIT_DONE;
}

static enum gpume_exit open_predictor(struct estimate *estimate)
{
    const char *path = estimate->options->search.predictor.file;
    struct gpume_params *params = &estimate->run.params;
    if (!path) {
        return GPUME_EXIT_DONE;
    }
    params->predict = gpume_predictor_give;
    params->predict_opaque = &estimate->predictor;
    return gpume_exit_of_reader(gpume_predictor_open(&estimate->predictor, path, params));
}

static int take_colour(void *source, uint64_t frame, struct gpume_plane *rgb)
{
    return gpume_source_take_colour(source, frame, rgb);
}

static void describe_run(struct estimate *estimate)
{
    const struct gpume_estimate_options *options = estimate->options;
    struct gpume_params params = options->params;
    params.width = estimate->job.info.width;
    params.height = estimate->job.info.height;
    params.bits = estimate->job.info.bits;
    params.log = gpume_library_log;
    params.cache_dir = gpume_host_cache_folder();
    params.prefilter = estimate->prefilter.text ? &estimate->prefilter.filter : NULL;
    for (size_t i = 0; i < estimate->job.output_count; i++) {
        const struct gpume_sink_ops *ops = estimate->job.outputs[i].ops;
        params.want_predicted = params.want_predicted || ops->want_predicted;
        params.want_frames = params.want_frames || ops->want_frames;
    }
    estimate->run = (struct gpume_run){
        .input = input_name(options),
        .reference = reference_name(options),
        .params = params,
        .block_w = params.shape_count > 0 ? params.shapes[0].width : params.block,
        .block_h = params.shape_count > 0 ? params.shapes[0].height : params.block,
        .start = options->start,
        .frames = options->frames,
        .prefilter = estimate->prefilter.text,
        .predictor = options->search.predictor.file,
        .compat = options->compat_ffmpeg ? "ffmpeg" : NULL,
        .fields_last = !options->compat_ffmpeg, /* whose first one is of the command's own */
        .expected = gpume_run_window_expect(
            options, options->common.input_count == 2 ? 2 : estimate->job.info.frames),
        .filter = options->source.filter,
        .stream = options->source.stream,
        .hwaccel = options->source.hwaccel,
        .video = &estimate->job.info,
        .residual_signed = options->residual_signed,
        .gain = options->gain,
        .gamma = options->gamma,
        .look = options->look,
        .vectors_format = estimate->job.shape.format,
        .report_pictures = options->report_pictures,
        .report_pictures_asked = options->report_pictures_asked,
        .with_surface = options->with_surface,
        .surface = {options->surface_x, options->surface_y},
        .take_colour = take_colour,
        .colours = estimate->job.source,
        .set = &estimate->job.set,
        .summary = &estimate->summary,
        .log = gpume_console,
    };
    estimate->summary = (struct gpume_summary){.run = &estimate->run};
}

/* Prepares to resume the run after the last frame pair that its outputs hold. */
static enum gpume_exit resume(struct estimate *estimate)
{
    enum gpume_exit result = gpume_checkpoint_init(&estimate->checkpoint, &estimate->job,
        &estimate->summary, estimate->is_steady ? &estimate->input : NULL);
    result = result ? result
                    : gpume_checkpoint_resume(&estimate->checkpoint, &estimate->summary,
                          gpume_prefilter_option_sum(&estimate->prefilter));
    estimate->before = estimate->summary;
    estimate->window = gpume_run_window_make(estimate->options, &estimate->before);
    estimate->run.params.first_frame = estimate->window.first_frame;
    estimate->run.params.first_target = estimate->window.first_target;
    estimate->run.params.target_count = estimate->window.target_count;
    return result;
}

static enum gpume_exit check_depth(const struct estimate *estimate)
{
    const struct gpume_params *params = &estimate->run.params;
    if (params->subpel > 1 && params->interpolation == GPUME_INTERPOLATION_HEVC &&
        params->bits > 12) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "%s: has %" PRIu32 " bits per sample, but --interpolation hevc supports at most 12; "
            "use h264 or bilinear",
            estimate->job.info.label, params->bits);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit prepare(void *client)
{
    struct estimate *estimate = client;
    struct gpume_source_info *info = &estimate->job.info;
    const struct gpume_estimate_options *options = estimate->options;
    struct gpume_run_input after;
    look_at_input(&after, options);
    estimate->is_steady = gpume_run_input_is_same(&estimate->input, &after);
    gpume_fields_caution(options, info);
    gpume_fields_stretch(options->fields, info);
    enum gpume_exit result =
        options->compat_ffmpeg ? gpume_compat_check_input(options, info) : GPUME_EXIT_DONE;
    if (result == GPUME_EXIT_DONE) {
        describe_run(estimate);
        result = check_depth(estimate);
    }
    result = result ? result : open_predictor(estimate);
    result = result ? result : resume(estimate);
    result = result ? result : gpume_job_open_engine(&estimate->job, &estimate->run.params);
    if (result == GPUME_EXIT_DONE && options->compat_ffmpeg &&
        options->asked_block != estimate->run.params.block) {
        gpume_console_warning("--block %" PRIu32 ": --compat ffmpeg makes it %" PRIu32
                              ", the next power of two, as mestimate does",
            options->asked_block, estimate->run.params.block);
    }
    return result;
}

static enum gpume_exit open_sinks(void *client)
{
    struct estimate *estimate = client;
    struct gpume_cli_job *job = &estimate->job;
    struct gpume_info info;
    estimate->start_ns = gpume_clock_ns();
    gpume_get_info(job->ctx, &info);
    gpume_summary_set_engine(&estimate->summary, &info);
    gpume_console_info("%s: %s; search %s; %.1f MiB of host memory, %.1f MiB of device memory",
        info.backend, info.device, info.search, (double)info.host_bytes / 1048576,
        (double)info.device_bytes / 1048576);
    gpume_divide_input(estimate->options, job->ctx, &info, job->source);
    gpume_caution(&job->info, &info, job, &estimate->run);
    const enum gpume_exit made = gpume_job_make_folder(job);
    if (made != GPUME_EXIT_DONE) {
        return made;
    }
    if (gpume_checkpoint_take_back(&estimate->checkpoint) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    for (size_t i = 0; i < job->output_count; i++) {
        const struct gpume_job_output *output = &job->outputs[i];
        const int status =
            gpume_sink_open(&job->sinks[i], output->ops, output->path, &estimate->run);
        if (status != GPUME_OK) {
            /* Such as a format that cannot hold the input's bit depth, or a file in use. */
            return status == GPUME_INVALID || status == GPUME_AGAIN ? GPUME_EXIT_USAGE
                                                                    : GPUME_EXIT_FAILED;
        }
    }
    gpume_checkpoint_clear(&estimate->checkpoint); /* our own are locked */
    return GPUME_EXIT_DONE;
}

/* Adds the times of this run to those of the runs that it resumes. */
static void sum_times(struct estimate *estimate)
{
    struct gpume_stats stats;
    gpume_get_stats(estimate->job.ctx, &stats);
    gpume_summary_set_stats(&estimate->summary, &estimate->before, &stats);
    estimate->summary.whole_ns = estimate->before.whole_ns + gpume_clock_ns() - estimate->start_ns;
}

/* Passes a motion field to every sink. */
static int deliver(void *opaque, const struct gpume_field *field)
{
    struct estimate *estimate = opaque;
    const uint64_t pixels = (uint64_t)estimate->job.info.width * estimate->job.info.height;
    const uint64_t before = gpume_clock_ns();
    int status = GPUME_OK;
    for (size_t i = 0; i < estimate->job.output_count && status == GPUME_OK; i++) {
        status = estimate->job.sinks[i]->ops->field(estimate->job.sinks[i], field);
    }
    gpume_summary_add(&estimate->summary, field);
    if (status == GPUME_OK && gpume_run_window_ends(&estimate->run.params, field) &&
        gpume_checkpoint_is_due(&estimate->checkpoint)) {
        sum_times(estimate);
        status = gpume_checkpoint_save(&estimate->checkpoint);
    }
    estimate->summary.write_ns += gpume_clock_ns() - before;
    gpume_progress_step(&estimate->job.progress, estimate->summary.all.fields,
        gpume_psnr(estimate->job.info.bits, pixels, field->sums.sse_after));
    return status;
}

static bool is_whole(void *opaque, uint64_t target)
{
    struct estimate *estimate = opaque;
    return !gpume_signals_caught() ||
           target + gpume_run_window_ahead(&estimate->run.params) < estimate->feed.sent;
}

static int receive_all(struct estimate *estimate)
{
    const struct gpume_params *params = &estimate->run.params;
    const bool several = params->distance_count > 1 && !params->best_reference;
    int status = GPUME_OK;
    struct gpume_target_stream stream = {
        .both = params->direction == GPUME_DIRECTION_BOTH && !params->best_reference && !several,
        .compat = estimate->options->compat_ffmpeg,
        .deliver = deliver,
        .is_whole = is_whole,
        .opaque = estimate,
    };
    while (status == GPUME_OK) {
        const struct gpume_field *field = NULL;
        status = gpume_receive(estimate->job.ctx, &field, GPUME_WAIT);
        if (status == GPUME_OK) {
            status = gpume_target_stream_take(&stream, field);
        }
        if (status == GPUME_OK && gpume_signals_overdue()) {
            status = GPUME_CANCELLED;
            estimate->checkpoint.possible &= !several; /* maybe in the middle of a target */
        }
    }
    if (status == GPUME_EOF) {
        const int ended = gpume_target_stream_end(&stream);
        status = ended == GPUME_OK ? GPUME_EOF : ended;
    }
    gpume_target_stream_finish(&stream);
    const int let_go = gpume_sinks_let_go(estimate->job.sinks, estimate->job.output_count);
    return status == GPUME_EOF && let_go != GPUME_OK ? let_go : status;
}

/* The frames that the feed will send, as far as is known; 0: unknown. */
static uint64_t expected_frames(const struct estimate *estimate)
{
    const uint64_t known = estimate->job.info.frames, skip = estimate->window.first_frame;
    const uint64_t most = estimate->window.send, rest = known > skip ? known - skip : 0;
    return most > 0 && (rest == 0 || most < rest) ? most : rest;
}

/* Runs both threads, from the first frame to the last motion field. */
static enum gpume_exit transfer(void *client)
{
    struct estimate *estimate = client;
    const struct gpume_estimate_options *options = estimate->options;
    estimate->feed = (struct gpume_feed){
        .source = estimate->job.source,
        .ctx = estimate->job.ctx,
        .skip = estimate->window.first_frame,
        .count = estimate->window.send,
        .known = estimate->window.known,
    };
    gpume_progress_init(&estimate->job.progress, &options->common, estimate->run.expected);
    (void)gpume_expect(estimate->job.ctx, expected_frames(estimate));
    if (gpume_feed_start(&estimate->feed) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    const int status = receive_all(estimate);
    if (status != GPUME_EOF) {
        gpume_cancel(estimate->job.ctx);
        gpume_source_cancel(estimate->job.source);
    }
    gpume_feed_join(&estimate->feed);
    gpume_progress_finish(&estimate->job.progress, estimate->summary.all.fields);

    struct gpume_source_counts counts = {0};
    gpume_source_get_counts(estimate->job.source, &counts);
    estimate->summary.delivered = counts.delivered;
    estimate->summary.refused = counts.refused;
    estimate->summary.scaled = counts.scaled;
    struct gpume_info info; /* again, since another engine may have taken over */
    gpume_get_info(estimate->job.ctx, &info);
    gpume_summary_set_engine(&estimate->summary, &info);
    gpume_summary_set_lanes(&estimate->summary, estimate->job.ctx);
    sum_times(estimate);
    estimate->summary.decode_ns = estimate->before.decode_ns + estimate->feed.decode_ns;
    estimate->interrupted = gpume_signals_caught() && !estimate->feed.source_failed &&
                            (status == GPUME_EOF || status == GPUME_CANCELLED);
    if (estimate->interrupted) {
        return GPUME_EXIT_FAILED;
    }
    if (estimate->feed.source_failed) {
        return estimate->feed.status == GPUME_NOMEM ? GPUME_EXIT_FAILED : GPUME_EXIT_INPUT;
    }
    if (estimate->predictor.failed) {
        return GPUME_EXIT_INPUT;
    }
    if (status != GPUME_EOF || estimate->feed.status != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    if (estimate->summary.all.fields == 0) {
        return gpume_refuse_short_input(options, &estimate->job.info, counts.delivered);
    }
    if (estimate->summary.targets < options->frames) {
        gpume_console_warning("--frames %" PRIu64 ": the input ends after %" PRIu64,
            options->frames, estimate->summary.targets);
    }
    return GPUME_EXIT_DONE;
}

/* Completes all outputs before any of them gets its name, so that a full disk leaves none. */
static enum gpume_exit finish_outputs(struct estimate *estimate)
{
    uint64_t before = gpume_clock_ns();
    for (size_t i = 0; i < estimate->job.output_count; i++) {
        /* Before each: report and summary, which contain these times, come last. */
        const uint64_t now = gpume_clock_ns();
        estimate->summary.write_ns += now - before;
        estimate->summary.whole_ns = estimate->before.whole_ns + now - estimate->start_ns;
        before = now;
        if (estimate->job.sinks[i]->ops->finish(estimate->job.sinks[i]) != GPUME_OK) {
            return GPUME_EXIT_FAILED;
        }
    }
    return gpume_out_set_name(&estimate->job.set, &estimate->run.log) == GPUME_OK
               ? GPUME_EXIT_DONE
               : GPUME_EXIT_FAILED;
}

static enum gpume_exit complete(void *client)
{
    struct estimate *estimate = client;
    if (gpume_checkpoint_begin_end(&estimate->checkpoint) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    const enum gpume_exit result = finish_outputs(estimate);
    if (result == GPUME_EXIT_DONE) {
        gpume_checkpoint_complete(&estimate->checkpoint);
    }
    return result;
}

/* Gives the outputs of an interrupted run the names of partial results. */
static enum gpume_exit leave_partial(struct estimate *estimate)
{
    const uint64_t fields = estimate->summary.all.fields;
    if (fields == 0) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "interrupted before the first frame pair was done; unfinished outputs were removed");
    }
    if (gpume_checkpoint_begin_partial(&estimate->checkpoint) != GPUME_OK ||
        finish_outputs(estimate) != GPUME_EXIT_DONE ||
        gpume_checkpoint_end_partial(&estimate->checkpoint) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    const char *rest =
        estimate->job.output_count == 1 && estimate->job.to_stdout ? "standard output ends there"
        : estimate->checkpoint.possible
            ? "files with their results end in .partial, and --resume continues after them"
            : "files with their results end in .partial";
    return gpume_refuse(GPUME_EXIT_FAILED, "interrupted after %" PRIu64 " frame pair%s; %s", fields,
        fields == 1 ? "" : "s", rest);
}

/* --resume with an input that is certainly another: all outputs stay under their names. */
static enum gpume_exit refuse_input(struct estimate *estimate)
{
    gpume_console_error("--resume: %s ends after %" PRIu64 " frame%s, but %" PRIu64
                        " were read before; give the same video, or start anew without --resume",
        estimate->job.info.label, estimate->feed.read, estimate->feed.read == 1 ? "" : "s",
        estimate->window.known);
    return gpume_checkpoint_give_back(&estimate->checkpoint) == GPUME_OK ? GPUME_EXIT_INPUT
                                                                         : GPUME_EXIT_FAILED;
}

static enum gpume_exit abandon(void *client, enum gpume_exit result)
{
    struct estimate *estimate = client;
    return estimate->interrupted     ? leave_partial(estimate)
           : estimate->feed.is_short ? refuse_input(estimate)
                                     : result;
}

static enum gpume_exit conclude(void *client, FILE *stream)
{
    const struct estimate *estimate = client;
    return gpume_run_conclude(estimate->options, &estimate->summary, stream);
}

enum gpume_exit gpume_estimate_run(const void *opaque)
{
    static const struct gpume_job_work work = {
        .plan = plan,
        .prepare = prepare,
        .open = open_sinks,
        .run = transfer,
        .complete = complete,
        .conclude = conclude,
        .abandon = abandon,
    };
    const struct gpume_estimate_options *options = opaque;
    struct estimate estimate = {.options = options,
        .job = {.common = &options->common,
            .choice = &options->source,
            .params = &options->params,
            .frames_max = options->frames}};
    const enum gpume_exit result = gpume_job_run(&estimate.job, &work, &estimate);
    gpume_checkpoint_finish(&estimate.checkpoint);
    gpume_job_close(&estimate.job);
    gpume_predictor_close(&estimate.predictor);
    free(estimate.graph);
    return result;
}
