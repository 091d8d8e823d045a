/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/pass_parts.h"

#include "base/base.h"
#include "encode/bits.h"
#include "encode/distortion.h"
#include "encode/encoder.h"
#include "encode/fixed.h"
#include "encode/half.h"
#include "encode/qp_map.h"
#include "files/byte_stream.h"
#include "files/out.h"
#include "files/path.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The model is fitted to encodes at QPs of 12 and more. On 77 clips at 0.5 and 1.5 Mbit/s, x264
 * missed the rate by 15 % where a lower QP was expected (on average, it exceeded it by 10 %), and
 * by 4 to 8 % elsewhere. At 4 and 6 Mbit/s in 480x270, it exceeded it by half. */
#define ROUGH_QP (12 * GPUME_QP_ONE)
/* Where much noise begins to be coded, of which the model expects too little. */
#define NOISE_QP (30 * GPUME_QP_ONE)
#define MUCH_NOISE 200u
/* Shorter clips end before an encoder makes up for wrong estimates. On 10 clips at 0.08 bits per
 * pixel, x264 missed the rate by 8 % in the mean, 21 at the most, with 30 frames, and by 3 %, 6 at
 * the most, with 60, 90 and 120. */
#define FRAMES_FEW 50
/* A frame has less than 2^36 bits: an analysed area and an encoded one of 2^28 pixels at most have
 * 2^26 coefficients of less than 2^9 bits each. So sums over all frames are below 2^64. */
#define FRAMES_MAX (UINT32_C(1) << 28)
#define ONE 65536

/* The QP at which bits are found before those of a pass are known. */
#define USUAL_QP (28 * GPUME_QP_ONE)
/* Frames on both sides of one from which the level of its tree is taken, and whose offsets are
 * kept. */
#define REACH ((size_t)GPUME_HORIZON)
#define OFFSETS_KEPT (REACH + 1)

/* QPs of a plan for the decoder's buffer are levels: steps above the lowest QP. */
#define LEVEL_QP (GPUME_QP_ONE / 2)
#define STEP_LEVELS (GPUME_STEP_QP / LEVEL_QP)
/* A plan for the buffer begins this far below the QP of the bitrate at the most. */
#define LEVELS_BELOW 12
/* Blocks that stay get QPs that are lower than those of their frames by about this much. Where QPs
 * of blocks end at 51, those of frames go on. */
#define TREE_QP (10 * GPUME_QP_ONE)

static enum gpume_planned planned_of(const struct gpume_encode_options *options)
{
    return options->vbv_bufsize > 0 ? GPUME_PLANNED_BUFFER
           : options->psy           ? GPUME_PLANNED_PSY
                                    : GPUME_PLANNED_PLAIN;
}

int gpume_pass_open(struct gpume_pass **result, const struct gpume_pass_params *params)
{
    struct gpume_pass *pass = calloc(1, sizeof(*pass));
    *result = pass;
    if (!pass) {
        return gpume_log_nomem(&params->log, "the files of a second pass");
    }
    pass->params = *params;
    pass->end = &pass->rates;
    pass->encoder = params->options->encoder;
    pass->planned = pass->encoder->planned_percent[planned_of(params->options)];
    pass->model = pass->encoder->bits->of[params->options->psy];
    for (enum gpume_frame_type type = GPUME_FRAME_IDR; type <= GPUME_FRAME_B; type++) {
        gpume_bits_find_prices(&pass->usual.of[type], &pass->model[type], USUAL_QP);
    }
    return GPUME_OK;
}

/* What a fixed pass takes of pictures of the analysed size, in 1/65536. */
static uint32_t shrink_of(const struct gpume_pass *pass)
{
    const struct gpume_fixed_pass *fixed = pass->encoder->fixed;
    if (!fixed) {
        return ONE;
    }
    const int64_t pixels = gpume_fixed_log2((uint64_t)pass->params.width * pass->params.height);
    return gpume_fixed_exp2((gpume_fixed_log2(fixed->pixels) - pixels) * fixed->shrink / ONE);
}

/* The size of the second passes for this video; NULL: out of memory. */
static struct gpume_pass_size *find_size(
    struct gpume_pass *pass, const struct gpume_pass_video *video)
{
    const struct gpume_pass_params *params = &pass->params;
    for (struct gpume_pass_size *size = pass->sizes; size; size = size->next) {
        if (memcmp(&size->video, video, sizeof(*video)) == 0) {
            return size;
        }
    }
    struct gpume_pass_size *size = calloc(1, sizeof(*size));
    if (!size) {
        return NULL;
    }
    size->video = *video;
    const uint64_t growth = gpume_bits_growth((uint64_t)video->width * video->height,
                                (uint64_t)params->width * params->height) *
                            (uint64_t)shrink_of(pass) / ONE;
    for (enum gpume_frame_type type = GPUME_FRAME_IDR; type <= GPUME_FRAME_B; type++) {
        const uint64_t planned = growth * pass->planned[type] / 100;
        size->growth[type] = (uint32_t)gpume_min_u64(planned, UINT32_MAX);
    }
    size->loss_growth = gpume_loss_growth(
        (uint64_t)video->width * video->height, (uint64_t)params->width * params->height);
    size->next = pass->sizes;
    pass->sizes = size;
    if (params->options->tree) {
        size->x = gpume_map_axis_of(params->width, video->width);
        size->y = gpume_map_axis_of(params->height, video->height);
        size->squares = (size_t)size->x.to_count * size->y.to_count;
        size->record_bytes = 1 + size->squares * sizeof(int16_t);
        size->offsets = calloc(OFFSETS_KEPT * size->squares, sizeof(int16_t));
        size->trees = calloc(OFFSETS_KEPT * size->squares, sizeof(int16_t));
        size->quiet = calloc(OFFSETS_KEPT * size->squares, sizeof(int16_t));
        size->record = malloc(size->record_bytes);
    }
    const bool has_all = size->record && size->offsets && size->trees && size->quiet;
    return has_all || !params->options->tree ? size : NULL;
}

static int open_files(struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const struct gpume_pass_params *params = &pass->params;
    GPUME_CHECK(gpume_out_open_in(&rate->stats, params->set, rate->path, &params->log));
    if (params->options->tree) {
        GPUME_CHECK(gpume_out_open_in(&rate->tree, params->set, rate->tree_path, &params->log));
    }
    return pass->encoder->qps && rate->is_quality
               ? gpume_out_open_in(&rate->qps, params->set, rate->qps_path, &params->log)
               : GPUME_OK;
}

