/* SPDX-License-Identifier: BSD-2-Clause */
#include "coded/coded.h"

#include "base/base.h"
#include "job.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE 2 /* samples that the longest filter takes to the left of a block, or above it */
#define AFTER 4  /* and behind it, with those of the next pixel */
#define PATCH (GPUME_MATCH_SIDE + BEFORE + AFTER)

/* The samples around a match: those of the block begin at (BEFORE, BEFORE). */
struct match_patch {
    int32_t at[PATCH][PATCH];
    int32_t across[PATCH][PATCH]; /* filtered in x, not rounded */
    int32_t peak;
    uint32_t w, h; /* of the block */
};

/* Samples of a row; those outside the picture are the nearest ones in it. */
static void take_row(
    const struct gpume_plane *plane, int64_t x, int64_t y, uint32_t count, int32_t *to)
{
    const uint8_t *line =
        (const uint8_t *)plane->data + gpume_nearest(y, plane->height) * plane->stride;
    const uint16_t *wide = (const uint16_t *)(const void *)line;
    const bool whole = x >= 0 && x + count <= plane->width;
    if (whole && plane->bits > 8) {
        for (uint32_t i = 0; i < count; i++) {
            to[i] = wide[x + i];
        }
    } else if (whole) {
        for (uint32_t i = 0; i < count; i++) {
            to[i] = line[x + i];
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            const int64_t column = gpume_nearest(x + i, plane->width);
            to[i] = plane->bits > 8 ? wide[column] : line[column];
        }
    }
}

static int32_t clip(int32_t value, int32_t peak)
{
    return value < 0 ? 0 : value > peak ? peak : value;
}

/* ITU-T H.264 8.4.2.2.1: the filter between c and d. */
static int32_t taps(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f)
{
    return a + f - 5 * (b + e) + 20 * (c + d);
}

static int32_t rounded_mean(int32_t a, int32_t b)
{
    return (a + b + 1) >> 1;
}

static void filter_across(struct match_patch *patch)
{
    for (uint32_t j = 0; j < patch->h + BEFORE + AFTER; j++) {
        for (uint32_t i = BEFORE; i < patch->w + BEFORE + 1; i++) {
            const int32_t *p = &patch->at[j][i];
            patch->across[j][i] = taps(p[-2], p[-1], p[0], p[1], p[2], p[3]);
        }
    }
}

/* The pixels of the block, moved by whole ones; and the samples that the standard calls b, h and j,
 * to the right of, below, and in the middle of each pixel. */

static void take_pixels(
    const struct match_patch *patch, uint32_t right, uint32_t below, int32_t *to)
{
    for (uint32_t j = 0; j < patch->h; j++, to += patch->w) {
        memcpy(to, &patch->at[j + BEFORE + below][BEFORE + right], patch->w * sizeof(*to));
    }
}

static void take_right(const struct match_patch *patch, uint32_t below, int32_t *to)
{
    for (uint32_t j = 0; j < patch->h; j++, to += patch->w) {
        const int32_t *p = &patch->across[j + BEFORE + below][BEFORE];
        for (uint32_t i = 0; i < patch->w; i++) {
            to[i] = clip((p[i] + 16) >> 5, patch->peak);
        }
    }
}

/* Of one row of either kind of samples, rounded by `shift` bits. */
static void filter_down(
    const int32_t (*p)[PATCH], uint32_t w, int32_t shift, int32_t peak, int32_t *restrict to)
{
    for (uint32_t i = 0; i < w; i++) {
        const int32_t sum = taps(p[0][i], p[1][i], p[2][i], p[3][i], p[4][i], p[5][i]);
        to[i] = clip((sum + (1 << (shift - 1))) >> shift, peak);
    }
}

static void take_below(const struct match_patch *patch, uint32_t right, int32_t *to)
{
    for (uint32_t j = 0; j < patch->h; j++, to += patch->w) {
        filter_down(
            (const int32_t(*)[PATCH]) & patch->at[j][BEFORE + right], patch->w, 5, patch->peak, to);
    }
}

static void take_middle(const struct match_patch *patch, int32_t *to)
{
    for (uint32_t j = 0; j < patch->h; j++, to += patch->w) {
        filter_down(
            (const int32_t(*)[PATCH]) & patch->across[j][BEFORE], patch->w, 10, patch->peak, to);
    }
}

/* (fx,fy): quarters from the pixels to the samples. Those of odd quarters are the means of two
 * others. */
