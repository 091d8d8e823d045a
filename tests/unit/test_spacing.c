/* SPDX-License-Identifier: BSD-2-Clause */
/* Are frames equally far apart, and which rate suits them if not? */
#include "firstpass/spacing.h"

#include "harness.h"

/* `count` distances that repeat `pattern`, in microseconds, of a video at container_num /
 * container_den, are those of num / den. */
static void require_rate(const int64_t *pattern, size_t length, size_t count,
    uint32_t container_num, uint32_t container_den, uint32_t num, uint32_t den)
{
    struct gpume_distances distances = {.count = 0};
    for (size_t i = 0; i < count; i++) {
        REQUIRE(gpume_distances_add(&distances, pattern[i % length]));
    }
    REQUIRE(gpume_distances_rate(&distances, &container_num, &container_den));
    REQUIRE_EQUAL(container_num, num);
    REQUIRE_EQUAL(container_den, den);
    gpume_distances_finish(&distances);
}

#define RATE(count, container_num, container_den, num, den, ...)                                   \
    do {                                                                                           \
        static const int64_t pattern[] = {__VA_ARGS__};                                            \
        require_rate(pattern, sizeof(pattern) / sizeof(pattern[0]), count, container_num,          \
            container_den, num, den);                                                              \
    } while (0)

static void test_rates(void)
{
    /* 3:2 pulldown in microseconds and in milliseconds; a container that rounds 23.976 */
    RATE(400, 30000, 1001, 24000, 1001, 50050, 33367);
    RATE(400, 30000, 1001, 24000, 1001, 50000, 33000, 50000, 34000);
    RATE(400, 2997, 125, 24000, 1001, 41000, 42000, 42000, 41000, 42000, 42000, 42000);
    /* A few frames leave both open: the container's family. */
    RATE(9, 30000, 1001, 24000, 1001, 41000, 42000, 42000);
    RATE(9, 24, 1, 24, 1, 41000, 42000, 42000);
    /* A browser's times, a container that counts milliseconds, and frames at 60/1.001 in it */
    RATE(400, 1000, 1, 25, 1, 32000, 47000, 51000, 33000, 37000);
    RATE(400, 1000, 1, 60000, 1001, 17000, 17000, 16000, 17000, 17000, 16000, 17000, 17000, 16000,
        17000, 17000, 16000, 17000, 17000, 16000, 17000, 17000, 17000, 16000);
    RATE(400, 1000, 1, 120, 1, 8000, 8000, 9000);
    /* A phone: 30 per second, of which some are missing; a single frame that is missing */
    RATE(400, 60000, 1001, 30000, 1001, 33367, 33400, 33300, 33367, 33367, 33367, 33367, 66700);
    RATE(95, 25, 1, 25, 1, 40000, 40000, 40000, 40000, 40000, 40000, 40000, 40000, 120000);
    RATE(400, 25, 1, 50, 1, 20000);
    /* More than a quarter is missing; single distances that do not fit leave the mean */
    RATE(44, 25, 1, 25, 1, 40000, 80000);
    RATE(400, 1000, 1, 30, 1, 33000, 34000, 33000, 67000, 100000, 66000, 133000);
    RATE(300, 25, 1, 50, 3, 40000, 80000, 60000);
    /* High speed, with a gap; bursts of five frames, 50 of which come in a second */
    RATE(400, 1000, 1, 240, 1, 4167, 4167, 4166, 4167, 4167, 4166, 4167, 4167, 4166, 20833);
    RATE(400, 1000, 1, 50, 1, 2000, 2000, 2000, 2000, 92000);
    /* No usual rate */
    RATE(400, 30, 1, 50, 7, 140000, 100000, 180000);
    RATE(400, 30, 1, 1, 10, 10000000);
    RATE(400, 30, 1, 15, 1, 66667, 66666, 66667);
    RATE(1, 30, 1, 10, 1, 100000);
}

/* What is not above 0 is no distance, and only a limited number is kept. */
static void test_limits(void)
{
    struct gpume_distances distances = {.count = 0};
    uint32_t num = 7, den = 3;
    REQUIRE(gpume_distances_add(&distances, 0) && gpume_distances_add(&distances, -40000));
    REQUIRE(!gpume_distances_rate(&distances, &num, &den));
    REQUIRE_EQUAL(num, 7);
    for (int i = 0; i < 100000; i++) {
        REQUIRE(gpume_distances_add(&distances, i < 60000 ? 20000 : 40000));
    }
    REQUIRE_EQUAL(distances.count, 65536);
    REQUIRE(gpume_distances_rate(&distances, &num, &den));
    REQUIRE_EQUAL(num, 50);
    gpume_distances_finish(&distances);
}

/* Adds times in milliseconds at 25 per second; the number of the first that is not in its place. */
static int first_uneven(const int64_t *times, int count, bool *late)
{
    struct gpume_spacing spacing;
    gpume_spacing_init(&spacing, 25, 1);
    for (int i = 0; i < count; i++) {
        if (!gpume_spacing_add(&spacing, times[i] * 1000)) {
            *late = gpume_spacing_is_late(&spacing);
            return i;
        }
    }
    return -1;
}

static void test_spacing(void)
{
    static const int64_t even[] = {7, 47, 87, 128, 166, 207}, early[] = {7, 47, 60, 87, 127},
                         late[] = {7, 47, 87, 167, 207}, half[] = {0, 40, 100};
    bool is_late = false;
    REQUIRE_EQUAL(first_uneven(even, 6, &is_late), -1);
    REQUIRE_EQUAL(first_uneven(early, 5, &is_late), 2);
    REQUIRE(!is_late);
    REQUIRE_EQUAL(first_uneven(late, 5, &is_late), 3);
    REQUIRE(is_late);
    REQUIRE_EQUAL(first_uneven(half, 3, &is_late), -1);
    struct gpume_spacing extremes;
    gpume_spacing_init(&extremes, 25, 1);
    REQUIRE(gpume_spacing_add(&extremes, INT64_MIN));
    REQUIRE(!gpume_spacing_add(&extremes, INT64_MAX) && !gpume_spacing_add(&extremes, 0));
}

int main(void)
{
    test_rates();
    test_limits();
    test_spacing();
    return harness_verdict();
}
