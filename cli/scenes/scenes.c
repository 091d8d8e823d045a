/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume scenes: the changes of scene of a video in several formats, which gpume-scenes(1)
 * describes. */
#include "base/base.h"
#include "encode/chunk_encoders.h"
#include "encode/encoder.h"
#include "encoder_options.h"
#include "files/forms.h"
#include "files/path.h"
#include "options/option.h"
#include "scenes/chunks.h"
#include "scenes/read.h"

#include <inttypes.h>
#include <stdio.h>

#define LINE_BYTES 160

/* With -force_key_frames, the first frame at or after each time becomes a key frame. A time one
 * millisecond early allows for rounding and still comes after the previous frame. The first frame
 * is a key frame without a time: where it is late, ffmpeg may repeat it from 0 on, and a
 * time would ask for another key frame among these. */
#define MARGIN_US 1000

static const char *const kinds[] = {
    [GPUME_CHANGE_CUT] = "cut",
    [GPUME_CHANGE_FADE_IN] = "fade-in",
    [GPUME_CHANGE_FADE_OUT] = "fade-out",
    [GPUME_CHANGE_DISSOLVE] = "dissolve",
    [GPUME_CHANGE_WIPE] = "wipe",
};

struct change_row {
    uint64_t frame, last_frame;
    int64_t time;
    const char *kind;
    double confidence;
};

static const struct gpume_column change_columns[] = {
    {GPUME_COLUMN("frame", struct change_row, frame)},
    {GPUME_COLUMN("time", struct change_row, time)},
    {GPUME_COLUMN("kind", struct change_row, kind)},
    {GPUME_COLUMN("last_frame", struct change_row, last_frame)},
    {GPUME_COLUMN("confidence", struct change_row, confidence), .decimals = 3},
};
static const struct gpume_table changes = {GPUME_TABLE(change_columns, struct change_row)};

/* To `json`, or as CSV to the output. */
static void write_changes(
    struct gpume_out *out, struct gpume_json *json, const struct gpume_scene_list *list)
{
    for (size_t i = 0; i < list->change_count; i++) {
        const struct gpume_change *change = &list->changes[i];
        const struct change_row row = {change->first, change->last, list->times_us[change->first],
            kinds[change->kind], change->confidence};
        if (json) {
            gpume_table_json(&changes, NULL, &row, 1, json);
        } else {
            gpume_table_csv(&changes, &row, 1, out);
        }
    }
}

static void write_csv(struct gpume_out *out, const struct gpume_scene_list *list)
{
    gpume_table_csv_head(&changes, out);
    write_changes(out, NULL, list);
}

struct scene_row {
    uint64_t first_frame, last_frame;
    int64_t time;
};

static const struct gpume_column scene_columns[] = {
    {GPUME_COLUMN("first_frame", struct scene_row, first_frame)},
    {GPUME_COLUMN("last_frame", struct scene_row, last_frame)},
    {GPUME_COLUMN("time", struct scene_row, time)},
};
static const struct gpume_table scenes = {GPUME_TABLE(scene_columns, struct scene_row)};

static void write_scenes_json(struct gpume_out *out, const struct gpume_scene_list *list)
{
    struct gpume_json json = {.out = out};
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "format", 1);
    gpume_json_count(&json, "frames", list->frames);
    gpume_json_begin_list(&json, "changes");
    write_changes(out, &json, list);
    gpume_json_end_list(&json);
    gpume_json_begin_list(&json, "scenes");
    for (size_t i = 0; i < list->start_count; i++) {
        const uint64_t first = list->starts[i];
        const struct scene_row row = {first, gpume_scene_end(list, i) - 1, list->times_us[first]};
        gpume_table_json(&scenes, NULL, &row, 1, &json);
    }
    gpume_json_end_list(&json);
    gpume_json_end(&json);
    (void)gpume_out_text(out, "\n");
}

/* Chunks are never shorter than they are here; Av1an needs a number. It is its own default. */
#define AV1AN_MIN_SCENE_LEN 24

