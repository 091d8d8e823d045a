/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds gradual changes of scene: dissolves, fades from and to a uniform picture, and wipes. One
 * thread.
 *
 * While one scene turns into another, every frame is a mixture (1 - a) A + a B of both, with a
 * rising from 0 to 1. Two properties of mixtures decide:
 *   - Thumbnails of the frames lie on a straight line from A to B, and move along it in one
 *     direction. Camera motion bends the line. This is judged cell by cell, so that what lies above
 *     both scenes, such as a logo or a time code, and what moves in a part of the picture, does not
 *     hide the line of the others.
 *   - The variance of a mixture of independent pictures, (1 - a)^2 var(A) + a^2 var(B), stays below
 *     the straight line between the variances of the ends, in the middle by half. Motion and
 *     changes of light do not reduce it. (Alattar 1993, "Detecting and compressing dissolve regions
 *     in video sequences with a DVI multimedia image compression algorithm")
 * A fade is a mixture with a uniform picture. (Lienhart 1999, "Comparison of automatic shot
 * boundary detection algorithms") In a wipe each cell changes from A to B at its own time,
 * neighbours at nearly the same. After any of them, motion does not explain B from A.
 */
#include "encode/changes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* A window of frames is looked at if all of these hold. */
#define LEVELS_LEAST 6.0 /* root mean square difference of its ends, in samples of 8 bits */
#define BACK_MOST 0.08   /* steps backward along the line, of its length */
#define STEP_MOST 0.45   /* one step forward; a cut is one step of 1 */
#define CORE_LEAST 3u    /* frames between CORE_BEGIN and CORE_END of the line */
#define CORE_BEGIN 0.15
#define CORE_END 0.85
#define SLACK (3 * GPUME_THUMBNAIL_LEVEL)         /* by which a cell may leave its line */
#define SLACK_PART 0.25                           /* and the same of the difference of its ends */
#define VOTE_MOST (32 * GPUME_THUMBNAIL_LEVEL)    /* difference from which a cell counts fully */
#define CHANGED_LEAST (3 * GPUME_THUMBNAIL_LEVEL) /* of a region whose detail counts */
#define FLAT_DETAIL 4.0f                          /* variance up to which a region is flat */
#define FLAT_PART 0.05f                           /* and of that of the other end */
#define FLAT_SHARE 0.8                            /* of regions, from which a picture is uniform */
#define WIPE_LEAST 6u      /* frames in the core: less is an object that crosses */
#define WIPE_MOST 48u      /* between its ends: more is text that comes line by line */
#define WIPE_FLAT_MOST 0.9 /* share of flat regions of an end: it fills with text */
#define STRIDE 32u         /* frames of a window for which it moves by one frame more at a time */
#define CARD_LEVELS 20.0   /* as LEVELS_LEAST, between uniform pictures */
#define DISTINCT 0.1       /* confidence below which nothing is listed */

/* Frames between the ends of a window, from short to long. */
static const uint32_t spans[] = {
    5, 7, 9, 12, 16, 20, 24, 32, 40, 48, 64, 80, GPUME_GRADUAL_SPAN_MAX};

struct window {
    const struct gpume_gradual *gradual;
    uint64_t begin, end;
    int32_t differences[GPUME_GRADUAL_CELLS];  /* of its ends */
    double size;                               /* sum of their squares */
    double places[GPUME_GRADUAL_SPAN_MAX + 1]; /* of each frame on the line from 0 to 1 */
    uint32_t core;
    double core_first, core_last; /* places of the core's ends */
    uint64_t core_begin;
};

/* What is found of a window. */
struct evidence {
    double straight;             /* share of the cells' difference that follows the line */
    double detail;               /* in the middle, of the mean of the ends; theory: 0.5 */
    double switched;             /* share of the difference in cells that change at one time */
    double order;                /* how near in time neighbours do */
    double flat_begin, flat_end; /* shares of uniform regions */
    struct gpume_unlike unlike;  /* of the ends */
    double lasting;              /* share that stays unexplained some frames beyond the ends */
};

static const struct gpume_gradual_frame *frame_of(const struct gpume_gradual *gradual, uint64_t i)
{
    return &gradual->ring[i % GPUME_GRADUAL_FRAMES];
}

/* What is left of the difference of two frames without that of their means. Of frames without any
 * structure nothing would be left. */
static struct gpume_unlike compare_level(
    const struct gpume_gradual *gradual, uint64_t a, uint64_t b, bool moves)
{
    const struct gpume_thumbnail *first = &frame_of(gradual, a)->thumbnail;
    const struct gpume_thumbnail *second = &frame_of(gradual, b)->thumbnail;
    struct gpume_thumbnail level;
    struct gpume_unlike unlike;
    gpume_thumbnail_level(&level, second, first);
    gpume_thumbnail_compare(&unlike, first, &level, moves);
    if (unlike.structure == 1) {
        gpume_thumbnail_compare(&unlike, first, second, moves);
    }
    return unlike;
}

static bool measure_size(struct window *window)
{
    const int16_t *begin = frame_of(window->gradual, window->begin)->levels;
    const int16_t *end = frame_of(window->gradual, window->end)->levels;
    const double least = LEVELS_LEAST * GPUME_THUMBNAIL_LEVEL;
    int64_t sum = 0;
    for (uint32_t c = 0; c < GPUME_GRADUAL_CELLS; c++) {
        const int32_t difference = end[c] - begin[c];
        window->differences[c] = difference;
        sum += difference * difference;
    }
    window->size = (double)sum;
    return window->size >= least * least * GPUME_GRADUAL_CELLS;
}

/* Follows the frames along the line. False: they turn back, or jump. */
static bool follow_line(struct window *window)
{
    const int16_t *begin = frame_of(window->gradual, window->begin)->levels;
    for (uint64_t i = window->begin + 1; i <= window->end; i++) {
        const int16_t *levels = frame_of(window->gradual, i)->levels;
        const double before = window->places[i - window->begin - 1];
        int64_t sum = 0;
        for (uint32_t c = 0; c < GPUME_GRADUAL_CELLS; c++) {
            sum += window->differences[c] * (levels[c] - begin[c]);
        }
        const double place = (double)sum / window->size;
        if (place < before - BACK_MOST || place > before + STEP_MOST) {
            return false;
        }
        window->places[i - window->begin] = place;
        if (place >= CORE_BEGIN && place <= CORE_END) {
            if (window->core++ == 0) {
                window->core_begin = i;
                window->core_first = place;
            }
            window->core_last = place;
        }
    }
    return window->core >= CORE_LEAST;
}

static int32_t vote_of(const struct window *window, uint32_t cell)
{
    const int32_t size = abs(window->differences[cell]);
    return size < VOTE_MOST ? size : VOTE_MOST;
}

/* The share of the votes of cells that stay near their line, over the frames of the core. */
static double measure_straight(const struct window *window)
{
    const int16_t *begin = frame_of(window->gradual, window->begin)->levels;
    int64_t good = 0, all = 0;
    for (uint64_t i = window->core_begin; i < window->core_begin + window->core; i++) {
        const int16_t *levels = frame_of(window->gradual, i)->levels;
        const double place = window->places[i - window->begin];
        for (uint32_t c = 0; c < GPUME_GRADUAL_CELLS; c++) {
            const int32_t difference = window->differences[c];
            const double bend = levels[c] - begin[c] - place * difference;
            const double slack = SLACK + SLACK_PART * abs(difference);
            const int32_t vote = vote_of(window, c);
            all += vote;
            good += bend < slack && bend > -slack ? vote : 0;
        }
    }
    return all > 0 ? (double)good / (double)all : 0;
}

/* Whether the level changes in a region. */
static bool has_changed(const struct window *window, uint32_t region)
{
    const uint32_t x = region % GPUME_GRADUAL_REGIONS_X * 2;
    const uint32_t y = region / GPUME_GRADUAL_REGIONS_X * 2;
    const int32_t *first = window->differences + y * GPUME_GRADUAL_X + x;
    return abs(first[0]) + abs(first[1]) + abs(first[GPUME_GRADUAL_X]) +
               abs(first[GPUME_GRADUAL_X + 1]) >
           4 * CHANGED_LEAST;
}

/* Detail of the regions that change in the middle third of the core, of the mean of the ends. */
static double measure_detail(const struct window *window)
{
    const float *first = frame_of(window->gradual, window->begin)->details;
    const float *last = frame_of(window->gradual, window->end)->details;
    const uint64_t begin = window->core_begin + window->core / 3;
    const uint64_t end = window->core_begin + window->core - window->core / 3;
    double ends = 0, middle = 0;
    for (uint32_t r = 0; r < GPUME_GRADUAL_REGIONS; r++) {
        if (has_changed(window, r)) {
            ends += first[r] + last[r] + 1;
            for (uint64_t i = begin; i < end; i++) {
                middle += frame_of(window->gradual, i)->details[r];
            }
        }
    }
    return ends > 0 ? 2 * middle / ((double)(end - begin) * ends) : 1;
}

/* The share of regions that are flat in a frame, or flat beside the other one. */
static double measure_flat(
    const struct gpume_gradual_frame *frame, const struct gpume_gradual_frame *other)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < GPUME_GRADUAL_REGIONS; r++) {
        count +=
            frame->details[r] < FLAT_DETAIL || frame->details[r] < FLAT_PART * other->details[r];
    }
    return (double)count / GPUME_GRADUAL_REGIONS;
}

