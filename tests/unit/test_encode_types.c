/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frame types of made-up videos, whose costs come from a list of scenes: cuts, flashes, key frames,
 * and patterns against a search through all of them.
 */
#include "encode/encoder.h"
#include "encode/types.h"
#include "harness.h"

#include <string.h>

enum { FRAMES_MAX = 600 };

/* A letter per frame: frames of one scene predict each other. */
struct video {
    const char *scenes;
    uint32_t frames;
    uint64_t seed;     /* of the costs within scenes */
    uint64_t farthest; /* largest distance asked for */
    enum gpume_frame_type types[FRAMES_MAX];
};

/* Between 0 and 999, the same for the same frames. */
static uint64_t noise(const struct video *video, uint64_t frame, uint64_t past, uint64_t future)
{
    uint64_t state = video->seed + 1 + frame * 1000003 + past * 10007 + future * 101;
    harness_random(&state);
    return harness_random(&state) % 1000;
}

static int video_cost(void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    struct video *video = opaque;
    const bool has_past = past != frame, has_future = future != frame;
    REQUIRE(past <= frame && frame <= future && future < video->frames);
    *cost = 10000; /* intra */
    if (frame - past > video->farthest) {
        video->farthest = frame - past;
    }
    if (future - frame > video->farthest) {
        video->farthest = future - frame;
    }
    if ((has_past && video->scenes[past] == video->scenes[frame]) ||
        (has_future && video->scenes[future] == video->scenes[frame])) {
        *cost = 2000 + 300 * (frame - past) + (has_future ? 0 : 400);
        *cost += video->seed != 0 ? noise(video, frame, past, future) : 0;
    }
    return GPUME_OK;
}

static struct gpume_encode_options default_options(void)
{
    return (struct gpume_encode_options){
        .encoder = gpume_encoder_find("x264"),
        .keyint = 250,
        .min_keyint = 25,
        .scenecut = 40,
        .bframes = 3,
        .b_adapt = 2,
        .b_pyramid = 2,
        .tree = true,
        .horizon = 60,
    };
}

/* All types of the video, decided in windows as the analysis does. */
static void decide_all(struct video *video, const struct gpume_encode_options *options)
{
    struct gpume_types types;
    enum gpume_frame_type decisions[GPUME_PATTERN_MAX];
    const uint32_t window = gpume_types_window(options);
    video->frames = (uint32_t)strlen(video->scenes);
    gpume_types_init(&types, options, video_cost, video_cost, video);
    video->types[0] = GPUME_FRAME_IDR;
    for (uint32_t last = 0; last + 1 < video->frames;) {
        const uint32_t rest = video->frames - 1 - last, count = rest < window ? rest : window;
        uint32_t decided = 0;
        REQUIRE_EQUAL(gpume_types_decide(&types, last, count, decisions, &decided), GPUME_OK);
        REQUIRE(decided > 0 && decided <= count && decided <= options->bframes + 1);
        if (decided == 0 || decided > count) {
            return;
        }
        for (uint32_t i = 0; i < decided; i++) {
            REQUIRE(gpume_type_is_b(decisions[i]) == (i + 1 < decided));
            video->types[last + 1 + i] = decisions[i];
        }
        REQUIRE(!gpume_type_is_b(decisions[count - 1]));
        last += decided;
        gpume_types_commit(&types, last, decisions[decided - 1]);
    }
}

/* "I" IDR, "i" I, "P", "B" reference, "b". */
static void spell(const struct video *video, char *letters)
{
    for (uint32_t i = 0; i < video->frames; i++) {
        letters[i] = "IiPBb"[video->types[i]];
    }
    letters[video->frames] = '\0';
}

static void expect(
    const char *scenes, const struct gpume_encode_options *options, const char *expected)
{
    struct video video = {.scenes = scenes};
    char letters[FRAMES_MAX + 1];
    decide_all(&video, options);
    spell(&video, letters);
    if (strcmp(letters, expected) != 0) {
        fprintf(stderr, "%s: %s, expected %s\n", scenes, letters, expected);
    }
    REQUIRE(strcmp(letters, expected) == 0);
    REQUIRE(video.farthest <= options->bframes + 1);
}

