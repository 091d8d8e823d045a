/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/scenes.h"

#include "base/base.h"
#include "base/log.h"
#include "base/workers.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define REACH 4u  /* frames: the longest distance across a boundary; flashes are shorter */
#define AROUND 8u /* frames on either side to which a boundary is compared */
#define RING (2 * AROUND + 2)
#define REPEATS 3u /* frames in a row that may repeat one */
#define FACTS (RING + REPEATS)
#define AHEAD                                                                                      \
    (GPUME_LOOKAHEAD_LAG + GPUME_READINGS_MAX) /* frames that are being read or wait to be sent */
#define THUMBNAILS (RING + AHEAD + 1)
#define FLASH 2u      /* frames: what lasts longer between two even pictures is a shot, no flash */
#define FLAT 16u      /* intra cost per block below which a picture has nothing to predict */
#define REPEATED 0.35 /* part of the largest ratio nearby, below which a frame repeats another */
#define UNUSUAL 0.75  /* ratio from which a boundary is likely a cut */
#define PLAIN_LEAST 2.0 /* mean difference of the thumbnails below which there is no cut */
#define RATIO_LEAST 0.2 /* ratio below which there is no cut */
#define TEXTURED 48u    /* intra cost from which a block has detail */
#define UNEXPLAINED                                                                                \
    7u /* tenths of it that prediction must cost for the block to count as changed */
#define FLAT_VOTE 0.25 /* vote of a block without detail */
#define DISTINCT 0.02  /* confidence below which nothing is listed */

struct fact {
    uint64_t intra_cost;
    double ratio, plain;        /* to the frame before */
    bool compared;              /* `unlike` is known */
    struct gpume_unlike unlike; /* to the frame before */
};

/* Work on one frame that other threads do. */
struct errand {
    struct gpume_scenes *scenes;
    uint64_t frame;
    struct gpume_plane luma; /* for its thumbnail */
    struct gpume_step step;
};

struct gpume_scenes {
    struct gpume_scenes_params params;
    struct gpume_log log;
    struct gpume_lookahead *lookahead;
    uint32_t blocks;
    uint64_t begun, put; /* frames whose reading has begun, and is complete */
    uint64_t frames;     /* that have been described; the lookahead's lag behind `put` */
    struct fact facts[FACTS];
    double *deviations; /* standard deviation of each square of the last frame */
    struct gpume_thumbnail thumbnails[THUMBNAILS];
    struct gpume_gradual gradual;
    struct gpume_changes cuts, gradual_changes;          /* at the end all are in the latter */
    struct errand thumbnail_errands[GPUME_READINGS_MAX]; /* by frame % GPUME_READINGS_MAX */
    struct errand gradual_errands[RING]; /* by frame % RING; each waits for the one before */
    int gradual_status;
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
    return &scenes->facts[frame % FACTS];
}

/* What it costs to predict the more detailed one of two frames from the other one, relative to its
 * intra cost. */
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

static struct gpume_thumbnail *thumbnail_of(struct gpume_scenes *scenes, uint64_t frame)
{
    return &scenes->thumbnails[frame % THUMBNAILS];
}

/* How the thumbnail of the frame differs from that of the one before. */
static const struct gpume_unlike *unlike_of(struct gpume_scenes *scenes, uint64_t frame)
{
    struct fact *fact = fact_of(scenes, frame);
    if (!fact->compared) {
        gpume_thumbnail_compare(
            &fact->unlike, thumbnail_of(scenes, frame - 1), thumbnail_of(scenes, frame), true);
        fact->compared = true;
    }
    return &fact->unlike;
}

/* Share of the blocks that cannot be predicted from the other frame, in both directions. Flat
 * blocks have nothing to predict; the thumbnails vote for them. */
