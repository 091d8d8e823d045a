/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Second passes of a constant quality. QPs of frames follow from a CRF or a QP. Of a fidelity, the
 * CRF is found: of all frames, or of the frames of each scene; of a size, that of all frames.
 */
#include "encode/pass_parts.h"

#include "base/log.h"
#include "encode/fixed.h"
#include "encode/measures.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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

static struct gpume_loss_range all_frames(const struct gpume_pass *pass)
{
    return (struct gpume_loss_range){0, pass->count, 0, pass->count};
}

/* --- the QP of a quality */

/* Of frames that the encoder codes by its own CRF, whose blocks get lower ones. Losses are found up
 * to here. */
#define FRAME_QP_MAX (61 * GPUME_QP_ONE)

static int32_t limit_qp(const struct gpume_pass *pass, int32_t qp)
{
    const int32_t highest = gpume_pass_type_qp(
        pass, GPUME_FRAME_P, pass->params.chunks ? FRAME_QP_MAX : GPUME_PASS_QP_MAX);
    return qp < 0 ? 0 : qp > highest ? highest : qp;
}

/* The one that a twentieth of the blocks with any detail do not exceed; of all blocks, or of those
 * with a reference. */
static uint32_t low_cost(
    const struct gpume_decision *decision, const uint16_t *costs, bool is_of_all)
{
    const uint32_t blocks = decision->blocks_x * decision->blocks_y;
    uint32_t counts[GPUME_PASS_NOISE_MAX + 1] = {0}, all = 0, below = 0; /* each at most `blocks` */
    uint32_t low = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        const bool is_told = (is_of_all || decision->kinds[i] != GPUME_FROM_SELF) &&
                             decision->intra_costs[i] > GPUME_COST_OF_NOTHING;
        counts[gpume_min_u32(costs[i], GPUME_PASS_NOISE_MAX)] += is_told;
        all += is_told;
    }
    while (all > 0 && low < GPUME_PASS_NOISE_MAX && (below += counts[low]) * UINT64_C(20) < all) {
        low++;
    }
    return low;
}

uint32_t gpume_pass_noise(const struct gpume_decision *decision)
{
    return low_cost(decision, decision->costs, false);
}

void gpume_pass_find_quiet(const struct gpume_decision *decision, int16_t *quiet)
{
    const int64_t low = low_cost(decision, decision->intra_costs, true), most = 2 * low * low;
    for (uint32_t i = 0; i < decision->blocks_x * decision->blocks_y; i++) {
        const int64_t cost = decision->intra_costs[i], square = cost * cost;
        const int64_t tree = decision->offsets[i] - decision->aq_offsets[i]; /* less than 2^16 */
        quiet[i] = (int16_t)(square > most ? tree * most / square : tree);
    }
}

/* n^4 / (n^4 + half^4) of noise n, in 1/256. Chunks have the encoder's own tree. */
static int32_t part_of_noise(const struct gpume_pass *pass, uint32_t noise, uint32_t half)
{
    const uint64_t n = (uint64_t)noise * noise, h = (uint64_t)half * half; /* squares: < 2^40 */
    assert(half <= GPUME_PASS_NOISE_MAX && noise <= GPUME_PASS_NOISE_MAX);
    return half > 0 && !pass->params.chunks ? (int32_t)(256 * n * n / (h * h + n * n)) : 0;
}

int32_t gpume_pass_quiet_part(const struct gpume_pass *pass, uint32_t noise)
{
    return part_of_noise(pass, noise, pass->encoder->tree.quiet);
}

int32_t gpume_pass_crf_strength(const struct gpume_pass *pass, size_t index)
{
    const bool psy = pass->params.options->psy;
    const double *strength = pass->encoder->tree.strength;
    const int32_t all =
        (int32_t)(pass->encoder->tree.crf_strength[psy] * 256 / strength[psy] + 0.5);
    return all * (1024 - gpume_pass_quiet_part(pass, pass->rows[index].noise)) / 1024;
}

/* How much finer an I frame is whose picture hardly changes. Before a key frame that the tree sees,
 * its offsets say enough. */
