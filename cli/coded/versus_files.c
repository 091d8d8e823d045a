/* SPDX-License-Identifier: BSD-2-Clause */
/* Adds up the blocks of a comparison, and writes its files. */
#include "coded/coded.h"

#include "base/base.h"
#include "base/params.h"
#include "console.h"
#include "files/forms.h"
#include "files/path.h"
#include "media/picture.h"
#include "report/shell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 1000u /* of a curve: more than a chart has pixels */
#define CHART_W 960.0
#define CHART_H 180.0

/* --- sums */

static void add_block(struct gpume_versus_sums *sums, const struct gpume_versus_block *block)
{
    const uint64_t coded = block->sides[0].sums.sad, exact = block->sides[1].sums.sad;
    sums->blocks++;
    sums->pixels += block->place.w * block->place.h;
    for (size_t i = 0; i < 2; i++) {
        const struct gpume_versus_side *side = &block->sides[i];
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
    return (int64_t)block->sides[0].sums.sad - (int64_t)block->sides[1].sums.sad;
}

/* Where a crop starts whose middle is that of the block, moved to lie inside the picture. */
static uint32_t crop_start(uint32_t at, uint32_t side, uint32_t crop, uint32_t whole)
{
    const uint32_t middle = at + side / 2, start = middle > crop / 2 ? middle - crop / 2 : 0;
    return gpume_min_u32(start, whole - crop);
}

static unsigned char upper_bits(uint32_t sample, uint32_t bits)
{
    return (unsigned char)gpume_min_u32(sample >> (bits - 8), 255);
}

static void take_crops(struct gpume_versus_listed *listed, struct gpume_versus *versus)
{
    const struct gpume_plane *target = gpume_versus_plane(versus, listed->frame);
    const struct gpume_match_block *place = &listed->block.place;
    struct gpume_match_samples predicted[2];
    listed->width = gpume_min_u32(GPUME_VERSUS_CROP, target->width);
    listed->height = gpume_min_u32(GPUME_VERSUS_CROP, target->height);
    listed->left = crop_start(place->x, place->w, listed->width, target->width);
    listed->top = crop_start(place->y, place->h, listed->height, target->height);
    gpume_versus_predict(versus, &listed->block, 0, &predicted[0]);
    gpume_versus_predict(versus, &listed->block, 1, &predicted[1]);
    for (uint32_t i = 0; i < listed->width * listed->height; i++) {
        const uint32_t x = listed->left + i % listed->width, y = listed->top + i / listed->width;
        const uint32_t sample = gpume_plane_sample(target, x, y);
        const uint32_t column = x - place->x, line = y - place->y; /* large outside the block */
        const bool within = column < place->w && line < place->h;
        listed->crops[0][i] = upper_bits(sample, target->bits);
        for (size_t side = 0; side < 2; side++) {
            listed->crops[side + 1][i] =
                within ? upper_bits((uint32_t)predicted[side].values[line * place->w + column],
                             target->bits)
                       : listed->crops[0][i];
        }
    }
}

static void list_block(struct gpume_versus_rows *rows, struct gpume_versus *versus,
    const struct gpume_versus_block *block)
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
    rows->worst[at].frame = versus->frame.frame;
    rows->worst[at].block = *block;
    take_crops(&rows->worst[at], versus);
}

