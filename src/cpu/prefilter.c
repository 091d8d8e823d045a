/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base.h"
#include "cpu/cpu.h"

#include <string.h>

/* --- the source */

static void repeat_sample(uint8_t *to, const uint8_t *sample, uint32_t count, uint32_t sample_bytes)
{
    if (sample_bytes == 1) {
        memset(to, *sample, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to + 2 * (size_t)i, sample, 2);
    }
}

/* Repeats the first and the last sample of the picture outwards. row: the start of a padded row
 * that holds its picture samples already. */
static void extend_row(const struct gpume_plan *plan, void *row)
{
    uint32_t bytes = plan->sample_bytes, right = plan->pad_x + plan->params.width;
    uint8_t *to = row;
    repeat_sample(to, to + (size_t)plan->pad_x * bytes, plan->pad_x, bytes);
    repeat_sample(to + (size_t)right * bytes, to + (size_t)(right - 1) * bytes,
        plan->padded_stride - right, bytes);
}

void gpume_pad_row(
    const struct gpume_plan *plan, const struct gpume_plane *plane, void *padded, uint32_t row)
{
    uint32_t bytes = plan->sample_bytes;
    uint32_t below = row < plan->pad_y ? 0 : row - plan->pad_y;
    uint32_t y = gpume_min_u32(below, plane->height - 1);
    const uint8_t *from = (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
    uint8_t *to = (uint8_t *)padded + (size_t)row * plan->padded_stride * bytes;
    memcpy(to + (size_t)plan->pad_x * bytes, from, (size_t)plane->width * bytes);
    extend_row(plan, to);
}

/* --- filters
 *
 * A row is made in runs of neighbouring samples, each from lines of 16-bit samples on the stack, so
 * that 8 and 16 bits share the same plain loops for the compiler's vectors. That 32 bits hold the
 * sums is proved where the weights are made (model/plan.h) or below.
 */
#define RUN 256u  /* samples of a run, a multiple of LANES; its lines stay in the first cache */
#define LANES 16u /* samples that the median sorts side by side */
#define LINE (RUN + 2 * GPUME_PREFILTER_RADIUS_MAX)
#define SQUARE_LINE (RUN + 30u) /* of filters with radii up to 15 */
#define KEPT 14u                /* of 25 samples: the first ones among which the median is sought */

struct filter_run {
    const struct gpume_plan *plan;
    const struct gpume_prefilter_tables *tables;
    const uint8_t *picture; /* row 0, column 0 */
    int64_t x, y;           /* where the run begins */
    uint32_t count; /* samples to make: a multiple of LANES; those past the edge are discarded */
};

static void widen(
    const struct filter_run *run, const uint8_t *row, int64_t x, int64_t end, uint16_t *to)
{
    uint32_t count = (uint32_t)(end - x);
    if (run->plan->sample_bytes == 1) {
        for (uint32_t i = 0; i < count; i++) {
            to[i] = row[x + i];
        }
        return;
    }
    uint16_t peak = (uint16_t)run->tables->peak; /* raw files may hold larger samples */
    memcpy(to, row + 2 * x, 2 * (size_t)count);
    for (uint32_t i = 0; i < count; i++) {
        to[i] = to[i] < peak ? to[i] : peak;
    }
}

/* Loads the samples of row y + j that a run needs: count + 2 radius_x from x - radius_x on. Outside
 * the picture they are its nearest samples. */
static void load_line(const struct filter_run *run, int64_t j, uint16_t *line)
{
    const struct gpume_plan *plan = run->plan;
    int64_t width = plan->params.width, y = gpume_nearest(run->y + j, plan->params.height);
    int64_t first = run->x - run->tables->radius_x;
    int64_t end = run->x + run->count + run->tables->radius_x;
    int64_t from = first < 0 ? 0 : first, to = end > width ? width : end; /* x < width: not empty */
    const uint8_t *row =
        run->picture + y * (int64_t)plan->padded_stride * (int64_t)plan->sample_bytes;
    widen(run, row, from, to, line + (from - first));
    for (int64_t i = 0; i < from - first; i++) {
        line[i] = line[from - first];
    }
    for (int64_t i = to - first; i < end - first; i++) {
        line[i] = line[to - first - 1];
    }
}

static void add_weighted(
    uint32_t *restrict sums, const uint16_t *restrict samples, uint16_t weight, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sums[i] += (uint32_t)samples[i] * weight;
    }
}

/* Weights are below 2^16 and add up to 2^16. Columns: 2^16 (2^bits - 1) + 2^(bits-1) < 2^32, and
 * after the shift at most 2^16 - 2^(16-bits). Rows: 2^32 - 2^(32-bits) + 2^(31-bits) < 2^32. */
