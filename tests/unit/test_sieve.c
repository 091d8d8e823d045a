/* SPDX-License-Identifier: BSD-2-Clause */
/* gpu/sieve: shapes keep to their limits for every plan, and the switch follows what is measured.
 */
#include "common/shared.h"
#include "gpu/tune/sieve_shape.h"
#include "harness.h"
#include "plans.h"

/* An invocation a block: what a workgroup lists and compares at most, and cost and order in a word.
 */
static void test_sift(const struct gpume_plan *plan, const struct gpume_sieve_shape *s)
{
    const struct gpume_params *p = &plan->params;
    uint64_t quarter = (uint64_t)p->block * p->block / 4 * ((1u << p->bits) - 1);
    REQUIRE(s->local <= 256); /* numbers of invocations in eight bits */
    REQUIRE(quarter >> s->quarter_shift <= 2047);
    REQUIRE(
        ((uint64_t)1 << plan->layers[0].cost_bits) * (plan->candidates + 1) <= (uint64_t)1 << 32);
    /* Of a candidate: 8 rows and a turn for each square of 8 x 8, or a row of 8 at a time. Of a
     * round: a turn, 4 candidates, places that stay free; then what is bounded and listed. */
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
    struct gpume_sieve_shape s = gpume_sieve_shape_make(&plan);
    uint64_t quarter = (uint64_t)block * block / 4 * ((1u << bits) - 1), sixteenth = quarter / 4;
    if (s.sifts) {
        test_sift(&plan, &s);
        return;
    }
    REQUIRE(s.local >= 32 && s.local <= 128 && s.local % 32 == 0);
    REQUIRE(s.part >= 1 && s.part * plan.dx_quads <= 10 * s.local); /* bounds in registers */
    REQUIRE(s.list >= 2 * s.local); /* room for what a round can add */
    REQUIRE(quarter >> s.quarter_shift <= 2047 && sixteenth >> s.sixteenth_shift <= 2047);
    REQUIRE(s.quarter_shift == 0 || quarter >> (s.quarter_shift - 1) > 2047);
    /* Comparing what may be compared keeps an invocation within the loop limit. */
    uint64_t runs = ((uint64_t)block * block / 8 + s.local - 1) / s.local;
    REQUIRE((s.give_up + 8) * runs < GPUME_ITERATIONS_MAX);
}

/* Asked for the next submission, it answers, and hears what that took. */
static bool step(struct gpume_sieve_switch *sieve, uint64_t full_ns, uint64_t sieve_ns)
{
    bool sieved = gpume_sieve_switch_next(sieve, 4);
    gpume_sieve_switch_measured(sieve, sieved, 4 * (sieved ? sieve_ns : full_ns), 4);
    return sieved;
}

static uint32_t sieved_of(
    struct gpume_sieve_switch *sieve, uint32_t count, uint64_t full_ns, uint64_t sieve_ns)
{
    uint32_t sieved = 0;
    for (uint32_t i = 0; i < count; i++) {
        sieved += step(sieve, full_ns, sieve_ns);
    }
    return sieved;
}

/* Submissions of one size, measured `depth` submissions after they were made. */
static uint32_t sieved_in_flight(
    uint32_t count, uint32_t depth, uint64_t full_ns, uint64_t sieve_ns)
{
    struct gpume_sieve_switch sieve = {0};
    bool sieved[200] = {false};
    uint32_t sum = 0;
    REQUIRE(count <= sizeof(sieved) / sizeof(*sieved));
    for (uint32_t i = 0; i < count; i++) {
        if (i >= depth) {
            bool was = sieved[i - depth];
            gpume_sieve_switch_measured(&sieve, was, 64 * (was ? sieve_ns : full_ns), 64);
        }
        sieved[i] = gpume_sieve_switch_next(&sieve, 64);
        sum += sieved[i];
    }
    return sum;
}

static void test_switch_in_flight(void)
{
    REQUIRE_EQUAL(sieved_in_flight(100, 3, 1000, 8000), 1); /* not one for each of those */
    REQUIRE_EQUAL(sieved_in_flight(100, 3, 1000, 400), 97);
    REQUIRE_EQUAL(sieved_in_flight(200, 3, 1000, 1100), 7); /* one in 32 */
}

/* The times of some submissions are missing. */
static void test_switch_untold(void)
{
    struct gpume_sieve_switch sieve = {0};
    REQUIRE_EQUAL(sieved_of(&sieve, 2, 0, 0), 2);
    REQUIRE(sieved_of(&sieve, 100, 1000, 8000) < 6);
    REQUIRE(sieved_of(&sieve, 100, 0, 0) < 6); /* what is known stays */
    sieve = (struct gpume_sieve_switch){0};
    REQUIRE_EQUAL(sieved_of(&sieve, 20, 0, 400), 1);
    REQUIRE(sieved_of(&sieve, 100, 1000, 400) > 95);
    sieve = (struct gpume_sieve_switch){0};
    REQUIRE(gpume_sieve_switch_next(&sieve, 4)); /* not told, a full search under way is */
    REQUIRE(!gpume_sieve_switch_next(&sieve, 4));
    gpume_sieve_switch_measured(&sieve, true, 0, 4);
    gpume_sieve_switch_measured(&sieve, false, 4000, 4);
    REQUIRE(sieved_of(&sieve, 100, 1000, 400) > 95);
}

static void test_switch(void)
{
    struct gpume_sieve_switch sieve = {0};
    REQUIRE(sieved_of(&sieve, 100, 1000, 400) == 99); /* the full search: once */
    REQUIRE(sieved_of(&sieve, 100, 1000, 1200) < 6);  /* noise: found out at once, then probed */
    REQUIRE(sieved_of(&sieve, 1000, 1000, 8000) <= 8);
    REQUIRE(sieved_of(&sieve, 400, 1000, 400) > 200); /* and found out again */
    REQUIRE(sieved_of(&sieve, 1000, 1000, 400) > 995);
    REQUIRE(sieved_of(&sieve, 1000, 300, 400) < 400); /* the device's clock has changed */
    /* A small submission that takes long by the field says nothing about large ones. */
    struct gpume_sieve_switch sizes = {0};
    for (uint32_t i = 0; i < 100; i++) {
        bool sieved = gpume_sieve_switch_next(&sizes, 1);
        gpume_sieve_switch_measured(&sizes, sieved, sieved ? 3000 : 2000, 1);
        REQUIRE_EQUAL(step(&sizes, 1000, 400), i != 1);
    }
    REQUIRE(!sizes.sizes[1].sieving);
    struct gpume_sieve_switch blind = {0};
    REQUIRE_EQUAL(sieved_of(&blind, 50, 0, 0), 50); /* a device that cannot tell time */
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
    REQUIRE(gpume_sieve_sifts(&usual)); /* block 8, window 7 */
    test_switch();
    test_switch_in_flight();
    test_switch_untold();
    return harness_verdict();
}
