/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of a sort: which segments go which way, and where scratch memory lies. */
#include "base/grid.h"
#include "common/shared.h"
#include "gpu/arrays/sort.h"

#include <assert.h>

#define GROUPS_MAX 65535u /* in each direction, on every device */

struct layout {
    /* Of long segments, between passes; the second ones where the caller's must not be used. */
    VkDeviceSize keys[2], payload[2];
    VkDeviceSize counts; /* of digits by tile, or pairs (key, place) of a network */
    VkDeviceSize totals;
    VkDeviceSize bytes;
};

struct recording {
    const struct gpume_k_sort *sort;
    const struct gpume_sort_task *task;
    VkCommandBuffer commands;
    struct layout layout;
    struct gpume_sort_push push;
};

static bool by_network(const struct gpume_k_sort *sort, const struct gpume_sort_task *task)
{
    return task->method == GPUME_SORT_BITONIC || !sort->gpu->subgroup;
}

/* Key and place fit a word together. */
static bool packed(const struct gpume_sort_task *task)
{
    return task->ranks && task->key_bits + task->place_bits <= 32;
}

/* Something goes through the passes of a radix sort beside the keys. */
static bool has_pairs(const struct gpume_sort_task *task)
{
    return task->payload || (task->ranks && !packed(task));
}

static VkDeviceSize take(VkDeviceSize *end, VkDeviceSize bytes)
{
    VkDeviceSize at = *end;
    *end += gpume_round_up(bytes, GPUME_SORT_SCRATCH_ALIGN);
    return at;
}

/* Counts and totals: see counts_at in sort_segment.glsl. */
static struct layout layout_of(const struct gpume_k_sort *sort, const struct gpume_sort_task *task)
{
    struct layout layout = {0};
    VkDeviceSize words = (VkDeviceSize)task->count * 4, *end = &layout.bytes;
    bool network = by_network(sort, task);
    if (task->longest <= (network ? GPUME_BITONIC_CHUNK : gpume_sort_tile(&sort->shape))) {
        return layout;
    }
    bool pairs = network ? task->payload != 0 : has_pairs(task);
    layout.payload[0] = take(end, pairs ? words : 0);
    if (network) {
        layout.counts = take(end, 2 * words);
        return layout;
    }
    VkDeviceSize tiles = task->count / gpume_sort_tile(&sort->shape) + 1;
    layout.keys[0] = take(end, words);
    layout.keys[1] = take(end, task->ranks ? words : 0);
    layout.payload[1] = take(end, task->ranks && pairs ? words : 0);
    layout.counts = take(end, 2 * tiles * GPUME_SORT_DIGITS * 4);
    layout.totals = take(end, tiles * GPUME_SORT_DIGITS * 4);
    return layout;
}

VkDeviceSize gpume_k_sort_scratch(
    const struct gpume_k_sort *sort, const struct gpume_sort_task *task)
{
    return layout_of(sort, task).bytes;
}

