/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole analysis on synthetic video: every frame is decided once, in an order in which
 * references come first; cuts become key frames; what stays the same gets more quality.
 * Usage: test_encode_analysis cpu | vulkan
 */
#include "encode/analysis.h"
#include "encode/encoder.h"
#include "encode/spectrum.h"
#include "encode/weights.h"
#include "harness.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 200, WIDTH = 120, HEIGHT = 72, BLOCKS = 8 * 5 };

static enum gpume_backend backend;

/* What has been decided. */
struct decided {
    uint32_t count;
    enum gpume_frame_type types[FRAMES_MAX];
    bool seen[FRAMES_MAX];
    int16_t offsets[FRAMES_MAX][BLOCKS];
    uint64_t sum;        /* of everything */
    uint32_t brightened; /* frames whose weight brightens by more than 1/128 a frame */
    uint32_t fail_at;
    bool shares; /* means are weighted by distance */
    bool halves; /* B frames lie in the middle between their references */
};

static void add(struct decided *d, uint64_t value)
{
    d->sum = (d->sum ^ value) * UINT64_C(0x9E3779B97F4A7C15) + (d->sum >> 29);
}

static void check_references(const struct decided *d, const struct gpume_decision *decision)
{
    const uint64_t display = decision->display;
    const bool is_b = decision->type >= GPUME_FRAME_B_REF;
    REQUIRE_EQUAL(decision->has_past, decision->type >= GPUME_FRAME_P);
    REQUIRE_EQUAL(decision->has_future, is_b);
    REQUIRE_EQUAL(decision->past_vectors != NULL, decision->has_past);
    REQUIRE_EQUAL(decision->future_vectors != NULL, decision->has_future);
    if (decision->has_past) {
        REQUIRE(decision->past < display && d->seen[decision->past]);
        REQUIRE(d->types[decision->past] != GPUME_FRAME_B);
    }
    if (d->halves && is_b) {
        REQUIRE_EQUAL(decision->past + decision->future, 2 * display);
    }
    if (decision->has_future) {
        REQUIRE(decision->future > display && d->seen[decision->future]);
        REQUIRE(d->types[decision->future] != GPUME_FRAME_B);
        REQUIRE(d->types[decision->future] != GPUME_FRAME_IDR);
    }
}

/* The frames that have been put. */
static struct {
    uint8_t *memory;
    struct gpume_half half;
} kept[FRAMES_MAX];

static void keep(uint32_t frame, const struct gpume_plane *luma)
{
    const uint32_t blocks_x = (WIDTH + 15) / 16, blocks_y = (HEIGHT + 15) / 16;
    uint8_t *band_memory = malloc(blocks_x * GPUME_BAND_BYTES);
    free(kept[frame].memory);
    kept[frame].memory = calloc(1, gpume_half_bytes(blocks_x, blocks_y));
    kept[frame].half = gpume_half_at(kept[frame].memory, blocks_x, blocks_y);
    for (uint32_t y = 0; y < blocks_y; y++) {
        const struct gpume_band band = gpume_band_read(band_memory, luma, blocks_x, y);
        gpume_half_write(&kept[frame].half, &band, y);
    }
    free(band_memory);
}

/* It is that of the decision. */
static void check_spectrum(struct decided *d, const struct gpume_decision *decision)
{
    const struct gpume_predicted predicted = {
        .frame = decision->display,
        .target = &kept[decision->display].half,
        .past = {&kept[decision->past].half, decision->past_vectors},
        .future = {&kept[decision->future].half, decision->future_vectors},
        .past_share = gpume_past_share(
            d->shares && decision->has_future, decision->past, decision->display, decision->future),
        .weight = decision->weight,
        .distance = decision->display - decision->past,
        .kinds = decision->kinds,
        .costs = decision->costs,
        .offsets = decision->offsets,
    };
    struct gpume_spectrum expected;
    gpume_spectrum_measure(&expected, &predicted);
    REQUIRE(memcmp(&expected, decision->spectrum, sizeof(expected)) == 0);
    d->brightened += decision->has_past &&
                     gpume_weight_coding_cost(&decision->weight, predicted.distance, 100) > 100;
}