/* Av1an reads a file only if these members are there, but for those that are null; it takes the
 * parameters instead of its own --video-params. */
static void write_override(struct gpume_json *json, const struct gpume_chunks *chunks, size_t scene)
{
    static const char *const unset[] = {"photon_noise", "photon_noise_height", "photon_noise_width",
        "extra_splits_len", "target_quality"};
    char text[GPUME_CHUNK_PARAM_BYTES];
    const char *param;
    gpume_json_begin(json, "zone_overrides");
    gpume_json_text(json, "encoder", gpume_chunks_encoder(chunks)->av1an);
    gpume_json_count(json, "passes", 1);
    gpume_json_begin_list(json, "video_params");
    for (size_t i = 0; (param = gpume_chunks_param(chunks, scene, i, text)); i++) {
        gpume_json_text(json, NULL, param);
    }
    gpume_json_end_list(json);
    gpume_json_truth(json, "chroma_noise", false);
    gpume_json_count(json, "min_scene_len", AV1AN_MIN_SCENE_LEN);
    for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++) {
        gpume_json_text(json, unset[i], NULL);
    }
    gpume_json_end(json);
}

static void write_av1an_list(
    struct gpume_json *json, const char *key, const struct gpume_scene_list *list)
{
    gpume_json_begin_list(json, key);
    for (size_t i = 0; i < list->start_count; i++) {
        gpume_json_begin(json, NULL);
        gpume_json_count(json, "start_frame", list->starts[i]);
        gpume_json_count(json, "end_frame", gpume_scene_end(list, i));
        if (list->chunks) {
            write_override(json, list->chunks, i);
        } else {
            gpume_json_text(json, "zone_overrides", NULL);
        }
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

/* Newer versions of Av1an read split_scenes too, older ones ignore it. */
static void write_av1an(struct gpume_out *out, const struct gpume_scene_list *list)
{
    struct gpume_json json = {.out = out};
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "frames", list->frames);
    write_av1an_list(&json, "scenes", list);
    write_av1an_list(&json, "split_scenes", list);
    gpume_json_end(&json);
    (void)gpume_out_text(out, "\n");
}

static void write_qpfile(struct gpume_out *out, const struct gpume_scene_list *list)
{
    for (size_t i = 0; i < list->start_count; i++) {
        char line[LINE_BYTES];
        snprintf(line, sizeof(line), "%" PRIu64 " I -1\n", list->starts[i]);
        (void)gpume_out_text(out, line);
    }
}

static void write_keyframes(struct gpume_out *out, const struct gpume_scene_list *list)
{
    (void)gpume_out_text(out, "0.000000"); /* FFmpeg refuses an empty list */
    int64_t last_us = 0; /* FFmpeg wants times in order, also where those of a video jump back */
    for (size_t i = 1; i < list->start_count; i++) {
        const int64_t time_us = list->times_us[list->starts[i]] - list->start_us - MARGIN_US;
        if (time_us > last_us) {
            char time[32];
            gpume_text_time(time, sizeof(time), time_us);
            (void)gpume_out_text(out, ",");
            (void)gpume_out_text(out, time);
            last_us = time_us;
        }
    }
    (void)gpume_out_text(out, "\n");
}

struct scenes_options {
    struct gpume_scene_options scene;
    enum { CSV, JSON, AV1AN, QPFILE, KEYFRAMES } format;
};

static void write_scene_list(
    struct gpume_out *out, const struct gpume_scene_list *list, const void *opaque)
{
    static void (*const writers[])(struct gpume_out *, const struct gpume_scene_list *) = {
        [CSV] = write_csv,
        [JSON] = write_scenes_json,
        [AV1AN] = write_av1an,
        [QPFILE] = write_qpfile,
        [KEYFRAMES] = write_keyframes,
    };
    const struct scenes_options *options = opaque;
    writers[options->format](out, list);
}

static enum gpume_exit run_scenes(const void *options)
{
    return gpume_scene_run(options, false, write_scene_list);
}

static int check_chunks(struct scenes_options *options, const struct gpume_line *line)
{
    if (options->format != AV1AN && gpume_line_has(line, "encoder")) {
        return gpume_refuse(GPUME_INVALID, "--encoder: needs --format av1an");
    }
    return gpume_chunk_options_check(&options->scene.chunks);
}

/* A chunk of less than a second is not worth an encoder's start. */
static int check_scenes_options(void *opaque, const struct gpume_line *line)
{
    struct scenes_options *options = opaque;
    if (options->format == AV1AN && !gpume_line_has(line, "min-length")) {
        options->scene.length_min = (struct gpume_place){.is_time = true, .us = 1000000};
    }
    GPUME_CHECK(check_chunks(options, line));
    return gpume_scene_options_check(opaque, line);
}

#define OPTIONS struct scenes_options

static const char *const formats[] = {"csv", "json", "av1an", "qpfile", "keyframes", NULL};

#define ROW_GOAL(option, value, text)                                                              \
    {                                                                                              \
        GPUME_ROW(option, value, chunk_goal, OPTIONS, scene.chunks), .needs = "encoder",           \
                                                                     .help = text                  \
    }

static struct gpume_option table[] = {
    {.heading = "Scenes"},
    GPUME_OPTIONS_SCENES(OPTIONS, scene, ", with --format av1an 1s"),
    {.heading = "Quality of chunks, with --format av1an"},
    {GPUME_ROW("encoder", gpume_encoder_chunks.value, chunk_encoder, OPTIONS, scene.chunks.encoder),
        .choices = gpume_encoder_chunks.words,
        .help = "give each scene the options of this encoder, with the CRF for one of these:"},
    ROW_GOAL("target-psnr", "DB", "a mean PSNR of luma in every scene, 20 to 60 dB"),
    ROW_GOAL("target-ssim", "S", "a mean SSIM of luma in every scene, 0.5 to 0.9999"),
    ROW_GOAL("target-xpsnr", "DB", "an XPSNR of luma in every scene, 20 to 60 dB"),
    ROW_GOAL("target-size", "BYTES",
        "about this size of all chunks together, e.g. 700M, with the same CRF for all"),
    ROW_GOAL(
        "crf", "N", "the same CRF for all, 1 to 51, e.g. 24 or 23.5; svt-av1, aom: 1 to 63, whole"),
    {GPUME_ROW("preset", "NAME", encoder_word, OPTIONS, scene.chunks.preset),
        .choices = gpume_encoder_presets.words, .needs = "encoder",
        .help = "the encoder's preset, or aom's --cpu-used (default medium; svt-av1: 8, aom: 6)"},
    {GPUME_ROW("tune", "NAME", encoder_word, OPTIONS, scene.chunks.tune),
        .choices = gpume_encoder_tunes.words, .needs = "encoder",
        .help = "the tuning of x264 or x265 (default none)"},
    GPUME_OPTIONS_VIDEO(OPTIONS, scene.video),
    {GPUME_ROW_CHOICE("format", "FORMAT", OPTIONS, format, formats), .follows = "output",
        .help = "csv (all changes), json (changes and scenes), av1an (for its --scenes), qpfile "
                "(for the --qpfile of encoders) or keyframes (for FFmpeg's -force_key_frames) "
                "(default: by the name of the output, else csv)"},
    GPUME_OPTIONS_VIDEO_LAST(OPTIONS, scene.video),
};

const struct gpume_command gpume_scenes_command = {
    .name = "scenes",
    .summary = "find the changes of scene in a video",
    .usage = "scenes INPUT [-o FILE] [options]\n"
             "scenes INPUT --format av1an --encoder E --target-psnr DB [options]",
    .about =
        "Finds cuts, dissolves, fades and wipes in a video by what it would cost to predict its "
        "frames from each other. INPUT is a video, a numbered pattern (frame%03d.png), or - "
        "for standard input.",
    GPUME_COMMAND_OPTIONS(table, struct scenes_options),
    .make_options = gpume_encoder_rows_make,
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = gpume_scene_options_default,
    .check = check_scenes_options,
    .run = run_scenes,
};
