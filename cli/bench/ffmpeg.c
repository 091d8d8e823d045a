/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/ffmpeg.h"

#include "bench/repeat.h"
#include "console.h"
#include "media/ffmpeg.h"

#include <stdlib.h>

#define REPEATS_MIN 3u
#define REPEATS_MAX 64u

const char *gpume_bench_ffmpeg_params(struct gpume_params *params)
{
    const char *obstacle = gpume_mestimate_obstacle(params);
    if (!obstacle) {
        params->width = params->width / params->block * params->block;
        params->height = params->height / params->block * params->block;
        params->edge = GPUME_EDGE_INSIDE;
        params->threads = 1;
    }
    return obstacle;
}

static int no_memory(void)
{
    return gpume_refuse(GPUME_NOMEM, "out of memory for the vectors of FFmpeg's mestimate");
}

/* Searches frame 1 in both its neighbours; *ns: time per neighbour. */
static int search(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    struct gpume_vector *vectors, uint64_t *ns)
{
    struct gpume_plane frames[3];
    for (uint32_t i = 0; i < 3; i++) {
        frames[i] = *gpume_bench_frame(clip, i);
        frames[i].width = params->width;
        frames[i].height = params->height;
    }
    *ns = 0;
    const int status = gpume_mestimate_search(params, frames, vectors, ns);
    *ns /= 2;
    return status;
}

int gpume_bench_ffmpeg_once(
    const struct gpume_bench_clip *clip, const struct gpume_params *params, uint64_t *ns)
{
    struct gpume_vector *vectors = calloc(2 * (size_t)gpume_bench_blocks(params), sizeof(*vectors));
    const int status = vectors ? search(clip, params, vectors, ns) : no_memory();
    free(vectors);
    return status;
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

/* Compares one direction with the expected results for the same two frames. */
static int compare(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers, bool ahead, const struct gpume_vector *vectors,
    uint32_t *costs)
{
    struct gpume_plane target = *gpume_bench_frame(clip, 1);
    const struct gpume_plane *reference = gpume_bench_frame(clip, ahead ? 2 : 0);
    target.width = params->width;
    for (uint32_t i = 0; i < answers->blocks; i++) {
        costs[i] = gpume_bench_cost(&target, reference, params->block, i, vectors[i]);
    }
    /* The clip plays forwards and backwards: on the way back frame 1 comes last, after frame 2. */
    const uint32_t index = ahead ? answers->fields - 1 : 1 % answers->fields;
    const uint32_t block = gpume_bench_difference(answers, index, vectors, costs);
    if (block == UINT32_MAX) {
        return GPUME_OK;
    }
    const size_t at = (size_t)index * answers->blocks + block;
    return gpume_refuse(GPUME_FORMAT,
        "the searches disagree: FFmpeg's mestimate, %s: block %u: vector (%d,%d) cost %u, gpume "
        "has (%d,%d) cost %u",
        ahead ? "future" : "past", (unsigned)block, vectors[block].dx, vectors[block].dy,
        (unsigned)costs[block], answers->vectors[at].dx, answers->vectors[at].dy,
        (unsigned)answers->costs[at]);
}

int gpume_bench_ffmpeg_measure(const struct gpume_bench_clip *clip,
    const struct gpume_params *params, const struct gpume_bench_answers *answers,
    uint64_t budget_ns, struct gpume_bench_time *time)
{
    double times[REPEATS_MAX];
    uint64_t total = 0;
    uint32_t repeats = 0;
    struct gpume_vector *vectors = calloc(2 * (size_t)answers->blocks, sizeof(*vectors));
    uint32_t *costs = calloc(answers->blocks, sizeof(*costs));
    int status = vectors && costs ? GPUME_OK : no_memory();
    while (status == GPUME_OK && repeats < REPEATS_MAX &&
           (repeats < REPEATS_MIN || total < budget_ns)) {
        uint64_t ns;
        status = search(clip, params, vectors, &ns);
        status = status ? status : compare(clip, params, answers, false, vectors, costs);
        status = status ? status
                        : compare(clip, params, answers, true, vectors + answers->blocks, costs);
        total += ns;
        times[repeats++] = (double)ns;
    }
    if (status == GPUME_OK) {
        time->search_ns = time->wall_ns = gpume_bench_median(times, repeats);
    }
    free(vectors);
    free(costs);
    return status;
}
