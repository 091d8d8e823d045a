/* SPDX-License-Identifier: BSD-2-Clause */
#include "job.h"

#include "base/base.h"
#include "console.h"
#include "files/out.h"
#include "files/path.h"
#include "host.h"
#include "options/common.h"
#include "vectors/format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the options of a video */

#define HEAD_BYTES 1024u                    /* that formats of vectors are recognised by */
#define DECODER_BYTES (UINT64_C(512) << 20) /* for the frames of a decoder that wait */

int gpume_source_options_check(
    const struct gpume_common_options *common, const struct gpume_source_options *asked)
{
    if (asked->pictures && common->input_count < 2) {
        return gpume_refuse(GPUME_INVALID, "--pictures: needs two inputs; leave it out for one");
    }
    return gpume_check_streams(common, "pictures");
}

/* At most, as asked or chosen by processors and GPUs. */
static uint32_t decoders_of(const struct gpume_source_options *options, uint32_t gpus)
{
    return options->decoders > 0 ? options->decoders
                                 : gpume_source_decoders(options->threads, options->hwaccel, gpus);
}

struct gpume_source_options gpume_source_options_make(const struct gpume_common_options *common,
    const struct gpume_source_options *asked, const struct gpume_params *params)
{
    struct gpume_source_options options = *asked;
    memcpy(options.paths, common->inputs, sizeof(options.paths));
    options.path_count = common->input_count;
    options.threads = params->threads;
    options.divisible = decoders_of(&options, 1) > 1;
    options.trust.max_memory = params->memory_max;
    options.log = gpume_console;
    return options;
}

uint32_t gpume_source_share(const struct gpume_source_options *options, struct gpume_source *source,
    uint64_t frames, uint32_t gpus, uint64_t memory)
{
    const bool asked = options->decoders > 0;
    const uint32_t decoders = asked || gpus > 0 ? decoders_of(options, gpus) : 1;
    const uint64_t most = gpume_host_memory_allowed() / 8, usual = decoders * DECODER_BYTES;
    struct gpume_division division = {
        .decoders = decoders,
        .bytes = usual < most ? usual : most,
        .asked = asked,
        .length = frames,
        .gpus = gpus,
    };
    division.bytes = division.bytes < memory ? division.bytes : memory;
    if (decoders > 1) {
        gpume_source_divide(source, &division);
        gpume_console_info("%" PRIu32 " decoder%s; %.1f MiB of memory for frames that wait",
            division.decoders, gpume_plural(division.decoders), (double)division.bytes / 1048576);
    }
    return decoders > 1 ? division.decoders : 1;
}

/* A folder with vectors.csv or summary.json is what a run has written. */
static bool is_run(const char *input)
{
    static const char *const files[] = {"vectors.csv", "summary.json"};
    bool found = false;
    for (size_t i = 0; i < 2 && !found; i++) {
        char *name = gpume_path_in_folder(input, files[i]);
        found = name && access(name, F_OK) == 0;
        free(name);
    }
    return found;
}

/* The format of a file of vectors, or NULL. By its name where its first bytes are also those of
 * other files. */
static const struct gpume_vectors_format *vectors_in(const char *input)
{
    char head[HEAD_BYTES + 1] = "";
    struct stat info;
    FILE *file = stat(input, &info) == 0 && S_ISREG(info.st_mode) ? fopen(input, "rb") : NULL;
    if (!file) {
        return NULL;
    }
    const size_t bytes = fread(head, 1, HEAD_BYTES, file);
    fclose(file);
    const struct gpume_vectors_format *named = gpume_vectors_format_of(input);
    const struct gpume_vectors_format *found =
        gpume_vectors_format_probe((const unsigned char *)head, bytes);
    if (found == &gpume_vectors_csv) { /* or anything */
        head[strcspn(head, "\n")] = '\0';
        const bool packed =
            named && named->packing != GPUME_PACKING_NONE &&
            (memcmp(head, "\x1f\x8b", 2) == 0 || memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0);
        return packed ? named : strstr(head, ",dx,") && strstr(head, ",dy") ? found : NULL;
    }
    return (found->begins && found->reader) || found == named ? found : NULL;
}

