/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/complexity.h"

#include "encode/encoder.h"

const uint32_t gpume_complexity_qps[GPUME_COMPLEXITY_QPS] = {22, 27, 32, 37};

/* The mean of one more value. */
static void include_value(double *mean, uint64_t frames, double value)
{
    *mean += (value - *mean) / (double)frames;
}

static void add_bits(
    struct gpume_complexity *sum, const struct gpume_scene_frame *frame, bool first)
{
    const enum gpume_frame_type type = first ? GPUME_FRAME_IDR : GPUME_FRAME_P;
    const struct gpume_decision decision = {
        .coded = 1, /* not the first one, whose bits are the stream's, too */
        .type = type,
        .spectrum = first ? &frame->intra : &frame->inter,
    };
    const struct gpume_bits_model *model = gpume_encoders[0]->bits;
    struct gpume_bits_frame bits;
    gpume_bits_frame_init(&bits, model, &decision);
    for (uint32_t i = 0; i < GPUME_COMPLEXITY_QPS; i++) {
        const int32_t qp = (int32_t)(gpume_complexity_qps[i] * GPUME_QP_ONE);
        struct gpume_bits_prices prices;
        gpume_bits_find_prices(&prices, &model->of[false][type], qp);
        sum->bits[i] += gpume_bits_at(&bits, &prices, GPUME_BITS_SAME);
    }
}

void gpume_complexity_add(
    struct gpume_complexity *sum, const struct gpume_scene_frame *frame, bool first)
{
    const uint64_t frames = ++sum->frames;
    const double blocks = frame->blocks;
    include_value(&sum->luma, frames, frame->luma);
    include_value(&sum->spatial, frames, frame->spatial);
    include_value(&sum->temporal, frames, frame->temporal);
    include_value(&sum->intra_cost, frames, (double)frame->intra_cost / blocks);
    include_value(&sum->inter_cost, frames, (double)frame->inter_cost / blocks);
    include_value(&sum->intra_share, frames, frame->intra_blocks / blocks);
    add_bits(sum, frame, first);
}
