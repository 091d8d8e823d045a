/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/gradual.h"

#include <stddef.h>

/* A window of frames is a change if all of these hold. */
#define LEVELS_LEAST 8.0  /* root mean square difference of its ends, in samples of 8 bits */
#define BEND_MOST 0.20    /* squared distance of a frame from the line, of its squared length */
#define BEND_CORE 0.15    /* the same of frames in the core */
#define BEND_SHARE 0.7    /* what a bend of that size takes from the confidence */
#define BACK_MOST 0.05    /* steps backward along the line, of its length */
#define STEP_MOST 0.4     /* one step forward; a cut is one step of 1 */
#define DETAIL_MOST 0.85  /* detail around the middle, of the mean of the ends; theory: 0.5 */
#define DETAIL_LEAST 0.2  /* less is a fade-out followed by a fade-in */
#define DETAIL_FULL 0.65  /* up to here the confidence is not reduced */
#define UNIFORM_MOST 0.04 /* detail of an end, of the other one's: it is a uniform picture */
#define CORE_LEAST 3u     /* frames between CORE_BEGIN and CORE_END of the line */
#define CORE_BEGIN 0.15
#define CORE_END 0.85

/* Frames between the ends of a window, from short to long. */
static const uint32_t spans[] = {
    5, 7, 9, 12, 16, 20, 24, 32, 40, 48, 64, 80, GPUME_GRADUAL_SPAN_MAX};

struct window {
    const struct gpume_gradual *gradual;
    uint64_t begin, end;
    double size; /* squared length of the line from begin to end */
    double bend; /* largest squared distance of a core frame from the line */
    uint32_t core;
    double core_first, core_last; /* places on the line of the core's ends */
    uint64_t core_begin;
};

static const struct gpume_thumbnail *thumbnail_of(const struct gpume_gradual *gradual, uint64_t i)
{
    return &gradual->ring[i % GPUME_GRADUAL_FRAMES].thumbnail;
}

static double energy_of(const struct gpume_gradual *gradual, uint64_t i)
{
    return gradual->ring[i % GPUME_GRADUAL_FRAMES].energy;
}

/* Follows the frames along the line. False: they leave it, turn back, or jump. */
static bool follow(struct window *window)
{
    const struct gpume_thumbnail *origin = thumbnail_of(window->gradual, window->begin);
    const struct gpume_thumbnail *end = thumbnail_of(window->gradual, window->end);
    double before = 0;
    for (uint64_t i = window->begin + 1; i <= window->end; i++) {
        const struct gpume_thumbnail *frame = thumbnail_of(window->gradual, i);
        const double along = (double)gpume_thumbnail_dot(origin, frame, end);
        const double place = along / window->size;
        const double bend = (double)gpume_thumbnail_dot(origin, frame, frame) - place * along;
        if (bend > BEND_MOST * window->size || place < before - BACK_MOST ||
            place > before + STEP_MOST) {
            return false;
        }
        if (place >= CORE_BEGIN && place <= CORE_END) {
            window->bend = bend > window->bend ? bend : window->bend;
            if (window->core++ == 0) {
                window->core_begin = i;
                window->core_first = place;
            }
            window->core_last = place;
        }
        before = place;
    }
    return window->core >= CORE_LEAST;
}

/* Detail in the middle third of the core, of the mean of the ends. */
static double detail(const struct window *window)
{
    const uint64_t begin = window->core_begin + window->core / 3;
    const uint64_t end = window->core_begin + window->core - window->core / 3;
    double sum = 0;
    for (uint64_t i = begin; i < end; i++) {
        sum += energy_of(window->gradual, i);
    }
    const double ends =
        energy_of(window->gradual, window->begin) + energy_of(window->gradual, window->end);
    return ends > 0 ? 2 * sum / ((double)(end - begin) * ends) : 1;
}

/* A fade if the frame next to one end of the change is uniform. */
static enum gpume_change_kind kind_of(
    const struct gpume_gradual *gradual, const struct gpume_change *change)
{
    const double begin = energy_of(gradual, change->first - 1);
    const double end = energy_of(gradual, change->last + 1);
    return end < UNIFORM_MOST * begin   ? GPUME_CHANGE_FADE_OUT
           : begin < UNIFORM_MOST * end ? GPUME_CHANGE_FADE_IN
                                        : GPUME_CHANGE_DISSOLVE;
}

/* The mixed frames: the core, extended to both ends at its own pace. */
static void place_ends(const struct window *window, struct gpume_change *change)
{
    const double pace = (window->core_last - window->core_first) / (double)(window->core - 1);
    const uint64_t core_end = window->core_begin + window->core - 1;
    const uint64_t before = pace > 0 ? (uint64_t)(window->core_first / pace) : 0;
    const uint64_t after = pace > 0 ? (uint64_t)((1 - window->core_last) / pace) : 0;
    const uint64_t first_most = window->core_begin - window->begin - 1;
    const uint64_t last_most = window->end - core_end - 1;
    change->first = window->core_begin - (before < first_most ? before : first_most);
    change->last = core_end + (after < last_most ? after : last_most);
}

static bool examine(struct window *window, struct gpume_change *change)
{
    const double least = LEVELS_LEAST * 64 * LEVELS_LEAST * 64 * GPUME_THUMBNAIL_CELLS;
    const struct gpume_thumbnail *begin = thumbnail_of(window->gradual, window->begin);
    const struct gpume_thumbnail *end = thumbnail_of(window->gradual, window->end);
    window->size = (double)gpume_thumbnail_dot(begin, end, end);
    if (window->size < least || !follow(window)) {
        return false;
    }
    const double left = detail(window);
    const double bend = window->bend / (BEND_CORE * window->size);
    if (left < DETAIL_LEAST || left > DETAIL_MOST || bend > 1) {
        return false;
    }
    place_ends(window, change);
    change->kind = kind_of(window->gradual, change);
    change->confidence = gpume_limit_to_one(
        1 - BEND_SHARE * bend * bend -
        gpume_limit_to_one((left - DETAIL_FULL) / (DETAIL_MOST - DETAIL_FULL)) / 2);
    change->weight = window->size * change->confidence;
    return true;
}

int gpume_gradual_put(struct gpume_gradual *gradual, const struct gpume_thumbnail *thumbnail,
    double energy, struct gpume_changes *changes)
{
    const uint64_t end = gradual->frames++;
    gradual->ring[end % GPUME_GRADUAL_FRAMES].thumbnail = *thumbnail;
    gradual->ring[end % GPUME_GRADUAL_FRAMES].energy = energy;
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]) && spans[i] <= end; i++) {
        struct window window = {.gradual = gradual, .begin = end - spans[i], .end = end};
        struct gpume_change found;
        if (examine(&window, &found) && gpume_changes_add(changes, &found) != GPUME_OK) {
            return GPUME_NOMEM;
        }
    }
    return GPUME_OK;
}
