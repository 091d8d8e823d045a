/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/methods.h"

#include <math.h>
#include <stdlib.h>

bool gpume_tally_init(struct gpume_tally *tally, uint32_t window)
{
    tally->difference_max = 2 * window;
    for (size_t i = 0; i < 2; i++) {
        tally->differences[i] = calloc(2 * (size_t)tally->difference_max + 1, sizeof(uint64_t));
    }
    return tally->differences[0] && tally->differences[1];
}

void gpume_tally_finish(struct gpume_tally *tally)
{
    free(tally->differences[0]);
    free(tally->differences[1]);
}

struct cost {
    uint64_t sad, sse;
};

static struct cost measure_tallied_block(
    const struct gpume_tally_pair *pair, uint32_t x, uint32_t y, struct gpume_vector vector)
{
    struct cost cost = {0, 0};
    const uint8_t *c =
        (const uint8_t *)pair->target->data + (ptrdiff_t)y * pair->target->stride + x;
    const uint8_t *r = (const uint8_t *)pair->reference->data +
                       ((ptrdiff_t)y + vector.dy) * pair->reference->stride + x + vector.dx;
    for (uint32_t j = 0; j < pair->block; j++) {
        uint32_t sad = 0, sse = 0; /* at most 128 * 255 * 255 */
        for (uint32_t i = 0; i < pair->block; i++) {
            const int32_t difference = c[i] - r[i];
            sad += (uint32_t)abs(difference);
            sse += (uint32_t)(difference * difference);
        }
        cost.sad += sad;
        cost.sse += sse;
        c += pair->target->stride;
        r += pair->reference->stride;
    }
    return cost;
}

void gpume_tally_costs(const struct gpume_tally_pair *pair, uint32_t *costs)
{
    const uint32_t blocks_x = pair->target->width / pair->block;
    const uint32_t blocks_y = pair->target->height / pair->block;
    for (uint32_t i = 0; i < blocks_x * blocks_y; i++) {
        const uint32_t x = i % blocks_x * pair->block, y = i / blocks_x * pair->block;
        costs[i] = (uint32_t)measure_tallied_block(pair, x, y, pair->vectors[i]).sad;
    }
}

static int16_t middle(int16_t a, int16_t b, int16_t c)
{
    const int16_t least = a < b ? a : b, most = a < b ? b : a;
    return c < least ? least : c > most ? most : c;
}

/* The median of left, above and above-right; above-left where that lies outside; (0,0) for a
 * missing one. */
static struct gpume_vector predict_vector(
    const struct gpume_vector *vectors, uint32_t blocks_x, uint32_t x, uint32_t y)
{
    const struct gpume_vector none = {0, 0}, *at = vectors + (size_t)y * blocks_x + x;
    const struct gpume_vector left = x > 0 ? at[-1] : none;
    if (y == 0) {
        return left;
    }
    const struct gpume_vector *above = at - blocks_x;
    const struct gpume_vector corner = x + 1 < blocks_x ? above[1] : x > 0 ? above[-1] : none;
    return (struct gpume_vector){
        middle(left.dx, above->dx, corner.dx), middle(left.dy, above->dy, corner.dy)};
}

void gpume_tally_add(struct gpume_tally *tally, const struct gpume_tally_pair *pair)
{
    const uint32_t blocks_x = pair->target->width / pair->block;
    const uint32_t blocks_y = pair->target->height / pair->block;
    for (uint32_t i = 0; i < blocks_x * blocks_y; i++) {
        const uint32_t x = i % blocks_x, y = i / blocks_x;
        const struct gpume_vector vector = pair->vectors[i], exact = pair->exact[i];
        const struct gpume_vector predictor = predict_vector(pair->vectors, blocks_x, x, y);
        const struct cost cost =
            measure_tallied_block(pair, x * pair->block, y * pair->block, vector);
        const bool equal = vector.dx == exact.dx && vector.dy == exact.dy;
        tally->sad += cost.sad;
        tally->sse += cost.sse;
        tally->equal += equal;
        tally->as_good +=
            equal ||
            cost.sad == measure_tallied_block(pair, x * pair->block, y * pair->block, exact).sad;
        tally->differences[0][vector.dx - predictor.dx + (int32_t)tally->difference_max]++;
        tally->differences[1][vector.dy - predictor.dy + (int32_t)tally->difference_max]++;
    }
    tally->pairs++;
    tally->blocks += (uint64_t)blocks_x * blocks_y;
    tally->pixels += (uint64_t)pair->target->width * pair->target->height;
}

bool gpume_tally_fits(const struct gpume_tally_pair *pair, uint32_t window)
{
    const int32_t block = (int32_t)pair->block, most = (int32_t)window;
    const int32_t width = (int32_t)pair->target->width, height = (int32_t)pair->target->height;
    const struct gpume_vector *at = pair->vectors;
    for (int32_t y = 0; y < height; y += block) {
        for (int32_t x = 0; x < width; x += block, at++) {
            const int32_t to_x = x + at->dx, to_y = y + at->dy;
            if (abs(at->dx) > most || abs(at->dy) > most || to_x < 0 || to_y < 0 ||
                to_x + block > width || to_y + block > height) {
                return false;
            }
        }
    }
    return true;
}

double gpume_tally_bits(const struct gpume_tally *tally)
{
    double bits = 0;
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < 2 * (size_t)tally->difference_max + 1; k++) {
            const double share = (double)tally->differences[i][k] / (double)tally->blocks;
            bits -= share > 0 ? share * log2(share) : 0;
        }
    }
    return bits;
}