static void check_blocks(struct decided *d, const struct gpume_decision *decision)
{
    uint64_t cost = 0, intra_cost = 0;
    uint32_t intra_blocks = 0, skipped_blocks = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const bool coded = decision->costs[i] > 12;
        skipped_blocks += !coded && decision->kinds[i] != GPUME_FROM_SELF;
        cost += decision->costs[i];
        intra_cost += decision->intra_costs[i];
        intra_blocks += decision->kinds[i] == GPUME_FROM_SELF;
        add(d, (uint64_t)decision->costs[i] << 32 | (uint64_t)(uint16_t)decision->offsets[i] << 8 |
                   decision->kinds[i]);
    }
    REQUIRE_EQUAL(decision->cost, cost);
    REQUIRE_EQUAL(decision->intra_cost, intra_cost);
    REQUIRE_EQUAL(decision->intra_blocks, intra_blocks);
    REQUIRE_EQUAL(decision->skipped_blocks, skipped_blocks);
    check_spectrum(d, decision);
    memcpy(d->offsets[decision->display], decision->offsets, BLOCKS * sizeof(int16_t));
}

static int decide(void *opaque, const struct gpume_decision *decision)
{
    struct decided *d = opaque;
    if (d->fail_at != 0 && d->count == d->fail_at) {
        return GPUME_IO;
    }
    REQUIRE_EQUAL(decision->coded, d->count);
    REQUIRE(decision->display < FRAMES_MAX && !d->seen[decision->display]);
    REQUIRE_EQUAL(decision->blocks_x * decision->blocks_y, BLOCKS);
    check_references(d, decision);
    check_blocks(d, decision);
    d->types[decision->display] = decision->type;
    d->seen[decision->display] = true;
    d->count++;
    return GPUME_OK;
}

static struct gpume_analysis_params make_params(
    const struct gpume_encoder *encoder, struct decided *decided)
{
    const bool x264 = encoder == gpume_encoder_find("x264");
    return (struct gpume_analysis_params){
        .lookahead = {.width = WIDTH, .height = HEIGHT, .backend = backend, .threads = 1},
        .options = {.encoder = encoder,
            .bits = 8,
            .keyint = 40,
            .min_keyint = 6,
            .scenecut = 40,
            .bframes = x264 ? 3 : 4,
            .b_adapt = 2,
            .b_pyramid = x264 ? 2 : 1,
            .weightp = 1,
            .weightb = x264,
            .horizon = x264 ? 30 : 20,
            .open_gop = !x264,
            .tree = true,
            .aq_mode = 0,
            .aq_strength = 1,
            .qcomp = 0.6},
        .decide = decide,
        .opaque = decided,
    };
}

enum motion {
    MOVING,
    STILL,  /* all frames are the first */
    FADING, /* STILL, from dark to bright */
};

/* A clip: each content for its number of frames, then the next. */
struct part {
    enum synth_content content;
    uint32_t frames;
    uint64_t seed;
    enum motion motion;
};

