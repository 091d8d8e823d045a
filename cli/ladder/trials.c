/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume ladder --probes and --verify: single passes at a CRF by the encoder's program, whose
 * results are scaled back up and compared with the source.
 */
#include "encode/encoder.h"
#include "firstpass/report.h"
#include "firstpass/trial.h"
#include "host.h"
#include "job.h"
#include "ladder/ladder.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define CRF_NEAR 1.5 /* an encode whose CRF is as near as this says enough */

enum gpume_exit gpume_ladder_trials_check(const struct gpume_ladder *ladder)
{
    const char *option = ladder->options->verify       ? "--verify"
                         : ladder->options->probes > 0 ? "--probes"
                                                       : NULL;
    return option ? gpume_trial_check_program(option, ladder->encode.encoder->name)
                  : GPUME_EXIT_DONE;
}

/* One encode of a size. */
static enum gpume_exit encode_size(const struct gpume_ladder *ladder, const char *option,
    const struct gpume_ladder_size *size, double crf, struct gpume_ladder_encode *encode)
{
    const struct gpume_source_info *info = &ladder->job.info;
    const struct gpume_encode_target target = {GPUME_GOAL_CRF, (uint64_t)(crf * 100 + 0.5)};
    struct gpume_firstpass_entry entry = {
        .video = {size->width, size->height, info->rate_num, info->rate_den},
        .target = target,
        .outcome = {.target = target},
        .name = gpume_host_temporary("ladder"),
    };
    struct gpume_firstpass_report report = {
        .name = entry.name, .entries = &entry, .count = 1, .encoder = ladder->encode.encoder};
    const struct gpume_firstpass_source source = {
        .input = ladder->job.common->inputs[0],
        .filter = ladder->job.choice->filter,
        .info = info,
        .frames = ladder->job.frames,
    };
    const struct gpume_trial_pass trial = {.option = option,
        .video = &ladder->options->video,
        .encoder = ladder->encode.encoder,
        .entry = &entry,
        .restored = info};
    struct gpume_trial_measured measured = {0};
    int status = entry.name ? gpume_firstpass_report_make(&report, &ladder->encode, &source)
                            : gpume_refuse(GPUME_NOMEM, "%s: out of memory", option);
    const enum gpume_exit result =
        status ? gpume_exit_of_writer(status) : gpume_trial_run(&trial, &measured);
    *encode = (struct gpume_ladder_encode){
        crf, measured.bitrate, 255.0 * 255.0 / pow(10, measured.scores.psnr / 10)};
    gpume_argv_finish(&entry.ffmpeg);
    gpume_argv_finish(&entry.encoder);
    gpume_argv_finish(&entry.feed);
    free(entry.name);
    return result;
}

/* --- --probes */

static void add_encode(struct gpume_ladder_size *size, const struct gpume_ladder_encode *encode)
{
    size_t i = size->facts.encode_count++;
    for (; i > 0 && size->encodes[i - 1].crf > encode->crf; i--) {
        size->encodes[i] = size->encodes[i - 1];
    }
    size->encodes[i] = *encode;
}

/* Encodes a size where its curve has this bitrate, unless that is known. *made: counts encodes. */
static enum gpume_exit probe_size(
    struct gpume_ladder *ladder, size_t index, double bitrate, uint32_t *made)
{
    struct gpume_ladder_size *size = &ladder->sizes[index];
    struct gpume_ladder_point point;
    struct gpume_ladder_encode encode;
    if (!gpume_ladder_at(&ladder->curves[index], bitrate, &point)) {
        return GPUME_EXIT_DONE;
    }
    const double crf = round(point.crf * 10) / 10;
    for (size_t i = 0; i < size->facts.encode_count; i++) {
        if (fabs(size->encodes[i].crf - crf) < CRF_NEAR) {
            return GPUME_EXIT_DONE;
        }
    }
    const enum gpume_exit result = encode_size(ladder, "--probes", size, crf, &encode);
    if (result == GPUME_EXIT_DONE) {
        gpume_console_info("%" PRIu32 "x%" PRIu32 ", CRF %.1f: %.1f kbit/s, %.2f dB, where %.1f "
                           "and %.2f were expected",
            size->width, size->height, crf, encode.bitrate / 1000, gpume_ladder_psnr(encode.error),
            bitrate / 1000, point.psnr);
        add_encode(size, &encode);
        (*made)++;
    }
    return result;
}

enum gpume_exit gpume_ladder_probe(struct gpume_ladder *ladder)
{
    enum gpume_exit result = GPUME_EXIT_DONE;
    uint32_t made = 1;
    for (uint32_t round = 0; round < ladder->options->probes && made > 0; round++) {
        made = 0;
        if (round == 0) {
            const double top = gpume_ladder_bitrate_at(&ladder->curves[0], GPUME_LADDER_CRF_TOP);
            result = probe_size(ladder, 0, top, &made);
        }
        for (size_t i = 0; i + 1 < ladder->size_count && result == GPUME_EXIT_DONE; i++) {
            double bitrate;
            if (gpume_ladder_meet(&ladder->curves[i], &ladder->curves[i + 1], &bitrate) ==
                GPUME_LADDER_APART) {
                continue;
            }
            result = probe_size(ladder, i, bitrate, &made);
            result = result ? result : probe_size(ladder, i + 1, bitrate, &made);
        }
        if (result != GPUME_EXIT_DONE) {
            return result;
        }
        ladder->encodes += made;
        gpume_ladder_fill_curves(ladder);
    }
    return result;
}

/* --- --verify */

enum gpume_exit gpume_ladder_verify(struct gpume_ladder *ladder)
{
    enum gpume_exit result = GPUME_EXIT_DONE;
    for (size_t i = 0; i < ladder->rung_count && result == GPUME_EXIT_DONE; i++) {
        struct gpume_ladder_rung_row *rung = &ladder->rungs[i];
        const struct gpume_ladder_size *size = ladder->sizes;
        struct gpume_ladder_encode encode;
        while (size->width != rung->width || size->height != rung->height) {
            size++;
        }
        result = encode_size(ladder, "--verify", size, rung->crf, &encode);
        rung->measured_bitrate = encode.bitrate;
        rung->measured_kbit = encode.bitrate / 1000;
        rung->measured_psnr = gpume_ladder_psnr(encode.error);
        rung->bitrate_off = 100 * (encode.bitrate / rung->bitrate - 1);
        rung->psnr_off = rung->measured_psnr - rung->psnr;
    }
    return result;
}
