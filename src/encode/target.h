/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is asked of a second pass: a bitrate, a constant quality on the encoder's own scale, or one
 * of these by what it leads to: a size, or a fidelity to the source. For a constant quality, the
 * QPs of all frames follow from formulas that x264 and x265 share: with a tree, all P frames have
 * the same QP, and the tree decides where bits go; without one, the QP grows with the complexity of
 * the last frames. Fixed-point numbers.
 */
#ifndef GPUME_ENCODE_TARGET_H
#define GPUME_ENCODE_TARGET_H

#include "encode/decision.h"
#include "encode/options.h"

enum gpume_goal {
    GPUME_GOAL_BITRATE,
    GPUME_GOAL_CRF,  /* as the encoder's own --crf: size and quality are nearly the same */
    GPUME_GOAL_QP,   /* as its --qp: whole QPs by type of frame, and no QP offsets of blocks */
    GPUME_GOAL_PSNR, /* the CRF at which luma is expected to have it */
    GPUME_GOAL_SSIM,
    GPUME_GOAL_XPSNR,
    GPUME_GOAL_SIZE, /* the bitrate at which the video stream has it */
};

/* Limits of a CRF; of a bitrate. */
#define GPUME_CRF_MIN 1u
#define GPUME_CRF_MAX 51u
#define GPUME_KBITS_MAX 2000000u

struct gpume_encode_target {
    enum gpume_goal goal;
    uint64_t value; /* bits per second; bytes; SSIM in 1/10000; others in 1/100 */
};

bool gpume_goal_is_quality(enum gpume_goal goal); /* constant, by CRF or QP */
bool gpume_goal_is_fidelity(enum gpume_goal goal);
bool gpume_goal_is_weighed(enum gpume_goal goal);   /* for which the analysis finds weights */
bool gpume_goal_leads_to_crf(enum gpume_goal goal); /* that, a size or a bitrate, by its CRF */

/* Its name in options: that of the encoder for the first three. */
const char *gpume_target_option(enum gpume_goal goal);

/* The value as the encoder's program reads it: kbit/s or, for example, "23.5". A size ends with k
 * or M where it is whole in these. */
#define GPUME_TARGET_TEXT_BYTES 32
void gpume_target_text(
    const struct gpume_encode_target *target, char text[GPUME_TARGET_TEXT_BYTES]);

/* The same in a sentence: "500 kbit/s", "CRF 23.5", "an XPSNR of 42 dB", "a size of 700MB". */
#define GPUME_TARGET_SENTENCE_BYTES 64
void gpume_target_sentence(
    const struct gpume_encode_target *target, char text[GPUME_TARGET_SENTENCE_BYTES]);

/* CRFs that scenes got, beside the finest and the coarsest that there are. */
struct gpume_target_ends {
    uint32_t crf[2];
    size_t count[2]; /* scenes that have it */
    size_t scenes;   /* 1: the video as a whole */
    bool limited;    /* the coarsest is that of this search, not of the encoder */
};

/* Warns of scenes at an end, which may be far from what was asked. */
void gpume_target_warn_of_ends(const struct gpume_encode_target *asked,
    const struct gpume_target_ends *ends, const struct gpume_log *log);

/* What the encoders change for --qp: no tree and no adaptive quantization. Before options are
 * settled. */
void gpume_target_use_qp(struct gpume_encode_options *options);

/* The QP of P frames for a constant quality, but for complexity, in 1/256, as if samples had 8
 * bits. */
int32_t gpume_target_qp(const struct gpume_encode_target *target,
    const struct gpume_encode_options *options, uint32_t rate_num, uint32_t rate_den);

/* The part of the tree's mean offset that the QPs of a CRF take back, since the encoder's own tree
 * is weaker: in 1/256. */
int32_t gpume_target_tree_part(const struct gpume_encode_options *options);

/* The complexity of frames, in coded order. Starts as zero. */
struct gpume_crf_course {
    uint64_t costs, frames; /* sum of costs, and count, in 1/65536: what is older counts less */
    int64_t shifts, norm;   /* the same of the shifts of P frames */
    int32_t last, before;   /* shifts of the last two frames that are not B */
    bool last_intra, before_intra, began;
};

/* What the complexity of the next frame adds to its QP for a CRF, in 1/256: nothing with a tree. */
int32_t gpume_crf_shift(struct gpume_crf_course *course, const struct gpume_encode_options *options,
    const struct gpume_decision *decision);

#endif