/* What a run's frames.csv or summary.json is, by its first bytes; NULL: another file. */
static const char *name_result(const char *path)
{
    static const struct {
        const char *head, *what;
    } results[] = {
        {"frame,ref,time,blocks,zero,sad_before,", "the table of a run's frame pairs"},
        {"{\n  \"format\": 1,\n  \"gpume\": \"", "the summary of a run"},
    };
    char head[64] = "";
    struct stat info;
    FILE *file = stat(path, &info) == 0 && S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL;
    if (!file) {
        return NULL;
    }
    (void)fread(head, 1, sizeof(head) - 1, file);
    fclose(file);
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        if (strncmp(head, results[i].head, strlen(results[i].head)) == 0) {
            return results[i].what;
        }
    }
    return NULL;
}

int gpume_source_check_inputs(const struct gpume_source_options *options)
{
    for (uint32_t i = 0; i < options->path_count && i < 2; i++) {
        const char *input = options->paths[i];
        if (strcmp(input, "-") == 0) {
            continue; /* standard input, whatever a file of this name is */
        }
        if (is_run(input)) {
            return gpume_refuse(GPUME_FORMAT,
                "%s: is the output folder of a run, not a video; compare, convert and merge read "
                "it",
                input);
        }
        const struct gpume_vectors_format *format = vectors_in(input);
        if (format) {
            return gpume_refuse(GPUME_FORMAT, "%s: is a file of vectors (%s), not a video%s", input,
                format->name, format->reader ? "; gpume compare and gpume convert read it" : "");
        }
        const char *what = name_result(input);
        if (what) {
            return gpume_refuse(
                GPUME_FORMAT, "%s: is %s, not a video; give the video itself", input, what);
        }
    }
    return GPUME_OK;
}

int gpume_source_open_inputs(struct gpume_source **source,
    const struct gpume_source_options *options, struct gpume_source_info *info)
{
    const int status = gpume_source_check_inputs(options);
    return status ? status : gpume_source_open(source, options, info);
}

enum gpume_exit gpume_source_exit(int status)
{
    switch (status) {
    case GPUME_OK:
        return GPUME_EXIT_DONE;
    case GPUME_INVALID: /* --vf, --stream, --hwaccel, or a video as one of two stills */
        return GPUME_EXIT_USAGE;
    case GPUME_NOMEM:
    case GPUME_AGAIN: /* no more threads */
        return GPUME_EXIT_FAILED;
    default:
        return GPUME_EXIT_INPUT;
    }
}

enum gpume_exit gpume_refuse_short_source(const struct gpume_source_info *info, const char *filter,
    uint64_t found, uint64_t needed, const char *causes)
{
    const bool any = causes[0] != '\0';
    return gpume_refuse(GPUME_EXIT_INPUT,
        "%s: has %" PRIu64 " frame%s%s%s; %s%s%s needs %" PRIu64 ": %s", info->label, found,
        gpume_plural(found), filter ? " after --vf " : "", filter ? filter : "",
        any ? "the first frame pair (" : "a frame pair", any ? causes + 2 : "", any ? ")" : "",
        needed,
        any ? "ask for less, or give a longer video" : "give a longer video, or two pictures");
}

int gpume_range_check(
    const struct gpume_common_options *common, const struct gpume_frame_range *range)
{
    const bool has_time = range->start.is_time || range->duration_us > 0;
    if (has_time && (common->input_count > 1 || gpume_input_is_read_once(common->inputs[0]))) {
        return gpume_refuse(GPUME_INVALID,
            "--%s: a time needs one video file, which is read twice; give --start and --frames as "
            "numbers of frames",
            range->start.is_time ? "start" : "duration");
    }
    if (range->duration_us > 0 && !range->start.is_time && range->start.frame > 0) {
        return gpume_refuse(GPUME_INVALID,
            "--duration: needs a --start that is a time, too, or none; or give --frames");
    }
    return GPUME_OK;
}

void gpume_video_options_default(void *opaque)
{
    struct gpume_video_options *options = opaque;
    gpume_params_default(&options->params);
    options->source.stream = -1;
}

int gpume_video_options_check(void *opaque, const struct gpume_line *line)
{
    struct gpume_video_options *options = opaque;
    (void)line;
    const int status =
        options->output ? gpume_text_check_name(options->output, &gpume_console) : GPUME_OK;
    return status ? status : gpume_settle_engine(&options->params);
}

void gpume_source_warn_of_rotation(const struct gpume_source_info *info, const char *which)
{
    if (info->rotation != 0) {
        gpume_console_warning(
            "%s: is marked to be rotated by %d degrees for display, but %s; rotate it with --vf %s",
            info->label, info->rotation, which,
            info->rotation == 90    ? "transpose=clock"
            : info->rotation == 270 ? "transpose=cclock"
            : info->rotation == 180 ? "hflip,vflip"
                                    : "rotate");
    }
}

