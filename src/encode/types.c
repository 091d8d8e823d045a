/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/types.h"

#include "base/base.h"
#include "encode/encoder.h"

#include <assert.h>

#define ONE 65536 /* biases are in 1/65536 */

void gpume_types_init(struct gpume_types *types, const struct gpume_encode_options *options,
    gpume_cost_fn cost, gpume_cost_fn coding_cost, void *opaque)
{
    *types = (struct gpume_types){
        .options = *options, .cost = cost, .coding_cost = coding_cost, .opaque = opaque};
}

/* How many frames after a cut are looked at for a flash. */
static uint32_t flash_span(const struct gpume_encode_options *options)
{
    const bool whole_run = options->encoder->flash_is_run || options->b_adapt == 2;
    return whole_run || options->bframes == 0 ? options->bframes : 1;
}

uint32_t gpume_types_window(const struct gpume_encode_options *options)
{
    /* The frame after the longest run may be a cut, which is checked for a flash. */
    uint64_t frames = options->bframes + 1 + flash_span(options);
    if (options->tree) {
        frames = gpume_max_u64(frames, options->horizon);
    }
    return (uint32_t)gpume_min_u64(frames, GPUME_PATTERN_MAX);
}

void gpume_types_commit(struct gpume_types *types, uint64_t frame, enum gpume_frame_type type)
{
    const struct gpume_encode_options *options = &types->options;
    if (type == GPUME_FRAME_IDR || (type == GPUME_FRAME_I && options->open_gop &&
                                       frame - types->last_key >= options->min_keyint)) {
        types->last_key = frame;
    }
}

/* --- patterns of P and B frames */

/* Which frame of a run of B frames is a reference, counted from 0; UINT32_MAX: none. */
static uint32_t run_middle(const struct gpume_encode_options *options, uint32_t b_frames)
{
    if (options->b_pyramid == 0 || b_frames < 2) {
        return UINT32_MAX;
    }
    return options->encoder->middle_is_late ? b_frames / 2 : (b_frames - 1) / 2;
}

uint64_t gpume_types_half(uint64_t past, uint64_t future)
{
    return past + (future - past) / 2;
}

static int add_b_cost(
    const struct gpume_types *types, uint64_t frame, uint64_t past, uint64_t future, uint64_t *sum)
{
    uint64_t cost = 0;
    GPUME_CHECK(types->coding_cost(types->opaque, frame, past, future, &cost));
    *sum += cost * 100 / types->options.encoder->b_percent;
    return GPUME_OK;
}

/* Of all frames between the two, in a pyramid of halves. */
static int add_half_costs(
    const struct gpume_types *types, uint64_t past, uint64_t future, uint64_t *sum)
{
    if (future - past < 2) {
        return GPUME_OK;
    }
    const uint64_t middle = gpume_types_half(past, future);
    GPUME_CHECK(add_b_cost(types, middle, past, future, sum));
    GPUME_CHECK(add_half_costs(types, past, middle, sum));
    return add_half_costs(types, middle, future, sum);
}

int gpume_types_run_cost(
    const struct gpume_types *types, uint64_t past, uint64_t next, uint64_t enough, uint64_t *cost)
{
    if (types->options.encoder->halves) {
        *cost = 0;
        GPUME_CHECK(types->coding_cost(types->opaque, next, past, next, cost));
        return add_half_costs(types, past, next, cost);
    }
    const uint32_t middle = run_middle(&types->options, (uint32_t)(next - past - 1));
    const uint64_t reference = middle == UINT32_MAX ? next : past + 1 + middle;
    *cost = 0;
    GPUME_CHECK(types->coding_cost(types->opaque, next, past, next, cost));
    if (reference != next && *cost < enough) {
        GPUME_CHECK(add_b_cost(types, reference, past, next, cost));
    }
    for (uint64_t frame = past + 1; frame < next && *cost < enough; frame++) {
        if (frame != reference) {
            GPUME_CHECK(add_b_cost(types, frame, frame < reference ? past : reference,
                frame < reference ? reference : next, cost));
        }
    }
    return GPUME_OK;
}