/* At which frame of the window a cell changes; 0: not at one time. */
static uint32_t find_switch(const struct window *window, uint32_t cell)
{
    const int32_t difference = window->differences[cell];
    const int32_t begin = frame_of(window->gradual, window->begin)->levels[cell];
    const uint32_t frames = (uint32_t)(window->end - window->begin);
    const double slack = SLACK + SLACK_PART * abs(difference);
    uint32_t before = 0, unfit = 0;
    if (abs(difference) < 8 * GPUME_THUMBNAIL_LEVEL) {
        return 0;
    }
    for (uint32_t i = 1; i < frames; i++) {
        const int32_t level = frame_of(window->gradual, window->begin + i)->levels[cell] - begin;
        const bool is_before = abs(level) < abs(difference - level);
        const double away = is_before ? abs(level) : abs(difference - level);
        before += is_before;
        unfit += away > slack;
    }
    /* The frames before must be the first ones. */
    for (uint32_t i = 1; i < frames; i++) {
        const int32_t level = frame_of(window->gradual, window->begin + i)->levels[cell] - begin;
        unfit += (abs(level) < abs(difference - level)) != (i <= before);
    }
    return unfit <= 1 + frames / 8 ? before + 1 : 0;
}

static void measure_wipe(const struct window *window, struct evidence *evidence)
{
    static const uint32_t steps[2] = {1, GPUME_GRADUAL_X};
    uint32_t times[GPUME_GRADUAL_CELLS], count = 0, pairs = 0, near = 0;
    uint64_t sum = 0, squares = 0;
    int64_t good = 0, all = 0;
    for (uint32_t c = 0; c < GPUME_GRADUAL_CELLS; c++) {
        times[c] = find_switch(window, c);
        all += vote_of(window, c);
        if (times[c] > 0) {
            good += vote_of(window, c);
            count++;
            sum += times[c];
            squares += times[c] * times[c];
        }
    }
    for (uint32_t c = 0; c < GPUME_GRADUAL_CELLS; c++) {
        for (uint32_t k = 0; k < 2; k++) {
            const bool inside = k == 0 ? c % GPUME_GRADUAL_X + 1 < GPUME_GRADUAL_X
                                       : c + GPUME_GRADUAL_X < GPUME_GRADUAL_CELLS;
            const uint32_t other = inside ? times[c + steps[k]] : 0;
            if (times[c] > 0 && other > 0) {
                pairs++;
                near += (uint32_t)abs((int32_t)times[c] - (int32_t)other);
            }
        }
    }
    evidence->switched = (double)good / (double)(all + 1);
    const double spread =
        count > 0 ? ((double)squares - (double)sum * (double)sum / count) / count : 0;
    const double distance = pairs > 0 ? (double)near / pairs : 1e6;
    evidence->order = spread > 0 ? gpume_limit_to_one(1 - distance * distance / spread) : 0;
}

