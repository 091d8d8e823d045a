/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenes/read.h"

#include "base/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scene_reading {
    struct gpume_cli_job job;
    const struct gpume_scene_options *options;
    bool wants_facts;
    gpume_scene_write_fn write;
    struct gpume_scenes *scenes;
    struct gpume_scene_list list;
    size_t times_room, facts_room, starts_room;
};

static int refuse_frame(const struct gpume_scene_list *list)
{
    return gpume_refuse(GPUME_NOMEM, "out of memory after %" PRIu64 " frame%s", list->frames,
        gpume_plural(list->frames));
}

static int take_facts(void *opaque, const struct gpume_scene_frame *facts)
{
    struct scene_reading *reading = opaque;
    struct gpume_scene_list *list = &reading->list;
    struct gpume_scene_frame *grown =
        gpume_grow(list->facts, (size_t)facts->frame, &reading->facts_room, sizeof(*grown));
    if (!grown) {
        return refuse_frame(list);
    }
    list->facts = grown;
    list->facts[facts->frame] = *facts;
    return GPUME_OK;
}

static int take_scene_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct scene_reading *reading = opaque;
    struct gpume_scene_list *list = &reading->list;
    int64_t *grown =
        gpume_grow(list->times_us, (size_t)list->frames, &reading->times_room, sizeof(*grown));
    if (!grown) {
        return refuse_frame(list);
    }
    list->times_us = grown;
    list->times_us[list->frames++] = time_us;
    GPUME_CHECK(list->chunks ? gpume_chunks_put(list->chunks, luma, time_us) : GPUME_OK);
    return gpume_scenes_put(reading->scenes, luma);
}

static enum gpume_exit open_scenes(void *opaque)
{
    struct scene_reading *reading = opaque;
    if (reading->job.info.interlaced) {
        gpume_console_warning("%s: is interlaced, and whole frames of two fields are compared; "
                              "--vf bwdif=send_frame deinterlaces it",
            reading->job.info.label);
    }
    const struct gpume_scenes_params wanted = {
        .lookahead = gpume_job_lookahead(&reading->job),
        .take = reading->wants_facts ? take_facts : NULL,
        .opaque = reading,
    };
    if (reading->options->chunks.encoder >= 0) {
        const enum gpume_exit result =
            gpume_chunks_open(&reading->list.chunks, &reading->options->chunks, &reading->job);
        if (result != GPUME_EXIT_DONE) {
            return result;
        }
    }
    const int status = gpume_scenes_open(&reading->scenes, &wanted);
    return gpume_job_opened(
        &reading->job, status, status ? NULL : gpume_scenes_engine(reading->scenes));
}

/* By the frame rate; without one, as long as the last frame from which time does not jump back. */
static int64_t last_frame_us(const struct scene_reading *reading)
{
    const struct gpume_source_info *info = &reading->job.info;
    const int64_t *times_us = reading->list.times_us;
    if (info->rate_num > 0) {
        return (
            int64_t)((UINT64_C(1000000) * info->rate_den + info->rate_num / 2) / info->rate_num);
    }
    for (uint64_t i = reading->list.frames; i > 1; i--) {
        if (times_us[i - 1] > times_us[i - 2]) {
            return times_us[i - 1] - times_us[i - 2];
        }
    }
    return 0;
}

/* How long a frame is shown; where times jump back, as long as the last one. */
int64_t gpume_scene_duration(const struct gpume_scene_list *list, uint64_t frame)
{
    const int64_t us = frame + 1 < list->frames ? list->times_us[frame + 1] - list->times_us[frame]
                                                : list->frame_us;
    return us > 0 ? us : list->frame_us;
}

/* Frames `begin` to `end` - 1: are they as long as that, or longer? */
static bool is_as_long(const struct gpume_scene_list *list, uint64_t begin, uint64_t end,
    const struct gpume_place *length)
{
    int64_t us = 0;
    for (uint64_t i = begin; length->is_time && i < end && us < length->us; i++) {
        us += gpume_scene_duration(list, i);
    }
    return length->is_time ? us >= length->us : end - begin >= length->frame;
}

/* How many equal parts make a scene short enough. */
static uint64_t parts_of(const struct gpume_scene_list *list, uint64_t begin, uint64_t end,
    const struct gpume_place *length)
{
    int64_t us = 0;
    if (!length->is_time) {
        return length->frame > 0 ? (end - begin + length->frame - 1) / length->frame : 1;
    }
    for (uint64_t i = begin; i < end; i++) {
        us += gpume_scene_duration(list, i);
    }
    const uint64_t parts = (uint64_t)((us + length->us - 1) / length->us);
    return parts < 1 ? 1 : parts < end - begin ? parts : end - begin;
}

static enum gpume_exit add_start(struct scene_reading *reading, uint64_t start)
{
    struct gpume_scene_list *list = &reading->list;
    uint64_t *grown =
        gpume_grow(list->starts, list->start_count, &reading->starts_room, sizeof(*grown));
    if (!grown) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    list->starts = grown;
    list->starts[list->start_count++] = start;
    return GPUME_EXIT_DONE;
}

/* Begins a scene, in equal parts. */
static enum gpume_exit add_scene(struct scene_reading *reading, uint64_t begin, uint64_t end)
{
    const uint64_t parts = parts_of(&reading->list, begin, end, &reading->options->length_max);
    enum gpume_exit result = GPUME_EXIT_DONE;
    for (uint64_t i = 0; i < parts && result == GPUME_EXIT_DONE; i++) {
        result = add_start(reading, begin + (end - begin) * i / parts);
    }
    return result;
}

