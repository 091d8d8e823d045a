/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lookahead against plain versions: the vectors are made plainly from libgpume's for the
 * quarter planes, the costs are those of support/plain_costs.h at these vectors, and sums and kinds
 * follow from them. For all references of all frames, while frames come and go; searched on request
 * or early; and in fades, where the past reference is weighted.
 */
#include "encode/lookahead.h"
#include "encode/weights.h"
#include "harness.h"
#include "plain_costs.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DISTANCE 3u
#define KEPT 6u
#define CLIP 10u
#define BLOCKS_MAX 30u

static enum gpume_backend backend;

struct clip {
    struct gpume_plane frames[CLIP];
    struct plain halves[CLIP];
};

static struct clip clip_of(
    uint32_t width, uint32_t height, uint32_t bits, enum synth_content content)
{
    struct clip clip;
    for (uint32_t i = 0; i < CLIP; i++) {
        clip.frames[i] = synth_plane(width, height, bits);
        synth_fill(&clip.frames[i], content, i, 11);
        clip.halves[i] = plain_half(&clip.frames[i]);
    }
    return clip;
}

static void clip_free(struct clip *clip)
{
    for (uint32_t i = 0; i < CLIP; i++) {
        free(clip->frames[i].data);
        free(clip->halves[i].samples);
    }
}

#define VECTOR_PART 5
static bool pattern_is_whole; /* costs count, and B frames have intra blocks */

static struct gpume_lookahead_params params_of(const struct clip *clip)
{
    return (struct gpume_lookahead_params){.pattern = {.vector_part = VECTOR_PART,
                                               .counts_cost = pattern_is_whole,
                                               .has_intra_b = pattern_is_whole},
        .width = clip->frames[0].width,
        .height = clip->frames[0].height,
        .distance_max = DISTANCE,
        .frames_max = KEPT,
        .shares = true,
        .energies = true,
        .backend = backend,
        .threads = 1};
}

/* --- what is expected */

static void search_plain(
    const struct plain *target, const struct plain *reference, struct gpume_vector *vectors)
{
    const struct gpume_field *field = NULL;
    const struct plain quarters[] = {plain_quarter(reference), plain_quarter(target)};
    struct gpume_params params;
    gpume *ctx = NULL;
    gpume_params_default(&params);
    params.width = (uint32_t)quarters[0].width;
    params.height = (uint32_t)quarters[0].height;
    params.block = 8;
    params.window_x = params.window_y = 8;
    params.metric = GPUME_METRIC_SAD;
    params.backend = GPUME_BACKEND_CPU;
    params.threads = 1;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const struct gpume_plane plane = {.data = quarters[i].samples,
            .stride = (ptrdiff_t)params.width,
            .width = params.width,
            .height = params.height,
            .bits = 8};
        REQUIRE_EQUAL(gpume_send_plane(ctx, &plane, 0), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_receive(ctx, &field, 0), GPUME_OK);
    const int64_t across = target->width / 8, down = target->height / 8;
    for (int64_t i = 0; i < across * down; i++) {
        vectors[i] = plain_refine(target, i % across, i / across, reference, field->vectors);
    }
    gpume_field_release(&field);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(quarters[0].samples);
    free(quarters[1].samples);
}

struct expected {
    uint64_t cost, inner_cost, inner_bits;
    uint32_t intra_blocks;
    uint16_t costs[BLOCKS_MAX];
    uint8_t kinds[BLOCKS_MAX];
};

/* log2(1 + cost / 32) in 1/1024 by the line between the whole powers of two beside it. */
static uint64_t plain_bits(uint32_t cost)
{
    uint64_t bits = 0, below = 32;
    for (; cost + 32 >= 2 * below; below *= 2) {
        bits += 1024;
    }
    return bits + 1024 * (cost + 32 - below) / below;
}

/* Of three */
static int32_t plain_middle(int32_t a, int32_t b, int32_t c)
{
    const int32_t least = a < b && a < c ? a : b < c ? b : c;
    const int32_t most = a > b && a > c ? a : b > c ? b : c;
    return a + b + c - least - most;
}

/* log2(1 + 2 |d|) by the same lines */
static uint64_t plain_difference(int32_t value, int32_t expected)
{
    const uint64_t d = 2 * (uint64_t)(value > expected ? value - expected : expected - value);
    uint64_t bits = 0, below = 1;
    for (; d + 1 >= 2 * below; below *= 2) {
        bits += 1024;
    }
    return bits + 1024 * (d + 1 - below) / below;
}

