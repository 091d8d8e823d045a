/* SPDX-License-Identifier: BSD-2-Clause */
#include "firstpass/report.h"

#include "console.h"
#include "files/forms.h"
#include "files/path.h"
#include "media/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT_BYTES 32
#define COLOURS_BYTES 96
#define FOLDER_BYTES 4096

static int refuse_memory(const struct gpume_firstpass_report *report)
{
    return gpume_refuse(GPUME_NOMEM, "%s: out of memory", report->name);
}

/* NAME-WIDTHxHEIGHT-RATEk, or -crf24: no two second passes share a name. */
static char *name_of(const char *name, const struct gpume_pass_video *video,
    const struct gpume_encode_target *target)
{
    const bool is_bitrate = target->goal == GPUME_GOAL_BITRATE;
    const size_t bytes = strlen(name) + 64;
    char *text = malloc(bytes), value[GPUME_TARGET_TEXT_BYTES];
    gpume_target_text(target, value);
    if (text) {
        snprintf(text, bytes, "%s-%" PRIu32 "x%" PRIu32 "-%s%s%s", name, video->width,
            video->height, is_bitrate ? "" : gpume_target_option(target->goal), value,
            is_bitrate ? "k" : "");
    }
    return text;
}

int gpume_firstpass_report_add(struct gpume_firstpass_report *report,
    const struct gpume_encode_options *options, const struct gpume_pass_video *video,
    const struct gpume_encode_target *target, const struct gpume_firstpass_entry **result)
{
    struct gpume_firstpass_entry *entries =
        realloc(report->entries, (report->count + 1) * sizeof(*entries));
    if (!entries) {
        return refuse_memory(report);
    }
    report->entries = entries;
    report->encoder = options->encoder;
    struct gpume_firstpass_entry *entry = &entries[report->count++];
    *entry = (struct gpume_firstpass_entry){
        .video = *video, .target = *target, .name = name_of(report->name, video, target)};
    *result = entry;
    if (entry->name) {
        entry->stats = gpume_path_join(entry->name, strlen(entry->name), options->encoder->stats);
    }
    if (entry->stats && options->tree) {
        entry->tree =
            gpume_path_join(entry->stats, strlen(entry->stats), options->encoder->offsets);
    }
    const bool has_qps = options->encoder->qps && gpume_goal_is_quality(target->goal);
    if (entry->stats && has_qps) {
        entry->qps = gpume_path_join(entry->stats, strlen(entry->stats), options->encoder->qps);
    }
    return entry->stats && (entry->tree || !options->tree) && (entry->qps || !has_qps)
               ? GPUME_OK
               : refuse_memory(report);
}

/* Y4M as the encoders' programs read it: with a known frame rate. */
static bool is_plain_y4m(const char *path)
{
    char head[256] = "";
    FILE *file = fopen(path, "rb");
    const char *rate = file && fgets(head, sizeof(head), file) ? strstr(head, " F") : NULL;
    if (file) {
        fclose(file);
    }
    return rate && strncmp(head, "YUV4MPEG2 ", 10) == 0 && strncmp(rate, " F0:", 4) != 0;
}

static void finish_commands(struct gpume_firstpass_entry *entry)
{
    gpume_argv_finish(&entry->ffmpeg);
    gpume_argv_finish(&entry->encoder);
    gpume_argv_finish(&entry->feed);
    entry->ffmpeg = entry->encoder = entry->feed = (struct gpume_argv){0};
}

/* FFmpeg's name of the format of what gpume filter writes. */
static const char *filtered_format(const struct gpume_source_info *info, char text[FORMAT_BYTES])
{
    static const char *const chroma[2][2] = {{"444", ""}, {"422", "420"}};
    if (info->chroma == GPUME_CHROMA_NONE) {
        return "gray";
    }
    const char *end = info->bits > 8 ? "le" : "";
    snprintf(text, FORMAT_BYTES, "yuv%sp%.0" PRIu32 "%s", chroma[info->chroma_x][info->chroma_y],
        info->bits > 8 ? info->bits : 0, end);
    return text;
}

/* What formats of the filtered video do not say of colours, for FFmpeg. NULL: nothing is known. */
static const char *filtered_colours(const struct gpume_source_info *info, char text[COLOURS_BYTES])
{
    const struct {
        const char *name;
        uint32_t code;
    } rows[] = {{"color_primaries", info->colours.primaries}, {"color_trc", info->colours.transfer},
        {"colorspace", info->colours.matrix}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].code != 0 && rows[i].code != GPUME_COLOUR_UNKNOWN) {
            used += (size_t)snprintf(text + used, COLOURS_BYTES - used, "%s%s=%" PRIu32,
                used > 0 ? ":" : "setparams=", rows[i].name, rows[i].code);
        }
    }
    if (info->full_range) {
        used += (size_t)snprintf(
            text + used, COLOURS_BYTES - used, "%srange=pc", used > 0 ? ":" : "setparams=");
    }
    return used > 0 ? text : NULL;
}

