/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/commands.h"

#include "base/colours.h"
#include "encode/encoder.h"

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

void gpume_argv_add(struct gpume_argv *argv, const char *format, ...)
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

void gpume_argv_add_pair(struct gpume_argv *argv, const char *name, const char *value)
{
    gpume_argv_add(argv, "%s", name);
    gpume_argv_add(argv, "%s", value);
}

/* A file whose name looks like a protocol gets "file:" before it. An input that has the name of
 * the placeholder gets "./" before it, since programs replace every such argument. */
static void add_input(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    const bool is_name = params->is_file && strchr(params->input, ':');
    if (params->is_list) {
        gpume_argv_add_pair(argv, "-safe", "0"); /* takes absolute names, as gpume does */
    }
    if (params->first_number > 0) {
        gpume_argv_add(argv, "-start_number");
        gpume_argv_add(argv, "%" PRIu64, params->first_number);
    }
    gpume_argv_add(argv, "-i");
    const bool is_word = strcmp(params->input, GPUME_COMMAND_OUTPUT) == 0;
    gpume_argv_add(argv, "%s%s", is_name ? "file:" : is_word ? "./" : "", params->input);
}

static bool is_scaled(const struct gpume_command_params *params)
{
    return params->video.width != params->width || params->video.height != params->height;
}

/* The length of a graph without the label of its output, such as "[out]". */
static size_t unlabelled_length(const char *graph)
{
    size_t length = strlen(graph);
    while (length > 0 && strchr(" \t\n", graph[length - 1])) {
        length--;
    }
    const char *label = length > 0 && graph[length - 1] == ']' ? strrchr(graph, '[') : NULL;
    return label ? (size_t)(label - graph) : length;
}

char *gpume_command_scaling(const char *filter, uint32_t width, uint32_t height, bool full_range)
{
    const char *graph = filter ? filter : "";
    const size_t length = unlabelled_length(graph), bytes = length + 64;
    char *scaling = malloc(bytes);
    if (scaling) {
        snprintf(scaling, bytes, "%.*s%sscale=%" PRIu32 ":%" PRIu32 "%s", (int)length, graph,
            length > 0 ? "," : "", width, height, full_range ? ":out_range=full" : "");
    }
    return scaling;
}

static bool keeps_full_range(const struct gpume_command_params *params)
{
    return params->full_range && strncmp(params->pixel_format, "yuv", 3) == 0;
}

/* ffmpeg has a format for full range with 8 bits alone. With more, what it does differs between its
 * versions, unless it is told. */
static void add_filter(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    const bool is_deep = params->options->bits > 8 && keeps_full_range(params);
    const char *filter = params->filter ? params->filter : params->stated;
    if (is_scaled(params) || is_deep) {
        char *scaling =
            gpume_command_scaling(filter, params->video.width, params->video.height, is_deep);
        argv->failed |= !scaling;
        gpume_argv_add_pair(argv, "-vf", scaling ? scaling : "");
        free(scaling);
    } else if (filter) {
        gpume_argv_add_pair(argv, "-vf", filter);
    }
}

/* ffmpeg up to the codec. No frame is dropped or repeated, so that frames keep their numbers, and
 * none is rotated: the analysis takes them as they are coded. */
static void add_decoding(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    gpume_argv_add_pair(argv, "ffmpeg", "-nostdin");
    gpume_argv_add(argv, "-noautorotate");
    add_input(argv, params);
    if (params->stream >= 0) {
        gpume_argv_add(argv, "-map");
        gpume_argv_add(argv, "0:v:%d", params->stream);
    }
    add_filter(argv, params);
    gpume_argv_add_pair(argv, "-fps_mode", "passthrough");
    gpume_argv_add(
        argv, "-enc_time_base:v"); /* without :v it would round the times of sound, too */
    gpume_argv_add(argv, "%" PRIu32 ":%" PRIu32, params->video.rate_den, params->video.rate_num);
    gpume_argv_add(argv, "-frames:v");
    gpume_argv_add(argv, "%" PRIu64, params->frames);
    gpume_argv_add(argv, "-pix_fmt");
    if (params->options->bits > 8) {
        gpume_argv_add(argv, "yuv420p%" PRIu32 "le", params->options->bits);
    } else {
        gpume_argv_add(argv, keeps_full_range(params) ? "yuvj420p" : "yuv420p");
    }
}