int gpume_pass_add(struct gpume_pass *pass, const struct gpume_pass_video *video,
    const struct gpume_encode_target *target, const char *path)
{
    const struct gpume_pass_params *params = &pass->params;
    const char *qps = pass->encoder->qps ? pass->encoder->qps : "";
    struct gpume_pass_size *size = find_size(pass, video);
    struct gpume_pass_rate *rate = size ? calloc(1, sizeof(*rate)) : NULL;
    if (!rate) {
        return gpume_log_nomem(&params->log, "a second pass");
    }
    *pass->end = rate;
    pass->end = &rate->next;
    rate->size = size;
    rate->target = rate->asked = *target;
    rate->is_quality = params->chunks || gpume_goal_is_quality(target->goal);
    assert(!params->chunks || !path);
    if (target->goal == GPUME_GOAL_BITRATE && !rate->is_quality) {
        rate->bitrate = target->value;
    } else if (rate->is_quality && gpume_goal_leads_to_crf(target->goal)) {
        gpume_pass_set_crf(pass, rate, 100 * (GPUME_CRF_MIN + GPUME_CRF_MAX) / 2);
        rate->target = *target;
    } else if (rate->is_quality) {
        rate->qp = gpume_target_qp(target, params->options, video->rate_num, video->rate_den);
    }
    if (!path) {
        return GPUME_OK;
    }
    rate->path = strdup(path);
    rate->tree_path = gpume_path_join(path, strlen(path), pass->encoder->offsets);
    rate->qps_path = gpume_path_join(path, strlen(path), qps);
    if (!rate->path || !rate->tree_path || !rate->qps_path) {
        return gpume_log_nomem(&params->log, path);
    }
    return open_files(pass, rate);
}

/* --- QP offsets: records of the type of a frame, then the offset of each of its squares of 16x16
 * pixels */

static void scale_offsets(
    struct gpume_pass_size *size, const struct gpume_decision *decision, const int16_t *quiet)
{
    const size_t first = decision->coded % OFFSETS_KEPT * size->squares;
    int16_t *offsets = size->offsets + first, *trees = size->trees + first;
    assert(decision->blocks_x == size->x.from_count && decision->blocks_y == size->y.from_count);
    gpume_qp_map_scale(&size->x, &size->y, decision->offsets, offsets);
    gpume_qp_map_scale(&size->x, &size->y, decision->aq_offsets, trees);
    gpume_qp_map_scale(&size->x, &size->y, quiet, size->quiet + first);
    for (size_t i = 0; i < size->squares; i++) {
        trees[i] = (int16_t)(offsets[i] - trees[i]);
    }
}

/* What a quality changes in the offsets of a frame's squares. */
struct offset_change {
    int32_t rest;            /* added to every one */
    int32_t strength, quiet; /* of the tree, and what noise takes of `quiet`, in 1/256 */
};

/* Fills in the record of a frame. */
static void make_record(const struct gpume_encoder *encoder, struct gpume_pass_size *size,
    size_t frame, enum gpume_frame_type type, const struct offset_change *change)
{
    const unsigned high = encoder->offsets_big_endian ? 0 : 1;
    const size_t first = frame % OFFSETS_KEPT * size->squares;
    const int16_t *offsets = size->offsets + first, *trees = size->trees + first;
    const int16_t *quiet = size->quiet + first;
    unsigned char *at = size->record;
    *at++ = encoder->offset_codes[type];
    for (size_t i = 0; i < size->squares; i++, at += 2) {
        const int32_t tree = trees[i] * (change->strength - 256) / 256 -
                             quiet[i] * change->quiet / 256 * change->strength / 256;
        const uint16_t offset = (uint16_t)(offsets[i] + tree + change->rest);
        at[high] = (unsigned char)(offset >> 8);
        at[1 - high] = (unsigned char)offset;
    }
}

/* --- frames */

static void find_means_of_tree(const struct gpume_pass *pass, const struct gpume_decision *decision,
    struct gpume_pass_row *row)
{
    const uint32_t blocks = decision->blocks_x * decision->blocks_y;
    int64_t sum = 0, quiet = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        sum += decision->offsets[i] - decision->aq_offsets[i];
        quiet += pass->quiet[i];
    }
    row->tree = (int32_t)gpume_div_nearest(sum, blocks);
    row->quiet = (int32_t)gpume_div_nearest(quiet, blocks);
}

static int add_row(struct gpume_pass *pass, const struct gpume_decision *decision)
{
    const struct gpume_pass_params *params = &pass->params;
    struct gpume_pass_row *rows =
        pass->count < FRAMES_MAX ? gpume_grow(pass->rows, pass->count, &pass->room, sizeof(*rows))
                                 : NULL;
    if (!rows) {
        return gpume_log_nomem(&params->log, "the statistics of another frame");
    }
    pass->rows = rows;
    struct gpume_pass_row *row = &pass->rows[pass->count];
    const struct gpume_pass_row *last = pass->count > 0 ? row - 1 : row;
    const uint32_t index = pass->count > 0 ? (uint32_t)pass->count - 1 : 0;
    const uint32_t noise_before = pass->count > 0 ? last->noise : 0;
    *row = (struct gpume_pass_row){
        .display = (uint32_t)decision->display,
        .intra_blocks = decision->intra_blocks,
        .skipped_blocks = decision->skipped_blocks,
        .weight = decision->weight,
        .kind = pass->encoder->fixed ? pass->encoder->fixed->kind(decision) : decision->type,
        .reuse = ONE,
        .cost = decision->cost,
        .intra_cost = decision->intra_cost,
        .shift =
            pass->encoder->fixed ? 0 : gpume_crf_shift(&pass->course, params->options, decision),
        .noise = decision->type > GPUME_FRAME_I ? gpume_pass_noise(decision) : noise_before,
    };
    if (params->options->tree) {
        find_means_of_tree(pass, decision, row);
    }
    const enum gpume_frame_type before = last->bits.type;
    row->before = gpume_type_is_b(before) ? last->before : index;
    row->intra = before == GPUME_FRAME_P || gpume_type_is_b(before) ? last->intra : index;
    if (decision->losses && !gpume_loss_frames_add(&pass->losses, decision)) {
        return gpume_log_nomem(&params->log, "the quality of another frame");
    }
    pass->count++;
    gpume_bits_frame_init(&row->bits, pass->encoder->bits, decision);
    row->usual_bits = (uint32_t)gpume_min_u64(
        gpume_bits_at(&row->bits, &pass->usual.of[decision->type], GPUME_BITS_SAME), UINT32_MAX);
    return GPUME_OK;
}

