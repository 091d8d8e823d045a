/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenes/read.h"

#include "console.h"
#include "files/text_file.h"
#include "host.h"
#include "library_log.h"
#include "names.h"
#include "options/checks.h"
#include "signals.h"
#include "video.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gpume_log console = {.fn = gpume_console_log};

struct job {
    const struct gpume_scene_options *options;
    const char *output;
    struct gpume_out *out;
    struct gpume_video video;
    struct gpume_scenes *scenes;
    struct gpume_scene_list list;
};

static int take_facts(void *opaque, const struct gpume_scene_frame *facts)
{
    struct gpume_scene_list *list = opaque;
    list->rows[facts->frame].facts = *facts;
    return GPUME_OK;
}

static int take_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct job *job = opaque;
    struct gpume_scene_list *list = &job->list;
    if (list->frames == list->rows_capacity) {
        const uint64_t capacity = list->frames > 0 ? 2 * list->frames : 1024;
        struct gpume_scene_row *rows = realloc(list->rows, (size_t)capacity * sizeof(*rows));
        if (!rows) {
            return gpume_refuse(
                GPUME_NOMEM, "out of memory after %" PRIu64 " frames", list->frames);
        }
        list->rows = rows;
        list->rows_capacity = capacity;
    }
    list->rows[list->frames++].time_us = time_us;
    return gpume_scenes_put(job->scenes, luma);
}

static enum gpume_exit open_scenes(struct job *job)
{
    const struct gpume_params *params = &job->options->params;
    const struct gpume_source_info *info = &job->video.info;
    const struct gpume_scenes_params wanted = {
        .lookahead = {.width = info->width,
            .height = info->height,
            .bits = info->bits,
            .backend = params->backend,
            .device = params->device,
            .threads = params->threads,
            .cache_dir = gpume_host_cache_folder(),
            .log = gpume_library_log},
        .take = take_facts,
        .opaque = &job->list,
    };
    const int status = gpume_scenes_open(&job->scenes, &wanted);
    if (status == GPUME_OK) {
        gpume_console_forget_error();
        gpume_console_info("engine: %s", gpume_scenes_engine(job->scenes));
    } else if (status == GPUME_INVALID) {
        gpume_console_error_about(info->label);
    } else if (status == GPUME_NOMEM) {
        gpume_console_error("out of memory");
    }
    return gpume_exit_of_engine(status);
}

/* Chooses the changes that are confident enough, and the scenes that begin with them. */
static enum gpume_exit choose(struct job *job, const struct gpume_changes *found)
{
    struct gpume_scene_list *list = &job->list;
    list->changes = malloc((found->count + 1) * sizeof(*list->changes));
    list->starts = malloc((found->count + 1) * sizeof(*list->starts));
    if (!list->changes || !list->starts) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    list->starts[list->start_count++] = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct gpume_change *change = &found->items[i];
        if (change->confidence < job->options->confidence) {
            continue;
        }
        const uint64_t start = gpume_change_scene(change);
        list->changes[list->change_count++] = *change;
        if (start < list->frames &&
            start >= list->starts[list->start_count - 1] + job->options->length_min) {
            list->starts[list->start_count++] = start;
        }
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit open_output(struct job *job)
{
    const struct gpume_scene_options *options = job->options;
    job->output = options->output ? options->output : "-";
    if (gpume_name_is_input(options->common.inputs, options->common.input_count, job->output)) {
        return GPUME_EXIT_USAGE;
    }
    const int status = gpume_out_open(&job->out, job->output, options->common.overwrite, &console);
    return status == GPUME_INVALID ? GPUME_EXIT_USAGE : gpume_exit_of_writer(status);
}

static enum gpume_exit conclude(const struct job *job)
{
    static const struct {
        const char *one, *more;
    } names[] = {{"cut", "cuts"}, {"fade-in", "fade-ins"}, {"fade-out", "fade-outs"},
        {"dissolve", "dissolves"}};
    const bool to_stdout = gpume_text_is_stdout(job->output);
    FILE *stream = to_stdout ? stderr : stdout;
    size_t counts[4] = {0};
    const char *separator = ": ";
    if (job->options->common.verbosity < (to_stdout ? 1 : 0)) {
        return GPUME_EXIT_DONE;
    }
    for (size_t i = 0; i < job->list.change_count; i++) {
        counts[job->list.changes[i].kind]++;
    }
    fprintf(stream, "scenes       %zu in %" PRIu64 " frame%s", job->list.start_count,
        job->list.frames, job->list.frames == 1 ? "" : "s");
    for (size_t i = 0; i < 4; i++) {
        if (counts[i] > 0) {
            fprintf(stream, "%s%zu %s", separator, counts[i],
                counts[i] == 1 ? names[i].one : names[i].more);
            separator = ", ";
        }
    }
    putc('\n', stream);
    if (!to_stdout) {
        fprintf(stream, "written      ");
        gpume_console_print_name(job->output, stream);
        putc('\n', stream);
    }
    return gpume_console_flush_output("the summary") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

static enum gpume_exit work(struct job *job, gpume_scene_write_fn write, const void *write_options)
{
    const struct gpume_scene_options *options = job->options;
    const struct gpume_changes *changes = NULL;
    gpume_signals_keep();
    enum gpume_exit result = open_output(job);
    result = result ? result
                    : gpume_video_open(
                          &job->video, &options->common, &options->source, &options->params);
    result = result ? result : open_scenes(job);
    result = result ? result : gpume_video_read(&job->video, 0, take_frame, job);
    gpume_signals_detach();
    if (result == GPUME_EXIT_DONE) {
        result = gpume_exit_of_engine(gpume_scenes_finish(job->scenes, &changes));
    }
    result = result ? result : choose(job, changes);
    if (result == GPUME_EXIT_DONE) {
        write(job->out, &job->list, write_options);
        result = gpume_exit_of_writer(gpume_out_finish(job->out));
    }
    return result ? result : conclude(job);
}

enum gpume_exit gpume_scene_run(const struct gpume_scene_options *options,
    gpume_scene_write_fn write, const void *write_options)
{
    struct job job = {.options = options};
    const enum gpume_exit result = work(&job, write, write_options);
    gpume_scenes_close(&job.scenes);
    gpume_video_close(&job.video);
    gpume_out_close(&job.out);
    free(job.list.rows);
    free(job.list.changes);
    free(job.list.starts);
    return result;
}

void gpume_scene_options_default(struct gpume_scene_options *options)
{
    gpume_params_default(&options->params);
    options->source.stream = -1;
    options->confidence = 0.5;
    options->length_min = 1;
}

int gpume_scene_options_check(void *opaque, const struct gpume_line *line)
{
    const struct gpume_scene_options *options = opaque;
    (void)line;
    return gpume_check_engine(&options->params);
}
