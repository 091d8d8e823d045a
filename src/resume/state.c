/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The saved state is one JSON document: the format's number, the job, "progress", and a checksum
 * of all bytes before it. The job is what identifies a run: the members "gpume", "input" and
 * "parameters" of summary.json, "settings" that it lacks, the "identity" of what is read, and the
 * list "outputs".
 */
#include "resume/state.h"

#include "base/base.h"
#include "files/bytes.h"
#include "files/forms.h"
#include "files/json_reader.h"
#include "files/out.h"
#include "files/path.h"
#include "sinks/summary.h"
#include "vectors/format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
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

/* --- the job */

/* A 64-bit number is a string of its digits: JSON readers have at most 63 bits. */
static void put_number(struct gpume_json *json, const char *key, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    gpume_json_text(json, key, digits);
}

static void put_settings(struct gpume_json *json, const struct gpume_run_state *state)
{
    const struct gpume_run *run = state->summary->run;
    gpume_json_begin(json, "settings");
    put_number(json, "prefilter weights", state->weights);
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

/* Writes the members of the job into an object that has been begun. */
static void put_job(const struct gpume_run_state *state, struct gpume_json *json)
{
    char identity[GPUME_RUN_IDENTITY_BYTES];
    gpume_summary_put_job(state->summary, json);
    put_settings(json, state);
    gpume_json_begin(json, "identity");
    gpume_json_text(json, "name", state->input->name);
    gpume_json_text(json, "reference", state->input->reference);
    put_number(json, "files", state->input->files);
    gpume_json_text(json, "predictor", state->input->predictor);
    put_number(json, "predictor file", state->input->predictor_file);
    gpume_json_end(json);
    gpume_json_begin_list(json, "outputs");
    for (size_t i = 0; i < state->output_count; i++) {
        const struct gpume_run_state_output *output = &state->outputs[i];
        char *final = gpume_path_resolve(output->path); /* links are followed as files/out.h does */
        put_place_identity(identity, final ? final : output->path);
        free(final);
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
    put_job(state, &json);
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

/* GPUME_INVALID after one line: the saved state `was` is that of another job. GPUME_NOMEM. */
static int check_job(
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

/* Whether the saved state `other` has one of these outputs. */
static bool shares_output(const struct gpume_run_state *state, const json_t *other)
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

/* --- the state */

#define STATE_FORMAT 5
#define BOOT_BYTES 64

/* The end of every state, and its length. */
#define CHECKSUM_END ",\n  \"checksum\": \"%016" PRIx64 "\"\n}\n"
#define CHECKSUM_BYTES (sizeof ",\n  \"checksum\": \"0123456789abcdef\"\n}\n" - 1)

static const char tail[] = ".gpume-state";
static const char boot_path[] = "/proc/sys/kernel/random/boot_id";

char *gpume_run_state_path(const char *path)
{
    char *final = gpume_path_resolve(path); /* circular links are refused elsewhere */
    char *state = gpume_path_beside(final ? final : path, ".", GPUME_TEMPORARY_SHOWN, tail);
    free(final);
    return state;
}

/* The ID of the machine's current boot; "" if it is unknown. */
static void read_boot(char boot[BOOT_BYTES])
{
    FILE *file = fopen(boot_path, "r");
    boot[0] = '\0';
    if (file) {
        if (fgets(boot, BOOT_BYTES, file)) {
            boot[strspn(boot, "0123456789abcdefABCDEF-")] = '\0';
        }
        fclose(file);
    }
}

/* A sum that a resumed run continues. */
struct sum {
    char key[40];
    void *value; /* a uint64_t, or a double, of which the bits are saved */
};

#define SUMS_MAX 72 /* 3 times 17 and 18 */

/* Lists the summary's sums, always in the same order. Returns their number. */
static size_t list_sums(struct gpume_summary *s, struct sum sums[SUMS_MAX])
{
#define PLACE(member) offsetof(struct gpume_statistics, member)
#define TOTAL(name)                                                                                \
    {#name, PLACE(name.low)},                                                                      \
    {                                                                                              \
#name "_high", PLACE(name.high)                                                            \
    }
#define PSNR(name)                                                                                 \
    {#name "_finite", PLACE(name.finite)},                                                         \
    {                                                                                              \
#name "_bits", PLACE(name.sum)                                                             \
    }
    static const struct {
        const char *key;
        size_t place;
    } parts[] = {{"fields", PLACE(fields)}, {"counted", PLACE(blocks)}, {"border", PLACE(border)},
        TOTAL(zero), TOTAL(sad_before), TOTAL(sad_after), TOTAL(sse_before), TOTAL(sse_after),
        PSNR(psnr_before), PSNR(psnr_after)};
    const struct {
        const char *prefix;
        struct gpume_statistics *statistics;
    } groups[] = {{"", &s->all}, {"past_", &s->directions[0]}, {"future_", &s->directions[1]}};
    const struct {
        const char *key;
        uint64_t *value;
    } others[] = {
        {"targets", &s->targets},
        {"first_field", &s->first_field},
        {"last_field", &s->last_field},
        {"frames", &s->frames},
        {"checked", &s->checked},
        {"matched", &s->matched},
        {"candidates", &s->stats.candidates},
        {"past_blocks", &s->stats.past_blocks},
        {"past_parts", &s->stats.past_parts},
        {"upload_ns", gpume_summary_stage_ns(&s->stats, "upload")},
        {"match_ns", gpume_summary_stage_ns(&s->stats, "match")},
        {"reduce_ns", gpume_summary_stage_ns(&s->stats, "reduce")},
        {"rank_ns", gpume_summary_stage_ns(&s->stats, "rank")},
        {"readback_ns", gpume_summary_stage_ns(&s->stats, "readback")},
        {"busy_ns", &s->stats.busy_ns},
        {"decode_ns", &s->decode_ns},
        {"write_ns", &s->write_ns},
        {"whole_ns", &s->whole_ns},
    };
    size_t count = 0;
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            struct sum *sum = &sums[count++];
            snprintf(sum->key, sizeof sum->key, "%s%s", groups[g].prefix, parts[i].key);
            sum->value = (char *)groups[g].statistics + parts[i].place;
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct sum *sum = &sums[count++];
        snprintf(sum->key, sizeof sum->key, "%s", others[i].key);
        sum->value = others[i].value;
    }
    return count;
}

/* Where the temporary of an output is, or null. */
static void put_mark(struct gpume_json *json, const struct gpume_run_state_output *output)
{
    const struct gpume_out_mark *mark = &output->mark;
    if (!output->marked) {
        gpume_json_text(json, NULL, NULL);
        return;
    }
    gpume_json_begin(json, NULL);
    put_number(json, "pid", mark->id.pid);
    put_number(json, "number", mark->id.number);
    put_number(json, "bytes", mark->bytes);
    if (mark->dated) {
        put_number(json, "changed_s", mark->changed_s);
        put_number(json, "changed_ns", mark->changed_ns);
    }
    gpume_json_end(json);
}

static void put_progress(struct gpume_json *json, const struct gpume_run_state *state)
{
    struct gpume_summary summary = *state->summary;
    struct sum sums[SUMS_MAX];
    char boot[BOOT_BYTES];
    const size_t count = list_sums(&summary, sums);
    read_boot(boot);
    gpume_json_begin(json, "progress");
    gpume_json_truth(json, "partial", state->partial);
    gpume_json_truth(json, "ending", state->ending);
    gpume_json_text(json, "boot", state->synced ? NULL : boot);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, sums[i].value, sizeof bits);
        put_number(json, sums[i].key, bits);
    }
    gpume_json_begin_list(json, "marks");
    for (size_t i = 0; i < state->output_count; i++) {
        put_mark(json, &state->outputs[i]);
    }
    gpume_json_end_list(json);
    gpume_json_end(json);
}

static uint64_t checksum_of(const struct gpume_bytes *text, size_t count)
{
    return gpume_checksum(GPUME_CHECKSUM_BEGIN, text->data, count);
}

static void put_state(struct gpume_json *json, const struct gpume_run_state *state)
{
    char end[CHECKSUM_BYTES + 1];
    gpume_json_begin(json, NULL);
    gpume_json_count(json, "state", STATE_FORMAT);
    put_job(state, json);
    put_progress(json, state);
    snprintf(end, sizeof end, CHECKSUM_END, checksum_of(json->text, json->text->count));
    gpume_bytes_put(json->text, end, CHECKSUM_BYTES);
}

int gpume_run_state_write(
    const struct gpume_run_state *state, const char *path, const struct gpume_log *log)
{
    int status;
    struct gpume_bytes text = {0};
    struct gpume_json json = {.text = &text};
    struct gpume_out *out = NULL;
    struct gpume_out_set set = {
        .overwrite = true, .own = true, .leaves = true, .sync = state->synced};
    put_state(&json, state);
    GPUME_TRY(text.failed ? gpume_log_nomem(log, "the state of the run") : GPUME_OK);
    GPUME_TRY(gpume_out_open_in(&out, &set, path, log));
    GPUME_TRY(gpume_out_write(out, text.data, text.count));
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&out);
    gpume_bytes_finish(&text);
    return status;
}

/* --- the files of a saved state: whether they are still there and unchanged */

/* The references_of of a completed target, in the order of its fields. Returns their number. A
 * frame that no field needed does not exist, since the target had no field with it. */
static size_t references_of(const struct gpume_run *run, const struct gpume_summary *sums,
    uint64_t target, uint64_t refs[GPUME_REFERENCES_MAX])
{
    const struct gpume_params *params = &run->params;
    const bool several = params->distance_count > 0;
    size_t count = 0;
    if (run->asked->compat_ffmpeg && target == 0) {
        refs[count++] = 0; /* FFmpeg searches the first frame in itself */
    }
    for (uint32_t i = 0; i < (several ? params->distance_count : 1); i++) {
        const uint64_t distance = several ? params->distances[i] : params->ref_distance;
        if (params->direction != GPUME_DIRECTION_FUTURE && target >= distance) {
            refs[count++] = target - distance;
        }
        if (params->direction != GPUME_DIRECTION_PAST && target + distance < sums->frames) {
            refs[count++] = target + distance;
        }
    }
    return count;
}

/* GPUME_EOF: the file is missing. GPUME_INVALID: it is empty, or newer than the state. */
static int examine_file(const struct gpume_run_state *state, const char *name, const char **why)
{
    struct stat info;
    if (stat(name, &info) == 0) {
        /* Files were named before the state was saved. On a file system with coarse times both may
         * have the same time. */
        const uint64_t s = (uint64_t)info.st_mtim.tv_sec, ns = (uint64_t)info.st_mtim.tv_nsec;
        const bool later = s > state->saved_s || (s == state->saved_s && ns > state->saved_ns);
        const bool empty = S_ISREG(info.st_mode) && info.st_size == 0;
        *why = empty ? "is empty" : "has been modified since";
        return empty || later ? GPUME_INVALID : GPUME_OK;
    }
    const bool gone = errno == ENOENT || errno == ENOTDIR;
    *why = gone ? "is missing" : "cannot be examined";
    return gone ? GPUME_EOF : GPUME_IO;
}

/* The results for all files. */
struct findings {
    uint64_t files, gone;
    const struct gpume_run_state_output *bad; /* the first with a problem */
    struct gpume_pattern_numbers numbers;     /* of its file, if it is a series */
    const char *why;
    int status;
};

static void note_file(struct findings *findings, const struct gpume_run_state_output *output,
    int status, const char *why, struct gpume_pattern_numbers numbers)
{
    findings->files++;
    findings->gone += status == GPUME_EOF;
    if (status != GPUME_OK && !findings->bad) {
        findings->bad = output;
        findings->numbers = numbers;
        findings->why = why;
        findings->status = status == GPUME_EOF ? GPUME_INVALID : status;
    }
}

static void examine_number(struct findings *findings, const struct gpume_run_state *state,
    const struct gpume_run_state_output *output, struct gpume_pattern_numbers numbers)
{
    const char *why = "cannot be examined: out of memory";
    char *name = gpume_pattern_name_pair(output->path, numbers);
    const int status = name ? examine_file(state, name, &why) : GPUME_NOMEM;
    note_file(findings, output, status, why, numbers);
    free(name);
}

/* Whether it is the file of a completed field. */
static bool is_of_completed_field(const struct gpume_run *run, const struct gpume_summary *sums,
    bool pair, struct gpume_pattern_numbers numbers)
{
    uint64_t refs[GPUME_REFERENCES_MAX] = {0};
    const size_t count = pair ? references_of(run, sums, numbers.first, refs) : 1;
    size_t at = 0;
    while (at < count && refs[at] != numbers.second) {
        at++;
    }
    return numbers.first - sums->first_field < sums->targets && at < count;
}

/* *found: a file of the completed fields exists. */
static int find_any(const struct gpume_run_state_output *output, const struct gpume_run *run,
    const struct gpume_summary *sums, bool pair, bool *found)
{
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    const int status = gpume_pattern_list(output->path, &numbers, &count);
    *found = false;
    for (size_t i = 0; i < count && !*found; i++) {
        *found = is_of_completed_field(run, sums, pair, numbers[i]);
    }
    free(numbers);
    return status;
}

/* Up to the first problem, or the first file if none exists: a forged state may claim any number of
 * files. */
static void examine_series(struct findings *findings, const struct gpume_run_state *state,
    const struct gpume_run_state_output *output, const struct gpume_summary *sums)
{
    const struct gpume_run *run = state->summary->run;
    const enum gpume_pattern_kind kind = gpume_pattern_kind(output->path);
    const bool pair = kind == GPUME_PATTERN_PAIR;
    bool found = false;
    if (find_any(output, run, sums, pair, &found) != GPUME_OK) {
        note_file(findings, output, GPUME_NOMEM, "cannot be examined: out of memory",
            (struct gpume_pattern_numbers){0});
    }
    findings->files += found;
    for (uint64_t i = 0; i < sums->targets && !findings->bad; i++) {
        const uint64_t target = sums->first_field + i;
        uint64_t refs[GPUME_REFERENCES_MAX] = {0};
        const size_t count = pair ? references_of(run, sums, target, refs) : 1;
        for (size_t k = 0; k < count; k++) {
            examine_number(
                findings, state, output, (struct gpume_pattern_numbers){target, refs[k]});
        }
        if (count == 0 || kind == GPUME_PATTERN_PLAIN) {
            return; /* no run has such a target; one picture */
        }
    }
}

static int refuse_file(const struct findings *findings, const struct gpume_log *log)
{
    const struct gpume_run_state_output *bad = findings->bad;
    char *name = bad->series ? gpume_pattern_name_pair(bad->path, findings->numbers) : NULL;
    if (bad->series) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "--resume: %s, which holds a completed frame pair, %s; restore it, or start anew "
            "without --resume",
            name ? name : bad->path, findings->why);
    } else if (findings->status == GPUME_AGAIN) {
        gpume_log_write(log, GPUME_LOG_ERROR, "--resume: %s %s; wait for its end or stop it",
            bad->path, findings->why);
    } else {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "--resume: the partial result of %s %s; %sstart anew without --resume", bad->path,
            findings->why, findings->status == GPUME_INVALID ? "" : "try again, or ");
    }
    free(name);
    return findings->status;
}

