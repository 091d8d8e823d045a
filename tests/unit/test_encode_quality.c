/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How quality flows through a stretch of frames, on videos of one block, where every amount can be
 * followed by hand: information in units of the intra cost.
 */
#include "encode/encoder.h"
#include "encode/fixed.h"
#include "encode/quality.h"
#include "harness.h"

#include <math.h>
#include <string.h>

enum { FRAMES_MAX = 64 };

/* Every frame costs 1000 from itself, and this share of it from any reference. */
struct video {
    const struct gpume_encoder *encoder;
    bool psy;
    double share;
    uint64_t cut; /* nothing is predicted from before it; 0: none */
    uint64_t steps;
    uint64_t latest; /* the last frame asked for */
    uint16_t intra_cost, cost;
    struct gpume_vector zero;
    int16_t aq_offset;
    uint32_t information;
};

static int video_step(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, struct gpume_quality_step *step)
{
    static const uint8_t self = GPUME_FROM_SELF, from_past = GPUME_FROM_PAST,
                         both = GPUME_FROM_BOTH;
    struct video *video = opaque;
    REQUIRE(past <= frame && frame <= future);
    const bool cut = past < video->cut && video->cut <= frame;
    video->steps++;
    video->latest = future > video->latest ? future : video->latest;
    video->intra_cost = 1000;
    video->cost = (uint16_t)(1000 * video->share);
    gpume_tree_information(1, &video->intra_cost, &video->aq_offset, &video->information);
    *step = (struct gpume_quality_step){.tree = {.intra_costs = &video->intra_cost,
                                            .costs = cut ? &video->intra_cost : &video->cost,
                                            .kinds = past == frame     ? &self
                                                     : future == frame ? &from_past
                                                                       : &both,
                                            .past = &video->zero,
                                            .future = &video->zero,
                                            .information = &video->information},
        .aq_offsets = &video->aq_offset};
    return GPUME_OK;
}

static void read_types(const char *letters, enum gpume_frame_type *types)
{
    for (uint32_t i = 0; letters[i] != '\0'; i++) {
        types[i] = (enum gpume_frame_type)(strchr("IiPBb", letters[i]) - "IiPBb");
    }
}

enum { FIRST = 100 }; /* position of the stretch in the video */

/* What the target and the reference B frame before it have received, in intra costs. */
struct flow {
    double target, b;
    bool has_b;
};

static double received(const struct video *video, const int16_t *offsets)
{
    /* By qcomp the offset is the logarithm; x264's are a tenth stronger, with psy by two fifths,
     * and x265's a tenth weaker. */
    const bool x264 = video->encoder == gpume_encoder_find("x264");
    const double strength = !x264 ? 0.9 : video->psy ? 1.4 : 1.1;
    return exp2((video->aq_offset - offsets[0]) / 256.0 / strength) - 1;
}

/* The last B frame that has offsets. No other one of the stretch up to the target has any. */
static struct flow read_flow(const struct video *video, const struct gpume_quality_walk *walk,
    const enum gpume_frame_type *types, uint32_t target)
{
    struct flow flow = {.target = received(video, gpume_quality_offsets(walk, FIRST + target))};
    for (uint32_t i = 0; i <= target; i++) {
        const int16_t *offsets = gpume_quality_offsets(walk, FIRST + i);
        REQUIRE_EQUAL(offsets != NULL, types[i] != GPUME_FRAME_B);
        if (types[i] == GPUME_FRAME_B_REF) {
            flow.has_b = true;
            flow.b = received(video, offsets);
        }
    }
    return flow;
}

static struct flow flow_of(
    struct video *video, const char *letters, uint32_t target, uint32_t weightb)
{
    const struct gpume_encode_options options = {
        .encoder = video->encoder, .qcomp = 0.8, .weightb = weightb, .psy = video->psy};
    const struct gpume_tree_size size = {1, 1};
    enum gpume_frame_type types[FRAMES_MAX];
    struct gpume_quality *quality = NULL;
    struct gpume_quality_walk *walk = NULL;
    const struct gpume_stretch stretch = {FIRST, (uint32_t)strlen(letters), types};
    read_types(letters, types);
    REQUIRE_EQUAL(gpume_quality_open(&quality, &size, &options, video_step, video), GPUME_OK);
    REQUIRE_EQUAL(gpume_quality_prepare(quality, &stretch, target, &walk), GPUME_OK);
    gpume_quality_follow(quality, walk);
    const struct flow flow = read_flow(video, walk, types, target);
    gpume_quality_close(&quality);
    REQUIRE(quality == NULL);
    return flow;
}

