/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands use of the command line: fields and rows that several have in common, the parser,
 * checks, and the help. */
#ifndef GPUME_CLI_OPTIONS_COMMON_H
#define GPUME_CLI_OPTIONS_COMMON_H

#include "base/params.h"
#include "options/option.h"
#include "sinks/sink.h"

/* --- The fields that every command has, and rows that several tables share. */

/* What to do in place of running the command. */
enum gpume_line_request {
    GPUME_REQUEST_NONE,
    GPUME_REQUEST_HELP,
    GPUME_REQUEST_HELP_ALL,
    GPUME_REQUEST_VERSION,
    GPUME_REQUEST_BASH, /* a completion script */
    GPUME_REQUEST_ZSH,
    GPUME_REQUEST_FISH,
};

enum gpume_form { GPUME_FORM_TABLE, GPUME_FORM_JSON, GPUME_FORM_CSV };

enum gpume_progress_mode { GPUME_PROGRESS_AUTO, GPUME_PROGRESS_ON, GPUME_PROGRESS_OFF };

/* Strings point into argv. A command that lacks an option leaves its field at zero. */
struct gpume_common_options {
    const char *inputs[2]; /* the first operands */
    const char **operands; /* all of them, of a command that takes more than two */
    uint32_t input_count;
    enum gpume_line_request request;
    int verbosity; /* -1 quiet, 0, 1 verbose */
    enum gpume_form form;
    enum gpume_progress_mode progress;
    double timeout; /* seconds; 0: no limit */
    bool overwrite;
};

extern const char *const gpume_choices_shell[];

/*
 * Initialisers of rows, to which a table may add others such as .brief:
 *     {GPUME_OPTION_VF(struct gpume_bench_options, source.filter), .uses = INPUT},
 * s: the command's struct; m: the member that takes the value. First the kinds of rows, then rows
 * that several tables share.
 */
#define GPUME_ROW(option, value_name, kind, s, m)                                                  \
    .name = option, .value = value_name, .type = &gpume_type_##kind, GPUME_FIELD(s, m)

/* A row that sets a parameter, by the member of struct gpume_params. */
#define GPUME_ROW_PARAM(s, m, parameter)                                                           \
    .param = offsetof(struct gpume_params, parameter), GPUME_FIELD(s, m)

#define GPUME_ROW_FLAG(option, s, m) GPUME_ROW(option, NULL, flag, s, m)

#define GPUME_ROW_NUMBER(option, s, m, least, most)                                                \
    GPUME_ROW(option, "N", number, s, m), .min = least, .max = most

#define GPUME_ROW_REAL(option, value_name, s, m, least, most)                                      \
    GPUME_ROW(option, value_name, real, s, m), .min = least, .max = most

#define GPUME_ROW_CHOICE(option, value_name, s, m, names)                                          \
    GPUME_ROW(option, value_name, choice, s, m), .choices = names

#define GPUME_ROW_FILE(option, value_name, s, m)                                                   \
    GPUME_ROW(option, value_name, text, s, m), .complete = GPUME_COMPLETE_FILES

/* A flag that stores a value in the members that all commands have. */
#define GPUME_ROW_COMMON(option, m, value)                                                         \
    GPUME_ROW_FLAG(option, struct gpume_common_options, m), .stored = value

#define GPUME_OPTION_BLOCK(s, m)                                                                   \
    GPUME_ROW_PARAM(s, m, shapes), .type = &gpume_type_shapes, .letter = 'b',                      \
                                   .words = "4 8 16 32 64 64..8"

/* One side, for squares. */
#define GPUME_OPTION_SIDE(s, m)                                                                    \
    GPUME_ROW_NUMBER("block", s, m, GPUME_BLOCK_MIN, GPUME_BLOCK_MAX), .letter = 'b', .step = 4

#define GPUME_OPTION_WINDOW(s, m)                                                                  \
    GPUME_ROW_PARAM(s, m, window_x), .type = &gpume_type_window, .letter = 'w'

/* How two blocks are compared; m: a struct gpume_params, u: .uses. */
#define GPUME_OPTIONS_COMPARISON(s, m, u)                                                          \
    {GPUME_ROW_PARAM(s, m.subpel, subpel), .type = &gpume_type_subpel, .uses = u,                  \
        .words = "1 2 4"},                                                                         \
        {GPUME_ROW_PARAM(s, m.interpolation, interpolation), .uses = u},                           \
        {GPUME_ROW_PARAM(s, m.subpel_search, subpel_search), .uses = u},                           \
        {GPUME_ROW_PARAM(s, m.metric, metric), .uses = u},                                         \
    {                                                                                              \
        GPUME_ROW_PARAM(s, m.refine_metric, refine_metric),                                        \
            .choices = gpume_names_metric, .stored = GPUME_REFINE_BY_SAD, .uses = u                \
    }

