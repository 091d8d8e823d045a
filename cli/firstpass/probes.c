/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * firstpass --probes: the printed command line of each fidelity is run (trial.h), and its CRF
 * corrected by what came out. New files replace the old ones when all of a round are complete, the
 * report last.
 */
#include "encode/pass.h"
#include "files/out.h"
#include "files/out_set.h"
#include "firstpass/report.h"
#include "firstpass/trial.h"
#include "job.h"
#include "signals.h"

#include <inttypes.h>
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
    const bool is_psnr = entry->target.goal == GPUME_GOAL_PSNR;
    char asked[GPUME_TARGET_TEXT_BYTES], crf[GPUME_TARGET_TEXT_BYTES],
        next[GPUME_TARGET_TEXT_BYTES];
    gpume_target_text(&entry->target, asked);
    gpume_target_text(&outcome->target, crf);
    gpume_target_text(&now->target, next);
    gpume_console_info("%s %s: CRF %s gave %.*f%s%s", gpume_target_option(entry->target.goal),
        asked, crf, is_psnr ? 2 : 4, is_psnr ? scores->psnr : scores->ssim,
        changed ? ", so it is now " : "", changed ? next : "");
}

/* *moved: to another CRF; *dirty: the report says other things. */
static enum gpume_exit probe_entry(struct probe *probe, size_t index, bool *moved, bool *dirty)
{
    struct gpume_firstpass_entry *entry = &probe->report->entries[index];
    const struct gpume_trial_pass trial = {
        .option = "--probes",
        .video = &probe->options->video,
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
    gpume_signals_keep();
    gpume_signals_end(); /* the files are complete, what is printed is not */
    for (uint32_t round = 0; round < options->probes && moved && result == GPUME_EXIT_DONE;
         round++) {
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
        gpume_console_warning(
            "%s.json and its files stand as they were before the last encode", report->name);
    }
    free(probe.frames);
    return result;
}
