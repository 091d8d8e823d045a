/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Second passes of a constant quality. QPs of frames follow from a CRF or a QP. Of a fidelity, the
 * CRF is found: of all frames, or of the frames of each scene.
 */
#include "encode/pass_parts.h"

#include "base/log.h"
#include "encode/fixed.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* --- scenes */

static int compare_positions(const void *a, const void *b)
{
    const struct gpume_loss_range *left = a, *right = b;
    return left->first < right->first ? -1 : left->first > right->first;
}

/* The scene of a frame: the last one that begins no later. */
static struct gpume_loss_range *scene_of(const struct gpume_pass *pass, uint32_t display)
{
    size_t low = 0, high = pass->scene_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (pass->scenes[middle].first <= display) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &pass->scenes[low];
}

int gpume_pass_split(struct gpume_pass *pass, const uint64_t *firsts, size_t count)
{
    const size_t most = firsts ? count : pass->count;
    pass->scenes = calloc(most, sizeof(*pass->scenes));
    if (!pass->scenes) {
        return gpume_log_nomem(&pass->params.log, "the scenes");
    }
    for (size_t i = 0; i < most; i++) {
        if (firsts || pass->rows[i].bits.type <= GPUME_FRAME_I) {
            pass->scenes[pass->scene_count++].first = firsts ? firsts[i] : pass->rows[i].display;
        }
    }
    qsort(pass->scenes, pass->scene_count, sizeof(*pass->scenes), compare_positions);
    for (size_t i = 0; i < pass->scene_count; i++) {
        pass->scenes[i].end = i + 1 < pass->scene_count ? pass->scenes[i + 1].first : pass->count;
        pass->scenes[i].begin = pass->count;
    }
    for (size_t i = 0; i < pass->count; i++) {
        struct gpume_loss_range *scene = scene_of(pass, pass->rows[i].display);
        scene->begin = gpume_min_u64(scene->begin, i);
        scene->after = i + 1;
    }
    return GPUME_OK;
}

/* --- the QP of a quality */

static int32_t limit_qp(const struct gpume_pass *pass, int32_t qp)
{
    const int32_t highest = gpume_pass_type_qp(pass, GPUME_FRAME_P, GPUME_PASS_QP_MAX);
    return qp < 0 ? 0 : qp > highest ? highest : qp;
}

/* That of the tree for a CRF, as a part of that for a bitrate, in 1/256. */
int32_t gpume_pass_crf_strength(const struct gpume_pass *pass)
{
    const bool psy = pass->params.options->psy;
    const double *strength = pass->encoder->tree.strength;
    return (int32_t)(pass->encoder->tree.crf_strength[psy] * 256 / strength[psy] + 0.5);
}

/* Of a frame whose level is known. As for the encoders, QPs that are asked for are whole, and I
 * frames without a tree are finer than P frames; of a CRF without P frames only the first one. */
int32_t gpume_pass_quality_qp(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, size_t index)
{
    const struct gpume_encode_options *options = pass->params.options;
    const struct gpume_pass_row *row = &pass->rows[index];
    const enum gpume_frame_type type = row->bits.type;
    const bool is_qp = rate->target.goal == GPUME_GOAL_QP;
    const bool is_intra = type == GPUME_FRAME_IDR || type == GPUME_FRAME_I;
    const bool is_finer = is_qp || index == 0 || options->keyint > 1;
    const int32_t finer = is_finer ? gpume_qp_of_ratio(options->ipratio) : 0;
    const int32_t qp = is_intra && !options->tree
                           ? gpume_pass_type_qp(pass, GPUME_FRAME_P, rate->qp) - finer
                           : gpume_pass_type_qp(pass, type, rate->qp);
    if (is_qp) {
        return limit_qp(pass, gpume_pass_whole_qp(qp));
    }
    const int32_t tree =
        row->level * gpume_pass_crf_strength(pass) / 256 * gpume_target_tree_part(options) / 256;
    const int32_t more = pass->encoder->crf_qp(options, index > 0 ? type : GPUME_FRAME_P);
    return limit_qp(pass, qp + more + row->shift - tree);
}

/* Of a fidelity. Its frames have QPs by formulas. */
void gpume_pass_set_crf(
    const struct gpume_pass *pass, struct gpume_pass_rate *rate, uint32_t hundredths)
{
    const struct gpume_pass_video *video = &rate->size->video;
    rate->target = (struct gpume_encode_target){GPUME_GOAL_CRF, hundredths};
    rate->qp =
        gpume_target_qp(&rate->target, pass->params.options, video->rate_num, video->rate_den);
}