/* What the differences take from the middle of the vectors to the left, above, and
 * above to the right; to the left where nothing is to the right; zero outside. */
static uint64_t plain_vector_bits(
    const struct gpume_vector *vectors, int64_t columns, int64_t x, int64_t y)
{
    const struct gpume_vector zero = {0, 0}, *here = vectors + y * columns + x;
    const struct gpume_vector left = x > 0 ? here[-1] : zero;
    struct gpume_vector above = left, corner = left;
    if (y > 0) {
        const int64_t beside = x < columns - 1 ? x + 1 : x - 1;
        above = vectors[(y - 1) * columns + x];
        corner = beside < 0 ? zero : vectors[(y - 1) * columns + beside];
    }
    return plain_difference(here->dx, plain_middle(left.dx, above.dx, corner.dx)) +
           plain_difference(here->dy, plain_middle(left.dy, above.dy, corner.dy));
}

static uint32_t alone_count; /* B frames that cost less than half by intra prediction alone */

/* Where it does, its blocks may use it. */
static void expect_alone(struct expected *e, const struct plain *target)
{
    const int64_t columns = target->width / 8, blocks = columns * (target->height / 8);
    uint16_t own[BLOCKS_MAX];
    int64_t more = 0;
    for (int64_t i = 0; i < blocks; i++) {
        own[i] = (uint16_t)plain_intra_cost(target, i % columns, i / columns);
        more += (int64_t)e->costs[i] - 2 * (int64_t)own[i];
    }
    alone_count += more > 0;
    for (int64_t i = 0; i < blocks && more > 0; i++) {
        e->kinds[i] = own[i] < e->costs[i] ? GPUME_FROM_SELF : e->kinds[i];
        e->costs[i] = own[i] < e->costs[i] ? own[i] : e->costs[i];
    }
}

static void add_expected(struct expected *e, const struct plain *target,
    const struct gpume_vector *past_vectors, const struct gpume_vector *future_vectors)
{
    const int64_t columns = target->width / 8, rows = target->height / 8;
    for (int64_t i = 0; i < columns * rows; i++) {
        const int64_t x = i % columns, y = i / columns;
        e->cost += e->costs[i];
        e->intra_blocks += e->kinds[i] == GPUME_FROM_SELF;
        const bool edge = x == 0 || y == 0 || x == columns - 1 || y == rows - 1;
        const bool inner = columns <= 2 || rows <= 2 || !edge;
        e->inner_cost += inner ? e->costs[i] : 0;
        const bool both = e->kinds[i] == GPUME_FROM_BOTH;
        uint64_t vectors = 0;
        if (both || e->kinds[i] == GPUME_FROM_PAST) {
            vectors += plain_vector_bits(past_vectors, columns, x, y);
        }
        if (both || e->kinds[i] == GPUME_FROM_FUTURE) {
            vectors += plain_vector_bits(future_vectors, columns, x, y);
        }
        const uint64_t bits = plain_bits(e->costs[i]) + (pattern_is_whole ? e->costs[i] : 0);
        e->inner_bits += inner ? bits + vectors * VECTOR_PART / 64 : 0;
    }
}

/* past, future: NULL without */
static struct expected expect(const struct plain *target, const struct plain *past,
    const struct gpume_vector *past_vectors, const struct plain *future,
    const struct gpume_vector *future_vectors, int32_t share)
{
    struct expected e = {0};
    const int64_t columns = target->width / 8, rows = target->height / 8;
    for (int64_t i = 0; i < columns * rows; i++) {
        const int64_t x = i % columns, y = i / columns;
        uint32_t of[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}; /* by kind */
        const struct plain_match a = {
            past, past ? past_vectors[i] : (struct gpume_vector){0}, share};
        const struct plain_match b = {
            future, future ? future_vectors[i] : (struct gpume_vector){0}, 0};
        if (past) {
            of[GPUME_FROM_PAST] = plain_match_cost(target, x, y, &a, NULL);
        }
        if (future) {
            of[GPUME_FROM_FUTURE] = plain_match_cost(target, x, y, &b, NULL);
        } else {
            of[GPUME_FROM_SELF] = plain_intra_cost(target, x, y);
        }
        if (past && future) {
            const struct plain_match still_a = {past, {0, 0}, share}, still_b = {future, {0, 0}, 0};
            of[GPUME_FROM_BOTH] = plain_match_cost(target, x, y, &a, &b);
            of[GPUME_FROM_STILL] = plain_match_cost(target, x, y, &still_a, &still_b);
        }
        static const uint8_t order[] = {
            GPUME_FROM_PAST, GPUME_FROM_FUTURE, GPUME_FROM_SELF, GPUME_FROM_BOTH, GPUME_FROM_STILL};
        e.kinds[i] = order[0];
        for (uint32_t j = 1; j < 5; j++) {
            e.kinds[i] = of[order[j]] < of[e.kinds[i]] ? order[j] : e.kinds[i];
        }
        e.costs[i] = (uint16_t)of[e.kinds[i]];
    }
    if (pattern_is_whole && future) {
        expect_alone(&e, target);
    }
    add_expected(&e, target, past_vectors, future_vectors);
    return e;
}

