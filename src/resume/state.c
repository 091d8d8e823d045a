/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state is JSON by lines, as files/json.h writes it, read back by lines: first the job, which
 * is compared as text, then numbers.
 */
#include "resume/state.h"

#include "base/checksum.h"
#include "base/status.h"
#include "files/bytes.h"
#include "files/json.h"
#include "files/out.h"
#include "files/path.h"
#include "resume/files.h"
#include "resume/identity.h"
#include "resume/job.h"
#include "resume/sums.h"
#include "vectors/format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_FORMAT 3
#define STATE_BYTES_MAX ((size_t)1024 * 1024) /* has a few thousand, and names of files */
#define BOOT_BYTES 64

static const char tail[] = ".gpume-state";
static const char boot_path[] = "/proc/sys/kernel/random/boot_id";
static const char whole[] = "the state of the run";
static const char progress_key[] = "\n  \"progress\": {";

char *gpume_run_state_path(const char *path)
{
    char *final = gpume_path_resolve(path); /* links in a ring are refused elsewhere */
    char *state = gpume_path_beside(final ? final : path, ".", GPUME_TEMPORARY_SHOWN, tail);
    free(final);
    return state;
}

/* Changes whenever the machine starts; "" where that cannot be known. */
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

static void put_identity(struct gpume_json *json, const char *name, const char *identity)
{
    char key[64];
    snprintf(key, sizeof key, "%s" GPUME_RUN_JOB_IDENTITY, name);
    gpume_json_text(json, key, identity);
}

static void put_output(struct gpume_json *json, const struct gpume_run_state_output *output)
{
    char identity[GPUME_RUN_IDENTITY_BYTES];
    gpume_run_identity_of_output(output->path, identity);
    put_identity(json, output->name, identity);
}

static void put_job(struct gpume_json *json, const struct gpume_run_state *state)
{
    const struct gpume_run *run = state->summary->run;
    gpume_json_begin(json, NULL);
    gpume_json_count(json, "state", STATE_FORMAT);
    gpume_summary_put_job(state->summary, json);
    gpume_json_begin(json, "outputs");
    put_identity(json, "name", state->input->name);
    if (run->reference) {
        put_identity(json, "reference", state->input->reference);
    }
    gpume_json_count(json, GPUME_RUN_JOB_FILES, state->input->files);
    gpume_json_count(json, "prefilter weights", state->weights);
    gpume_json_count(json, "overlay-style", (uint64_t)run->overlay_style);
    gpume_json_count(json, "overlay-key", (uint64_t)run->overlay_key);
    gpume_json_text(json, "format", run->vectors_format ? run->vectors_format->name : NULL);
    gpume_json_count(json, "scale", run->overlay_scale);
    for (size_t i = 0; i < state->output_count; i++) {
        gpume_json_text(json, state->outputs[i].name, state->outputs[i].path);
        put_output(json, &state->outputs[i]);
    }
    gpume_json_end(json);
}

/* A number of the output with that index. */
static void put_of(struct gpume_json *json, const char *what, size_t output, uint64_t value)
{
    char key[64];
    snprintf(key, sizeof key, "%s %zu", what, output);
    gpume_json_count(json, key, value);
}

static void put_progress(struct gpume_json *json, const struct gpume_run_state *state)
{
    struct gpume_summary summary = *state->summary;
    struct gpume_run_sums sums;
    char boot[BOOT_BYTES];
    gpume_run_sums_list(&summary, &sums);
    read_boot(boot);
    gpume_json_begin(json, "progress");
    gpume_json_truth(json, "partial", state->partial);
    gpume_json_truth(json, "ending", state->ending);
    gpume_json_text(json, "boot", state->synced ? NULL : boot);
    for (size_t i = 0; i < sums.count; i++) {
        const struct gpume_run_sum *sum = &sums.all[i];
        uint64_t bits;
        memcpy(&bits, sum->value ? (const void *)sum->value : sum->real, sizeof bits);
        gpume_json_count(json, sum->key, bits);
    }
    for (size_t i = 0; i < state->output_count; i++) {
        const struct gpume_run_state_output *output = &state->outputs[i];
        const struct gpume_out_mark *mark = &output->mark;
        if (output->marked) {
            put_of(json, "pid", i, mark->id.pid);
            put_of(json, "number", i, mark->id.number);
            put_of(json, "bytes", i, mark->bytes);
        }
        if (output->marked && mark->dated) {
            put_of(json, "changed at second", i, mark->changed_s);
            put_of(json, "and nanosecond", i, mark->changed_ns);
        }
    }
    gpume_json_end(json);
}