/* Of a quality. Prices are found for this frame, as complexity may move any frame. */
struct gpume_pass_sizing gpume_pass_size_frame(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, size_t index)
{
    const struct gpume_pass_row *row = &pass->rows[index];
    const enum gpume_frame_type type = row->bits.type;
    const int32_t qp = rate->frame_qps[index], of_model = qp + gpume_pass_lowest_qp(pass);
    struct gpume_bits_prices prices, less;
    gpume_bits_find_prices(&prices, &pass->model[type], of_model);
    gpume_bits_find_prices(&less, &pass->model[type], of_model + GPUME_STEP_QP);
    return (struct gpume_pass_sizing){qp,
        gpume_bits_at(&row->bits, &prices, rate->size->growth[type]),
        gpume_bits_at(&row->bits, &less, rate->size->growth[type])};
}

/* --- a quality: the bitrate that it takes, and QPs in a file of their own */

/* Of frames: what the model expects, but for what statistics say beyond that. */
static uint64_t expected_bits(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    const struct gpume_loss_range *range)
{
    uint64_t sum = 0;
    for (size_t i = range->begin; i < range->after; i++) {
        const struct gpume_pass_row *row = &pass->rows[i];
        const bool is_in = row->display >= range->first && row->display < range->end;
        const uint64_t bits = is_in ? gpume_pass_size_frame(pass, rate, i).bits : 0;
        sum += bits * 100 / pass->planned[row->bits.type];
    }
    return sum;
}

static uint64_t bitrate_of(const struct gpume_pass_rate *rate, uint64_t bits, uint64_t frames)
{
    const struct gpume_pass_video *video = &rate->size->video;
    const double seconds = (double)frames * video->rate_den / video->rate_num;
    const double kbps = (double)bits / seconds / 1000;
    return 1000 * (uint64_t)(kbps < 1 ? 1 : kbps > UINT32_MAX ? UINT32_MAX : kbps);
}

/* Rounds QPs. What a frame without offsets of blocks loses by that, the next such frame gets; that
 * of all others is in their offsets. */
static int force_qps(const struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    int32_t rest = 0;
    rate->forced = calloc(pass->count, sizeof(*rate->forced));
    if (!rate->forced) {
        return gpume_log_nomem(&pass->params.log, rate->qps_path);
    }
    for (size_t i = 0; i < pass->count; i++) {
        const struct gpume_pass_row *row = &pass->rows[i];
        const enum gpume_frame_type type = row->bits.type;
        const bool has_offsets = rate->tree && type != GPUME_FRAME_B;
        const int32_t qp = rate->frame_qps[i];
        const int32_t whole = gpume_pass_whole_qp(has_offsets ? qp : qp + rest);
        rest += has_offsets ? 0 : qp - whole;
        assert(row->display < pass->count);
        rate->forced[row->display] = (struct gpume_pass_forced){type, limit_qp(pass, whole)};
    }
    return GPUME_OK;
}

static void fill_frame_qps(const struct gpume_pass *pass, struct gpume_pass_rate *rate,
    const struct gpume_loss_range *range)
{
    for (size_t i = range->begin; i < range->after; i++) {
        const uint32_t display = pass->rows[i].display;
        if (display >= range->first && display < range->end) {
            rate->frame_qps[i] = gpume_pass_quality_qp(pass, rate, i);
        }
    }
}

/* What frames are expected to lose on average; nothing, if it was not measured. */
static int find_loss(struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    const struct gpume_loss_range *range, struct gpume_loss *mean)
{
    return pass->losses.count == 0 || gpume_loss_frames_mean(&pass->losses, pass->encoder->losses,
                                          rate->frame_qps, range, mean)
               ? GPUME_OK
               : gpume_log_nomem(&pass->params.log, "the quality of frames");
}

/* How much better than asked frames are on average. */
static double surplus(const struct gpume_pass *pass, const struct gpume_loss *mean,
    const struct gpume_encode_target *asked)
{
    const double value = (double)asked->value;
    return asked->goal == GPUME_GOAL_PSNR
               ? gpume_loss_psnr(mean) - value / 100
               : gpume_loss_ssim(mean, pass->encoder->losses) - value / 10000;
}

/* The CRF at which the fidelity of frames is nearest: in hundredths or, where QPs are whole, a
 * whole one, as offsets are written before it is known. */
