/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans for the decoder's buffer, beside a simulation and a search through all plans. */
#include "encode/bits.h"
#include "harness.h"

#include <string.h>

enum { FRAMES = 400, FEW = 6, HIGHEST = 40 };

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

int main(void)
{
    test_fits();
    test_keeps();
    test_lowest();
    test_broken();
    return harness_verdict();
}
