/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/commands.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gpume_argv_finish(struct gpume_argv *argv)
{
    for (size_t i = 0; i < argv->count; i++) {
        free(argv->items[i]);
    }
    free(argv->items);
    *argv = (struct gpume_argv){0};
}

GPUME_PRINTF(2, 3) static void add(struct gpume_argv *argv, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    char *text = malloc((size_t)length + 1);
    char **items = realloc(argv->items, (argv->count + 1) * sizeof(*items));
    argv->items = items ? items : argv->items;
    if (!text || !items) {
        argv->failed = true;
        free(text);
        return;
    }
    va_start(values, format);
    vsnprintf(text, (size_t)length + 1, format, values);
    va_end(values);
    argv->items[argv->count++] = text;
}

static void add_pair(struct gpume_argv *argv, const char *name, const char *value)
{
    add(argv, "%s", name);
    add(argv, "%s", value);
}

/* What FFmpeg would take for a protocol may be a file's name. An input that is called like the word
 * for the output gets another spelling: a program replaces that word wherever it stands. */
static void add_input(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    const bool is_name = params->is_file && strchr(params->input, ':');
    if (params->is_list) {
        add_pair(argv, "-safe", "0"); /* takes absolute names, as gpume does */
    }
    if (params->first_number > 0) {
        add(argv, "-start_number");
        add(argv, "%" PRIu64, params->first_number);
    }
    add(argv, "-i");
    const bool is_word = strcmp(params->input, GPUME_COMMAND_OUTPUT) == 0;
    add(argv, "%s%s", is_name ? "file:" : is_word ? "./" : "", params->input);
}

static bool is_scaled(const struct gpume_command_params *params)
{
    return params->video.width != params->width || params->video.height != params->height;
}

/* Of a graph without the label of its output, "[out]" at its end. */
static size_t unlabelled_length(const char *graph)
{
    size_t length = strlen(graph);
    while (length > 0 && strchr(" \t\n", graph[length - 1])) {
        length--;
    }
    const char *label = length > 0 && graph[length - 1] == ']' ? strrchr(graph, '[') : NULL;
    return label ? (size_t)(label - graph) : length;
}

char *gpume_command_scaling(const char *filter, uint32_t width, uint32_t height)
{
    const char *graph = filter ? filter : "";
    const size_t length = unlabelled_length(graph), bytes = length + 64;
    char *scaling = malloc(bytes);
    if (scaling) {
        snprintf(scaling, bytes, "%.*s%sscale=%" PRIu32 ":%" PRIu32, (int)length, graph,
            length > 0 ? "," : "", width, height);
    }
    return scaling;
}

static void add_filter(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    if (is_scaled(params)) {
        char *scaling =
            gpume_command_scaling(params->filter, params->video.width, params->video.height);
        argv->failed |= !scaling;
        add_pair(argv, "-vf", scaling ? scaling : "");
        free(scaling);
    } else if (params->filter) {
        add_pair(argv, "-vf", params->filter);
    }
}

/* 8-bit frames of full range keep it: ffmpeg has a format of its own for them. */
static bool keeps_full_range(const struct gpume_command_params *params)
{
    return params->full_range && params->options->bits == 8 &&
           strncmp(params->pixel_format, "yuv", 3) == 0;
}

/* ffmpeg up to the codec. No frame is dropped or repeated, so that frames keep their numbers, and
 * none is rotated: the analysis takes them as they are coded. */
static void add_decoding(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    add_pair(argv, "ffmpeg", "-nostdin");
    add(argv, "-noautorotate");
    add_input(argv, params);
    if (params->stream >= 0) {
        add(argv, "-map");
        add(argv, "0:v:%d", params->stream);
    }
    add_filter(argv, params);
    add_pair(argv, "-fps_mode", "passthrough");
    add(argv, "-enc_time_base:v"); /* without :v it would round the times of sound, too */
    add(argv, "%" PRIu32 ":%" PRIu32, params->video.rate_den, params->video.rate_num);
    add(argv, "-frames:v");
    add(argv, "%" PRIu64, params->frames);
    add(argv, "-pix_fmt");
    if (params->options->bits > 8) {
        add(argv, "yuv420p%" PRIu32 "le", params->options->bits);
    } else {
        add(argv, keeps_full_range(params) ? "yuvj420p" : "yuv420p");
    }
}