static int choose_cheapest_runs(const struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions)
{
    uint64_t best[GPUME_PATTERN_MAX + 1]; /* cost of the first i frames, the last of them P */
    uint32_t runs[GPUME_PATTERN_MAX + 1]; /* frames of its last run */
    best[0] = 0;
    for (uint32_t end = 1; end <= count; end++) {
        best[end] = UINT64_MAX;
        const uint32_t longest = gpume_min_u32(types->options.bframes + 1, end);
        for (uint32_t run = 1; run <= longest; run++) {
            const uint64_t before = best[end - run];
            const uint64_t enough = best[end] > before ? best[end] - before : 0;
            uint64_t cost;
            GPUME_CHECK(gpume_types_run_cost(types, last + end - run, last + end, enough, &cost));
            if (cost < enough) {
                best[end] = before + cost;
                runs[end] = run;
            }
        }
    }
    for (uint32_t end = count; end > 0; end -= runs[end]) {
        for (uint32_t i = end - runs[end]; i < end; i++) {
            decisions[i] = i + 1 < end ? GPUME_FRAME_B : GPUME_FRAME_P;
        }
    }
    return GPUME_OK;
}

/* Runs of the full length; before the next key frame or the end, of halves of it. */
static void choose_halved_runs(const struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions)
{
    const uint64_t key = types->last_key + types->options.keyint;
    const uint32_t longest = types->options.bframes + 1;
    for (uint32_t begin = 0, run; begin < count; begin += run) {
        const uint64_t past = last + begin;
        const uint64_t most = past + 1 < key ? gpume_min_u64(key - 1 - past, longest) : longest;
        const uint32_t left = (uint32_t)gpume_min_u64(most, count - begin);
        for (run = longest; run > left; run /= 2) {
        }
        for (uint32_t i = 1; i <= run; i++) {
            decisions[begin + i - 1] = i == run ? GPUME_FRAME_P : GPUME_FRAME_B;
        }
    }
}

int gpume_types_choose_pattern(const struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions)
{
    const struct gpume_encode_options *options = &types->options;
    assert(count <= GPUME_PATTERN_MAX);
    if (options->encoder->halves) {
        choose_halved_runs(types, last, count, decisions);
        return GPUME_OK;
    }
    if (options->bframes > 0 && options->b_adapt > 0) {
        return choose_cheapest_runs(types, last, count, decisions);
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool is_b = i + 1 < count && i % (options->bframes + 1) != options->bframes;
        decisions[i] = is_b ? GPUME_FRAME_B : GPUME_FRAME_P;
    }
    return GPUME_OK;
}

/* --- cuts */

static uint32_t cut_bias(const struct gpume_types *types, uint64_t frame)
{
    const uint64_t keyint = types->options.keyint, min_keyint = types->options.min_keyint;
    const uint64_t distance = gpume_min_u64(frame - types->last_key, keyint);
    const uint64_t most = (uint64_t)types->options.scenecut * ONE / 100;
    const uint64_t least = min_keyint >= keyint ? most : most / 4;
    if (distance <= min_keyint / 4) {
        return (uint32_t)(least / 4);
    }
    if (distance <= min_keyint) {
        return (uint32_t)(least * distance / min_keyint);
    }
    return (uint32_t)(least + (most - least) * (distance - min_keyint) / (keyint - min_keyint));
}

/* Whether `frame`, coming right after `past`, would be a cut. */
static int differs(const struct gpume_types *types, uint64_t past, uint64_t frame, bool *result)
{
    uint64_t inter, intra;
    GPUME_CHECK(types->cost(types->opaque, frame, past, frame, &inter));
    GPUME_CHECK(types->cost(types->opaque, frame, frame, frame, &intra));
    const uint32_t bias = cut_bias(types, frame);
    *result = inter * ONE >= intra * (ONE - gpume_min_u64(bias, ONE));
    return GPUME_OK;
}

/* Whether another change comes so soon after the one at `frame` that both count as one. */
static int is_one_of_several(struct gpume_types *types, uint64_t frame, uint64_t last, bool *result)
{
    if (!types->options.encoder->cuts_at_first) {
        *result = false;
        return last > frame ? differs(types, frame, last, result) : GPUME_OK;
    }
    if (frame > types->change) {
        types->change_follows =
            types->change > 0 && frame - types->change <= flash_span(&types->options);
        types->change = frame;
    }
    *result = types->change_follows;
    return GPUME_OK;
}

/* Whether a scene begins with `frame` that lasts longer than a flash. `end`: the last frame known.
 */