static int32_t finer_if_still(
    const struct gpume_pass *pass, const struct gpume_pass_row *row, int32_t strength)
{
    const struct gpume_encode_options *options = pass->params.options;
    const int32_t still = (int32_t)pass->encoder->tree.still * GPUME_QP_ONE;
    const int32_t depth = -row->tree * strength / 256;
    const bool is_own = pass->params.chunks; /* its tree is the encoder's */
    return still > 0 && depth > still && options->keyint > options->horizon && !is_own
               ? depth - still
               : 0;
}

/* Of a frame whose level is known. As for the encoders, QPs that are asked for are whole, and I
 * frames without a tree are finer than P frames; of a CRF without P frames only the first one. With
 * a tree, noise takes a part of that: it differs from frame to frame, so an I frame that keeps it
 * helps no other one, and it takes many bits. */
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
    const int32_t of_p = gpume_pass_type_qp(pass, GPUME_FRAME_P, rate->qp);
    const int32_t qp =
        is_intra && !options->tree ? of_p - finer : gpume_pass_type_qp(pass, type, rate->qp);
    if (is_qp) {
        return limit_qp(pass, gpume_pass_whole_qp(qp));
    }
    const int32_t beside_p = is_intra && options->tree ? qp - of_p : 0;
    const int32_t noise = part_of_noise(pass, row->noise, pass->encoder->tree.noise);
    const int32_t strength = gpume_pass_crf_strength(pass, index);
    const int32_t tree = row->level * strength / 256 * gpume_target_tree_part(options) / 256;
    const int32_t more = pass->encoder->crf_qp(options, index > 0 ? type : GPUME_FRAME_P);
    const int32_t still = is_intra ? finer_if_still(pass, row, strength) : 0;
    return limit_qp(pass, qp - beside_p * noise / 256 + more + row->shift - tree - still);
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

/* Of frames: what the model expects, but for what statistics say beyond that. With psy they say
 * more, but as much more is taken. */