int gpume_versus_rows_add(struct gpume_versus_rows *rows, struct gpume_versus *versus)
{
    const struct gpume_versus_frame *frame = &versus->frame;
    struct gpume_versus_row *row =
        gpume_grow(rows->rows, rows->count, &rows->capacity, sizeof(*row));
    if (!row) {
        return gpume_refuse(GPUME_NOMEM, "out of memory for the table of frames");
    }
    rows->rows = row;
    row += rows->count++;
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
        if (block->sides[0].refs[0] != GPUME_VERSUS_NONE &&
            block->sides[0].refs[1] != GPUME_VERSUS_NONE) {
            add_block(&rows->both, block);
        }
        list_block(rows, versus, block);
        rows->at_border += beyond(rows, &block->sides[1]) == 0;
        rows->outside += beyond(rows, &block->sides[0]) > 0;
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

/* In percent. */
static double gain_of(const struct gpume_versus_sums *sums)
{
    const double coded = (double)sums->match[0].sad, exact = (double)sums->match[1].sad;
    return coded > 0 ? 100 * (coded - exact) / coded : 0;
}

void gpume_versus_say_gain(const struct gpume_versus_sums *sums, char *text, size_t bytes)
{
    const double gain = gain_of(sums);
    snprintf(text, bytes, "%.1f %% %s", fabs(gain), gain < 0 ? "more" : "less");
}

/* --- tables */

struct block_cells {
    uint64_t frame;
    char type;
    uint32_t x, y, w, h;
    struct side_cells {
        struct {
            uint64_t ref;
            char dx[16], dy[16]; /* empty without ref */
        } match[2];
        uint64_t sad;
        uint32_t bits;
    } sides[2];
};

#define BLOCK struct block_cells
#define SIDE(before, i)                                                                            \
    {GPUME_COLUMN(before "ref", BLOCK, sides[i].match[0].ref)},                                    \
        {GPUME_COLUMN(before "dx", BLOCK, sides[i].match[0].dx)},                                  \
        {GPUME_COLUMN(before "dy", BLOCK, sides[i].match[0].dy)},                                  \
        {GPUME_COLUMN(before "ref2", BLOCK, sides[i].match[1].ref), .unknown = GPUME_IF_MISSING},  \
        {GPUME_COLUMN(before "dx2", BLOCK, sides[i].match[1].dx)},                                 \
        {GPUME_COLUMN(before "dy2", BLOCK, sides[i].match[1].dy)},                                 \
        {GPUME_COLUMN(before "sad", BLOCK, sides[i].sad)},                                         \
    {                                                                                              \
        GPUME_COLUMN(before "bits", BLOCK, sides[i].bits)                                          \
    }
static const struct gpume_column cells[] = {
    {GPUME_COLUMN("frame", BLOCK, frame)},
    {GPUME_COLUMN("type", BLOCK, type)},
    {GPUME_COLUMN("x", BLOCK, x)},
    {GPUME_COLUMN("y", BLOCK, y)},
    {GPUME_COLUMN("w", BLOCK, w)},
    {GPUME_COLUMN("h", BLOCK, h)},
    SIDE("", 0),
    SIDE("exact_", 1),
};
static const struct gpume_table cells_table = {GPUME_TABLE(cells, BLOCK)};

void gpume_versus_write_head(struct gpume_out *out)
{
    gpume_table_csv_head(&cells_table, out);
}

/* A side with one vector has it in the first match. */
static struct side_cells cells_of(const struct gpume_versus_side *side)
{
    struct side_cells found = {.sad = side->sums.sad, .bits = side->bits};
    size_t count = 0;
    found.match[1].ref = GPUME_MISSING;
    for (size_t k = 0; k < 2; k++) {
        if (side->refs[k] != GPUME_VERSUS_NONE) {
            found.match[count].ref = side->refs[k];
            snprintf(found.match[count].dx, sizeof(found.match[count].dx), "%.8g",
                (double)side->dx[k] / GPUME_VECTORS_UNITS);
            snprintf(found.match[count].dy, sizeof(found.match[count].dy), "%.8g",
                (double)side->dy[k] / GPUME_VECTORS_UNITS);
            count++;
        }
    }
    return found;
}

void gpume_versus_write_blocks(struct gpume_out *out, const struct gpume_versus_frame *frame)
{
    for (size_t i = 0; i < frame->count; i++) {
        const struct gpume_versus_block *block = &frame->blocks[i];
        const BLOCK row = {.frame = frame->frame,
            .type = frame->type,
            .x = block->place.x,
            .y = block->place.y,
            .w = block->place.w,
            .h = block->place.h,
            .sides = {cells_of(&block->sides[0]), cells_of(&block->sides[1])}};
        gpume_table_csv(&cells_table, &row, 1, out);
    }
}

struct frame_row {
    struct gpume_versus_row frame;
    double psnr[2];
};

static const struct gpume_column columns[] = {
    {GPUME_COLUMN("frame", struct frame_row, frame.frame)},
    {GPUME_COLUMN("time", struct frame_row, frame.time_us)},
    {GPUME_COLUMN("type", struct frame_row, frame.type)},
    {GPUME_COLUMN("blocks", struct frame_row, frame.sums.blocks)},
    {GPUME_COLUMN("left_out", struct frame_row, frame.left_out)},
    {GPUME_COLUMN("pixels", struct frame_row, frame.sums.pixels)},
    {GPUME_COLUMN("better", struct frame_row, frame.sums.better)},
    {GPUME_COLUMN("equal", struct frame_row, frame.sums.equal)},
    {GPUME_COLUMN("worse", struct frame_row, frame.sums.worse)},
    {GPUME_COLUMN("sad", struct frame_row, frame.sums.match[0].sad)},
    {GPUME_COLUMN("exact_sad", struct frame_row, frame.sums.match[1].sad)},
    {GPUME_COLUMN("psnr", struct frame_row, psnr[0]), .decimals = 3},
    {GPUME_COLUMN("exact_psnr", struct frame_row, psnr[1]), .decimals = 3},
    {GPUME_COLUMN("bits", struct frame_row, frame.sums.bits[0])},
    {GPUME_COLUMN("exact_bits", struct frame_row, frame.sums.bits[1])},
};

void gpume_versus_write_frames(struct gpume_out *out, const struct gpume_versus_rows *rows)
{
    const struct gpume_table table = {GPUME_TABLE(columns, struct frame_row)};
    gpume_table_csv_head(&table, out);
    for (size_t i = 0; i < rows->count; i++) {
        const struct gpume_versus_sums *sums = &rows->rows[i].sums;
        const struct frame_row row = {.frame = rows->rows[i],
            .psnr = {
                gpume_versus_psnr(rows->bits, sums, 0), gpume_versus_psnr(rows->bits, sums, 1)}};
        gpume_table_csv(&table, &row, 1, out);
    }
}

/* --- the page: one file without scripts, whose charts are drawings in it */

/* Decimals have a point in every locale, since the program keeps that of C. */
static double per(uint64_t sum, uint64_t count)
{
    return count > 0 ? (double)sum / (double)count : 0;
}

static void put_cards(struct gpume_out *out, const struct gpume_versus_rows *rows)
{
    const struct gpume_versus_sums *all = &rows->all;
    char psnr[2][32], gain[32];
    for (size_t i = 0; i < 2; i++) {
        gpume_text_psnr(psnr[i], sizeof(psnr[i]), gpume_versus_psnr(rows->bits, all, i));
    }
    gpume_versus_say_gain(all, gain, sizeof(gain));
    gpume_html_print(out,
        "<dl class=\"cards\">\n<div><dt>SAD per pixel</dt><dd><span class=\"coded\">%.3f</span> "
        "&rarr; <span class=\"exact\">%.3f</span></dd>%s</div>\n"
        "<div><dt>PSNR of the prediction, dB</dt><dd><span class=\"coded\">%s</span> &rarr; "
        "<span class=\"exact\">%s</span></dd></div>\n",
        per(all->match[0].sad, all->pixels), per(all->match[1].sad, all->pixels), gain, psnr[0],
        psnr[1]);
    gpume_html_print(out,
        "<div><dt>Bits per block for vectors</dt><dd><span class=\"coded\">%.2f</span> &rarr; "
        "<span class=\"exact\">%.2f</span></dd></div>\n"
        "<div><dt>Blocks compared</dt><dd>%" PRIu64 "</dd>in %zu frame%s</div>\n</dl>\n",
        per(all->bits[0], all->blocks), per(all->bits[1], all->blocks), all->blocks, rows->count,
        gpume_plural(rows->count));
}

enum quantity { SAD_PER_PIXEL, BITS_PER_BLOCK };

static double value_of(const struct gpume_versus_sums *sums, enum quantity what, size_t side)
{
    return what == SAD_PER_PIXEL ? per(sums->match[side].sad, sums->pixels)
                                 : per(sums->bits[side], sums->blocks);
}

/* The mean of the rows that share a point. */
static double point_of(const struct gpume_versus_rows *rows, size_t point, size_t points,
    enum quantity what, size_t side)
{
    const size_t begin = point * rows->count / points, end = (point + 1) * rows->count / points;
    double sum = 0;
    for (size_t i = begin; i < end; i++) {
        sum += value_of(&rows->rows[i].sums, what, side);
    }
    return sum / (double)(end - begin);
}

static void put_curve(struct gpume_out *out, const struct gpume_versus_rows *rows,
    enum quantity what, size_t side, double top)
{
    const size_t points = rows->count < POINTS_MAX ? rows->count : POINTS_MAX;
    char text[64];
    gpume_html_put(out,
        side == 0 ? "<polyline class=\"coded\" points=\"" : "<polyline class=\"exact\" points=\"");
    for (size_t i = 0; i < points; i++) {
        const double x = points > 1 ? CHART_W * (double)i / (double)(points - 1) : CHART_W / 2;
        const double y = CHART_H * (1 - point_of(rows, i, points, what, side) / top);
        snprintf(text, sizeof(text), "%.1f,%.1f ", x, y);
        gpume_html_put(out, text);
    }
    gpume_html_put(out, "\"/>\n");
}

static double top_of(const struct gpume_versus_rows *rows, enum quantity what)
{
    double top = 0;
    for (size_t i = 0; i < rows->count; i++) {
        for (size_t side = 0; side < 2; side++) {
            top = fmax(top, value_of(&rows->rows[i].sums, what, side));
        }
    }
    return top > 0 ? top : 1;
}

static void put_chart(struct gpume_out *out, const struct gpume_versus_rows *rows,
    enum quantity what, const char *title)
{
    const double top = top_of(rows, what);
    const int decimals = top < 1 ? 3 : top < 100 ? 2 : 0;
    gpume_html_print(out,
        "<h2>%s</h2>\n<div class=\"chart\"><svg viewBox=\"-50 -10 1020 215\" role=\"img\" "
        "aria-label=\"%s\">\n",
        title, title);
    for (int i = 0; i <= 4; i++) {
        const double y = CHART_H * i / 4;
        gpume_html_print(out,
            "<line x1=\"0\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"-6\" y=\"%.1f\" "
            "text-anchor=\"end\">%.*f</text>\n",
            CHART_W, y, y, y + 4, decimals, top * (4 - i) / 4);
    }
    put_curve(out, rows, what, 0, top);
    put_curve(out, rows, what, 1, top);
    gpume_html_print(out,
        "<text x=\"0\" y=\"198\">frame %" PRIu64 "</text><text x=\"%.0f\" y=\"198\" "
        "text-anchor=\"end\">frame %" PRIu64 "</text>\n</svg></div>\n",
        rows->rows[0].frame, CHART_W, rows->rows[rows->count - 1].frame);
}

struct sums_row {
    char name[64];
    uint64_t blocks, better, equal, worse;
    double sad[2], less, psnr[2], bits[2];
};

enum { KINDS = 1, FRAMES = 2 };

#define ROW struct sums_row
#define CODED .classes = "coded"
#define EXACT .title = "best", .classes = "exact"
static const struct gpume_column sums_columns[] = {
    {GPUME_COLUMN(NULL, ROW, name), .title = "block", .only = KINDS},
    {GPUME_COLUMN(NULL, ROW, name), .title = "frame", .only = FRAMES},
    {GPUME_COLUMN(NULL, ROW, blocks), .title = "blocks"},
    {GPUME_COLUMN(NULL, ROW, better), .title = "better"},
    {GPUME_COLUMN(NULL, ROW, equal), .title = "equal"},
    {GPUME_COLUMN(NULL, ROW, worse), .title = "worse"},
    {GPUME_COLUMN(NULL, ROW, sad[0]), .title = "SAD/pixel", .shown = 3, CODED},
    {GPUME_COLUMN(NULL, ROW, sad[1]), .shown = 3, EXACT},
    {GPUME_COLUMN(NULL, ROW, less), .title = "less, %", .shown = 1},
    {GPUME_COLUMN(NULL, ROW, psnr[0]), .title = "PSNR", .shown = 3, CODED},
    {GPUME_COLUMN(NULL, ROW, psnr[1]), .shown = 3, EXACT},
    {GPUME_COLUMN(NULL, ROW, bits[0]), .title = "bits/block", .shown = 2, CODED},
    {GPUME_COLUMN(NULL, ROW, bits[1]), .shown = 2, EXACT},
};
static const struct gpume_table kinds_table = {GPUME_TABLE(sums_columns, ROW), .kind = KINDS};
static const struct gpume_table frames_table = {GPUME_TABLE(sums_columns, ROW), .kind = FRAMES};

static void put_sums(struct gpume_out *out, const struct gpume_table *table, uint32_t bits,
    const char *name, const struct gpume_versus_sums *sums)
{
    ROW row = {.blocks = sums->blocks,
        .better = sums->better,
        .equal = sums->equal,
        .worse = sums->worse,
        .less = gain_of(sums)};
    for (size_t i = 0; i < 2; i++) {
        row.sad[i] = per(sums->match[i].sad, sums->pixels);
        row.psnr[i] = gpume_versus_psnr(bits, sums, i);
        row.bits[i] = per(sums->bits[i], sums->blocks);
    }
    snprintf(row.name, sizeof(row.name), "%s", name);
    gpume_table_html(table, &row, NULL, out);
}

static void put_kinds(struct gpume_out *out, const struct gpume_versus_rows *rows)
{
    char name[32];
    gpume_html_put(out, "<h2>Kinds of blocks</h2>\n");
    gpume_table_html_head(&kinds_table, out);
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        const struct gpume_block_size *shape = &gpume_coded_shapes[i];
        snprintf(name, sizeof(name), "%" PRIu32 "x%" PRIu32, shape->width, shape->height);
        if (rows->shapes[i].blocks > 0) {
            put_sums(out, &kinds_table, rows->bits, name, &rows->shapes[i]);
        }
    }
    if (rows->both.blocks > 0) {
        put_sums(out, &kinds_table, rows->bits, "of these, means of two", &rows->both);
    }
    put_sums(out, &kinds_table, rows->bits, "all", &rows->all);
    gpume_table_html_end(out);
}