/* --- names */

/* True if the two are in one folder, which exists. */
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

/* True if both name the same file, perhaps by a symbolic link. Names in existing folders are
 * compared by folder and last part, so that ./a.csv is a.csv. */
static bool name_is_same(const char *a, const char *b)
{
    char *final_a = gpume_path_resolve(a), *final_b = gpume_path_resolve(b);
    a = final_a ? final_a : a;
    b = final_b ? final_b : b;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    const bool same =
        strcmp(a, b) == 0 ||
        (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) == 0 && is_same_folder(a, b));
    free(final_a);
    free(final_b);
    return same;
}

bool gpume_name_is_stdout(const char *path)
{
    struct stat file, out;
    if (gpume_text_is_stdout(path)) {
        return true;
    }
    return stat(path, &file) == 0 && fstat(STDOUT_FILENO, &out) == 0 && !S_ISREG(file.st_mode) &&
           file.st_dev == out.st_dev && file.st_ino == out.st_ino;
}

/* True if one of the numbered files that exist is an input, perhaps by a link. */
static bool is_input_in_series(const char *path)
{
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    bool found = false;
    if (gpume_pattern_is_numbered(path)) {
        (void)gpume_pattern_list(path, &numbers, &count); /* without memory, the next step fails */
    }
    for (size_t i = 0; i < count && !found; i++) {
        char *name = gpume_pattern_name_pair(path, numbers[i]);
        found = name && gpume_inputs_have_name(name);
        free(name);
    }
    free(numbers);
    return found;
}

/* True, after one line, if the output is also a file that is read (files/out.h), or a picture of
 * one of the numbered inputs, whether it exists or not. */
static bool name_is_input(const char *const *inputs, uint32_t count, const char *path)
{
    struct stat info;
    const int fd = gpume_path_descriptor(path);
    bool found = fd >= 0 ? fstat(fd, &info) == 0 && gpume_inputs_have(&info)
                         : gpume_inputs_have_name(path) || is_input_in_series(path);
    for (uint32_t i = 0; i < count && !found; i++) {
        const char *file = gpume_path_of_input(inputs[i]);
        found = (gpume_text_is_of_series(file, path) || gpume_text_is_of_series(path, file)) &&
                is_same_folder(file, path);
    }
    return found && gpume_refuse(true, "%s: is the input; give the output another name",
                        strcmp(path, "-") == 0 ? "standard output" : path);
}

char *gpume_name_vectors_input(const char *input)
{
    struct stat info;
    const char *what = name_result(input);
    if (what) {
        gpume_console_error(
            "%s: is %s, not a file of vectors; give the run's folder or its vectors.csv", input,
            what);
        return NULL;
    }
    const bool is_folder =
        !gpume_text_is_stdout(input) && stat(input, &info) == 0 && S_ISDIR(info.st_mode);
    char *name = is_folder ? gpume_path_in_folder(input, "vectors.csv") : strdup(input);
    if (!name) {
        gpume_console_error("%s: out of memory", input);
    } else if (is_folder && stat(name, &info) != 0) {
        gpume_console_error(
            "%s: has no vectors.csv; give the output folder of a run, or a file of vectors", input);
        free(name);
        return NULL;
    }
    return name;
}

const struct gpume_name_vectors gpume_name_any_vectors = {.columns = ~0u, .grid = true};

static bool suits(const struct gpume_vectors_format *format, struct gpume_name_vectors vectors)
{
    return !(format->needs & ~vectors.columns) && (!format->needs_grid || vectors.grid);
}

#define LIST_BYTES 256

/* The extensions of the formats that suit, or all their names. */
static void list_formats(char list[LIST_BYTES], struct gpume_name_vectors vectors, bool names)
{
    const struct gpume_vectors_format *format;
    list[0] = '\0';
    for (size_t i = 0; (format = gpume_vectors_format_at(i)) != NULL; i++) {
        const char *text = names ? format->name : format->extension;
        if (text && suits(format, vectors)) {
            gpume_text_join(list, LIST_BYTES, " ", "%s", text);
        }
    }
}