static int find_changed(
    struct gpume_scenes *scenes, uint64_t past, uint64_t frame, double flat_share, double *share)
{
    struct gpume_frame_facts before, after;
    struct gpume_frame_cost forward, backward;
    uint32_t changed = 0, textured = 0;
    GPUME_CHECK(gpume_lookahead_cost(scenes->lookahead, frame, past, frame, &forward));
    GPUME_CHECK(gpume_lookahead_cost(scenes->lookahead, past, past, frame, &backward));
    gpume_lookahead_facts(scenes->lookahead, past, &before);
    gpume_lookahead_facts(scenes->lookahead, frame, &after);
    for (uint32_t i = 0; i < scenes->blocks; i++) {
        const uint32_t x = before.intra_costs[i], y = after.intra_costs[i];
        textured += x >= TEXTURED || y >= TEXTURED;
        changed += (x >= TEXTURED || y >= TEXTURED) &&
                   (x < TEXTURED || backward.costs[i] * 10u > x * UNEXPLAINED) &&
                   (y < TEXTURED || forward.costs[i] * 10u > y * UNEXPLAINED);
    }
    const double flat = FLAT_VOTE * (scenes->blocks - textured);
    *share = (changed + flat * flat_share) / (textured + flat);
    return GPUME_OK;
}

/* All that differs between two frames. */
static int compare_frames(
    struct gpume_scenes *scenes, uint64_t past, uint64_t frame, struct gpume_difference *difference)
{
    gpume_thumbnail_compare(
        &difference->unlike, thumbnail_of(scenes, past), thumbnail_of(scenes, frame), true);
    GPUME_CHECK(find_ratio(scenes, past, frame, &difference->cost));
    return find_changed(scenes, past, frame, difference->unlike.share, &difference->changed);
}

static bool is_even(struct gpume_scenes *scenes, uint64_t frame)
{
    return gpume_thumbnail_is_even(thumbnail_of(scenes, frame));
}

/* Lowers what differs at a boundary to what differs between two frames across it. Even pictures are
 * alike whatever is between them. */
static int lower_across(
    struct gpume_scenes *scenes, uint64_t past, uint64_t frame, struct gpume_difference *lowest)
{
    struct gpume_difference other;
    if (frame - past > FLASH + 1 && is_even(scenes, past) && is_even(scenes, frame)) {
        return GPUME_OK;
    }
    GPUME_CHECK(compare_frames(scenes, past, frame, &other));
    gpume_difference_lower(lowest, &other);
    return GPUME_OK;
}

/* The frames on either side of the boundary before `frame`, without one that is half of both. */
struct sides {
    uint64_t past, next;
};

static struct sides find_sides(struct gpume_scenes *scenes, uint64_t frame, uint64_t end)
{
    const struct gpume_thumbnail *past = thumbnail_of(scenes, frame - 1);
    const struct gpume_thumbnail *next = thumbnail_of(scenes, frame);
    if (frame > 1 && gpume_thumbnail_is_mixture(thumbnail_of(scenes, frame - 2), past, next)) {
        return (struct sides){frame - 2, frame};
    }
    if (frame + 1 < end &&
        gpume_thumbnail_is_mixture(past, next, thumbnail_of(scenes, frame + 1))) {
        return (struct sides){frame - 1, frame + 1};
    }
    return (struct sides){frame - 1, frame};
}

/* The least of all pairs across a boundary that contain one of the two frames at it. end: of the
 * frames that are known. */
static int find_lowest(struct gpume_scenes *scenes, const struct sides *sides, uint64_t end,
    struct gpume_difference *lowest)
{
    const uint64_t past = sides->past, next = sides->next;
    GPUME_CHECK(compare_frames(scenes, past, next, lowest));
    for (uint64_t i = 1; next - past + i <= REACH; i++) {
        if (next + i < end) {
            GPUME_CHECK(lower_across(scenes, past, next + i, lowest));
        }
        if (past >= i) {
            GPUME_CHECK(lower_across(scenes, past - i, next, lowest));
        }
    }
    return GPUME_OK;
}