#define LIST_BYTES 1024
/* What the program x265 reads as Y4M; libx265 takes more. */
#define X265_SIDE_MIN 64u
#define X265_WIDTH_MAX 8192u
#define X265_HEIGHT_MAX 4320u
#define X265_RATE_MAX 300u /* per second; at least 1 */

/* All options as NAME=VALUE:NAME=VALUE... */
static void list_options(const struct gpume_encode_options *options, char list[LIST_BYTES])
{
    const struct gpume_encode_option *option = NULL;
    size_t used = 0;
    while ((option = gpume_encode_option_next(option, options->encoder)) != NULL) {
        char value[GPUME_ENCODE_TEXT_BYTES];
        if (gpume_encode_option_is_given(option, options)) {
            gpume_encode_option_text(option, options, value);
            used += (size_t)snprintf(
                list + used, LIST_BYTES - used, "%s%s=%s", used ? ":" : "", option->name, value);
        }
    }
}

/* A value in a list of NAME=VALUE:... For free(); NULL without memory. */
static char *escape(const char *value)
{
    char *text = malloc(2 * strlen(value) + 1), *at = text;
    for (; text && *value; value++) {
        if (strchr("\\:' \t\n\r", *value)) { /* blanks, which would be cut off at both ends */
            *at++ = '\\';
        }
        *at++ = *value;
    }
    if (text) {
        *at = '\0';
    }
    return text;
}

/* "pass=2:stats=..." and all options. For free(); NULL without memory. */
static char *list_pass(const struct gpume_encode_options *options,
    const struct gpume_pass_video *video, int pass, const char *stats)
{
    char list[LIST_BYTES];
    char *escaped = escape(stats);
    const size_t bytes = escaped ? strlen(escaped) + LIST_BYTES + 64 : 0;
    char *text = escaped ? malloc(bytes) : NULL;
    list_options(options, list);
    if (text) {
        snprintf(text, bytes, "pass=%d:stats=%s:fps=%" PRIu32 "/%" PRIu32 ":%s", pass, escaped,
            video->rate_num, video->rate_den, list);
    }
    free(escaped);
    return text;
}

char *gpume_command_settings(const struct gpume_encode_options *options,
    const struct gpume_pass_video *video, int pass, const char *stats)
{
    const bool x265 = options->encoder == GPUME_ENCODER_X265;
    char *list = list_pass(options, video, pass, stats);
    char *escaped = list ? escape(list) : NULL;
    const size_t bytes = escaped ? strlen(escaped) + 64 : 0;
    char *settings = escaped ? malloc(bytes) : NULL;
    if (settings) {
        snprintf(settings, bytes, "%s-params=%s%s", gpume_encoder_name(options->encoder), escaped,
            x265 ? "\\:log-level=none" : "");
    }
    free(escaped);
    free(list);
    return settings;
}

/* libx265 has no options of its own for two passes. */
static void add_x265_params(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    char *stats = gpume_pass_stats_path(GPUME_ENCODER_X265, params->name);
    char *list = stats ? list_pass(params->options, &params->video, 2, stats) : NULL;
    argv->failed |= !list;
    add_pair(argv, "-x265-params", list ? list : "");
    free(list);
    free(stats);
}

static void add_x264_params(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    char list[LIST_BYTES];
    list_options(params->options, list);
    add_pair(argv, "-x264-params", list);
    add_pair(argv, "-pass", "2");
    add_pair(argv, "-passlogfile", params->name);
}

void gpume_command_ffmpeg(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    const enum gpume_encoder encoder = params->options->encoder;
    add_decoding(argv, params);
    if (params->stream >= 0) { /* what ffmpeg adds where no stream is chosen */
        add_pair(argv, "-map", "0:a?");
    }
    add(argv, "-c:v");
    add(argv, "lib%s", gpume_encoder_name(encoder));
    add_pair(argv, "-preset", params->options->preset);
    if (params->options->tune) {
        add_pair(argv, "-tune", params->options->tune);
    }
    add(argv, "-b:v");
    add(argv, "%" PRIu64, params->bitrate);
    if (encoder == GPUME_ENCODER_X264) {
        add_x264_params(argv, params);
    } else {
        add_x265_params(argv, params);
    }
    add(argv, GPUME_COMMAND_OUTPUT);
}

/* Can the encoder's program itself read the frames that gpume has analysed? Only from Y4M: in other
 * inputs, x264's readers choose other frames (at edit lists) and streams, and take other names.
 * x265 would keep the chroma of Y4M, but the second pass needs 4:2:0; x264 also reads 4:2:2 and
 * 4:4:4, but no other. */