static uint64_t frame_loss(const struct gpume_versus_row *row)
{
    const uint64_t coded = row->sums.match[0].sad, exact = row->sums.match[1].sad;
    return coded > exact ? coded - exact : 0;
}

/* The frames that lose most, sorted by loss; equal ones in their order. */
static size_t find_worst(
    const struct gpume_versus_rows *rows, const struct gpume_versus_row *worst[GPUME_VERSUS_LISTED])
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct gpume_versus_row *row = &rows->rows[i];
        size_t at = count < GPUME_VERSUS_LISTED ? count++ : GPUME_VERSUS_LISTED;
        while (at > 0 && frame_loss(worst[at - 1]) < frame_loss(row)) {
            if (at < GPUME_VERSUS_LISTED) {
                worst[at] = worst[at - 1];
            }
            at--;
        }
        if (at < GPUME_VERSUS_LISTED) {
            worst[at] = row;
        }
    }
    return count;
}

static void put_worst(struct gpume_out *out, const struct gpume_versus_rows *rows)
{
    const struct gpume_versus_row *worst[GPUME_VERSUS_LISTED];
    const size_t count = find_worst(rows, worst);
    char name[64];
    gpume_html_put(out, "<h2>Frames that could gain most</h2>\n");
    gpume_table_html_head(&frames_table, out);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%" PRIu64 " %c, %.2f s", worst[i]->frame, worst[i]->type,
            (double)worst[i]->time_us / 1e6);
        put_sums(out, &frames_table, rows->bits, name, &worst[i]->sums);
    }
    gpume_table_html_end(out);
}

