/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * firstpass --filter: what is analysed is what gpume filter makes of the video, and the command
 * lines begin with it. One filtered video serves all second passes, so it suits the finest of them:
 * what that would not keep, the others would not either.
 */
#include "base/base.h"
#include "encode/commands.h"
#include "encode/encoder.h"
#include "firstpass/firstpass.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* 0: the size of the input, which is the largest. */
static uint64_t area_of(uint32_t width, uint32_t height)
{
    return width > 0 ? (uint64_t)width * height : UINT64_MAX;
}

/* Makes the filter's options suit a second pass, if that is finer than those before it. */
static void suit(struct gpume_filter_options *filter, const struct gpume_firstpass_rung *rung)
{
    const uint64_t value = rung->target.value;
    switch (rung->target.goal) {
    case GPUME_GOAL_CRF:
        filter->crf = fmin(filter->crf > 0 ? filter->crf : GPUME_CRF_MAX, (double)value / 100);
        break;
    case GPUME_GOAL_QP:
        filter->qp =
            gpume_min_u32(filter->qp > 0 ? filter->qp : GPUME_CRF_MAX, (uint32_t)(value / 100));
        break;
    case GPUME_GOAL_BITRATE: /* of equal ones, that of the smallest size is the finest */
        if (value / 1000 > filter->kbits ||
            (value / 1000 == filter->kbits &&
                area_of(rung->width, rung->height) <
                    area_of(filter->coded_width, filter->coded_height))) {
            filter->kbits = value / 1000;
            filter->coded_width = rung->width;
            filter->coded_height = rung->height;
        }
        break;
    default: /* its quality is known only after the analysis */
        break;
    }
}

struct gpume_filter_options gpume_firstpass_filter_options(
    const struct gpume_firstpass_options *options)
{
    const struct gpume_encoder *encoder = gpume_encoders[options->encoder];
    struct gpume_filter_options filter = {0};
    gpume_filter_options_default(&filter);
    filter.video = options->video;
    filter.strength = options->strength;
    const uint32_t sizes = options->sizes.count;
    for (uint32_t i = 0; i < options->targets.count * (sizes > 0 ? sizes : 1); i++) {
        struct gpume_firstpass_rung rung = options->targets.items[i % options->targets.count];
        const struct gpume_firstpass_rung *size =
            sizes > 0 ? &options->sizes.items[i / options->targets.count] : &rung;
        rung.width = size->width;
        rung.height = size->height;
        suit(&filter, &rung);
    }
    for (uint32_t i = 0; i < options->rungs.count; i++) {
        suit(&filter, &options->rungs.items[i]);
    }
    filter.kbits = filter.crf > 0 || !encoder->has_quality ? 0 : filter.kbits;
    filter.encoder = filter.crf > 0 || filter.qp > 0 || filter.kbits > 0 ? encoder : NULL;
    return filter;
}

/* What the filtered video is for. */
static void add_quality(const struct gpume_filter_options *options, struct gpume_argv *argv)
{
    char crf[GPUME_TARGET_TEXT_BYTES];
    gpume_argv_add_pair(argv, "--for", options->encoder->name);
    if (options->crf > 0) {
        const struct gpume_encode_target target = {
            GPUME_GOAL_CRF, (uint64_t)lround(options->crf * 100)};
        gpume_target_text(&target, crf);
        gpume_argv_add_pair(argv, "--crf", crf);
        return;
    }
    gpume_argv_add(argv, options->qp > 0 ? "--qp" : "--bitrate");
    gpume_argv_add(argv, "%" PRIu64, options->qp > 0 ? options->qp : options->kbits);
    if (options->coded_width > 0 && options->kbits > 0) {
        gpume_argv_add(argv, "--size");
        gpume_argv_add(argv, "%" PRIu32 "x%" PRIu32, options->coded_width, options->coded_height);
    }
}

void gpume_firstpass_filter_command(
    const struct gpume_filter_options *options, struct gpume_argv *argv)
{
    const struct gpume_source_options *source = &options->video.source;
    const char *input = options->video.common.inputs[0];
    const bool is_word = input[0] == '-' || strcmp(input, GPUME_COMMAND_OUTPUT) == 0;
    gpume_argv_add_pair(argv, "gpume", "filter");
    gpume_argv_add(argv, "%s%s", is_word ? "./" : "", input);
    if (options->encoder) {
        add_quality(options, argv);
    }
    gpume_argv_add(argv, "--strength");
    gpume_argv_add(argv, "%.9g", options->strength);
    if (source->filter) {
        gpume_argv_add_pair(argv, "--vf", source->filter);
    }
    if (source->stream >= 0) {
        gpume_argv_add(argv, "--stream");
        gpume_argv_add(argv, "%d", source->stream);
    }
    if (options->video.frames > 0) {
        gpume_argv_add(argv, "--frames");
        gpume_argv_add(argv, "%" PRIu64, options->video.frames);
    }
    if (source->trust.network) {
        gpume_argv_add(argv, "--allow-network");
    }
    if (source->trust.files) {
        gpume_argv_add(argv, "--allow-files");
    }
    if (source->trust.max_pixels > 0) {
        gpume_argv_add(argv, "--max-pixels");
        gpume_argv_add(argv, "%" PRIu64, source->trust.max_pixels);
    }
    gpume_argv_add_pair(argv, "-o", "-");
}
