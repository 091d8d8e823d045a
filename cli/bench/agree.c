/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/agree.h"

#include "console.h"

#include <stdlib.h>

int gpume_bench_answers_init(struct gpume_bench_answers *answers, uint32_t fields, uint32_t blocks)
{
    const size_t count = (size_t)fields * blocks;
    *answers = (struct gpume_bench_answers){.fields = fields,
        .blocks = blocks,
        .vectors = calloc(count, sizeof(*answers->vectors)),
        .costs = calloc(count, sizeof(*answers->costs))};
    if (answers->vectors && answers->costs) {
        return GPUME_OK;
    }
    gpume_bench_answers_finish(answers);
    return gpume_refuse(GPUME_NOMEM, "out of memory for the results of %u frame pairs of %u blocks",
        (unsigned)fields, (unsigned)blocks);
}

void gpume_bench_answers_finish(struct gpume_bench_answers *answers)
{
    free(answers->vectors);
    free(answers->costs);
    *answers = (struct gpume_bench_answers){0};
}

uint32_t gpume_bench_difference(const struct gpume_bench_answers *answers, uint32_t index,
    const struct gpume_vector *vectors, const uint32_t *costs)
{
    const struct gpume_vector *must = answers->vectors + (size_t)index * answers->blocks;
    const uint32_t *cost = answers->costs + (size_t)index * answers->blocks;
    for (uint32_t i = 0; i < answers->blocks; i++) {
        if (vectors[i].dx != must[i].dx || vectors[i].dy != must[i].dy ||
            (costs && costs[i] != cost[i])) {
            return i;
        }
    }
    return UINT32_MAX;
}

uint32_t gpume_bench_cost(const struct gpume_plane *target, const struct gpume_plane *reference,
    uint32_t block, uint32_t index, struct gpume_vector vector)
{
    const uint32_t blocks_x = target->width / block;
    const ptrdiff_t x = (ptrdiff_t)(index % blocks_x * block);
    const ptrdiff_t y = (ptrdiff_t)(index / blocks_x * block);
    uint32_t cost = 0;
    for (ptrdiff_t j = 0; j < (ptrdiff_t)block; j++) {
        const uint8_t *c = (const uint8_t *)target->data + (y + j) * target->stride + x;
        const uint8_t *r = (const uint8_t *)reference->data +
                           (y + j + vector.dy) * reference->stride + x + vector.dx;
        for (uint32_t i = 0; i < block; i++) {
            cost += (uint32_t)abs(c[i] - r[i]);
        }
    }
    return cost;
}

uint32_t gpume_bench_blocks(const struct gpume_params *params)
{
    const uint32_t block = params->block;
    return ((params->width + block - 1) / block) * ((params->height + block - 1) / block);
}

/* One axis: visible pixels times candidates, summed over the blocks. */
static double along(const struct gpume_params *params, uint32_t side, uint32_t window)
{
    double sum = 0;
    for (uint32_t at = 0; at < side; at += params->block) {
        const uint32_t visible = side - at < params->block ? side - at : params->block;
        uint32_t before = window, after = window;
        if (params->edge == GPUME_EDGE_INSIDE) {
            before = at < window ? at : window;
            after = side - at - visible < window ? side - at - visible : window;
        }
        sum += (double)visible * (before + 1.0 + after);
    }
    return sum;
}

double gpume_bench_differences(const struct gpume_params *params)
{
    return along(params, params->width, params->window_x) *
           along(params, params->height, params->window_y);
}
