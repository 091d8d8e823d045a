/* SPDX-License-Identifier: BSD-2-Clause */
#include "coded/versus_table.h"

#include "console.h"
#include "files/digits.h"
#include "files/table.h"
#include "vectors/block_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROW_BYTES 512u /* 22 cells of up to 20 characters, with their commas */

static const struct gpume_versus_side *side_of(const struct gpume_versus_block *block, size_t side)
{
    return side == 0 ? &block->coded : &block->exact;
}

static bool uses_both(const struct gpume_versus_side *side)
{
    return side->refs[0] != GPUME_VERSUS_NONE && side->refs[1] != GPUME_VERSUS_NONE;
}

static void add_block(struct gpume_versus_sums *sums, const struct gpume_versus_block *block)
{
    const uint64_t coded = block->coded.sums.sad, exact = block->exact.sums.sad;
    sums->blocks++;
    sums->pixels += block->place.w * block->place.h;
    for (size_t i = 0; i < 2; i++) {
        const struct gpume_versus_side *side = side_of(block, i);
        sums->match[i].sad += side->sums.sad;
        sums->match[i].sse += side->sums.sse;
        sums->bits[i] += side->bits;
    }
    sums->better += exact < coded;
    sums->equal += exact == coded;
    sums->worse += exact > coded;
}

/* How far a block's vectors lead in relation to the window: the largest of what they are in either
 * direction. Negative: within it; 0: to its border. */
static int32_t beyond(const struct gpume_versus_rows *rows, const struct gpume_versus_side *side)
{
    const int32_t window[2] = {GPUME_VECTORS_UNITS * (int32_t)rows->window_x,
        GPUME_VECTORS_UNITS * (int32_t)rows->window_y};
    int32_t most = INT32_MIN;
    for (size_t k = 0; k < 2; k++) {
        const int32_t x = abs(side->dx[k]) - window[0], y = abs(side->dy[k]) - window[1];
        most = x > most ? x : most;
        most = y > most ? y : most;
    }
    return most;
}

static int64_t block_loss(const struct gpume_versus_block *block)
{
    return (int64_t)block->coded.sums.sad - (int64_t)block->exact.sums.sad;
}

static void list_block(
    struct gpume_versus_rows *rows, uint64_t frame, const struct gpume_versus_block *block)
{
    const bool full = rows->worst_count == GPUME_VERSUS_LISTED;
    const int64_t loss = block_loss(block);
    size_t at = full ? GPUME_VERSUS_LISTED - 1 : rows->worst_count;
    if (loss <= 0 || (full && block_loss(&rows->worst[at].block) >= loss)) {
        return;
    }
    rows->worst_count += !full;
    for (; at > 0 && block_loss(&rows->worst[at - 1].block) < loss; at--) {
        rows->worst[at] = rows->worst[at - 1];
    }
    rows->worst[at] = (struct gpume_versus_listed){frame, *block};
}

int gpume_versus_rows_add(struct gpume_versus_rows *rows, const struct gpume_versus_frame *frame)
{
    if (rows->count == rows->capacity) {
        const size_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 1024;
        struct gpume_versus_row *more = realloc(rows->rows, capacity * sizeof(*more));
        if (!more) {
            return gpume_refuse(GPUME_NOMEM, "out of memory for the table of frames");
        }
        rows->rows = more;
        rows->capacity = capacity;
    }
    struct gpume_versus_row *row = &rows->rows[rows->count++];
    *row = (struct gpume_versus_row){.frame = frame->frame,
        .time_us = frame->time_us,
        .type = frame->type,
        .left_out = frame->left_out};
    rows->left_out += frame->left_out;
    for (size_t i = 0; i < frame->count; i++) {
        const struct gpume_versus_block *block = &frame->blocks[i];
        add_block(&row->sums, block);
        add_block(&rows->all, block);
        add_block(&rows->shapes[block->shape], block);
        if (uses_both(&block->coded)) {
            add_block(&rows->both, block);
        }
        list_block(rows, frame->frame, block);
        rows->at_border += beyond(rows, &block->exact) == 0;
        rows->outside += beyond(rows, &block->coded) > 0;
    }
    return GPUME_OK;
}

void gpume_versus_rows_finish(struct gpume_versus_rows *rows)
{
    free(rows->rows);
    *rows = (struct gpume_versus_rows){0};
}

double gpume_versus_psnr(uint32_t bits, const struct gpume_versus_sums *sums, size_t side)
{
    return gpume_psnr(bits, sums->pixels, sums->match[side].sse);
}

