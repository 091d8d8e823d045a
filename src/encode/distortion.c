/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/distortion.h"

#include "base/base.h"
#include "encode/bits.h"
#include "encode/fixed.h"
#include "encode/weights.h"
#include "encode/xpsnr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ONE 65536
#define SIDE ((int32_t)GPUME_SQUARE)
#define PART 4            /* samples across a transform */
#define WINDOWS 4         /* of 8x8 pixels in a block */
#define SSIM_C2 (58.5225) /* (0.03 * 255)^2 */
/* An energy within bin 0, which ends at 1/16, in 1/65536; and its bits. */
#define FIRST_ENERGY UINT64_C(2048)
#define FIRST_WIDTH 12u
#define LOSS_SHARE_MAX (UINT32_C(1) << 30)

/* --- pixels from half planes: each is the mean of itself and those to its right, below, and both
 */

static uint8_t pixel_at(const struct gpume_half *half, int32_t x, int32_t y)
{
    const uint8_t *plane = half->samples + ((y & 1) * 2 + (x & 1)) * half->plane;
    return plane[(ptrdiff_t)(y >> 1) * half->stride + (x >> 1)];
}

struct pixels {
    int16_t at[GPUME_SQUARE][GPUME_SQUARE];
};

/* A row of pixels from a position on. */
static void read_pixel_row(const struct gpume_half *half, int32_t x, int32_t y, int16_t row[SIDE])
{
    const uint8_t *line =
        half->samples + (y & 1) * 2 * half->plane + (ptrdiff_t)(y >> 1) * half->stride;
    const uint8_t *even = line + (x & 1) * half->plane + (x >> 1);
    const uint8_t *odd = line + ((x + 1) & 1) * half->plane + ((x + 1) >> 1);
    for (int32_t i = 0; i < SIDE / 2; i++) {
        row[2 * i] = even[i];
        row[2 * i + 1] = odd[i];
    }
}

static void add_rows(int16_t sums[SIDE], const int16_t other[SIDE])
{
    for (int32_t i = 0; i < SIDE; i++) {
        sums[i] = (int16_t)(sums[i] + other[i]);
    }
}

/* A row from a position in half pixels: the sum of two pixels of the row. */
static void read_pairs(const struct gpume_half *half, int32_t x2, int32_t y, int16_t row[SIDE])
{
    int16_t right[SIDE];
    read_pixel_row(half, x2 >> 1, y, row);
    read_pixel_row(half, (x2 + 1) >> 1, y, right);
    add_rows(row, right);
}

/* A block, from a position in half pixels. */
static void read_pixels(const struct gpume_half *half, int32_t x2, int32_t y2, struct pixels *block)
{
    int16_t below[SIDE];
    for (int32_t y = 0; y < SIDE; y++) {
        if (((x2 | y2) & 1) == 0) {
            read_pixel_row(half, x2 >> 1, (y2 >> 1) + y, block->at[y]);
            continue;
        }
        read_pairs(half, x2, (y2 >> 1) + y, block->at[y]);
        read_pairs(half, x2, ((y2 + 1) >> 1) + y, below);
        add_rows(block->at[y], below);
        for (int32_t x = 0; x < SIDE; x++) {
            block->at[y][x] = (int16_t)((block->at[y][x] + 2) >> 2);
        }
    }
}