static bool near(double value, double expected)
{
    if (fabs(value - expected) < 0.004 * (1 + expected)) {
        return true;
    }
    fprintf(stderr, "%g, expected %g\n", value, expected);
    return false;
}

static void check_chain(void)
{
    struct video video = {.encoder = gpume_encoders[0], .share = 0.25};
    REQUIRE(near(flow_of(&video, "P", 0, 0).target, 0));
    REQUIRE(near(flow_of(&video, "PP", 0, 0).target, 0.75));
    REQUIRE(near(flow_of(&video, "PPP", 0, 0).target, (0.75 + 1) * 0.75));
    REQUIRE(near(flow_of(&video, "PPPP", 1, 0).target, (0.75 + 1) * 0.75));
    video.psy = true;
    REQUIRE(near(flow_of(&video, "PPP", 0, 0).target, (0.75 + 1) * 0.75));
    video.aq_offset = -700; /* counts on top, and changes no proportion */
    REQUIRE(near(flow_of(&video, "PPP", 0, 0).target, (0.75 + 1) * 0.75));
}

static void check_b_frames(void)
{
    struct video video = {.encoder = gpume_encoders[0], .share = 0.5};
    /* two B frames, each half on either side: 2 * 0.5 * 0.5; the P frame received as much */
    struct flow flow = flow_of(&video, "PbbP", 0, 0);
    REQUIRE(near(flow.target, 0.5 + (1 + 0.5) * 0.5) && !flow.has_b);
    /* by nearness: a third and two thirds of the first, the other way round for the second */
    REQUIRE(near(flow_of(&video, "PbbP", 3, 1).target, 0.5));
    REQUIRE(near(flow_of(&video, "PbbP", 3, 0).target, 0.5));
    REQUIRE(near(flow_of(&video, "PbP", 2, 1).target, 0.25));
    /* the middle one gets half of both others and passes on (1 + 0.5) * 0.5 to both ends */
    flow = flow_of(&video, "PbBbP", 4, 0);
    REQUIRE(flow.has_b && near(flow.b, 0.5));
    REQUIRE(near(flow.target, 0.25 + 0.375));
    flow = flow_of(&video, "PbBbPP", 0, 0);
    const double end = 0.25 + 0.375 + 0.5;
    REQUIRE(!flow.has_b && near(flow.target, 0.25 + 0.375 + (1 + end) * 0.5));
}

/* x265's intra costs are counted 7/8, so these frames pass on half. A P frame's offsets leave out
 * what the B frames before it passed to it, but it passes that on, too. */
static void check_x265(void)
{
    struct video video = {.encoder = gpume_encoder_find("x265"), .share = 7.0 / 16};
    REQUIRE(near(flow_of(&video, "PPP", 0, 0).target, (0.5 + 1) * 0.5));
    REQUIRE(near(flow_of(&video, "PbbP", 3, 0).target, 0));
    REQUIRE(near(flow_of(&video, "PbbI", 3, 0).target, 0));
    REQUIRE(near(flow_of(&video, "PbbPP", 3, 0).target, 0.5));
    REQUIRE(near(flow_of(&video, "PbbP", 0, 0).target, 0.5 + (1 + 0.5) * 0.5));
    const struct flow flow = flow_of(&video, "PbBbPbP", 4, 0);
    REQUIRE(near(flow.b, 0.5) && near(flow.target, 0.25 + (1 + 0.25) * 0.5));
}