static void compare(
    const struct gpume_frame_cost *cost, const struct expected *e, const struct plain *target)
{
    const size_t blocks = (size_t)(target->width * target->height / 64);
    REQUIRE_EQUAL(cost->cost, e->cost);
    REQUIRE_EQUAL(cost->inner_cost, e->inner_cost);
    REQUIRE_EQUAL(cost->inner_bits, e->inner_bits);
    REQUIRE_EQUAL(cost->intra_blocks, e->intra_blocks);
    REQUIRE(memcmp(cost->costs, e->costs, blocks * sizeof(*cost->costs)) == 0);
    REQUIRE(memcmp(cost->kinds, e->kinds, blocks) == 0);
}

/* --- all references of all frames */

static const struct plain *half_of(const struct clip *clip, uint64_t position, uint64_t frame)
{
    return position == frame ? NULL : &clip->halves[position];
}

static void check_vectors(
    const struct clip *clip, uint64_t frame, uint64_t reference, const struct gpume_vector *vectors)
{
    struct gpume_vector expected[BLOCKS_MAX];
    const struct plain *target = &clip->halves[frame];
    REQUIRE_EQUAL(vectors == NULL, reference == frame);
    if (vectors) {
        const size_t blocks = (size_t)(target->width * target->height / 64);
        search_plain(target, &clip->halves[reference], expected);
        REQUIRE(memcmp(vectors, expected, blocks * sizeof(*vectors)) == 0);
    }
}

/* Of 64 in a mean of both: the nearer reference counts more. */
static int32_t share_of(uint64_t past, uint64_t frame, uint64_t future)
{
    const double away = (double)(frame - past), distance = (double)(future - past);
    return past == future ? 32 : 64 - (int32_t)floor(64 * away / distance + 0.5);
}

static void check_cost(struct gpume_lookahead *lookahead, const struct clip *clip, uint64_t frame,
    uint64_t past, uint64_t future)
{
    struct gpume_frame_cost cost, again;
    REQUIRE_EQUAL(gpume_lookahead_cost(lookahead, frame, past, future, &cost), GPUME_OK);
    check_vectors(clip, frame, past, cost.past);
    check_vectors(clip, frame, future, cost.future);
    const struct expected e = expect(&clip->halves[frame], half_of(clip, past, frame), cost.past,
        half_of(clip, future, frame), cost.future, share_of(past, frame, future));
    compare(&cost, &e, &clip->halves[frame]);
    REQUIRE(gpume_weight_is_none(&cost.weight));
    REQUIRE_EQUAL(gpume_lookahead_cost(lookahead, frame, past, future, &again), GPUME_OK);
    REQUIRE(again.costs == cost.costs && again.cost == cost.cost);
}

static void check_facts(struct gpume_lookahead *lookahead, const struct clip *clip, uint64_t frame)
{
    struct gpume_frame_facts facts;
    const struct plain *half = &clip->halves[frame];
    int64_t intra = 0;
    gpume_lookahead_facts(lookahead, frame, &facts);
    for (int64_t i = 0; i < half->width * half->height / 64; i++) {
        const int64_t x = i % (half->width / 8), y = i / (half->width / 8);
        REQUIRE_EQUAL(facts.intra_costs[i], plain_intra_cost(half, x, y));
        REQUIRE_EQUAL(facts.energies[i], plain_energy(&clip->frames[frame], x, y));
        intra += facts.intra_costs[i];
    }
    REQUIRE_EQUAL(facts.intra_cost, intra);
}

