/* SPDX-License-Identifier: BSD-2-Clause */
#include "firstpass/spacing.h"

#include "base/base.h"

#include <math.h>

#define SECOND INT64_C(1000000)
#define DISTANCES_MAX ((size_t)1 << 16) /* three quarters of an hour at 24 frames per second */
#define DENOMINATOR_MAX 1000u           /* of rates that have no name */
#define RATE_USUAL 120                  /* more is an exception */

void gpume_spacing_init(struct gpume_spacing *spacing, uint32_t rate_num, uint32_t rate_den)
{
    *spacing = (struct gpume_spacing){.num = rate_num, .den = rate_den};
}

static int64_t half_frame(const struct gpume_spacing *spacing)
{
    return (int64_t)((uint64_t)SECOND * spacing->den / spacing->num) / 2;
}

bool gpume_spacing_add(struct gpume_spacing *spacing, int64_t time_us)
{
    if (spacing->count == 0) {
        spacing->first_us = time_us;
    }
    const uint64_t n = spacing->count++;
    /* seconds, and the rest in parts of a second: without overflow for 2^32 frames */
    const uint64_t seconds = n * spacing->den / spacing->num,
                   rest = n * spacing->den % spacing->num;
    const int64_t expected =
        (int64_t)(seconds * (uint64_t)SECOND + rest * (uint64_t)SECOND / spacing->num);
    /* times of hostile inputs may overflow */
    const int64_t difference =
        (int64_t)((uint64_t)time_us - (uint64_t)spacing->first_us - (uint64_t)expected);
    spacing->last_us = time_us;
    spacing->early = difference < spacing->early ? difference : spacing->early;
    spacing->late = difference > spacing->late ? difference : spacing->late;
    return (uint64_t)spacing->late - (uint64_t)spacing->early <= (uint64_t)half_frame(spacing);
}

bool gpume_spacing_is_late(const struct gpume_spacing *spacing)
{
    return spacing->late > half_frame(spacing);
}

bool gpume_distances_add(struct gpume_distances *distances, int64_t us)
{
    if (us <= 0 || distances->count == DISTANCES_MAX) {
        return true;
    }
    int64_t *items = gpume_grow(distances->us, distances->count, &distances->room, sizeof(*items));
    if (!items) {
        return false;
    }
    distances->us = items;
    distances->us[distances->count++] = us;
    return true;
}

static int by_size(const void *a, const void *b)
{
    const int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

/* Times may be rounded to milliseconds, which makes two distances of 16 and 17. */
static bool is_near(int64_t us, int64_t other)
{
    const int64_t apart = us > other ? us - other : other - us;
    return apart <= other / 10 || apart <= SECOND / 1000;
}

static double sum_of(const int64_t *us, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)us[i];
    }
    return sum;
}

/* One of 24 and 24000/1001, and the like, is as good as the other for a few frames: then the
 * container's rate tells to which family the video belongs. */
static bool name_usual_rate(double rate, bool ntsc, uint32_t *num, uint32_t *den)
{
    static const struct {
        uint32_t num, den;
    } usual[] = {{24000, 1001}, {24, 1}, {25, 1}, {30000, 1001}, {30, 1}, {48, 1}, {50, 1},
        {60000, 1001}, {60, 1}, {100, 1}, {120000, 1001}, {120, 1}};
    double least = 0.005;
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
        const double off = fabs((double)usual[i].num / (double)usual[i].den / rate - 1);
        const bool is_other = ntsc && usual[i].den == 1 && usual[i].num % 6 == 0;
        if (off <= least && !is_other) {
            least = off;
            *num = usual[i].num;
            *den = usual[i].den;
        }
    }
    return least < 0.005;
}

static void name_rate(double rate, bool ntsc, uint32_t *num, uint32_t *den)
{
    bool found = name_usual_rate(rate, ntsc, num, den);
    for (uint32_t d = 1; !found && d <= DENOMINATOR_MAX; d++) {
        const double n = fmax(round(rate * d), 1);
        *num = (uint32_t)n;
        *den = d;
        found = fabs(n / d / rate - 1) <= 0.001;
    }
}

/* Whether frames of a usual rate are missing: all sorted distances are whole multiples of the
 * least. */
static bool name_full_rate(const int64_t *us, size_t count, bool ntsc, uint32_t *num, uint32_t *den)
{
    size_t end = 1;
    while (end < count && is_near(us[end], us[0])) {
        end++;
    }
    uint32_t full_num = 0, full_den = 0;
    if (!name_usual_rate(
            (double)SECOND * (double)end / sum_of(us, end), ntsc, &full_num, &full_den)) {
        return false;
    }
    const double frame = (double)SECOND * full_den / full_num;
    for (size_t i = 0; i < count; i++) {
        const double places = round((double)us[i] / frame);
        const double apart = fabs((double)us[i] - places * frame);
        if (apart > frame / 10 && apart > (double)SECOND / 1000) {
            return false;
        }
    }
    *num = full_num;
    *den = full_den;
    return true;
}

bool gpume_distances_rate(struct gpume_distances *distances, uint32_t *num, uint32_t *den)
{
    const size_t count = distances->count;
    if (count == 0) {
        return false;
    }
    int64_t *us = distances->us;
    qsort(us, count, sizeof(*us), by_size);
    const int64_t middle = us[count / 2];
    size_t first = 0, end = count;
    while (!is_near(us[first], middle)) {
        first++;
    }
    while (!is_near(us[end - 1], middle)) {
        end--;
    }
    const bool ntsc = *den % 1001 == 0;
    const double all = sum_of(us, count), near = sum_of(us + first, end - first);
    const bool is_usual = middle >= SECOND / RATE_USUAL;
    const bool prevails = end - first >= count - count / 4 && (is_usual || near >= all / 2);
    if (!prevails && name_full_rate(us, count, ntsc, num, den)) {
        return true;
    }
    name_rate((double)SECOND * (prevails ? (double)(end - first) / near : (double)count / all),
        ntsc, num, den);
    return true;
}

void gpume_distances_finish(struct gpume_distances *distances)
{
    free(distances->us);
}