/* How far the tree lowers QPs around a frame: the mean of its offsets, by bits, of REACH frames on
 * both sides. */
static int32_t level_of_tree(const struct gpume_pass *pass, size_t index)
{
    const size_t first = index > REACH ? index - REACH : 0;
    const size_t end = (size_t)gpume_min_u64(index + REACH + 1, pass->count);
    int64_t sum = 0, bits = 0;
    for (size_t i = first; i < end; i++) {
        const struct gpume_pass_row *row = &pass->rows[i];
        const int32_t quiet = row->quiet * gpume_pass_quiet_part(pass, row->noise) / 256;
        sum += (int64_t)row->usual_bits * (row->tree - quiet);
        bits += row->usual_bits;
    }
    return bits > 0 ? (int32_t)(sum / bits) : 0;
}

/* The mean of the frames after an I frame up to the next one, or of REACH. */
static uint32_t noise_after(const struct gpume_pass *pass, size_t index)
{
    const size_t end = (size_t)gpume_min_u64(index + REACH + 1, pass->count);
    uint64_t sum = 0;
    size_t i = index + 1;
    for (; i < end && pass->rows[i].bits.type > GPUME_FRAME_I; i++) {
        sum += pass->rows[i].noise;
    }
    return i > index + 1 ? (uint32_t)(sum / (i - index - 1)) : 0;
}

/* Once the REACH frames after it are known, or the end. A record also holds what a whole QP
 * lacks. */
static int write_offsets(struct gpume_pass *pass, size_t index)
{
    const enum gpume_frame_type type = pass->rows[index].bits.type;
    if (type <= GPUME_FRAME_I) {
        pass->rows[index].noise = noise_after(pass, index);
    }
    pass->rows[index].level = level_of_tree(pass, index);
    for (struct gpume_pass_rate *rate = pass->rates; rate && type != GPUME_FRAME_B;
         rate = rate->next) {
        const bool is_known = rate->qps && !gpume_goal_is_fidelity(rate->asked.goal);
        const int32_t qp = is_known ? gpume_pass_quality_qp(pass, rate, index) : 0;
        if (!rate->tree) {
            continue;
        }
        const struct offset_change change = {.rest = qp - gpume_pass_whole_qp(qp),
            .strength = rate->is_quality ? gpume_pass_crf_strength(pass, index) : 256,
            .quiet = rate->is_quality ? gpume_pass_quiet_part(pass, pass->rows[index].noise) : 0};
        make_record(pass->encoder, rate->size, index, type, &change);
        GPUME_CHECK(gpume_out_write(rate->tree, rate->size->record, rate->size->record_bytes));
    }
    return GPUME_OK;
}

static int find_quiet(struct gpume_pass *pass, const struct gpume_decision *decision)
{
    const size_t blocks = (size_t)decision->blocks_x * decision->blocks_y;
    if (!pass->params.options->tree) {
        return GPUME_OK;
    }
    pass->quiet = pass->quiet ? pass->quiet : calloc(blocks, sizeof(*pass->quiet));
    if (!pass->quiet) {
        return gpume_log_nomem(&pass->params.log, "what noise takes of the offsets");
    }
    if (pass->encoder->tree.quiet > 0) {
        gpume_pass_find_quiet(decision, pass->quiet);
    }
    return GPUME_OK;
}

int gpume_pass_add_frame(struct gpume_pass *pass, const struct gpume_decision *decision)
{
    GPUME_CHECK(find_quiet(pass, decision));
    GPUME_CHECK(add_row(pass, decision));
    gpume_pass_count_vectors(pass, decision);
    if (!pass->params.options->tree) {
        return GPUME_OK;
    }
    for (struct gpume_pass_size *size = pass->sizes; size; size = size->next) {
        scale_offsets(size, decision, pass->quiet);
    }
    return pass->count > REACH ? write_offsets(pass, pass->count - 1 - REACH) : GPUME_OK;
}

/* Those of the frames after which too few came. */
static int write_last_offsets(struct gpume_pass *pass)
{
    for (size_t i = pass->count > REACH ? pass->count - REACH : 0; i < pass->count; i++) {
        GPUME_CHECK(pass->params.options->tree ? write_offsets(pass, i) : GPUME_OK);
    }
    return GPUME_OK;
}

/* --- the QP of a bitrate */

/* Prices where P frames have this QP. The model knows samples of 8 bits. */
static void find_prices(const struct gpume_pass *pass, int32_t qp, struct gpume_pass_prices *prices)
{
    const struct gpume_fixed_pass *fixed = pass->encoder->fixed;
    const int32_t lowest = gpume_pass_lowest_qp(pass);
    for (uint32_t kind = 0; fixed && kind < fixed->kinds; kind++) {
        gpume_bits_find_prices(&prices->of[kind], &fixed->bits[kind], qp);
    }
    for (enum gpume_frame_type type = GPUME_FRAME_IDR; type <= GPUME_FRAME_B && !fixed; type++) {
        gpume_bits_find_prices(
            &prices->of[type], &pass->model[type], gpume_pass_type_qp(pass, type, qp) + lowest);
    }
}

static uint64_t pass_row_bits(const struct gpume_pass_row *row,
    const struct gpume_pass_prices *prices, const struct gpume_pass_size *size)
{
    const uint64_t growth = (uint64_t)size->growth[row->bits.type] * row->reuse / ONE;
    return gpume_bits_at(
        &row->bits, &prices->of[row->kind], (uint32_t)gpume_min_u64(growth, UINT32_MAX));
}

static uint64_t all_bits(
    const struct gpume_pass *pass, const struct gpume_pass_size *size, int32_t qp)
{
    struct gpume_pass_prices prices;
    uint64_t sum = 0;
    find_prices(pass, qp, &prices);
    for (size_t i = 0; i < pass->count; i++) {
        sum += pass_row_bits(&pass->rows[i], &prices, size);
    }
    return sum;
}

/* The bits of all frames at a bitrate; UINT64_MAX if there are more. The bitrate and both parts of
 * the frame rate are below 2^32, so that each product but the last one is below 2^64. */
