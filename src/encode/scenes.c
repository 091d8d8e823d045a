/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/scenes.h"

#include "base/log.h"
#include "base/status.h"
#include "encode/costs.h"
#include "encode/gradual.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define REACH 4u  /* frames: the longest distance across a boundary; flashes are shorter */
#define AROUND 8u /* frames on either side to which a boundary is compared */
#define RING (2 * AROUND + 2)
#define FLAT 16u          /* intra cost per block below which a picture has nothing to predict */
#define MARGIN_WHOLE 0.15 /* between ratio and median, below which the confidence is reduced */
#define MARGIN_PART 0.25
#define COVERING 0.35    /* confidence of a gradual change that hides the cuts in it */
#define CHANGE_LEAST 4.0 /* squared change of the picture at a cut, of the usual one */
#define DISTINCT 0.1     /* a boundary below this confidence is not a candidate */
#define RATIO_ALONE 0.5  /* that the only boundary of a video must exceed to be a cut */
#define REPEATED 0.35    /* of a neighbour's ratio, below which a frame repeats the one before it */
#define UNUSUAL 0.75     /* ratio from which a boundary is likely a cut */

struct fact {
    uint64_t intra_cost;
    double ratio;  /* of the pair with the frame before */
    double change; /* squared distance of the thumbnails of that pair */
};

struct gpume_scenes {
    struct gpume_scenes_params params;
    struct gpume_log log;
    struct gpume_lookahead *lookahead;
    uint32_t blocks;
    uint64_t put, frames; /* so far; the lag lies between both (lookahead.h) */
    struct fact facts[RING];
    double *deviations;               /* of each square of the last frame */
    struct gpume_thumbnail thumbnail; /* of the last frame */
    struct gpume_thumbnail thumbnails[GPUME_LOOKAHEAD_LAG + 1]; /* of those put after it */
    struct gpume_gradual gradual;
    struct gpume_changes cuts, gradual_changes; /* at the end the latter has all */
};

static int add_change(
    struct gpume_scenes *scenes, struct gpume_changes *changes, const struct gpume_change *change)
{
    return gpume_changes_add(changes, change) == GPUME_OK
               ? GPUME_OK
               : gpume_log_nomem(&scenes->log, "the changes of scene");
}

static struct fact *fact_of(struct gpume_scenes *scenes, uint64_t frame)
{
    return &scenes->facts[frame % RING];
}

/* Cost of predicting the more detailed one of two frames from the other one, of its intra cost. */
static int find_ratio(struct gpume_scenes *scenes, uint64_t past, uint64_t frame, double *ratio)
{
    const uint64_t before = fact_of(scenes, past)->intra_cost;
    const uint64_t after = fact_of(scenes, frame)->intra_cost;
    const bool forward = after >= before / 2;
    struct gpume_frame_cost cost;
    GPUME_CHECK(
        gpume_lookahead_cost(scenes->lookahead, forward ? frame : past, past, frame, &cost));
    const double intra = (double)(forward ? after : before);
    const double inter = (double)cost.cost < intra ? (double)cost.cost : intra;
    *ratio = inter / (intra + (double)FLAT * scenes->blocks);
    return GPUME_OK;
}

/* The lowest ratio of all pairs across the boundary before `frame` that contain one of the two
 * frames at it. end: of the frames that are known. */
static int find_lowest(struct gpume_scenes *scenes, uint64_t frame, uint64_t end, double *lowest)
{
    for (uint64_t i = 1; i < REACH; i++) {
        double ratio = *lowest;
        if (frame + i < end) {
            GPUME_CHECK(find_ratio(scenes, frame - 1, frame + i, &ratio));
            *lowest = ratio < *lowest ? ratio : *lowest;
        }
        if (frame >= i + 1) {
            GPUME_CHECK(find_ratio(scenes, frame - 1 - i, frame, &ratio));
            *lowest = ratio < *lowest ? ratio : *lowest;
        }
    }
    return GPUME_OK;
}

static int order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof(values[0]), order);
    return count > 0 ? values[count / 2] : 0;
}

/* Does the boundary show what is usual? Not if it is likely a cut, nor if a frame is repeated
 * there, by a higher frame rate or as drawings often are. end: of the frames that are known. */
static bool is_typical(struct gpume_scenes *scenes, uint64_t frame, uint64_t end)
{
    const double ratio = fact_of(scenes, frame)->ratio;
    const double before = frame > 1 ? fact_of(scenes, frame - 1)->ratio : 0;
    const double after = frame + 1 < end ? fact_of(scenes, frame + 1)->ratio : 0;
    return ratio < UNUSUAL && ratio >= REPEATED * (before > after ? before : after);
}

/* What is usual for the boundaries on one side of the one before `frame`: medians. */
struct usual {
    double ratio, change;
};