const struct gpume_vectors_format *gpume_name_vectors_format(
    const struct gpume_vectors_format *asked, const char *path, struct gpume_name_vectors vectors)
{
    char list[LIST_BYTES];
    const struct gpume_vectors_format *format = asked ? asked : gpume_vectors_format_of(path);
    if (!format && gpume_text_is_special(path)) {
        return &gpume_vectors_csv;
    }
    if (!format && gpume_text_check_file(path, "vectors", ".csv", &gpume_console) == GPUME_OK) {
        list_formats(list, vectors, false);
        gpume_console_error(
            "%s: the name must end in one of %s, or be - for standard output; or say --format",
            path, list);
    }
    if (format && !suits(format, vectors)) {
        list_formats(list, vectors, true);
        return gpume_refuse(NULL,
            "%s: %s cannot hold these vectors, whose blocks have %s; choose %s%s", path,
            format->name, format->needs & ~vectors.columns ? "no costs" : "several sizes", list,
            format->needs & ~vectors.columns ? "" : ", or add --block N");
    }
    return format;
}

/* --- names of outputs */

static int add_output(struct gpume_cli_job *job, const struct gpume_sink_ops *ops, char *path)
{
    char *plain = path ? gpume_pattern_plain(path) : NULL;
    if (!plain) {
        free(path);
        return gpume_refuse(GPUME_NOMEM, "out of memory");
    }
    job->outputs[job->output_count++] =
        (struct gpume_job_output){.ops = ops, .path = path, .plain = plain};
    return GPUME_OK;
}

int gpume_job_add(struct gpume_cli_job *job, const struct gpume_sink_ops *ops, const char *path)
{
    return add_output(job, ops, strdup(path));
}

int gpume_job_add_standard(
    struct gpume_cli_job *job, const struct gpume_sink_ops *ops, const char *name)
{
    return add_output(job, ops, gpume_path_in_folder(job->folder, name));
}

bool gpume_job_is_series(const struct gpume_job_output *output)
{
    return output->ops && gpume_sink_is_series(output->ops, output->path);
}

bool gpume_job_can_continue(const struct gpume_job_output *output)
{
    return gpume_job_is_series(output) ||
           (output->ops && output->ops->can_continue && output->ops->can_continue(output->path));
}

static int check_job_output(const struct gpume_cli_job *job, struct gpume_job_output *output)
{
    const char *path = output->path;
    output->exists = gpume_text_exists(path, gpume_job_is_series(output));
    const int status = output->ops
                           ? gpume_sink_check(output->ops, path, &job->shape, &gpume_console)
                           : gpume_text_check_file(path, "output", "", &gpume_console);
    if (status != GPUME_OK ||
        (!job->set.over_input && name_is_input(job->inputs, job->input_count, path)) ||
        (job->leaves_partial && gpume_text_check_partial(path, &gpume_console) != GPUME_OK)) {
        return GPUME_INVALID;
    }
    if (job->resumes && !gpume_job_can_continue(output)) {
        return gpume_refuse(GPUME_INVALID,
            "%s: %s cannot be resumed; only files of vectors but .npz, frames.csv, summary.json, "
            ".y4m and numbered pictures can; leave out this output or --resume",
            path,
            gpume_text_is_special(path) ? "standard output, a pipe or a device"
            : output->ops->noun         ? output->ops->noun
                                        : "this format");
    }
    return output->exists && !job->common->overwrite && !job->keeps
               ? gpume_text_refuse_existing(path, gpume_job_is_series(output), &gpume_console)
               : GPUME_OK;
}

static bool is_one(const struct gpume_job_output *a, const struct gpume_job_output *b)
{
    if (gpume_text_is_stdout(a->path) && gpume_text_is_stdout(b->path)) {
        return gpume_refuse(
            true, "%s: standard output takes one output only; name a file for the other", b->path);
    }
    struct stat info;
    const bool is_device =
        stat(b->path, &info) == 0 && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode));
    return name_is_same(a->plain, b->plain) && !is_device &&
           gpume_refuse(true, "%s: named for two outputs; give one of them another name", b->path);
}

enum gpume_exit gpume_job_check(struct gpume_cli_job *job)
{
    for (size_t i = 0; i < job->output_count; i++) {
        job->to_stdout = job->to_stdout || gpume_name_is_stdout(job->outputs[i].path);
        if (check_job_output(job, &job->outputs[i]) != GPUME_OK) {
            return GPUME_EXIT_USAGE;
        }
    }
    if (job->output_count == 1 && job->to_stdout) {
        gpume_signals_end_with_reader();
    }
    for (size_t i = 0; i < job->output_count; i++) {
        for (size_t k = i + 1; k < job->output_count; k++) {
            if (is_one(&job->outputs[i], &job->outputs[k])) {
                return GPUME_EXIT_USAGE;
            }
        }
    }
    return job->to_stdout && job->common->form == GPUME_FORM_JSON
               ? gpume_refuse(GPUME_EXIT_USAGE, "--json: standard output is taken by another "
                                                "output; leave one of them out")
               : GPUME_EXIT_DONE;
}