static uint64_t bits_of_rate(
    const struct gpume_pass *pass, const struct gpume_pass_size *size, uint64_t bitrate)
{
    const struct gpume_pass_video *video = &size->video;
    const uint64_t scaled = bitrate * video->rate_den;
    const uint64_t whole = scaled / video->rate_num, rest = scaled % video->rate_num;
    const uint64_t more = rest * pass->count / video->rate_num;
    return whole > (UINT64_MAX - more) / pass->count ? UINT64_MAX : whole * pass->count + more;
}

/* Whether the encoder will miss the rate by more than a factor of 2: at the ends of its range the
 * model is often off by that much. */
static bool is_out_of_reach(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, uint64_t bits)
{
    const uint64_t wanted = bits_of_rate(pass, rate->size, rate->bitrate);
    const bool at_end = rate->qp == gpume_pass_lowest_qp(pass) || rate->qp == GPUME_PASS_QP_MAX;
    return at_end && (bits / 2 > wanted || wanted / 2 > bits);
}

/* As the encoder counts, of 63 or 51 at the most. */
static int own_qp(const struct gpume_pass *pass, int32_t qp)
{
    const int32_t quarters = pass->encoder->fixed ? 5 : 4;
    return (int)(qp * quarters / 4 / GPUME_QP_ONE);
}

/* By the mean of all frames; the sum is below 2^38: 2^28 frames of less than 2^10. */
bool gpume_pass_is_noisy(const struct gpume_pass *pass)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pass->count; i++) {
        sum += pass->rows[i].noise;
    }
    return !pass->encoder->fixed && sum >= MUCH_NOISE * (uint64_t)pass->count;
}

static bool keeps_noise(const struct gpume_pass *pass, const struct gpume_pass_rate *rate)
{
    return rate->qp < NOISE_QP && gpume_pass_is_noisy(pass);
}

/* What to do against it. less: what to ask for. */
static void warn_of_noise(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    uint64_t bitrate, const char *what, const char *by, const char *less)
{
    gpume_log_write(&pass->params.log, GPUME_LOG_WARNING,
        "%s: %s may %s %" PRIu64 " kbit/s%s: at QP %d it begins to keep the noise; %sask for %s",
        rate->path, pass->encoder->name, what, bitrate / 1000, by, own_qp(pass, rate->qp),
        pass->params.filtered ? "" : "remove that with --filter 1, or ", less);
}

/* What an encoder leaves out of the noise counts as an error, of which the model expects too little
 * at every QP: of a clip with noise of 6.5 steps, x264 missed 36 dB by 4.4, and 28 dB by 1.1. */
static void warn_of_fidelity(const struct gpume_pass *pass, const struct gpume_pass_rate *rate)
{
    char asked[GPUME_TARGET_SENTENCE_BYTES];
    gpume_target_sentence(&rate->asked, asked);
    gpume_log_write(&pass->params.log, GPUME_LOG_WARNING,
        "%s: %s may miss %s by far, because of the noise; %s", rate->path, pass->encoder->name,
        asked,
        pass->params.filtered
            ? "encode a part and measure it"
            : "correct the CRF with --probes 2, or remove the noise with --filter 1");
}

/* Of a CRF or QP that was given, or that was found and is not corrected by an encode. */
static void warn_of_quality(const struct gpume_pass *pass, const struct gpume_pass_rate *rate)
{
    if (!rate->path) {
        return;
    }
    if (gpume_goal_is_fidelity(rate->asked.goal)) {
        if (!pass->params.probed && gpume_pass_is_noisy(pass)) {
            warn_of_fidelity(pass, rate);
        }
    } else if (keeps_noise(pass, rate)) {
        warn_of_noise(pass, rate, rate->bitrate, "take several times the expected", "",
            rate->asked.goal == GPUME_GOAL_QP ? "a higher QP" : "a higher CRF");
    }
}

/* Warns of bitrates that the encoder lowers, or will miss by much. */
static void warn_of_rate(const struct gpume_pass *pass, const struct gpume_pass_rate *rate)
{
    const uint32_t most = pass->params.options->vbv_maxrate;
    const struct gpume_pass_video *video = &rate->size->video;
    const char *encoder = pass->encoder->name;
    const uint64_t bits = all_bits(pass, rate->size, rate->qp), kbps = rate->bitrate / 1000;
    const uint64_t expected = bits / pass->count * video->rate_num / video->rate_den / 1000;
    const int qp = own_qp(pass, rate->qp);
    const bool is_size = rate->asked.goal == GPUME_GOAL_SIZE;
    const char *less = is_size ? "a smaller file" : "a lower bitrate";
    const char *more = is_size ? "a larger file" : "a higher bitrate";
    if (most > 0 && kbps > most) {
        gpume_log_write(&pass->params.log, GPUME_LOG_WARNING,
            "%s: %s lowers %" PRIu64 " kbit/s to --vbv-maxrate, %" PRIu32 " kbit/s", rate->path,
            encoder, kbps, most);
    }
    if (is_out_of_reach(pass, rate, bits) && rate->qp < GPUME_PASS_QP_MAX) {
        gpume_log_write(&pass->params.log, GPUME_LOG_WARNING,
            "%s: %s is unlikely to reach %" PRIu64 " kbit/s: even at QP %d it is expected to need "
            "%s%" PRIu64 " kbit/s; ask for %s",
            rate->path, encoder, kbps, qp, expected > 0 ? "only " : "less than ",
            expected > 0 ? expected : 1, less);
    } else if (is_out_of_reach(pass, rate, bits)) {
        gpume_log_write(&pass->params.log, GPUME_LOG_WARNING,
            "%s: %s is unlikely to keep to %" PRIu64 " kbit/s: even at QP %d it is expected to "
            "need %" PRIu64 " kbit/s; ask for %s or a smaller picture",
            rate->path, encoder, kbps, qp, expected, more);
    } else if (rate->qp < ROUGH_QP) {
        gpume_log_write(&pass->params.log, GPUME_LOG_WARNING,
            "%s: %s may miss %" PRIu64 " kbit/s by a tenth to a half: it is expected to encode at "
            "QP %d, where estimates are rough; %s would be met more closely",
            rate->path, encoder, kbps, qp, less);
    } else if (keeps_noise(pass, rate)) {
        warn_of_noise(pass, rate, rate->bitrate, "exceed", " by up to three quarters", less);
    }
}