struct gpume_encode_options gpume_firstpass_second(
    const struct gpume_encode_options *options, const struct gpume_firstpass_entry *entry)
{
    struct gpume_encode_options second = *options;
    if (entry->outcome.wide_buffer > 0) {
        second.vbv_maxrate = second.vbv_bufsize = entry->outcome.wide_buffer;
    }
    return second;
}

int gpume_firstpass_report_make(struct gpume_firstpass_report *report,
    const struct gpume_encode_options *options, const struct gpume_firstpass_source *source)
{
    const struct gpume_source_info *info = source->info;
    const bool piped = source->filtered && !source->kept;
    const char *input = piped ? "-" : source->kept ? source->kept : source->input;
    struct stat status;
    const bool is_file = source->kept || (!piped && stat(input, &status) == 0);
    const bool is_y4m = source->kept ? gpume_picture_is_timeless(input)
                                     : is_file && S_ISREG(status.st_mode) && is_plain_y4m(input);
    uint64_t first_number = 0;
    if (!is_file && !piped) {
        (void)gpume_pattern_find_input(input, &first_number);
    }
    char format[FORMAT_BYTES], colours[COLOURS_BYTES];
    gpume_argv_finish(&report->filter);
    if (piped) {
        gpume_firstpass_filter_command(source->filtered, &report->filter);
    }
    report->frames = source->frames;
    for (size_t i = 0; i < report->count; i++) {
        struct gpume_firstpass_entry *entry = &report->entries[i];
        const struct gpume_encode_options second = gpume_firstpass_second(options, entry);
        const struct gpume_command_params params = {
            .options = &second,
            .input = input,
            .piped = piped,
            .is_file = is_file,
            .is_y4m = is_y4m,
            .is_list = info->list && !source->filtered,
            .first_number = first_number,
            .filter = source->filtered ? NULL : source->filter,
            .stated = source->filtered ? filtered_colours(info, colours) : NULL,
            .stream = info->streams > 1 && !source->filtered ? (int)info->stream : -1,
            .full_range = info->full_range,
            .chroma_place = info->chroma_x && info->chroma_y ? info->chroma_place : 0,
            .colours = &info->colours,
            .width = info->width,
            .height = info->height,
            .bits = info->bits,
            .pixel_format = source->filtered ? filtered_format(info, format) : info->pixel_format,
            .name = entry->name,
            .stats = entry->stats,
            .qps = entry->qps,
            .video = entry->video,
            .target = entry->outcome.target,
            .bitrate = entry->outcome.bitrate,
            .frames = source->frames,
        };
        finish_commands(entry); /* those of a CRF before it was corrected */
        gpume_command_ffmpeg(&entry->ffmpeg, &params);
        gpume_command_encoder(&entry->encoder, &params);
        gpume_command_feed(&entry->feed, &params);
        if (entry->ffmpeg.failed || entry->encoder.failed || entry->feed.failed ||
            report->filter.failed) {
            return refuse_memory(report);
        }
    }
    return GPUME_OK;
}

static void write_argv(struct gpume_json *json, const char *key, const struct gpume_argv *argv)
{
    if (argv->count > 0) {
        gpume_json_begin_list(json, key);
        for (size_t i = 0; i < argv->count; i++) {
            gpume_json_text(json, NULL, argv->items[i]);
        }
        gpume_json_end_list(json);
    }
}

/* What was asked, what that takes, and what comes of it. */
static void write_target(struct gpume_json *json, const struct gpume_firstpass_entry *entry)
{
    const struct gpume_pass_outcome *outcome = &entry->outcome;
    const enum gpume_goal asked = entry->target.goal, goal = outcome->target.goal;
    char value[GPUME_TARGET_TEXT_BYTES], key[32];
    if (asked == GPUME_GOAL_SIZE) {
        gpume_json_count(json, "target_size", entry->target.value);
    } else if (gpume_goal_is_fidelity(asked)) {
        gpume_target_text(&entry->target, value);
        snprintf(key, sizeof(key), "target_%s", gpume_target_option(asked));
        gpume_json_digits(json, key, value);
    }
    if (goal != GPUME_GOAL_BITRATE) {
        gpume_target_text(&outcome->target, value);
        gpume_json_digits(json, gpume_target_option(goal), value);
    }
    for (size_t i = 0; outcome->is_measured && i < GPUME_MEASURES; i++) {
        if (!isnan(outcome->expected[i])) {
            snprintf(key, sizeof(key), "expected_%s", gpume_measures[i].name);
            snprintf(
                value, sizeof(value), "%.*f", gpume_measures[i].decimals, outcome->expected[i]);
            gpume_json_digits(json, key, value);
        }
    }
}

