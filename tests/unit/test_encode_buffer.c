/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans for the decoder's buffer, beside a simulation and a search through all plans. */
#include "encode/bits.h"
#include "harness.h"

#include <string.h>

enum { FRAMES = 400, FEW = 6, MANY = 100000, HIGHEST = 40 };

static uint64_t seed = 5;

/* Bits of frames at level 0; each level takes a tenth off. */
static uint64_t sizes[FRAMES];

static uint64_t bits_of(const void *user, size_t frame, const uint8_t *levels)
{
    uint64_t bits = sizes[frame];
    (void)user;
    for (uint8_t i = 0; i < levels[frame]; i++) {
        bits -= bits / 10;
    }
    return bits;
}

static struct gpume_bits_buffer buffer_of(
    size_t frames, uint64_t size, uint64_t rate, uint8_t highest)
{
    return (struct gpume_bits_buffer){
        .frames = frames, .size = size, .rate = rate, .bits = bits_of, .highest = highest};
}

/* What is in the buffer at the least after a frame; negative: it ran empty. */
static int64_t least_left(const struct gpume_bits_buffer *buffer, const uint8_t *levels)
{
    const int64_t size = (int64_t)buffer->size;
    int64_t fill = size * 9 / 10, least = size;
    for (size_t i = 0; i < buffer->frames; i++) {
        fill -= (int64_t)bits_of(NULL, i, levels);
        least = fill < least ? fill : least;
        fill = (fill > 0 ? fill : 0) + (int64_t)buffer->rate;
        fill = fill < size ? fill : size;
    }
    return least;
}

static uint8_t highest_of(const uint8_t *levels, size_t count)
{
    uint8_t highest = 0;
    for (size_t i = 0; i < count; i++) {
        highest = levels[i] > highest ? levels[i] : highest;
    }
    return highest;
}

/* Frames that fit keep the lowest level. */
static void test_fits(void)
{
    const struct gpume_bits_buffer buffer = buffer_of(FRAMES, 1000, 100, HIGHEST);
    struct gpume_bits_plan plan;
    for (size_t i = 0; i < FRAMES; i++) {
        sizes[i] = i % 9 == 0 ? 790 : 10;
    }
    REQUIRE(gpume_bits_plan_init(&plan, &buffer));
    gpume_bits_plan_at(&plan, &buffer, 0);
    REQUIRE_EQUAL(highest_of(plan.levels, FRAMES), 0);
    REQUIRE_EQUAL(plan.broken, FRAMES);
    REQUIRE_EQUAL(plan.bits, 45 * 790 + 355 * 10);
    gpume_bits_plan_at(&plan, &buffer, 3);
    REQUIRE(plan.levels[0] == 3 && highest_of(plan.levels, FRAMES) == 3);
    gpume_bits_plan_free(&plan);
}

/* Random sizes: the buffer never runs empty, and a tenth of it is kept. */
static void test_keeps(void)
{
    const struct gpume_bits_buffer buffer = buffer_of(FRAMES, 5000, 1000, HIGHEST);
    struct gpume_bits_plan plan;
    REQUIRE(gpume_bits_plan_init(&plan, &buffer));
    for (int run = 0; run < 50; run++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < FRAMES; i++) {
            sizes[i] = harness_random(&seed) % (i / 40 % 2 ? 4000 : 1500);
        }
        sizes[0] = 20000;
        gpume_bits_plan_at(&plan, &buffer, 2);
        REQUIRE(least_left(&buffer, plan.levels) >= 500);
        REQUIRE_EQUAL(plan.broken, FRAMES);
        for (size_t i = 0; i < FRAMES; i++) {
            REQUIRE(plan.levels[i] >= 2);
            sum += bits_of(NULL, i, plan.levels);
        }
        REQUIRE_EQUAL(plan.bits, sum);
    }
    gpume_bits_plan_free(&plan);
}

/* No plan does with a lower highest level: all plans of a few frames are tried. */
static void test_lowest(void)
{
    const struct gpume_bits_buffer buffer = buffer_of(FEW, 1000, 200, 7);
    struct gpume_bits_plan plan;
    REQUIRE(gpume_bits_plan_init(&plan, &buffer));
    for (int run = 0; run < 40; run++) {
        uint8_t levels[FEW] = {0}, least = buffer.highest + 1;
        for (size_t i = 0; i < FEW; i++) {
            sizes[i] = harness_random(&seed) % 700;
        }
        for (bool more = true; more;) {
            const uint8_t highest = highest_of(levels, FEW);
            least = highest < least && least_left(&buffer, levels) >= 100 ? highest : least;
            more = false;
            for (size_t i = 0; i < FEW && !more; i++) {
                more = levels[i] < buffer.highest;
                levels[i] = more ? (uint8_t)(levels[i] + 1) : 0;
            }
        }
        gpume_bits_plan_at(&plan, &buffer, 0);
        REQUIRE(least > buffer.highest || highest_of(plan.levels, FEW) == least);
    }
    gpume_bits_plan_free(&plan);
}