/* A number of parts, of which `one` are 1: as a whole number of parts, or with five decimals, which
 * are exact. */
#define NUMBER_BYTES 32
static void print_parts(uint32_t parts, uint32_t one, bool decimals, char text[NUMBER_BYTES])
{
    const uint64_t fraction = (uint64_t)(parts % one) * 100000 / one; /* without a rest */
    if (decimals) {
        snprintf(text, NUMBER_BYTES, "%" PRIu32 ".%05" PRIu64, parts / one, fraction);
    } else {
        snprintf(text, NUMBER_BYTES, "%" PRIu32, parts);
    }
}

/* "G(x,y)B(x,y)R(x,y)WP(x,y)L(max,min)" */
#define DISPLAY_BYTES 320
static void print_display(
    const struct gpume_colours *colours, bool decimals, char text[DISPLAY_BYTES])
{
    static const char *const names[GPUME_DISPLAY_POINTS] = {"G", "B", "R", "WP"};
    char first[NUMBER_BYTES], second[NUMBER_BYTES];
    text[0] = '\0';
    for (int i = 0; i < GPUME_DISPLAY_POINTS; i++) {
        print_parts(colours->display[i].x, GPUME_CHROMATICITY_ONE, decimals, first);
        print_parts(colours->display[i].y, GPUME_CHROMATICITY_ONE, decimals, second);
        gpume_text_join(text, DISPLAY_BYTES, "", "%s(%s,%s)", names[i], first, second);
    }
    print_parts(colours->brightest, GPUME_LUMINANCE_ONE, decimals, first);
    print_parts(colours->darkest, GPUME_LUMINANCE_ONE, decimals, second);
    gpume_text_join(text, DISPLAY_BYTES, "", "L(%s,%s)", first, second);
}

static void add_value(struct gpume_argv *argv, const struct gpume_colour_options *options,
    const char *name, const char *value)
{
    if (options->joins) {
        gpume_argv_add(argv, "--%s=%s", name, value);
    } else {
        gpume_argv_add(argv, "--%s", name);
        gpume_argv_add(argv, "%s", value);
    }
}

static void add_code(struct gpume_argv *argv, const struct gpume_colour_options *options,
    const struct gpume_coded_option *option, uint32_t code)
{
    char number[NUMBER_BYTES];
    if (code < option->count && (!option->words || option->words[code])) {
        snprintf(number, sizeof(number), "%" PRIu32, code);
        add_value(argv, options, option->name, option->words ? option->words[code] : number);
    }
}

/* One that says something: matrix 0 is that of RGB. */
static void add_said(struct gpume_argv *argv, const struct gpume_colour_options *options,
    const struct gpume_coded_option *option, uint32_t code)
{
    if (code != 0 && code != GPUME_COLOUR_UNKNOWN) {
        add_code(argv, options, option, code);
    }
}

void gpume_command_add_colours(struct gpume_argv *argv, const struct gpume_colour_options *options,
    const struct gpume_command_params *params)
{
    const struct gpume_colours *colours = params->colours;
    const bool is_limited = params->full_range || colours->limited; /* or has become so */
    char text[DISPLAY_BYTES];
    add_said(argv, options, &options->primaries, colours->primaries);
    add_said(argv, options, &options->transfer, colours->transfer);
    add_said(argv, options, &options->matrix, colours->matrix);
    add_code(argv, options, &options->range,
        keeps_full_range(params) ? GPUME_RANGE_FULL
        : is_limited             ? GPUME_RANGE_LIMITED
                                 : GPUME_RANGE_UNSAID);
    add_said(argv, options, &options->place, (uint32_t)params->chroma_place);
    if (colours->has_display && options->display) {
        print_display(colours, options->has_decimals, text);
        add_value(argv, options, options->display, text);
    }
    if (colours->has_light && options->light) {
        snprintf(text, sizeof(text), "%" PRIu32 ",%" PRIu32, colours->light_most,
            colours->light_average);
        add_value(argv, options, options->light, text);
    }
}

#define LIST_BYTES 1024