/* GPUME_AGAIN after one line: another process is writing an output of the run. */
static int check_idle(const struct gpume_run_state *state, const struct gpume_log *log)
{
    for (size_t i = 0; i < state->output_count; i++) {
        const struct gpume_run_state_output *output = &state->outputs[i];
        struct findings findings = {.bad = output};
        bool moved;
        findings.status =
            output->marked ? gpume_out_set_look(&output->mark, &moved, &findings.why) : GPUME_OK;
        if (findings.status == GPUME_AGAIN) {
            return refuse_file(&findings, log);
        }
    }
    return GPUME_OK;
}

/* sums: of the completed frame pairs. Sets `moved` of each output. GPUME_EOF: none of the files is
 * left. After one line GPUME_INVALID: a file is missing or changed; GPUME_AGAIN: the run is still
 * under way; GPUME_IO, GPUME_NOMEM: the check failed. */
static int check_outputs_on_disk(
    struct gpume_run_state *state, const struct gpume_summary *sums, const struct gpume_log *log)
{
    struct findings findings = {0};
    for (size_t i = 0; i < state->output_count; i++) {
        struct gpume_run_state_output *output = &state->outputs[i];
        const char *why = NULL;
        if (output->marked) {
            const int status = gpume_out_set_look(&output->mark, &output->moved, &why);
            note_file(&findings, output, status, why, (struct gpume_pattern_numbers){0});
        }
    }
    /* Numbered files may be all that is left of the run. */
    for (size_t i = 0; i < state->output_count; i++) {
        if (state->outputs[i].series) {
            examine_series(&findings, state, &state->outputs[i], sums);
        }
    }
    if (findings.files > 0 && findings.gone == findings.files) {
        return GPUME_EOF;
    }
    return findings.bad ? refuse_file(&findings, log) : GPUME_OK;
}