static uint64_t expected_bits(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    const struct gpume_loss_range *range)
{
    const uint32_t *planned = pass->encoder->planned_percent[GPUME_PLANNED_PLAIN];
    uint64_t sum = 0;
    for (size_t i = range->begin; i < range->after; i++) {
        const struct gpume_pass_row *row = &pass->rows[i];
        const bool is_in = row->display >= range->first && row->display < range->end;
        const uint64_t bits = is_in ? gpume_pass_size_frame(pass, rate, i).bits : 0;
        sum += bits * 100 / planned[row->bits.type];
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
    if (pass->losses.count == 0) {
        return GPUME_OK;
    }
    if (!gpume_loss_frames_mean(&pass->losses, pass->encoder->losses, rate->frame_qps,
            gpume_pass_lowest_qp(pass), range, mean)) {
        return gpume_log_nomem(&pass->params.log, "the quality of frames");
    }
    for (uint32_t kind = 0; kind < GPUME_LOSS_KINDS; kind++) {
        mean->of[kind] = mean->of[kind] * rate->size->loss_growth / 65536;
    }
    return GPUME_OK;
}

static double expected_decibels(const struct gpume_pass *pass, const struct gpume_measure *measure,
    const struct gpume_loss *mean)
{
    const uint64_t pixels = (uint64_t)pass->params.width * pass->params.height;
    return measure->decibels(measure->expected(mean, pass->encoder->losses, pixels));
}

/* At a CRF in 1/100. */
static double more_of_part(const struct gpume_pass_part *part, uint64_t crf)
{
    return part->more + part->growth * ((double)crf - (double)part->tried) / 100;
}

/* How much better than asked frames are expected to be on average, in dB, or how much larger all of
 * them, in bytes. */
static int find_surplus(struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    struct gpume_pass_part *part, double *surplus)
{
    const struct gpume_encode_target *asked = &rate->asked;
    const double value = (double)asked->value;
    if (asked->goal == GPUME_GOAL_SIZE) {
        *surplus = (double)expected_bits(pass, rate, &part->range) / 8 - value;
        return GPUME_OK;
    }
    if (asked->goal == GPUME_GOAL_BITRATE) {
        const struct gpume_pass_video *video = &rate->size->video;
        const double seconds = (double)pass->count * video->rate_den / video->rate_num;
        *surplus = ((double)expected_bits(pass, rate, &part->range) - value * seconds) / 8;
        return GPUME_OK;
    }
    GPUME_CHECK(find_loss(pass, rate, &part->range, &part->mean));
    const struct gpume_measure *measure = gpume_measure_of(asked->goal);
    *surplus = expected_decibels(pass, measure, &part->mean) +
               more_of_part(part, rate->target.value) -
               measure->decibels(gpume_measure_wanted(measure, asked));
    return GPUME_OK;
}

/* The highest CRF that is found. The prediction of a fidelity was compared with encodes up to here;
 * beyond, it is far too high where hardly anything changes from frame to frame. */
static uint32_t highest_crf(const struct gpume_encode_target *asked)
{
    return gpume_goal_is_fidelity(asked->goal) ? 40 : GPUME_CRF_MAX;
}

/* The CRF at which the fidelity or the size of frames is nearest. */
static int find_crf(
    struct gpume_pass *pass, struct gpume_pass_rate *rate, struct gpume_pass_part *part)
{
    const struct gpume_loss_range *range = &part->range;
    const uint32_t step = rate->is_whole ? 100 : 1;
    uint32_t low = part->least / step, high = part->most / step;
    double above = 0, below = 0; /* surplus at low, and at the step after it */
    while (low < high) {
        double more;
        const uint32_t middle = low + (high - low + 1) / 2;
        gpume_pass_set_crf(pass, rate, middle * step);
        GPUME_CHECK(gpume_pass_check_ended(pass));
        fill_frame_qps(pass, rate, range);
        GPUME_CHECK(find_surplus(pass, rate, part, &more));
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
    part->crf = rate->target.value;
    return find_loss(pass, rate, range, &part->mean);
}

/* Without a word where the caller has limits. */
static void warn_of_reach(const struct gpume_pass *pass, const struct gpume_pass_rate *rate)
{
    struct gpume_target_ends ends = {.crf = {GPUME_CRF_MIN, highest_crf(&rate->asked)},
        .scenes = rate->part_count,
        .limited = gpume_goal_is_fidelity(rate->asked.goal)};
    for (size_t i = 0; i < 2 * rate->part_count && pass->params.crf_most == 0; i++) {
        ends.count[i % 2] += rate->parts[i / 2].crf == 100 * ends.crf[i % 2];
    }
    gpume_target_warn_of_ends(&rate->asked, &ends, &pass->params.log);
}

/* Of each part; the CRF of the whole is their mean. *changed: whether a part has another one than
 * before. */
static int find_crfs(struct gpume_pass *pass, struct gpume_pass_rate *rate, bool *changed)
{
    uint64_t sum = 0;
    *changed = false;
    for (size_t i = 0; i < rate->part_count; i++) {
        struct gpume_pass_part *part = &rate->parts[i];
        const uint64_t before = part->crf;
        GPUME_CHECK(find_crf(pass, rate, part));
        *changed = *changed || part->crf != before;
        sum += part->crf * (part->range.end - part->range.first);
    }
    rate->target.value = sum / pass->count;
    return GPUME_OK;
}

static int make_parts(const struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const struct gpume_pass_params *params = &pass->params;
    const bool is_split = pass->scenes && gpume_goal_is_fidelity(rate->asked.goal);
    rate->part_count = is_split ? pass->scene_count : 1;
    rate->parts = calloc(rate->part_count, sizeof(*rate->parts));
    if (!rate->parts) {
        return gpume_log_nomem(&pass->params.log, "the quality of scenes");
    }
    for (size_t i = 0; i < rate->part_count; i++) {
        rate->parts[i] = (struct gpume_pass_part){
            .range = is_split ? pass->scenes[i] : all_frames(pass),
            .least = params->crf_least > 0 ? params->crf_least : 100 * GPUME_CRF_MIN,
            .most = params->crf_most > 0 ? params->crf_most : 100 * highest_crf(&rate->asked),
        };
    }
    return GPUME_OK;
}

/* What follows from the QPs of all frames. */
static int settle_bits(struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const struct gpume_loss_range all = all_frames(pass);
    GPUME_CHECK(find_loss(pass, rate, &all, &rate->mean));
    const double bits = (double)expected_bits(pass, rate, &all);
    rate->bits = (uint64_t)(rate->larger > 0 ? bits * rate->larger : bits);
    rate->bitrate = bitrate_of(rate, rate->bits, pass->count);
    return rate->qps ? force_qps(pass, rate) : GPUME_OK;
}

int gpume_pass_settle_quality(struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const struct gpume_loss_range all = all_frames(pass);
    rate->frame_qps = calloc(pass->count, sizeof(*rate->frame_qps));
    if (!rate->frame_qps) {
        return gpume_log_nomem(&pass->params.log, "the QPs of frames");
    }
    if (gpume_goal_leads_to_crf(rate->asked.goal)) {
        bool changed;
        GPUME_CHECK(make_parts(pass, rate));
        GPUME_CHECK(find_crfs(pass, rate, &changed));
        warn_of_reach(pass, rate);
    } else {
        fill_frame_qps(pass, rate, &all);
    }
    return settle_bits(pass, rate);
}

/* How good the frames of a part became, in dB. */
static double given(const struct gpume_pass_encode *encode, const struct gpume_pass_part *part,
    const struct gpume_measure *measure)
{
    const struct gpume_measured_frames frames = {encode->frames + part->range.first,
        part->range.end - part->range.first, encode->width, encode->height, encode->bits};
    return measure->decibels(measure->given(&frames));
}

/* A CRF may move by as much as PSNR does at the least, a third of a dB for one: where the
 * prediction hardly changes with the CRF, it would go from one end to the other. */
static void set_limits(struct gpume_pass_part *part, double missed)
{
    const double most = fabs(missed) * 300 + 1, crf = (double)part->crf;
    part->least = (uint32_t)(crf - most > 100 * GPUME_CRF_MIN ? crf - most : 100 * GPUME_CRF_MIN);
    part->most = (uint32_t)(crf + most < 100 * GPUME_CRF_MAX ? crf + most : 100 * GPUME_CRF_MAX);
}

/* Where quality falls faster with the CRF than is expected, a correction by the difference alone
 * goes too far, each time. Two encodes tell, one better than what is wanted and one worse, unless
 * their CRFs are too near, as QPs are whole. Beyond them quality may fall in another way. */
static void learn(struct gpume_pass_part *part, double gave, double expected, double wanted)
{
    const double crfs = ((double)part->crf - (double)part->tried) / 100;
    const bool tells = part->tried > 0 && fabs(crfs) >= 1 && (gave > wanted) == (crfs < 0) &&
                       (part->gave > wanted) == (crfs > 0);
    part->growth = tells ? (gave - expected - part->more) / crfs : 0;
    part->tried = part->crf;
    part->gave = gave;
    part->more = gave - expected;
}

int gpume_pass_settle_again(struct gpume_pass *pass, struct gpume_pass_rate *rate,
    const struct gpume_pass_encode *encode, bool *changed)
{
    const struct gpume_measure *measure = gpume_measure_of(rate->asked.goal);
    const double wanted = measure->decibels(gpume_measure_wanted(measure, &rate->asked));
    const struct gpume_loss_range all = all_frames(pass);
    const uint64_t bits = expected_bits(pass, rate, &all);
    rate->larger = (double)encode->bytes * 8 / (double)(bits > 0 ? bits : 1);
    for (size_t i = 0; i < rate->part_count; i++) {
        struct gpume_pass_part *part = &rate->parts[i];
        const double got = given(encode, part, measure);
        learn(part, got, expected_decibels(pass, measure, &part->mean), wanted);
        set_limits(part, got - wanted);
    }
    GPUME_CHECK(find_crfs(pass, rate, changed));
    free(rate->forced);
    rate->forced = NULL;
    return settle_bits(pass, rate);
}

/* --- motion */

/* In half pixels of the picture. An encoder's search begins at the vectors of the blocks around;
 * what is further away it often does not find. */
#define FAR 8

static bool is_far(struct gpume_vector vector, struct gpume_vector other)
{
    return abs(vector.dx - other.dx) > FAR || abs(vector.dy - other.dy) > FAR;
}

static bool is_lone(const struct gpume_vector *vectors, uint32_t columns, uint32_t x, uint32_t y)
{
    const struct gpume_vector *here = vectors + (size_t)y * columns + x, none = {0, 0};
    return is_far(*here, none) && (x == 0 || is_far(*here, here[-1])) &&
           (y == 0 || is_far(*here, *(here - columns)));
}

void gpume_pass_count_vectors(struct gpume_pass *pass, const struct gpume_decision *decision)
{
    if (decision->type != GPUME_FRAME_P || !decision->past_vectors) {
        return;
    }
    const uint32_t columns = decision->blocks_x;
    for (uint32_t y = 0, i = 0; y < decision->blocks_y; y++) {
        for (uint32_t x = 0; x < columns; x++, i++) {
            const uint16_t intra = decision->intra_costs[i], cost = decision->costs[i];
            const bool is_saving = decision->kinds[i] == GPUME_FROM_PAST && cost < intra;
            pass->p_costs += intra;
            if (is_saving && is_lone(decision->past_vectors, columns, x, y)) {
                pass->lone_savings += intra - cost;
            }
        }
    }
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

/* Motion that an encoder hardly finds without a lookahead: what vectors save is more than one part
 * of this many of intra costs. By measurement, tests/bench/firstpass/README.md: a second pass that
 * looks ahead takes a tenth more time. */
#define LONE_PART_QUALITY 160
#define LONE_PART_BITRATE 80

static uint32_t wide_buffer_of(const struct gpume_pass *pass, const struct gpume_pass_rate *rate)
{
    const struct gpume_encode_options *options = pass->params.options;
    const bool is_quality = gpume_goal_is_quality(rate->target.goal);
    const uint64_t least = pass->p_costs / (is_quality ? LONE_PART_QUALITY : LONE_PART_BITRATE);
    return options->encoder->wide_buffer && options->vbv_maxrate == 0 && pass->lone_savings > least
               ? options->encoder->wide_buffer(&rate->size->video, rate->bitrate)
               : 0;
}

/* What is expected, with what encodes were better, in dB, by the measure that was asked for. */
static void expect(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    const struct gpume_loss *mean, double more, double expected[GPUME_MEASURES])
{
    for (size_t i = 0; i < GPUME_MEASURES; i++) {
        const struct gpume_measure *measure = &gpume_measures[i];
        const double own = expected_decibels(pass, measure, mean);
        expected[i] = measure->of_decibels(measure->goal == rate->asked.goal ? own + more : own);
    }
}

/* What all frames are better than expected, in dB, after an encode. Parts add up as errors: one of
 * black frames has hardly any, however many decibels that are. */
static double more_of_all(const struct gpume_pass *pass, const struct gpume_pass_rate *rate)
{
    const struct gpume_measure *measure = gpume_measure_of(rate->asked.goal);
    double error = 0;
    for (size_t i = 0; i < rate->part_count; i++) {
        const struct gpume_pass_part *part = &rate->parts[i];
        const double is =
            expected_decibels(pass, measure, &part->mean) + more_of_part(part, part->crf);
        error += (double)(part->range.end - part->range.first) * pow(10, -measure->power * is / 10);
    }
    const double all = -10 * log10(error / (double)pass->count) / measure->power;
    return all - expected_decibels(pass, measure, &rate->mean);
}

struct gpume_pass_outcome gpume_pass_outcome(const struct gpume_pass *pass, size_t index)
{
    const struct gpume_pass_rate *rate = rate_at(pass, index);
    struct gpume_pass_outcome outcome = {.target = rate->target,
        .bitrate = rate->bitrate,
        .bits = rate->bits,
        .wide_buffer = wide_buffer_of(pass, rate)};
    for (size_t i = 0; i < GPUME_MEASURES; i++) {
        outcome.expected[i] = (double)NAN;
    }
    if (rate->mean.of[GPUME_LOSS_ERROR] > 0) {
        outcome.is_measured = true;
        const double more = rate->larger > 0 ? more_of_all(pass, rate) : 0;
        expect(pass, rate, &rate->mean, more, outcome.expected);
    }
    return outcome;
}

bool gpume_pass_scene(
    const struct gpume_pass *pass, size_t index, size_t number, struct gpume_pass_scene *result)
{
    const struct gpume_pass_rate *rate = rate_at(pass, index);
    const bool is_split = pass->scenes && gpume_goal_is_fidelity(rate->asked.goal);
    if (!is_split || number >= rate->part_count) {
        return false;
    }
    const struct gpume_pass_part *scene = &rate->parts[number];
    *result = (struct gpume_pass_scene){
        .first = scene->range.first,
        .frames = scene->range.end - scene->range.first,
        .crf = scene->crf,
        .bits = expected_bits(pass, rate, &scene->range),
    };
    expect(pass, rate, &scene->mean, more_of_part(scene, scene->crf), result->expected);
    return true;
}
