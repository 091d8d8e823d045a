/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job is the members "gpume", "input" and "parameters" of summary.json, "settings" that it lacks,
 * the "identity" of what is read, and the list "outputs".
 */
#include "resume/state.h"

#include "base/checksum.h"
#include "base/status.h"
#include "files/bytes.h"
#include "files/json.h"
#include "files/json_reader.h"
#include "files/path.h"
#include "files/pattern.h"
#include "sinks/summary.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- identity: which files names refer to, however they are spelled */

static int stat_input(const char *path, struct stat *info)
{
    return strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, info) : stat(path, info);
}

bool gpume_run_identity_is_certain(const char *input)
{
    struct stat info;
    return strcmp(input, "-") != 0 || (stat_input(input, &info) == 0 && S_ISREG(info.st_mode));
}

static void put_file_identity(
    char identity[GPUME_RUN_IDENTITY_BYTES], const struct stat *file, const char *last)
{
    snprintf(identity, GPUME_RUN_IDENTITY_BYTES, "%ju:%ju:%s", (uintmax_t)file->st_dev,
        (uintmax_t)file->st_ino, last);
}

/* The folder and the last part, or the path if there is no such folder. */
static void put_place_identity(char identity[GPUME_RUN_IDENTITY_BYTES], const char *path)
{
    struct stat info;
    char folder[PATH_MAX];
    const size_t bytes = gpume_path_folder(path);
    snprintf(folder, sizeof folder, "%.*s", (int)bytes, bytes > 0 ? path : "");
    if (bytes < sizeof folder && stat(bytes > 0 ? folder : ".", &info) == 0) {
        put_file_identity(identity, &info, path + bytes);
    } else {
        snprintf(identity, GPUME_RUN_IDENTITY_BYTES, "%s", path);
    }
}

static void put_input_identity(const char *input, char identity[GPUME_RUN_IDENTITY_BYTES])
{
    struct stat info;
    const char *path = gpume_path_of_input(input);
    if (stat_input(path, &info) != 0) {
        put_place_identity(identity, path);
    } else if (S_ISREG(info.st_mode)) {
        put_file_identity(identity, &info, "");
    } else {
        snprintf(identity, GPUME_RUN_IDENTITY_BYTES, "%s", path);
    }
}

void gpume_run_identity_of_output(const char *path, char identity[GPUME_RUN_IDENTITY_BYTES])
{
    char *final = gpume_path_resolve(path);
    put_place_identity(identity, final ? final : path);
    free(final);
}

/* Without the device number, which may change when the machine is restarted. */
static uint64_t add_file(uint64_t sum, const struct stat *file)
{
    const uint64_t facts[] = {(uint64_t)file->st_ino, (uint64_t)file->st_size,
        (uint64_t)file->st_mtim.tv_sec, (uint64_t)file->st_mtim.tv_nsec};
    return gpume_checksum(sum, facts, sizeof facts);
}

/* The file of the input, or all files of a numbered name. */
static uint64_t add_files(uint64_t sum, const char *input)
{
    struct stat info;
    const char *path = gpume_path_of_input(input);
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    if (stat_input(path, &info) == 0) {
        return S_ISREG(info.st_mode) ? add_file(sum, &info) : sum;
    }
    if (gpume_pattern_kind(path) == GPUME_PATTERN_NUMBERED) {
        (void)gpume_pattern_list(path, &numbers, &count);
    }
    for (size_t i = 0; i < count; i++) {
        char *name = gpume_pattern_name(path, numbers[i].first);
        if (name && stat(name, &info) == 0) {
            sum = add_file(sum, &info);
        }
        free(name);
    }
    free(numbers);
    return sum;
}

void gpume_run_input_look(
    struct gpume_run_input *input, const char *name, const char *reference, const char *predictor)
{
    put_input_identity(name, input->name);
    input->reference[0] = input->predictor[0] = '\0';
    input->predictor_file = GPUME_CHECKSUM_BEGIN;
    input->files = add_files(GPUME_CHECKSUM_BEGIN, name);
    if (reference) {
        put_input_identity(reference, input->reference);
        input->files = add_files(input->files, reference);
    }
    if (predictor) {
        put_input_identity(predictor, input->predictor);
        input->predictor_file = add_files(input->predictor_file, predictor);
    }
}

