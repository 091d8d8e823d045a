/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/qp_map.h"

#include "base/grid.h"

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
