/* SPDX-License-Identifier: BSD-2-Clause */
/* The motion of a coded stream: how its vectors are read, how well they predict, and how the best
 * vectors do beside them. */
#include "coded/coded.h"

#include "base/base.h"
#include "console.h"
#include "job.h"
#include "model/cost.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the match of a block */

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
    const uint8_t *line = gpume_plane_row(plane, gpume_nearest(y, plane->height));
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

/* Replaces a by the mean of both, (a + b + 1) >> 1. */
static void match_mean(const struct gpume_match_block *block, struct gpume_match_samples *a,
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
static uint64_t match_sad(const struct gpume_match_block *block,
    const struct gpume_match_samples *a, const struct gpume_match_samples *b,
    const struct gpume_match_samples *c, uint64_t limit)
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
    struct gpume_match_sums sums = {match_sad(block, a, b, NULL, UINT64_MAX), 0};
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
                     "%s: FFmpeg exports no motion vectors of %s video; it does for H.264, MPEG-1, "
                     "MPEG-2, MPEG-4, H.263 and their relatives",
                     info->label, info->codec)
               : gpume_refuse(GPUME_EXIT_INPUT,
                     "%s: has no motion vectors: all of its frames are intra coded (%" PRIu64 ")",
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

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CELL 8u /* pixels, side of the smallest block */

/* A vector of the map where a block has none. */
static const struct gpume_vector no_vector = {INT16_MIN, INT16_MIN};

static size_t cells_x(const struct gpume_versus *versus)
{
    return (versus->width - 1) / CELL + 1;
}

static size_t cell_count(const struct gpume_versus *versus)
{
    return cells_x(versus) * ((versus->height - 1) / CELL + 1);
}

int gpume_versus_init(struct gpume_versus *versus, const struct gpume_source_info *info,
    const struct gpume_params *params)
{
    bool made = true;
    versus->width = info->width;
    versus->height = info->height;
    versus->interpolation = params->interpolation;
    versus->units = params->subpel;
    versus->lambda = params->rate ? params->lambda : 0;
    for (size_t i = 0; i < GPUME_VERSUS_PLANES; i++) {
        versus->planes[i] = gpume_source_plane(info);
        made = made && versus->planes[i].data;
    }
    for (size_t i = 0; i < 2; i++) {
        versus->maps[i] = malloc(cell_count(versus) * sizeof(*versus->maps[i]));
        made = made && versus->maps[i];
    }
    return made ? GPUME_OK : gpume_refuse(GPUME_NOMEM, "%s: out of memory", info->label);
}

void gpume_versus_finish(struct gpume_versus *versus)
{
    for (size_t i = 0; i < GPUME_VERSUS_PLANES; i++) {
        free(versus->planes[i].data);
    }
    free(versus->maps[0]);
    free(versus->maps[1]);
    free(versus->frame.blocks);
    *versus = (struct gpume_versus){0};
}

/* --- predictions */

static void predict_block(struct gpume_versus *versus, const struct gpume_versus_block *block,
    uint64_t ref, int32_t dx, int32_t dy, struct gpume_match_samples *samples)
{
    gpume_match_predict(
        gpume_versus_plane(versus, ref), &block->place, dx, dy, versus->interpolation, samples);
}

/* Which vector into the past and into the future a way to predict takes. */
enum vector { NONE, GIVEN, FOUND };
struct way {
    enum vector vectors[2];
};
static const struct way coded_ways[] = {{{GIVEN, NONE}}, {{NONE, GIVEN}}, {{GIVEN, GIVEN}}};
static const struct way exact_ways[] = {{{FOUND, NONE}}, {{NONE, FOUND}}, {{FOUND, FOUND}},
    {{FOUND, GIVEN}}, {{GIVEN, FOUND}}, {{GIVEN, NONE}}, {{NONE, GIVEN}}, {{GIVEN, GIVEN}}};

static const struct gpume_versus_vectors *vectors_of(
    const struct gpume_versus_block *block, enum vector which)
{
    return which == GIVEN ? &block->given : &block->found;
}

/* What the vectors predict, each computed when a way first takes it. */
struct predictions {
    bool made[2][FOUND + 1];
    struct gpume_match_samples samples[2][FOUND + 1];
};

static const struct gpume_match_samples *predict(struct gpume_versus *versus,
    const struct gpume_versus_block *block, struct predictions *all, size_t k, enum vector which)
{
    const struct gpume_versus_vectors *vectors = vectors_of(block, which);
    struct gpume_match_samples *samples = &all->samples[k][which];
    if (!all->made[k][which]) {
        predict_block(versus, block, block->candidates[k], vectors->dx[k], vectors->dy[k], samples);
        all->made[k][which] = true;
    }
    return samples;
}

/* Predicts the block in this way. False: it lacks a reference. */
static bool follow(struct gpume_versus *versus, const struct gpume_versus_block *block,
    const struct way *way, struct predictions *all, struct gpume_match_samples *samples)
{
    const struct gpume_match_samples *parts[2] = {NULL, NULL};
    for (size_t k = 0; k < 2; k++) {
        if (way->vectors[k] != NONE) {
            if (block->candidates[k] == GPUME_VERSUS_NONE) {
                return false;
            }
            parts[k] = predict(versus, block, all, k, way->vectors[k]);
        }
    }
    *samples = parts[0] ? *parts[0] : *parts[1];
    if (parts[0] && parts[1]) {
        match_mean(&block->place, samples, parts[1]);
    }
    return true;
}

/* --- bits */

static int32_t median(int32_t a, int32_t b, int32_t c)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* NULL: the pixel lies outside the picture, or its block has no such vector. */
static const struct gpume_vector *vector_at(
    const struct gpume_versus *versus, size_t k, int64_t x, int64_t y)
{
    if (x < 0 || y < 0 || x >= versus->width || y >= versus->height) {
        return NULL;
    }
    const struct gpume_vector *vector =
        &versus->maps[k][(size_t)y / CELL * cells_x(versus) + (size_t)x / CELL];
    return vector->dx == no_vector.dx ? NULL : vector;
}

/* The rule of --predictor median, for blocks of several sizes: left, above, and above to the right
 * (above to the left, where that is missing). */
static struct gpume_vector predictor_of(
    const struct gpume_versus *versus, size_t k, const struct gpume_match_block *block)
{
    const int64_t x = block->x, y = block->y;
    const struct gpume_vector *found[3] = {vector_at(versus, k, x - 1, y),
        vector_at(versus, k, x, y - 1), vector_at(versus, k, x + block->w, y - 1)};
    const struct gpume_vector zero = {0, 0};
    const struct gpume_vector *only = NULL;
    size_t count = 0;
    found[2] = found[2] ? found[2] : vector_at(versus, k, x - 1, y - 1);
    for (size_t i = 0; i < 3; i++) {
        only = found[i] ? found[i] : only;
        count += found[i] != NULL;
        found[i] = found[i] ? found[i] : &zero;
    }
    if (count == 1) {
        return *only;
    }
    return (struct gpume_vector){(int16_t)median(found[0]->dx, found[1]->dx, found[2]->dx),
        (int16_t)median(found[0]->dy, found[1]->dy, found[2]->dy)};
}

static uint32_t bits_of(const struct gpume_versus *versus, const struct gpume_match_block *place,
    const struct gpume_versus_side *side)
{
    const int32_t unit = GPUME_VECTORS_UNITS / (int32_t)versus->units;
    uint32_t bits = 0;
    for (size_t k = 0; k < 2; k++) {
        if (side->refs[k] != GPUME_VERSUS_NONE) {
            const struct gpume_vector from = predictor_of(versus, k, place);
            bits += gpume_rate_bits(
                side->dx[k] / unit, side->dy[k] / unit, from.dx / unit, from.dy / unit);
        }
    }
    return bits;
}

static void clear_maps(struct gpume_versus *versus)
{
    for (size_t i = 0; i < cell_count(versus); i++) {
        versus->maps[0][i] = versus->maps[1][i] = no_vector;
    }
}

static void draw_side(struct gpume_versus *versus, const struct gpume_match_block *place,
    const struct gpume_versus_side *side)
{
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t y = 0; y < place->h && side->refs[k] != GPUME_VERSUS_NONE; y += CELL) {
            for (uint32_t x = 0; x < place->w; x += CELL) {
                const size_t row = (place->y + y) / CELL, column = (place->x + x) / CELL;
                versus->maps[k][row * cells_x(versus) + column] =
                    (struct gpume_vector){(int16_t)side->dx[k], (int16_t)side->dy[k]};
            }
        }
    }
}

