/* SPDX-License-Identifier: BSD-2-Clause */
/* gpu/tune/prune_shape: shapes respect their limits for every plan, and the policy follows the
 * measured times. */
#include "common/shared.h"
#include "gpu/tune/prune_shape.h"
#include "harness.h"
#include "plans.h"

/* One invocation per block: limits on what a workgroup lists and compares, and on cost and order in
 * one word. */
static void test_small(const struct gpume_plan *plan, const struct gpume_prune_shape *s)
{
    const struct gpume_params *p = &plan->params;
    uint64_t quarter = (uint64_t)p->block * p->block / 4 * ((1u << p->bits) - 1);
    REQUIRE(s->local <= 256); /* numbers of invocations in eight bits */
    REQUIRE(quarter >> s->quarter_shift <= 2047);
    REQUIRE(
        ((uint64_t)1 << plan->layers[0].cost_bits) * (plan->candidates + 1) <= (uint64_t)1 << 32);
    /* Loop turns per candidate: 8 rows and one more for each square of 8 x 8, or one row of 8 at a
     * time. Per round: one turn, 4 candidates, unused places; then the candidates bounded and
     * listed. */
    uint64_t squares = (uint64_t)p->block * p->block / 64 * 9;
    uint64_t rows = (uint64_t)(p->block - 1) * p->block / 8, one = squares > rows ? squares : rows;
    uint64_t rounds = s->local * plan->candidates / (4 * s->local - 7) + 1;
    uint64_t eights = (2 * p->window_y + 1) * ((plan->pad_x + p->window_x + 8) / 8);
    uint64_t all = rounds * (4 * (one + 1) + 8) + 3 * eights + plan->candidates;
    REQUIRE(all < 25000 && all < GPUME_ITERATIONS_MAX);
}

static void test_shape(uint32_t block, uint32_t window, uint32_t bits)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = params.height = 256;
    params.block = block;
    params.window_x = params.window_y = window;
    params.bits = bits;
    const struct gpume_plan plan = plans_make(&params, UINT64_MAX);
    struct gpume_prune_shape s = gpume_prune_shape_make(&plan, &plan.layers[0]);
    uint64_t quarter = (uint64_t)block * block / 4 * ((1u << bits) - 1), sixteenth = quarter / 4;
    if (s.small) {
        test_small(&plan, &s);
        return;
    }
    REQUIRE(s.local >= 32 && s.local <= 128 && s.local % 32 == 0);
    REQUIRE(s.part >= 1 && s.part * plan.dx_quads <= 10 * s.local); /* bounds in registers */
    REQUIRE(s.list >= 2 * s.local); /* space for what one round can add */
    REQUIRE(quarter >> s.quarter_shift <= 2047 && sixteenth >> s.sixteenth_shift <= 2047);
    REQUIRE(s.quarter_shift == 0 || quarter >> (s.quarter_shift - 1) > 2047);
    /* Comparing as many candidates as allowed keeps an invocation within the loop limit. */
    uint64_t runs = ((uint64_t)block * block / 8 + s.local - 1) / s.local;
    REQUIRE((s.give_up + 8) * runs < GPUME_ITERATIONS_MAX);
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
    for (uint32_t block = 8; block <= 128; block += 8) {
        for (size_t i = 0; i < sizeof(windows) / sizeof(*windows); i++) {
            test_shape(block, windows[i], 8);
            test_shape(block, windows[i], 10);
            test_shape(block, windows[i], 16);
        }
    }
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = params.height = 256;
    const struct gpume_plan usual = plans_make(&params, UINT64_MAX);
    REQUIRE(gpume_prune_is_small(&usual, &usual.layers[0])); /* block 8, window 7 */
    test_policy();
    test_policy_in_flight();
    test_policy_untold();
    return harness_verdict();
}
