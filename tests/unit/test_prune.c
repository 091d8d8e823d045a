/* SPDX-License-Identifier: BSD-2-Clause */
/* gpu/tune/pruning: shapes respect their limits for every plan, and the policy follows the
 * measured times. */
#include "common/shared.h"
#include "gpu/stages/stage.h"
#include "harness.h"
#include "plans.h"

/* One invocation per block: limits on what a workgroup lists and compares, and on cost and order in
 * one word. */
static void test_small(const struct gpume_plan *plan, const struct gpume_prune_shape *s)
{
    const struct gpume_params *p = &plan->params;
    uint64_t side = plan->layers[0].block_w, quarter = side * side / 4 * ((1u << p->bits) - 1);
    REQUIRE(s->local <= 256); /* numbers of invocations in eight bits */
    REQUIRE(quarter >> s->quarter_shift <= 2047);
    REQUIRE(
        ((uint64_t)1 << plan->layers[0].cost_bits) * (plan->candidates + 1) <= (uint64_t)1 << 32);
    /* Loop turns per candidate: 8 rows and one more for each square of 8 x 8, or one row of 8 at a
     * time. Per round: one turn, 4 candidates, unused places; then the candidates bounded and
     * listed. */
    uint64_t squares = side * side / 64 * 9;
    uint64_t rows = (side - 1) * side / 8, one = squares > rows ? squares : rows;
    uint64_t rounds = s->local * plan->candidates / (4 * s->local - 7) + 1;
    uint64_t eights = (2 * p->window_y + 1) * ((plan->pad_x + p->window_x + 8) / 8);
    uint64_t all = rounds * (4 * (one + 1) + 8) + 3 * eights + plan->candidates;
    REQUIRE(all < 25000 && all < GPUME_ITERATIONS_MAX);
}

/* Teams of invocations that bound strips: a bit for every strip of an invocation, a byte for every
 * team, and an invocation's loops, as strips_shape describes them. */
static void test_strips(const struct gpume_plan *plan, const struct gpume_prune_shape *s)
{
    const struct gpume_params *p = &plan->params;
    const struct gpume_shape *layer = &plan->layers[0];
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h, half = layer->block_h / 2;
    uint64_t rows = 2 * p->window_y + 1, eights = (plan->pad_x + p->window_x + 8) / 8;
    uint64_t each = ((rows + s->part - 1) / s->part * eights + s->team - 1) / s->team;
    uint64_t blocks = s->local / s->team, share = samples / 16, list = 2 * s->local;
    REQUIRE(s->part % half == 0 && each <= 32 && each * s->team < 65536 && s->part * 8 <= 65536);
    REQUIRE(s->local % s->team == 0 && blocks <= 256 && s->seeds <= s->team);
    REQUIRE((samples / 4 * ((1u << p->bits) - 1)) >> s->quarter_shift <= 2047);
    REQUIRE(((uint64_t)1 << layer->cost_bits) * (plan->candidates + 1) <= (uint64_t)1 << 32);
    uint64_t listed = blocks * s->give_up + s->local * 8, rounds = listed / (list - 7) + 1;
    uint64_t seeds = s->seeds * s->part / s->team + 1;
    REQUIRE(2 * each * (s->part + half) + seeds + rounds * 2 * (share + 2) < GPUME_ITERATIONS_MAX);
}

static void test_wide(const struct gpume_plan *plan, const struct gpume_prune_shape *s)
{
    const struct gpume_shape *layer = &plan->layers[0];
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    uint64_t quarter = samples / 4 * ((1u << plan->params.bits) - 1), sixteenth = quarter / 4;
    REQUIRE(s->local >= 32 && s->local <= 128 && s->local % 32 == 0);
    REQUIRE(s->part >= 1 && s->part * plan->dx_quads <= 10 * s->local); /* bounds in registers */
    REQUIRE(s->list >= 2 * s->local); /* space for what one round can add */
    REQUIRE(quarter >> s->quarter_shift <= 2047 && sixteenth >> s->sixteenth_shift <= 2047);
    REQUIRE(s->quarter_shift == 0 || quarter >> (s->quarter_shift - 1) > 2047);
    /* Comparing as many candidates as allowed keeps an invocation within the loop limit. */
    uint64_t runs = (samples / 8 + s->local - 1) / s->local;
    REQUIRE((s->give_up + 8) * runs < GPUME_ITERATIONS_MAX);
}

static enum gpume_prune_kind test_shape(
    uint32_t width, uint32_t height, uint32_t window, uint32_t bits)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = params.height = 256;
    params.shapes[0] = (struct gpume_block_size){width, height};
    params.shape_count = 1;
    params.window_x = params.window_y = window;
    params.bits = bits;
    const struct gpume_plan plan = plans_make(&params, UINT64_MAX);
    const struct gpume_shape *layer = &plan.layers[0];
    enum gpume_prune_kind kind = gpume_prune_kind_of(&plan, layer);
    REQUIRE(gpume_prune_supports(&plan, layer) == (kind != GPUME_PRUNE_NONE));
    if (kind != GPUME_PRUNE_NONE) {
        struct gpume_prune_shape s = gpume_prune_shape_make(&plan, layer);
        REQUIRE_EQUAL(s.kind, kind);
        (kind == GPUME_PRUNE_SMALL       ? test_small
            : kind == GPUME_PRUNE_STRIPS ? test_strips
                                         : test_wide)(&plan, &s);
    }
    return kind;
}

static void test_shapes(uint32_t window, uint32_t bits)
{
    for (uint32_t width = 4; width <= 128; width += 4) {
        for (uint32_t height = 4; height <= 128; height += width <= 16 ? 4 : 24) {
            test_shape(width, height, window, bits);
        }
    }
}