static void check_cuts(void)
{
    struct gpume_encode_options options = default_options();
    options.min_keyint = 4;
    expect("AAAAAAAABBBBBBBBB", &options, "IBbPBbPPIBbPBbPbP");
    options.min_keyint = 25; /* too early for a key frame */
    expect("AAAAAAAABBBBBBBBB", &options, "IBbPBbPPiBbPBbPbP");
    options.scenecut = 0;
    struct video video = {.scenes = "AAAAAAAABBBBBBBBB"};
    decide_all(&video, &options);
    for (uint32_t i = 1; i < video.frames; i++) {
        REQUIRE(video.types[i] > GPUME_FRAME_I);
    }
}

static void check_flashes(void)
{
    struct gpume_encode_options options = default_options();
    options.min_keyint = 4;
    struct video video = {.scenes = "AAAAAAAABBBAAAAAAAACCCCDDDDDDDDDDDDDDDDDDDDDDDDDDDDE"};
    decide_all(&video, &options);
    for (uint32_t i = 1; i < video.frames; i++) {
        /* B is shorter than a run of B frames and the frame that ends it; C is not; the video ends
         * before E can show how long it is */
        REQUIRE((video.types[i] == GPUME_FRAME_IDR) == (i == 19 || i == 23));
    }
    options.b_adapt = 1; /* only one frame more is looked at */
    decide_all(&video, &options);
    REQUIRE(video.types[8] == GPUME_FRAME_IDR);
    options.encoder =
        gpume_encoder_find("x265"); /* which looks at a whole run with every b-adapt */
    for (options.b_adapt = 1; options.b_adapt <= 2; options.b_adapt++) {
        decide_all(&video, &options);
        for (uint32_t i = 1; i < video.frames; i++) {
            REQUIRE((video.types[i] == GPUME_FRAME_IDR) == (i == 19 || i == 23));
        }
    }
    /* B, C and D follow each other too fast: the first change is the cut */
    struct video changes = {.scenes = "AAAAAAAABBBCCCDDDDDDDDDDEEEEEEEEEE"};
    decide_all(&changes, &options);
    for (uint32_t i = 1; i < changes.frames; i++) {
        REQUIRE((changes.types[i] == GPUME_FRAME_IDR) == (i == 8 || i == 24));
    }
}

/* The type of frame 8, where a scene begins that the video shows this many frames of. */
static enum gpume_frame_type type_at_end(const struct gpume_encode_options *options, uint32_t shown)
{
    char scenes[] = "AAAAAAAABBBBBBBB";
    struct video video = {.scenes = scenes};
    scenes[8 + shown] = '\0';
    decide_all(&video, options);
    return video.types[8];
}

/* A scene at the end of the video counts as soon as it is one frame longer than a flash, and no
 * later. */
static void check_scene_at_end(void)
{
    struct gpume_encode_options options = default_options();
    options.min_keyint = 4;
    REQUIRE(type_at_end(&options, 4) == GPUME_FRAME_IDR); /* 3 B frames in a row: flashes of 3 */
    REQUIRE(type_at_end(&options, 3) != GPUME_FRAME_IDR);
    options.b_adapt = 1; /* flashes of 1 */
    REQUIRE(type_at_end(&options, 2) == GPUME_FRAME_IDR);
    REQUIRE(type_at_end(&options, 1) != GPUME_FRAME_IDR);
    options.encoder = gpume_encoder_find("x265");
    REQUIRE(type_at_end(&options, 4) == GPUME_FRAME_IDR);
    REQUIRE(type_at_end(&options, 3) != GPUME_FRAME_IDR);
    options.bframes = 0; /* no flashes */
    REQUIRE(type_at_end(&options, 1) == GPUME_FRAME_IDR);
}

/* The window is just long enough: what is beyond it changes no cut. */
static void check_cuts_in_window(void)
{
    struct gpume_encode_options options = default_options();
    options.min_keyint = 4;
    for (uint32_t bframes = 0; bframes <= 5; bframes++) {
        for (uint32_t before = 8; before < 20; before++) {
            char scenes[] = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
            struct video video = {.scenes = scenes};
            memset(scenes + before, 'B', strlen(scenes) - before);
            options.bframes = bframes;
            options.tree = false; /* whose horizon is longer */
            decide_all(&video, &options);
            for (uint32_t i = 1; i < video.frames; i++) {
                REQUIRE((video.types[i] == GPUME_FRAME_IDR) == (i == before));
            }
        }
    }
}

