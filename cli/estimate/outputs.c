/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From options to a list of outputs. The rule: without any named output the three standard files
 * go to the default folder; with one, only what is named is written, and the standard files too if
 * -o is given.
 */
#include "estimate/outputs.h"

#include "console.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"
#include "report/report.h"
#include "resume/store.h"
#include "vectors/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct gpume_log console = {.fn = gpume_console_log};

/* Cuts "%d" and "%03d" out of a name. */
static void remove_number(char *name)
{
    char *percent = strchr(name, '%');
    while (percent) {
        const size_t digits = strspn(percent + 1, "0123456789");
        if (percent[1 + digits] == 'd') {
            memmove(percent, percent + digits + 2, strlen(percent + digits + 2) + 1);
            percent = strchr(percent, '%');
        } else {
            percent = strchr(percent + 1, '%');
        }
    }
}

/* "path/clip.mp4" gives "clip.gpume", "frame_%03d.png" "frame.gpume", "-" "stdin.gpume". */
static char *default_folder(const char *input)
{
    static const char suffix[] = ".gpume";
    const bool is_url = strstr(input, "://") != NULL;
    const size_t whole = is_url ? strcspn(input, "?#") : strlen(input);
    size_t first = whole;
    while (first > 0 && input[first - 1] != '/') {
        first--;
    }
    size_t length = whole - first;
    char *name = malloc(length + sizeof("input") + sizeof(suffix));
    if (!name) {
        return NULL;
    }
    memcpy(name, input + first, length);
    name[length] = '\0';
    if (strcmp(input, "-") == 0) {
        strcpy(name, "stdin");
    }
    char *dot = strrchr(name, '.');
    if (dot && dot != name) {
        *dot = '\0';
    }
    remove_number(name);
    for (length = strlen(name); length > 0 && strchr("_-. ", name[length - 1]); length--) {
        name[length - 1] = '\0';
    }
    for (char *at = name; *at; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            *at = '_';
        }
    }
    return strcat(name[0] ? name : strcpy(name, "input"), suffix);
}

static int add(struct gpume_outputs *outputs, const struct gpume_sink_ops *ops, char *path)
{
    char *plain = path ? gpume_pattern_plain(path) : NULL;
    if (!plain) {
        gpume_console_error("out of memory");
        free(path);
        return GPUME_NOMEM;
    }
    outputs->items[outputs->count++] =
        (struct gpume_output){.ops = ops, .path = path, .plain = plain};
    return GPUME_OK;
}

static int add_named(
    struct gpume_outputs *outputs, const struct gpume_sink_ops *ops, const char *path)
{
    return path ? add(outputs, ops, strdup(path)) : GPUME_OK;
}

static int add_standard(struct gpume_outputs *outputs, const struct gpume_estimate_options *options)
{
    const char *input = options->common.inputs[options->common.input_count - 1];
    outputs->folder =
        options->output ? strdup(options->output) : default_folder(gpume_path_of_input(input));
    if (!outputs->folder) {
        gpume_console_error("out of memory");
        return GPUME_NOMEM;
    }
    const char *folder = outputs->folder;
    const int status =
        add(outputs, &gpume_sink_vectors_csv, gpume_text_join(folder, "vectors.csv"));
    return status ? status
                  : add(outputs, &gpume_sink_frames_csv, gpume_text_join(folder, "frames.csv"));
}

static int add_summary(struct gpume_outputs *outputs)
{
    const int status =
        add(outputs, &gpume_sink_summary, gpume_text_join(outputs->folder, "summary.json"));
    outputs->seal = status == GPUME_OK ? outputs->items[outputs->count - 1].path : NULL;
    return status;
}

/* In the order in which they are completed, and then get their names. The report says how long the
 * others took; summary.json is the last: where it stands, all others are whole. */
static int make_list(struct gpume_outputs *outputs, const struct gpume_estimate_options *options)
{
    int status = GPUME_OK;
    if (options->vectors) {
        outputs->vectors_format = gpume_outputs_vectors_format(options->format, options->vectors);
        status =
            outputs->vectors_format
                ? add_named(outputs, gpume_sink_vectors(outputs->vectors_format), options->vectors)
                : GPUME_INVALID;
    }
    status = status ? status : add_named(outputs, &gpume_sink_predicted, options->predicted);
    status = status ? status : add_named(outputs, &gpume_sink_residual, options->residual);
    status = status ? status : add_named(outputs, &gpume_sink_difference, options->difference);
    status = status ? status : add_named(outputs, &gpume_sink_overlay, options->overlay);
    const bool named = outputs->count > 0 || options->report;
    const bool standard = options->output || !named;
    if (status == GPUME_OK && standard) {
        status = add_standard(outputs, options);
    }
    if (status == GPUME_OK && options->report) {
        status = add_named(outputs, gpume_sink_report(options->report), options->report);
    }
    return status == GPUME_OK && standard ? add_summary(outputs) : status;
}