struct scene_report {
    uint64_t first_frame, last_frame, bitrate;
    double crf, psnr, ssim, xpsnr;
};

static const struct gpume_column scene_columns[] = {
    {GPUME_COLUMN("first_frame", struct scene_report, first_frame)},
    {GPUME_COLUMN("last_frame", struct scene_report, last_frame)},
    {GPUME_COLUMN("crf", struct scene_report, crf), .decimals = 2},
    {GPUME_COLUMN("expected_bitrate", struct scene_report, bitrate)},
    {GPUME_COLUMN("expected_psnr", struct scene_report, psnr), .decimals = 2},
    {GPUME_COLUMN("expected_ssim", struct scene_report, ssim), .decimals = 4},
    {GPUME_COLUMN("expected_xpsnr", struct scene_report, xpsnr), .decimals = 2},
};
static const struct gpume_table scenes = {GPUME_TABLE(scene_columns, struct scene_report)};

/* Of a second pass whose scenes have CRFs of their own. */
static void write_scenes(struct gpume_json *json, const struct gpume_firstpass_report *report,
    const struct gpume_firstpass_entry *entry)
{
    const size_t index = (size_t)(entry - report->entries);
    struct gpume_pass_scene scene;
    for (size_t i = 0; gpume_pass_scene(report->pass, index, i, &scene); i++) {
        const double seconds = (double)scene.frames * entry->video.rate_den / entry->video.rate_num;
        const struct scene_report row = {
            .first_frame = scene.first,
            .last_frame = scene.first + scene.frames - 1,
            .bitrate = (uint64_t)((double)scene.bits / seconds),
            .crf = (double)scene.crf / 100,
            .psnr = scene.expected[GPUME_MEASURE_PSNR],
            .ssim = scene.expected[GPUME_MEASURE_SSIM],
            .xpsnr = scene.expected[GPUME_MEASURE_XPSNR],
        };
        if (i == 0) {
            gpume_json_begin_list(json, "scenes");
        }
        gpume_table_json(&scenes, NULL, &row, 1, json);
    }
    if (gpume_pass_scene(report->pass, index, 0, &scene)) {
        gpume_json_end_list(json);
    }
}

static void write_entry(struct gpume_json *json, const struct gpume_firstpass_report *report,
    const struct gpume_firstpass_entry *entry)
{
    gpume_json_begin(json, NULL);
    gpume_json_text(json, "encoder", report->encoder->name);
    gpume_json_count(json, "bitrate", entry->outcome.bitrate);
    write_target(json, entry);
    write_scenes(json, report, entry);
    gpume_json_count(json, "width", entry->video.width);
    gpume_json_count(json, "height", entry->video.height);
    gpume_json_count(json, "frames", report->frames);
    gpume_json_begin_list(json, "files");
    gpume_json_text(json, NULL, entry->stats);
    if (entry->tree) {
        gpume_json_text(json, NULL, entry->tree);
    }
    if (entry->qps) {
        gpume_json_text(json, NULL, entry->qps);
    }
    gpume_json_end_list(json);
    gpume_json_begin(json, "commands");
    write_argv(json, "filter", &report->filter);
    write_argv(json, "ffmpeg", &entry->ffmpeg);
    write_argv(json, report->encoder->name, &entry->encoder);
    write_argv(json, "feed", &entry->feed);
    gpume_json_end(json);
    gpume_json_end(json);
}

int gpume_firstpass_report_write(const struct gpume_firstpass_report *report, struct gpume_out *out)
{
    struct gpume_json json = {.out = out};
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "format", 1);
    gpume_json_text(&json, "gpume", gpume_version());
    gpume_json_begin_list(&json, "runs");
    for (size_t i = 0; i < report->count; i++) {
        write_entry(&json, report, &report->entries[i]);
    }
    gpume_json_end_list(&json);
    gpume_json_end(&json);
    return gpume_out_text(out, "\n");
}

/* Names with control characters, which a terminal would obey: $'a\033b'. */
static void print_escaped(const char *text)
{
    size_t bytes = 0;
    fputs("$'", stdout);
    for (; *text; text += bytes) {
        const size_t control = gpume_visible_control(text, &bytes);
        for (size_t i = 0; i < control; i++) {
            printf("\\%03o", (unsigned)(unsigned char)text[i]);
        }
        if (control == 0) {
            fputs(*text == '\'' || *text == '\\' ? "\\" : "", stdout);
            fwrite(text, 1, bytes, stdout);
        }
    }
    putchar('\'');
}