static int order_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t count)
{
    qsort(values, count, sizeof(values[0]), order_doubles);
    return count > 0 ? values[count / 2] : 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* How well a boundary shows what is usual. */
enum worth {
    REPEAT, /* a frame is repeated: the frame rate was raised, or it is animation */
    UNLIKE, /* it is likely a cut */
    TYPICAL,
};

/* end: of the frames that are known. */
static enum worth worth_of(struct gpume_scenes *scenes, uint64_t frame, uint64_t end)
{
    const double ratio = fact_of(scenes, frame)->ratio;
    const uint64_t last = frame + REPEATS < end ? frame + REPEATS : end - 1;
    double most = 0;
    for (uint64_t i = frame > REPEATS ? frame - REPEATS : 1; i <= last; i++) {
        most = larger(most, fact_of(scenes, i)->ratio);
    }
    return ratio < REPEATED * most                                ? REPEAT
           : ratio < UNUSUAL                                      ? TYPICAL
           : is_even(scenes, frame) || is_even(scenes, frame - 1) ? REPEAT
                                                                  : UNLIKE;
}

/* Medians over the boundaries from `first` to `last` that are worth most. If all but repeats are
 * unlike, that is usual, as in film of drawings that is not held steady. */
static struct gpume_usual find_usual(
    struct gpume_scenes *scenes, uint64_t first, uint64_t last, uint64_t end)
{
    double values[5][AROUND];
    size_t count = 0;
    for (int worth = TYPICAL; worth >= REPEAT && count == 0; worth--) {
        for (uint64_t i = first; i <= last; i++) {
            if ((int)worth_of(scenes, i, end) == worth) {
                const struct gpume_unlike *unlike = unlike_of(scenes, i);
                values[0][count] = unlike->plain;
                values[1][count] = unlike->relative;
                values[2][count] = unlike->structure;
                values[3][count] = fact_of(scenes, i)->ratio;
                values[4][count++] = unlike->residual;
            }
        }
    }
    return (struct gpume_usual){.plain = median_of(values[0], count),
        .relative = median_of(values[1], count),
        .structure = median_of(values[2], count),
        .cost = median_of(values[3], count),
        .quiet = median_of(values[4], count)};
}

/* What is usual on both sides of the boundary before `frame`. A side is at least as noisy as the
 * boundary next to it, since noise may begin or end there. */
static struct gpume_usual find_usual_around(
    struct gpume_scenes *scenes, uint64_t frame, uint64_t end)
{
    const uint64_t first = frame > AROUND ? frame - AROUND : 1;
    const uint64_t last = frame + AROUND < end ? frame + AROUND : end - 1;
    struct gpume_usual before = find_usual(scenes, first, frame - 1, end);
    struct gpume_usual after = find_usual(scenes, frame + 1, last, end);
    if (first < frame) {
        before.quiet = larger(before.quiet, unlike_of(scenes, frame - 1)->residual);
    }
    if (frame < last) {
        after.quiet = larger(after.quiet, unlike_of(scenes, frame + 1)->residual);
    }
    return (struct gpume_usual){.plain = larger(before.plain, after.plain),
        .relative = larger(before.relative, after.relative),
        .structure = larger(before.structure, after.structure),
        .cost = larger(before.cost, after.cost),
        .quiet = frame == first || frame == last ? larger(before.quiet, after.quiet)
                 : before.quiet < after.quiet    ? before.quiet
                                                 : after.quiet};
}

/* What thumbnails and costs say of the sides of the boundary before `frame`. */
static int find_first(struct gpume_scenes *scenes, const struct sides *sides, uint64_t frame,
    struct gpume_difference *difference)
{
    *difference = (struct gpume_difference){.changed = 1, .other = 1};
    if (sides->next - sides->past > 1) {
        return compare_frames(scenes, sides->past, sides->next, difference);
    }
    difference->unlike = *unlike_of(scenes, frame);
    difference->cost = fact_of(scenes, frame)->ratio;
    return GPUME_OK;
}

/* The confidence of a cut before `frame`. Nothing that is found later raises it, so the costly
 * steps are taken only where something is left. */
static int judge_cut(struct gpume_scenes *scenes, uint64_t frame, uint64_t end, double *confidence)
{
    const struct fact *fact = fact_of(scenes, frame);
    struct gpume_usual usual = {0};
    struct gpume_difference difference;
    *confidence = 0;
    if (fact->plain < PLAIN_LEAST || fact->ratio < RATIO_LEAST) {
        return GPUME_OK;
    }
    const struct sides sides = find_sides(scenes, frame, end);
    GPUME_CHECK(find_first(scenes, &sides, frame, &difference));
    *confidence = gpume_cut_confidence(&difference, &usual);
    if (*confidence >= DISTINCT) {
        usual = find_usual_around(scenes, frame, end);
        difference.other = gpume_thumbnail_other(
            thumbnail_of(scenes, sides.past), thumbnail_of(scenes, sides.next));
        *confidence = gpume_cut_confidence(&difference, &usual);
    }
    if (*confidence >= DISTINCT) {
        GPUME_CHECK(find_lowest(scenes, &sides, end, &difference));
        *confidence = gpume_cut_confidence(&difference, &usual);
    }
    return GPUME_OK;
}

/* Lists a cut before `frame`, if there is one. */
static int examine_boundary(struct gpume_scenes *scenes, uint64_t frame, uint64_t end)
{
    struct gpume_change change = {
        .kind = GPUME_CHANGE_CUT,
        .first = frame,
        .last = frame,
    };
    GPUME_CHECK(judge_cut(scenes, frame, end, &change.confidence));
    change.weight = change.confidence;
    return change.confidence < DISTINCT ? GPUME_OK : add_change(scenes, &scenes->cuts, &change);
}

/* The facts of the newest frame. */
static int describe_frame(struct gpume_scenes *scenes, const struct gpume_frame_facts *facts,
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
        GPUME_CHECK(
            gpume_lookahead_spectrum(lookahead, at, at, at, NULL, &frame->intra, NULL, NULL));
        GPUME_CHECK(
            gpume_lookahead_spectrum(lookahead, at, past, at, NULL, &frame->inter, NULL, NULL));
    }
    return frame->frame > 0 ? find_ratio(scenes, past, frame->frame, &fact->ratio) : GPUME_OK;
}