/* One frame of another scene right before or after a cut hides it nowhere in a run of B frames. */
static void check_cut_beside_flash(
    const struct gpume_encode_options *options, uint32_t before, const char *after)
{
    char scenes[FRAMES_MAX + 1];
    struct video video = {.scenes = scenes};
    memset(scenes, 'A', before);
    snprintf(scenes + before, sizeof(scenes) - before, "%s", after);
    decide_all(&video, options);
    for (uint32_t i = 1; i < video.frames; i++) {
        REQUIRE((video.types[i] <= GPUME_FRAME_I) == (i == before));
    }
}

static void check_cuts_beside_flashes(void)
{
    struct gpume_encode_options options = default_options();
    for (uint32_t before = 8; before < 24; before++) {
        options.encoder = gpume_encoder_find("x264");
        options.bframes = 3;
        check_cut_beside_flash(&options, before, "BXBBBBBBBBBBBBBBBBBB");
        options.encoder = gpume_encoder_find("x265");
        options.bframes = 4;
        check_cut_beside_flash(&options, before, "BCCCCCCCCCCCCCCCCCCC");
    }
}

/* A cut across which prediction saves so much of the intra cost, 10000. */
struct weak_cut {
    uint64_t frame, saved;
};

static int weak_cut_cost(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    const struct weak_cut *cut = opaque;
    const bool has_past = past != frame;
    *cost = has_past && past < cut->frame && cut->frame <= frame ? 10000 - cut->saved : 2000;
    if (!has_past && future == frame) {
        *cost = 10000;
    }
    return GPUME_OK;
}

static bool cut_found(uint64_t frame, uint64_t saved, const struct gpume_encode_options *options)
{
    struct weak_cut cut = {frame, saved};
    struct gpume_types types;
    enum gpume_frame_type decisions[20];
    uint32_t decided = 0;
    gpume_types_init(&types, options, weak_cut_cost, weak_cut_cost, &cut);
    REQUIRE_EQUAL(gpume_types_decide(&types, frame - 1, 20, decisions, &decided), GPUME_OK);
    return decisions[0] <= GPUME_FRAME_I;
}

static bool weak_cut_found(uint64_t frame, const struct gpume_encode_options *options)
{
    return cut_found(frame, 2000, options); /* 20 % */
}

/* The bias grows with the distance from the last key frame: a weak cut counts only when it is late.
 */
static void check_bias(void)
{
    struct gpume_encode_options options = default_options();
    /* 10 % at min-keyint, 40 % at keyint: 20 % after a third of the way between them, 75 frames */
    REQUIRE(!weak_cut_found(25, &options));
    REQUIRE(!weak_cut_found(99, &options));
    REQUIRE(weak_cut_found(101, &options));
    options.min_keyint = options.keyint; /* 40 % there, in proportion before */
    REQUIRE(!weak_cut_found(124, &options));
    REQUIRE(weak_cut_found(126, &options));
    options.scenecut = 0;
    REQUIRE(!weak_cut_found(249, &options));
    REQUIRE(weak_cut_found(250, &options)); /* a key frame anyway */
    options.scenecut = 50;
    options.min_keyint = 100; /* 12.5 % there, in proportion before, but no less than a quarter */
    REQUIRE(cut_found(100, 1250, &options) && !cut_found(100, 1251, &options));
    REQUIRE(cut_found(60, 749, &options) && !cut_found(60, 751, &options));
    REQUIRE(cut_found(10, 312, &options) && !cut_found(10, 313, &options));
}

static void check_keyint(bool open_gop, uint32_t b_adapt, uint32_t frames)
{
    struct gpume_encode_options options = default_options();
    char scenes[FRAMES_MAX] = "";
    memset(scenes, 'A', frames);
    options.keyint = 50;
    options.min_keyint = 5;
    options.open_gop = open_gop;
    options.b_adapt = b_adapt;
    struct video video = {.scenes = scenes, .seed = 5};
    decide_all(&video, &options);
    for (uint32_t i = 1; i < video.frames; i++) {
        const bool intra = video.types[i] <= GPUME_FRAME_I;
        REQUIRE(intra == (i % 50 == 0));
        REQUIRE(video.types[i] != (open_gop ? GPUME_FRAME_IDR : GPUME_FRAME_I));
        /* nothing refers across an IDR frame */
        REQUIRE(video.types[i] != GPUME_FRAME_IDR || !gpume_type_is_b(video.types[i - 1]));
    }
}

