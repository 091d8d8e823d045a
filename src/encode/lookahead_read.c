/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads frames into half planes: the first of the steps that put them into a lookahead. */
#include "base/grid.h"
#include "encode/kernels/kernels.h"
#include "encode/lookahead_state.h"

#include <assert.h>
#include <stdlib.h>

/* The threads that read. */
static const struct gpume_split *split_of(const struct gpume_lookahead *lookahead)
{
    return lookahead->reading.workers ? &lookahead->reading : &lookahead->split;
}

static void read_part(void *opaque, uint32_t part)
{
    const struct gpume_reading *r = opaque;
    const struct gpume_lookahead *l = r->lookahead;
    const struct gpume_split *split = split_of(l);
    const uint32_t begin = gpume_split_row(split, part);
    const uint32_t end = gpume_split_row(split, part + 1);
    uint8_t *memory = r->bands + (size_t)part * l->blocks_x * GPUME_BAND_BYTES;
    for (uint32_t y = begin; y < end; y++) {
        const struct gpume_band band = gpume_band_read(memory, &r->luma, l->blocks_x, y);
        gpume_half_write(&r->frame->half, &band, y);
        if (l->params.energies) {
            gpume_encode_kernels()->energies(
                &band, l->blocks_x, r->frame->energies + (size_t)y * l->blocks_x);
        }
    }
    r->sums[part] = (struct gpume_luma_sums){0};
    gpume_luma_add(
        &r->sums[part], &r->frame->half, begin * GPUME_HALF_BLOCK, end * GPUME_HALF_BLOCK);
}

/* Frames that their owner lends are read side by side, if another thread works on. */
bool gpume_readings_open(struct gpume_lookahead *lookahead)
{
    struct gpume_lookahead *l = lookahead;
    const uint32_t parts = split_of(l)->parts;
    bool complete = true;
    l->reading_count =
        gpume_blocks_on_gpu(l->work) ? gpume_min_u32(1 + l->params.lent, GPUME_READINGS_MAX) : 1;
    for (uint32_t i = 0; i < l->reading_count; i++) {
        struct gpume_reading *reading = &l->readings[i];
        *reading = (struct gpume_reading){
            .step = {.fn = read_part, .opaque = reading, .count = parts},
            .lookahead = l,
            .bands = calloc((size_t)parts * l->blocks_x, GPUME_BAND_BYTES),
            .sums = calloc(parts, sizeof(*reading->sums)),
        };
        complete = complete && reading->bands && reading->sums;
    }
    return complete;
}

void gpume_readings_close(struct gpume_lookahead *lookahead)
{
    for (uint32_t i = 0; i < lookahead->reading_count; i++) {
        free(lookahead->readings[i].sums);
        free(lookahead->readings[i].bands);
    }
}

uint32_t gpume_lookahead_readings(const struct gpume_lookahead *lookahead)
{
    return lookahead->reading_count;
}

void gpume_lookahead_begin_reading(
    struct gpume_lookahead *lookahead, const struct gpume_plane *luma)
{
    struct gpume_lookahead *l = lookahead;
    assert(l->begun - l->first < l->params.frames_max && l->begun - l->read < l->reading_count);
    struct gpume_reading *reading = &l->readings[l->begun % l->reading_count];
    struct gpume_step *step = &reading->step;
    reading->frame = &l->frames[l->begun++ % l->params.frames_max];
    reading->luma = *luma;
    gpume_workers_add(split_of(l)->workers, &step, 1);
}

void gpume_lookahead_complete_reading(struct gpume_lookahead *lookahead)
{
    struct gpume_lookahead *l = lookahead;
    const struct gpume_split *split = split_of(l);
    const struct gpume_reading *reading = &l->readings[l->read % l->reading_count];
    struct gpume_kept_frame *frame = reading->frame;
    struct gpume_luma_sums sums = {0};
    gpume_workers_wait(split->workers, &reading->step);
    for (uint32_t part = 0; part < split->parts; part++) {
        sums.samples += reading->sums[part].samples;
        sums.squares += reading->sums[part].squares;
    }
    frame->luma = gpume_luma_stats(&sums, &frame->half);
    frame->intra.half = &frame->half;
    frame->intra.frame = l->read++;
}