/* --- the folder */

/* Makes folder[0..length) unless it exists. */
static int make_part(struct gpume_cli_job *job, size_t length)
{
    struct stat info;
    char *folder = job->folder;
    const char kept = folder[length];
    int error = 0;
    folder[length] = '\0';
    if (mkdir(folder, 0777) == 0) {
        job->made_length = job->made_length ? job->made_length : length;
    } else {
        error = errno;
        if (stat(folder, &info) == 0) {
            error = S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
        }
    }
    folder[length] = kept;
    return error;
}

enum gpume_exit gpume_job_make_folder(struct gpume_cli_job *job)
{
    const char *folder = job->folder;
    size_t at = 0;
    while (folder && folder[at]) {
        at += strspn(folder + at, "/");
        at += strcspn(folder + at, "/");
        const int error = make_part(job, at);
        if (error != 0) {
            return gpume_refuse(GPUME_EXIT_FAILED, "%s: folder cannot be made: %s; %s", folder,
                strerror(error), gpume_remedy(error, "choose another with -o DIR"));
        }
    }
    return GPUME_EXIT_DONE;
}

/* Removes the folders that make_part made, if they are empty. */
static void remove_folder(struct gpume_cli_job *job)
{
    char *folder = job->folder;
    if (!folder || job->made_length == 0) {
        return;
    }
    size_t length = strlen(folder);
    while (length >= job->made_length) {
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
}

/* --- frames, read ahead */

#define RING 12u /* frames: those that are valid, and enough for unequal times of decoding */

struct gpume_job_ahead {
    struct gpume_source *source; /* left alone by the main thread until stop_reading */
    uint64_t end;                /* frames to read in all */
    struct gpume_luma_view views[RING];
    int64_t times_us[RING];
    bool running;
    pthread_t thread;
    pthread_mutex_t mutex; /* of all below; the thread writes to the next view, if it is returned */
    pthread_cond_t changed;
    uint64_t read, taken, returned; /* frames */
    bool stop, ended;
    int status; /* GPUME_OK: the thread has not failed and not reached the end of the input */
};

static void *read_frames_ahead(void *opaque)
{
    struct gpume_job_ahead *ahead = opaque;
    pthread_mutex_lock(&ahead->mutex);
    while (ahead->status == GPUME_OK && ahead->read < ahead->end && !ahead->stop) {
        if (ahead->read - ahead->returned == RING) {
            pthread_cond_wait(&ahead->changed, &ahead->mutex);
            continue;
        }
        const uint64_t slot = ahead->read % RING;
        pthread_mutex_unlock(&ahead->mutex);
        const int status =
            gpume_source_view(ahead->source, &ahead->views[slot], &ahead->times_us[slot]);
        pthread_mutex_lock(&ahead->mutex);
        ahead->status = status;
        ahead->read += status == GPUME_OK;
        pthread_cond_broadcast(&ahead->changed);
    }
    ahead->ended = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

static enum gpume_exit start_reading(struct gpume_cli_job *job)
{
    struct gpume_job_ahead *ahead = job->ahead = calloc(1, sizeof(*ahead));
    bool complete = ahead != NULL;
    for (uint32_t i = 0; i < RING && complete; i++) {
        complete = gpume_luma_view_open(&ahead->views[i], &job->info);
    }
    if (!complete) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory for its frames", job->info.label);
    }
    ahead->source = job->source;
    ahead->end = job->frames_max > 0 ? job->frames_max : UINT64_MAX;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    ahead->running = pthread_create(&ahead->thread, NULL, read_frames_ahead, ahead) == 0;
    if (!ahead->running) {
        (void)gpume_log_no_thread(&gpume_console);
    }
    return ahead->running ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

/* Waits for the next frame. False: there is none. */
static bool next_frame(
    struct gpume_job_ahead *ahead, const struct gpume_plane **plane, int64_t *time_us)
{
    pthread_mutex_lock(&ahead->mutex);
    if (ahead->taken - ahead->returned == GPUME_JOB_HELD) {
        ahead->returned++;
        pthread_cond_broadcast(&ahead->changed);
    }
    while (ahead->read == ahead->taken && !ahead->ended) {
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    }
    const bool found = ahead->read > ahead->taken;
    const uint64_t slot = ahead->taken % RING;
    ahead->taken += found;
    pthread_mutex_unlock(&ahead->mutex);
    *plane = &ahead->views[slot].plane;
    *time_us = found ? ahead->times_us[slot] : 0;
    return found;
}

/* Ends the thread, if it runs, and cancels the source if not all frames have been read. Returns
 * what ended the reading, as gpume_source_read does; GPUME_OK: all frames that were asked for. */
static int stop_reading(struct gpume_job_ahead *ahead)
{
    if (!ahead->running) {
        return ahead->status;
    }
    pthread_mutex_lock(&ahead->mutex);
    ahead->stop = true;
    if (!ahead->ended) {
        gpume_source_cancel(ahead->source);
    }
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    pthread_join(ahead->thread, NULL);
    ahead->running = false;
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    return ahead->status;
}

/* --- the video */

static void *load_drivers(void *opaque)
{
    uint32_t count = 0;
    (void)opaque;
    (void)gpume_list_devices(NULL, 0, &count);
    return NULL;
}

enum gpume_exit gpume_job_find_range(
    struct gpume_cli_job *job, const struct gpume_frame_range *range)
{
    const int64_t begin = range->start.is_time ? range->start.us : 0;
    const int64_t times[2] = {begin, begin + range->duration_us};
    uint64_t frames[2] = {range->start.frame, GPUME_FIND_NONE};
    if (range->start.is_time || range->duration_us > 0) {
        struct gpume_source_options wanted = job->wanted;
        wanted.log = gpume_console_errors;
        const int status =
            gpume_find_frames(&wanted, times, frames, range->duration_us > 0 ? 2 : 1);
        if (status != GPUME_OK) {
            return gpume_source_exit(status);
        }
    }
    if (frames[0] == GPUME_FIND_NONE) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: ends before the time that --start names; give an earlier one",
            job->common->inputs[0]);
    }
    if (frames[1] == frames[0]) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: no frame lies within --duration; give a longer one", job->common->inputs[0]);
    }
    job->skip = frames[0];
    job->frames_max = frames[1] == GPUME_FIND_NONE ? job->frames_max : frames[1] - frames[0];
    return GPUME_EXIT_DONE;
}