struct block_row {
    uint64_t frame, sad[2];
    char place[32], size[32], vectors[2][192];
    uint32_t bits[2];
};

static const struct gpume_column block_columns[] = {
    {GPUME_COLUMN(NULL, struct block_row, frame), .title = "frame"},
    {GPUME_COLUMN(NULL, struct block_row, place), .title = "x, y"},
    {GPUME_COLUMN(NULL, struct block_row, size), .title = "size"},
    {GPUME_COLUMN(NULL, struct block_row, vectors[0]), .title = "vector, frame", .markup = true,
        CODED},
    {GPUME_COLUMN(NULL, struct block_row, vectors[1]), .markup = true, EXACT},
    {GPUME_COLUMN(NULL, struct block_row, sad[0]), .title = "SAD", CODED},
    {GPUME_COLUMN(NULL, struct block_row, sad[1]), EXACT},
    {GPUME_COLUMN(NULL, struct block_row, bits[0]), .title = "bits", CODED},
    {GPUME_COLUMN(NULL, struct block_row, bits[1]), EXACT},
};
static const struct gpume_table block_table = {GPUME_TABLE(block_columns, struct block_row)};

static void write_vectors(char *text, size_t bytes, const struct gpume_versus_side *side)
{
    text[0] = '\0';
    for (size_t k = 0; k < 2; k++) {
        if (side->refs[k] != GPUME_VERSUS_NONE) {
            gpume_text_join(text, bytes, "<br>", "(%.4g, %.4g) in %" PRIu64, side->dx[k] / 4.0,
                side->dy[k] / 4.0, side->refs[k]);
        }
    }
}