#define GPUME_OPTION_LAMBDA(s, m)                                                                  \
    GPUME_ROW_PARAM(s, m, lambda), .type = &gpume_type_real, .min = 0, .max = 1000

#define GPUME_OPTION_PICTURES(s, m)                                                                \
    GPUME_ROW_FLAG("pictures", s, m),                                                              \
        .help = "given two videos, search between their first frames, as between two pictures"

#define GPUME_OPTION_VF(s, m)                                                                      \
    GPUME_ROW("vf", "GRAPH", text, s, m),                                                          \
        .help = "FFmpeg filter graph to apply after decoding, e.g. crop=640:360",                  \
        .words = "bwdif crop= format= fps= hflip hqdn3d scale= transpose= vflip yadif"

#define GPUME_OPTION_STREAM(s, m)                                                                  \
    GPUME_ROW_NUMBER("stream", s, m, 0, 65535),                                                    \
        .help = "video stream to read, counted from 0 (default: the best)"

#define GPUME_OPTION_HWACCEL(s, m)                                                                 \
    GPUME_ROW("hwaccel", "TYPE[:DEVICE]", text, s, m),                                             \
        .help = "decode on video hardware: none, auto, cuda, vaapi or another type that FFmpeg "   \
                "supports (default none)",                                                         \
        .words = "none auto cuda vaapi vulkan"

#define GPUME_OPTION_DECODERS(s, m)                                                                \
    GPUME_ROW("decoders", "N|auto", number_or_auto, s, m),                                         \
        .min = 1, .max = 64, .words = "auto 1 2 4 8",                                              \
        .help = "decode up to N parts of a video file in parallel, 1 to 64; the results are "      \
                "the same (default auto: by the number of processors)"

#define GPUME_OPTION_ALLOW_NETWORK(s, m)                                                           \
    GPUME_ROW_FLAG("allow-network", s, m),                                                         \
        .help = "allow INPUT, and anything it refers to, to be read from the network"

#define GPUME_OPTION_ALLOW_FILES(s, m)                                                             \
    GPUME_ROW_FLAG("allow-files", s, m),                                                           \
        .help = "allow INPUT to refer to other local files, as playlists do"

#define GPUME_OPTION_MAX_PIXELS(s, m)                                                              \
    GPUME_ROW("max-pixels", "N", count, s, m),                                                     \
        .min = 1, .max = 536870912.0,                                                              \
        .help =                                                                                    \
            "refuse pictures with more pixels, e.g. 9M (default: 268435456, or twice that for "    \
            "uncompressed Y4M)"

/* What input may be and reach; m: a struct gpume_source_options. */
#define GPUME_OPTIONS_TRUST(s, m)                                                                  \
    {GPUME_OPTION_ALLOW_NETWORK(s, m.trust.network)},                                              \
        {GPUME_OPTION_ALLOW_FILES(s, m.trust.files)},                                              \
    {                                                                                              \
        GPUME_OPTION_MAX_PIXELS(s, m.trust.max_pixels)                                             \
    }

/* How a video is read; m: the same. */
#define GPUME_OPTIONS_SOURCE(s, m)                                                                 \
    {GPUME_OPTION_VF(s, m.filter)}, {GPUME_OPTION_STREAM(s, m.stream)},                            \
        {GPUME_OPTION_HWACCEL(s, m.hwaccel)}, {GPUME_OPTION_DECODERS(s, m.decoders)},              \
        GPUME_OPTIONS_TRUST(s, m)

#define GPUME_OPTION_MAX_MEMORY(s, m)                                                              \
    GPUME_ROW_PARAM(s, m, memory_max), .type = &gpume_type_bytes, .min = 1,                        \
                                       .max = 1125899906842624.0

#define GPUME_ROW_TIMEOUT                                                                          \
    GPUME_ROW_REAL("timeout", "SECONDS", struct gpume_common_options, timeout, 0.001, 604800),     \
        .unit = "seconds"
#define GPUME_OPTION_TIMEOUT                                                                       \
    GPUME_ROW_TIMEOUT, .help = "give up after this time (default: no limit)"