static bool reads_input(const struct gpume_command_params *params)
{
    const char *dot = strrchr(params->input, '.'), *format = params->pixel_format;
    const bool x264 = params->options->encoder == GPUME_ENCODER_X264;
    return params->is_y4m && dot && strcmp(dot, ".y4m") == 0 && !params->filter &&
           !is_scaled(params) && params->bits == params->options->bits &&
           !strchr(params->input, '%') &&
           (strncmp(format, "yuv420p", 7) == 0 ||
               (x264 &&
                   (strncmp(format, "yuv422p", 7) == 0 || strncmp(format, "yuv444p", 7) == 0)));
}

/* Can it read such frames at all? */
static bool program_reads(const struct gpume_command_params *params)
{
    const struct gpume_pass_video *video = &params->video;
    return params->options->encoder != GPUME_ENCODER_X265 ||
           (video->width >= X265_SIDE_MIN && video->height >= X265_SIDE_MIN &&
               video->width <= X265_WIDTH_MAX && video->height <= X265_HEIGHT_MAX &&
               video->rate_num >= video->rate_den &&
               video->rate_num <= (uint64_t)X265_RATE_MAX * video->rate_den);
}

void gpume_command_feed(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    if (!program_reads(params) || reads_input(params)) {
        return;
    }
    add_decoding(argv, params);
    add_pair(argv, "-v", "error");
    add_pair(argv, "-strict", "-1"); /* for more than 8 bits */
    add_pair(argv, "-f", "yuv4mpegpipe");
    add(argv, "-");
}

static void add_options(struct gpume_argv *argv, const struct gpume_encode_options *options)
{
    const struct gpume_encode_option *option = NULL;
    while ((option = gpume_encode_option_next(option, options->encoder)) != NULL) {
        char value[GPUME_ENCODE_TEXT_BYTES];
        if (!gpume_encode_option_is_given(option, options)) {
            continue;
        }
        gpume_encode_option_text(option, options, value);
        if (!gpume_encode_option_is_switch(option)) {
            add(argv, "--%s", option->name);
            add(argv, "%s", value);
        } else if (gpume_encode_option_number(option, options) > 0) {
            add(argv, "--%s", option->name);
        } else if (!(option->has_no_no & 1u << options->encoder)) {
            add(argv, "--no-%s", option->name);
        }
    }
}

static void add_ends(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    const char *input = reads_input(params) ? params->input : "-";
    if (keeps_full_range(params)) {
        add_pair(argv, "--range", params->options->encoder == GPUME_ENCODER_X264 ? "pc" : "full");
    }
    if (params->options->encoder == GPUME_ENCODER_X265) {
        add(argv, "--y4m");
        add_pair(argv, "--input", input);
        add_pair(argv, "-o", GPUME_COMMAND_OUTPUT);
        return;
    }
    add_pair(argv, "--force-cfr", "--no-interlaced");
    if (strcmp(input, "-") == 0) {
        add_pair(argv, "--demuxer", "y4m");
    }
    add_pair(argv, "-o", GPUME_COMMAND_OUTPUT);
    add(argv, "%s%s", input[0] == '-' && input[1] ? "./" : "", input);
}

void gpume_command_encoder(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    const enum gpume_encoder encoder = params->options->encoder;
    if (!program_reads(params)) {
        return;
    }
    char *stats = gpume_pass_stats_path(encoder, params->name);
    argv->failed |= !stats;
    add(argv, "%s", gpume_encoder_name(encoder));
    add_pair(argv, "--preset", params->options->preset);
    if (params->options->tune) {
        add_pair(argv, "--tune", params->options->tune);
    }
    add_pair(argv, "--pass", "2");
    add_pair(argv, "--stats", stats ? stats : "");
    add(argv, "--bitrate");
    add(argv, "%" PRIu64, params->bitrate / 1000);
    add_options(argv, params->options);
    add(argv, "--output-depth");
    add(argv, "%" PRIu32, params->options->bits);
    add(argv, "--fps");
    add(argv, "%" PRIu32 "/%" PRIu32, params->video.rate_num, params->video.rate_den);
    add(argv, "--frames");
    add(argv, "%" PRIu64, params->frames);
    add_ends(argv, params);
    free(stats);
}