/* A cut that comes too early for a key frame does not move the next one. */
static void check_early_cut(void)
{
    struct gpume_encode_options options = default_options();
    char scenes[] = "AAAAAAAABBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
    struct video video = {.scenes = scenes};
    options.keyint = 50;
    options.open_gop = true;
    decide_all(&video, &options);
    for (uint32_t i = 1; i < video.frames; i++) {
        REQUIRE((video.types[i] <= GPUME_FRAME_I) == (i == 8 || i == 50));
    }
    /* the first change of all follows none */
    struct video early = {.scenes = "AAABBBBBBBBBBBBBBBBB"};
    options.encoder = gpume_encoder_find("x265");
    options.bframes = 4;
    decide_all(&early, &options);
    for (uint32_t i = 1; i < early.frames; i++) {
        REQUIRE((early.types[i] <= GPUME_FRAME_I) == (i == 3));
    }
}

/* What would follow a key frame counts from it. */
static void check_outlook(void)
{
    struct gpume_encode_options options = default_options();
    struct video video = {.scenes = "AAAAAAAABBBBBBBBBBBBBBBBBBBBBB", .frames = 30};
    enum gpume_frame_type decisions[20];
    struct gpume_types types;
    uint32_t decided = 0;
    options.keyint = 10;
    options.min_keyint = 2;
    gpume_types_init(&types, &options, video_cost, video_cost, &video);
    REQUIRE_EQUAL(gpume_types_decide(&types, 7, 20, decisions, &decided), GPUME_OK);
    for (uint32_t i = 0; i < 20; i++) {
        REQUIRE((decisions[i] == GPUME_FRAME_IDR) == (i == 0 || i == 10));
    }
}

static void check_fixed(void)
{
    struct gpume_encode_options options = default_options();
    options.b_adapt = 0;
    expect("AAAAAAAAAAA", &options, "IbBbPbBbPbP");
    options.encoder = gpume_encoder_find("x265");
    options.bframes = 4;
    expect("AAAAAAAAAAA", &options, "IbbBbPbbBbP");
    options.b_pyramid = 0;
    expect("AAAAAAAAAAA", &options, "IbbbbPbbbbP");
    options.bframes = 0;
    expect("AAAABBB", &options, "IPPPiPP");
}

/* Patterns as bits: bit i says that frame i + 1 is a B frame. */
static uint64_t pattern_cost(const struct gpume_types *types, uint32_t count, uint32_t bits)
{
    uint64_t sum = 0, past = 0;
    for (uint32_t i = 0; i < count; i++) {
        if ((bits >> i & 1) == 0) {
            uint64_t cost = 0;
            REQUIRE_EQUAL(gpume_types_run_cost(types, past, i + 1, UINT64_MAX, &cost), GPUME_OK);
            sum += cost;
            past = i + 1;
        }
    }
    return sum;
}

static bool runs_fit(uint32_t bits, uint32_t bframes)
{
    return (bits & (bits >> 1) & (bits >> 2) & (bits >> 3)) == 0 || bframes > 3;
}

static uint64_t chosen_cost(
    struct gpume_encode_options *options, uint32_t b_adapt, struct video *video, uint32_t count)
{
    enum gpume_frame_type decisions[GPUME_PATTERN_MAX];
    struct gpume_types types;
    uint32_t bits = 0;
    options->b_adapt = b_adapt;
    gpume_types_init(&types, options, video_cost, video_cost, video);
    REQUIRE_EQUAL(gpume_types_choose_pattern(&types, 0, count, decisions), GPUME_OK);
    for (uint32_t i = 0; i < count; i++) {
        bits |= (uint32_t)gpume_type_is_b(decisions[i]) << i;
    }
    REQUIRE(!gpume_type_is_b(decisions[count - 1]));
    REQUIRE(runs_fit(bits, options->bframes));
    return pattern_cost(&types, count, bits);
}