static void put_blocks(struct gpume_out *out, const struct gpume_versus_rows *rows)
{
    gpume_html_put(out, "<h2>Blocks that could gain most</h2>\n");
    gpume_table_html_head(&block_table, out);
    for (size_t i = 0; i < rows->worst_count; i++) {
        const struct gpume_versus_block *block = &rows->worst[i].block;
        const struct gpume_match_block *place = &block->place;
        struct block_row row = {.frame = rows->worst[i].frame};
        snprintf(row.place, sizeof(row.place), "%" PRIu32 ", %" PRIu32, place->x, place->y);
        snprintf(row.size, sizeof(row.size), "%" PRIu32 "x%" PRIu32, place->w, place->h);
        for (size_t k = 0; k < 2; k++) {
            write_vectors(row.vectors[k], sizeof(row.vectors[k]), &block->sides[k]);
            row.sad[k] = block->sides[k].sums.sad;
            row.bits[k] = block->sides[k].bits;
        }
        gpume_table_html(&block_table, &row, NULL, out);
    }
    gpume_table_html_end(out);
}

#define STRIP_GAP 4u /* pixels between crops */
#define STRIP_WIDTH (3 * GPUME_VERSUS_CROP + 2 * STRIP_GAP)

/* The crops side by side; a line of black and white dots lies around each block. */
static void fill_strip(const struct gpume_versus_listed *listed, unsigned char *strip)
{
    const struct gpume_match_block *place = &listed->block.place;
    memset(strip, 255, (size_t)STRIP_WIDTH * GPUME_VERSUS_CROP);
    for (uint32_t i = 0; i < 3 * listed->width * listed->height; i++) {
        const uint32_t k = i / (listed->width * listed->height);
        const uint32_t x = i % listed->width, y = i / listed->width % listed->height;
        const uint32_t right = listed->left + x + 1 - place->x,
                       below = listed->top + y + 1 - place->y;
        const bool near = right <= place->w + 1 && below <= place->h + 1;
        const bool edge = right == 0 || below == 0 || right > place->w || below > place->h;
        strip[(size_t)y * STRIP_WIDTH + k * (GPUME_VERSUS_CROP + STRIP_GAP) + x] =
            near && edge ? ((x + y) % 2 ? 255 : 0)
                         : listed->crops[k][i % (listed->width * listed->height)];
    }
}