/* So that a state that somebody has changed is not believed: the last member. */
static void put_sum(struct gpume_json *json)
{
    gpume_json_count(
        json, "sum", gpume_checksum(GPUME_CHECKSUM_BEGIN, json->text->data, json->text->count));
    gpume_json_end(json);
}

int gpume_run_state_write(
    const struct gpume_run_state *state, const char *path, const struct gpume_log *log)
{
    int status;
    struct gpume_bytes text = {0};
    struct gpume_json json = {.text = &text};
    struct gpume_out *out = NULL;
    struct gpume_out_set set = {.overwrite = true, .own = true, .sync = state->synced};
    put_job(&json, state);
    put_progress(&json, state);
    put_sum(&json);
    GPUME_TRY(text.failed ? gpume_log_nomem(log, whole) : GPUME_OK);
    GPUME_TRY(gpume_out_open_in(&out, &set, path, log));
    GPUME_TRY(gpume_out_write(out, text.data, text.count));
    GPUME_TRY(gpume_out_finish(out));
fail:
    gpume_out_close(&out);
    gpume_bytes_finish(&text);
    return status;
}

static char *read_text(FILE *file)
{
    char *text = malloc(STATE_BYTES_MAX);
    if (text) {
        text[fread(text, 1, STATE_BYTES_MAX - 1, file)] = '\0';
    }
    if (text && ferror(file)) {
        free(text);
        text = NULL;
    }
    return text;
}

/* The whole file as a string for free(), and what it is. GPUME_EOF: there is none, or only a link,
 * which is not ours. */
static int load(const char *path, const struct gpume_log *log, char **text, struct stat *info)
{
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ELOOP)) {
        return GPUME_EOF;
    }
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    *text = file && fstat(fd, info) == 0 ? read_text(file) : NULL;
    const int error = errno;
    if (file) {
        fclose(file);
    } else if (fd >= 0) {
        (void)close(fd);
    }
    if (!*text) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "--resume: %s cannot be read: %s; try again, or start anew without --resume", path,
            strerror(error));
        return error == ENOMEM ? GPUME_NOMEM : GPUME_IO;
    }
    return GPUME_OK;
}

/* "    "key": 12"; false: it is not there. */
static bool find_number(const char *progress, const char *key, uint64_t *value)
{
    char start[96];
    snprintf(start, sizeof start, "\n    \"%s\": ", key);
    const char *at = strstr(progress, start);
    char *end = NULL;
    if (at) {
        *value = strtoull(at + strlen(start), &end, 10);
    }
    return at && end != at + strlen(start);
}

static bool find_of(const char *progress, const char *what, size_t output, uint64_t *value)
{
    char key[64];
    snprintf(key, sizeof key, "%s %zu", what, output);
    return find_number(progress, key, value);
}

static bool read_sums(struct gpume_summary *summary, const char *progress)
{
    struct gpume_run_sums sums;
    bool found = true;
    gpume_run_sums_list(summary, &sums);
    for (size_t i = 0; i < sums.count && found; i++) {
        const struct gpume_run_sum *sum = &sums.all[i];
        uint64_t bits;
        found = find_number(progress, sum->key, &bits);
        if (found) {
            memcpy(sum->value ? (void *)sum->value : sum->real, &bits, sizeof bits);
        }
    }
    return found;
}

static void read_outputs(struct gpume_run_state *state, const char *progress)
{
    for (size_t i = 0; i < state->output_count; i++) {
        struct gpume_run_state_output *output = &state->outputs[i];
        output->mark = (struct gpume_out_mark){.path = output->path,
            .other = state->ending    ? ""
                     : state->partial ? GPUME_OUT_PARTIAL
                                      : NULL};
        struct gpume_out_mark *mark = &output->mark;
        output->marked = find_of(progress, "pid", i, &mark->id.pid) &&
                         find_of(progress, "number", i, &mark->id.number) &&
                         find_of(progress, "bytes", i, &mark->bytes);
        mark->dated = find_of(progress, "changed at second", i, &mark->changed_s) &&
                      find_of(progress, "and nanosecond", i, &mark->changed_ns);
    }
}

static int distrust(const char *path, const struct gpume_log *log)
{
    gpume_log_write(log, GPUME_LOG_ERROR,
        "--resume: %s is not what the run has written, and cannot be trusted; start anew without "
        "--resume",
        path);
    return GPUME_INVALID;
}