/* b-adapt 1 and 2 find the cheapest of all patterns. */
static void check_cheapest(uint64_t seed, uint32_t b_pyramid)
{
    enum { COUNT = 11 };
    struct gpume_encode_options options = default_options();
    options.b_pyramid = b_pyramid;
    struct video video = {.scenes = "AAAAABBBBAAA", .frames = COUNT + 1, .seed = seed};
    struct gpume_types types;
    gpume_types_init(&types, &options, video_cost, video_cost, &video);
    uint64_t best = UINT64_MAX;
    for (uint32_t bits = 0; bits < 1u << (COUNT - 1); bits++) {
        if (runs_fit(bits, options.bframes)) {
            const uint64_t cost = pattern_cost(&types, COUNT, bits);
            best = cost < best ? cost : best;
        }
    }
    REQUIRE_EQUAL(chosen_cost(&options, 2, &video, COUNT), best);
    REQUIRE_EQUAL(chosen_cost(&options, 1, &video, COUNT), best);
    REQUIRE(chosen_cost(&options, 0, &video, COUNT) >= best);
}

/* Every fourth frame, beginning with the third, predicts others better than the rest do: they were
 * the P frames of a video that was coded before. */
static int coded_before_cost(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    (void)opaque;
    const bool has_past = past != frame, has_future = future != frame;
    const bool is_good = (has_past && past % 4 == 2) || (has_future && future % 4 == 2);
    *cost =
        !has_past && !has_future ? 10000u : (has_future ? 1000u : 1400u) - (is_good ? 300u : 0u);
    return GPUME_OK;
}

/* Runs of B frames that always have the greatest length find the place of those frames. */
static void check_place(uint32_t b_adapt)
{
    struct gpume_encode_options options = default_options();
    options.b_adapt = b_adapt;
    struct gpume_types types;
    enum gpume_frame_type decisions[GPUME_PATTERN_MAX];
    gpume_types_init(&types, &options, coded_before_cost, coded_before_cost, NULL);
    for (uint64_t last = 0, runs = 0; runs < 20; runs++) {
        uint32_t decided = 0;
        REQUIRE_EQUAL(gpume_types_decide(&types, last, 41, decisions, &decided), GPUME_OK);
        last += decided;
        gpume_types_commit(&types, last, decisions[decided - 1]);
        REQUIRE(runs < 2 || last % 4 == 2);
    }
}

/* As the layers of frames in the statistics of SVT-AV1's own first pass (2.3 and 4.2) say, for
 * videos of these lengths with --keyint 50 and 161. */
