/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenes/read.h"

#include "base/grow.h"
#include "console.h"
#include "files/text_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const struct gpume_scene_options *options;
    bool wants_facts;
    gpume_scene_write_fn write;
    struct gpume_video video;
    struct gpume_scenes *scenes;
    struct gpume_scene_list list;
    size_t times_room, facts_room;
};

static int refuse_frame(const struct gpume_scene_list *list)
{
    return gpume_refuse(GPUME_NOMEM, "out of memory after %" PRIu64 " frames", list->frames);
}

static int take_facts(void *opaque, const struct gpume_scene_frame *facts)
{
    struct job *job = opaque;
    struct gpume_scene_list *list = &job->list;
    struct gpume_scene_frame *grown =
        gpume_grow(list->facts, (size_t)facts->frame, &job->facts_room, sizeof(*grown));
    if (!grown) {
        return refuse_frame(list);
    }
    list->facts = grown;
    list->facts[facts->frame] = *facts;
    return GPUME_OK;
}

static int take_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct job *job = opaque;
    struct gpume_scene_list *list = &job->list;
    int64_t *grown =
        gpume_grow(list->times_us, (size_t)list->frames, &job->times_room, sizeof(*grown));
    if (!grown) {
        return refuse_frame(list);
    }
    list->times_us = grown;
    list->times_us[list->frames++] = time_us;
    return gpume_scenes_put(job->scenes, luma);
}

static enum gpume_exit open_scenes(void *opaque)
{
    struct job *job = opaque;
    const struct gpume_scenes_params wanted = {
        .lookahead = gpume_video_lookahead(&job->video),
        .take = job->wants_facts ? take_facts : NULL,
        .opaque = job,
    };
    const int status = gpume_scenes_open(&job->scenes, &wanted);
    return gpume_video_opened(
        &job->video, status, status ? NULL : gpume_scenes_engine(job->scenes));
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
        if (start < list->frames && list->frames - start >= job->options->length_min &&
            start >= list->starts[list->start_count - 1] + job->options->length_min) {
            list->starts[list->start_count++] = start;
        }
    }
    return GPUME_EXIT_DONE;
}

/* By the frame rate; without one, as long as the last frame from which time does not jump back. */
static int64_t last_frame_us(const struct job *job)
{
    const struct gpume_source_info *info = &job->video.info;
    const int64_t *times_us = job->list.times_us;
    if (info->rate_num > 0) {
        return (
            int64_t)((UINT64_C(1000000) * info->rate_den + info->rate_num / 2) / info->rate_num);
    }
    for (uint64_t i = job->list.frames; i > 1; i--) {
        if (times_us[i - 1] > times_us[i - 2]) {
            return times_us[i - 1] - times_us[i - 2];
        }
    }
    return 0;
}

static enum gpume_exit finish(void *opaque)
{
    struct job *job = opaque;
    const struct gpume_changes *changes = NULL;
    job->list.start_us = job->video.info.start_us;
    job->list.frame_us = last_frame_us(job);
    enum gpume_exit result = gpume_exit_of_engine(gpume_scenes_finish(job->scenes, &changes));
    result = result ? result : choose(job, changes);
    if (result == GPUME_EXIT_DONE) {
        job->write(job->video.out, &job->list, job->options);
    }
    return result;
}

static void conclude(const void *opaque)
{
    const struct job *job = opaque;
    static const struct {
        const char *one, *more;
    } names[] = {{"cut", "cuts"}, {"fade-in", "fade-ins"}, {"fade-out", "fade-outs"},
        {"dissolve", "dissolves"}};
    const bool to_stdout = gpume_text_is_stdout(job->video.output);
    FILE *stream = to_stdout ? stderr : stdout;
    size_t counts[4] = {0};
    const char *separator = ": ";
    if (job->options->video.common.verbosity < (to_stdout ? 1 : 0)) {
        return;
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
        gpume_console_print_written(job->video.output, stream);
    }
}

enum gpume_exit gpume_scene_run(
    const struct gpume_scene_options *options, bool wants_facts, gpume_scene_write_fn write)
{
    static const struct gpume_video_work work = {open_scenes, take_frame, finish, conclude};
    struct job job = {.options = options,
        .wants_facts = wants_facts,
        .write = write,
        .video = {.options = &options->video}};
    const enum gpume_exit result = gpume_video_run(&job.video, &work, &job);
    gpume_scenes_close(&job.scenes);
    gpume_video_close(&job.video);
    free(job.list.times_us);
    free(job.list.facts);
    free(job.list.changes);
    free(job.list.starts);
    return result;
}

void gpume_scene_options_default(void *opaque)
{
    struct gpume_scene_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->confidence = 0.5;
    options->length_min = 1;
}
