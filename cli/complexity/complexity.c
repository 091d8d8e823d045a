/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume complexity: how hard the frames and scenes of a video are to code. gpume-complexity(1)
 * describes the columns. */
#include "encode/complexity.h"

#include "commands.h"
#include "files/json.h"
#include "files/text_file.h"
#include "scenes/read.h"

#include <inttypes.h>
#include <stdio.h>

#define LINE_BYTES 400

struct complexity_options {
    struct gpume_scene_options scene;
    enum { FRAMES, SCENES } by;
    enum { CSV, JSON } format;
};

/* Frames begin to end - 1, of one scene or a part of it. */
struct part {
    size_t scene;
    uint64_t begin, end;
    int64_t time_us, duration_us;
    struct gpume_complexity complexity;
};

static struct part measure(
    const struct gpume_scene_list *list, size_t scene, uint64_t begin, uint64_t end)
{
    struct part part = {scene, begin, end, list->times_us[begin], 0, {0}};
    for (uint64_t i = begin; i < end; i++) {
        part.duration_us += gpume_scene_duration(list, i);
        gpume_complexity_add(&part.complexity, &list->facts[i], i == list->starts[scene]);
    }
    return part;
}

typedef void (*write_fn)(void *opaque, const struct part *part);

/* Calls `write` for each frame or for each scene. */
static void go_through(
    const struct gpume_scene_list *list, bool by_frames, write_fn write, void *opaque)
{
    for (size_t scene = 0; scene < list->start_count && list->frames > 0; scene++) {
        const uint64_t begin = list->starts[scene];
        const uint64_t end = gpume_scene_end(list, scene);
        const uint64_t step = by_frames ? 1 : end - begin;
        for (uint64_t i = begin; i < end; i += step) {
            const struct part part = measure(list, scene, i, i + step);
            write(opaque, &part);
        }
    }
}

static void write_row(
    struct gpume_out *out, const char *head, const struct part *part, const char *tail)
{
    const struct gpume_complexity *c = &part->complexity;
    char line[LINE_BYTES], time[32];
    gpume_text_time(time, sizeof(time), part->time_us);
    int used = snprintf(line, sizeof(line), "%s,%s,%.2f,%.3f,%.3f,%.2f,%.2f,%.4f", head, time,
        c->luma, c->spatial, c->temporal, c->intra_cost, c->inter_cost, c->intra_share);
    for (uint32_t i = 0; i < GPUME_COMPLEXITY_QPS; i++) {
        used +=
            snprintf(line + used, sizeof(line) - (size_t)used, ",%" PRIu64, (c->bits[i] + 4) / 8);
    }
    (void)gpume_out_text(out, line);
    gpume_text_time(time, sizeof(time), part->duration_us);
    snprintf(line, sizeof(line), "%s,%s\n", tail, time);
    (void)gpume_out_text(out, line);
}

static void write_frame_row(void *out, const struct part *part)
{
    char head[64];
    snprintf(head, sizeof(head), "%" PRIu64 ",%zu", part->begin, part->scene);
    write_row(out, head, part, "");
}

static void write_scene_row(void *out, const struct part *part)
{
    char head[64], tail[32];
    snprintf(
        head, sizeof(head), "%zu,%" PRIu64 ",%" PRIu64, part->scene, part->begin, part->end - 1);
    snprintf(tail, sizeof(tail), ",%" PRIu64, part->end - part->begin);
    write_row(out, head, part, tail);
}

static void write_csv(struct gpume_out *out, const struct gpume_scene_list *list, bool by_frames)
{
    char name[32];
    (void)gpume_out_text(out, by_frames ? "frame,scene" : "scene,first_frame,last_frame");
    (void)gpume_out_text(out, ",time,luma,spatial,temporal,intra_cost,inter_cost,intra_share");
    for (uint32_t i = 0; i < GPUME_COMPLEXITY_QPS; i++) {
        snprintf(name, sizeof(name), ",bytes_qp%" PRIu32, gpume_complexity_qps[i]);
        (void)gpume_out_text(out, name);
    }
    (void)gpume_out_text(out, by_frames ? ",seconds\n" : ",frames,seconds\n");
    go_through(list, by_frames, by_frames ? write_frame_row : write_scene_row, out);
}