static void barrier(struct recording *r)
{
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
    };
    vkCmdPipelineBarrier(r->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void dispatch(
    struct recording *r, const struct gpume_kernel *kernel, uint64_t groups, uint32_t z)
{
    assert(kernel->pipeline && !kernel->build); /* it was waited for */
    uint64_t width = gpume_min_u64(groups, GROUPS_MAX);
    vkCmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
    vkCmdPushConstants(
        r->commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(r->push), &r->push);
    vkCmdDispatch(r->commands, (uint32_t)width, (uint32_t)gpume_div_up(groups, width), z);
}

/* For each segment `groups` workgroups. */
static void dispatch_segments(
    struct recording *r, const struct gpume_kernel *kernel, uint64_t groups)
{
    for (uint32_t first = 0; first < r->task->segments; first += GROUPS_MAX) {
        r->push.segment_first = first;
        dispatch(r, kernel, groups, gpume_min_u32(r->task->segments - first, GROUPS_MAX));
    }
    r->push.segment_first = 0;
}

/* Segments of `least` to `most` keys are meant; false: there are none. */
static bool choose(struct recording *r, uint32_t least, uint32_t most)
{
    most = gpume_min_u32(most, r->task->longest);
    r->push.least = least;
    r->push.most = most;
    return least <= most && (r->task->table || r->task->longest == most);
}

static void addresses_in_place(struct recording *r)
{
    r->push.keys_in = r->push.keys_out = r->task->keys;
    r->push.payload_in = r->push.payload_out = r->task->payload;
    r->push.flip_out = r->push.flip;
    if (r->task->ranks) {
        r->push.keys_out = r->task->ranks;
        r->push.payload_out = packed(r->task) ? 0 : r->task->ranks; /* there are places */
        r->push.place_shift = r->push.shift = packed(r->task) ? r->task->place_bits : 0;
        r->push.place_mask = (uint32_t)((UINT64_C(1) << r->push.place_shift) - 1);
    }
}

/* Of the last step. */
static uint32_t to_ranks(const struct recording *r)
{
    return r->task->ranks ? GPUME_SORT_TO_RANKS : 0;
}

/* Many segments per workgroup; `most` is at most GPUME_BITONIC_CHUNK. */
static void record_slots(struct recording *r, uint32_t most)
{
    if (!choose(r, r->task->ranks ? 1 : 2, most)) {
        return;
    }
    addresses_in_place(r);
    r->push.slot = 1u << gpume_bit_width(r->push.most - 1);
    r->push.steps = GPUME_BITONIC_FROM_KEYS | GPUME_BITONIC_TO_KEYS | to_ranks(r);
    dispatch(
        r, &r->sort->chunk, gpume_div_up(r->task->segments, GPUME_BITONIC_CHUNK / r->push.slot), 1);
}

/* A doubling of the sorted length to `size`: steps of a chunk or more one by one, the rest in
 * shared memory. */
static void record_doubling(struct recording *r, uint64_t size)
{
    uint64_t longest = r->push.most;
    r->push.steps = GPUME_BITONIC_FLIP;
    for (uint64_t reach = size / 2; reach >= GPUME_BITONIC_CHUNK; reach /= 2) {
        r->push.reach = (uint32_t)reach;
        barrier(r);
        dispatch_segments(
            r, &r->sort->step, gpume_div_up(longest, 2 * reach) * reach / GPUME_BITONIC_LOCAL);
        r->push.steps = 0;
    }
    if (size >= longest) {
        r->push.steps = GPUME_BITONIC_TO_KEYS | to_ranks(r);
        r->push.payload_in = r->task->payload ? r->task->scratch + r->layout.payload[0] : 0;
        r->push.payload_out = r->task->payload;
    }
    barrier(r);
    dispatch_segments(r, &r->sort->chunk, gpume_div_up(longest, GPUME_BITONIC_CHUNK));
}

static void record_network(struct recording *r)
{
    if (!choose(r, GPUME_BITONIC_CHUNK + 1, UINT32_MAX)) {
        return;
    }
    const struct gpume_sort_task *task = r->task;
    uint64_t longest = r->push.most;
    addresses_in_place(r);
    r->push.counts = task->scratch + r->layout.counts;
    r->push.slot = GPUME_BITONIC_CHUNK;
    r->push.steps = GPUME_BITONIC_FROM_KEYS;
    dispatch_segments(r, &r->sort->chunk, gpume_div_up(longest, GPUME_BITONIC_CHUNK));
    if (task->payload) {
        r->push.keys_in = 0;
        r->push.payload_out = task->scratch + r->layout.payload[0];
        dispatch_segments(
            r, &r->sort->copy, gpume_div_up(longest, GPUME_SORT_COPY_LOCAL * GPUME_SORT_COPY_KEYS));
        r->push.keys_in = task->keys;
    }
    for (uint64_t size = 2 * GPUME_BITONIC_CHUNK; size / 2 < longest; size *= 2) {
        record_doubling(r, size);
    }
}

static void record_local(struct recording *r, const struct gpume_kernel *kernel,
    const struct gpume_sort_shape *shape, uint32_t least)
{
    if (choose(r, least, gpume_sort_tile(shape))) {
        addresses_in_place(r);
        r->push.steps = to_ranks(r);
        dispatch(r, kernel, r->task->segments, 1);
    }
}

/* What pass number `pass` reads and writes: the caller's memory and scratch memory in turn. */
static void turn_addresses(struct recording *r, uint32_t pass)
{
    const struct gpume_sort_task *task = r->task;
    VkDeviceAddress keys[] = {task->keys, task->scratch + r->layout.keys[0]};
    VkDeviceAddress payload[] = {
        task->payload, task->payload ? task->scratch + r->layout.payload[0] : 0};
    r->push.keys_in = keys[pass % 2];
    r->push.keys_out = keys[1 - pass % 2];
    r->push.payload_in = payload[pass % 2];
    r->push.payload_out = payload[1 - pass % 2];
    r->push.shift = pass * 8;
    r->push.flip_out = r->push.flip;
}

/* For ranks: from the caller's keys through scratch memory to the ranks. Only the first pass turns
 * keys over, and gives them places. */
static void turn_ranks(struct recording *r, uint32_t pass)
{
    const struct gpume_sort_task *task = r->task;
    bool last = pass + 1 == r->push.passes;
    uint32_t low = packed(task) ? task->place_bits : 0;
    VkDeviceAddress from = task->scratch + r->layout.keys[(pass + 1) % 2];
    r->push.keys_in = pass == 0 ? task->keys : from;
    r->push.keys_out = last ? task->ranks : task->scratch + r->layout.keys[pass % 2];
    if (!packed(task)) {
        r->push.payload_in = pass == 0 ? 0 : task->scratch + r->layout.payload[(pass + 1) % 2];
        r->push.payload_out = task->scratch + r->layout.payload[pass % 2];
    }
    r->push.flip = pass == 0 ? task->flip : 0;
    r->push.flip_out = 0;
    r->push.shift = low + pass * 8;
    r->push.place_shift = pass == 0 ? low : 0;
    r->push.place_mask = (uint32_t)((UINT64_C(1) << low) - 1);
    r->push.steps = last ? GPUME_SORT_TO_RANKS : 0;
}

static void record_passes(struct recording *r)
{
    const struct gpume_k_sort *sort = r->sort;
    uint32_t tile = gpume_sort_tile(&sort->shape);
    if (!choose(r, tile + 1, UINT32_MAX)) {
        return;
    }
    uint64_t tiles = gpume_div_up(r->push.most, tile);
    const struct gpume_kernel *scatter =
        has_pairs(r->task) ? &sort->scatter_pairs : &sort->scatter_keys;
    /* A workgroup for each of 256 digits is too much for a few tiles, where segments are many. */
    bool rows = tiles <= gpume_min_u64(4ull * r->task->segments, GPUME_SORT_ROW_MAX);
    r->push.counts = r->task->scratch + r->layout.counts;
    r->push.totals = r->task->scratch + r->layout.totals;
    for (uint32_t pass = 0; pass < r->push.passes; pass++) {
        if (r->task->ranks) {
            turn_ranks(r, pass);
        } else {
            turn_addresses(r, pass);
        }
        dispatch_segments(r, &sort->hist, tiles);
        barrier(r);
        dispatch_segments(r, &sort->scan, rows ? 1 : GPUME_SORT_DIGITS);
        barrier(r);
        dispatch_segments(r, scatter, tiles);
        if (pass + 1 < r->push.passes) {
            barrier(r);
        }
    }
    if (r->push.passes % 2 == 1 && !r->task->ranks) {
        barrier(r);
        turn_addresses(r, r->push.passes);
        dispatch_segments(r, &sort->copy,
            gpume_div_up(r->push.most, GPUME_SORT_COPY_LOCAL * GPUME_SORT_COPY_KEYS));
    }
}

void gpume_k_sort_record(
    const struct gpume_k_sort *sort, VkCommandBuffer commands, const struct gpume_sort_task *task)
{
    assert(task->key_bits >= 1 && task->key_bits <= 32 && task->count <= GPUME_SORT_COUNT_MAX);
    struct recording r = {
        .sort = sort,
        .task = task,
        .commands = commands,
        .layout = layout_of(sort, task),
        .push = {.table = task->table,
            .stride = task->stride,
            .longest = task->longest,
            .segments = task->segments,
            .flip = task->flip,
            .passes = (uint32_t)gpume_div_up(task->key_bits, 8)},
    };
    if (task->segments == 0 || task->longest < (task->ranks ? 1 : 2)) {
        return;
    }
    if (by_network(sort, task)) {
        record_slots(&r, GPUME_BITONIC_CHUNK);
        record_network(&r);
        return;
    }
    uint32_t tiny = task->method == GPUME_SORT_AUTO ? sort->tiny : 1;
    record_slots(&r, tiny);
    record_local(&r, &sort->local_small, &sort->small, tiny + 1);
    record_local(&r, &sort->local_middle, &sort->middle, gpume_sort_tile(&sort->small) + 1);
    record_local(&r, &sort->local, &sort->shape, gpume_sort_tile(&sort->middle) + 1);
    record_passes(&r);
}