static void count_bits(struct gpume_versus *versus, size_t side)
{
    clear_maps(versus);
    for (size_t i = 0; i < versus->frame.count; i++) {
        struct gpume_versus_block *block = &versus->frame.blocks[i];
        draw_side(versus, &block->place, &block->sides[side]);
    }
    for (size_t i = 0; i < versus->frame.count; i++) {
        struct gpume_versus_block *block = &versus->frame.blocks[i];
        block->sides[side].bits = bits_of(versus, &block->place, &block->sides[side]);
    }
}

/* --- the best way */

static struct gpume_versus_side side_in(
    const struct gpume_versus_block *block, const struct way *way, struct gpume_match_sums sums)
{
    struct gpume_versus_side side = {.sums = sums};
    for (size_t k = 0; k < 2; k++) {
        const bool used = way->vectors[k] != NONE;
        const struct gpume_versus_vectors *vectors = vectors_of(block, way->vectors[k]);
        side.refs[k] = used ? block->candidates[k] : GPUME_VERSUS_NONE;
        side.dx[k] = used ? vectors->dx[k] : 0;
        side.dy[k] = used ? vectors->dy[k] : 0;
    }
    return side;
}

/* The way of least SAD plus price, the first of equals. The maps hold the vectors of the blocks
 * before, from which bits are counted if they have a price. */