/* A share by nearness shows where references lie at unequal distances. */
static void check_nearness(void)
{
    struct video video = {.encoder = gpume_encoders[0], .share = 0.5};
    /* 0 1 2 B 4: with frame 3 as the reference, frames 1 and 2 have 0 and 3, and 4 is frame 5's */
    const double early = 0.5 * (1.0 / 3 + 2.0 / 3), late = 0.5 * 0.5;
    const double b = early + late, passed = (1 + b) * 0.5;
    const struct flow flow = flow_of(&video, "PbbBbP", 5, 1);
    REQUIRE(near(flow.b, b));
    REQUIRE(near(flow.target, late + passed * 3 / 5));
}

static void check_cut(void)
{
    struct video video = {.encoder = gpume_encoders[0], .share = 0.1, .cut = FIRST + 2};
    REQUIRE(near(flow_of(&video, "PPiPPP", 0, 0).target, 0.9));
    REQUIRE(near(flow_of(&video, "PPPPPP", 0, 0).target, 0.9));
    REQUIRE(flow_of(&video, "PPiPPP", 2, 0).target > 2);
    video.cut = 0; /* an intra frame takes nothing over, cut or not */
    REQUIRE(near(flow_of(&video, "PPiPPP", 0, 0).target, 0.9));
    /* but B frames before it refer to both sides */
    video.share = 0.5;
    REQUIRE(near(flow_of(&video, "PbbI", 0, 0).target, 0.5));
    REQUIRE(near(flow_of(&video, "PbbI", 3, 0).target, 0.5));
}

/* A walk that begins earlier finds the same for its last run. */
static void check_group(void)
{
    static const char letters[] = "PbBbPbPPbbBbPbbP";
    struct video video = {.encoder = gpume_encoders[0], .share = 0.3};
    const struct flow whole = flow_of(&video, letters, 12, 1);
    const struct flow parts = flow_of(&video, letters + 7, 5, 1);
    REQUIRE(near(whole.target, parts.target) && near(whole.b, parts.b));
    const struct flow tail = flow_of(&video, "PbbB", 0, 1); /* B frames after the last P */
    REQUIRE(near(tail.target, 0));
}

/* A static picture is worth many QP: 40 frames, of which each takes over nearly everything. */
static void check_static(void)
{
    struct video video = {.encoder = gpume_encoders[0], .share = 0.01};
    const char *letters = "IPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPPP";
    const double got = flow_of(&video, letters, 0, 0).target;
    REQUIRE(near(got, 0.99 * (1 - pow(0.99, 40)) / 0.01));
    REQUIRE_EQUAL(video.latest, FIRST + 40);
    REQUIRE(5 * (1 - 0.6) * log2(1 + got) > 10);
}

static int failing_step(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, struct gpume_quality_step *step)
{
    struct video video = {.encoder = gpume_encoders[0], .share = 0.5};
    static struct video kept;
    int *calls = opaque;
    if (--*calls < 0) {
        return GPUME_DEVICE_LOST;
    }
    kept = video;
    return video_step(&kept, frame, past, future, step);
}

static void check_failure(void)
{
    const struct gpume_encode_options options = {.encoder = gpume_encoders[0], .qcomp = 0.6};
    const struct gpume_tree_size size = {1, 1};
    enum gpume_frame_type types[FRAMES_MAX];
    const struct gpume_stretch stretch = {0, 9, types};
    struct gpume_quality *quality = NULL;
    struct gpume_quality_walk *walk;
    int calls, allowed = 0, status = GPUME_DEVICE_LOST;
    read_types("PbBbPbBbP", types);
    REQUIRE_EQUAL(gpume_quality_open(&quality, &size, &options, failing_step, &calls), GPUME_OK);
    for (; status != GPUME_OK && allowed < 100; allowed++) {
        calls = allowed;
        status = gpume_quality_prepare(quality, &stretch, 4, &walk);
        REQUIRE(status == GPUME_OK || (status == GPUME_DEVICE_LOST && calls == -1));
    }
    REQUIRE_EQUAL(allowed, 10); /* 4 in each run, the first frame, and one more */
    gpume_quality_close(&quality);
    gpume_quality_close(&quality);
}

int main(void)
{
    check_chain();
    check_b_frames();
    check_x265();
    check_nearness();
    check_cut();
    check_group();
    check_static();
    check_failure();
    return harness_verdict();
}