/* Of the boundaries from `first` to `last`, or of the typical ones if there are any. */
static struct usual find_usual(
    struct gpume_scenes *scenes, uint64_t first, uint64_t last, uint64_t end)
{
    double ratios[2][AROUND], changes[2][AROUND];
    size_t counts[2] = {0};
    for (uint64_t i = first; i <= last; i++) {
        for (int typical = is_typical(scenes, i, end); typical >= 0; typical--) {
            ratios[typical][counts[typical]] = fact_of(scenes, i)->ratio;
            changes[typical][counts[typical]++] = fact_of(scenes, i)->change;
        }
    }
    const int set = counts[1] > 0;
    return (struct usual){
        median_of(ratios[set], counts[set]), median_of(changes[set], counts[set])};
}

/* The ratio that a cut before `frame` must exceed: that of the calmer side if the picture changes
 * there as it does on neither side, so that a cut to violent motion is found; otherwise that of the
 * other side, so that the beginning of violent motion is no cut. Two frames alone have no usual. */
static double find_threshold(struct gpume_scenes *scenes, uint64_t frame, uint64_t end)
{
    const uint64_t first = frame > AROUND ? frame - AROUND : 1;
    const uint64_t last = frame + AROUND < end ? frame + AROUND : end - 1;
    const struct usual before = find_usual(scenes, first, frame - 1, end);
    const struct usual after = find_usual(scenes, frame + 1, last, end);
    const double change = before.change > after.change ? before.change : after.change;
    const bool before_is_calmer = before.ratio < after.ratio;
    const bool stands_out = fact_of(scenes, frame)->change > CHANGE_LEAST * change;
    if (frame == 1 && end == 2) {
        return RATIO_ALONE;
    }
    if (frame == 1 || frame + 1 == end) { /* one side is empty */
        return before.ratio + after.ratio;
    }
    return stands_out == before_is_calmer ? before.ratio : after.ratio;
}

/* The confidence of a cut, from its ratio and the median around. Either nearly nothing of the
 * picture can be predicted; or far less than usual, which finds cuts in a part of the picture. */
static double judge(double ratio, double median)
{
    const double margin = ratio - median;
    const double whole = margin / (1 - median) * gpume_limit_to_one(margin / MARGIN_WHOLE);
    const double part = margin / ratio * gpume_limit_to_one(margin / MARGIN_PART);
    return margin <= 0 ? 0 : whole > part ? whole : part;
}

/* Is there a cut before `frame`? */
static int examine(struct gpume_scenes *scenes, uint64_t frame, uint64_t end)
{
    const double median = find_threshold(scenes, frame, end);
    double ratio = fact_of(scenes, frame)->ratio;
    if (judge(ratio, median) < DISTINCT) {
        return GPUME_OK;
    }
    GPUME_CHECK(find_lowest(scenes, frame, end, &ratio));
    const double confidence = judge(ratio, median);
    if (confidence < DISTINCT) {
        return GPUME_OK;
    }
    const struct gpume_change change = {
        .kind = GPUME_CHANGE_CUT,
        .first = frame,
        .last = frame,
        .confidence = confidence,
        .weight = confidence,
    };
    return add_change(scenes, &scenes->cuts, &change);
}

/* The facts of the newest frame. */
static int describe(struct gpume_scenes *scenes, const struct gpume_frame_facts *facts,
    struct gpume_scene_frame *frame)
{
    const uint64_t past = frame->frame > 0 ? frame->frame - 1 : 0;
    struct fact *fact = fact_of(scenes, frame->frame);
    struct gpume_frame_cost cost;
    GPUME_CHECK(gpume_lookahead_cost(scenes->lookahead, frame->frame, past, frame->frame, &cost));
    for (uint32_t i = 0; i < scenes->blocks; i++) {
        const double deviation = sqrt((double)facts->energies[i] / 256);
        frame->spatial += deviation;
        frame->temporal += frame->frame > 0 ? fabs(deviation - scenes->deviations[i]) : 0;
        scenes->deviations[i] = deviation;
    }
    frame->spatial /= scenes->blocks;
    frame->temporal /= scenes->blocks;
    frame->blocks = scenes->blocks;
    frame->intra_blocks = cost.intra_blocks;
    frame->intra_cost = fact->intra_cost = facts->intra_cost;
    frame->inter_cost = cost.cost;
    if (scenes->params.take) {
        const uint64_t at = frame->frame;
        struct gpume_lookahead *lookahead = scenes->lookahead;
        GPUME_CHECK(gpume_lookahead_spectrum(lookahead, at, at, at, NULL, &frame->intra));
        GPUME_CHECK(gpume_lookahead_spectrum(lookahead, at, past, at, NULL, &frame->inter));
    }
    return frame->frame > 0 ? find_ratio(scenes, past, frame->frame, &fact->ratio) : GPUME_OK;
}

/* Mean of the squares' variance. */
static double detail(const struct gpume_scenes *scenes, const struct gpume_frame_facts *facts)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < scenes->blocks; i++) {
        sum += facts->energies[i];
    }
    return (double)sum / 256 / scenes->blocks;
}

static struct gpume_thumbnail *thumbnail_of(struct gpume_scenes *scenes, uint64_t frame)
{
    return &scenes->thumbnails[frame % (GPUME_LOOKAHEAD_LAG + 1)];
}