/* The mixed frames: the core, extended to both ends at its own pace. */
static void place_ends(const struct window *window, struct gpume_change *change)
{
    const double pace = (window->core_last - window->core_first) / (double)(window->core - 1);
    const uint64_t core_end = window->core_begin + window->core - 1;
    const double far = 1e6;
    const double before = pace * far > window->core_first ? window->core_first / pace : 0;
    const double after = pace * far > 1 - window->core_last ? (1 - window->core_last) / pace : 0;
    const uint64_t first_most = window->core_begin - window->begin - 1;
    const uint64_t last_most = window->end - core_end - 1;
    change->first =
        window->core_begin - (before < (double)first_most ? (uint64_t)before : first_most);
    change->last = core_end + (after < (double)last_most ? (uint64_t)after : last_most);
}

/* The least share of the picture that stays unexplained between the ends, and some frames beyond
 * them: what passes before the camera leaves nothing. */
static double measure_lasting(const struct window *window, double share)
{
    const struct gpume_gradual *gradual = window->gradual;
    const uint64_t newest = gradual->frames - 1, beyond = GPUME_GRADUAL_BEYOND;
    const uint64_t before = window->begin > beyond ? window->begin - beyond : 0;
    const uint64_t after = window->end + beyond < newest ? window->end + beyond : newest;
    const uint64_t pairs[3][2] = {{before, window->end}, {window->begin, after}, {before, after}};
    for (size_t i = 0; i < 3; i++) {
        const struct gpume_unlike unlike = compare_level(gradual, pairs[i][0], pairs[i][1], true);
        share = unlike.share < share ? unlike.share : share;
    }
    return share;
}

