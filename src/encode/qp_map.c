/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/qp_map.h"

#include "base/base.h"
#include "encode/half.h"

uint32_t gpume_qp_map_squares(uint32_t blocks, uint32_t per_square)
{
    return (uint32_t)gpume_div_up(blocks, per_square);
}

static int16_t mean_of_square(
    const struct gpume_decision *decision, uint32_t per_square, uint32_t left, uint32_t top)
{
    int32_t sum = 0, count = 0;
    for (uint32_t y = top; y < top + per_square && y < decision->blocks_y; y++) {
        for (uint32_t x = left; x < left + per_square && x < decision->blocks_x; x++) {
            sum += decision->offsets[(size_t)y * decision->blocks_x + x];
            count++;
        }
    }
    return (int16_t)gpume_div_nearest(sum, count);
}

void gpume_qp_map_make(const struct gpume_decision *decision, uint32_t per_square, int16_t *offsets)
{
    for (uint32_t y = 0; y < decision->blocks_y; y += per_square) {
        for (uint32_t x = 0; x < decision->blocks_x; x += per_square) {
            *offsets++ = mean_of_square(decision, per_square, x, y);
        }
    }
}

void gpume_qp_map_centre(int16_t *values, uint32_t blocks_x, uint32_t blocks_y, uint32_t per_square)
{
    int64_t sum = 0;
    size_t count = 0;
    for (uint32_t y = 0; y < blocks_y; y += per_square) {
        for (uint32_t x = 0; x < blocks_x; x += per_square) {
            const int64_t blocks = (int64_t)gpume_min_u32(per_square, blocks_x - x) *
                                   gpume_min_u32(per_square, blocks_y - y);
            sum += blocks * values[count++];
        }
    }
    const int64_t mean = gpume_div_nearest(sum, (int64_t)blocks_x * blocks_y);
    for (size_t i = 0; i < count; i++) {
        values[i] = (int16_t)(values[i] - mean);
    }
}

void gpume_qp_map_limit(int16_t *values, size_t count, uint32_t levels)
{
    int32_t least = INT16_MAX, most = INT16_MIN;
    for (size_t i = 0; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    const int32_t steps = (int32_t)levels - 1;
    const int32_t step = count > 0 ? (most - least + steps - 1) / steps : 0;
    for (size_t i = 0; i < count && step > 1; i++) {
        const int64_t value = least + gpume_div_nearest(values[i] - least, step) * step;
        values[i] = (int16_t)(value < most ? value : most);
    }
}

/* --- maps for a picture of another size */

struct gpume_map_axis gpume_map_axis_of(uint32_t from, uint32_t to)
{
    return (struct gpume_map_axis){from, to, (uint32_t)gpume_div_up(from, GPUME_SQUARE),
        (uint32_t)gpume_div_up(to, GPUME_SQUARE)};
}

/* The part of an axis that a square of the encoded picture covers, and the squares of the analysed
 * frame in it, from first to last. */
struct covered {
    uint64_t begin, end;
    uint32_t first, last;
};

static struct covered find_covered(const struct gpume_map_axis *axis, uint32_t square)
{
    const uint64_t begin = (uint64_t)square * GPUME_SQUARE * axis->from;
    const uint64_t end =
        gpume_min_u64(begin + GPUME_SQUARE * (uint64_t)axis->from, (uint64_t)axis->from * axis->to);
    const uint64_t step = (uint64_t)GPUME_SQUARE * axis->to;
    return (struct covered){begin, end, (uint32_t)(begin / step), (uint32_t)((end - 1) / step)};
}

/* How much of it lies in a square of the analysed frame. */
static uint64_t overlap(
    const struct gpume_map_axis *axis, const struct covered *covered, uint32_t square)
{
    const uint64_t step = (uint64_t)GPUME_SQUARE * axis->to;
    const uint64_t begin = square * step, end = gpume_min_u64(begin + step, covered->end);
    return end - (begin > covered->begin ? begin : covered->begin);
}

void gpume_qp_map_scale(const struct gpume_map_axis *x, const struct gpume_map_axis *y,
    const int16_t *from, int16_t *to)
{
    for (uint32_t row = 0; row < y->to_count; row++) {
        const struct covered down = find_covered(y, row);
        for (uint32_t column = 0; column < x->to_count; column++) {
            const struct covered across = find_covered(x, column);
            const uint64_t area = (across.end - across.begin) * (down.end - down.begin);
            int64_t sum = 0;
            for (uint32_t j = down.first; j <= down.last; j++) {
                int64_t row_sum = 0;
                for (uint32_t i = across.first; i <= across.last; i++) {
                    row_sum +=
                        (int64_t)overlap(x, &across, i) * from[(size_t)j * x->from_count + i];
                }
                sum += row_sum * (int64_t)overlap(y, &down, j);
            }
            *to++ = (int16_t)gpume_div_nearest(sum, (int64_t)area);
        }
    }
}