/* Chooses the changes that are confident enough, and the scenes that begin with them. */
static enum gpume_exit choose_changes(
    struct scene_reading *reading, const struct gpume_changes *found)
{
    struct gpume_scene_list *list = &reading->list;
    const struct gpume_place *shortest = &reading->options->length_min;
    uint64_t begin = 0;
    list->changes = malloc((found->count + 1) * sizeof(*list->changes));
    if (!list->changes) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    for (size_t i = 0; i < found->count; i++) {
        const struct gpume_change *change = &found->items[i];
        if (change->confidence < reading->options->confidence) {
            continue;
        }
        const uint64_t start = gpume_change_scene(change);
        list->changes[list->change_count++] = *change;
        if (start > begin && start < list->frames && is_as_long(list, begin, start, shortest) &&
            is_as_long(list, start, list->frames, shortest)) {
            const enum gpume_exit result = add_scene(reading, begin, start);
            if (result != GPUME_EXIT_DONE) {
                return result;
            }
            begin = start;
        }
    }
    return add_scene(reading, begin, list->frames > 0 ? list->frames : 1);
}

static enum gpume_exit finish_scenes(void *opaque)
{
    struct scene_reading *reading = opaque;
    const struct gpume_changes *changes = NULL;
    reading->list.start_us = reading->job.info.start_us;
    reading->list.frame_us = last_frame_us(reading);
    enum gpume_exit result = gpume_exit_of_engine(gpume_scenes_finish(reading->scenes, &changes));
    result = result ? result : choose_changes(reading, changes);
    if (result == GPUME_EXIT_DONE && reading->list.chunks) {
        result = gpume_chunks_finish(
            reading->list.chunks, reading->list.starts, reading->list.start_count);
    }
    if (result == GPUME_EXIT_DONE) {
        reading->write(reading->job.outputs[0].out, &reading->list, reading->options);
    }
    return result;
}

static enum gpume_exit conclude_scenes(void *client, FILE *stream)
{
    static const struct {
        const char *one, *more;
    } names[] = {{"cut", "cuts"}, {"fade-in", "fade-ins"}, {"fade-out", "fade-outs"},
        {"dissolve", "dissolves"}, {"wipe", "wipes"}};
    const struct scene_reading *reading = client;
    const struct gpume_scene_list *list = &reading->list;
    size_t counts[sizeof(names) / sizeof(names[0])] = {0};
    const char *separator = ": ";
    if (!stream) { /* what is expected of chunks is said where the list itself is printed, too */
        if (list->chunks && reading->job.common->verbosity == 0) {
            gpume_chunks_print(list->chunks, stderr);
        }
        return GPUME_EXIT_DONE;
    }
    for (size_t i = 0; i < list->change_count; i++) {
        counts[list->changes[i].kind]++;
    }
    fprintf(stream, "scenes       %zu in %" PRIu64 " frame%s", list->start_count, list->frames,
        gpume_plural(list->frames));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (counts[i] > 0) {
            fprintf(stream, "%s%zu %s", separator, counts[i],
                counts[i] == 1 ? names[i].one : names[i].more);
            separator = ", ";
        }
    }
    putc('\n', stream);
    if (list->chunks) {
        gpume_chunks_print(list->chunks, stream);
    }
    return GPUME_EXIT_DONE;
}

enum gpume_exit gpume_scene_run(
    const struct gpume_scene_options *options, bool wants_facts, gpume_scene_write_fn write)
{
    static const struct gpume_job_work work = {.open = open_scenes,
        .take = take_scene_frame,
        .finish = finish_scenes,
        .conclude = conclude_scenes};
    struct scene_reading reading = {.job = gpume_job_of(&options->video),
        .options = options,
        .wants_facts = wants_facts,
        .write = write};
    const enum gpume_exit result = gpume_job_run(&reading.job, &work, &reading);
    gpume_scenes_close(&reading.scenes);
    gpume_chunks_close(&reading.list.chunks);
    gpume_job_close(&reading.job);
    free(reading.list.times_us);
    free(reading.list.facts);
    free(reading.list.changes);
    free(reading.list.starts);
    return result;
}

void gpume_scene_options_default(void *opaque)
{
    struct gpume_scene_options *options = opaque;
    gpume_video_options_default(&options->video);
    options->confidence = 0.5;
    gpume_chunk_options_default(&options->chunks);
}

int gpume_scene_options_check(void *opaque, const struct gpume_line *line)
{
    const struct gpume_scene_options *options = opaque;
    const struct gpume_place *min = &options->length_min, *max = &options->length_max;
    const double least = min->is_time ? (double)min->us / 1e6 : (double)min->frame;
    const double most = max->is_time ? (double)max->us / 1e6 : (double)max->frame;
    if (gpume_line_has(line, "min-length") && gpume_line_has(line, "max-length") &&
        min->is_time == max->is_time && least > most) {
        const char *unit = min->is_time ? "s" : "";
        return gpume_refuse(GPUME_INVALID,
            "--min-length %.10g%s: is more than --max-length %.10g%s; lower it or raise that",
            least, unit, most, unit);
    }
    return gpume_video_options_check(opaque, line);
}