static enum gpume_exit skip_frames(struct gpume_cli_job *job)
{
    const int status = job->skip > 0 ? gpume_source_skip(job->source, job->skip) : GPUME_OK;
    if (status != GPUME_EOF) {
        return gpume_source_exit(status);
    }
    return gpume_refuse(GPUME_EXIT_INPUT,
        "%s: has no frame %" PRIu64 ", with which --start begins; give a lower one",
        job->info.label, job->skip);
}

enum gpume_exit gpume_job_open_video(struct gpume_cli_job *job, bool ahead)
{
    /* Opening a video and loading drivers take tens of milliseconds each, so they overlap. */
    pthread_t loader;
    const bool loading =
        job->loads_drivers && pthread_create(&loader, NULL, load_drivers, NULL) == 0;
    const int status = gpume_source_open_inputs(&job->source, &job->wanted, &job->info);
    if (loading) {
        pthread_join(loader, NULL);
    }
    if (status != GPUME_OK) {
        return gpume_source_exit(status);
    }
    const uint64_t all = job->info.frames > job->skip ? job->info.frames - job->skip : 0;
    const uint64_t most = job->frames_max;
    gpume_progress_init(
        &job->progress, job->common, most > 0 && (all == 0 || most < all) ? most : all);
    job->progress.unit = "frames";
    if (ahead) {
        (void)gpume_source_share(&job->wanted, job->source, job->frames_max,
            job->params->backend != GPUME_BACKEND_CPU, UINT64_MAX);
    }
    const enum gpume_exit result = skip_frames(job);
    return result || !ahead ? result : start_reading(job);
}

enum gpume_exit gpume_job_result(enum gpume_exit result)
{
    if (!gpume_signals_caught()) {
        return result;
    }
    gpume_signals_say_interrupted();
    return GPUME_EXIT_FAILED;
}