/* A state file that was read. Starts as zero. */
struct saved {
    struct stat info;
    struct gpume_bytes text;
    json_t *document;
};

static void release_state(struct saved *saved)
{
    gpume_bytes_finish(&saved->text);
    json_decref(saved->document);
}

/* GPUME_EOF: there is none; a link is never one. GPUME_IO: with errno. Nothing is logged. */
static int load_state(struct saved *saved, const char *path)
{
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT || errno == ELOOP ? GPUME_EOF : GPUME_IO;
    }
    FILE *file = fstat(fd, &saved->info) == 0 ? fdopen(fd, "rb") : NULL;
    const int status = file ? gpume_json_read(file, 0, &saved->text, &saved->document) : GPUME_IO;
    const int error = errno;
    (void)(file ? fclose(file) : close(fd));
    errno = error;
    return status;
}

static int refuse_state(int status, const char *path, const struct gpume_log *log)
{
    if (status == GPUME_INVALID) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "--resume: %s is not the saved state of a run; start anew without --resume", path);
    } else if (status != GPUME_OK && status != GPUME_EOF) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "--resume: %s cannot be read: %s; try again, or start anew without --resume", path,
            strerror(status == GPUME_NOMEM ? ENOMEM : errno));
    }
    return status;
}

static bool read_number(const json_t *object, const char *key, uint64_t *value)
{
    char *end = NULL;
    const char *digits = json_string_value(json_object_get(object, key));
    if (digits) {
        *value = strtoull(digits, &end, 10);
    }
    return digits && end != digits && *end == '\0';
}

