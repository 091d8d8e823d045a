/* SPDX-License-Identifier: BSD-2-Clause */
/* What is asked for of most frames is expected of the next ones. */
#include "encode/habits.h"
#include "harness.h"

static struct gpume_habits habits;

/* Asks for (1, 0) of every frame, and for the other prediction of every `period`th one. */
static void ask(uint64_t begin, uint64_t end, uint32_t past, uint32_t future, uint64_t period)
{
    for (uint64_t frame = begin; frame < end; frame++) {
        gpume_habits_note(&habits, frame, 1, 0);
        if (frame % period == 0) {
            gpume_habits_note(&habits, frame, past, future);
        }
    }
}

static void test_learns(void)
{
    habits = (struct gpume_habits){0};
    REQUIRE(!gpume_habits_expects(&habits, 1, 0));
    ask(0, 7, 2, 1, 1);
    REQUIRE(!gpume_habits_expects(&habits, 2, 1)); /* of too few frames yet */
    ask(7, 8, 2, 1, 1);
    REQUIRE(gpume_habits_expects(&habits, 1, 0) && gpume_habits_expects(&habits, 2, 1));
    REQUIRE(!gpume_habits_expects(&habits, 1, 2) && !gpume_habits_expects(&habits, 0, 1));
    ask(8, 40, 2, 1, 2);
    REQUIRE(gpume_habits_expects(&habits, 2, 1)); /* of every other frame */
    ask(40, 80, 2, 1, 3);
    REQUIRE(!gpume_habits_expects(&habits, 2, 1) && gpume_habits_expects(&habits, 1, 0));
}

static void test_forgets(void)
{
    habits = (struct gpume_habits){0};
    gpume_habits_expect(&habits, GPUME_HABIT_DISTANCES - 1, GPUME_HABIT_DISTANCES - 1);
    gpume_habits_expect(&habits, 1, 0);
    ask(0, 8, 3, 3, 1);
    REQUIRE(gpume_habits_expects(&habits, GPUME_HABIT_DISTANCES - 1, GPUME_HABIT_DISTANCES - 1));
    ask(8, 10, 3, 3, 1);
    REQUIRE(!gpume_habits_expects(&habits, GPUME_HABIT_DISTANCES - 1, GPUME_HABIT_DISTANCES - 1));
    gpume_habits_note(&habits, 1000, 0, 1); /* long after */
    REQUIRE(!gpume_habits_expects(&habits, 1, 0));
}

/* Frames in any order. */
static void test_order(void)
{
    habits = (struct gpume_habits){0};
    for (uint64_t frame = 200; frame-- > 100;) {
        gpume_habits_note(&habits, frame, 1, 1);
    }
    REQUIRE(gpume_habits_expects(&habits, 1, 1));
    gpume_habits_note(&habits, 216, 0, 1);
    REQUIRE(!gpume_habits_expects(&habits, 1, 1));
    for (uint64_t frame = 201; frame < 209; frame++) {
        gpume_habits_note(&habits, frame, 1, 1);
    }
    REQUIRE(gpume_habits_expects(&habits, 1, 1));
}

int main(void)
{
    test_learns();
    test_forgets();
    test_order();
    return harness_verdict();
}