/* A frame that fits at no level. Those after it are planned all the same. */
static void test_broken(void)
{
    const struct gpume_bits_buffer buffer = buffer_of(20, 1000, 100, 4);
    struct gpume_bits_plan plan;
    REQUIRE(gpume_bits_plan_init(&plan, &buffer));
    for (size_t i = 0; i < 20; i++) {
        sizes[i] = i == 9 ? 5000 : 20;
    }
    gpume_bits_plan_at(&plan, &buffer, 0);
    REQUIRE_EQUAL(plan.broken, 9);
    REQUIRE_EQUAL(plan.levels[9], 4);
    REQUIRE_EQUAL(plan.levels[19], 0);
    gpume_bits_plan_free(&plan);
}

/* Sizes that also depend on the frame before, as those of P frames do: one that is finer has to
 * code what that one lacks. Counts its calls. */
static uint64_t steps;

static uint64_t linked_bits_of(const void *user, size_t frame, const uint8_t *levels)
{
    const uint32_t before = frame > 0 ? levels[frame - 1] : 0, level = levels[frame];
    const uint64_t bits = sizes[frame % FRAMES];
    (void)user;
    steps++;
    return bits * 32 / (32 + 3 * level) + (before > level ? bits * (before - level) / 16 : 0);
}

/* The plan as the header describes it, which takes all frames out of the buffer anew after every
 * change. A frame that is too large raises the lowest levels since the buffer was full, but of 250
 * frames before it at the most. */
static void plan_plainly(const struct gpume_bits_buffer *buffer, uint8_t lowest, uint8_t *levels)
{
    memset(levels, lowest, buffer->frames);
    for (size_t last = 0; last < buffer->frames; last++) {
        size_t since = 0, raised = 1;
        while (raised > 0) {
            uint64_t fill = buffer->size / 10 * 9, bits = 0;
            size_t full = since;
            uint8_t least = buffer->highest;
            for (size_t i = 0; i <= last; i++) {
                fill = i > 0 ? (fill > bits ? fill - bits : 0) + buffer->rate : fill;
                fill = fill < buffer->size ? fill : buffer->size;
                full = fill == buffer->size && i >= since ? i : full;
                bits = buffer->bits(NULL, i, levels);
            }
            raised = 0;
            if (fill >= bits + buffer->size / 10) {
                break;
            }
            since = last - full > 250 ? last - 250 : full;
            for (size_t i = since; i <= last; i++) {
                least = levels[i] < least ? levels[i] : least;
            }
            for (size_t i = since; i <= last && least < buffer->highest; i++) {
                raised += levels[i] == least ? 1 : 0;
                levels[i] = levels[i] == least ? (uint8_t)(least + 1) : levels[i];
            }
        }
    }
}

/* Buffers from wide to tight, of sizes that jump: each plan is the plain one. */
static void test_plain(void)
{
    uint8_t levels[FRAMES];
    for (uint64_t run = 0; run < 60; run++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < FRAMES; i++) {
            const uint64_t most = i / (20 + 7 * run) % 2 ? 4000 : 1000;
            sizes[i] = harness_random(&seed) % (harness_random(&seed) % 40 == 0 ? 30000 : most);
            sum += sizes[i];
        }
        const uint64_t rate = sum / FRAMES * (run % 10 + 2) / 10;
        struct gpume_bits_buffer buffer = buffer_of(FRAMES,
            rate * (run % 3 == 0      ? 6
                       : run % 3 == 1 ? 40
                                      : 300),
            rate, HIGHEST);
        struct gpume_bits_plan plan;
        buffer.bits = linked_bits_of;
        REQUIRE(gpume_bits_plan_init(&plan, &buffer));
        gpume_bits_plan_at(&plan, &buffer, (uint8_t)(run % 5));
        plan_plainly(&buffer, (uint8_t)(run % 5), levels);
        REQUIRE(memcmp(plan.levels, levels, FRAMES) == 0);
        gpume_bits_plan_free(&plan);
    }
}

/* An hour of frames that take three times what arrives: a frame's size is asked for about as often
 * as levels rise. */
static void test_steps(void)
{
    struct gpume_bits_buffer buffer = buffer_of(MANY, 25000, 1000, HIGHEST);
    struct gpume_bits_plan plan;
    for (size_t i = 0; i < FRAMES; i++) {
        sizes[i] = i % 50 == 0 ? 20000 : 2000 + harness_random(&seed) % 1400;
    }
    buffer.bits = linked_bits_of;
    REQUIRE(gpume_bits_plan_init(&plan, &buffer));
    steps = 0;
    gpume_bits_plan_at(&plan, &buffer, 0);
    REQUIRE(plan.broken == MANY && highest_of(plan.levels, MANY) >= 15);
    REQUIRE(steps >= MANY && steps < (uint64_t)MANY * 2 * HIGHEST);
    gpume_bits_plan_free(&plan);
}

int main(void)
{
    test_fits();
    test_keeps();
    test_lowest();
    test_broken();
    test_plain();
    test_steps();
    return harness_verdict();
}