/* 1 from `full` on. */
static double part_of(double value, double full)
{
    return gpume_limit_to_one(value / full);
}

static bool is_uniform(double flat)
{
    return flat > FLAT_SHARE;
}

/* Of a dissolve or fade. */
static double judge_mixture(const struct evidence *evidence)
{
    static const double weights[] = {8.58, -3.02, 4.60, 4.25, 3.18, 6.23, -19.85};
    const struct gpume_unlike *unlike = &evidence->unlike;
    const bool begin = is_uniform(evidence->flat_begin), end = is_uniform(evidence->flat_end);
    const double detail = begin && end ? 0.5 : evidence->detail;
    const double lasting = begin || end ? 1 : part_of(evidence->lasting, 0.5);
    const double values[] = {
        evidence->straight,
        detail < 1.2 ? detail : 1.2,
        gpume_saturate(unlike->residual, 4),
        gpume_saturate(unlike->structure, 0.3),
        part_of(evidence->straight, 0.8) * part_of(unlike->share, 0.6) * lasting *
            part_of(1.1 - detail, 0.35),
        lasting,
        1,
    };
    return gpume_confidence(gpume_score(weights, values, sizeof(values) / sizeof(values[0])));
}

static double judge_wipe(const struct evidence *evidence)
{
    static const double weights[] = {7.36, 3.74, 5.64, 4.44, 2.17, 4.50, 3.36, -26.5};
    const struct gpume_unlike *unlike = &evidence->unlike;
    const double order = part_of(evidence->order - 0.6, 0.3);
    const double values[] = {
        evidence->switched,
        order,
        gpume_saturate(unlike->residual, 4),
        unlike->share,
        gpume_saturate(unlike->structure, 0.3),
        gpume_saturate(unlike->plain, 6),
        part_of(evidence->switched, 0.4) * order * part_of(evidence->lasting, 0.5) *
            part_of(unlike->share, 0.6),
        1,
    };
    const double flat =
        evidence->flat_begin > evidence->flat_end ? evidence->flat_begin : evidence->flat_end;
    return gpume_confidence(gpume_score(weights, values, sizeof(values) / sizeof(values[0]))) *
           part_of(WIPE_FLAT_MOST - flat, 0.4);
}

/* A fade if the frame next to one end of the change is uniform; if both are, the darker one is
 * nothing. */
static enum gpume_change_kind kind_of(const struct window *window, const struct evidence *evidence)
{
    const bool begin = is_uniform(evidence->flat_begin), end = is_uniform(evidence->flat_end);
    const bool darkens = frame_of(window->gradual, window->end)->thumbnail.mean <
                         frame_of(window->gradual, window->begin)->thumbnail.mean;
    return end && (!begin || darkens) ? GPUME_CHANGE_FADE_OUT
           : begin                    ? GPUME_CHANGE_FADE_IN
                                      : GPUME_CHANGE_DISSOLVE;
}

static bool may_wipe(const struct window *window)
{
    return window->core >= WIPE_LEAST && window->end - window->begin <= WIPE_MOST;
}

/* What the evidence makes of the window. */
static void judge_window(
    const struct window *window, const struct evidence *evidence, struct gpume_change *change)
{
    const double least = CARD_LEVELS * GPUME_THUMBNAIL_LEVEL;
    const bool is_faint = is_uniform(evidence->flat_begin) && is_uniform(evidence->flat_end) &&
                          window->size < least * least * GPUME_GRADUAL_CELLS;
    const double mixture = is_faint ? 0 : judge_mixture(evidence);
    const double wipe = may_wipe(window) ? judge_wipe(evidence) : 0;
    change->kind = mixture < wipe ? GPUME_CHANGE_WIPE : kind_of(window, evidence);
    change->confidence = mixture < wipe ? wipe : mixture;
}

/* Nothing that is found later raises the confidence, so the costly steps are taken only where
 * something is left. */