static int16_t weigh_pixel(const struct gpume_weight *weight, int32_t sample)
{
    const int32_t half = weight->denominator > 0 ? 1 << (weight->denominator - 1) : 0;
    const int32_t v = ((sample * weight->scale + half) >> weight->denominator) + weight->offset;
    return (int16_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* --- predictions */

/* Each 4x4 samples by the row above, by the column to the left, or by the mean of both: whichever
 * differs least. */
static void predict_pixels(const struct gpume_half *half, int32_t x0, int32_t y0,
    const struct pixels *block, struct pixels *predicted)
{
    int32_t above[PART], left[PART], mean = PART, sums[3] = {0};
    const int32_t bx = x0 & (SIDE - 1), by = y0 & (SIDE - 1);
    for (int32_t i = 0; i < PART; i++) {
        above[i] = pixel_at(half, x0 + i, y0 - 1);
        left[i] = pixel_at(half, x0 - 1, y0 + i);
        mean += above[i] + left[i];
    }
    mean /= 2 * PART;
    for (int32_t y = 0; y < PART; y++) {
        for (int32_t x = 0; x < PART; x++) {
            const int32_t sample = block->at[by + y][bx + x];
            sums[0] += abs(sample - above[x]);
            sums[1] += abs(sample - left[y]);
            sums[2] += abs(sample - mean);
        }
    }
    const uint32_t best = sums[1] < sums[0]   ? (sums[2] < sums[1] ? 2 : 1)
                          : sums[2] < sums[0] ? 2
                                              : 0;
    for (int32_t y = 0; y < PART; y++) {
        for (int32_t x = 0; x < PART; x++) {
            predicted->at[by + y][bx + x] = (int16_t)(best == 0   ? above[x]
                                                      : best == 1 ? left[y]
                                                                  : mean);
        }
    }
}

struct measured_block {
    const struct gpume_predicted *predicted;
    uint32_t index;
    int32_t x, y; /* in pixels */
    enum gpume_source_kind kind;
    struct gpume_vector past, future; /* in half pixels */
};

static void predict_block(
    const struct measured_block *block, const struct pixels *samples, struct pixels *predicted)
{
    const struct gpume_predicted *by = block->predicted;
    const int32_t share = (int32_t)by->past_share, rest = (int32_t)GPUME_SHARES - share;
    struct pixels past, future;
    if (block->kind == GPUME_FROM_SELF) {
        for (int32_t part = 0; part < 16; part++) {
            predict_pixels(by->target, block->x + part % 4 * PART, block->y + part / 4 * PART,
                samples, predicted);
        }
        return;
    }
    if (block->kind != GPUME_FROM_FUTURE) {
        read_pixels(by->past.reference, 2 * block->x + block->past.dx,
            2 * block->y + block->past.dy, &past);
    }
    if (block->kind != GPUME_FROM_PAST) {
        read_pixels(by->future.reference, 2 * block->x + block->future.dx,
            2 * block->y + block->future.dy, &future);
    }
    for (int32_t y = 0; y < SIDE; y++) {
        for (int32_t x = 0; x < SIDE; x++) {
            predicted->at[y][x] = block->kind == GPUME_FROM_PAST
                                      ? weigh_pixel(&by->weight, past.at[y][x])
                                  : block->kind == GPUME_FROM_FUTURE
                                      ? future.at[y][x]
                                      : (int16_t)((past.at[y][x] * share + future.at[y][x] * rest +
                                                      (int32_t)GPUME_SHARES / 2) >>
                                                  6);
        }
    }
}

/* --- coefficients */

/* The transform of H.264 (8.6.1) enlarges a coefficient by the norms of its basis functions, and
 * the mean of two pixels makes it smaller by cos(pi k / 8). What both do to its energy along an
 * axis, undone, in 1/4096: 1 / (4 cos^2 0), 1 / (10 cos^2 pi/8), 1 / (4 cos^2 pi/4), ... */
static const uint32_t restored[PART] = {1024, 480, 2048, 2797};

static void transform_row(int32_t *v, ptrdiff_t step)
{
    const int32_t a = v[0] + v[3 * step], b = v[step] + v[2 * step];
    const int32_t c = v[step] - v[2 * step], d = v[0] - v[3 * step];
    v[0] = a + b;
    v[step] = 2 * d + c;
    v[2 * step] = a - b;
    v[3 * step] = d - 2 * c;
}

/* Of the 4x4 samples at a place in the block; the other block may be NULL. */
static void transform_part(const struct pixels *block, const struct pixels *less, int32_t x0,
    int32_t y0, int32_t out[PART * PART])
{
    for (int32_t y = 0; y < PART; y++) {
        for (int32_t x = 0; x < PART; x++) {
            out[y * PART + x] = block->at[y0 + y][x0 + x] - (less ? less->at[y0 + y][x0 + x] : 0);
        }
    }
    for (int32_t i = 0; i < PART; i++) {
        transform_row(out + (ptrdiff_t)i * PART, 1);
    }
    for (int32_t i = 0; i < PART; i++) {
        transform_row(out + i, PART);
    }
}

/* In 1/65536, by coefficient: at most 2^15. */
static void find_factors(uint64_t factor, uint64_t factors[PART * PART])
{
    for (uint32_t i = 0; i < PART * PART; i++) {
        factors[i] = factor * restored[i % PART] * restored[i / PART] >> 24;
    }
}

/* 64 times the variance of each 8x8 pixels of the source. Coefficients are below 2^14. */
static void find_energies(const struct pixels *block, uint64_t energies[WINDOWS])
{
    int64_t sums[WINDOWS] = {0}, squares[WINDOWS] = {0};
    uint64_t factors[PART * PART];
    find_factors(ONE, factors);
    memset(energies, 0, WINDOWS * sizeof(*energies));
    for (int32_t part = 0; part < 16; part++) {
        const int32_t window = part / 8 * 2 + part % 4 / 2;
        int32_t of[PART * PART];
        transform_part(block, NULL, part % 4 * PART, part / 4 * PART, of);
        sums[window] += of[0];
        squares[window] += (int64_t)of[0] * of[0];
        for (int32_t i = 1; i < PART * PART; i++) {
            energies[window] += (uint64_t)(of[i] * of[i]) * factors[i] / ONE;
        }
    }
    for (uint32_t i = 0; i < WINDOWS; i++) { /* of[0] is the sum of 16 samples */
        energies[i] += (uint64_t)(4 * squares[i] - sums[i] * sums[i]) / 64;
    }
}

/* C2 / (2 v + C2) in 1/65536; energy: 64 v */
static uint64_t ssim_weight(uint64_t energy)
{
    const uint64_t c2 = (uint64_t)(64 * SSIM_C2);
    return c2 * ONE / (2 * energy + c2);
}

struct loss_sums {
    uint64_t of[GPUME_LOSS_KINDS][GPUME_LOSS_CLASSES][GPUME_LOSS_BINS];
    uint64_t weight, windows; /* XPSNR's, in 1/65536; counted */
};

static enum gpume_loss_class class_of(const struct measured_block *block)
{
    const bool moves = (block->past.dx | block->past.dy | block->future.dx | block->future.dy) != 0;
    return block->kind == GPUME_FROM_SELF ? GPUME_LOSS_INTRA
           : moves                        ? GPUME_LOSS_MOVING
                                          : GPUME_LOSS_STILL;
}

/* How many coefficients of a window are in each bin: those of four parts. */
static void count_window(const struct pixels *samples, const struct pixels *predicted,
    int32_t window, const uint64_t factors[PART * PART], uint32_t counts[GPUME_LOSS_BINS])
{
    for (int32_t part = 0; part < 4; part++) {
        const int32_t x = (window % 2 * 2 + part % 2) * PART,
                      y = (window / 2 * 2 + part / 2) * PART;
        int32_t of[PART * PART];
        transform_part(samples, predicted, x, y, of);
        for (int32_t i = 0; i < PART * PART; i++) {
            /* an octave of energy is half an octave of size */
            const uint64_t energy = (uint64_t)(of[i] * of[i]) * factors[i];
            const uint32_t width = gpume_bit_width(energy | FIRST_ENERGY);
            counts[gpume_min_u32(width - FIRST_WIDTH, GPUME_LOSS_BINS - 1)]++;
        }
    }
}

/* What a window counts for XPSNR, in 1/65536. Pictures are enlarged to whole blocks of 16. */
static uint64_t xpsnr_weight(
    const struct gpume_loss_weights *weights, const struct measured_block *block, int32_t window)
{
    if (!weights || weights->side == 0) {
        return weights ? weights->of[0] : 0;
    }
    const uint32_t x = (uint32_t)(block->x + window % 2 * SIDE / 2 + SIDE / 4) / weights->side;
    const uint32_t y = (uint32_t)(block->y + window / 2 * SIDE / 2 + SIDE / 4) / weights->side;
    return weights->of[gpume_min_u32(y, weights->rows - 1) * weights->columns +
                       gpume_min_u32(x, weights->columns - 1)];
}

static void count_block(const struct measured_block *block,
    const struct gpume_loss_weights *weights, struct loss_sums *sums)
{
    const int16_t *offsets = block->predicted->offsets;
    const int32_t offset = offsets ? offsets[block->index] : 0;
    /* the square of the step beside the frame's: 2^(offset / 3) */
    const uint64_t square = gpume_fixed_exp2((int64_t)offset * 256 / 3);
    const enum gpume_loss_class class = class_of(block);
    struct pixels samples, predicted;
    uint64_t energies[WINDOWS], factors[PART * PART];
    read_pixels(block->predicted->target, 2 * block->x, 2 * block->y, &samples);
    predict_block(block, &samples, &predicted);
    find_energies(&samples, energies);
    find_factors(gpume_fixed_exp2(-(int64_t)offset * 256 / 3), factors);
    for (int32_t window = 0; window < WINDOWS; window++) {
        const uint64_t weight = xpsnr_weight(weights, block, window);
        const uint64_t squares[GPUME_LOSS_KINDS] = {
            square, square * ssim_weight(energies[window]) / ONE, square * weight / ONE};
        uint32_t counts[GPUME_LOSS_BINS] = {0};
        sums->weight += weight;
        sums->windows++;
        count_window(&samples, &predicted, window, factors, counts);
        for (uint32_t bin = 0; bin < GPUME_LOSS_BINS; bin++) {
            for (uint32_t kind = 0; kind < GPUME_LOSS_KINDS; kind++) {
                sums->of[kind][class][bin] += squares[kind] * counts[bin];
            }
        }
    }
}

static struct gpume_vector used_vector(
    const struct gpume_matches *matches, uint32_t index, bool used)
{
    return used ? matches->vectors[index] : (struct gpume_vector){0, 0};
}

/* A square's step is at most 2^8.5 of the frame's, and there are at most 1000 * 256 coefficients:
 * sums are below 2^51. */
void gpume_losses_measure(struct gpume_losses *losses, const struct gpume_predicted *predicted,
    const struct gpume_loss_weights *weights)
{
    const struct gpume_half *target = predicted->target;
    const uint32_t blocks_x = target->width / GPUME_HALF_BLOCK;
    const uint32_t blocks_y = target->height / GPUME_HALF_BLOCK;
    const struct gpume_sampling sampling = gpume_sampling_of(blocks_x, blocks_y, predicted->frame);
    const uint32_t most =
        (uint32_t)(gpume_div_up(blocks_x, sampling.step) * gpume_div_up(blocks_y, sampling.step));
    const uint32_t share = (uint32_t)gpume_div_up(most, GPUME_LOSS_BLOCKS);
    struct loss_sums sums = {0};
    uint64_t place = predicted->frame, count = 0;
    for (uint32_t y = sampling.y; y < blocks_y; y += sampling.step) {
        for (uint32_t x = sampling.x; x < blocks_x; x += sampling.step) {
            const uint32_t index = y * blocks_x + x;
            if (place++ % share != 0) {
                continue;
            }
            const enum gpume_source_kind kind = (enum gpume_source_kind)predicted->kinds[index];
            const bool both = kind == GPUME_FROM_BOTH;
            const struct measured_block block = {
                .predicted = predicted,
                .index = index,
                .x = (int32_t)x * SIDE,
                .y = (int32_t)y * SIDE,
                .kind = kind,
                .past = used_vector(&predicted->past, index, both || kind == GPUME_FROM_PAST),
                .future = used_vector(&predicted->future, index, both || kind == GPUME_FROM_FUTURE),
            };
            count_block(&block, weights, &sums);
            count += GPUME_SQUARE * GPUME_SQUARE;
        }
    }
    losses->weight = (uint32_t)((sums.weight << 8) / gpume_max_u64(sums.windows, 1));
    for (uint32_t i = 0; i < sizeof(sums.of) / sizeof(uint64_t); i++) {
        const uint64_t mean = (&sums.of[0][0][0])[i] * 256 / (count > 0 ? count : 1);
        (&losses->shares[0][0][0])[i] = (uint32_t)gpume_min_u64(mean, LOSS_SHARE_MAX);
    }
}

/* --- the model */

/* The smaller of two energies, with a bend where they are equal. */
static uint64_t bent_least(uint64_t energy, uint64_t limit, int64_t bend)
{
    if (energy == 0 || limit == 0) {
        return 0;
    }
    const int64_t apart = (int64_t)gpume_fixed_log2(energy) - gpume_fixed_log2(limit);
    const uint64_t least = gpume_min_u64(energy, limit);
    const uint64_t part = gpume_fixed_exp2(-(bend * (apart < 0 ? -apart : apart) / ONE));
    const int64_t more = gpume_fixed_log2(ONE + part) - INT64_C(16) * ONE;
    return least * gpume_fixed_exp2(-(more * ONE / bend)) / ONE;
}

static uint64_t energy_of_bin(uint32_t bin)
{
    return bin == 0 ? 0 : (UINT64_C(185364) << bin) >> 6; /* 2^(bin - 4.5) in 1/65536 */
}

static uint64_t energy_left(enum gpume_loss_class class, uint64_t own, uint64_t reference)
{
    return class == GPUME_LOSS_INTRA   ? own
           : class == GPUME_LOSS_STILL ? own + reference
           : own > 2 * reference       ? own - reference
                                       : reference;
}

/* The square of the quantizer's step, 2^((qp - 4) / 3), in 1/65536: 2^19 at the most, at QP 61. */
static uint64_t square_of_step(int32_t qp)
{
    const int64_t exponent = (int64_t)(qp - 4 * GPUME_QP_ONE) * 256 / 3;
    const int64_t most = 19 * ONE;
    return exponent < 16 * ONE
               ? gpume_fixed_exp2(exponent)
               : (uint64_t)gpume_fixed_exp2((exponent < most ? exponent : most) - 4 * ONE) << 4;
}

/* What the samples of a frame count on average for a kind of loss, in 1/2^24. */
static uint64_t weight_of(enum gpume_loss_kind kind, uint32_t weight)
{
    return kind == GPUME_LOSS_XPSNR ? weight : UINT64_C(1) << GPUME_LOSS_ONE;
}

/* The mean error of a reference, by weight. Errors are below 2^34 times the weight. */
static uint64_t error_of(const struct gpume_loss *reference, enum gpume_loss_kind kind)
{
    return (reference->of[kind] << GPUME_LOSS_ONE) / weight_of(kind, reference->weight);
}

/* The same of all references, beside the mean step of the frame's blocks. */
static uint64_t reference_error(const struct gpume_losses *losses,
    const struct gpume_loss_model *model, enum gpume_loss_kind kind, const struct gpume_loss *past,
    const struct gpume_loss *future)
{
    uint64_t error = 0, shares = 0;
    if (past && future) {
        error = (error_of(past, kind) + error_of(future, kind)) / 2 * (uint64_t)model->mean / ONE;
    } else if (past || future) {
        error = error_of(past ? past : future, kind);
    }
    for (uint32_t i = 0; i < GPUME_LOSS_CLASSES * GPUME_LOSS_BINS; i++) {
        shares += (&losses->shares[kind][0][0])[i];
    }
    return error * weight_of(kind, losses->weight) / (shares > 0 ? shares : 1);
}

struct loss_step {
    const struct gpume_losses *losses;
    const struct gpume_loss_model *model;
    uint32_t type;   /* in the model */
    uint64_t square; /* of the quantizer's step */
};

/* What is left of kinds `first` to `last`. Products are of shares below 2^30 and energies below
 * 2^35, less 8 bits; there are 84 of them. */
static void find_left(const struct loss_step *step, uint64_t reference, enum gpume_loss_kind first,
    enum gpume_loss_kind last, struct gpume_loss *loss)
{
    uint64_t sums[GPUME_LOSS_KINDS] = {0};
    for (enum gpume_loss_class class = 0; class < GPUME_LOSS_CLASSES; class ++) {
        const uint32_t as = class == GPUME_LOSS_INTRA ? 0 : step->type;
        const uint64_t limit = step->square * (uint64_t)step->model->limit[as] / ONE;
        for (uint32_t bin = 0; bin < GPUME_LOSS_BINS; bin++) {
            const uint64_t own = energy_of_bin(bin);
            const uint64_t gained =
                class == GPUME_LOSS_INTRA ? own : own * (uint64_t)step->model->gain / ONE;
            const uint64_t left =
                bent_least(energy_left(class, gained, reference), limit, step->model->bend[as]);
            for (enum gpume_loss_kind kind = first; kind <= last; kind++) {
                sums[kind] += step->losses->shares[kind][class][bin] * (left >> 8);
            }
        }
    }
    for (enum gpume_loss_kind kind = first; kind <= last; kind++) {
        loss->of[kind] = sums[kind] >> 16;
    }
}

/* The floor of SSIM is in its fit. */
struct gpume_loss gpume_loss_at(const struct gpume_losses *losses,
    const struct gpume_loss_model *model, enum gpume_frame_type type, int32_t qp,
    const struct gpume_loss *past, const struct gpume_loss *future)
{
    const struct loss_step step = {losses, model,
        type <= GPUME_FRAME_I   ? 0
        : type == GPUME_FRAME_P ? 1
                                : 2,
        square_of_step(qp)};
    struct gpume_loss loss = {.weight = losses->weight};
    find_left(&step, reference_error(losses, model, GPUME_LOSS_ERROR, past, future),
        GPUME_LOSS_ERROR, GPUME_LOSS_SSIM, &loss);
    loss.of[GPUME_LOSS_ERROR] += (uint64_t)model->floor;
    if (losses->weight > 0) {
        find_left(&step, reference_error(losses, model, GPUME_LOSS_XPSNR, past, future),
            GPUME_LOSS_XPSNR, GPUME_LOSS_XPSNR, &loss);
        loss.of[GPUME_LOSS_XPSNR] += ((uint64_t)model->floor * losses->weight) >> GPUME_LOSS_ONE;
    }
    return loss;
}

/* --- all frames */

struct gpume_loss_row {
    struct gpume_losses losses;
    enum gpume_frame_type type;
    uint32_t display, past, future; /* the last two: display itself for none */
};

bool gpume_loss_frames_add(struct gpume_loss_frames *frames, const struct gpume_decision *decision)
{
    struct gpume_loss_row *rows =
        gpume_grow(frames->rows, frames->count, &frames->room, sizeof(*rows));
    if (!rows) {
        return false;
    }
    frames->rows = rows;
    rows[frames->count++] = (struct gpume_loss_row){
        .losses = *decision->losses,
        .type = decision->type,
        .display = (uint32_t)decision->display,
        .past = (uint32_t)(decision->has_past ? decision->past : decision->display),
        .future = (uint32_t)(decision->has_future ? decision->future : decision->display),
    };
    return true;
}

void gpume_loss_frames_free(struct gpume_loss_frames *frames)
{
    free(frames->rows);
    free(frames->found);
}

/* There are less than 2^28 frames, with errors below 2^34. Roots are below 2^31. */
#define ROOT_BITS 28
bool gpume_loss_frames_mean(struct gpume_loss_frames *frames, const struct gpume_loss_model *model,
    const int32_t *qps, int32_t more, const struct gpume_loss_range *range, struct gpume_loss *mean)
{
    struct gpume_loss sum = {0};
    uint64_t count = 0;
    frames->found = frames->found ? frames->found : calloc(frames->count, sizeof(*frames->found));
    if (!frames->found) {
        return false;
    }
    for (size_t i = range->begin; i < range->after; i++) {
        const struct gpume_loss_row *row = &frames->rows[i];
        struct gpume_loss *found = frames->found;
        if (row->display < range->first || row->display >= range->end) {
            continue;
        }
        found[row->display] = gpume_loss_at(&row->losses, model, row->type, qps[i] + more,
            row->past != row->display ? &found[row->past] : NULL,
            row->future != row->display ? &found[row->future] : NULL);
        sum.of[GPUME_LOSS_ERROR] += found[row->display].of[GPUME_LOSS_ERROR];
        sum.of[GPUME_LOSS_SSIM] += found[row->display].of[GPUME_LOSS_SSIM];
        sum.of[GPUME_LOSS_XPSNR] +=
            gpume_fixed_root(found[row->display].of[GPUME_LOSS_XPSNR] << ROOT_BITS);
        sum.weight = gpume_max_u32(sum.weight, found[row->display].weight);
        count++;
    }
    const uint64_t root = sum.of[GPUME_LOSS_XPSNR] / count;
    *mean = (struct gpume_loss){.of = {sum.of[GPUME_LOSS_ERROR] / count,
                                    sum.of[GPUME_LOSS_SSIM] / count, root * root >> ROOT_BITS},
        .weight = sum.weight};
    return true;
}

uint32_t gpume_loss_growth(uint64_t area, uint64_t area_analysed)
{
    const int64_t octaves = (int64_t)gpume_fixed_log2(area_analysed) - gpume_fixed_log2(area);
    return gpume_fixed_exp2(octaves * 26 / 100);
}

double gpume_loss_psnr(const struct gpume_loss *mean)
{
    const double error = (double)gpume_max_u64(mean->of[GPUME_LOSS_ERROR], 1) / ONE;
    return 10 * log10(255.0 * 255.0 / error);
}

double gpume_loss_ssim(const struct gpume_loss *mean, const struct gpume_loss_model *model)
{
    const int64_t octaves =
        gpume_fixed_log2(gpume_max_u64(mean->of[GPUME_LOSS_SSIM], 1)) - INT64_C(16) * ONE;
    return 1 - exp2((double)(model->ssim_power * octaves / ONE + model->ssim_octaves) / ONE);
}

double gpume_loss_xpsnr(
    const struct gpume_loss *mean, const struct gpume_loss_model *model, uint64_t pixels)
{
    if (mean->weight == 0) {
        return (double)NAN; /* it was not wanted */
    }
    const double error =
        (double)gpume_max_u64(mean->of[GPUME_LOSS_XPSNR], 1) / ONE * gpume_xpsnr_factor(pixels);
    const double own = 10 * log10(255.0 * 255.0 / error);
    return ((double)model->xpsnr_power * own + (double)model->xpsnr_decibels) / ONE;
}
