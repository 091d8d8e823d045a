/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/target.h"

#include "base/base.h"
#include "encode/bits.h"
#include "encode/encoder.h"
#include "encode/fixed.h"
#include "encode/measures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ONE 65536

bool gpume_goal_is_quality(enum gpume_goal goal)
{
    return goal != GPUME_GOAL_BITRATE && goal != GPUME_GOAL_SIZE;
}

bool gpume_goal_is_fidelity(enum gpume_goal goal)
{
    return gpume_measure_of(goal) != NULL;
}

bool gpume_goal_is_weighed(enum gpume_goal goal)
{
    const struct gpume_measure *measure = gpume_measure_of(goal);
    return measure && measure->weighs;
}

bool gpume_goal_leads_to_crf(enum gpume_goal goal)
{
    return goal != GPUME_GOAL_CRF && goal != GPUME_GOAL_QP;
}

const char *gpume_target_option(enum gpume_goal goal)
{
    static const char *const options[] = {[GPUME_GOAL_BITRATE] = "bitrate",
        [GPUME_GOAL_CRF] = "crf",
        [GPUME_GOAL_QP] = "qp",
        [GPUME_GOAL_SIZE] = "size"};
    const struct gpume_measure *measure = gpume_measure_of(goal);
    return measure ? measure->name : options[goal];
}

/* With as many decimals as it takes, up to `digits`. */
static void print_decimal(char text[GPUME_TARGET_TEXT_BYTES], uint64_t value, int digits)
{
    uint64_t one = 1;
    for (int i = 0; i < digits; i++) {
        one *= 10;
    }
    int bytes = snprintf(text, GPUME_TARGET_TEXT_BYTES, "%" PRIu64, value / one);
    for (uint64_t part = value % one; part > 0 && bytes + 2 < GPUME_TARGET_TEXT_BYTES;) {
        one /= 10;
        bytes += snprintf(text + bytes, GPUME_TARGET_TEXT_BYTES - (size_t)bytes, "%s%" PRIu64,
            strchr(text, '.') ? "" : ".", part / one);
        part %= one;
    }
}

void gpume_target_text(const struct gpume_encode_target *target, char text[GPUME_TARGET_TEXT_BYTES])
{
    const uint64_t value = target->value;
    if (target->goal == GPUME_GOAL_BITRATE) {
        snprintf(text, GPUME_TARGET_TEXT_BYTES, "%" PRIu64, value / 1000);
    } else if (target->goal == GPUME_GOAL_SIZE) {
        const uint64_t unit = value % 1000000 == 0 ? 1000000 : value % 1000 == 0 ? 1000 : 1;
        snprintf(text, GPUME_TARGET_TEXT_BYTES, "%" PRIu64 "%s", value / unit,
            unit == 1      ? ""
            : unit == 1000 ? "k"
                           : "M");
    } else {
        const struct gpume_measure *measure = gpume_measure_of(target->goal);
        print_decimal(text, value, measure ? measure->decimals : 2);
    }
}

void gpume_target_sentence(
    const struct gpume_encode_target *target, char text[GPUME_TARGET_SENTENCE_BYTES])
{
    static const struct {
        const char *before, *after;
    } words[] = {[GPUME_GOAL_BITRATE] = {"", " kbit/s"},
        [GPUME_GOAL_CRF] = {"CRF ", ""},
        [GPUME_GOAL_QP] = {"QP ", ""},
        [GPUME_GOAL_SIZE] = {"a size of ", "B"}};
    const struct gpume_measure *measure = gpume_measure_of(target->goal);
    char value[GPUME_TARGET_TEXT_BYTES];
    gpume_target_text(target, value);
    if (measure) {
        snprintf(text, GPUME_TARGET_SENTENCE_BYTES, "%s %s of %s%s", measure->article,
            measure->people, value, measure->unit);
    } else {
        const char *after = words[target->goal].after;
        const bool is_bytes = target->goal == GPUME_GOAL_SIZE && target->value % 1000 != 0;
        snprintf(text, GPUME_TARGET_SENTENCE_BYTES, "%s%s%s", words[target->goal].before, value,
            is_bytes ? " bytes" : after);
    }
}

void gpume_target_warn_of_ends(const struct gpume_encode_target *asked,
    const struct gpume_target_ends *ends, const struct gpume_log *log)
{
    const bool is_fidelity = gpume_goal_is_fidelity(asked->goal);
    const char *const is[] = {
        is_fidelity ? "cannot be reached" : "is larger than the video can use",
        is_fidelity ? "is likely to be exceeded" : "is too small"};
    const char *const why[] = {"the finest",
        ends->limited ? "the coarsest that is chosen without an encode" : "the coarsest"};
    char text[GPUME_TARGET_SENTENCE_BYTES], where[64] = "";
    gpume_target_sentence(asked, text);
    for (size_t end = 0; end < 2; end++) {
        if (ends->scenes > 1) {
            snprintf(where, sizeof(where), " in %zu of %zu scenes", ends->count[end], ends->scenes);
        }
        if (ends->count[end] > 0) {
            gpume_log_write(log, GPUME_LOG_WARNING, "%s %s%s: CRF %" PRIu32 ", %s, is taken", text,
                is[end], where, ends->crf[end], why[end]);
        }
    }
}