bool gpume_run_input_is_same(const struct gpume_run_input *a, const struct gpume_run_input *b)
{
    return a->files == b->files && a->predictor_file == b->predictor_file &&
           strcmp(a->name, b->name) == 0 && strcmp(a->reference, b->reference) == 0 &&
           strcmp(a->predictor, b->predictor) == 0;
}

void gpume_run_put_number(struct gpume_json *json, const char *key, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    gpume_json_text(json, key, digits);
}

static void put_settings(struct gpume_json *json, const struct gpume_run_state *state)
{
    const struct gpume_run *run = state->summary->run;
    gpume_json_begin(json, "settings");
    gpume_run_put_number(json, "prefilter weights", state->weights);
    gpume_json_count(json, "overlay-style", (uint64_t)run->asked->look.style);
    gpume_json_count(json, "overlay-key", (uint64_t)run->asked->look.key);
    gpume_json_text(json, "format", run->format ? run->format->name : NULL);
    gpume_json_count(json, "scale", run->asked->look.scale);
    gpume_json_count(json, "arrow-length", (uint64_t)run->asked->look.arrow_length);
    gpume_json_count(json, "arrow-spacing", run->asked->look.arrow_spacing);
    gpume_json_real(json, "arrow-width", run->asked->look.arrow_width, 6);
    gpume_json_count(json, "dim", run->asked->look.dim);
    gpume_json_real(json, "min-length", run->asked->look.min_length, 6);
    gpume_json_real(json, "flow-max", run->asked->look.flow_max, 6);
    gpume_json_end(json);
}