static void await_errand(struct gpume_scenes *scenes, const struct errand *errand)
{
    gpume_workers_wait(gpume_lookahead_workers(scenes->lookahead), &errand->step);
}

/* Waits until the errand has done its last work, and gives it the next. */
static void queue(struct gpume_scenes *scenes, struct errand *errand, gpume_work_fn fn,
    uint64_t frame, const struct errand *after)
{
    struct gpume_step *step = &errand->step;
    await_errand(scenes, errand);
    errand->scenes = scenes;
    errand->frame = frame;
    *step = (struct gpume_step){
        .fn = fn, .opaque = errand, .count = 1, .after = {after ? &after->step : NULL}};
    gpume_workers_add(gpume_lookahead_workers(scenes->lookahead), &step, 1);
}

static void make_thumbnail(void *opaque, uint32_t item)
{
    const struct errand *errand = opaque;
    (void)item;
    gpume_thumbnail_make(thumbnail_of(errand->scenes, errand->frame), &errand->luma);
}

/* Looks for gradual changes that end with the frame; only these errands use what it keeps. */
static void put_gradual(void *opaque, uint32_t item)
{
    const struct errand *errand = opaque;
    struct gpume_scenes *scenes = errand->scenes;
    const struct gpume_lookahead *lookahead = scenes->lookahead;
    const struct gpume_energies energies = {gpume_lookahead_energies(lookahead, errand->frame),
        gpume_lookahead_blocks_x(lookahead), gpume_lookahead_blocks_y(lookahead)};
    (void)item;
    if (scenes->gradual_status == GPUME_OK) {
        scenes->gradual_status = gpume_gradual_put(&scenes->gradual,
            thumbnail_of(scenes, errand->frame), &energies, &scenes->gradual_changes);
    }
}