/* Are these in one folder, which is there? */
static bool is_same_folder(const char *a, const char *b)
{
    struct stat folder_a, folder_b;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    char *parent_a = slash_a ? strndup(a, (size_t)(slash_a - a) + 1) : strdup(".");
    char *parent_b = slash_b ? strndup(b, (size_t)(slash_b - b) + 1) : strdup(".");
    bool same = false;
    if (parent_a && parent_b && stat(parent_a, &folder_a) == 0 && stat(parent_b, &folder_b) == 0) {
        same = folder_a.st_dev == folder_b.st_dev && folder_a.st_ino == folder_b.st_ino;
    }
    free(parent_a);
    free(parent_b);
    return same;
}

/* Names in existing folders are compared by folder and last part, so that ./a.csv is a.csv. */
static bool is_same_path(const char *a, const char *b)
{
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    return strcmp(a, b) == 0 ||
           (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) == 0 &&
               is_same_folder(a, b));
}

/* A name of standard output, or the pipe or device that it is. */
static bool is_stdout(const char *path)
{
    struct stat file, out;
    if (gpume_text_is_stdout(path)) {
        return true;
    }
    return stat(path, &file) == 0 && fstat(STDOUT_FILENO, &out) == 0 && !S_ISREG(file.st_mode) &&
           file.st_dev == out.st_dev && file.st_ino == out.st_ino;
}

bool gpume_outputs_is_input(const char *const *inputs, uint32_t count, const char *path)
{
    struct stat input, output;
    const bool there = stat(path, &output) == 0 && S_ISREG(output.st_mode);
    for (uint32_t i = 0; i < count; i++) {
        const char *file = gpume_path_of_input(inputs[i]);
        const bool same = there && stat(file, &input) == 0 && input.st_dev == output.st_dev &&
                          input.st_ino == output.st_ino;
        const bool of_series =
            gpume_text_is_of_series(file, path) || gpume_text_is_of_series(path, file);
        if (same || (of_series && is_same_folder(file, path))) {
            gpume_console_error("%s: is the input; give the output another name", path);
            return true;
        }
    }
    return false;
}

const struct gpume_vectors_format *gpume_outputs_vectors_format(
    const struct gpume_vectors_format *asked, const char *path)
{
    const struct gpume_vectors_format *format = asked ? asked : gpume_vectors_format_of(path);
    if (!format && gpume_text_is_special(path)) {
        return &gpume_vectors_csv;
    }
    if (!format) {
        char endings[96] = "";
        for (size_t i = 0; (format = gpume_vectors_format_at(i)) != NULL; i++) {
            const size_t used = strlen(endings);
            snprintf(endings + used, sizeof(endings) - used, "%s%s", format->extension ? " " : "",
                format->extension ? format->extension : "");
        }
        gpume_console_error("%s: the name must end in one of%s, or be - for standard output; or "
                            "say --format",
            path, endings);
    }
    return format;
}

bool gpume_output_can_continue(const struct gpume_output *output)
{
    return output->ops->can_continue && output->ops->can_continue(output->path);
}

bool gpume_output_is_series(const struct gpume_output *output)
{
    return output->ops->is_series && output->ops->is_series(output->path);
}

/* What is there may be of the run to be continued: opening it knows, also without memory. */
static bool may_be_there(const struct gpume_outputs *outputs)
{
    char *state = gpume_run_state_path(outputs->items[0].path);
    const bool found = !state || access(state, F_OK) == 0;
    free(state);
    return found;
}

/* For people: what it is that cannot be continued. */
static const char *kind_name(const struct gpume_output *output)
{
    if (gpume_text_is_special(output->path)) {
        return "standard output, a pipe or a device";
    }
    return output->ops->noun ? output->ops->noun : "this format";
}