static struct gpume_versus_side choose_way(struct gpume_versus *versus,
    const struct gpume_versus_block *block, const struct way *ways, size_t count, uint32_t lambda)
{
    struct gpume_match_samples own;
    struct predictions predictions; /* not cleared */
    struct gpume_versus_side best = {.sums.sad = UINT64_MAX};
    uint64_t least = UINT64_MAX;
    memset(predictions.made, 0, sizeof(predictions.made));
    gpume_match_take(gpume_versus_plane(versus, versus->frame.frame), &block->place, &own);
    for (size_t i = 0; i < count; i++) {
        struct gpume_match_samples samples;
        if (!follow(versus, block, &ways[i], &predictions, &samples)) {
            continue;
        }
        const struct gpume_versus_side side =
            side_in(block, &ways[i], gpume_match_measure(&block->place, &own, &samples));
        const uint32_t bits = lambda > 0 ? bits_of(versus, &block->place, &side) : 0;
        const uint64_t cost = side.sums.sad + gpume_rate_cost(lambda, bits);
        if (cost < least) {
            least = cost;
            best = side;
        }
    }
    return best;
}

/* --- the stream's blocks */

/* How many frames the older one of a pair is behind the newest that was read. */
static uint64_t behind(const struct gpume_coded *coded, uint64_t frame, uint64_t ref)
{
    return coded->received - 1 - (frame < ref ? frame : ref);
}

/* The frames that a list of references may hold, and what the stream's vector finds in them. */
struct guesses {
    uint64_t refs[GPUME_VERSUS_TRIED];
    struct gpume_match_samples samples[GPUME_VERSUS_TRIED];
    uint32_t count;
};