static int opens_scene(struct gpume_types *types, uint64_t frame, uint64_t end, bool *result)
{
    const uint64_t last = frame + flash_span(&types->options);
    *result = false;
    if (types->options.scenecut == 0 || frame <= types->calm_last || last > end) {
        return GPUME_OK;
    }
    GPUME_CHECK(differs(types, frame - 1, frame, result));
    for (uint64_t later = last; *result && later > frame; later--) {
        GPUME_CHECK(differs(types, frame - 1, later, result));
        if (!*result) {
            types->calm_last = later; /* it was a flash: `later` looks like the frame before it */
        }
    }
    if (*result) {
        bool several;
        GPUME_CHECK(is_one_of_several(types, frame, last, &several));
        *result = !several;
    }
    return GPUME_OK;
}

/* --- decisions */

/* Ends the first run before a cut. Frames after it are not looked at: their changes count from the
 * cut, which has not been committed yet. */
static int end_at_cut(
    struct gpume_types *types, uint64_t last, uint32_t count, enum gpume_frame_type *decisions)
{
    bool cut = false;
    for (uint32_t i = 0; i + 1 < count && gpume_type_is_b(decisions[i]) && !cut; i++) {
        GPUME_CHECK(opens_scene(types, last + 2 + i, last + count, &cut));
        if (cut) {
            decisions[i] = GPUME_FRAME_P;
        }
    }
    return GPUME_OK;
}

/* Places key frames where keyint demands them. Nothing may refer across an IDR frame, so a P frame
 * comes before it. */
static void place_keys(const struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions)
{
    const uint32_t keyint = types->options.keyint;
    for (uint64_t key = types->last_key + keyint; key <= last + count; key += keyint) {
        const uint64_t i = key - last - 1;
        decisions[i] = types->options.open_gop ? GPUME_FRAME_I : GPUME_FRAME_IDR;
        if (i > 0 && !types->options.open_gop && gpume_type_is_b(decisions[i - 1])) {
            decisions[i - 1] = GPUME_FRAME_P;
        }
    }
}

static void mark_references(
    const struct gpume_encode_options *options, uint32_t count, enum gpume_frame_type *decisions)
{
    uint32_t begin = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!gpume_type_is_b(decisions[i])) {
            const uint32_t middle = run_middle(options, i - begin);
            if (options->encoder->halves) { /* of which every other frame is the last half */
                for (uint32_t k = begin + 1; k < i; k += 2) {
                    decisions[k] = GPUME_FRAME_B_REF;
                }
            } else if (middle != UINT32_MAX) {
                decisions[begin + middle] = GPUME_FRAME_B_REF;
            }
            begin = i + 1;
        }
    }
}

static int decide_run(struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions, uint32_t *decided)
{
    bool intra = last + 1 - types->last_key >= types->options.keyint;
    *decided = 1;
    if (!intra) {
        GPUME_CHECK(opens_scene(types, last + 1, last + count, &intra));
    }
    if (intra) {
        const bool is_key = last + 1 - types->last_key >= types->options.min_keyint;
        decisions[0] = is_key && !types->options.open_gop ? GPUME_FRAME_IDR : GPUME_FRAME_I;
        return GPUME_OK;
    }
    GPUME_CHECK(gpume_types_choose_pattern(types, last, count, decisions));
    GPUME_CHECK(end_at_cut(types, last, count, decisions));
    place_keys(types, last, count, decisions);
    while (gpume_type_is_b(decisions[*decided - 1])) {
        ++*decided;
    }
    return GPUME_OK;
}

int gpume_types_decide(struct gpume_types *types, uint64_t last, uint32_t count,
    enum gpume_frame_type *decisions, uint32_t *decided)
{
    GPUME_CHECK(decide_run(types, last, count, decisions, decided));
    const enum gpume_frame_type type = decisions[*decided - 1];
    if (type != GPUME_FRAME_P && *decided < count) { /* patterns begin anew after an intra frame */
        struct gpume_types after = *types;
        gpume_types_commit(&after, last + *decided, type);
        GPUME_CHECK(gpume_types_choose_pattern(
            &after, last + *decided, count - *decided, decisions + *decided));
        place_keys(&after, last + *decided, count - *decided, decisions + *decided);
    }
    mark_references(&types->options, count, decisions);
    return GPUME_OK;
}