static void check_halves(void)
{
#define RUN "bBbBbBbBbBbBbBbP"
#define RUNS RUN RUN RUN
    static const struct {
        uint32_t keyint;
        const char *expected;
    } cases[] = {
        {50, "I" RUNS "PI" RUNS "PI" RUN "bP"},
        {161, "I" RUNS RUNS RUN "bBbBbBbPbBbP"},
        {161, "I" RUNS RUNS RUN "bBbPbPP"},
        {161, "I"},
    };
    struct gpume_encode_options options;
    gpume_encode_options_default(&options, gpume_encoder_find("svt-av1"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char scenes[FRAMES_MAX] = "";
        memset(scenes, 'A', strlen(cases[i].expected));
        options.keyint = cases[i].keyint;
        expect(scenes, &options, cases[i].expected);
    }
}

/* Two P frames cost less than a B frame and the P frame after it. */
static int plain_cost(void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    (void)opaque;
    *cost = past == frame ? 2000 : future == frame ? 500 + 500 * (frame - past) : 1000;
    return GPUME_OK;
}

/* Coding a P frame costs twice its prediction, as much as an intra frame. */
static int fade_cost(void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    const int status = plain_cost(opaque, frame, past, future, cost);
    *cost *= future == frame ? 2 : 1;
    return status;
}

/* The cost of coding chooses patterns, and no cuts. */
static void check_coding_cost(void)
{
    const struct gpume_encode_options options = default_options();
    enum gpume_frame_type decisions[8];
    struct gpume_types types;
    uint32_t decided;
    gpume_types_init(&types, &options, plain_cost, plain_cost, NULL);
    REQUIRE_EQUAL(gpume_types_decide(&types, 0, 8, decisions, &decided), GPUME_OK);
    REQUIRE(decided == 1 && decisions[0] == GPUME_FRAME_P);
    gpume_types_init(&types, &options, plain_cost, fade_cost, NULL);
    REQUIRE_EQUAL(gpume_types_decide(&types, 0, 8, decisions, &decided), GPUME_OK);
    REQUIRE(decided == 4 && decisions[0] == GPUME_FRAME_B && decisions[3] == GPUME_FRAME_P);
}

/* Costs name their frames, so that the sum of a run says which references were used. */
static int naming_cost(void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    (void)opaque;
    *cost = frame * 100 + past * 10 + future;
    return GPUME_OK;
}

static void check_run(void)
{
    const struct gpume_encode_options options = default_options();
    struct gpume_types types;
    gpume_types_init(&types, &options, naming_cost, naming_cost, NULL);
    uint64_t cost = 0;
    REQUIRE_EQUAL(gpume_types_run_cost(&types, 0, 4, UINT64_MAX, &cost), GPUME_OK);
    REQUIRE_EQUAL(cost, 404 + 204 * 100 / 120 + 102 * 100 / 120 + 324 * 100 / 120);
    types.options.b_pyramid = 0;
    REQUIRE_EQUAL(gpume_types_run_cost(&types, 0, 3, UINT64_MAX, &cost), GPUME_OK);
    REQUIRE_EQUAL(cost, 303 + 103 * 100 / 120 + 203 * 100 / 120);
    types.options.encoder = gpume_encoder_find("x265");
    REQUIRE_EQUAL(gpume_types_run_cost(&types, 0, 3, UINT64_MAX, &cost), GPUME_OK);
    REQUIRE_EQUAL(cost, 303 + 103 * 100 / 130 + 203 * 100 / 130);
}

static int failing_cost(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    int *calls = opaque;
    *cost = frame + past + future;
    return --*calls < 0 ? GPUME_DEVICE_LOST : GPUME_OK;
}

/* A failure ends the decision at once, wherever it happens. */
static void check_failure(void)
{
    const struct gpume_encode_options options = default_options();
    enum gpume_frame_type decisions[8];
    struct gpume_types types;
    uint32_t decided, allowed = 0;
    for (int status = GPUME_DEVICE_LOST; status != GPUME_OK && allowed < 1000; allowed++) {
        int calls = (int)allowed;
        gpume_types_init(&types, &options, failing_cost, failing_cost, &calls);
        status = gpume_types_decide(&types, 0, 8, decisions, &decided);
        REQUIRE(status == GPUME_OK || (status == GPUME_DEVICE_LOST && calls == -1));
    }
    REQUIRE(allowed > 30 && allowed < 1000);
}

static void check_windows(void)
{
    struct gpume_encode_options options = default_options();
    REQUIRE_EQUAL(gpume_types_window(&options), 60);
    options.horizon = GPUME_RC_LOOKAHEAD_MAX + 1;
    REQUIRE_EQUAL(gpume_types_window(&options), GPUME_PATTERN_MAX);
    options.horizon = 1;
    REQUIRE_EQUAL(gpume_types_window(&options), 7); /* a run, and a cut after it */
    options.bframes = 16;
    options.tree = false;
    REQUIRE_EQUAL(gpume_types_window(&options), 33);
}

int main(void)
{
    check_cuts();
    check_flashes();
    check_scene_at_end();
    check_cuts_in_window();
    check_cuts_beside_flashes();
    check_bias();
    for (uint32_t b_adapt = 0; b_adapt <= 2; b_adapt++) {
        for (uint32_t frames = 299; frames <= 303; frames++) { /* the last may be a key frame */
            check_keyint(false, b_adapt, frames);
            check_keyint(true, b_adapt, frames);
        }
    }
    check_early_cut();
    check_outlook();
    check_fixed();
    for (uint64_t seed = 1; seed <= 12; seed++) {
        check_cheapest(seed, seed & 1 ? 2 : 0);
    }
    check_place(1);
    check_place(2);
    check_coding_cost();
    check_halves();
    check_run();
    check_failure();
    check_windows();
    return harness_verdict();
}