static void gauss(const struct filter_run *run, uint16_t *out)
{
    const struct gpume_prefilter_tables *t = run->tables;
    uint32_t sums[LINE] = {0}, side = 2 * t->radius_x + 1, wide = run->count + side - 1;
    uint16_t line[LINE];
    for (uint32_t j = 0; j < side; j++) {
        load_line(run, (int64_t)j - t->radius_y, line);
        add_weighted(sums, line, (uint16_t)t->weights[j], wide);
    }
    for (uint32_t x = 0; x < wide; x++) {
        line[x] = (uint16_t)((sums[x] + (1u << t->shift >> 1)) >> t->shift);
    }
    memset(sums, 0, sizeof(sums));
    for (uint32_t i = 0; i < side; i++) {
        add_weighted(sums, line + i, (uint16_t)t->weights[i], run->count);
    }
    uint32_t shift = 32 - t->shift; /* divisor = 2^shift */
    for (uint32_t x = 0; x < run->count; x++) {
        out[x] = (uint16_t)((sums[x] + (t->divisor >> 1)) >> shift);
    }
}

/*
 * For n = side^2 samples, at most 961, a sum s is below n 2^16. Instead of dividing s by n it is
 * multiplied by m / 2^36 with m = floor(2^36 / n) + 1. As m exceeds 2^36 / n by at most 1, the
 * quotient grows by at most s / 2^36 < n 2^16 / 2^36, which is less than 1 / n, since n^2 2^16 <=
 * 961^2 2^16 < 2^36. So it never reaches the next whole number.
 */
static void box(const struct filter_run *run, uint16_t *out)
{
    const struct gpume_prefilter_tables *t = run->tables;
    uint32_t sums[LINE] = {0}, side = 2 * t->radius_x + 1, wide = run->count + side - 1;
    uint16_t line[LINE];
    for (uint32_t j = 0; j < side; j++) {
        load_line(run, (int64_t)j - t->radius_y, line);
        add_weighted(sums, line, 1, wide);
    }
    uint64_t inverse = (1ull << 36) / t->divisor + 1;
    uint32_t sum = t->divisor / 2;
    for (uint32_t i = 0; i < side - 1; i++) {
        sum += sums[i];
    }
    for (uint32_t x = 0; x < run->count; x++) {
        sum += sums[x + side - 1];
        out[x] = (uint16_t)(sum * inverse >> 36);
        sum -= sums[x];
    }
}

static void kernel(const struct filter_run *run, uint16_t *out)
{
    const struct gpume_prefilter_tables *t = run->tables;
    uint32_t columns = 2 * t->radius_x + 1, rows = 2 * t->radius_y + 1;
    int32_t sums[RUN];
    uint16_t line[SQUARE_LINE];
    for (uint32_t x = 0; x < run->count; x++) {
        sums[x] = (int32_t)(t->divisor / 2);
    }
    for (uint32_t j = 0; j < rows; j++) {
        load_line(run, (int64_t)j - t->radius_y, line);
        for (uint32_t i = 0; i < columns; i++) {
            int32_t weight = t->weights[j * columns + i];
            for (uint32_t x = 0; x < run->count; x++) {
                sums[x] += weight * line[x + i];
            }
        }
    }
    for (uint32_t x = 0; x < run->count; x++) {
        uint32_t value = sums[x] < 0 ? 0 : (uint32_t)sums[x] / t->divisor;
        out[x] = (uint16_t)(value < t->peak ? value : t->peak);
    }
}

/* Puts the smaller of each pair into a, the larger into b. */
static inline void sort2(uint16_t a[restrict LANES], uint16_t b[restrict LANES])
{
    for (uint32_t i = 0; i < LANES; i++) {
        uint16_t low = a[i] < b[i] ? a[i] : b[i];
        b[i] = a[i] < b[i] ? b[i] : a[i];
        a[i] = low;
    }
}

/*
 * Keeps more than half of the side^2 samples. Neither the smallest nor the largest of these can be
 * the median, since more than half of all samples lie on one side of it. Both are dropped, the next
 * sample is added, and so on; the median is the middle one of the last three.
 */
static inline void middle(
    const uint16_t lines[][SQUARE_LINE], uint32_t x, uint32_t side, uint16_t *out)
{
    uint16_t kept[KEPT][LANES];
    uint32_t count = side * side / 2 + 2;
    for (uint32_t k = 0; k < count; k++) {
        memcpy(kept[k], &lines[k / side][x + k % side], sizeof(kept[k]));
    }
    for (uint32_t next = count; count >= 3; next++, count--) {
        for (uint32_t k = 0; k < count / 2; k++) {
            sort2(kept[k], kept[count - 1 - k]);
        }
        for (uint32_t k = 1; k < (count + 1) / 2; k++) {
            sort2(kept[0], kept[k]);
        }
        for (uint32_t k = count / 2; k < count - 1; k++) {
            sort2(kept[k], kept[count - 1]);
        }
        if (count > 3) {
            memcpy(kept[0], &lines[next / side][x + next % side], sizeof(kept[0]));
        }
    }
    memcpy(out, kept[1], sizeof(kept[1]));
}

