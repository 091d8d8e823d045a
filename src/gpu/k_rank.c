/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranks by a bitonic sorting network over unique keys: chunks in shared memory first, then, for
 * every doubling of the sorted length, the steps whose partners lie a chunk or more apart one by
 * one, and the rest of the doubling in shared memory again.
 */
#include "gpu/k.h"
#include "base/grid.h"

_Static_assert(sizeof(struct gpume_rank_push) == 6 * 4, "words without gaps, as GLSL lays them");

static const uint32_t local1[] =
#include "rank_local1.inc"
    ;
static const uint32_t local2[] =
#include "rank_local2.inc"
    ;
static const uint32_t global1[] =
#include "rank_global1.inc"
    ;
static const uint32_t global2[] =
#include "rank_global2.inc"
    ;

int gpume_k_rank_create(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_layout *layout, struct gpume_kernel *local, struct gpume_kernel *global)
{
    bool two = layout->key_words == 2;
    struct gpume_kernel_info local_info = {
        .words = two ? local2 : local1,
        .bytes = two ? sizeof(local2) : sizeof(local1),
        .buffer_count = 3,
        .push_bytes = sizeof(struct gpume_rank_push),
    };
    struct gpume_kernel_info global_info = {
        .words = two ? global2 : global1,
        .bytes = two ? sizeof(global2) : sizeof(global1),
        .buffer_count = 1,
        .push_bytes = sizeof(struct gpume_rank_push),
    };
    int status = gpume_kernel_create(gpu, &local_info, local);
    bool chunks = plan->blocks > GPUME_RANK_CHUNK;
    return status == GPUME_OK && chunks ? gpume_kernel_create(gpu, &global_info, global) : status;
}

struct rank {
    const struct gpume_work *work;
    const struct gpume_kernel *local, *global;
    struct gpume_view costs, keys, ranks;
    struct gpume_rank_push push;
};

static void record_local(struct rank *rank, bool from_costs, bool to_ranks)
{
    struct gpume_view views[] = {rank->costs, rank->keys, rank->ranks};
    rank->push.from_costs = from_costs;
    rank->push.to_ranks = to_ranks;
    gpume_slot_bind(rank->work->slot, rank->local, views);
    gpume_slot_dispatch_many(rank->work->slot, rank->local, &rank->push,
        gpume_div_up(rank->push.count, GPUME_RANK_CHUNK), rank->work->field_count);
}

/* The steps of one doubling whose reach is a chunk or more; the first one mirrors. */
static void record_global(struct rank *rank, uint64_t size)
{
    gpume_slot_bind(rank->work->slot, rank->global, &rank->keys);
    rank->push.flip = 1;
    for (uint64_t reach = size / 2; reach >= GPUME_RANK_CHUNK; reach /= 2) {
        uint64_t comparisons = gpume_div_up(rank->push.count, 2 * reach) * reach;
        rank->push.reach = (uint32_t)reach;
        gpume_slot_dispatch_many(rank->work->slot, rank->global, &rank->push,
            comparisons / GPUME_RANK_LOCAL, rank->work->field_count);
        gpume_barrier_kernel_to_kernel(rank->work->slot);
        rank->push.flip = 0;
    }
}

/* Two binds a doubling of at most 2^29 / 1024 = 2^19 chunks, and one to start with: 39, below
 * GPUME_K_RANK_BINDS. */
void gpume_k_rank_record(const struct gpume_work *work, const struct gpume_kernel *local,
    const struct gpume_kernel *global)
{
    const struct gpume_layout *layout = work->layout;
    VkDeviceSize words = (VkDeviceSize)work->field_count * work->plan->blocks * 4;
    struct rank rank = {
        .work = work,
        .local = local,
        .global = global,
        .costs = gpume_view_part(work->results, layout->costs, words),
        .keys = gpume_view_part(work->scratch, layout->keys, words * layout->key_words),
        .ranks = gpume_view_part(work->results, layout->ranks, words),
        .push = {.count = work->plan->blocks, .index_bits = work->plan->index_bits},
    };
    uint64_t count = work->plan->blocks;
    record_local(&rank, true, count <= GPUME_RANK_CHUNK);
    for (uint64_t size = 2 * GPUME_RANK_CHUNK; size / 2 < count; size *= 2) {
        gpume_barrier_kernel_to_kernel(work->slot);
        record_global(&rank, size);
        record_local(&rank, false, size >= count);
    }
}