static bool read_sums(struct gpume_summary *summary, const json_t *progress)
{
    struct sum sums[SUMS_MAX];
    const size_t count = list_sums(summary, sums);
    bool found = true;
    for (size_t i = 0; i < count && found; i++) {
        uint64_t bits = 0;
        found = read_number(progress, sums[i].key, &bits);
        memcpy(sums[i].value, &bits, sizeof bits);
    }
    return found;
}

static void read_mark(
    struct gpume_run_state_output *output, const json_t *saved, const char *other_name)
{
    struct gpume_out_mark *mark = &output->mark;
    *mark = (struct gpume_out_mark){.path = output->path, .other = other_name};
    output->marked = read_number(saved, "pid", &mark->id.pid) &&
                     read_number(saved, "number", &mark->id.number) &&
                     read_number(saved, "bytes", &mark->bytes);
    mark->dated = read_number(saved, "changed_s", &mark->changed_s) &&
                  read_number(saved, "changed_ns", &mark->changed_ns);
}

static bool read_progress(
    struct gpume_run_state *state, struct gpume_summary *summary, const json_t *progress)
{
    state->partial = json_is_true(json_object_get(progress, "partial"));
    state->ending = json_is_true(json_object_get(progress, "ending"));
    state->synced = json_is_null(json_object_get(progress, "boot"));
    const char *other = state->ending ? "" : state->partial ? GPUME_OUT_PARTIAL : NULL;
    const json_t *marks = json_object_get(progress, "marks");
    for (size_t i = 0; i < state->output_count; i++) {
        read_mark(&state->outputs[i], json_array_get(marks, i), other);
    }
    return read_sums(summary, progress);
}