#define GPUME_OPTION_OVERWRITE GPUME_ROW_COMMON("overwrite", overwrite, 1), .letter = 'y'

/* For a command that takes several devices: gpume_take_device_list. */
#define GPUME_OPTION_DEVICES(s, m)                                                                 \
    GPUME_ROW_PARAM(s, m, devices), .complete = GPUME_COMPLETE_DEVICES, .words = "all cpu"

#define GPUME_OPTION_THREADS(s, m) GPUME_ROW_PARAM(s, m, threads), .min = 1, .max = 1024

#define GPUME_OPTION_SEARCH(s, m) GPUME_ROW_PARAM(s, m, search), .type = &gpume_type_search

#define GPUME_OPTION_JSON GPUME_ROW_COMMON("json", form, GPUME_FORM_JSON)

#define GPUME_OPTION_CSV GPUME_ROW_COMMON("csv", form, GPUME_FORM_CSV), .excludes = "json"

#define GPUME_OPTION_QUIET GPUME_ROW_COMMON("quiet", verbosity, -1), .letter = 'q'

#define GPUME_OPTION_VERBOSE                                                                       \
    GPUME_ROW_COMMON("verbose", verbosity, 1), .letter = 'v', .help = "print more on standard error"

#define GPUME_OPTION_PROGRESS                                                                      \
    GPUME_ROW_COMMON("progress", progress, GPUME_PROGRESS_ON),                                     \
        .help = "show progress even if standard error is not a terminal"

#define GPUME_OPTION_NO_PROGRESS                                                                   \
    GPUME_ROW_COMMON("no-progress", progress, GPUME_PROGRESS_OFF), .help = "show no progress"

#define GPUME_OPTION_COMPLETION                                                                    \
    GPUME_ROW_CHOICE(                                                                              \
        "completion", "SHELL", struct gpume_common_options, request, gpume_choices_shell),         \
        .stored = GPUME_REQUEST_BASH, .help = "print a completion script for bash, zsh or fish"

#define GPUME_OPTION_HELP GPUME_ROW_COMMON("help", request, GPUME_REQUEST_HELP), .letter = 'h'

#define GPUME_OPTION_VERSION                                                                       \
    GPUME_ROW_COMMON("version", request, GPUME_REQUEST_VERSION), .help = "print the version"

/* The engine of a command that uses one; m: a struct gpume_params. */
#define GPUME_OPTIONS_ENGINE(s, m)                                                                 \
    {GPUME_ROW_PARAM(s, m.backend, backend)},                                                      \
        {GPUME_ROW_PARAM(s, m.device, device), .complete = GPUME_COMPLETE_DEVICES},                \
    {                                                                                              \
        GPUME_OPTION_THREADS(s, m.threads)                                                         \
    }

/* The last rows of every table. */
#define GPUME_OPTIONS_LAST GPUME_OPTIONS_LAST_WITH("show this help")
#define GPUME_OPTIONS_LAST_WITH(help_text)                                                         \
    {GPUME_OPTION_COMPLETION}, {GPUME_OPTION_HELP, .help = help_text},                             \
    {                                                                                              \
        GPUME_OPTION_VERSION                                                                       \
    }

/* These and the others about messages, of a command that shows progress. */
#define GPUME_OPTIONS_MESSAGES(quiet_help)                                                         \
    {GPUME_OPTION_QUIET, .help = quiet_help}, {GPUME_OPTION_VERBOSE}, {GPUME_OPTION_PROGRESS},     \
        {GPUME_OPTION_NO_PROGRESS}, GPUME_OPTIONS_LAST

/* --- The options that say how overlays look, for the commands that draw them. */

extern const struct gpume_option_type gpume_type_flow_max; /* a double: a number, or auto */

extern const char *const gpume_look_keys[];
extern const char *const gpume_look_lengths[];