/* Takes in the next frame that has been put. */
static int advance(struct gpume_scenes *scenes)
{
    const uint64_t frame = scenes->frames;
    struct gpume_scene_frame described = {.frame = frame};
    struct gpume_frame_facts facts;
    gpume_lookahead_facts(scenes->lookahead, frame, &facts);
    described.luma = thumbnail_of(scenes, frame)->mean;
    GPUME_CHECK(describe(scenes, &facts, &described));
    scenes->frames++;
    if (scenes->params.take) {
        GPUME_CHECK(scenes->params.take(scenes->params.opaque, &described));
    }
    const struct gpume_thumbnail before = scenes->thumbnail;
    scenes->thumbnail = *thumbnail_of(scenes, frame);
    fact_of(scenes, frame)->change =
        (double)gpume_thumbnail_dot(&before, &scenes->thumbnail, &scenes->thumbnail);
    if (gpume_gradual_put(&scenes->gradual, &scenes->thumbnail, detail(scenes, &facts),
            &scenes->gradual_changes) != GPUME_OK) {
        return gpume_log_nomem(&scenes->log, "the changes of scene");
    }
    return frame > AROUND ? examine(scenes, frame - AROUND, scenes->frames) : GPUME_OK;
}

int gpume_scenes_put(struct gpume_scenes *scenes, const struct gpume_plane *luma)
{
    if (scenes->frames >= RING) {
        gpume_lookahead_drop(scenes->lookahead, scenes->frames - RING + 1);
    }
    GPUME_CHECK(gpume_lookahead_put(scenes->lookahead, luma));
    gpume_thumbnail_make(thumbnail_of(scenes, scenes->put), luma);
    scenes->put++;
    return scenes->put - scenes->frames > gpume_lookahead_lag(scenes->lookahead) ? advance(scenes)
                                                                                 : GPUME_OK;
}

/* Does a dissolve or fade cover the cut? */
static bool is_covered(const struct gpume_scenes *scenes, const struct gpume_change *cut)
{
    for (size_t i = 0; i < scenes->gradual_changes.count; i++) {
        const struct gpume_change *change = &scenes->gradual_changes.items[i];
        if (cut->first >= change->first && cut->first <= change->last + 1 &&
            change->confidence > COVERING) {
            return true;
        }
    }
    return false;
}

int gpume_scenes_finish(struct gpume_scenes *scenes, const struct gpume_changes **changes)
{
    const uint64_t end = scenes->put;
    while (scenes->frames < end) {
        GPUME_CHECK(advance(scenes));
    }
    for (uint64_t i = end > AROUND ? end - AROUND : 1; i < end; i++) {
        GPUME_CHECK(examine(scenes, i, end));
    }
    for (size_t i = 0; i < scenes->cuts.count; i++) {
        const struct gpume_change *cut = &scenes->cuts.items[i];
        if (!is_covered(scenes, cut)) {
            GPUME_CHECK(add_change(scenes, &scenes->gradual_changes, cut));
        }
    }
    *changes = &scenes->gradual_changes;
    return GPUME_OK;
}

int gpume_scenes_open(struct gpume_scenes **scenes, const struct gpume_scenes_params *params)
{
    const struct gpume_log log = {params->lookahead.log, params->lookahead.log_opaque};
    struct gpume_lookahead_params wanted = params->lookahead;
    struct gpume_scenes *made = calloc(1, sizeof(*made));
    if (!made) {
        return gpume_log_nomem(&log, "the scenes");
    }
    made->params = *params;
    made->log = log;
    wanted.distance_max = REACH;
    wanted.frames_max = RING + GPUME_LOOKAHEAD_LAG;
    wanted.weights = wanted.shares = false;
    wanted.energies = true;
    int status;
    GPUME_TRY(gpume_lookahead_open(&made->lookahead, &wanted));
    made->blocks =
        gpume_lookahead_blocks_x(made->lookahead) * gpume_lookahead_blocks_y(made->lookahead);
    made->deviations = calloc(made->blocks, sizeof(*made->deviations));
    if (!made->deviations) {
        status = gpume_log_nomem(&log, "the scenes");
        goto fail;
    }
    *scenes = made;
    return GPUME_OK;
fail:
    gpume_scenes_close(&made);
    return status;
}

const char *gpume_scenes_engine(const struct gpume_scenes *scenes)
{
    return gpume_lookahead_engine(scenes->lookahead);
}

void gpume_scenes_close(struct gpume_scenes **scenes)
{
    if (*scenes) {
        gpume_lookahead_close(&(*scenes)->lookahead);
        gpume_changes_finish(&(*scenes)->cuts);
        gpume_changes_finish(&(*scenes)->gradual_changes);
        free((*scenes)->deviations);
        free(*scenes);
        *scenes = NULL;
    }
}

uint64_t gpume_change_scene(const struct gpume_change *change)
{
    /* A video that begins with a fade-in begins with its scene. */
    const uint64_t first =
        change->kind == GPUME_CHANGE_FADE_IN && change->first == 1 ? 0 : change->first;
    return change->kind == GPUME_CHANGE_FADE_OUT   ? UINT64_MAX
           : change->kind == GPUME_CHANGE_DISSOLVE ? change->last + 1
                                                   : first;
}