static void median(const struct filter_run *run, uint16_t *out)
{
    uint16_t lines[5][SQUARE_LINE];
    uint32_t side = 2 * run->tables->radius_x + 1;
    for (uint32_t j = 0; j < side; j++) {
        load_line(run, (int64_t)j - run->tables->radius_y, lines[j]);
    }
    for (uint32_t x = 0; x < run->count; x += LANES) {
        if (side == 3) { /* constants, so that the loops are unrolled */
            middle((const uint16_t(*)[SQUARE_LINE])lines, x, 3, out + x);
        } else {
            middle((const uint16_t(*)[SQUARE_LINE])lines, x, 5, out + x);
        }
    }
}

/*
 * Spatial weights add up to 2^16 at most, and a likeness is at most 2^15. So a product is at most
 * 2^31, and all of them, shifted by 8, add up to at most 2^23. That of the centre is never 0. The
 * sum of products with samples is below 2^39 and needs 64 bits.
 */
static uint16_t bilateral_sample(
    const struct filter_run *run, const uint16_t lines[][SQUARE_LINE], uint32_t x)
{
    const struct gpume_prefilter_tables *t = run->tables;
    uint32_t side = 2 * t->radius_x + 1, whole = 0;
    int32_t centre = lines[t->radius_y][x + t->radius_x];
    uint64_t sum = 0;
    for (uint32_t j = 0; j < side; j++) {
        for (uint32_t i = 0; i < side; i++) {
            int32_t sample = lines[j][x + i];
            uint32_t apart = (uint32_t)(sample < centre ? centre - sample : sample - centre);
            uint32_t likeness = (uint32_t)t->likeness[apart >> t->shift];
            uint32_t weight = (uint32_t)t->weights[j * side + i] * likeness;
            weight >>= GPUME_PREFILTER_PRODUCT_SHIFT;
            whole += weight;
            sum += (uint64_t)weight * (uint32_t)sample;
        }
    }
    return (uint16_t)((sum + whole / 2) / whole);
}

static void bilateral(const struct filter_run *run, uint16_t *out)
{
    uint16_t lines[31][SQUARE_LINE];
    for (uint32_t j = 0; j < 2 * run->tables->radius_y + 1; j++) {
        load_line(run, (int64_t)j - run->tables->radius_y, lines[j]);
    }
    for (uint32_t x = 0; x < run->count; x++) {
        out[x] = bilateral_sample(run, (const uint16_t(*)[SQUARE_LINE])lines, x);
    }
}

static void make_run(const struct filter_run *run, uint16_t *out)
{
    switch (run->tables->kind) {
    case GPUME_PREFILTER_GAUSS:
        gauss(run, out);
        break;
    case GPUME_PREFILTER_BOX:
        box(run, out);
        break;
    case GPUME_PREFILTER_MEDIAN:
        median(run, out);
        break;
    case GPUME_PREFILTER_BILATERAL:
        bilateral(run, out);
        break;
    case GPUME_PREFILTER_KERNEL:
        kernel(run, out);
        break;
    }
}

static void store_samples(
    const struct gpume_plan *plan, const uint16_t *from, uint32_t count, void *to)
{
    if (plan->sample_bytes == 2) {
        memcpy(to, from, 2 * (size_t)count);
        return;
    }
    uint8_t *narrow = to;
    for (uint32_t i = 0; i < count; i++) {
        narrow[i] = (uint8_t)from[i];
    }
}

/* The padding above and below repeats the picture's first and last row. */
static void extend_rows(const struct gpume_plan *plan, uint8_t *filtered, uint32_t y)
{
    size_t row_bytes = (size_t)plan->padded_stride * plan->sample_bytes;
    const uint8_t *row = filtered + (plan->pad_y + y) * row_bytes;
    for (uint32_t i = 0; y == 0 && i < plan->pad_y; i++) {
        memcpy(filtered + i * row_bytes, row, row_bytes);
    }
    for (uint32_t i = 1; y == plan->params.height - 1 && i <= plan->pad_y; i++) {
        memcpy(filtered + (plan->pad_y + y + i) * row_bytes, row, row_bytes);
    }
}

void gpume_prefilter_row(
    const struct gpume_plan *plan, const void *padded, void *filtered, uint32_t y)
{
    size_t bytes = plan->sample_bytes, row_bytes = plan->padded_stride * bytes;
    uint8_t *row = (uint8_t *)filtered + (plan->pad_y + y) * row_bytes;
    struct filter_run run = {.plan = plan,
        .tables = &plan->prefilter,
        .picture = (const uint8_t *)padded + plan->pad_y * row_bytes + plan->pad_x * bytes,
        .y = y};
    for (uint32_t x = 0; x < plan->params.width; x += RUN) {
        uint16_t out[RUN];
        uint32_t count = gpume_min_u32(RUN, plan->params.width - x);
        run.x = x;
        run.count = (uint32_t)gpume_round_up(count, LANES);
        make_run(&run, out);
        store_samples(plan, out, count, row + (plan->pad_x + x) * bytes);
    }
    extend_row(plan, row);
    extend_rows(plan, filtered, y);
}