enum gpume_exit gpume_job_read(struct gpume_cli_job *job, gpume_job_take_fn take, void *client)
{
    const struct gpume_plane *plane;
    int64_t time_us;
    int taken = GPUME_OK;
    if (!job->unguarded) {
        gpume_signals_attach(job->ctx, job->filter, job->source);
    }
    while (
        taken == GPUME_OK && !gpume_signals_caught() && next_frame(job->ahead, &plane, &time_us)) {
        job->frames++;
        taken = take(client, plane, time_us);
        gpume_progress_step(&job->progress, job->frames, (double)NAN);
    }
    const int status = stop_reading(job->ahead);
    if (!job->unguarded) {
        gpume_signals_keep();
    }
    gpume_progress_finish(&job->progress, job->frames);
    if (status == GPUME_OK) {
        gpume_source_warn(job->source); /* the end of the input was not reached */
    }
    return gpume_signals_caught() ? gpume_job_result(GPUME_EXIT_FAILED)
           : taken != GPUME_OK    ? gpume_exit_of_engine(taken)
           : status != GPUME_EOF  ? gpume_source_exit(status)
                                  : GPUME_EXIT_DONE;
}

/* --- engines */

enum gpume_exit gpume_job_open_engine(struct gpume_cli_job *job, const struct gpume_params *params)
{
    if (gpume_library_check(params) != GPUME_OK) { /* at this bit depth */
        return GPUME_EXIT_USAGE;
    }
    int status = gpume_open(&job->ctx, params);
    if (status == GPUME_OK && params->validate) { /* all that is there */
        status = gpume_open_devices(job->ctx);
    }
    if (status == GPUME_OK) {
        gpume_console_forget_error();
    } else if (status == GPUME_INVALID) { /* the picture's size or a kernel: options are checked */
        gpume_console_error_about(job->info.label);
    }
    return gpume_exit_of_engine(status);
}

struct gpume_lookahead_params gpume_job_lookahead(const struct gpume_cli_job *job)
{
    return (struct gpume_lookahead_params){
        .width = job->info.width,
        .height = job->info.height,
        .lent = GPUME_JOB_HELD - 1,
        .backend = job->params->backend,
        .device = job->params->device,
        .threads = job->params->threads,
        .cache_dir = gpume_host_cache_folder(),
        .log = gpume_library_log,
    };
}

enum gpume_exit gpume_job_opened(const struct gpume_cli_job *job, int status, const char *engine)
{
    if (status == GPUME_OK) {
        if (!gpume_signals_caught()) { /* else it is the line of --timeout */
            gpume_console_forget_error();
        }
        gpume_console_info("engine: %s", engine);
    } else if (status == GPUME_INVALID) {
        gpume_console_error_about(job->info.label);
    }
    return gpume_exit_of_engine(status);
}

/* --- the job */

enum gpume_exit gpume_job_open_output(struct gpume_cli_job *job, size_t index)
{
    struct gpume_job_output *output = &job->outputs[index];
    const int status = gpume_out_open_in(&output->out, &job->set, output->path, &gpume_console);
    return status == GPUME_INVALID ? GPUME_EXIT_USAGE : gpume_exit_of_writer(status);
}

enum gpume_exit gpume_job_complete(struct gpume_cli_job *job)
{
    int status = GPUME_OK;
    for (size_t i = 0; i < job->output_count && status == GPUME_OK; i++) {
        status = job->outputs[i].out ? gpume_out_finish(job->outputs[i].out) : GPUME_OK;
    }
    return gpume_exit_of_writer(status ? status : gpume_out_set_name(&job->set, &gpume_console));
}

/* Steps 1 to 3: a signal ends the program. */
static enum gpume_exit begin(
    struct gpume_cli_job *job, const struct gpume_job_work *work, void *client)
{
    enum gpume_exit result = GPUME_EXIT_DONE;
    job->set.overwrite = job->common->overwrite;
    if (job->choice) {
        job->wanted = gpume_source_options_make(job->common, job->choice, job->params);
        job->inputs = job->common->inputs;
        job->input_count = job->common->input_count;
    }
    if (work->plan) {
        result = work->plan(client);
    } else if (!work->print) {
        result = gpume_exit_of_writer(gpume_job_add(job, NULL, job->output ? job->output : "-"));
    }
    job->unguarded = job->unguarded || (work->print && job->output_count == 0);
    result = result ? result : gpume_job_check(job);
    result = result || !job->choice ? result : gpume_job_open_video(job, work->take);
    return result || !work->prepare ? result : work->prepare(client);
}