/* Every choice of references for a frame among those from `first` up to `end`. */
static void check_frame(struct gpume_lookahead *lookahead, const struct clip *clip, uint64_t frame,
    uint64_t first, uint64_t end)
{
    check_facts(lookahead, clip, frame);
    for (uint64_t past = first; past <= frame; past++) {
        for (uint64_t future = frame; future < end; future++) {
            if (frame - past <= DISTANCE && future - frame <= DISTANCE) {
                check_cost(lookahead, clip, frame, past, future);
            }
        }
    }
}

/* That everything will be asked for. */
static void expect_all(struct gpume_lookahead *lookahead)
{
    for (uint32_t i = 1; i < (DISTANCE + 1) * (DISTANCE + 1); i++) {
        gpume_lookahead_expect(lookahead, i / (DISTANCE + 1), i % (DISTANCE + 1));
    }
}

static void check_clip(const struct clip *clip, bool ahead, uint64_t step)
{
    struct gpume_lookahead_params params = params_of(clip);
    struct gpume_lookahead *lookahead = NULL;
    uint64_t first = 0;
    params.threads = ahead ? 3 : 1;
    REQUIRE_EQUAL(gpume_lookahead_open(&lookahead, &params), GPUME_OK);
    expect_all(lookahead);
    REQUIRE_EQUAL(gpume_lookahead_blocks_x(lookahead), clip->halves[0].width / 8);
    REQUIRE_EQUAL(gpume_lookahead_blocks_y(lookahead), clip->halves[0].height / 8);
    REQUIRE(gpume_lookahead_engine(lookahead)[0] != '\0');
    for (uint64_t end = 1; end <= CLIP; end++) {
        REQUIRE_EQUAL(gpume_lookahead_put(lookahead, &clip->frames[end - 1]), GPUME_OK);
        if (end - first == KEPT || end == CLIP) {
            for (uint64_t frame = first; frame < end; frame++) {
                check_frame(lookahead, clip, frame, first, end);
            }
            first += step;
            gpume_lookahead_drop(lookahead, first);
        }
    }
    gpume_lookahead_close(&lookahead);
    REQUIRE(lookahead == NULL);
}

static void test_clips(void)
{
    static const struct {
        uint32_t width, height, bits;
        enum synth_content content;
        bool ahead;
        uint64_t step;
    } cases[] = {{83, 70, 8, SYNTH_PAN, false, 1}, {83, 70, 8, SYNTH_PAN, true, 4},
        {40, 33, 10, SYNTH_NOISE, false, 3}, {24, 90, 16, SYNTH_NOISE, true, 2},
        {96, 50, 8, SYNTH_EXTREME, false, 5}, {3, 2, 8, SYNTH_NOISE, true, 5}};
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct clip clip =
            clip_of(cases[i].width, cases[i].height, cases[i].bits, cases[i].content);
        check_clip(&clip, cases[i].ahead, cases[i].step);
        clip_free(&clip);
    }
}

/* Searches that nobody asks for are under way when their frames are dropped. */
static void test_unused(void)
{
    struct clip clip = clip_of(83, 70, 8, SYNTH_PAN);
    struct gpume_lookahead_params params = params_of(&clip);
    struct gpume_lookahead *lookahead = NULL;
    params.threads = 3;
    REQUIRE_EQUAL(gpume_lookahead_open(&lookahead, &params), GPUME_OK);
    expect_all(lookahead);
    for (uint64_t i = 0; i < CLIP; i++) {
        gpume_lookahead_drop(lookahead, i >= 2 ? i - 2 : 0);
        REQUIRE_EQUAL(gpume_lookahead_put(lookahead, &clip.frames[i]), GPUME_OK);
    }
    check_cost(lookahead, &clip, CLIP - 2, CLIP - 3, CLIP - 1);
    gpume_lookahead_close(&lookahead);
    clip_free(&clip);
}

/* --- fades */

#define LEVEL(index) (32 - 2 * (int32_t)(index)) /* brightness in 1/32 */

/* A smooth texture that moves 2 pixels to the left in each frame. */
static int32_t texture(int32_t x, int32_t y)
{
    return 60 + abs((x * x / 47 + y * x / 35 + 3 * y) % 128 - 64) * 3;
}