/* Is it what was written, to the last byte? */
static int check_whole(const char *text, const char *path, const struct gpume_log *log)
{
    static const char key[] = ",\n  \"sum\": ";
    char end[64];
    const char *at = strstr(text, key);
    const uint64_t sum = at ? gpume_checksum(GPUME_CHECKSUM_BEGIN, text, (size_t)(at - text)) : 0;
    snprintf(end, sizeof end, "%s%" PRIu64 "\n}\n", key, sum);
    return at && strcmp(at, end) == 0 ? GPUME_OK : distrust(path, log);
}

/* Was it written since the machine started, or has it reached the disk? */
static int check_boot(const char *progress, const struct gpume_log *log)
{
    char boot[BOOT_BYTES], line[BOOT_BYTES + 32];
    read_boot(boot);
    snprintf(line, sizeof line, "\n    \"boot\": \"%s\",", boot);
    if (strstr(progress, "\n    \"boot\": null,") || strstr(progress, line)) {
        return GPUME_OK;
    }
    if (boot[0] == '\0') {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "--resume: %s cannot be read, which tells whether the machine has been restarted; try "
            "again, or start anew without --resume",
            boot_path);
        return GPUME_IO;
    }
    gpume_log_write(log, GPUME_LOG_ERROR,
        "--resume: the machine has been restarted since, and what the run had written may not "
        "have reached the disk; start anew without --resume");
    return GPUME_INVALID;
}

static int take(struct gpume_run_state *state, struct gpume_summary *summary, const char *text,
    const char *path, const struct gpume_log *log)
{
    int status;
    struct gpume_bytes now = {0};
    struct gpume_json json = {.text = &now};
    const char *progress = strstr(text, progress_key);
    put_job(&json, state);
    gpume_bytes_put(&now, ",", 2); /* what follows in the file */
    if (now.failed) {
        GPUME_TRY(gpume_log_nomem(log, whole));
    }
    if (!progress) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "--resume: %s says nothing that can be understood; start anew without --resume", path);
        GPUME_TRY(GPUME_INVALID);
    }
    GPUME_TRY(check_whole(text, path, log));
    GPUME_TRY(gpume_run_job_compare(text, progress, (const char *)now.data, log));
    GPUME_TRY(check_boot(progress, log));
    struct gpume_summary sums = *summary;
    if (!read_sums(&sums, progress)) {
        GPUME_TRY(distrust(path, log));
    }
    state->partial = strstr(progress, "\n    \"partial\": true") != NULL;
    state->ending = strstr(progress, "\n    \"ending\": true") != NULL;
    state->synced = strstr(progress, "\n    \"boot\": null") != NULL;
    read_outputs(state, progress);
    GPUME_TRY(gpume_run_files_check(state, &sums, log));
    *summary = sums;
fail:
    gpume_bytes_finish(&now);
    return status;
}

int gpume_run_state_read(struct gpume_run_state *state, struct gpume_summary *summary,
    const char *path, const struct gpume_log *log)
{
    char *text = NULL;
    struct stat info;
    int status = load(path, log, &text, &info);
    if (status == GPUME_OK) {
        state->saved_s = (uint64_t)info.st_mtim.tv_sec;
        state->saved_ns = (uint64_t)info.st_mtim.tv_nsec;
        status = take(state, summary, text, path, log);
    }
    free(text);
    return status;
}

/* Does the state of another run say that this one's output is its own, too? */
static bool says_output(const char *text, const struct gpume_run_state_output *output)
{
    struct gpume_bytes line = {0};
    struct gpume_json json = {.text = &line};
    put_output(&json, output);
    gpume_bytes_put(&line, "", 1);
    /* Behind the kind of output, which may be another. */
    const char *identity = line.failed ? NULL : strstr((char *)line.data, GPUME_RUN_JOB_IDENTITY);
    const bool said = identity && strstr(text, identity);
    gpume_bytes_finish(&line);
    return said;
}

static void remove_if_stale(const struct gpume_run_state *state, const char *path)
{
    char *text = NULL;
    struct stat info;
    bool stale = false;
    if (load(path, NULL, &text, &info) == GPUME_OK) {
        for (size_t i = 0; i < state->output_count && !stale; i++) {
            stale = says_output(text, &state->outputs[i]);
        }
    }
    free(text);
    if (stale) {
        (void)unlink(path);
    }
}

/* own: the state's own path. */
static void clear_folder(
    const struct gpume_run_state *state, const char *own, const char *path, size_t bytes)
{
    struct stat mine, other;
    char *folder = gpume_path_join(path, bytes, bytes > 0 ? "" : ".");
    DIR *dir = folder ? opendir(folder) : NULL;
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
    free(folder);
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