static void fade(struct gpume_plane *plane, uint32_t part, uint32_t whole)
{
    for (uint32_t y = 0; y < HEIGHT; y++) {
        uint8_t *row = (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        for (uint32_t x = 0; x < WIDTH; x++) {
            row[x] = (uint8_t)(row[x] * part / whole);
        }
    }
}

/* For SYNTH_PAN: a texture that moves to the right, by whole samples of the quarter plane. */
static void move(struct gpume_plane *plane, uint32_t index, uint64_t seed)
{
    for (uint32_t y = 0; y < HEIGHT; y++) {
        uint8_t *row = (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        for (uint32_t x = 0; x < WIDTH; x++) {
            uint64_t state = (seed + 1) * 1000003u + (4000u + x / 4 - index) * 8191u + y / 4;
            (void)harness_random(&state);
            row[x] = (uint8_t)harness_random(&state);
        }
    }
}

static int analyse(const struct gpume_analysis_params *params, const struct part *parts)
{
    struct gpume_analysis *analysis = NULL;
    struct gpume_plane plane = synth_plane(WIDTH, HEIGHT, 8);
    uint32_t count = 0;
    int status = gpume_analysis_open(&analysis, params);
    REQUIRE_EQUAL(status, GPUME_OK);
    for (; status == GPUME_OK && parts->frames > 0; parts++) {
        for (uint32_t i = 0; status == GPUME_OK && i < parts->frames; i++) {
            const bool moves = parts->motion == MOVING;
            if (moves && parts->content == SYNTH_PAN) {
                move(&plane, i, parts->seed);
            } else {
                synth_fill(&plane, parts->content, moves ? i : 0, parts->seed);
            }
            if (parts->motion == FADING) {
                fade(&plane, i + 4, parts->frames + 4);
            }
            keep(count++, &plane);
            status = gpume_analysis_put(analysis, &plane);
        }
    }
    if (status == GPUME_OK) {
        status = gpume_analysis_finish(analysis);
    }
    gpume_analysis_close(&analysis);
    REQUIRE(analysis == NULL);
    free(plane.data);
    return status;
}

static struct decided decided_of(struct gpume_analysis_params *params, const struct part *parts)
{
    struct decided decided = {
        .shares = params->options.weightb != 0, .halves = params->options.encoder->halves};
    uint32_t frames = 0;
    for (const struct part *part = parts; part->frames > 0; part++) {
        frames += part->frames;
    }
    params->opaque = &decided;
    REQUIRE_EQUAL(analyse(params, parts), GPUME_OK);
    REQUIRE_EQUAL(decided.count, frames);
    for (uint32_t i = 0; i < decided.count; i++) {
        REQUIRE(decided.seen[i]);
    }
    return decided;
}

static const struct part end = {SYNTH_PAN, 0, 0, MOVING};
static const struct part scenes[] = {{SYNTH_PAN, 18, 5, MOVING}, {SYNTH_NOISE, 22, 6, STILL},
    {SYNTH_PAN, 50, 7, MOVING}, {SYNTH_PAN, 0, 0, MOVING}};

static void check_scenes(const struct gpume_encoder *encoder)
{
    const bool x264 = encoder == gpume_encoder_find("x264");
    struct gpume_analysis_params params = make_params(encoder, NULL);
    const struct decided decided = decided_of(&params, scenes);
    for (uint32_t i = 0; i < decided.count; i++) {
        /* both cuts, and keyint after the second */
        const bool key = i == 0 || i == 18 || i == 40 || i == 80;
        REQUIRE_EQUAL(decided.types[i] <= GPUME_FRAME_I, key);
        if (key) {
            REQUIRE_EQUAL(decided.types[i], x264 || i == 0 ? GPUME_FRAME_IDR : GPUME_FRAME_I);
        }
    }
}

/* Pyramids of halves, to the next key frame and to the end; cuts change nothing. */
static void check_halves(void)
{
    const char *const expected = "IbBbBbBbBbBbBbBbPbBbBbBbBbBbBbBbPbBbBbBbP"
                                 "IbBbBbBbBbBbBbBbPbBbBbBbBbBbBbBbPbBbBbBbP"
                                 "IbBbPbPP";
    struct gpume_analysis_params params = make_params(gpume_encoder_find("svt-av1"), NULL);
    gpume_encode_options_default(&params.options, gpume_encoder_find("svt-av1"));
    params.options.keyint = 41;
    const struct decided decided = decided_of(&params, scenes);
    REQUIRE_EQUAL(decided.count, 90);
    for (uint32_t i = 0; i < decided.count && i < strlen(expected); i++) {
        REQUIRE_EQUAL(gpume_frame_letter(decided.types[i]), expected[i]);
    }
}

/* P frames of a fade-in have weights, and check_spectrum has looked at what is left of them. */
static void check_fade(void)
{
    struct gpume_analysis_params params = make_params(gpume_encoder_find("x264"), NULL);
    const struct part clip[] = {{SYNTH_PAN, 24, 3, FADING}, end};
    const struct decided decided = decided_of(&params, clip);
    REQUIRE(decided.brightened >= 4);
}

static int32_t mean_offset(const struct decided *decided, uint32_t frame)
{
    int32_t sum = 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        sum += decided->offsets[frame][i];
    }
    return sum / BLOCKS;
}

static void check_still(void)
{
    const struct part still[] = {{SYNTH_PAN, 150, 5, STILL}, end};
    const struct part noise[] = {{SYNTH_NOISE, 50, 5, MOVING}, end};
    struct gpume_analysis_params params = make_params(gpume_encoder_find("x264"), NULL);
    uint32_t p_frames = 0;
    params.options.keyint = 150;
    struct decided decided = decided_of(&params, still);
    REQUIRE(mean_offset(&decided, 0) < -8 * 256);
    for (uint32_t i = 0; i < decided.count; i++) {
        REQUIRE(decided.types[i] != GPUME_FRAME_B || mean_offset(&decided, i) == 0);
        if (decided.types[i] == GPUME_FRAME_P && i < 120) { /* in every group */
            REQUIRE(mean_offset(&decided, i) < -6 * 256);
            p_frames++;
        }
    }
    REQUIRE(p_frames >= 120 / 4 - 1);
    params.options.tree = false;
    decided = decided_of(&params, still);
    REQUIRE_EQUAL(mean_offset(&decided, 0), 0);
    params.options.tree = true;
    decided = decided_of(&params, noise);
    REQUIRE(mean_offset(&decided, 0) > -2 * 256);
}

static void check_short(void)
{
    struct gpume_analysis_params params = make_params(gpume_encoder_find("x264"), NULL);
    const struct part none[] = {end};
    for (uint32_t frames = 1; frames < 6; frames++) {
        const struct part clip[] = {{SYNTH_PAN, frames, 5, MOVING}, end};
        const struct decided decided = decided_of(&params, clip);
        REQUIRE_EQUAL(decided.types[0], GPUME_FRAME_IDR);
        REQUIRE(frames == 1 || decided.types[frames - 1] == GPUME_FRAME_P);
    }
    REQUIRE_EQUAL(decided_of(&params, none).count, 0);
}

/* Adaptive quantization alone and with the tree: a difference that the blocks' own texture makes.
 */
static void check_aq(void)
{
    const struct part clip[] = {{SYNTH_GRAIN, 30, 5, MOVING}, end};
    struct gpume_analysis_params params = make_params(gpume_encoder_find("x264"), NULL);
    params.options.tree = false;
    params.options.aq_mode = 1;
    const struct decided aq = decided_of(&params, clip);
    params.options.tree = true;
    const struct decided both = decided_of(&params, clip);
    REQUIRE(mean_offset(&aq, 0) != 0);
    REQUIRE(mean_offset(&both, 0) < mean_offset(&aq, 0));
    for (uint32_t i = 0; i < both.count; i++) {
        if (both.types[i] == GPUME_FRAME_B) {
            REQUIRE(memcmp(aq.offsets[i], both.offsets[i], sizeof(aq.offsets[i])) == 0);
        }
    }
}

/* Neither the engine, nor threads, nor the order of searches change anything. */
static void check_same(void)
{
    const struct part clip[] = {
        {SYNTH_PAN, 9, 5, MOVING}, {SYNTH_NOISE, 38, 6, STILL}, {SYNTH_GRAIN, 28, 6, MOVING}, end};
    struct gpume_analysis_params params = make_params(gpume_encoder_find("x265"), NULL);
    params.options.aq_mode = 2;
    const uint64_t sum = decided_of(&params, clip).sum;
    params.lookahead.backend = GPUME_BACKEND_CPU;
    params.lookahead.threads = 3;
    REQUIRE(decided_of(&params, clip).sum == sum);
    params.lookahead.threads = 1;
    REQUIRE(decided_of(&params, clip).sum == sum);
    params.lookahead.threads = 64;
    REQUIRE(decided_of(&params, clip).sum == sum);
}

static void check_refusal(void)
{
    struct decided decided = {.fail_at = 7, .shares = true};
    struct gpume_analysis_params params = make_params(gpume_encoder_find("x264"), &decided);
    REQUIRE_EQUAL(analyse(&params, scenes), GPUME_IO);
    REQUIRE_EQUAL(decided.count, 7);
}

int main(int argc, char **argv)
{
    const bool vulkan = argc > 1 && strcmp(argv[1], "vulkan") == 0;
    backend = vulkan ? GPUME_BACKEND_VULKAN : GPUME_BACKEND_CPU;
    if (vulkan) {
        vulkan_probe_or_skip(false);
    }
    check_scenes(gpume_encoder_find("x264"));
    check_fade();
    check_same();
    if (!vulkan) { /* nothing below depends on the engine, and drivers in software take minutes */
        check_scenes(gpume_encoder_find("x265"));
        check_halves();
        check_still();
        check_short();
        check_aq();
        check_refusal();
    }
    return harness_verdict();
}
