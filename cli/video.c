/* SPDX-License-Identifier: BSD-2-Clause */
#include "video.h"

#include "console.h"
#include "files/text_file.h"
#include "host.h"
#include "library_log.h"
#include "names.h"
#include "options/checks.h"
#include "signals.h"

#include <math.h>
#include <string.h>

void gpume_video_options_default(struct gpume_video_options *options)
{
    gpume_params_default(&options->params);
    options->source.stream = -1;
}

int gpume_video_options_check(void *opaque, const struct gpume_line *line)
{
    const struct gpume_video_options *options = opaque;
    (void)line;
    const int status =
        options->output ? gpume_text_check_name(options->output, &gpume_console) : GPUME_OK;
    return status ? status : gpume_check_engine(&options->params);
}

enum gpume_exit gpume_video_open(struct gpume_video *video)
{
    const struct gpume_video_options *options = video->options;
    const struct gpume_source_options wanted =
        gpume_source_options_make(&options->common, &options->source, &options->params);
    const int opened = gpume_source_open_inputs(&video->source, &wanted, &video->info);
    if (opened != GPUME_OK) {
        return gpume_source_exit(opened);
    }
    (void)gpume_source_choice_divide(&options->source, &options->params, video->source,
        options->frames, options->params.backend != GPUME_BACKEND_CPU, UINT64_MAX);
    const uint64_t all = video->info.frames, most = options->frames;
    gpume_progress_init(
        &video->progress, &options->common, most > 0 && (all == 0 || most < all) ? most : all);
    video->progress.unit = "frames";
    if (!gpume_read_ahead_init(&video->ahead, &video->info)) {
        return gpume_refuse(
            GPUME_EXIT_FAILED, "%s: out of memory for its frames", video->info.label);
    }
    const int status = gpume_read_ahead_start(&video->ahead, video->source, video->options->frames);
    return status == GPUME_OK ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

enum gpume_exit gpume_video_result(enum gpume_exit result)
{
    if (!gpume_signals_caught()) {
        return result;
    }
    gpume_signals_say_interrupted();
    return GPUME_EXIT_FAILED;
}

enum gpume_exit gpume_video_read(struct gpume_video *video, gpume_video_fn take, void *opaque)
{
    const struct gpume_plane *plane;
    int64_t time_us;
    int taken = GPUME_OK;
    gpume_signals_attach(NULL, video->source);
    while (taken == GPUME_OK && !gpume_signals_caught() &&
           gpume_read_ahead_next(&video->ahead, &plane, &time_us)) {
        video->frames++;
        taken = take(opaque, plane, time_us);
        gpume_progress_step(&video->progress, video->frames, (double)NAN);
    }
    const int status = gpume_read_ahead_stop(&video->ahead);
    gpume_signals_keep();
    gpume_progress_finish(&video->progress, video->frames);
    if (status == GPUME_OK) {
        gpume_source_warn(video->source); /* the end of the input was not reached */
    }
    return gpume_signals_caught() ? gpume_video_result(GPUME_EXIT_FAILED)
           : taken != GPUME_OK    ? gpume_exit_of_engine(taken)
           : status != GPUME_EOF  ? gpume_source_exit(status)
                                  : GPUME_EXIT_DONE;
}

struct gpume_lookahead_params gpume_video_lookahead(const struct gpume_video *video)
{
    const struct gpume_params *params = &video->options->params;
    return (struct gpume_lookahead_params){
        .width = video->info.width,
        .height = video->info.height,
        .lent = GPUME_AHEAD_HELD - 1,
        .backend = params->backend,
        .device = params->device,
        .threads = params->threads,
        .cache_dir = gpume_host_cache_folder(),
        .log = gpume_library_log,
    };
}

enum gpume_exit gpume_video_opened(const struct gpume_video *video, int status, const char *engine)
{
    if (status == GPUME_OK) {
        if (!gpume_signals_caught()) { /* else it is the line of --timeout */
            gpume_console_forget_error();
        }
        gpume_console_info("engine: %s", engine);
    } else if (status == GPUME_INVALID) {
        gpume_console_error_about(video->info.label);
    }
    return gpume_exit_of_engine(status);
}

static enum gpume_exit open_output(struct gpume_video *video)
{
    const struct gpume_video_options *options = video->options;
    const struct gpume_common_options *common = &options->common;
    video->output = options->output ? options->output : "-";
    if (gpume_name_is_input(common->inputs, common->input_count, video->output)) {
        return GPUME_EXIT_USAGE;
    }
    video->set = (struct gpume_out_set){.overwrite = common->overwrite, .together = true};
    const int status = gpume_out_open_in(&video->out, &video->set, video->output, &gpume_console);
    return status == GPUME_INVALID ? GPUME_EXIT_USAGE : gpume_exit_of_writer(status);
}

static int finish_outputs(struct gpume_video *video)
{
    int status = gpume_out_finish(video->out);
    status = status || !video->page ? status : gpume_out_finish(video->page);
    return status ? status : gpume_out_set_name(&video->set, &gpume_console);
}

enum gpume_exit gpume_video_run(
    struct gpume_video *video, const struct gpume_video_work *work, void *job)
{
    enum gpume_exit result = gpume_video_open(video);
    gpume_signals_keep();
    result = result ? result : open_output(video);
    if (video->output && gpume_text_is_stdout(video->output)) {
        gpume_signals_end_with_reader();
    }
    result = result ? result : work->open(job);
    result = result ? result : gpume_video_read(video, work->take, job);
    result = result ? result : gpume_video_result(work->finish(job));
    gpume_signals_detach();
    result = result ? result : gpume_exit_of_writer(finish_outputs(video));
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    work->conclude(job);
    return gpume_console_flush_output("the summary") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

void gpume_video_close(struct gpume_video *video)
{
    gpume_out_close(&video->out);
    gpume_out_close(&video->page);
    (void)gpume_read_ahead_stop(&video->ahead);
    gpume_source_close(&video->source);
    gpume_read_ahead_finish(&video->ahead);
}