static bool examine_window(struct window *window, struct gpume_change *change)
{
    if (!measure_size(window) || !follow_line(window)) {
        return false;
    }
    const struct gpume_gradual_frame *begin = frame_of(window->gradual, window->begin);
    const struct gpume_gradual_frame *end = frame_of(window->gradual, window->end);
    struct evidence evidence = {.straight = measure_straight(window),
        .detail = measure_detail(window),
        .flat_begin = measure_flat(begin, end),
        .flat_end = measure_flat(end, begin),
        .unlike = compare_level(window->gradual, window->begin, window->end, false)};
    if (may_wipe(window)) {
        measure_wipe(window, &evidence);
    }
    evidence.lasting = evidence.unlike.share;
    judge_window(window, &evidence, change);
    if (change->confidence >= DISTINCT) {
        evidence.unlike = compare_level(window->gradual, window->begin, window->end, true);
        evidence.lasting = evidence.unlike.share;
        judge_window(window, &evidence, change);
    }
    if (change->confidence >= DISTINCT) {
        evidence.lasting = measure_lasting(window, evidence.unlike.share);
        judge_window(window, &evidence, change);
        change->confidence *= gpume_thumbnail_other(&begin->thumbnail, &end->thumbnail);
    }
    place_ends(window, change);
    change->weight = change->confidence * change->confidence * window->size;
    return change->confidence >= DISTINCT;
}

static void fill_gradual_frame(struct gpume_gradual_frame *frame,
    const struct gpume_thumbnail *thumbnail, const struct gpume_energies *energies)
{
    frame->thumbnail = *thumbnail;
    for (uint32_t c = 0; c < GPUME_GRADUAL_CELLS; c++) {
        const uint32_t x = c % GPUME_GRADUAL_X, y = c / GPUME_GRADUAL_X;
        const int16_t *four = thumbnail->means + 2 * y * GPUME_THUMBNAIL_X + 2 * x;
        frame->levels[c] =
            (int16_t)((four[0] + four[1] + four[GPUME_THUMBNAIL_X] + four[GPUME_THUMBNAIL_X + 1]) /
                      4);
    }
    for (uint32_t r = 0; r < GPUME_GRADUAL_REGIONS; r++) {
        const uint32_t x = r % GPUME_GRADUAL_REGIONS_X, y = r / GPUME_GRADUAL_REGIONS_X;
        const uint32_t left = x * energies->blocks_x / GPUME_GRADUAL_REGIONS_X;
        const uint32_t top = y * energies->blocks_y / GPUME_GRADUAL_REGIONS_Y;
        const uint32_t right = (x + 1) * energies->blocks_x / GPUME_GRADUAL_REGIONS_X;
        const uint32_t bottom = (y + 1) * energies->blocks_y / GPUME_GRADUAL_REGIONS_Y;
        uint64_t sum = 0;
        uint32_t count = 0;
        for (uint32_t by = top; by == top || by < bottom; by++) {
            for (uint32_t bx = left; bx == left || bx < right; bx++) {
                sum += energies->energies[by * energies->blocks_x + bx];
                count++;
            }
        }
        frame->details[r] = (float)((double)sum / 256 / count);
    }
}

/* Adds the changes before frame `end`. */
static int find_changes(
    const struct gpume_gradual *gradual, uint64_t end, struct gpume_changes *changes)
{
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]) && spans[i] <= end; i++) {
        struct window window = {.gradual = gradual, .begin = end - spans[i], .end = end};
        struct gpume_change found;
        if (end % (spans[i] / STRIDE + 1) != 0) {
            continue;
        }
        if (examine_window(&window, &found) && gpume_changes_add(changes, &found) != GPUME_OK) {
            return GPUME_NOMEM;
        }
    }
    return GPUME_OK;
}

int gpume_gradual_put(struct gpume_gradual *gradual, const struct gpume_thumbnail *thumbnail,
    const struct gpume_energies *energies, struct gpume_changes *changes)
{
    const uint64_t frame = gradual->frames++;
    fill_gradual_frame(&gradual->ring[frame % GPUME_GRADUAL_FRAMES], thumbnail, energies);
    return frame >= GPUME_GRADUAL_BEYOND
               ? find_changes(gradual, frame - GPUME_GRADUAL_BEYOND, changes)
               : GPUME_OK;
}

int gpume_gradual_finish(struct gpume_gradual *gradual, struct gpume_changes *changes)
{
    const uint64_t end = gradual->frames;
    uint64_t frame = end > GPUME_GRADUAL_BEYOND ? end - GPUME_GRADUAL_BEYOND : 0;
    for (; frame < end; frame++) {
        if (find_changes(gradual, frame, changes) != GPUME_OK) {
            return GPUME_NOMEM;
        }
    }
    return GPUME_OK;
}