/* All options as NAME=VALUE:NAME=VALUE..., and of colours what ffmpeg itself does not tell
 * libraries in all its versions: the light. colours NULL: none. */
static void list_options(const struct gpume_encode_options *options,
    const struct gpume_colours *colours, char list[LIST_BYTES])
{
    const struct gpume_encoder *encoder = options->encoder;
    char display[DISPLAY_BYTES];
    list[0] = '\0';
    for (const struct gpume_encode_option *o = options->encoder->options; o->name; o++) {
        char value[GPUME_ENCODE_TEXT_BYTES];
        if (gpume_encode_option_is_given(o, options)) {
            gpume_encode_option_text(o, options, value);
            gpume_text_join(list, LIST_BYTES, ":", "%s=%s", o->name, value);
        }
    }
    if (colours && colours->has_display) {
        print_display(colours, encoder->colours.has_decimals, display);
        gpume_text_join(list, LIST_BYTES, ":", "%s=%s", encoder->colours.display, display);
    }
    if (colours && colours->has_light) {
        gpume_text_join(list, LIST_BYTES, ":", "%s=%" PRIu32 ",%" PRIu32, encoder->colours.light,
            colours->light_most, colours->light_average);
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
    const struct gpume_pass_video *video, int pass, const char *stats,
    const struct gpume_colours *colours)
{
    char list[LIST_BYTES];
    char *escaped = escape(stats);
    const size_t bytes = escaped ? strlen(escaped) + LIST_BYTES + 64 : 0;
    char *text = escaped ? malloc(bytes) : NULL;
    list_options(options, colours, list);
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
    const struct gpume_encoder *encoder = options->encoder;
    char *list = list_pass(options, video, pass, stats, NULL);
    char *escaped = list ? escape(list) : NULL;
    const size_t bytes = escaped ? strlen(escaped) + 64 : 0;
    char *settings = escaped ? malloc(bytes) : NULL;
    if (settings) {
        const char *quiet = encoder->ffmpeg_quiet;
        snprintf(settings, bytes, "%s=%s%s%s", encoder->ffmpeg_params, escaped, quiet ? "\\:" : "",
            quiet ? quiet : "");
    }
    free(escaped);
    free(list);
    return settings;
}

/* The list of the encoder's options, and ffmpeg's own options for two passes, if the encoder reads
 * them. */
static void add_ffmpeg_params(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    const struct gpume_encoder *encoder = params->options->encoder;
    gpume_argv_add(argv, "-%s", encoder->ffmpeg_params);
    if (encoder->ffmpeg_passes) {
        char list[LIST_BYTES];
        list_options(params->options, params->colours, list);
        gpume_argv_add(argv, "%s", list);
        gpume_argv_add_pair(argv, "-pass", "2");
        gpume_argv_add_pair(argv, "-passlogfile", params->name);
    } else {
        char *list = list_pass(params->options, &params->video, 2, params->stats, params->colours);
        argv->failed |= !list;
        gpume_argv_add(argv, "%s", list ? list : "");
        free(list);
    }
}

bool gpume_command_ffmpeg_keeps(const struct gpume_encoder *encoder, enum gpume_goal goal)
{
    return !gpume_goal_is_quality(goal) || !encoder->qps;
}

/* An option of quality makes an encoder take the QPs of the files, whatever its value. */
static void add_quality(
    struct gpume_argv *argv, const char *option, const struct gpume_encode_target *target)
{
    char value[GPUME_TARGET_TEXT_BYTES];
    gpume_target_text(target, value);
    gpume_argv_add_pair(argv, option, value);
}

void gpume_command_ffmpeg(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    const bool is_bitrate = params->target.goal == GPUME_GOAL_BITRATE;
    const struct gpume_encoder *encoder = params->options->encoder;
    if (!encoder->library || !params->stats) {
        return;
    }
    add_decoding(argv, params);
    if (params->stream >= 0) { /* what ffmpeg adds where no stream is chosen */
        gpume_argv_add_pair(argv, "-map", "0:a?");
    }
    gpume_argv_add_pair(argv, "-c:v", encoder->library);
    gpume_argv_add_pair(argv, "-preset", params->options->preset);
    if (params->options->tune) {
        gpume_argv_add_pair(argv, "-tune", params->options->tune);
    }
    if (!is_bitrate && gpume_command_ffmpeg_keeps(encoder, params->target.goal)) {
        add_quality(argv, "-crf", &params->target);
    } else {
        gpume_argv_add(argv, "-b:v");
        gpume_argv_add(argv, "%" PRIu64, params->bitrate);
    }
    add_ffmpeg_params(argv, params);
    gpume_argv_add(argv, GPUME_COMMAND_OUTPUT);
}

/* Whether the encoder's program itself can read the frames that gpume has analysed: only from Y4M.
 * In other inputs, encoders' readers choose other frames (at edit lists) and streams, and take
 * other names. */
static bool reads_input(const struct gpume_command_params *params)
{
    const char *dot = strrchr(params->input, '.');
    const char *const *format = params->options->encoder->y4m_formats;
    while (*format && strncmp(params->pixel_format, *format, strlen(*format)) != 0) {
        format++;
    }
    const bool is_named = params->is_y4m && dot && strcmp(dot, ".y4m") == 0 && !params->filter &&
                          !strchr(params->input, '%');
    return (params->piped || is_named) && !is_scaled(params) &&
           params->bits == params->options->bits && *format;
}

static bool program_reads(const struct gpume_command_params *params)
{
    const struct gpume_encoder *encoder = params->options->encoder;
    return !encoder->program_reads || encoder->program_reads(&params->video);
}

void gpume_command_feed(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    if (!program_reads(params) || reads_input(params)) {
        return;
    }
    add_decoding(argv, params);
    gpume_argv_add_pair(argv, "-v", "error");
    gpume_argv_add_pair(argv, "-strict", "-1"); /* for more than 8 bits */
    gpume_argv_add_pair(argv, "-f", "yuv4mpegpipe");
    gpume_argv_add(argv, "-");
}

void gpume_command_add_second_pass(
    struct gpume_argv *argv, const struct gpume_command_params *params)
{
    const struct gpume_encode_options *options = params->options;
    gpume_argv_add(argv, "%s", options->encoder->name);
    gpume_argv_add_pair(argv, "--preset", options->preset);
    if (options->tune) {
        gpume_argv_add_pair(argv, "--tune", options->tune);
    }
    if (params->stats) {
        gpume_argv_add_pair(argv, "--pass", "2");
        gpume_argv_add_pair(argv, "--stats", params->stats);
    }
    if (params->target.goal != GPUME_GOAL_BITRATE && !params->qps) {
        add_quality(argv, "--crf", &params->target);
    } else {
        gpume_argv_add(argv, "--bitrate");
        gpume_argv_add(argv, "%" PRIu64, params->bitrate / 1000);
    }
    if (params->qps) {
        gpume_argv_add_pair(argv, "--qpfile", params->qps);
    }
    for (const struct gpume_encode_option *o = options->encoder->options; o->name; o++) {
        char value[GPUME_ENCODE_TEXT_BYTES];
        if (!gpume_encode_option_is_given(o, options)) {
            continue;
        }
        gpume_encode_option_text(o, options, value);
        if (!gpume_encode_option_is_switch(o)) {
            gpume_argv_add(argv, "--%s", o->name);
            gpume_argv_add(argv, "%s", value);
        } else if (gpume_encode_option_value(o, options) > 0) {
            gpume_argv_add(argv, "--%s", o->name);
        } else if (!o->has_no_no) {
            gpume_argv_add(argv, "--no-%s", o->name);
        }
    }
    gpume_argv_add(argv, "--output-depth");
    gpume_argv_add(argv, "%" PRIu32, options->bits);
    gpume_argv_add(argv, "--fps");
    gpume_argv_add(argv, "%" PRIu32 "/%" PRIu32, params->video.rate_num, params->video.rate_den);
    gpume_argv_add(argv, "--frames");
    gpume_argv_add(argv, "%" PRIu64, params->frames);
    gpume_command_add_colours(argv, &options->encoder->colours, params);
}

void gpume_command_encoder(struct gpume_argv *argv, const struct gpume_command_params *params)
{
    if (program_reads(params)) {
        params->options->encoder->add_program(
            argv, params, reads_input(params) ? params->input : "-");
    }
}