void gpume_target_use_qp(struct gpume_encode_options *options)
{
    options->tree = false;
    options->aq_mode = 0;
}

/* --- formulas of a constant quality */

/* A tree lowers the QPs of blocks; this much is added to those of frames, times 1 - qcomp. */
#define TREE_QP (27 * GPUME_QP_ONE / 2)

/* The duration of a frame for which formulas are made, and limits, in milliseconds. */
#define USUAL_MS 40
#define SHORTEST_MS 10
#define LONGEST_MS 1000

/* 1 - qcomp, in 1/65536 */
static int64_t expansion(const struct gpume_encode_options *options)
{
    return ONE - gpume_fixed_from_double(options->qcomp);
}

/* 6 (1 - qcomp) octaves, where these are in 1/65536; in 1/256 */
static int32_t qp_of_octaves(const struct gpume_encode_options *options, int64_t octaves)
{
    return (int32_t)(expansion(options) * octaves / ONE * 6 * GPUME_QP_ONE / ONE);
}

/* Frames that are shown for a shorter time need less quality. */
static int32_t duration_qp(
    const struct gpume_encode_options *options, uint32_t rate_num, uint32_t rate_den)
{
    const uint64_t us = UINT64_C(1000000) * rate_den / rate_num;
    const uint64_t least = SHORTEST_MS * UINT64_C(1000), most = LONGEST_MS * UINT64_C(1000);
    const int32_t log = gpume_fixed_log2(us < least ? least : us > most ? most : us);
    return qp_of_octaves(options, gpume_fixed_log2(USUAL_MS * UINT64_C(1000)) - (int64_t)log);
}

int32_t gpume_target_qp(const struct gpume_encode_target *target,
    const struct gpume_encode_options *options, uint32_t rate_num, uint32_t rate_den)
{
    const int32_t asked = (int32_t)(target->value * GPUME_QP_ONE / 100);
    if (target->goal == GPUME_GOAL_QP) {
        return asked;
    }
    const int32_t tree =
        options->tree ? (int32_t)gpume_div_nearest(TREE_QP * expansion(options), ONE) : 0;
    return asked + tree + duration_qp(options, rate_num, rate_den);
}

int32_t gpume_target_tree_part(const struct gpume_encode_options *options)
{
    const struct gpume_encoder *encoder = options->encoder;
    const int64_t level = gpume_fixed_from_double(encoder->own_tree.level);
    const uint32_t skipped = gpume_min_u32(encoder->own_tree.skipped, options->rc_lookahead);
    const int64_t halves = (options->rc_lookahead - skipped) *
                           gpume_fixed_from_double(1 / encoder->own_tree.half_frames);
    const int64_t own = level * (ONE - (int64_t)gpume_fixed_exp2(-halves)) / ONE;
    const int64_t strength = gpume_fixed_from_double(encoder->tree.crf_strength[options->psy]);
    return (int32_t)(256 - own * 256 / strength);
}

/* The mean of a square, in 1/65536. Encoders leave out those at the edges, which cost more. */
static uint64_t mean_cost(const struct gpume_decision *decision)
{
    const uint32_t width = decision->blocks_x, height = decision->blocks_y;
    const bool has_inner = width > 2 && height > 2;
    const uint32_t edge = has_inner ? 1 : 0;
    uint64_t sum = 0;
    for (uint32_t y = edge; y + edge < height; y++) {
        for (uint32_t x = edge; x + edge < width; x++) {
            sum += decision->costs[(size_t)y * width + x];
        }
    }
    return sum * ONE / ((uint64_t)width * height);
}

/* Costs of a square for which the QP is the CRF itself, without and with B frames */
static const uint32_t usual_costs[] = {80, 120};

static int32_t complexity_qp(
    const struct gpume_crf_course *course, const struct gpume_encode_options *options)
{
    const uint64_t mean = gpume_max_u64(course->costs / course->frames * ONE, 1);
    const uint64_t usual = (uint64_t)usual_costs[options->bframes > 0] * ONE;
    return qp_of_octaves(options, (int64_t)gpume_fixed_log2(mean) - gpume_fixed_log2(usual));
}

int32_t gpume_crf_shift(struct gpume_crf_course *course, const struct gpume_encode_options *options,
    const struct gpume_decision *decision)
{
    int32_t shift = 0;
    if (options->tree) {
        return 0;
    }
    if (gpume_type_is_b(decision->type)) {
        return course->last_intra     ? course->before
               : course->before_intra ? course->last
                                      : (course->last + course->before) / 2;
    }
    course->costs = course->costs / 2 + mean_cost(decision);
    course->frames = course->frames / 2 + ONE;
    if (decision->type == GPUME_FRAME_P) {
        shift = complexity_qp(course, options);
        course->shifts = course->shifts * 19 / 20 + (int64_t)shift * ONE;
        course->norm = course->norm * 19 / 20 + ONE;
    } else if (course->norm > 0) { /* an I frame is as fine as the P frames before it */
        shift = (int32_t)(course->shifts / course->norm);
    } else if (course->began) {
        shift = complexity_qp(course, options);
    }
    course->began = true;
    course->before = course->last;
    course->before_intra = course->last_intra;
    course->last = shift;
    course->last_intra = decision->type != GPUME_FRAME_P;
    return shift;
}
