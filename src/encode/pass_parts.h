/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What pass.c keeps, and quality_pass.c: the QPs, losses and bits of second passes of a constant
 * quality. One thread at a time.
 */
#ifndef GPUME_ENCODE_PASS_PARTS_H
#define GPUME_ENCODE_PASS_PARTS_H

#include "base/base.h"
#include "encode/bits.h"
#include "encode/distortion.h"
#include "encode/encoder.h"
#include "encode/pass.h"
#include "encode/qp_map.h"
#include "encode/target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_out;

#define GPUME_PASS_QP_MAX (51 * GPUME_QP_ONE)

/* What is kept of a frame, in coded order. */
struct gpume_pass_row {
    uint32_t display;
    uint32_t before, intra;                /* the last I or P frame before it, and I frame */
    uint32_t intra_blocks, skipped_blocks; /* of the frame that was analysed */
    uint32_t kind;                         /* type, or what a fixed pass tells apart instead */
    uint32_t reuse; /* of a fixed pass: the factor for what later frames reuse, in 1/65536 */
    uint64_t cost, intra_cost;
    int32_t shift; /* of the QP for a CRF, by complexity, in 1/256 */
    /* Of the tree's offsets: mean, the part of it that noise may take, and mean around it. */
    int32_t tree, quiet, level;
    uint32_t noise; /* gpume_pass_noise; of an I frame, the mean of those after it, once known */
    uint32_t usual_bits; /* at USUAL_QP */
    struct gpume_bits_frame bits;
    struct gpume_weight weight;
};

/* Prices at one QP, by kind of frame. */
struct gpume_pass_prices {
    struct gpume_bits_prices of[GPUME_KINDS_MAX];
};

/* What the second passes of one picture size have in common. */
struct gpume_pass_size {
    struct gpume_pass_video video;
    /* Of bits, from the frames that were analysed to what the statistics say, by type. */
    uint32_t growth[GPUME_FRAME_B + 1];
    uint32_t loss_growth; /* of what is lost, in 1/65536 */
    struct gpume_map_axis x, y;
    /* Of the last OFFSETS_KEPT frames, by square: their offsets, the tree's part, and what noise
     * may take of that. NULL: none */
    int16_t *offsets, *trees, *quiet;
    unsigned char *record; /* of a frame, in the file */
    size_t squares, record_bytes;
    struct gpume_pass_size *next;
};

/* The QP of a frame, rounded to a whole one. */
struct gpume_pass_forced {
    enum gpume_frame_type type;
    int32_t qp;
};

/* Frames that share a CRF: all, or those of a scene of a split pass; and what is expected of them.
 */
struct gpume_pass_part {
    struct gpume_loss_range range;
    uint32_t least, most; /* the CRF is one of these, in 1/100 */
    uint64_t crf;
    struct gpume_loss mean;
    /* The CRF of the last encode, 0: there is none; what it gave, and how much better that was than
     * expected, in dB (measures.h). By how much this grows with the CRF, where the last two
     * tell. */
    uint64_t tried;
    double gave, more, growth;
};

/* One second pass. */
struct gpume_pass_rate {
    struct gpume_pass_size *size;
    struct gpume_encode_target target; /* of a size or fidelity: what it takes, from the end on */
    bool is_quality;
    uint64_t bitrate;                /* of a size or quality: known at the end */
    uint64_t bits;                   /* of a quality: of all frames, the same */
    struct gpume_loss mean;          /* of all frames, expected for a quality; 0: not known */
    int32_t qp;                      /* of the model, at which bitrate or quality is reached */
    struct gpume_pass_prices prices; /* at that QP */
    struct gpume_pass_prices less;   /* at one that doubles the quantizer's step */
    int32_t *frame_qps;              /* of all frames, for a quality; or NULL */
    uint8_t *levels; /* of the frames, if the decoder's buffer is limited; or NULL */
    struct gpume_pass_forced *forced; /* in displayed order, if QPs have a file; or NULL */
    struct gpume_encode_target asked; /* as it was added */
    struct gpume_pass_part *parts;    /* for a fidelity: the whole, or all scenes; or NULL */
    size_t part_count;
    double larger;  /* how many times as many bits an encode took as were expected; 0: not known */
    bool is_whole;  /* CRFs are whole: what QPs lack by that cannot be added to the offsets */
    int16_t *added; /* by frame: what was added to its offsets, in 1/256; or NULL */
    char *path, *tree_path, *qps_path;    /* path NULL: it has no files */
    struct gpume_out *stats, *tree, *qps; /* tree, qps NULL: there is none */
    struct gpume_pass_rate *next;
};

