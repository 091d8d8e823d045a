/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume complexity: how hard the frames and scenes of a video are to code. gpume-complexity(1)
 * describes the columns. */
#include "encode/complexity.h"

#include "files/forms.h"
#include "scenes/read.h"

struct complexity_options {
    struct gpume_scene_options scene;
    enum { FRAMES, SCENES } by;
    enum { CSV, JSON } format;
};

/* Of a frame, or of the frames of a scene. */
struct complexity_row {
    uint64_t frame, scene, first_frame, last_frame, frames;
    int64_t time, seconds;
    struct gpume_complexity complexity;
    uint64_t bytes[GPUME_COMPLEXITY_QPS];
};

/* Which rows of which form have a column. */
enum { FRAME = 1, SCENE = 2, LISTED = 4 /* among the scenes in JSON */ };

#define ROW struct complexity_row
static const struct gpume_column columns[] = {
    {GPUME_COLUMN("frame", ROW, frame), .only = FRAME},
    {GPUME_COLUMN("scene", ROW, scene), .only = FRAME | SCENE},
    {GPUME_COLUMN("first_frame", ROW, first_frame), .only = SCENE | LISTED},
    {GPUME_COLUMN("last_frame", ROW, last_frame), .only = SCENE | LISTED},
    {GPUME_COLUMN("time", ROW, time)},
    {GPUME_COLUMN("luma", ROW, complexity.luma), .decimals = 2},
    {GPUME_COLUMN("spatial", ROW, complexity.spatial), .decimals = 3},
    {GPUME_COLUMN("temporal", ROW, complexity.temporal), .decimals = 3},
    {GPUME_COLUMN("intra_cost", ROW, complexity.intra_cost), .decimals = 2},
    {GPUME_COLUMN("inter_cost", ROW, complexity.inter_cost), .decimals = 2},
    {GPUME_COLUMN("intra_share", ROW, complexity.intra_share), .decimals = 4},
    /* gpume_complexity_qps */
    {GPUME_COLUMN("bytes_qp22", ROW, bytes[0])},
    {GPUME_COLUMN("bytes_qp27", ROW, bytes[1])},
    {GPUME_COLUMN("bytes_qp32", ROW, bytes[2])},
    {GPUME_COLUMN("bytes_qp37", ROW, bytes[3])},
    {GPUME_COLUMN("frames", ROW, frames), .only = SCENE | LISTED},
    {GPUME_COLUMN("seconds", ROW, seconds)},
};
_Static_assert(GPUME_COMPLEXITY_QPS == 4, "a column for each QP");

static ROW measure_frames(
    const struct gpume_scene_list *list, size_t scene, uint64_t begin, uint64_t end)
{
    ROW row = {.frame = begin,
        .scene = scene,
        .first_frame = begin,
        .last_frame = end - 1,
        .frames = end - begin,
        .time = list->times_us[begin]};
    for (uint64_t i = begin; i < end; i++) {
        row.seconds += gpume_scene_duration(list, i);
        gpume_complexity_add(&row.complexity, &list->facts[i], i == list->starts[scene]);
    }
    for (size_t i = 0; i < GPUME_COMPLEXITY_QPS; i++) {
        row.bytes[i] = (row.complexity.bits[i] + 4) / 8;
    }
    return row;
}

/* A row for each frame or for each scene: to `json`, or to the output. */
static void write_rows(const struct gpume_scene_list *list, unsigned kind, struct gpume_out *out,
    struct gpume_json *json)
{
    struct gpume_table table = {GPUME_TABLE(columns, ROW)};
    table.kind = kind;
    if (!json) {
        gpume_table_csv_head(&table, out);
    }
    for (size_t scene = 0; scene < list->start_count && list->frames > 0; scene++) {
        const uint64_t begin = list->starts[scene];
        const uint64_t end = gpume_scene_end(list, scene);
        const uint64_t step = kind == FRAME ? 1 : end - begin;
        for (uint64_t i = begin; i < end; i += step) {
            const ROW row = measure_frames(list, scene, i, i + step);
            if (json) {
                gpume_table_json(&table, NULL, &row, 1, json);
            } else {
                gpume_table_csv(&table, &row, 1, out);
            }
        }
    }
}

static void write_complexity_json(struct gpume_out *out, const struct gpume_scene_list *list)
{
    struct gpume_json json = {.out = out};
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "format", 1);
    gpume_json_begin_list(&json, "scenes");
    write_rows(list, LISTED, out, &json);
    gpume_json_end_list(&json);
    gpume_json_begin_list(&json, "frames");
    write_rows(list, FRAME, out, &json);
    gpume_json_end_list(&json);
    gpume_json_end(&json);
    (void)gpume_out_text(out, "\n");
}

static void write_list(
    struct gpume_out *out, const struct gpume_scene_list *list, const void *opaque)
{
    const struct complexity_options *options = opaque;
    if (options->format == JSON) {
        write_complexity_json(out, list);
    } else {
        write_rows(list, options->by == FRAMES ? FRAME : SCENE, out, NULL);
    }
}

static enum gpume_exit run(const void *options)
{
    return gpume_scene_run(options, true, write_list);
}

#define OPTIONS struct complexity_options

static const char *const units[] = {"frame", "scene", NULL};
static const char *const formats[] = {"csv", "json", NULL};

static struct gpume_option table[] = {
    {.heading = "Complexity"},
    {GPUME_ROW_CHOICE("by", "frame|scene", OPTIONS, by, units),
        .help = "what a row of csv describes (default frame); json has both"},
    {.heading = "Scenes"},
    GPUME_OPTIONS_SCENES(OPTIONS, scene, ""),
    GPUME_OPTIONS_VIDEO(OPTIONS, scene.video),
    {GPUME_ROW_CHOICE("format", "csv|json", OPTIONS, format, formats), .follows = "output",
        .help = "format of the output (default: by the name of the output, else csv)"},
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