/* Describes the next frame that is complete, and looks for a cut AROUND frames before it. */
static int advance_scenes(struct gpume_scenes *scenes)
{
    const uint64_t frame = scenes->frames;
    struct gpume_scene_frame described = {.frame = frame};
    struct gpume_frame_facts facts;
    gpume_lookahead_facts(scenes->lookahead, frame, &facts);
    described.luma = thumbnail_of(scenes, frame)->mean;
    GPUME_CHECK(describe_frame(scenes, &facts, &described));
    scenes->frames++;
    if (scenes->params.take) {
        GPUME_CHECK(scenes->params.take(scenes->params.opaque, &described));
    }
    if (frame > 0) {
        struct fact *fact = fact_of(scenes, frame);
        fact->compared = false;
        fact->plain =
            gpume_thumbnail_distance(thumbnail_of(scenes, frame - 1), thumbnail_of(scenes, frame));
    }
    queue(scenes, &scenes->gradual_errands[frame % RING], put_gradual, frame,
        frame > 0 ? &scenes->gradual_errands[(frame - 1) % RING] : NULL);
    return frame > AROUND ? examine_boundary(scenes, frame - AROUND, scenes->frames) : GPUME_OK;
}

/* Waits for the oldest frame that is being read, and sends it. */
static int complete_reading(struct gpume_scenes *scenes)
{
    await_errand(scenes, &scenes->thumbnail_errands[scenes->put % GPUME_READINGS_MAX]);
    gpume_lookahead_complete_reading(scenes->lookahead);
    scenes->put++;
    return gpume_lookahead_send(scenes->lookahead);
}

int gpume_scenes_put(struct gpume_scenes *scenes, const struct gpume_plane *luma)
{
    struct errand *errand = &scenes->thumbnail_errands[scenes->begun % GPUME_READINGS_MAX];
    if (scenes->frames >= RING) {
        await_errand(scenes, &scenes->gradual_errands[scenes->frames % RING]);
        gpume_lookahead_drop(scenes->lookahead, scenes->frames - RING + 1);
    }
    gpume_lookahead_begin_reading(scenes->lookahead, luma);
    errand->luma = *luma;
    queue(scenes, errand, make_thumbnail, scenes->begun++, NULL);
    if (scenes->begun - scenes->put == gpume_lookahead_readings(scenes->lookahead)) {
        GPUME_CHECK(complete_reading(scenes));
    }
    return scenes->put - scenes->frames > gpume_lookahead_lag(scenes->lookahead)
               ? advance_scenes(scenes)
               : GPUME_OK;
}

int gpume_scenes_finish(struct gpume_scenes *scenes, const struct gpume_changes **changes)
{
    const uint64_t end = scenes->begun;
    while (scenes->put < end) {
        GPUME_CHECK(complete_reading(scenes));
    }
    while (scenes->frames < end) {
        GPUME_CHECK(advance_scenes(scenes));
    }
    for (uint64_t i = end > AROUND ? end - AROUND : 1; i < end; i++) {
        GPUME_CHECK(examine_boundary(scenes, i, end));
    }
    if (end > 0) {
        await_errand(scenes, &scenes->gradual_errands[(end - 1) % RING]);
    }
    if (scenes->gradual_status != GPUME_OK ||
        gpume_gradual_finish(&scenes->gradual, &scenes->gradual_changes) != GPUME_OK) {
        return gpume_log_nomem(&scenes->log, "the changes of scene");
    }
    for (size_t i = 0; i < scenes->cuts.count; i++) {
        const struct gpume_change *cut = &scenes->cuts.items[i];
        if (!gpume_changes_cover(&scenes->gradual_changes, cut)) {
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
    wanted.frames_max = RING + AHEAD;
    wanted.weights = wanted.shares = false;
    wanted.energies = true;
    int status;
    GPUME_TRY(gpume_lookahead_open(&made->lookahead, &wanted));
    gpume_lookahead_expect(made->lookahead, 1, 0);
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
    switch (change->kind) {
    case GPUME_CHANGE_FADE_OUT:
        return UINT64_MAX;
    case GPUME_CHANGE_DISSOLVE:
    case GPUME_CHANGE_WIPE:
        return change->last + 1;
    default: /* a video that begins with a fade-in begins with its scene */
        return change->kind == GPUME_CHANGE_FADE_IN && change->first == 1 ? 0 : change->first;
    }
}