static void predict_h264(struct match_patch *patch, uint32_t fx, uint32_t fy, int32_t *to)
{
    int32_t other[GPUME_MATCH_SIDE * GPUME_MATCH_SIDE];
    const uint32_t right = fx == 3, below = fy == 3;
    if (fx > 0) {
        filter_across(patch);
    }
    if (fy == 0) {
        take_right(patch, 0, to);
        take_pixels(patch, right, 0, other);
    } else if (fx == 0) {
        take_below(patch, 0, to);
        take_pixels(patch, 0, below, other);
    } else if (fx == 2) {
        take_middle(patch, to);
        take_right(patch, below, other);
    } else {
        take_below(patch, right, to);
        if (fy == 2) {
            take_middle(patch, other);
        } else {
            take_right(patch, below, other);
        }
    }
    for (uint32_t i = 0; ((fx | fy) & 1) && i < patch->w * patch->h; i++) {
        to[i] = rounded_mean(to[i], other[i]);
    }
}

static void predict_bilinear(const struct match_patch *patch, int32_t fx, int32_t fy, int32_t *to)
{
    for (uint32_t j = BEFORE; j < patch->h + BEFORE; j++, to += patch->w) {
        const int32_t *p = &patch->at[j][BEFORE], *q = &patch->at[j + 1][BEFORE];
        for (uint32_t i = 0; i < patch->w; i++) {
            const int32_t above = (4 - fx) * p[i] + fx * p[i + 1];
            const int32_t under = (4 - fx) * q[i] + fx * q[i + 1];
            to[i] = ((4 - fy) * above + fy * under + 8) >> 4;
        }
    }
}

void gpume_match_predict(const struct gpume_plane *reference, const struct gpume_match_block *block,
    int32_t dx, int32_t dy, enum gpume_interpolation interpolation,
    struct gpume_match_samples *samples)
{
    struct match_patch patch; /* not cleared */
    const uint32_t fx = (uint32_t)dx & 3, fy = (uint32_t)dy & 3;
    const int64_t x = (int64_t)block->x + (dx - (int32_t)fx) / 4;
    const int64_t y = (int64_t)block->y + (dy - (int32_t)fy) / 4;
    if (fx == 0 && fy == 0) {
        for (uint32_t j = 0; j < block->h; j++) {
            take_row(reference, x, y + j, block->w, &samples->values[j * block->w]);
        }
        return;
    }
    patch.peak = (1 << reference->bits) - 1;
    patch.w = block->w;
    patch.h = block->h;
    for (uint32_t j = 0; j < block->h + BEFORE + AFTER; j++) {
        take_row(reference, x - BEFORE, y + j - BEFORE, block->w + BEFORE + AFTER, patch.at[j]);
    }
    if (interpolation == GPUME_INTERPOLATION_BILINEAR) {
        predict_bilinear(&patch, (int32_t)fx, (int32_t)fy, samples->values);
    } else {
        predict_h264(&patch, fx, fy, samples->values);
    }
}

void gpume_match_mean(const struct gpume_match_block *block, struct gpume_match_samples *a,
    const struct gpume_match_samples *b)
{
    for (uint32_t i = 0; i < block->w * block->h; i++) {
        a->values[i] = rounded_mean(a->values[i], b->values[i]);
    }
}

void gpume_match_take(const struct gpume_plane *plane, const struct gpume_match_block *block,
    struct gpume_match_samples *samples)
{
    for (uint32_t j = 0; j < block->h; j++) {
        take_row(plane, block->x, block->y + j, block->w, &samples->values[j * block->w]);
    }
}

/* A sum is at most 16 * 16 * 65535 < 2^24. */
uint64_t gpume_match_sad(const struct gpume_match_block *block, const struct gpume_match_samples *a,
    const struct gpume_match_samples *b, const struct gpume_match_samples *c, uint64_t limit)
{
    uint32_t sad = 0;
    const uint32_t count = block->w * block->h, step = block->w * 4;
    for (uint32_t at = 0; at < count && sad < limit; at += step) {
        const uint32_t end = at + step < count ? at + step : count;
        for (uint32_t i = at; c && i < end; i++) {
            sad += (uint32_t)abs(a->values[i] - rounded_mean(b->values[i], c->values[i]));
        }
        for (uint32_t i = at; !c && i < end; i++) {
            sad += (uint32_t)abs(a->values[i] - b->values[i]);
        }
    }
    return sad;
}

struct gpume_match_sums gpume_match_measure(const struct gpume_match_block *block,
    const struct gpume_match_samples *a, const struct gpume_match_samples *b)
{
    struct gpume_match_sums sums = {gpume_match_sad(block, a, b, NULL, UINT64_MAX), 0};
    for (uint32_t i = 0; i < block->w * block->h; i++) {
        const int32_t difference = a->values[i] - b->values[i];
        sums.sse += (uint64_t)((int64_t)difference * difference);
    }
    return sums;
}

const struct gpume_block_size gpume_coded_shapes[GPUME_CODED_SHAPES] = {
    {16, 16}, {16, 8}, {8, 16}, {8, 8}};