static void guess(struct gpume_versus *versus, const struct gpume_coded *coded,
    const struct gpume_versus_block *block, size_t list, struct guesses *guesses)
{
    const uint64_t frame = versus->frame.frame;
    const bool several = versus->interpolation == GPUME_INTERPOLATION_H264;
    guesses->count = 0;
    while (guesses->count < (several ? GPUME_VERSUS_TRIED : 1)) {
        const uint32_t i = guesses->count;
        const uint64_t ref = gpume_coded_reference(coded, frame, list == 1, i + 1);
        if (ref == UINT64_MAX || behind(coded, frame, ref) >= GPUME_VERSUS_PLANES) {
            return;
        }
        predict_block(
            versus, block, ref, block->given.dx[list], block->given.dy[list], &guesses->samples[i]);
        guesses->refs[i] = ref;
        guesses->count++;
    }
}

/* Keeps a frame of one list, or of each, if they predict the block better than all before. own: its
 * samples. */
static void try_guess(struct gpume_versus_block *block, const struct gpume_match_samples *own,
    const struct guesses guesses[2], const uint32_t at[2], const bool uses[2], uint64_t *least)
{
    const struct gpume_match_samples *past = &guesses[0].samples[at[0]];
    const struct gpume_match_samples *future = &guesses[1].samples[at[1]];
    const uint64_t sad = match_sad(
        &block->place, own, uses[0] ? past : future, uses[0] && uses[1] ? future : NULL, *least);
    if (sad < *least) {
        *least = sad;
        for (size_t k = 0; k < 2; k++) {
            block->candidates[k] = uses[k] ? guesses[k].refs[at[k]] : block->candidates[k];
        }
    }
}

/* Finds the frames from which the vectors predict the block best, alone or together, the nearest of
 * equals. has: does it have a vector into the past, into the future? False: one of them is unknown,
 * or too far away to be searched. */
static bool find_references(struct gpume_versus *versus, const struct gpume_coded *coded,
    struct gpume_versus_block *block, const bool has[2])
{
    struct guesses guesses[2]; /* not cleared */
    struct gpume_match_samples own;
    uint64_t least = UINT64_MAX;
    for (size_t k = 0; k < 2; k++) {
        guesses[k].count = 0;
        if (has[k]) {
            guess(versus, coded, block, k, &guesses[k]);
        }
        if (has[k] && guesses[k].count == 0) {
            return false;
        }
        block->candidates[k] = has[k] ? guesses[k].refs[0] : GPUME_VERSUS_NONE;
    }
    gpume_match_take(gpume_versus_plane(versus, versus->frame.frame), &block->place, &own);
    for (uint32_t i = 0; i < guesses[0].count; i++) {
        try_guess(block, &own, guesses, (uint32_t[]){i, 0}, (bool[]){true, false}, &least);
    }
    for (uint32_t j = 0; j < guesses[1].count; j++) {
        try_guess(block, &own, guesses, (uint32_t[]){0, j}, (bool[]){false, true}, &least);
        for (uint32_t i = 0; i < guesses[0].count; i++) {
            try_guess(block, &own, guesses, (uint32_t[]){i, j}, (bool[]){true, true}, &least);
        }
    }
    for (size_t k = 0; k < 2; k++) {
        if (has[k] &&
            behind(coded, versus->frame.frame, block->candidates[k]) > GPUME_VERSUS_REACH) {
            return false;
        }
    }
    return true;
}

