/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the list of outputs from the options. If no output is named, the three standard files are
 * written to the default folder; otherwise only named outputs are, and the standard files with -o.
 */
#include "estimate/outputs.h"

#include "base/status.h"
#include "console.h"
#include "estimate/against.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/remedy.h"
#include "files/text_file.h"
#include "names.h"
#include "report/report.h"
#include "resume/store.h"
#include "signals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Removes "%d" and "%03d" from a name. */
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

/* An output in the folder. */
static int add_standard(
    struct gpume_outputs *outputs, const struct gpume_sink_ops *ops, const char *name)
{
    return add(outputs, ops, gpume_text_join(outputs->folder, name));
}

static int add_surface(struct gpume_outputs *outputs, uint32_t x, uint32_t y)
{
    char name[48];
    snprintf(name, sizeof(name), "surface_%" PRIu32 "_%" PRIu32 ".csv", x, y);
    return outputs->folder ? add_standard(outputs, &gpume_sink_surface, name)
                           : add(outputs, &gpume_sink_surface, strdup(name));
}

static int name_folder(struct gpume_outputs *outputs, const struct gpume_estimate_options *options)
{
    const char *input = options->common.inputs[options->common.input_count - 1];
    if (options->output && strcmp(options->output, "-") == 0) {
        return gpume_refuse(GPUME_INVALID,
            "-o -: takes a folder, not standard output; --vectors - writes vectors there");
    }
    outputs->folder =
        options->output ? strdup(options->output) : default_folder(gpume_path_of_input(input));
    return outputs->folder ? GPUME_OK : gpume_refuse(GPUME_NOMEM, "out of memory");
}

static int list_against(struct gpume_outputs *outputs, const struct gpume_estimate_options *options)
{
    int status = name_folder(outputs, options);
    for (size_t i = 0; i < GPUME_AGAINST_OUTPUTS && status == GPUME_OK; i++) {
        status = add_standard(outputs, &gpume_against_outputs[i], gpume_against_outputs[i].name);
    }
    return status;
}

/* In the order in which outputs are completed and get their names. The report comes after those
 * whose times it shows; summary.json comes last, so where it exists all others are complete. */
static int make_list(struct gpume_outputs *outputs, const struct gpume_estimate_options *options)
{
    int status;
    if (options->against_stream) {
        return list_against(outputs, options);
    }
    if (options->vectors) {
        outputs->vectors_format =
            gpume_name_vectors_format(options->format, options->vectors, gpume_name_any_vectors);
        GPUME_TRY(outputs->vectors_format ? GPUME_OK : GPUME_INVALID);
        GPUME_TRY(
            add_named(outputs, gpume_sink_vectors(outputs->vectors_format), options->vectors));
    }
    GPUME_TRY(add_named(outputs, &gpume_sink_predicted, options->predicted));
    GPUME_TRY(add_named(outputs, &gpume_sink_residual, options->residual));
    GPUME_TRY(add_named(outputs, &gpume_sink_difference, options->difference));
    GPUME_TRY(add_named(outputs, &gpume_sink_overlay, options->overlay));
    const bool others = options->report || options->report_dir || options->with_surface;
    const bool standard = options->output || (outputs->count == 0 && !others);
    if (standard) {
        GPUME_TRY(name_folder(outputs, options));
        GPUME_TRY(add_standard(outputs, &gpume_sink_vectors_csv, "vectors.csv"));
        GPUME_TRY(add_standard(outputs, &gpume_sink_frames_csv, "frames.csv"));
    }
    if (options->with_surface) {
        GPUME_TRY(add_surface(outputs, options->surface_x, options->surface_y));
    }
    if (options->report) {
        GPUME_TRY(add_named(outputs, gpume_sink_report(options->report), options->report));
    }
    if (options->report_dir && strcmp(options->report_dir, "-") == 0) {
        return gpume_refuse(GPUME_INVALID, "--report-dir -: takes a folder, not standard output");
    }
    if (options->report_dir) {
        GPUME_TRY(add(outputs, &gpume_sink_report_folder,
            gpume_text_join(options->report_dir, "index.html")));
    }
    if (standard) {
        GPUME_TRY(add_standard(outputs, &gpume_sink_summary, "summary.json"));
        outputs->seal = outputs->items[outputs->count - 1].path;
    }
    status = GPUME_OK;
fail:
    return status;
}

bool gpume_output_is_series(const struct gpume_output *output)
{
    return gpume_sink_is_series(output->ops, output->path);
}

bool gpume_output_can_continue(const struct gpume_output *output)
{
    return gpume_output_is_series(output) ||
           (output->ops->can_continue && output->ops->can_continue(output->path));
}

/* May existing outputs belong to the run to be resumed? Reading its state will tell. */
static bool may_be_resumed(const struct gpume_outputs *outputs)
{
    char *state = gpume_run_state_path(outputs->items[0].path);
    const bool found = !state || access(state, F_OK) == 0;
    free(state);
    return found;
}

/* What the message calls an output that cannot be resumed. */
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
        .both =
            !options->params.best_reference && (options->params.direction == GPUME_DIRECTION_BOTH ||
                                                   options->params.distance_count > 1),
    };
    output->exists = gpume_text_exists(output->path, gpume_output_is_series(output));
    if (output->ops->check(output->path, &shape, &gpume_console) != GPUME_OK ||
        gpume_name_is_input(options->common.inputs, options->common.input_count, output->path) ||
        gpume_text_check_partial(output->path, &gpume_console) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (options->resume && !gpume_output_can_continue(output)) {
        return gpume_refuse(GPUME_INVALID,
            "%s: %s cannot be resumed; only files of vectors but .npz, frames.csv, summary.json, "
            ".y4m and numbered pictures can; leave out this output or --resume",
            output->path, kind_name(output));
    }
    return output->exists && !options->common.overwrite &&
                   !(options->resume && may_be_resumed(outputs))
               ? gpume_text_refuse_existing(output->path, &gpume_console)
               : GPUME_OK;
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
            if (gpume_text_is_stdout(outputs->items[i].path) && gpume_text_is_stdout(path)) {
                return gpume_refuse(GPUME_INVALID,
                    "%s: standard output takes one output only; name a file for the other", path);
            }
            if (gpume_name_is_same(outputs->items[i].plain, outputs->items[j].plain) &&
                !is_device(path)) {
                return gpume_refuse(GPUME_INVALID,
                    "%s: named for two outputs; give one of them another name", path);
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
        outputs->to_stdout = outputs->to_stdout || gpume_name_is_stdout(outputs->items[i].path);
        if (check_one(outputs, &outputs->items[i], options) != GPUME_OK) {
            return GPUME_EXIT_USAGE;
        }
    }
    if (outputs->count == 1 && outputs->to_stdout) {
        gpume_signals_end_with_reader();
    }
    return check_pairs(outputs) == GPUME_OK ? GPUME_EXIT_DONE : GPUME_EXIT_USAGE;
}

/* Makes folder[0..length) unless it exists. */
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
            gpume_console_error("%s: folder cannot be made: %s; %s", folder, strerror(error),
                gpume_remedy(error, "choose another with -o DIR"));
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
        (void)rmdir(folder); /* fails if it is not empty, and so do its parents */
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

bool gpume_outputs_want_colour(const struct gpume_outputs *outputs)
{
    bool wanted = false;
    for (size_t i = 0; i < outputs->count; i++) {
        wanted = wanted || outputs->items[i].ops->want_colour;
    }
    return wanted;
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