static int put_block_pictures(
    struct gpume_out *out, const struct gpume_versus_rows *rows, const char *label)
{
    static unsigned char strip[STRIP_WIDTH * GPUME_VERSUS_CROP];
    const struct gpume_plane plane = {.data = strip,
        .stride = STRIP_WIDTH,
        .width = STRIP_WIDTH,
        .height = GPUME_VERSUS_CROP,
        .bits = 8};
    struct gpume_still *still = NULL;
    int status =
        gpume_still_open(&still, label, plane.width, plane.height, false, true, &gpume_console);
    gpume_html_put(out,
        "<p class=\"note\">From left to right: the block in its frame, <span class=\"coded\">as "
        "coded</span>, and <span class=\"exact\">with the best vectors</span>. Around it lies the "
        "frame in all three, so a prediction that fits shows no seam.</p>\n<div "
        "class=\"strips\">\n");
    for (size_t i = 0; i < rows->worst_count && status == GPUME_OK; i++) {
        const struct gpume_versus_listed *listed = &rows->worst[i];
        const struct gpume_match_block *place = &listed->block.place;
        const unsigned char *data;
        size_t bytes;
        fill_strip(listed, strip);
        status = gpume_still_encode(still, &plane, &data, &bytes);
        if (status == GPUME_OK) {
            gpume_html_print(out,
                "<figure><img width=\"%u\" height=\"%u\" alt=\"the block, as coded, with the best "
                "vectors\" src=\"data:image/png;base64,",
                3 * STRIP_WIDTH, 3 * GPUME_VERSUS_CROP);
            gpume_base64_write(out, data, bytes);
            gpume_html_print(out,
                "\"><figcaption>frame %" PRIu64 ", (%" PRIu32 ", %" PRIu32
                "): SAD <span class=\"coded\">%" PRIu64 "</span> &rarr; <span "
                "class=\"exact\">%" PRIu64 "</span></figcaption></figure>\n",
                listed->frame, place->x, place->y, listed->block.sides[0].sums.sad,
                listed->block.sides[1].sums.sad);
        }
    }
    gpume_html_put(out, "</div>\n");
    gpume_still_close(&still);
    return status;
}