uint32_t gpume_coded_shape(const struct gpume_vectors_block *block)
{
    uint32_t i = 0;
    for (; i < GPUME_CODED_SHAPES; i++) {
        const struct gpume_block_size *shape = &gpume_coded_shapes[i];
        if (block->w == shape->width && block->h == shape->height && block->x % block->w == 0 &&
            block->y % block->h == 0) {
            break;
        }
    }
    return i;
}

static const struct gpume_coded_fact *fact_of(const struct gpume_coded *coded, uint64_t frame)
{
    return &coded->facts[frame % GPUME_CODED_FACTS];
}

uint64_t gpume_coded_reference(
    const struct gpume_coded *coded, uint64_t frame, bool future, uint32_t k)
{
    const uint64_t own = fact_of(coded, frame)->coded;
    const uint64_t oldest =
        coded->received > GPUME_CODED_FACTS ? coded->received - GPUME_CODED_FACTS : 0;
    uint64_t at = frame;
    for (uint32_t found = 0; found < k;) {
        if (future ? ++at >= coded->received : at-- <= oldest) {
            return UINT64_MAX;
        }
        const struct gpume_coded_fact *fact = fact_of(coded, at);
        found += fact->reference && fact->coded < own;
    }
    return at;
}

/* --- a frame's blocks */

/* By place, and past before future: candidate holds the order until the references are known. */
static int compare_blocks(const void *left, const void *right)
{
    const struct gpume_vectors_block *a = left, *b = right;
    const int order = a->y != b->y   ? (a->y < b->y ? -1 : 1)
                      : a->x != b->x ? (a->x < b->x ? -1 : 1)
                                     : 0;
    return order != 0 ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* Cuts off what lies to the left of the picture or above it. False: everything does. */
static bool cut_outside(int32_t position, uint16_t side, uint32_t *to, uint16_t *length)
{
    const int32_t outside = position < 0 ? -position : 0;
    *to = (uint32_t)(position + outside);
    *length = (uint16_t)(side - outside);
    return outside < side;
}

/* source: of the vector, kept in ref as k, and in rank: 0 for the past. */
static size_t take_vectors(struct gpume_vectors_block *blocks, const struct gpume_motion *motion)
{
    size_t count = 0;
    for (size_t i = 0; i < motion->count; i++) {
        const struct gpume_motion_vector *from = &motion->vectors[i];
        struct gpume_vectors_block *to = &blocks[count];
        const bool future = from->source > 0;
        memset(to, 0, sizeof(*to));
        if (cut_outside(from->x, from->w, &to->x, &to->w) &&
            cut_outside(from->y, from->h, &to->y, &to->h)) {
            to->dx = from->dx;
            to->dy = from->dy;
            to->rank = future;
            to->ref = (uint64_t)(future ? from->source : -(int64_t)from->source);
            to->ref2 = GPUME_VECTORS_ONE;
            count++;
        }
    }
    return count;
}

/* Makes one of the two vectors of a block. */
static size_t join_pairs(struct gpume_vectors_block *blocks, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_vectors_block *block = &blocks[i];
        struct gpume_vectors_block *last = kept > 0 ? &blocks[kept - 1] : NULL;
        if (!last || last->x != block->x || last->y != block->y) {
            blocks[kept++] = *block;
        } else if (last->rank == 0 && block->rank == 1 && last->ref2 == GPUME_VECTORS_ONE) {
            last->ref2 = block->ref;
            last->dx2 = block->dx;
            last->dy2 = block->dy;
        }
    }
    return kept;
}

static int take_motion(struct gpume_coded *coded, int64_t time_us)
{
    const struct gpume_motion *motion = gpume_source_motion(coded->source);
    const uint64_t number = coded->received;
    struct gpume_coded_frame *frame = &coded->queue[number % (GPUME_CODED_AHEAD + 1)];
    void *blocks =
        gpume_reserve(frame->blocks, motion->count, &frame->capacity, sizeof(*frame->blocks));
    if (!blocks && motion->count > 0) {
        return gpume_refuse(GPUME_NOMEM, "out of memory for motion vectors");
    }
    frame->blocks = blocks;
    coded->facts[number % GPUME_CODED_FACTS] =
        (struct gpume_coded_fact){motion->coded, motion->reference};
    frame->frame = number;
    frame->time_us = time_us;
    frame->type = motion->type;
    frame->interlaced = motion->interlaced;
    frame->units = motion->units;
    frame->count = take_vectors(frame->blocks, motion);
    if (frame->count > 0) {
        qsort(frame->blocks, frame->count, sizeof(*frame->blocks), compare_blocks);
    }
    frame->count = join_pairs(frame->blocks, frame->count);
    frame->has_future = false;
    for (size_t i = 0; i < frame->count; i++) {
        const struct gpume_vectors_block *block = &frame->blocks[i];
        frame->has_future |= block->rank == 1 || block->ref2 != GPUME_VECTORS_ONE;
    }
    coded->received++;
    return GPUME_OK;
}

