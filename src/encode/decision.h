/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the analysis decides about one frame. All that a writer for an encoder needs stands here;
 * nothing depends on a bitrate.
 */
#ifndef GPUME_ENCODE_DECISION_H
#define GPUME_ENCODE_DECISION_H

#include <gpume/gpume.h>

#include <stdbool.h>
#include <stdint.h>

enum gpume_frame_type {
    GPUME_FRAME_IDR,
    GPUME_FRAME_I,
    GPUME_FRAME_P,
    GPUME_FRAME_B_REF, /* other frames refer to it */
    GPUME_FRAME_B,
};

/* 'I' for IDR frames, 'i', 'P', 'B' for reference frames, 'b'. */
static inline char gpume_frame_letter(enum gpume_frame_type type)
{
    return "IiPBb"[type];
}

static inline bool gpume_type_is_b(enum gpume_frame_type type)
{
    return type == GPUME_FRAME_B || type == GPUME_FRAME_B_REF;
}

/* A reference sample s is used as clip(((s * scale + round) >> denominator) + offset), where round
 * is half of 1 << denominator, or 0: H.264 8.4.2.3. scale == 1 << denominator and offset 0: none.
 */
struct gpume_weight {
    int32_t denominator, scale, offset; /* offset: in 8-bit samples */
};

/* The same as no weight at all. */
#define GPUME_WEIGHT_NONE ((struct gpume_weight){.denominator = 0, .scale = 1, .offset = 0})

static inline bool gpume_weight_is_none(const struct gpume_weight *weight)
{
    return weight->scale == 1 << weight->denominator && weight->offset == 0;
}

/* Where the prediction of a block comes from. */
enum gpume_source_kind {
    GPUME_FROM_SELF, /* neighbouring samples of its own frame */
    GPUME_FROM_PAST,
    GPUME_FROM_FUTURE,
    GPUME_FROM_BOTH,  /* the mean of a past and a future match */
    GPUME_FROM_STILL, /* the mean of both references at the block's own place */
};

#define GPUME_SHARES 64u /* both references of a mean together */

/* What the past reference counts in a mean: half, or by its distance, as by the implicit weights of
 * H.264 8.4.2.3.1, rounded to nearest. past <= frame <= future. */
static inline uint32_t gpume_past_share(
    bool by_distance, uint64_t past, uint64_t frame, uint64_t future)
{
    const uint64_t distance = future - past;
    if (!by_distance || distance == 0) {
        return GPUME_SHARES / 2;
    }
    return GPUME_SHARES - (uint32_t)((GPUME_SHARES * (frame - past) + distance / 2) / distance);
}

struct gpume_losses;
struct gpume_spectrum;

struct gpume_decision {
    uint64_t display, coded; /* positions of the frame in the two orders, from 0 */
    enum gpume_frame_type type;
    bool has_past, has_future;
    uint64_t past, future;       /* display positions of the nearest references */
    struct gpume_weight weight;  /* of the past reference */
    uint32_t blocks_x, blocks_y; /* squares of 16x16 pixels, in raster order */
    /* QP offset of each block in 1/256: tree and adaptive quantization together; of a GPUME_FRAME_B
     * adaptive quantization alone. */
    const int16_t *offsets;
    const int16_t *aq_offsets; /* of these, adaptive quantization alone */
    /* Of the cheapest prediction of each block: SATD at half resolution, of 8-bit samples, with the
     * penalties of costs.h. */
    const uint16_t *costs;
    const uint16_t *intra_costs;
    const uint8_t *kinds;                                     /* enum gpume_source_kind */
    const struct gpume_vector *past_vectors, *future_vectors; /* quarter pixels at half resolution;
                                                                 NULL without such a reference */
    uint64_t cost, intra_cost;                                /* sums over all blocks */
    uint32_t intra_blocks;                                    /* cheapest from their own frame */
    uint32_t skipped_blocks; /* of which nothing is coded, and that are not intra_blocks */
    const struct gpume_spectrum *spectrum; /* what is left to code: spectrum.h */
    const struct gpume_losses *losses;     /* what is lost: distortion.h; NULL: not measured */
};

/* Called for every frame in coded order. All arrays are valid during the call alone. A negative
 * gpume_status ends the analysis with that status. */
typedef int (*gpume_decision_fn)(void *opaque, const struct gpume_decision *decision);

#endif