static void put_notes(
    struct gpume_out *out, const struct gpume_versus_rows *rows, const struct gpume_versus_run *run)
{
    const struct gpume_params *params = run->params;
    gpume_html_print(out,
        "<h2>How to read this</h2>\n<p class=\"note\"><span class=\"coded\">As coded</span>: the "
        "block predicted with the stream&rsquo;s vectors. <span class=\"exact\">Best</span>: with "
        "the vectors of least %s that exhaustive search finds for the same block in the same "
        "frames, in 1/%" PRIu32 " pixel and a window of %" PRIu32 "x%" PRIu32
        " pixels%s, or the stream&rsquo;s own where these are better. An encoder also counts the "
        "bits of its vectors and of the residual, so its "
        "choice need not be a mistake. Both are predicted from decoded frames with the %s "
        "interpolation, and the bits of both are those of Exp-Golomb codes against the median of "
        "neighbouring vectors.</p>\n",
        params->rate ? "SAD and vector bits" : "SAD", params->subpel, params->window_x,
        params->window_y,
        params->subpel_search == GPUME_SUBPEL_FULL
            ? ""
            : ", whole pixels first and then the fractions around the best of them",
        gpume_names_interpolation[params->interpolation]);
    gpume_html_print(out,
        "<p class=\"note\">Decoders do not name the reference of a vector. In H.264 a block is "
        "taken to refer to those of up to %u frames on each side from which its vectors predict it "
        "best, and a block with two vectors to be predicted by the better of them, or by their "
        "mean "
        "if that is better still. Intra blocks are not compared. Blocks left out, because their "
        "size or "
        "references cannot be searched: %" PRIu64 ". Blocks with vectors that lead out of the "
        "window: %" PRIu64 ".</p>\n",
        GPUME_VERSUS_TRIED, rows->left_out, rows->outside);
    if (rows->interlaced > 0) {
        gpume_html_print(out,
            "<p class=\"note\">%" PRIu64
            " frame%s interlaced. Where a block was coded as lines of one field, its place and "
            "vector are those in that field, and its values here are wrong.</p>\n",
            rows->interlaced, rows->interlaced == 1 ? " is" : "s are");
    }
}

/* For put_mark. */
struct versus_page {
    const struct gpume_versus_rows *rows;
    const struct gpume_versus_run *run;
    const char *label;
    int *status;
};

static void put_mark(struct gpume_out *out, const char *mark, const void *opaque)
{
    const struct versus_page *page = opaque;
    const struct gpume_versus_rows *rows = page->rows;
    if (strcmp(mark, "name") == 0) {
        gpume_report_put_name(out, page->run->input);
    } else if (strcmp(mark, "codec") == 0) {
        gpume_html_escaped(out, page->run->codec);
    } else {
        put_cards(out, rows);
        put_chart(out, rows, SAD_PER_PIXEL, "SAD per pixel");
        put_chart(out, rows, BITS_PER_BLOCK, "Bits per block for vectors");
        put_kinds(out, rows);
        put_worst(out, rows);
        if (rows->worst_count > 0) {
            put_blocks(out, rows);
            *page->status = put_block_pictures(out, rows, page->label);
        }
        put_notes(out, rows, page->run);
    }
}

int gpume_versus_write_page(struct gpume_out *out, const char *label,
    const struct gpume_versus_rows *rows, const struct gpume_versus_run *run)
{
    int status = GPUME_OK;
    const struct versus_page page = {rows, run, label, &status};
    const struct gpume_report_shell shell = {
        .assets = &gpume_report_assets_versus, .put = put_mark, .opaque = &page};
    gpume_report_shell_write(&shell, out);
    return status;
}