static void test_kinds(void)
{
    REQUIRE_EQUAL(test_shape(8, 8, 7, 8), GPUME_PRUNE_SMALL);
    REQUIRE_EQUAL(test_shape(8, 8, 16, 8), GPUME_PRUNE_STRIPS);
    REQUIRE_EQUAL(test_shape(8, 8, 32, 8), GPUME_PRUNE_WIDE);
    REQUIRE_EQUAL(test_shape(4, 4, 3, 8), GPUME_PRUNE_STRIPS);
    REQUIRE_EQUAL(test_shape(4, 4, 512, 8), GPUME_PRUNE_NONE); /* 33 bits */
    REQUIRE_EQUAL(test_shape(4, 4, 300, 8), GPUME_PRUNE_STRIPS);
    REQUIRE_EQUAL(test_shape(12, 8, 16, 8), GPUME_PRUNE_STRIPS);
    REQUIRE_EQUAL(test_shape(64, 32, 16, 8), GPUME_PRUNE_WIDE);
    REQUIRE_EQUAL(test_shape(20, 20, 16, 8), GPUME_PRUNE_NONE);
}

/* Asks for the next submission's method, and reports the time that it took. */
static bool step(struct gpume_prune_policy *policy, uint64_t full_ns, uint64_t pruned_ns)
{
    bool pruned = gpume_prune_policy_next(policy, 4);
    gpume_prune_policy_measured(policy, pruned, 4 * (pruned ? pruned_ns : full_ns), 4);
    return pruned;
}

static uint32_t pruned_of(
    struct gpume_prune_policy *policy, uint32_t count, uint64_t full_ns, uint64_t pruned_ns)
{
    uint32_t pruned = 0;
    for (uint32_t i = 0; i < count; i++) {
        pruned += step(policy, full_ns, pruned_ns);
    }
    return pruned;
}

/* Submissions of one size, measured `depth` submissions after they were made. */
static uint32_t pruned_in_flight(
    uint32_t count, uint32_t depth, uint64_t full_ns, uint64_t pruned_ns)
{
    struct gpume_prune_policy policy = {0};
    bool pruned[200] = {false};
    uint32_t sum = 0;
    REQUIRE(count <= sizeof(pruned) / sizeof(*pruned));
    for (uint32_t i = 0; i < count; i++) {
        if (i >= depth) {
            bool was = pruned[i - depth];
            gpume_prune_policy_measured(&policy, was, 64 * (was ? pruned_ns : full_ns), 64);
        }
        pruned[i] = gpume_prune_policy_next(&policy, 64);
        sum += pruned[i];
    }
    return sum;
}

static void test_policy_in_flight(void)
{
    REQUIRE_EQUAL(pruned_in_flight(100, 3, 1000, 8000), 1); /* not one probe for each of those */
    REQUIRE_EQUAL(pruned_in_flight(100, 3, 1000, 400), 97);
    REQUIRE_EQUAL(pruned_in_flight(200, 3, 1000, 1100), 7); /* one in 32 */
}

/* The times of some submissions are missing. */
static void test_policy_untold(void)
{
    struct gpume_prune_policy policy = {0};
    REQUIRE_EQUAL(pruned_of(&policy, 2, 0, 0), 2);
    REQUIRE(pruned_of(&policy, 100, 1000, 8000) < 6);
    REQUIRE(pruned_of(&policy, 100, 0, 0) < 6); /* known times stay */
    policy = (struct gpume_prune_policy){0};
    REQUIRE_EQUAL(pruned_of(&policy, 20, 0, 400), 1);
    REQUIRE(pruned_of(&policy, 100, 1000, 400) > 95);
    policy = (struct gpume_prune_policy){0};
    REQUIRE(gpume_prune_policy_next(&policy, 4)); /* full searches in flight count */
    REQUIRE(!gpume_prune_policy_next(&policy, 4));
    gpume_prune_policy_measured(&policy, true, 0, 4);
    gpume_prune_policy_measured(&policy, false, 4000, 4);
    REQUIRE(pruned_of(&policy, 100, 1000, 400) > 95);
}

static void test_policy(void)
{
    struct gpume_prune_policy policy = {0};
    REQUIRE(pruned_of(&policy, 100, 1000, 400) == 99); /* the full search: once */
    REQUIRE(pruned_of(&policy, 100, 1000, 1200) < 6);  /* noise: detected at once, then probed */
    REQUIRE(pruned_of(&policy, 1000, 1000, 8000) <= 8);
    REQUIRE(pruned_of(&policy, 400, 1000, 400) > 200); /* and detected again */
    REQUIRE(pruned_of(&policy, 1000, 1000, 400) > 995);
    REQUIRE(pruned_of(&policy, 1000, 300, 400) < 400); /* the device's clock has changed */
    /* A small submission with a long time per field implies nothing about large ones. */
    struct gpume_prune_policy sizes = {0};
    for (uint32_t i = 0; i < 100; i++) {
        bool pruned = gpume_prune_policy_next(&sizes, 1);
        gpume_prune_policy_measured(&sizes, pruned, pruned ? 3000 : 2000, 1);
        REQUIRE_EQUAL(step(&sizes, 1000, 400), i != 1);
    }
    REQUIRE(!sizes.sizes[1].pruning);
    struct gpume_prune_policy blind = {0};
    REQUIRE_EQUAL(pruned_of(&blind, 50, 0, 0), 50); /* a device without timestamps */
}

int main(void)
{
    static const uint32_t windows[] = {0, 3, 7, 16, 32, 64, 512};
    for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
        test_shapes(windows[i], 8);
        test_shapes(windows[i], 10);
        test_shapes(windows[i], 16);
    }
    test_kinds();
    test_policy();
    test_policy_in_flight();
    test_policy_untold();
    return harness_verdict();
}
