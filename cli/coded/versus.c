/* SPDX-License-Identifier: BSD-2-Clause */
#include "coded/coded.h"

#include "base/base.h"
#include "console.h"
#include "model/cost.h"

#include <stdlib.h>
#include <string.h>

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
        gpume_match_mean(&block->place, samples, parts[1]);
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
    const uint64_t sad = gpume_match_sad(
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
            gpume_match_mean(&block->place, samples, &part);
        }
    }
}
