/* SPDX-License-Identifier: BSD-2-Clause */
#include "resume/files.h"

#include "files/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The references of a completed target, in the order of its fields. Returns their number. A frame
 * that no field needed does not exist, since the target had no field with it. */
static size_t references(const struct gpume_run *run, const struct gpume_summary *sums,
    uint64_t target, uint64_t refs[GPUME_REFERENCES_MAX])
{
    const struct gpume_params *params = &run->params;
    const bool several = params->distance_count > 0;
    size_t count = 0;
    if (run->compat && target == 0) {
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

/* Files were named before the state was saved. On a file system with coarse times both may have the
 * same time. */
static bool is_later(const struct stat *info, const struct gpume_run_state *state)
{
    const uint64_t s = (uint64_t)info->st_mtim.tv_sec, ns = (uint64_t)info->st_mtim.tv_nsec;
    return s > state->saved_s || (s == state->saved_s && ns > state->saved_ns);
}

/* GPUME_EOF: the file is missing. GPUME_INVALID: it is empty, or newer than the state. */
static int look_at_one(const struct gpume_run_state *state, const char *name, const char **why)
{
    struct stat info;
    if (stat(name, &info) == 0) {
        const bool empty = S_ISREG(info.st_mode) && info.st_size == 0;
        *why = empty ? "is empty" : "has been modified since";
        return empty || is_later(&info, state) ? GPUME_INVALID : GPUME_OK;
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

static void note(struct findings *findings, const struct gpume_run_state_output *output, int status,
    const char *why, struct gpume_pattern_numbers numbers)
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

static void look_at_number(struct findings *findings, const struct gpume_run_state *state,
    const struct gpume_run_state_output *output, struct gpume_pattern_numbers numbers)
{
    const char *why = "cannot be examined: out of memory";
    char *name = gpume_pattern_name_pair(output->path, numbers);
    const int status = name ? look_at_one(state, name, &why) : GPUME_NOMEM;
    note(findings, output, status, why, numbers);
    free(name);
}

/* Is it the file of a completed field? */
static bool is_completed(const struct gpume_run *run, const struct gpume_summary *sums, bool pair,
    struct gpume_pattern_numbers numbers)
{
    uint64_t refs[GPUME_REFERENCES_MAX] = {0};
    const size_t count = pair ? references(run, sums, numbers.first, refs) : 1;
    size_t at = 0;
    while (at < count && refs[at] != numbers.second) {
        at++;
    }
    return numbers.first - sums->first_field < sums->targets && at < count;
}

/* Does any file of the completed fields exist? */
static int find_any(const struct gpume_run_state_output *output, const struct gpume_run *run,
    const struct gpume_summary *sums, bool pair, bool *found)
{
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    const int status = gpume_pattern_list(output->path, &numbers, &count);
    *found = false;
    for (size_t i = 0; i < count && !*found; i++) {
        *found = is_completed(run, sums, pair, numbers[i]);
    }
    free(numbers);
    return status;
}

/* Up to the first problem, or the first file if none exists: a forged state may claim any number of
 * files. */
static void look_at_series(struct findings *findings, const struct gpume_run_state *state,
    const struct gpume_run_state_output *output, const struct gpume_summary *sums)
{
    const struct gpume_run *run = state->summary->run;
    const enum gpume_pattern_kind kind = gpume_pattern_kind(output->path);
    const bool pair = kind == GPUME_PATTERN_PAIR;
    bool found = false;
    if (find_any(output, run, sums, pair, &found) != GPUME_OK) {
        note(findings, output, GPUME_NOMEM, "cannot be examined: out of memory",
            (struct gpume_pattern_numbers){0});
    }
    findings->files += found;
    for (uint64_t i = 0; i < sums->targets && !findings->bad; i++) {
        const uint64_t target = sums->first_field + i;
        uint64_t refs[GPUME_REFERENCES_MAX] = {0};
        const size_t count = pair ? references(run, sums, target, refs) : 1;
        for (size_t k = 0; k < count; k++) {
            look_at_number(
                findings, state, output, (struct gpume_pattern_numbers){target, refs[k]});
        }
        if (count == 0 || kind == GPUME_PATTERN_PLAIN) {
            return; /* no run has such a target; one picture */
        }
    }
}

static int complain(const struct findings *findings, const struct gpume_log *log)
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

int gpume_run_files_check_idle(const struct gpume_run_state *state, const struct gpume_log *log)
{
    for (size_t i = 0; i < state->output_count; i++) {
        const struct gpume_run_state_output *output = &state->outputs[i];
        struct findings findings = {.bad = output};
        bool moved;
        findings.status =
            output->marked ? gpume_out_set_look(&output->mark, &moved, &findings.why) : GPUME_OK;
        if (findings.status == GPUME_AGAIN) {
            return complain(&findings, log);
        }
    }
    return GPUME_OK;
}

int gpume_run_files_check(
    struct gpume_run_state *state, const struct gpume_summary *sums, const struct gpume_log *log)
{
    struct findings findings = {0};
    for (size_t i = 0; i < state->output_count; i++) {
        struct gpume_run_state_output *output = &state->outputs[i];
        const char *why = NULL;
        if (output->marked) {
            const int status = gpume_out_set_look(&output->mark, &output->moved, &why);
            note(&findings, output, status, why, (struct gpume_pattern_numbers){0});
        }
    }
    /* Numbered files may be all that is left of the run. */
    for (size_t i = 0; i < state->output_count; i++) {
        if (state->outputs[i].series) {
            look_at_series(&findings, state, &state->outputs[i], sums);
        }
    }
    if (findings.files > 0 && findings.gone == findings.files) {
        return GPUME_EOF;
    }
    return findings.bad ? complain(&findings, log) : GPUME_OK;
}