double gpume_versus_gain(const struct gpume_versus_sums *sums)
{
    const double coded = (double)sums->match[0].sad, exact = (double)sums->match[1].sad;
    return coded > 0 ? 100 * (coded - exact) / coded : 0;
}

void gpume_versus_say_gain(const struct gpume_versus_sums *sums, char *text, size_t bytes)
{
    const double gain = gpume_versus_gain(sums);
    snprintf(text, bytes, "%.1f %% %s", fabs(gain), gain < 0 ? "more" : "less");
}

void gpume_versus_write_head(struct gpume_out *out)
{
    gpume_digits_init();
    (void)gpume_out_text(out,
        "frame,type,x,y,w,h,ref,dx,dy,ref2,dx2,dy2,sad,bits,exact_ref,exact_dx,exact_dy,"
        "exact_ref2,exact_dx2,exact_dy2,exact_sad,exact_bits\n");
}

static char *put_number(char *at, uint64_t number)
{
    *at++ = ',';
    return gpume_digits_put_long(at, number);
}

static char *put_match(char *at, const struct gpume_versus_side *side, size_t k)
{
    at = put_number(at, side->refs[k]);
    *at++ = ',';
    at = gpume_block_put(at, GPUME_BLOCK_PIXELS, side->dx[k]);
    *at++ = ',';
    return gpume_block_put(at, GPUME_BLOCK_PIXELS, side->dy[k]);
}

static char *put_side(char *at, const struct gpume_versus_side *side)
{
    at = put_match(at, side, side->refs[0] != GPUME_VERSUS_NONE ? 0 : 1);
    if (uses_both(side)) {
        at = put_match(at, side, 1);
    } else {
        *at++ = ',';
        *at++ = ',';
        *at++ = ',';
    }
    at = put_number(at, side->sums.sad);
    return put_number(at, side->bits);
}

void gpume_versus_write_blocks(struct gpume_out *out, const struct gpume_versus_frame *frame)
{
    char row[ROW_BYTES];
    for (size_t i = 0; i < frame->count; i++) {
        const struct gpume_versus_block *block = &frame->blocks[i];
        const struct gpume_match_block *place = &block->place;
        char *at = gpume_digits_put_long(row, frame->frame);
        *at++ = ',';
        *at++ = frame->type;
        at = put_number(at, place->x);
        at = put_number(at, place->y);
        at = put_number(at, place->w);
        at = put_number(at, place->h);
        at = put_side(at, &block->coded);
        at = put_side(at, &block->exact);
        *at++ = '\n';
        (void)gpume_out_write(out, row, (size_t)(at - row));
    }
}

struct frame_row {
    struct gpume_versus_row frame;
    double psnr[2];
};

#define ROW struct frame_row
static const struct gpume_column columns[] = {
    {GPUME_COLUMN("frame", ROW, frame.frame)},
    {GPUME_COLUMN("time", ROW, frame.time_us)},
    {GPUME_COLUMN("type", ROW, frame.type)},
    {GPUME_COLUMN("blocks", ROW, frame.sums.blocks)},
    {GPUME_COLUMN("left_out", ROW, frame.left_out)},
    {GPUME_COLUMN("pixels", ROW, frame.sums.pixels)},
    {GPUME_COLUMN("better", ROW, frame.sums.better)},
    {GPUME_COLUMN("equal", ROW, frame.sums.equal)},
    {GPUME_COLUMN("worse", ROW, frame.sums.worse)},
    {GPUME_COLUMN("sad", ROW, frame.sums.match[0].sad)},
    {GPUME_COLUMN("exact_sad", ROW, frame.sums.match[1].sad)},
    {GPUME_COLUMN("psnr", ROW, psnr[0]), .decimals = 3},
    {GPUME_COLUMN("exact_psnr", ROW, psnr[1]), .decimals = 3},
    {GPUME_COLUMN("bits", ROW, frame.sums.bits[0])},
    {GPUME_COLUMN("exact_bits", ROW, frame.sums.bits[1])},
};

void gpume_versus_write_frames(struct gpume_out *out, const struct gpume_versus_rows *rows)
{
    const struct gpume_table table = {GPUME_TABLE(columns, ROW)};
    gpume_table_csv_head(&table, out);
    for (size_t i = 0; i < rows->count; i++) {
        const struct gpume_versus_sums *sums = &rows->rows[i].sums;
        const ROW row = {.frame = rows->rows[i],
            .psnr = {
                gpume_versus_psnr(rows->bits, sums, 0), gpume_versus_psnr(rows->bits, sums, 1)}};
        gpume_table_csv(&table, &row, 1, out);
    }
}