static void write_members(struct gpume_json *json, const struct part *part)
{
    const struct gpume_complexity *c = &part->complexity;
    char name[32], time[32];
    gpume_text_time(time, sizeof(time), part->time_us);
    gpume_json_digits(json, "time", time);
    gpume_json_real(json, "luma", c->luma, 2);
    gpume_json_real(json, "spatial", c->spatial, 3);
    gpume_json_real(json, "temporal", c->temporal, 3);
    gpume_json_real(json, "intra_cost", c->intra_cost, 2);
    gpume_json_real(json, "inter_cost", c->inter_cost, 2);
    gpume_json_real(json, "intra_share", c->intra_share, 4);
    for (uint32_t i = 0; i < GPUME_COMPLEXITY_QPS; i++) {
        snprintf(name, sizeof(name), "bytes_qp%" PRIu32, gpume_complexity_qps[i]);
        gpume_json_count(json, name, (c->bits[i] + 4) / 8);
    }
}

static void write_duration(struct gpume_json *json, const struct part *part)
{
    char time[32];
    gpume_text_time(time, sizeof(time), part->duration_us);
    gpume_json_digits(json, "seconds", time);
}

static void write_frame(void *json, const struct part *part)
{
    gpume_json_begin(json, NULL);
    gpume_json_count(json, "frame", part->begin);
    gpume_json_count(json, "scene", part->scene);
    write_members(json, part);
    write_duration(json, part);
    gpume_json_end(json);
}

static void write_scene(void *json, const struct part *part)
{
    gpume_json_begin(json, NULL);
    gpume_json_count(json, "first_frame", part->begin);
    gpume_json_count(json, "last_frame", part->end - 1);
    write_members(json, part);
    gpume_json_count(json, "frames", part->end - part->begin);
    write_duration(json, part);
    gpume_json_end(json);
}

static void write_json(struct gpume_out *out, const struct gpume_scene_list *list)
{
    struct gpume_json json = {.out = out};
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "format", 1);
    gpume_json_begin_list(&json, "scenes");
    go_through(list, false, write_scene, &json);
    gpume_json_end_list(&json);
    gpume_json_begin_list(&json, "frames");
    go_through(list, true, write_frame, &json);
    gpume_json_end_list(&json);
    gpume_json_end(&json);
    (void)gpume_out_text(out, "\n");
}

static void write_list(
    struct gpume_out *out, const struct gpume_scene_list *list, const void *opaque)
{
    const struct complexity_options *options = opaque;
    if (options->format == JSON) {
        write_json(out, list);
    } else {
        write_csv(out, list, options->by == FRAMES);
    }
}

static enum gpume_exit run(const void *options)
{
    return gpume_scene_run(options, true, write_list);
}

#define OPTIONS struct complexity_options

static const char *const units[] = {"frame", "scene", NULL};
static const char *const formats[] = {"csv", "json", NULL};

static const struct gpume_option table[] = {
    {.heading = "Complexity"},
    {GPUME_ROW_CHOICE("by", "frame|scene", OPTIONS, by, units),
        .help = "what a row of csv describes (default frame); json has both"},
    {.heading = "Scenes"},
    GPUME_OPTIONS_SCENES(OPTIONS, scene, ""),
    GPUME_OPTIONS_VIDEO(OPTIONS, scene.video),
    {GPUME_ROW_CHOICE("format", "csv|json", OPTIONS, format, formats),
        .help = "format of the output (default csv)"},
    GPUME_OPTIONS_VIDEO_LAST(OPTIONS, scene.video),
};

const struct gpume_command gpume_complexity_command = {
    .name = "complexity",
    .summary = "show how hard the frames and scenes of a video are to code",
    .usage = "complexity INPUT [-o FILE] [options]",
    .about = "Measures detail, change, and the cost of coding each frame alone and predicted from "
             "the frame before, and estimates the size at several QPs: for bitrate ladders and "
             "for the bitrates of chunks.",
    GPUME_COMMAND_OPTIONS(table, struct complexity_options),
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = gpume_scene_options_default,
    .check = gpume_scene_options_check,
    .run = run,
};