static int check_format(const json_t *document, const char *path, const struct gpume_log *log)
{
    const json_t *format = json_object_get(document, "state");
    if (!json_is_integer(format)) {
        return refuse_state(GPUME_INVALID, path, log);
    }
    if (json_integer_value(format) != STATE_FORMAT) {
        return gpume_log_fail(log, GPUME_INVALID,
            "--resume: %s was written by another version of gpume; resume with that version, or "
            "start anew without --resume",
            path);
    }
    return GPUME_OK;
}

static bool is_intact(const struct gpume_bytes *text)
{
    char end[CHECKSUM_BYTES + 1];
    if (text->count < CHECKSUM_BYTES) {
        return false;
    }
    const size_t body = text->count - CHECKSUM_BYTES;
    snprintf(end, sizeof end, CHECKSUM_END, checksum_of(text, body));
    return memcmp(text->data + body, end, CHECKSUM_BYTES) == 0;
}

static int distrust(const char *path, const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_INVALID,
        "--resume: %s has been changed since it was written; start anew without --resume", path);
}

/* GPUME_OK: what the run wrote has reached the disk, or the machine has not been restarted since.
 */
static int check_boot(const json_t *progress, const struct gpume_log *log)
{
    char boot[BOOT_BYTES];
    const json_t *saved = json_object_get(progress, "boot");
    const char *id = json_string_value(saved);
    read_boot(boot);
    if (json_is_null(saved) || (id && strcmp(id, boot) == 0)) {
        return GPUME_OK;
    }
    if (boot[0] == '\0') {
        return gpume_log_fail(log, GPUME_IO,
            "--resume: %s cannot be read, so a restart of the machine cannot be ruled out; try "
            "again, or start anew without --resume",
            boot_path);
    }
    return gpume_log_fail(log, GPUME_INVALID,
        "--resume: the machine has been restarted since, and the files may not have reached the "
        "disk; start anew without --resume");
}