/* False: it cannot be compared. */
static bool take_block(struct gpume_versus *versus, const struct gpume_coded *coded,
    const struct gpume_vectors_block *from, struct gpume_versus_block *to)
{
    const uint64_t frame = versus->frame.frame;
    const uint32_t shape = gpume_coded_shape(from);
    const bool two = from->ref2 != GPUME_VECTORS_ONE;
    const bool future_only = !two && from->ref > frame;
    const bool has[2] = {!future_only, two || future_only};
    if (shape == GPUME_CODED_SHAPES) {
        return false;
    }
    *to = (struct gpume_versus_block){
        .place = {from->x, from->y, gpume_min_u32(from->w, versus->width - from->x),
            gpume_min_u32(from->h, versus->height - from->y)},
        .shape = (uint8_t)shape,
        .given = {{from->dx, two ? from->dx2 : from->dx}, {from->dy, two ? from->dy2 : from->dy}},
    };
    if (!find_references(versus, coded, to, has)) {
        return false;
    }
    to->sides[0] = choose_way(versus, to, coded_ways, COUNT(coded_ways), 0);
    return true;
}

int gpume_versus_begin(struct gpume_versus *versus, const struct gpume_coded *coded,
    const struct gpume_coded_frame *from)
{
    struct gpume_versus_frame *frame = &versus->frame;
    void *blocks =
        gpume_reserve(frame->blocks, from->count, &frame->capacity, sizeof(*frame->blocks));
    if (!blocks && from->count > 0) {
        return gpume_refuse(GPUME_NOMEM, "out of memory for blocks");
    }
    frame->blocks = blocks;
    frame->frame = from->frame;
    frame->time_us = from->time_us;
    frame->type = from->type;
    frame->count = 0;
    frame->left_out = 0;
    for (size_t i = 0; i < from->count; i++) {
        const struct gpume_vectors_block *block = &from->blocks[i];
        struct gpume_versus_block *to = &frame->blocks[frame->count];
        if (block->x >= versus->width || block->y >= versus->height) {
            continue; /* nothing of it is visible */
        }
        if (take_block(versus, coded, block, to)) {
            frame->count++;
        } else {
            frame->left_out++;
        }
    }
    return GPUME_OK;
}

/* --- the best vectors */

void gpume_versus_take(struct gpume_versus *versus, const struct gpume_field *field)
{
    const int32_t scale = GPUME_VECTORS_UNITS / (int32_t)field->vector_units;
    for (size_t i = 0; i < versus->frame.count; i++) {
        struct gpume_versus_block *block = &versus->frame.blocks[i];
        const struct gpume_layer *layer = field->layers[block->shape];
        const struct gpume_vector *vector =
            &layer->vectors[block->place.y / layer->block_h * layer->blocks_x +
                            block->place.x / layer->block_w];
        for (size_t k = 0; k < 2; k++) {
            if (block->candidates[k] == field->ref) {
                block->found.dx[k] = scale * vector->dx;
                block->found.dy[k] = scale * vector->dy;
            }
        }
    }
}

void gpume_versus_end(struct gpume_versus *versus)
{
    clear_maps(versus);
    for (size_t i = 0; i < versus->frame.count; i++) {
        struct gpume_versus_block *block = &versus->frame.blocks[i];
        block->sides[1] = choose_way(versus, block, exact_ways, COUNT(exact_ways), versus->lambda);
        draw_side(versus, &block->place, &block->sides[1]);
    }
    count_bits(versus, 0);
    count_bits(versus, 1);
}

void gpume_versus_predict(struct gpume_versus *versus, const struct gpume_versus_block *block,
    size_t side, struct gpume_match_samples *samples)
{
    const struct gpume_versus_side *way = &block->sides[side];
    const bool uses[2] = {way->refs[0] != GPUME_VERSUS_NONE, way->refs[1] != GPUME_VERSUS_NONE};
    for (size_t k = 0; k < 2; k++) {
        struct gpume_match_samples part;
        if (!uses[k]) {
            continue;
        }
        gpume_match_predict(gpume_versus_plane(versus, way->refs[k]), &block->place, way->dx[k],
            way->dy[k], versus->interpolation, k > 0 && uses[0] ? &part : samples);
        if (k > 0 && uses[0]) {
            match_mean(&block->place, samples, &part);
        }
    }
}