static int check_one(const struct gpume_outputs *outputs, struct gpume_output *output,
    const struct gpume_estimate_options *options)
{
    const struct gpume_sink_shape shape = {
        .format = outputs->vectors_format,
        .single = options->common.input_count == 2 || options->frames == 1,
        .both = options->params.direction == GPUME_DIRECTION_BOTH,
    };
    output->exists = output->ops->exists(output->path);
    if (output->ops->check(output->path, &shape, &console) != GPUME_OK ||
        gpume_outputs_is_input(options->common.inputs, options->common.input_count, output->path) ||
        gpume_text_check_partial(output->path, &console) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (options->resume && !gpume_output_can_continue(output)) {
        gpume_console_error("%s: %s cannot be resumed; only files of vectors, frames.csv, "
                            "summary.json, .y4m and numbered pictures can; leave out this output "
                            "or --resume",
            output->path, kind_name(output));
        return GPUME_INVALID;
    }
    if (output->exists && !options->common.overwrite &&
        !(options->resume && may_be_there(outputs))) {
        gpume_console_error(
            "%s: exists already; replace it with -y or choose another name", output->path);
        return GPUME_INVALID;
    }
    return GPUME_OK;
}

static bool is_device(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode));
}

static int check_pairs(const struct gpume_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        for (size_t j = i + 1; j < outputs->count; j++) {
            const char *path = outputs->items[j].path;
            if (is_same_path(outputs->items[i].plain, outputs->items[j].plain) &&
                !is_device(path)) {
                gpume_console_error(
                    "%s: named for two outputs; give one of them another name", path);
                return GPUME_INVALID;
            }
        }
    }
    return GPUME_OK;
}

enum gpume_exit gpume_outputs_init(
    struct gpume_outputs *outputs, const struct gpume_estimate_options *options)
{
    *outputs = (struct gpume_outputs){0};
    const int status = make_list(outputs, options);
    if (status != GPUME_OK) {
        return status == GPUME_INVALID ? GPUME_EXIT_USAGE : GPUME_EXIT_FAILED;
    }
    for (size_t i = 0; i < outputs->count; i++) {
        outputs->to_stdout = outputs->to_stdout || is_stdout(outputs->items[i].path);
        if (check_one(outputs, &outputs->items[i], options) != GPUME_OK) {
            return GPUME_EXIT_USAGE;
        }
    }
    return check_pairs(outputs) == GPUME_OK ? GPUME_EXIT_DONE : GPUME_EXIT_USAGE;
}

/* Makes folder[0..length), which may be there already. */
static int make_part(struct gpume_outputs *outputs, size_t length)
{
    struct stat info;
    char *folder = outputs->folder;
    const char kept = folder[length];
    int error = 0;
    folder[length] = '\0';
    if (mkdir(folder, 0777) == 0) {
        outputs->made_bytes = outputs->made_bytes ? outputs->made_bytes : length;
    } else {
        error = errno;
        if (stat(folder, &info) == 0) {
            error = S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
        }
    }
    folder[length] = kept;
    return error;
}

enum gpume_exit gpume_outputs_make_folder(struct gpume_outputs *outputs)
{
    const char *folder = outputs->folder;
    size_t at = 0;
    while (folder && folder[at]) {
        at += strspn(folder + at, "/");
        at += strcspn(folder + at, "/");
        const int error = make_part(outputs, at);
        if (error != 0) {
            gpume_console_error("%s: folder cannot be made: %s; choose another with -o DIR", folder,
                strerror(error));
            gpume_outputs_remove_folder(outputs);
            return GPUME_EXIT_FAILED;
        }
    }
    return GPUME_EXIT_DONE;
}

void gpume_outputs_remove_folder(struct gpume_outputs *outputs)
{
    char *folder = outputs->folder;
    if (!folder || outputs->made_bytes == 0) {
        return;
    }
    size_t length = strlen(folder);
    while (length >= outputs->made_bytes) {
        folder[length] = '\0';
        (void)rmdir(folder); /* refuses, like those above it, where something is inside */
        while (length > 0 && folder[length - 1] == '/') {
            length--;
        }
        while (length > 0 && folder[length - 1] != '/') {
            length--;
        }
        while (length > 1 && folder[length - 1] == '/') {
            length--;
        }
    }
    outputs->made_bytes = 0;
}

void gpume_outputs_finish(struct gpume_outputs *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        free(outputs->items[i].path);
        free(outputs->items[i].plain);
    }
    free(outputs->folder);
    *outputs = (struct gpume_outputs){0};
}