static int find_crf(struct gpume_pass *pass, struct gpume_pass_rate *rate,
    const struct gpume_encode_target *asked, const struct gpume_loss_range *range)
{
    const uint32_t step = pass->encoder->qps ? 100 : 1;
    uint32_t low = GPUME_CRF_MIN * 100 / step, high = GPUME_CRF_MAX * 100 / step;
    double above = 0, below = 0; /* surplus at low, and at the step after it */
    struct gpume_loss mean = {0};
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        gpume_pass_set_crf(pass, rate, middle * step);
        GPUME_CHECK(gpume_pass_check_ended(pass));
        fill_frame_qps(pass, rate, range);
        GPUME_CHECK(find_loss(pass, rate, range, &mean));
        const double more = surplus(pass, &mean, asked);
        if (more >= 0) {
            low = middle;
            above = more;
        } else {
            high = middle - 1;
            below = more;
        }
    }
    gpume_pass_set_crf(pass, rate, (above > -below && below < 0 ? low + 1 : low) * step);
    fill_frame_qps(pass, rate, range);
    return GPUME_OK;
}

static void warn_of_reach(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    const struct gpume_encode_target *asked)
{
    char text[GPUME_TARGET_TEXT_BYTES];
    const uint64_t crf = rate->target.value / 100;
    if (crf == GPUME_CRF_MIN || crf == GPUME_CRF_MAX) {
        gpume_target_text(asked, text);
        gpume_log_write(&pass->params.log, GPUME_LOG_WARNING,
            "%s %s is out of reach: CRF %u is the nearest", gpume_target_option(asked->goal), text,
            (unsigned)crf);
    }
}

/* Of each scene; the CRF of the whole is their mean. */
static int find_crfs(struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const struct gpume_encode_target asked = rate->target;
    uint64_t sum = 0;
    rate->scenes = calloc(pass->scene_count, sizeof(*rate->scenes));
    if (!rate->scenes) {
        return gpume_log_nomem(&pass->params.log, "the quality of scenes");
    }
    for (size_t i = 0; i < pass->scene_count; i++) {
        struct gpume_pass_part *scene = &rate->scenes[i];
        scene->range = pass->scenes[i];
        GPUME_CHECK(find_crf(pass, rate, &asked, &scene->range));
        GPUME_CHECK(find_loss(pass, rate, &scene->range, &scene->mean));
        scene->crf = rate->target.value;
        sum += scene->crf * (scene->range.end - scene->range.first);
    }
    rate->target.value = sum / pass->count;
    return GPUME_OK;
}

/* What the files of a quality need. */
int gpume_pass_settle_quality(struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const struct gpume_encode_target asked = rate->target;
    const struct gpume_loss_range all = {0, pass->count, 0, pass->count};
    rate->frame_qps = calloc(pass->count, sizeof(*rate->frame_qps));
    if (!rate->frame_qps) {
        return gpume_log_nomem(&pass->params.log, "the QPs of frames");
    }
    if (!gpume_goal_is_fidelity(asked.goal)) {
        fill_frame_qps(pass, rate, &all);
    } else {
        GPUME_CHECK(pass->scenes ? find_crfs(pass, rate) : find_crf(pass, rate, &asked, &all));
        warn_of_reach(pass, rate, &asked);
    }
    GPUME_CHECK(find_loss(pass, rate, &all, &rate->mean));
    rate->bitrate = bitrate_of(rate, expected_bits(pass, rate, &all), pass->count);
    return rate->qps ? force_qps(pass, rate) : GPUME_OK;
}

/* --- what comes of it */

static const struct gpume_pass_rate *rate_at(const struct gpume_pass *pass, size_t index)
{
    const struct gpume_pass_rate *rate = pass->rates;
    for (; index > 0; index--) {
        rate = rate->next;
    }
    return rate;
}

struct gpume_pass_outcome gpume_pass_outcome(const struct gpume_pass *pass, size_t index)
{
    const struct gpume_pass_rate *rate = rate_at(pass, index);
    struct gpume_pass_outcome outcome = {.target = rate->target, .bitrate = rate->bitrate};
    if (rate->mean.error > 0) {
        outcome.is_measured = true;
        outcome.psnr = gpume_loss_psnr(&rate->mean);
        outcome.ssim = gpume_loss_ssim(&rate->mean, pass->encoder->losses);
    }
    return outcome;
}

bool gpume_pass_scene(
    const struct gpume_pass *pass, size_t index, size_t number, struct gpume_pass_scene *result)
{
    const struct gpume_pass_rate *rate = rate_at(pass, index);
    if (!rate->scenes || number >= pass->scene_count) {
        return false;
    }
    const struct gpume_pass_part *scene = &rate->scenes[number];
    *result = (struct gpume_pass_scene){
        .first = scene->range.first,
        .frames = scene->range.end - scene->range.first,
        .crf = scene->crf,
        .psnr = gpume_loss_psnr(&scene->mean),
        .ssim = gpume_loss_ssim(&scene->mean, pass->encoder->losses),
        .bits = expected_bits(pass, rate, &scene->range),
    };
    return true;
}