static bool has_control(const char *text)
{
    size_t bytes = 0;
    while (*text && gpume_visible_control(text, &bytes) == 0) {
        text += bytes;
    }
    return *text != '\0';
}

/* An argument as a shell reads it. */
static void print_quoted(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    if (text[0] && text[strspn(text, plain)] == '\0') {
        fputs(text, stdout);
        return;
    }
    if (has_control(text)) {
        print_escaped(text);
        return;
    }
    putchar('\'');
    for (; *text; text++) {
        fputs(*text == '\'' ? "'\\''" : (const char[]){*text, '\0'}, stdout);
    }
    putchar('\'');
}

static void print_argv(const struct gpume_argv *argv, const char *end)
{
    for (size_t i = 0; i < argv->count; i++) {
        fputs(i > 0 ? " " : "", stdout);
        print_quoted(argv->items[i]);
    }
    fputs(argv->count > 0 ? end : "", stdout);
}

static void print_target(const struct gpume_firstpass_entry *entry, bool is_split)
{
    const struct gpume_pass_outcome *outcome = &entry->outcome;
    const enum gpume_goal asked = entry->target.goal, goal = outcome->target.goal;
    char value[GPUME_TARGET_TEXT_BYTES];
    printf("# %" PRIu32 "x%" PRIu32 ", ", entry->video.width, entry->video.height);
    if (asked != goal) {
        gpume_target_text(&entry->target, value);
        printf("%s %s: ", gpume_target_option(asked), value);
    }
    gpume_target_text(&outcome->target, value);
    if (goal == GPUME_GOAL_BITRATE) {
        printf("%s kbit/s", value);
        return;
    }
    printf("%s%s %s, expected to take %" PRIu64 " kbit/s", is_split ? "mean " : "",
        gpume_target_option(goal), value, outcome->bitrate / 1000);
    if (outcome->is_measured) {
        const struct gpume_measure *measure = gpume_measure_of(asked);
        measure = measure ? measure : &gpume_measures[GPUME_MEASURE_PSNR];
        printf(" and to have %s %s of %.*f%s", measure->article, measure->people, measure->digits,
            outcome->expected[measure - gpume_measures], measure->unit);
    }
}

/* Where a program that hangs without its files finds them. */
static void print_folder(const struct gpume_encoder *encoder, const char *stats)
{
    char folder[FOLDER_BYTES];
    if (encoder->hangs && stats[0] != '/' && getcwd(folder, sizeof(folder))) {
        fputs("# run this in ", stdout);
        print_quoted(folder);
        printf(": %s hangs if it cannot find these files\n", encoder->name);
    }
}

void gpume_firstpass_report_print(const struct gpume_firstpass_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct gpume_firstpass_entry *entry = &report->entries[i];
        const bool same = gpume_command_ffmpeg_keeps(report->encoder, entry->outcome.target.goal);
        struct gpume_pass_scene scene;
        print_target(entry, gpume_pass_scene(report->pass, i, 0, &scene));
        printf(", %" PRIu64 " frame%s\n", report->frames, gpume_plural(report->frames));
        if (!same) {
            printf(
                "# %s of ffmpeg cannot read QPs of frames: this line aims at the expected bitrate, "
                "so the quality can differ by some dB\n",
                report->encoder->library);
        }
        if (entry->ffmpeg.count > 0) {
            print_argv(&report->filter, " | ");
            print_argv(&entry->ffmpeg, "\n");
        }
        if (entry->encoder.count > 0) {
            const struct gpume_encoder *encoder = report->encoder;
            const char *with = !same                     ? "constant quality with"
                               : entry->ffmpeg.count > 0 ? "the same with"
                                                         : "with";
            printf("# %s %s\n", with, encoder->program ? encoder->program : encoder->name);
        }
        if (entry->encoder.count > 0) {
            print_folder(report->encoder, entry->stats);
            print_argv(&report->filter, " | ");
            print_argv(&entry->feed, " | ");
            print_argv(&entry->encoder, "\n");
        }
    }
}

static void finish_entry(struct gpume_firstpass_entry *entry)
{
    finish_commands(entry);
    free(entry->name);
    free(entry->stats);
    free(entry->tree);
    free(entry->qps);
}

void gpume_firstpass_report_finish(struct gpume_firstpass_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        finish_entry(&report->entries[i]);
    }
    free(report->entries);
    gpume_argv_finish(&report->filter);
}