/* --- references */

static bool is_ready(const struct gpume_coded *coded, const struct gpume_coded_frame *frame)
{
    return coded->ended || !frame->has_future ||
           coded->received - frame->frame > GPUME_CODED_AHEAD ||
           gpume_coded_reference(coded, frame->frame, true, 1) != UINT64_MAX;
}

/* A stream that begins in the middle, or is damaged, lacks references: the neighbour stands in. */
static uint64_t name_reference(
    const struct gpume_coded *coded, uint64_t frame, bool future, uint64_t k)
{
    const uint64_t ref = gpume_coded_reference(coded, frame, future, (uint32_t)k);
    return ref != UINT64_MAX ? ref : future ? frame + 1 : frame > 0 ? frame - 1 : 0;
}

static void name_references(const struct gpume_coded *coded, struct gpume_coded_frame *frame)
{
    for (size_t i = 0; i < frame->count; i++) {
        struct gpume_vectors_block *block = &frame->blocks[i];
        block->ref = name_reference(coded, frame->frame, block->rank == 1, block->ref);
        if (block->ref2 != GPUME_VECTORS_ONE) {
            block->ref2 = name_reference(coded, frame->frame, true, block->ref2);
        }
        block->rank = 0;
    }
}

static int read_coded_frame(struct gpume_coded *coded)
{
    int64_t time_us = 0;
    const int status = coded->read ? coded->read(coded->opaque, &time_us)
                                   : gpume_source_read(coded->source, NULL, &time_us);
    coded->ended = status == GPUME_EOF;
    return status == GPUME_OK ? take_motion(coded, time_us) : coded->ended ? GPUME_OK : status;
}

/* The next frame, also if it has no blocks; NULL after the last. Valid until the next call. */
static int coded_next(struct gpume_coded *coded, const struct gpume_coded_frame **result)
{
    int status = GPUME_OK;
    struct gpume_coded_frame *frame = &coded->queue[coded->returned % (GPUME_CODED_AHEAD + 1)];
    while (!coded->ended && (coded->received == coded->returned || !is_ready(coded, frame))) {
        GPUME_TRY(read_coded_frame(coded));
    }
    *result = NULL;
    if (coded->received > coded->returned) {
        name_references(coded, frame);
        coded->returned++;
        *result = frame;
    }
fail:
    return status;
}

enum gpume_exit gpume_coded_run(
    struct gpume_coded *coded, struct gpume_cli_job *job, gpume_coded_take_fn take, void *client)
{
    enum gpume_exit result = GPUME_EXIT_DONE;
    const struct gpume_coded_frame *frame = NULL;
    bool enough = false;
    coded->source = job->source;
    int status = coded_next(coded, &frame);
    while (status == GPUME_OK && result == GPUME_EXIT_DONE && frame) {
        job->frames++;
        gpume_progress_step(&job->progress, job->frames, (double)NAN);
        result = take(client, frame, &enough);
        if (result != GPUME_EXIT_DONE || enough) {
            break;
        }
        status = coded_next(coded, &frame);
    }
    gpume_progress_finish(&job->progress, job->frames);
    return gpume_signals_caught() ? GPUME_EXIT_FAILED : result ? result : gpume_source_exit(status);
}

enum gpume_exit gpume_coded_refuse(
    const struct gpume_source_info *info, uint64_t frames, uint64_t predicted)
{
    return predicted > 0
               ? gpume_refuse(GPUME_EXIT_INPUT,
                     "%s: FFmpeg exports no motion vectors of %s video; it does of H.264, MPEG-1, "
                     "MPEG-2, MPEG-4, H.263 and their relatives",
                     info->label, info->codec)
               : gpume_refuse(GPUME_EXIT_INPUT,
                     "%s: has no motion vectors: all of its frames are coded alone (%" PRIu64 ")",
                     info->label, frames);
}

void gpume_coded_warn_interlaced(const struct gpume_source_info *info, uint64_t frames)
{
    if (frames > 0) {
        gpume_console_warning("%s: %" PRIu64 " of its frames are interlaced: where a block was "
                              "coded as lines of one field, FFmpeg gives the place and the vector "
                              "in that field",
            info->label, frames);
    }
}

void gpume_coded_finish(struct gpume_coded *coded)
{
    for (size_t i = 0; i <= GPUME_CODED_AHEAD; i++) {
        free(coded->queue[i].blocks);
        coded->queue[i].blocks = NULL;
    }
}