/* Steps 4 to 6. */
static enum gpume_exit do_work(
    struct gpume_cli_job *job, const struct gpume_job_work *work, void *client)
{
    enum gpume_exit result = GPUME_EXIT_DONE;
    for (size_t i = 0; i < job->output_count && result == GPUME_EXIT_DONE; i++) {
        result = job->outputs[i].ops ? result : gpume_job_open_output(job, i);
    }
    if (result == GPUME_EXIT_DONE && work->print && job->common->form == GPUME_FORM_CSV) {
        if (job->unguarded) {
            gpume_signals_end();
        }
        result = gpume_exit_of_writer(gpume_out_open(&job->csv, "-", true, &gpume_console));
    }
    result = result || !work->open ? result : work->open(client);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    result = work->take  ? gpume_job_read(job, work->take, client)
             : work->run ? work->run(client)
                         : GPUME_EXIT_DONE;
    result = result || !work->finish ? result : work->finish(client);
    return work->abandon ? result : gpume_job_result(result);
}

static int print_answer(
    struct gpume_cli_job *job, const struct gpume_job_work *work, const void *client)
{
    struct gpume_json json = {0};
    if (job->csv) {
        if (work->put_csv) {
            work->put_csv(client, job->csv);
        }
        return gpume_out_finish(job->csv);
    }
    if (!work->print) {
        return GPUME_OK;
    }
    if (job->common->form != GPUME_FORM_JSON) {
        if (!work->optional || job->common->verbosity >= 0) {
            work->print(client);
        }
        return gpume_console_flush_output(work->optional ? "the table" : NULL) ? GPUME_OK
                                                                               : GPUME_IO;
    }
    GPUME_CHECK(gpume_out_open(&json.out, "-", true, &gpume_console));
    gpume_json_begin(&json, NULL);
    gpume_json_count(&json, "format", work->format);
    gpume_json_text(&json, "gpume", gpume_version());
    work->put_json(client, &json);
    gpume_json_end(&json);
    const int status = gpume_out_finish(json.out);
    gpume_out_close(&json.out);
    return status;
}

/* The summary, and the names of what was written. */
static enum gpume_exit conclude_job(
    struct gpume_cli_job *job, const struct gpume_job_work *work, void *client)
{
    const int verbosity = job->common->verbosity;
    if (!work->conclude) {
        return GPUME_EXIT_DONE;
    }
    const bool wanted = verbosity > 0 || (verbosity == 0 && !job->to_stdout);
    FILE *stream = !wanted || job->common->form != GPUME_FORM_TABLE ? NULL
                   : job->to_stdout                                 ? stderr
                                                                    : stdout;
    const enum gpume_exit result = work->conclude(client, stream);
    for (size_t i = 0; i < job->output_count && stream; i++) {
        if (!gpume_text_is_stdout(job->outputs[i].path)) {
            gpume_console_print_written(job->outputs[i].path, stream);
        }
    }
    return gpume_console_flush_output("the summary") ? result : GPUME_EXIT_FAILED;
}

enum gpume_exit gpume_job_run(
    struct gpume_cli_job *job, const struct gpume_job_work *work, void *client)
{
    enum gpume_exit result = begin(job, work, client);
    const bool begun = result == GPUME_EXIT_DONE;
    if (begun && !job->unguarded) {
        gpume_signals_attach(job->ctx, job->filter, job->source);
    }
    result = begun ? do_work(job, work, client) : result;
    /* Also after a failure, whose line may have to wait for its reader. */
    gpume_signals_detach(result == GPUME_EXIT_DONE);
    /* Closing may report messages of the validation layer. */
    const bool sound =
        gpume_close(&job->ctx) == GPUME_OK && gpume_filter_close(&job->filter) == GPUME_OK;
    result = sound || result ? result : GPUME_EXIT_FAILED;
    if (result != GPUME_EXIT_DONE) {
        return begun && work->abandon ? work->abandon(client, result) : result;
    }
    result = work->complete ? work->complete(client) : gpume_job_complete(job);
    result = result ? result : gpume_exit_of_writer(print_answer(job, work, client));
    return result ? result : conclude_job(job, work, client);
}

void gpume_job_close(struct gpume_cli_job *job)
{
    for (size_t i = 0; i < job->output_count; i++) {
        gpume_sink_close(&job->sinks[i]);
        gpume_out_close(&job->outputs[i].out);
    }
    gpume_out_close(&job->csv);
    remove_folder(job);
    gpume_close(&job->ctx);
    gpume_filter_close(&job->filter);
    if (job->ahead) {
        (void)stop_reading(job->ahead);
    }
    gpume_source_close(&job->source);
    for (uint32_t i = 0; job->ahead && i < RING; i++) {
        gpume_luma_view_close(&job->ahead->views[i]);
    }
    free(job->ahead);
    for (size_t i = 0; i < job->output_count; i++) {
        free(job->outputs[i].path);
        free(job->outputs[i].plain);
    }
    free(job->folder);
}
