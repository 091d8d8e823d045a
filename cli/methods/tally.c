/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* --- the pair in which searches lose most */

bool gpume_worst_init(
    struct gpume_worst *worst, const struct gpume_plane *frame, uint32_t block, size_t searches)
{
    const size_t pixels = (size_t)frame->width * frame->height;
    bool done = true;
    *worst = (struct gpume_worst){
        .count = searches, .blocks = (size_t)(frame->width / block) * (frame->height / block)};
    for (size_t i = 0; i < 2; i++) {
        worst->planes[i] = *frame;
        worst->planes[i].stride = frame->width;
        worst->planes[i].data = malloc(pixels);
        done = done && worst->planes[i].data;
    }
    worst->searches = calloc(searches, sizeof(*worst->searches));
    done = done && worst->searches;
    for (size_t i = 0; i < searches && done; i++) {
        worst->searches[i] = calloc(worst->blocks, sizeof(**worst->searches));
        done = worst->searches[i] != NULL;
    }
    worst->pair = (struct gpume_tally_pair){
        .target = &worst->planes[0], .reference = &worst->planes[1], .block = block};
    return done;
}

void gpume_worst_finish(struct gpume_worst *worst)
{
    for (size_t i = 0; worst->searches && i < worst->count; i++) {
        free(worst->searches[i]);
    }
    free(worst->searches);
    free(worst->planes[0].data);
    free(worst->planes[1].data);
}

bool gpume_worst_is_worse(const struct gpume_worst *worst, uint64_t loss)
{
    return !worst->found || loss > worst->loss;
}

static void copy_frame(const struct gpume_plane *to, const struct gpume_plane *from)
{
    for (uint32_t y = 0; y < to->height; y++) {
        memcpy((uint8_t *)to->data + (ptrdiff_t)y * to->stride,
            (const uint8_t *)from->data + (ptrdiff_t)y * from->stride, to->width);
    }
}

void gpume_worst_take(struct gpume_worst *worst, const struct gpume_tally_pair *pair,
    uint64_t target, uint64_t reference, uint64_t loss)
{
    copy_frame(&worst->planes[0], pair->target);
    copy_frame(&worst->planes[1], pair->reference);
    worst->found = true;
    worst->target = target;
    worst->reference = reference;
    worst->loss = loss;
}

void gpume_worst_vectors(
    struct gpume_worst *worst, size_t search, const struct gpume_vector *vectors)
{
    memcpy(worst->searches[search], vectors, worst->blocks * sizeof(*vectors));
}

struct gpume_tally_pair gpume_worst_pair(const struct gpume_worst *worst, size_t search)
{
    struct gpume_tally_pair pair = worst->pair;
    pair.vectors = worst->searches[search];
    pair.exact = worst->searches[0];
    return pair;
}