static int take_state(struct gpume_run_state *state, struct gpume_summary *summary,
    const struct saved *saved, const char *path, const struct gpume_log *log)
{
    int status;
    struct gpume_summary sums = *summary;
    const json_t *progress = json_object_get(saved->document, "progress");
    GPUME_TRY(check_format(saved->document, path, log));
    GPUME_TRY(is_intact(&saved->text) ? GPUME_OK : distrust(path, log));
    if (read_progress(state, &sums, progress)) { /* of a run that may be another one */
        GPUME_TRY(check_idle(state, log));
    }
    GPUME_TRY(check_job(state, saved->document, log));
    GPUME_TRY(check_boot(progress, log));
    GPUME_TRY(read_progress(state, &sums, progress) ? GPUME_OK : distrust(path, log));
    state->saved_s = (uint64_t)saved->info.st_mtim.tv_sec;
    state->saved_ns = (uint64_t)saved->info.st_mtim.tv_nsec;
    GPUME_TRY(check_outputs_on_disk(state, &sums, log));
    *summary = sums;
fail:
    return status;
}

int gpume_run_state_read(struct gpume_run_state *state, struct gpume_summary *summary,
    const char *path, const struct gpume_log *log)
{
    struct saved saved = {0};
    int status = refuse_state(load_state(&saved, path), path, log);
    status = status ? status : take_state(state, summary, &saved, path, log);
    release_state(&saved);
    return status;
}

static void remove_if_stale(const struct gpume_run_state *state, const char *path)
{
    struct saved saved = {0};
    if (load_state(&saved, path) == GPUME_OK && shares_output(state, saved.document)) {
        (void)unlink(path);
    }
    release_state(&saved);
}

/* own: the path of this run's state, which stays. */
static void clear_folder(
    const struct gpume_run_state *state, const char *own, const char *path, size_t bytes)
{
    struct stat mine, other;
    DIR *dir = gpume_path_open_folder(path);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        const size_t length = strlen(entry->d_name), end = sizeof tail - 1;
        const bool is_state = entry->d_name[0] == '.' && length > end &&
                              strcmp(entry->d_name + length - end, tail) == 0;
        char *name = is_state ? gpume_path_join(path, bytes, entry->d_name) : NULL;
        if (name && lstat(name, &other) == 0 && S_ISREG(other.st_mode) &&
            (lstat(own, &mine) != 0 || mine.st_dev != other.st_dev ||
                mine.st_ino != other.st_ino)) {
            remove_if_stale(state, name);
        }
        free(name);
    }
    if (dir) {
        (void)closedir(dir);
    }
}

void gpume_run_state_supersede(const struct gpume_run_state *state, const char *path)
{
    char *last = NULL;
    for (size_t i = 0; i < state->output_count; i++) {
        char *final = gpume_path_resolve(state->outputs[i].path);
        const size_t bytes = final ? gpume_path_folder(final) : 0;
        if (final && !(last && gpume_path_folder(last) == bytes && !memcmp(last, final, bytes))) {
            clear_folder(state, path, final, bytes);
        }
        free(last);
        last = final;
    }
    free(last);
}