/* Rows, all but --overlay-style, whose names differ; m: a struct gpume_overlay_look. */
#define GPUME_OPTIONS_LOOK(s, m)                                                                   \
    {GPUME_ROW_CHOICE("overlay-key", "auto|on|off", s, m.key, gpume_look_keys),                    \
        .help = "draw a colour key in a corner; auto: only if it covers little of the picture "    \
                "(default auto)",                                                                  \
        .needs = "overlay"},                                                                       \
        {GPUME_ROW_CHOICE("arrow-length", "true|fit", s, m.arrow_length, gpume_look_lengths),      \
            .help = "true: arrows as long as the motion, from where the content was to where it "  \
                    "is; fit: arrows that stay inside their blocks (default fit)",                 \
            .needs = "overlay"},                                                                   \
        {GPUME_ROW_NUMBER("arrow-spacing", s, m.arrow_spacing, 1, 1024),                           \
            .help = "least distance between arrows in pixels of the overlay, 1 to 1024; smaller "  \
                    "blocks share an arrow (default: 1/27 of the shorter side, 20 or more)",       \
            .needs = "overlay"},                                                                   \
        {GPUME_ROW_REAL("arrow-width", "N", s, m.arrow_width, 0.5, 64),                            \
            .help = "width of arrows in pixels of the overlay, 0.5 to 64 (default: by their "      \
                    "spacing)",                                                                    \
            .needs = "overlay"},                                                                   \
        {GPUME_ROW_REAL("min-length", "N", s, m.min_length, 0, 1024),                              \
            .help = "draw no vectors shorter than N pixels, 0 to 1024 (default 0)",                \
            .needs = "overlay"},                                                                   \
        {GPUME_ROW("flow-max", "N|auto", flow_max, s, m.flow_max), .min = 0.25, .max = 1024,       \
            .help = "motion in pixels that flow shows in full colour, 0.25 to 1024; auto: by the " \
                    "frame (default: the longest vector in the window)",                           \
            .needs = "overlay", .words = "auto"},                                                  \
        {GPUME_ROW_NUMBER("dim", s, m.dim, 0, 100),                                                \
            .help = "darken the frame below the drawing by N percent, 0 to 100 (default 0)",       \
            .needs = "overlay"},                                                                   \
    {                                                                                              \
        GPUME_ROW_NUMBER("scale", s, m.scale, 1, GPUME_OVERLAY_SCALE_MAX),                         \
            .help = "enlarge overlays, 1 to 16 times (default 1)", .needs = "overlay"              \
    }

/* Refuses what changes nothing in this style; GPUME_INVALID after one line. */
int gpume_check_look(const struct gpume_overlay_look *look, const struct gpume_line *line);

/* --- Parses the command line. Main thread only. */

/* GPUME_OK, or another status after one line through gpume_console_error. Release with
 * gpume_line_finish in either case. */
int gpume_line_parse(
    struct gpume_line *line, const struct gpume_command *const *commands, int argc, char **argv);

/* The command of this name, but the first, which needs none; NULL: there is none. */
const struct gpume_command *gpume_command_named(
    const struct gpume_command *const *commands, const char *name);

/* The command whose name is nearly this word, if it was meant; NULL: none is. */
const struct gpume_command *gpume_command_near(
    const struct gpume_command *const *commands, const char *word);

void gpume_line_finish(struct gpume_line *line);

/* --- Checks that several commands share. GPUME_OK, or GPUME_INVALID after one line through
 * gpume_console_error. */

/* A mode of a command: an option that makes it do something else. */
struct gpume_mode {
    const char *option;       /* without "--" */
    const char *does;         /* for messages: "--NAME cannot be combined with it, which ..." */
    const char *const *takes; /* the options that have a meaning beside it, then NULL; those of
                                 messages and --timeout always have */
};

/* Refuses all other options that were given. */
int gpume_check_mode(const struct gpume_line *line, const struct gpume_mode *mode);

/* Refuses a name that ends as that of another kind of file. kind: what is written. ending: of such
 * files, such as ".y4m". path: NULL is standard output. */
int gpume_name_check_kind(const char *path, const char *kind, const char *ending);

/* Refuses the name of an output folder that ends as that of a file does, unless there is such a
 * folder: the option for that file was meant. */
int gpume_name_check_folder(const char *path);

/* Two inputs must not read one pipe, under whatever names: each would get a part of it. what: what
 * the inputs are, in plural. */
int gpume_check_streams(const struct gpume_common_options *common, const char *what);

/* --- Help and completion, made from the tables of the commands. Standard output; the caller checks
 * that it arrived. Main thread only. */

/* One of the commands: the most used options of the first, all options of another. */
void gpume_help_print(const struct gpume_command *command);

/* Every option of every command. */
void gpume_help_print_all(void);

/* The script by which a shell completes command lines: GPUME_REQUEST_BASH, _ZSH or _FISH. */
void gpume_completion_print(enum gpume_line_request shell);

#endif