static struct clip fade(void)
{
    struct clip clip = clip_of(83, 70, 8, SYNTH_FLAT);
    for (int32_t i = 0; i < (int32_t)CLIP; i++) {
        for (int32_t y = 0; y < 70; y++) {
            for (int32_t x = 0; x < 83; x++) {
                const int32_t sample = texture(x + 2 * i, y) * LEVEL(i) / 32;
                synth_put(&clip.frames[i], (uint32_t)x, (uint32_t)y, (uint32_t)sample);
            }
        }
        free(clip.halves[i].samples);
        clip.halves[i] = plain_half(&clip.frames[i]);
    }
    return clip;
}

static struct plain weigh(const struct gpume_weight *weight, const struct plain *from)
{
    struct plain plain = *from;
    const size_t samples = (size_t)(4 * from->width * from->height);
    plain.samples = malloc(samples);
    for (size_t i = 0; i < samples; i++) {
        const int32_t round = weight->denominator > 0 ? 1 << (weight->denominator - 1) : 0;
        const int32_t value =
            ((from->samples[i] * weight->scale + round) >> weight->denominator) + weight->offset;
        plain.samples[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    return plain;
}

static void check_weighted(struct gpume_lookahead *lookahead, struct gpume_lookahead *unweighted,
    const struct clip *clip, uint64_t frame, uint64_t past)
{
    struct gpume_frame_cost cost, without;
    struct gpume_vector vectors[BLOCKS_MAX];
    const struct plain *target = &clip->halves[frame];
    REQUIRE_EQUAL(gpume_lookahead_cost(lookahead, frame, past, frame, &cost), GPUME_OK);
    REQUIRE_EQUAL(gpume_lookahead_cost(unweighted, frame, past, frame, &without), GPUME_OK);
    REQUIRE(!gpume_weight_is_none(&cost.weight));
    REQUIRE(gpume_weight_is_none(&without.weight));
    const double scale = (double)cost.weight.scale / (double)(1 << cost.weight.denominator);
    const double change = (double)LEVEL(frame) / LEVEL(past);
    REQUIRE(scale > change - 0.05 && scale < change + 0.05);
    REQUIRE(cost.cost * 3 < without.cost * 2);
    struct plain weighted = weigh(&cost.weight, &clip->halves[past]);
    search_plain(target, &weighted, vectors);
    const struct expected e = expect(target, &weighted, vectors, NULL, NULL, 0);
    compare(&cost, &e, target);
    REQUIRE(memcmp(cost.past, vectors, (size_t)(target->width * target->height / 64) * 4) == 0);
    free(weighted.samples);
}

static void test_fade(bool ahead)
{
    struct clip clip = fade();
    struct gpume_lookahead_params params = params_of(&clip);
    struct gpume_lookahead *lookahead = NULL, *unweighted = NULL;
    REQUIRE_EQUAL(gpume_lookahead_open(&unweighted, &params), GPUME_OK);
    params.weights = true;
    params.threads = ahead ? 3 : 1;
    REQUIRE_EQUAL(gpume_lookahead_open(&lookahead, &params), GPUME_OK);
    for (uint64_t i = 0; i < KEPT; i++) {
        REQUIRE_EQUAL(gpume_lookahead_put(lookahead, &clip.frames[i]), GPUME_OK);
        REQUIRE_EQUAL(gpume_lookahead_put(unweighted, &clip.frames[i]), GPUME_OK);
    }
    for (uint64_t frame = 1; frame < KEPT - 1; frame++) {
        for (uint64_t past = frame > DISTANCE ? frame - DISTANCE : 0; past < frame; past++) {
            check_weighted(lookahead, unweighted, &clip, frame, past);
            check_cost(lookahead, &clip, frame, past, frame + 1); /* no weight beside a future */
        }
    }
    gpume_lookahead_close(&lookahead);
    gpume_lookahead_close(&unweighted);
    clip_free(&clip);
}

int main(int argc, char **argv)
{
    const bool vulkan = argc > 1 && strcmp(argv[1], "vulkan") == 0;
    backend = vulkan ? GPUME_BACKEND_VULKAN : GPUME_BACKEND_CPU;
    if (vulkan) {
        vulkan_probe_or_skip(false);
    }
    test_clips();
    pattern_is_whole = true;
    test_clips();
    REQUIRE(alone_count > 0);
    test_unused();
    test_fade(false);
    test_fade(true);
    return harness_verdict();
}