void gpume_run_job_put(const struct gpume_run_state *state, struct gpume_json *json)
{
    char identity[GPUME_RUN_IDENTITY_BYTES];
    gpume_summary_put_job(state->summary, json);
    put_settings(json, state);
    gpume_json_begin(json, "identity");
    gpume_json_text(json, "name", state->input->name);
    gpume_json_text(json, "reference", state->input->reference);
    gpume_run_put_number(json, "files", state->input->files);
    gpume_json_text(json, "predictor", state->input->predictor);
    gpume_run_put_number(json, "predictor file", state->input->predictor_file);
    gpume_json_end(json);
    gpume_json_begin_list(json, "outputs");
    for (size_t i = 0; i < state->output_count; i++) {
        const struct gpume_run_state_output *output = &state->outputs[i];
        gpume_run_identity_of_output(output->path, identity);
        gpume_json_begin(json, NULL);
        gpume_json_text(json, "name", output->name);
        gpume_json_text(json, "path", output->path);
        gpume_json_text(json, "identity", identity);
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

/* NULL without memory. */
static json_t *describe_job(const struct gpume_run_state *state)
{
    struct gpume_bytes text = {0};
    struct gpume_json json = {.text = &text};
    gpume_json_begin(&json, NULL);
    gpume_run_job_put(state, &json);
    gpume_json_end(&json);
    json_t *job = text.failed ? NULL : json_loadb((const char *)text.data, text.count, 0, NULL);
    gpume_bytes_finish(&text);
    return job;
}

static bool is_same_member(const json_t *was, const json_t *now, const char *key)
{
    return json_equal(json_object_get(was, key), json_object_get(now, key));
}

/* Whether both identify the same file under this key. */
static bool is_same_file(const json_t *was, const json_t *now, const char *key)
{
    const char *a = json_string_value(json_object_get(was, key));
    const char *b = json_string_value(json_object_get(now, key));
    return a && b && a[0] && strcmp(a, b) == 0;
}

struct member {
    const char *key;
    const json_t *value; /* NULL: there is none */
};

static int refuse_member(struct member was, struct member now, const struct gpume_log *log)
{
    char a[GPUME_JSON_SHOWN_BYTES], b[GPUME_JSON_SHOWN_BYTES];
    gpume_json_show(was.value, a);
    gpume_json_show(now.value, b);
    return gpume_log_fail(log, GPUME_INVALID,
        "--resume: the interrupted run had \"%s\": %s, this one has \"%s\": %s; use the same, or "
        "start anew without --resume",
        was.key, a, now.key, b);
}

/* Two names are equal if they identify the same file. opaque: both jobs. */
static bool may_differ(const void *opaque, const char *key)
{
    const json_t *const *jobs = opaque;
    return gpume_summary_may_differ(key) || is_same_file(json_object_get(jobs[0], "identity"),
                                                json_object_get(jobs[1], "identity"), key);
}

static int check_section(
    const json_t *was_job, const json_t *now_job, const char *name, const struct gpume_log *log)
{
    const json_t *const jobs[] = {was_job, now_job};
    json_t *was = json_object_get(was_job, name), *now = json_object_get(now_job, name);
    const char *key = gpume_json_difference(now, was, may_differ, jobs);
    return !key ? GPUME_OK
                : refuse_member((struct member){key, json_object_get(was, key)},
                      (struct member){key, json_object_get(now, key)}, log);
}

static int check_files(const json_t *was_job, const json_t *now_job, const struct gpume_log *log)
{
    static const struct {
        const char *key, *name;
    } files[] = {{"files", "input"}, {"predictor file", "file of --predictor"}};
    const json_t *was = json_object_get(was_job, "identity");
    const json_t *now = json_object_get(now_job, "identity");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (!is_same_member(was, now, files[i].key)) {
            return gpume_log_fail(log, GPUME_INVALID,
                "--resume: the %s has changed since the run opened it; restore it, or start anew "
                "without --resume",
                files[i].name);
        }
    }
    return GPUME_OK;
}

/* An output's name and path. */
static struct member member_of(const json_t *output)
{
    const char *name = json_string_value(json_object_get(output, "name"));
    return (struct member){name ? name : "output", json_object_get(output, "path")};
}

static int check_outputs(const json_t *was, const json_t *now, const struct gpume_log *log)
{
    const json_t *was_list = json_object_get(was, "outputs");
    const json_t *now_list = json_object_get(now, "outputs");
    const size_t was_count = json_array_size(was_list), now_count = json_array_size(now_list);
    for (size_t i = 0; i < was_count && i < now_count; i++) {
        const json_t *a = json_array_get(was_list, i), *b = json_array_get(now_list, i);
        if (!is_same_member(a, b, "name") ||
            !(is_same_member(a, b, "path") || is_same_member(a, b, "identity"))) {
            return refuse_member(member_of(a), member_of(b), log);
        }
    }
    if (was_count != now_count) {
        return gpume_log_fail(log, GPUME_INVALID,
            "--resume: the interrupted run had other outputs; use the same, or start anew without "
            "--resume");
    }
    return GPUME_OK;
}

int gpume_run_job_check(
    const struct gpume_run_state *state, const json_t *was, const struct gpume_log *log)
{
    static const char *const sections[] = {"input", "parameters", "settings"};
    int status;
    json_t *now = describe_job(state);
    GPUME_TRY(now ? GPUME_OK : gpume_log_nomem(log, "the state of the run"));
    if (!is_same_member(was, now, "gpume")) {
        GPUME_TRY(refuse_member((struct member){"gpume", json_object_get(was, "gpume")},
            (struct member){"gpume", json_object_get(now, "gpume")}, log));
    }
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        GPUME_TRY(check_section(was, now, sections[i], log));
    }
    GPUME_TRY(check_files(was, now, log));
    GPUME_TRY(check_outputs(was, now, log));
fail:
    json_decref(now);
    return status;
}

bool gpume_run_job_shares_output(const struct gpume_run_state *state, const json_t *other)
{
    json_t *job = describe_job(state);
    const json_t *mine = json_object_get(job, "outputs");
    const json_t *theirs = json_object_get(other, "outputs");
    bool shared = false;
    for (size_t i = 0; i < json_array_size(mine) && !shared; i++) {
        for (size_t k = 0; k < json_array_size(theirs) && !shared; k++) {
            shared = is_same_member(json_array_get(mine, i), json_array_get(theirs, k), "identity");
        }
    }
    json_decref(job);
    return shared;
}