/* The bits of all frames at the bitrate that the encoder keeps to. */
static uint64_t wanted_bits(const struct gpume_pass *pass, const struct gpume_pass_rate *rate)
{
    const uint64_t most = 1000 * (uint64_t)pass->params.options->vbv_maxrate;
    return bits_of_rate(
        pass, rate->size, most > 0 ? gpume_min_u64(rate->bitrate, most) : rate->bitrate);
}

/* The lowest QP whose bits are not more than those of the bitrate. */
static int find_qp(const struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const uint64_t wanted = wanted_bits(pass, rate);
    int32_t low = gpume_pass_lowest_qp(pass), high = GPUME_PASS_QP_MAX;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        GPUME_CHECK(gpume_pass_check_ended(pass));
        if (all_bits(pass, rate->size, middle) > wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    rate->qp = low;
    return GPUME_OK;
}

static int solve(const struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    GPUME_CHECK(find_qp(pass, rate));
    warn_of_rate(pass, rate);
    if (pass->encoder->fixed) {
        rate->qp = pass->encoder->fixed->qp(&rate->size->video, rate->bitrate);
    }
    find_prices(pass, rate->qp, &rate->prices);
    find_prices(pass, rate->qp + GPUME_STEP_QP, &rate->less);
    return GPUME_OK;
}

/* --- the decoder's buffer */

static uint8_t highest_level(const struct gpume_pass *pass)
{
    const int32_t highest = GPUME_PASS_QP_MAX + (pass->params.options->tree ? TREE_QP : 0);
    return (uint8_t)((highest - gpume_pass_lowest_qp(pass)) / LEVEL_QP);
}

static int make_levels(struct gpume_pass *pass)
{
    const size_t count = (size_t)highest_level(pass) + STEP_LEVELS + 1;
    pass->levels = calloc(count, sizeof(*pass->levels));
    if (!pass->levels) {
        return gpume_log_nomem(&pass->params.log, "the plan of the decoder's buffer");
    }
    for (size_t i = 0; i < count; i++) {
        find_prices(pass, gpume_pass_lowest_qp(pass) + (int32_t)i * LEVEL_QP, &pass->levels[i]);
    }
    return GPUME_OK;
}

/* Of a frame at some level where those before it have theirs. A P frame that is finer than its
 * reference has to code what that one lacks, too: nine tenths of what an intra frame would take
 * more at its level than at the reference's. */
static uint64_t bits_at_level(const struct gpume_pass *pass, const struct gpume_pass_size *size,
    size_t frame, uint32_t level, const uint8_t *levels)
{
    const struct gpume_pass_row *row = &pass->rows[frame], *intra = &pass->rows[row->intra];
    const uint32_t before = levels[row->before];
    const uint64_t bits = pass_row_bits(row, &pass->levels[level], size);
    if (row->bits.type != GPUME_FRAME_P || before <= level) {
        return bits;
    }
    const uint64_t finer = pass_row_bits(intra, &pass->levels[level], size);
    const uint64_t coarser = pass_row_bits(intra, &pass->levels[before], size);
    return bits + (finer > coarser ? (finer - coarser) * 9 / 10 : 0);
}

struct planned {
    const struct gpume_pass *pass;
    const struct gpume_pass_size *size;
};

static uint64_t planned_bits(const void *user, size_t frame, const uint8_t *levels)
{
    const struct planned *planned = user;
    return bits_at_level(planned->pass, planned->size, frame, levels[frame], levels);
}

/* The lowest levels, but for those that the buffer raises, with not more bits than wanted. Levels
 * that it raises may cost other frames bits, so this may be above the QP of the bitrate. Where even
 * the highest level takes more, that one: warn_of_rate tells. */
static int find_levels(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    const struct gpume_bits_buffer *buffer, struct gpume_bits_plan *plan)
{
    const uint64_t wanted = wanted_bits(pass, rate);
    const int32_t level = (rate->qp - gpume_pass_lowest_qp(pass)) / LEVEL_QP;
    int32_t low = level > LEVELS_BELOW ? level - LEVELS_BELOW : 0;
    int32_t high = (GPUME_PASS_QP_MAX - gpume_pass_lowest_qp(pass)) / LEVEL_QP;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (!gpume_bits_plan_at(plan, buffer, (uint8_t)middle)) {
            return GPUME_CANCELLED;
        }
        if (plan->bits > wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return gpume_bits_plan_at(plan, buffer, (uint8_t)low) ? GPUME_OK : GPUME_CANCELLED;
}

static void warn_of_buffer(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, size_t frame)
{
    gpume_log_write(&pass->params.log, GPUME_LOG_WARNING,
        "%s: %s is unlikely to keep to --vbv-bufsize %" PRIu32
        " kbit: even at QP 51, frame %" PRIu32
        " is expected to need more than has arrived; give a larger buffer or a smaller size",
        rate->path, pass->encoder->name, pass->params.options->vbv_bufsize,
        pass->rows[frame].display);
}

/* Finds levels at which the decoder's buffer does not run empty. */
static int plan_buffer(struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const struct gpume_encode_options *options = pass->params.options;
    const struct gpume_pass_video *video = &rate->size->video;
    const uint64_t arriving =
        1000 * (uint64_t)options->vbv_maxrate * video->rate_den / video->rate_num;
    const struct planned planned = {pass, rate->size};
    const struct gpume_bits_buffer buffer = {
        .frames = pass->count,
        .size = gpume_max_u64(1000 * (uint64_t)options->vbv_bufsize, arriving), /* as encoders do */
        .rate = arriving,
        .bits = planned_bits,
        .user = &planned,
        .highest = highest_level(pass),
        .ended = pass->params.ended,
    };
    struct gpume_bits_plan plan;
    GPUME_CHECK(pass->levels ? GPUME_OK : make_levels(pass));
    if (!gpume_bits_plan_init(&plan, &buffer)) {
        gpume_bits_plan_free(&plan);
        return gpume_log_nomem(&pass->params.log, "the plan of the decoder's buffer");
    }
    const int status = find_levels(pass, rate, &buffer, &plan);
    if (status == GPUME_OK && plan.broken < pass->count) {
        warn_of_buffer(pass, rate, plan.broken);
    }
    if (status == GPUME_OK) {
        rate->levels = plan.levels;
        plan.levels = NULL;
    }
    gpume_bits_plan_free(&plan);
    return status;
}

/* --- statistics */

static uint64_t count_squares(uint32_t width, uint32_t height)
{
    return gpume_div_up(width, GPUME_SQUARE) * gpume_div_up(height, GPUME_SQUARE);
}

static struct gpume_pass_sizing sizing_of(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, size_t index)
{
    const struct gpume_pass_row *row = &pass->rows[index];
    const uint8_t *levels = rate->levels;
    if (rate->is_quality) {
        return gpume_pass_size_frame(pass, rate, index);
    }
    if (!levels) {
        return (struct gpume_pass_sizing){gpume_pass_type_qp(pass, row->bits.type, rate->qp),
            pass_row_bits(row, &rate->prices, rate->size),
            pass_row_bits(row, &rate->less, rate->size)};
    }
    const uint32_t level = levels[index];
    const int32_t qp = gpume_pass_lowest_qp(pass) + (int32_t)level * LEVEL_QP;
    return (struct gpume_pass_sizing){gpume_pass_type_qp(pass, row->bits.type, qp),
        bits_at_level(pass, rate->size, index, level, levels),
        bits_at_level(pass, rate->size, index, level + STEP_LEVELS, levels)};
}

/* Blocks are counted in the encoded picture: x264 compares intra blocks with all of its blocks. */
static void fill_frame(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    size_t index, struct gpume_pass_frame *frame)
{
    const struct gpume_pass_params *params = &pass->params;
    const struct gpume_pass_size *size = rate->size;
    const struct gpume_pass_row *row = &pass->rows[index];
    const uint64_t blocks = count_squares(size->video.width, size->video.height);
    const uint64_t analysed = count_squares(params->width, params->height);
    const struct gpume_pass_sizing of = sizing_of(pass, rate, index);
    const uint64_t texture = of.bits * gpume_bits_texture(of.bits, of.less) / 256;
    const bool weighted = pass->encoder->has_weights && row->bits.type == GPUME_FRAME_P;
    *frame = (struct gpume_pass_frame){
        .video = &size->video,
        .display = row->display,
        .coded = index,
        .type = row->bits.type,
        .qp = of.qp > 0 ? (of.qp * 100 + GPUME_QP_ONE / 2) / GPUME_QP_ONE : 0,
        .texture = texture,
        .vectors = of.bits - texture,
        .intra_blocks = (uint32_t)(row->intra_blocks * blocks / analysed),
        .skipped_blocks = (uint32_t)(row->skipped_blocks * blocks / analysed),
        .weight = weighted ? row->weight : GPUME_WEIGHT_NONE,
    };
    frame->inter_blocks = (uint32_t)blocks - frame->intra_blocks - frame->skipped_blocks;
}

/* The beginning or the end of the statistics. */
static size_t make_other_line(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    char line[GPUME_PASS_LINE_BYTES])
{
    const struct gpume_encoder *encoder = pass->encoder;
    const struct gpume_pass_video *video = &rate->size->video;
    return encoder->fixed ? encoder->fixed->write_end(line, video, pass->count)
                          : encoder->write_header(line, video, pass->params.options, &rate->target);
}

/* Part number `index` of the statistics, from 0: the beginning, and then frames; or frames, and
 * then the end. Returns its bytes. */
static size_t make_line(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    size_t index, char line[GPUME_PASS_LINE_BYTES])
{
    const struct gpume_encoder *encoder = pass->encoder;
    size_t bytes;
    if (index == (encoder->fixed ? pass->count : 0)) {
        bytes = make_other_line(pass, rate, line);
    } else {
        struct gpume_pass_frame frame;
        fill_frame(pass, rate, encoder->fixed ? index : index - 1, &frame);
        bytes = encoder->write_frame(line, &frame);
    }
    assert(bytes <= GPUME_PASS_LINE_BYTES);
    return bytes;
}

/* --- a fixed pass */

static int compare_display(const void *a, const void *b)
{
    const struct gpume_pass_row *left = a, *right = b;
    return left->display < right->display ? -1 : left->display > right->display;
}

/* Costs are at most the intra costs, and are taken for a fiftieth of them at the least. */
static uint32_t reuse_of(const struct gpume_pass *pass, size_t index)
{
    const struct gpume_fixed_pass *fixed = pass->encoder->fixed;
    const uint64_t end = gpume_min_u64(pass->count, index + 1 + fixed->reuse_frames);
    uint64_t cost = 0, intra = 0;
    for (size_t i = index + 1; i < end; i++) {
        const struct gpume_pass_row *row = &pass->rows[i];
        cost += fixed->reuse[row->kind] == 0 ? row->cost : 0;
        intra += fixed->reuse[row->kind] == 0 ? row->intra_cost : 0;
    }
    if (intra == 0) {
        cost = 3;
        intra = 10;
    }
    const uint64_t most = gpume_max_u64(gpume_min_u64(cost, intra), intra / 50 + 1);
    const int64_t log = (int64_t)gpume_fixed_log2(intra) - gpume_fixed_log2(most);
    return gpume_fixed_exp2(log * fixed->reuse[pass->rows[index].kind] / ONE);
}

static void finish_fixed(struct gpume_pass *pass)
{
    qsort(pass->rows, pass->count, sizeof(*pass->rows), compare_display);
    for (size_t i = 0; i < pass->count; i++) {
        pass->rows[i].reuse = reuse_of(pass, i);
    }
}

static size_t make_qp_line(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    size_t display, char line[GPUME_PASS_LINE_BYTES])
{
    const struct gpume_pass_frame frame = {
        .display = display,
        .type = rate->forced[display].type,
        .qp = rate->forced[display].qp / GPUME_QP_ONE * 100,
    };
    return pass->encoder->write_qp(line, &frame);
}

/* --- reading back */

static int check_end(struct gpume_stream *stream)
{
    bool ended = false;
    GPUME_CHECK(gpume_stream_at_end(stream, &ended));
    return ended ? GPUME_OK : GPUME_FORMAT;
}

static int check_lines(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, struct gpume_stream *stream)
{
    char expected[GPUME_PASS_LINE_BYTES], line[GPUME_PASS_LINE_BYTES];
    for (size_t i = 0; i <= pass->count; i++) {
        const size_t bytes = make_line(pass, rate, i, expected);
        GPUME_CHECK(gpume_pass_check_ended(pass));
        GPUME_CHECK(gpume_stream_read(stream, line, bytes));
        if (memcmp(line, expected, bytes) != 0) {
            return GPUME_FORMAT;
        }
    }
    return check_end(stream);
}

static int check_records(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, struct gpume_stream *stream)
{
    for (size_t i = 0; i < pass->count; i++) {
        const enum gpume_frame_type type = pass->rows[i].bits.type;
        unsigned char code;
        if (type == GPUME_FRAME_B) {
            continue;
        }
        GPUME_CHECK(gpume_pass_check_ended(pass));
        GPUME_CHECK(gpume_stream_read(stream, &code, 1));
        GPUME_CHECK(gpume_stream_skip(stream, rate->size->record_bytes - 1));
        if (code != pass->encoder->offset_codes[type]) {
            return GPUME_FORMAT;
        }
    }
    return check_end(stream);
}

static int check_qps(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, struct gpume_stream *stream)
{
    char expected[GPUME_PASS_LINE_BYTES], line[GPUME_PASS_LINE_BYTES];
    for (size_t i = 0; i < pass->count; i++) {
        const size_t bytes = make_qp_line(pass, rate, i, expected);
        GPUME_CHECK(gpume_stream_read(stream, line, bytes));
        if (memcmp(line, expected, bytes) != 0) {
            return GPUME_FORMAT;
        }
    }
    return check_end(stream);
}

typedef int (*check_fn)(
    const struct gpume_pass *pass, const struct gpume_pass_rate *rate, struct gpume_stream *stream);

/* A device or a pipe cannot be read back. */
static int read_back(const struct gpume_pass *pass, const struct gpume_pass_rate *rate,
    const struct gpume_out *out, const char *path, check_fn check)
{
    const char *file = gpume_out_place(out);
    const struct gpume_log *log = &pass->params.log, silent = {0};
    struct gpume_stream *stream = NULL;
    if (!file) {
        return GPUME_OK;
    }
    int status = gpume_stream_open(&stream, file, &silent);
    status = status ? status : check(pass, rate, stream);
    gpume_stream_close(&stream);
    if (status == GPUME_NOMEM) {
        return gpume_log_nomem(log, path);
    }
    return status == GPUME_OK || status == GPUME_CANCELLED
               ? status
               : gpume_log_fail(log, GPUME_FORMAT,
                     "%s: does not hold what was written to it; check the disk and run it again",
                     path);
}

/* Of the first second pass that has to keep to a bitrate. */
static void warn_of_length(const struct gpume_pass *pass)
{
    const struct gpume_pass_rate *rate = pass->rates;
    while (rate && rate->is_quality) {
        rate = rate->next;
    }
    if (rate && pass->count < FRAMES_FEW && !pass->encoder->fixed) {
        gpume_log_write(&pass->params.log, GPUME_LOG_WARNING,
            "%s: %s may miss the bitrate of so short a clip by a tenth or more: it has only %zu "
            "frame%s; from %d on, bitrates are met more closely",
            rate->path, pass->encoder->name, pass->count, gpume_plural(pass->count), FRAMES_FEW);
    }
}

static int write_qps(const struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    char line[GPUME_PASS_LINE_BYTES];
    for (size_t i = 0; i < pass->count; i++) {
        GPUME_CHECK(gpume_out_write(rate->qps, line, make_qp_line(pass, rate, i, line)));
    }
    GPUME_CHECK(gpume_out_finish(rate->qps));
    return read_back(pass, rate, rate->qps, rate->qps_path, check_qps);
}

/* The bitrate of a size, in whole kilobits. */
static int settle_size(const struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const struct gpume_pass_video *video = &rate->size->video;
    const double seconds = (double)pass->count * video->rate_den / video->rate_num;
    const double kbits = (double)rate->target.value * 8 / 1000 / seconds;
    if (kbits < 1 || kbits > GPUME_KBITS_MAX) {
        return gpume_log_fail(&pass->params.log, GPUME_INVALID,
            "%s: %" PRIu64
            " bytes for %.3f s are %.3f kbit/s, and bitrates are 1 to %u kbit/s; ask for "
            "a %s file",
            rate->path, rate->target.value, seconds, kbits, GPUME_KBITS_MAX,
            kbits < 1 ? "larger" : "smaller");
    }
    rate->bitrate = 1000 * (uint64_t)kbits;
    rate->target = (struct gpume_encode_target){GPUME_GOAL_BITRATE, rate->bitrate};
    return GPUME_OK;
}

/* --- offsets of a fidelity, whose CRF is known when they have been written */

static void add_to_record(
    const struct gpume_encoder *encoder, unsigned char *record, size_t bytes, int32_t more)
{
    const unsigned high = encoder->offsets_big_endian ? 0 : 1;
    for (unsigned char *at = record + 1; at < record + bytes; at += 2) {
        const uint16_t offset = (uint16_t)(at[high] << 8 | at[1 - high]);
        const uint16_t sum = (uint16_t)(offset + more);
        at[high] = (unsigned char)(sum >> 8);
        at[1 - high] = (unsigned char)sum;
    }
}

/* Adds what whole QPs lack to the records of a file, which nobody else has seen. */
static int add_rests(const struct gpume_pass *pass, struct gpume_pass_rate *rate, FILE *file)
{
    const size_t bytes = rate->size->record_bytes;
    long at = 0;
    for (size_t i = 0; i < pass->count; i++) {
        const int32_t qp = rate->frame_qps[i], rest = qp - gpume_pass_whole_qp(qp);
        if (pass->rows[i].bits.type == GPUME_FRAME_B) {
            continue;
        }
        GPUME_CHECK(gpume_pass_check_ended(pass));
        if (fseek(file, at, SEEK_SET) != 0 || fread(rate->size->record, bytes, 1, file) != 1) {
            return GPUME_IO;
        }
        add_to_record(pass->encoder, rate->size->record, bytes, rest - rate->added[i]);
        if (fseek(file, at, SEEK_SET) != 0 || fwrite(rate->size->record, bytes, 1, file) != 1) {
            return GPUME_IO;
        }
        rate->added[i] = (int16_t)rest;
        at += (long)bytes;
    }
    return fflush(file) == 0 ? GPUME_OK : GPUME_IO;
}

/* Whether its QPs are whole in a file of their own, and known only now. */
static bool has_rests(const struct gpume_pass_rate *rate)
{
    return rate->qps && rate->tree && !rate->is_whole && gpume_goal_is_fidelity(rate->asked.goal);
}

static int complete_offsets(const struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    const struct gpume_log *log = &pass->params.log;
    rate->added = rate->added ? rate->added : calloc(pass->count, sizeof(*rate->added));
    if (!rate->added) {
        return gpume_log_nomem(log, rate->tree_path);
    }
    FILE *file = fopen(gpume_out_place(rate->tree), "r+b");
    const int status = file ? add_rests(pass, rate, file) : GPUME_IO;
    const bool closed = file && fclose(file) == 0;
    if (status == GPUME_CANCELLED || (status == GPUME_OK && closed)) {
        return status;
    }
    return gpume_log_fail(log, GPUME_IO, "%s: cannot be completed: %s; check the disk",
        rate->tree_path, strerror(errno));
}

/* A copy of the file, which has its name, as another output of that name. */
static int copy_offsets(
    const struct gpume_pass *pass, struct gpume_pass_rate *rate, struct gpume_out_set *set)
{
    const struct gpume_log *log = &pass->params.log;
    struct gpume_stream *stream = NULL;
    gpume_out_close(&rate->tree);
    int status = gpume_stream_open(&stream, rate->tree_path, log);
    status = status ? status : gpume_out_open_in(&rate->tree, set, rate->tree_path, log);
    for (size_t i = 0; i < pass->count && status == GPUME_OK; i++) {
        if (pass->rows[i].bits.type != GPUME_FRAME_B) {
            status = gpume_stream_read(stream, rate->size->record, rate->size->record_bytes);
            status =
                status ? status
                       : gpume_out_write(rate->tree, rate->size->record, rate->size->record_bytes);
        }
    }
    gpume_stream_close(&stream);
    return status ? status : gpume_out_finish(rate->tree);
}

static int write_stats(const struct gpume_pass *pass, struct gpume_pass_rate *rate)
{
    char line[GPUME_PASS_LINE_BYTES];
    for (size_t i = 0; i <= pass->count; i++) {
        GPUME_CHECK(gpume_pass_check_ended(pass));
        GPUME_CHECK(gpume_out_write(rate->stats, line, make_line(pass, rate, i, line)));
    }
    GPUME_CHECK(gpume_out_finish(rate->stats));
    return read_back(pass, rate, rate->stats, rate->path, check_lines);
}

int gpume_pass_finish(struct gpume_pass *pass)
{
    if (pass->count == 0) {
        return gpume_log_fail(&pass->params.log, GPUME_INVALID, "there are no frames to encode");
    }
    for (struct gpume_pass_rate *rate = pass->rates; rate; rate = rate->next) {
        const bool is_size = rate->target.goal == GPUME_GOAL_SIZE && !rate->is_quality;
        GPUME_CHECK(is_size ? settle_size(pass, rate) : GPUME_OK);
    }
    warn_of_length(pass);
    GPUME_CHECK(write_last_offsets(pass));
    if (pass->encoder->fixed) {
        finish_fixed(pass);
    }
    for (struct gpume_pass_rate *rate = pass->rates; rate; rate = rate->next) {
        GPUME_CHECK(rate->tree ? gpume_out_finish(rate->tree) : GPUME_OK);
        rate->is_whole = gpume_goal_is_fidelity(rate->asked.goal) && rate->qps && rate->tree &&
                         !gpume_out_place(rate->tree);
        GPUME_CHECK(rate->is_quality ? gpume_pass_settle_quality(pass, rate) : solve(pass, rate));
        if (rate->is_quality) {
            warn_of_quality(pass, rate);
        }
        GPUME_CHECK(pass->params.options->vbv_bufsize > 0 ? plan_buffer(pass, rate) : GPUME_OK);
        GPUME_CHECK(rate->path ? write_stats(pass, rate) : GPUME_OK);
        if (rate->tree) {
            GPUME_CHECK(has_rests(rate) ? complete_offsets(pass, rate) : GPUME_OK);
            GPUME_CHECK(read_back(pass, rate, rate->tree, rate->tree_path, check_records));
        }
        GPUME_CHECK(rate->qps ? write_qps(pass, rate) : GPUME_OK);
    }
    return GPUME_OK;
}

int gpume_pass_correct(struct gpume_pass *pass, size_t index,
    const struct gpume_pass_encode *encode, struct gpume_out_set *set, bool *changed)
{
    struct gpume_pass_rate *rate = pass->rates;
    for (; index > 0; index--) {
        rate = rate->next;
    }
    GPUME_CHECK(gpume_pass_settle_again(pass, rate, encode, changed));
    if (!*changed) {
        return GPUME_OK;
    }
    const struct gpume_log *log = &pass->params.log;
    const bool has_qps = rate->qps != NULL;
    gpume_out_close(&rate->stats);
    gpume_out_close(&rate->qps);
    GPUME_CHECK(gpume_out_open_in(&rate->stats, set, rate->path, log));
    GPUME_CHECK(has_qps ? gpume_out_open_in(&rate->qps, set, rate->qps_path, log) : GPUME_OK);
    GPUME_CHECK(write_stats(pass, rate));
    if (has_rests(rate)) {
        GPUME_CHECK(copy_offsets(pass, rate, set));
        GPUME_CHECK(complete_offsets(pass, rate));
        GPUME_CHECK(read_back(pass, rate, rate->tree, rate->tree_path, check_records));
    }
    return rate->qps ? write_qps(pass, rate) : GPUME_OK;
}

void gpume_pass_close(struct gpume_pass **pointer)
{
    struct gpume_pass *pass = *pointer;
    if (!pass) {
        return;
    }
    *pointer = NULL;
    while (pass->rates) {
        struct gpume_pass_rate *rate = pass->rates;
        pass->rates = rate->next;
        gpume_out_close(&rate->stats);
        gpume_out_close(&rate->tree);
        gpume_out_close(&rate->qps);
        free(rate->path);
        free(rate->tree_path);
        free(rate->qps_path);
        free(rate->frame_qps);
        free(rate->forced);
        free(rate->parts);
        free(rate->added);
        free(rate->levels);
        free(rate);
    }
    while (pass->sizes) {
        struct gpume_pass_size *size = pass->sizes;
        pass->sizes = size->next;
        free(size->record);
        free(size->offsets);
        free(size->trees);
        free(size->quiet);
        free(size);
    }
    gpume_loss_frames_free(&pass->losses);
    free(pass->scenes);
    free(pass->rows);
    free(pass->levels);
    free(pass->quiet);
    free(pass);
}
