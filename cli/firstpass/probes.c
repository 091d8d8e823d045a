/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * firstpass --probes: the printed command line of each fidelity is run (trial.h), and its CRF
 * corrected by what came out. New files replace the old ones when all of a round are complete, the
 * report last.
 */
#include "encode/pass.h"
#include "files/out.h"
#include "firstpass/report.h"
#include "firstpass/trial.h"
#include "job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct probe {
    const struct gpume_firstpass_options *options;
    struct gpume_pass *pass;
    struct gpume_firstpass_report *report;
    struct gpume_fidelity_frame *frames;
    struct gpume_out_set *set;
};

static void tell(const struct gpume_firstpass_entry *entry,
    const struct gpume_fidelity_scores *scores, const struct gpume_pass_outcome *now, bool changed)
{
    const struct gpume_pass_outcome *outcome = &entry->outcome;
    const struct gpume_measure *measure = gpume_measure_of(entry->target.goal);
    char asked[GPUME_TARGET_SENTENCE_BYTES], crf[GPUME_TARGET_TEXT_BYTES],
        next[GPUME_TARGET_TEXT_BYTES];
    gpume_target_sentence(&entry->target, asked);
    gpume_target_text(&outcome->target, crf);
    gpume_target_text(&now->target, next);
    gpume_console_info("%s: CRF %s gave %.*f%s%s%s", asked, crf, measure->decimals,
        gpume_measure_score(measure, scores), measure->unit, changed ? ", so it is now " : "",
        changed ? next : "");
}

/* *moved: to another CRF; *dirty: the report says other things. */
static enum gpume_exit probe_entry(struct probe *probe, size_t index, bool *moved, bool *dirty)
{
    struct gpume_firstpass_entry *entry = &probe->report->entries[index];
    const struct gpume_trial_pass trial = {
        .option = "--probes",
        .video = &probe->options->video,
        .encoder = probe->report->encoder,
        .entry = entry,
        .frames = probe->frames,
        .frames_max = probe->report->frames,
    };
    struct gpume_trial_measured measured;
    const enum gpume_exit result = gpume_trial_run(&trial, &measured);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    const struct gpume_pass_encode encode = {
        .frames = probe->frames,
        .width = entry->video.width,
        .height = entry->video.height,
        .bits = measured.scores.bits,
        .bytes = measured.bytes,
    };
    bool changed = false;
    const int status = gpume_pass_correct(probe->pass, index, &encode, probe->set, &changed);
    if (status != GPUME_OK) {
        return gpume_exit_of_writer(status);
    }
    const struct gpume_pass_outcome now = gpume_pass_outcome(probe->pass, index);
    tell(entry, &measured.scores, &now, changed);
    *moved = *moved || changed;
    *dirty = *dirty || changed || entry->outcome.bitrate != now.bitrate;
    entry->outcome = now;
    return GPUME_EXIT_DONE;
}

/* Writes the report, and gives the new files their names. */
static enum gpume_exit replace_files(struct probe *probe, const struct gpume_encode_options *encode,
    const struct gpume_firstpass_source *source)
{
    const char *json = probe->set->seal;
    struct gpume_out *out = NULL;
    int status = gpume_firstpass_report_make(probe->report, encode, source);
    status = status ? status : gpume_out_open_in(&out, probe->set, json, &gpume_console);
    status = status ? status : gpume_firstpass_report_write(probe->report, out);
    status = status ? status : gpume_out_finish(out);
    status = status ? status : gpume_out_set_name(probe->set, &gpume_console);
    gpume_out_close(&out);
    return status ? gpume_exit_of_writer(status) : GPUME_EXIT_DONE;
}

#define NAMES_BYTES 1024

/* The files of the round that failed were dropped: which ones stand, and how often their CRFs were
 * corrected. */
static void warn_of_failure(const struct probe *probe, uint32_t rounds)
{
    char names[NAMES_BYTES] = "";
    size_t used = 0, left = 0;
    for (size_t i = 0; i < probe->report->count; i++) {
        const struct gpume_firstpass_entry *entry = &probe->report->entries[i];
        if (!gpume_goal_is_fidelity(entry->target.goal)) {
            continue;
        }
        const int length =
            snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", entry->name);
        if (length > 0 && (size_t)length < sizeof(names) - used) {
            used += (size_t)length;
        } else {
            names[used] = '\0';
            left++;
        }
    }
    char more[32] = "";
    if (left > 0) {
        snprintf(more, sizeof(more), " and %zu more", left);
    }
    if (rounds == 0) {
        gpume_console_warning(
            "%s%s: these files are complete, but their CRFs are not corrected by an encode", names,
            more);
    } else {
        gpume_console_warning("%s%s: the CRFs of these files are corrected by %" PRIu32
                              " encode%s each, not by the last one",
            names, more, rounds, gpume_plural(rounds));
    }
}

enum gpume_exit gpume_firstpass_probe(const struct gpume_firstpass_options *options,
    const struct gpume_encode_options *encode, const struct gpume_firstpass_source *source,
    struct gpume_pass *pass, struct gpume_firstpass_report *report, struct gpume_out_set *set)
{
    struct probe probe = {.options = options, .pass = pass, .report = report, .set = set};
    enum gpume_exit result = GPUME_EXIT_DONE;
    bool moved = true;
    probe.frames = calloc(report->frames, sizeof(*probe.frames));
    if (!probe.frames) {
        return gpume_refuse(GPUME_EXIT_FAILED, "--probes: out of memory");
    }
    gpume_trial_begin();
    uint32_t round = 0;
    for (; round < options->probes && moved && result == GPUME_EXIT_DONE; round++) {
        bool dirty = false;
        moved = false;
        for (size_t i = 0; i < report->count && result == GPUME_EXIT_DONE; i++) {
            if (gpume_goal_is_fidelity(report->entries[i].target.goal)) {
                result = probe_entry(&probe, i, &moved, &dirty);
            }
        }
        if (dirty && result == GPUME_EXIT_DONE) {
            result = replace_files(&probe, encode, source);
        }
    }
    if (result != GPUME_EXIT_DONE) {
        warn_of_failure(&probe, round - 1);
    }
    free(probe.frames);
    return result;
}
