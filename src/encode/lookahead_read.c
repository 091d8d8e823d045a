/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads frames into half planes: the first of the steps that put them into a lookahead. */
#include "base/grid.h"
#include "encode/kernels/kernels.h"
#include "encode/lookahead_state.h"

#include <assert.h>
#include <stdlib.h>

static void read_row(void *opaque, uint32_t y)
{
    const struct gpume_reading *r = opaque;
    const struct gpume_lookahead *l = r->lookahead;
    uint8_t *memory = r->bands + (size_t)y * l->blocks_x * GPUME_BAND_BYTES;
    const struct gpume_band band = gpume_band_read(memory, &r->luma, l->blocks_x, y);
    gpume_half_write(&r->frame->half, &band, y);
    if (l->params.energies) {
        gpume_encode_kernels()->energies(
            &band, l->blocks_x, r->frame->energies + (size_t)y * l->blocks_x);
    }
    r->sums[y] = (struct gpume_luma_sums){0};
    gpume_luma_add(&r->sums[y], &r->frame->half, y * GPUME_HALF_BLOCK, (y + 1) * GPUME_HALF_BLOCK);
}

/* Frames that their owner lends are read side by side, if another thread works on. */
bool gpume_readings_open(struct gpume_lookahead *lookahead)
{
    struct gpume_lookahead *l = lookahead;
    bool complete = true;
    l->reading_count = l->ahead ? gpume_min_u32(1 + l->params.lent, GPUME_READINGS_MAX) : 1;
    for (uint32_t i = 0; i < l->reading_count; i++) {
        struct gpume_reading *reading = &l->readings[i];
        *reading = (struct gpume_reading){
            .step = gpume_split_step(&l->split, GPUME_SPLIT_READ, read_row, reading),
            .lookahead = l,
            .bands = calloc(l->blocks, GPUME_BAND_BYTES),
            .sums = calloc(l->blocks_y, sizeof(*reading->sums)),
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
    gpume_workers_add(l->split.workers, &step, 1);
}

void gpume_lookahead_complete_reading(struct gpume_lookahead *lookahead)
{
    struct gpume_lookahead *l = lookahead;
    const struct gpume_reading *reading = &l->readings[l->read % l->reading_count];
    struct gpume_kept_frame *frame = reading->frame;
    struct gpume_luma_sums sums = {0};
    gpume_workers_wait(l->split.workers, &reading->step);
    for (uint32_t y = 0; y < l->blocks_y; y++) {
        sums.samples += reading->sums[y].samples;
        sums.squares += reading->sums[y].squares;
    }
    frame->luma = gpume_luma_stats(&sums, &frame->half);
    frame->intra.half = &frame->half;
    frame->intra.frame = l->read++;
}