struct gpume_pass {
    struct gpume_pass_params params;
    struct gpume_pass_prices *levels; /* at each level, if the decoder's buffer is limited */
    const struct gpume_encoder *encoder;
    const struct gpume_bits_coefficients *model; /* by type of frame */
    struct gpume_pass_prices usual;              /* at USUAL_QP */
    struct gpume_pass_size *sizes;
    struct gpume_pass_rate *rates; /* in the order in which they were added */
    struct gpume_pass_rate **end;  /* where the next one goes */
    struct gpume_pass_row *rows;
    size_t count, room;
    int16_t *quiet; /* of the blocks of a frame: gpume_pass_find_quiet; 0 without */
    struct gpume_loss_frames losses; /* none, if they are not measured */
    struct gpume_loss_range *scenes; /* of a split pass; or NULL */
    size_t scene_count;
    struct gpume_crf_course course;
    /* Of all P frames: costs that vectors save which none of their neighbours tells, and intra
     * costs. Each is less than 2^64: 2^28 frames of 2^20 blocks of less than 2^16. */
    uint64_t lone_savings, p_costs;
    const uint32_t *planned; /* per cent, by type */
};

/* A frame's QP, its bits there, and those where the quantizer's step is twice as large. */
struct gpume_pass_sizing {
    int32_t qp;
    uint64_t bits, less;
};

/* GPUME_CANCELLED: the caller wants it to give up. */
static inline int gpume_pass_check_ended(const struct gpume_pass *pass)
{
    return pass->params.ended && pass->params.ended() ? GPUME_CANCELLED : GPUME_OK;
}

static inline int32_t gpume_pass_type_qp(
    const struct gpume_pass *pass, enum gpume_frame_type type, int32_t qp)
{
    return qp + pass->encoder->qp(pass->params.options, type);
}

/* The lowest QP of P frames: below 0 where x264 encodes samples of more than 8 bits, which it can
 * quantize more finely. */
static inline int32_t gpume_pass_lowest_qp(const struct gpume_pass *pass)
{
    return -gpume_pass_type_qp(pass, GPUME_FRAME_P, 0);
}

/* The nearest whole QP. */
static inline int32_t gpume_pass_whole_qp(int32_t qp)
{
    return (int32_t)gpume_div_nearest(qp, GPUME_QP_ONE) * GPUME_QP_ONE;
}

/* --- quality_pass.c */

/* Adds what the frame's vectors save to lone_savings and p_costs. */
void gpume_pass_count_vectors(struct gpume_pass *pass, const struct gpume_decision *decision);

/* Sets the CRF of a second pass with a fidelity, in 1/100. */
void gpume_pass_set_crf(
    const struct gpume_pass *pass, struct gpume_pass_rate *rate, uint32_t hundredths);

/* Of a frame whose level is known, in 1/256. */
int32_t gpume_pass_quality_qp(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, size_t index);

/* The strength of the tree in a frame for a CRF, as a part of that for a bitrate, in 1/256. */
int32_t gpume_pass_crf_strength(const struct gpume_pass *pass, size_t index);

/* The cost that a twentieth of the blocks with a reference and any detail do not exceed, at most
 * GPUME_PASS_NOISE_MAX. Noise leaves no block of a frame that is easy to predict; motion that is
 * not found, or light that changes, leaves such blocks. 0: no block has a reference. */
#define GPUME_PASS_NOISE_MAX 1023u
uint32_t gpume_pass_noise(const struct gpume_decision *decision);

/* What noise may take of the tree's offset of each block: 2 q^2 / c^2 of it, at most all, where c
 * is its intra cost, and q the one that a twentieth of the blocks with any detail do not exceed. Of
 * a block of noise alone, the best of many vectors predicts a little more than intra prediction
 * does, but a reference that keeps its noise helps it little. Such blocks cost up to 1.4 q. */
void gpume_pass_find_quiet(const struct gpume_decision *decision, int16_t *quiet);

/* How much of that it takes, in 1/256. */
int32_t gpume_pass_quiet_part(const struct gpume_pass *pass, uint32_t noise);

/* When all frames are known: finds the CRF of a fidelity, the QPs of frames, and the bitrate. */
int gpume_pass_settle_quality(struct gpume_pass *pass, struct gpume_pass_rate *rate);

/* The CRF is found anew by what an encode gave. *changed: whether it is another one. */
int gpume_pass_settle_again(struct gpume_pass *pass, struct gpume_pass_rate *rate,
    const struct gpume_pass_encode *encode, bool *changed);

/* Of a frame of a quality, after that. */
struct gpume_pass_sizing gpume_pass_size_frame(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, size_t index);

#endif
