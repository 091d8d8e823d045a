/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/arrays/sort.h"

#include "arrays/host_sort.h"
#include "base/base.h"
#include "base/os.h"
#include "base/params.h"
#include "common/shared.h"
#include "gpu/vk/gpu.h"
#include "gpume/vulkan.h"
#include "sort_chunk.inc"
#include "sort_copy.inc"
#include "sort_hist.inc"
#include "sort_local.inc"
#include "sort_scan.inc"
#include "sort_scatter.inc"
#include "sort_step.inc"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- kernels, and their shape on a device */

_Static_assert(sizeof(struct gpume_sort_push) == 120, "as GLSL lays it");

#define KERNELS (sizeof((struct gpume_k_sort){0}.kernels) / sizeof(struct gpume_kernel))
#define TILE_MIN 1024u   /* keys: what sort_scan.comp counts on */
#define LENGTH_TINY 256u /* keys: measured on an H200, see PERFORMANCE.md */

/* Invocations of a workgroup: a power of 2, of at most what is wished and what the device has. */
static uint32_t local_size(const struct gpume_gpu *gpu, uint32_t wished)
{
    const VkPhysicalDeviceLimits *limits = &gpu->properties.limits;
    uint64_t most = (uint64_t)gpu->subgroup * gpu->subgroups_max;
    most = gpume_min_u64(most, limits->maxComputeWorkGroupInvocations);
    most = gpume_min_u64(most, limits->maxComputeWorkGroupSize[0]);
    uint32_t local = wished;
    while (local > most) {
        local /= 2;
    }
    return local;
}

/* A tile of `keys` for each invocation, in workgroups of the wished size, as far as they fit. */
static struct gpume_sort_shape shape_of(const struct gpume_gpu *gpu, uint32_t wished, uint32_t keys)
{
    struct gpume_sort_shape shape = {.local = local_size(gpu, wished), .keys = keys};
    /* The histograms, or the tile that takes their place; 4 KiB for all else. */
    uint32_t most = gpu->properties.limits.maxComputeSharedMemorySize - 4096;
    while (shape.local / gpu->subgroup * GPUME_SORT_DIGITS * 4 > most) {
        shape.local /= 2;
    }
    while (gpume_sort_tile(&shape) * 4 > most) {
        shape.keys /= 2;
    }
    while (gpume_sort_tile(&shape) < TILE_MIN) {
        shape.keys *= 2;
    }
    return shape;
}

struct code {
    const uint32_t *words;
    size_t bytes;
    const struct gpume_sort_shape *shape; /* NULL: neither shape nor subgroups matter */
    uint32_t pairs;
};

static int create_sort_kernel(
    struct gpume_gpu *gpu, const struct code *code, struct gpume_kernel *kernel)
{
    uint32_t constants[GPUME_SORT_SPEC_COUNT] = {0};
    struct gpume_kernel_info info = {
        .words = code->words,
        .bytes = code->bytes,
        .push_bytes = sizeof(struct gpume_sort_push),
    };
    if (code->shape) {
        constants[GPUME_SORT_SPEC_LOCAL] = code->shape->local;
        constants[GPUME_SORT_SPEC_KEYS] = code->shape->keys;
        constants[GPUME_SORT_SPEC_SUBGROUP] = gpu->subgroup;
        constants[GPUME_SORT_SPEC_PAIRS] = code->pairs;
        info.constants = constants;
        info.constant_count = GPUME_SORT_SPEC_COUNT;
        info.subgroup = gpu->subgroup;
    }
    return gpume_kernel_create(gpu, &info, kernel);
}

/* Whether the kernel is needed for segments of `longest` keys each. */
static bool is_needed(const struct gpume_k_sort *sort, const struct gpume_kernel *kernel,
    const struct gpume_sort_task *only)
{
    if (!only) {
        return true;
    }
    if (!sort->gpu->subgroup || only->method == GPUME_SORT_BITONIC) {
        return kernel == &sort->chunk || (kernel == &sort->step && only->longest > 1) ||
               (kernel == &sort->copy && only->payload);
    }
    const struct gpume_kernel *alone =
        only->longest <= sort->tiny                       ? &sort->chunk
        : only->longest <= gpume_sort_tile(&sort->small)  ? &sort->local_small
        : only->longest <= gpume_sort_tile(&sort->middle) ? &sort->local_middle
        : only->longest <= gpume_sort_tile(&sort->shape)  ? &sort->local
                                                          : NULL;
    if (alone) {
        return kernel == alone;
    }
    return kernel == &sort->hist || kernel == &sort->scan || kernel == &sort->scatter_keys ||
           kernel == &sort->scatter_pairs || (kernel == &sort->copy && !only->ranks);
}

static int create_kernels(struct gpume_k_sort *sort, const struct gpume_sort_task *only)
{
    const struct gpume_sort_shape *shape = &sort->shape;
    const struct code codes[] = {
        /* in the order of sort->kernels */
        {sort_chunk, sizeof(sort_chunk), NULL, 0},
        {sort_step, sizeof(sort_step), NULL, 0},
        {sort_copy, sizeof(sort_copy), NULL, 0},
        {sort_hist, sizeof(sort_hist), shape, 0},
        {sort_scan, sizeof(sort_scan), shape, 0},
        {sort_scatter, sizeof(sort_scatter), shape, 0},
        {sort_scatter, sizeof(sort_scatter), shape, 1},
        {sort_local, sizeof(sort_local), shape, 0},
        {sort_local, sizeof(sort_local), &sort->small, 0},
        {sort_local, sizeof(sort_local), &sort->middle, 0},
    };
    _Static_assert(sizeof(codes) / sizeof(*codes) == KERNELS, "a code for each kernel");
    int status = GPUME_OK;
    uint32_t count = sort->gpu->subgroup ? KERNELS : 3;
    for (uint32_t i = 0; i < count && status == GPUME_OK; i++) {
        if (is_needed(sort, &sort->kernels[i], only)) {
            status = create_sort_kernel(sort->gpu, &codes[i], &sort->kernels[i]);
        }
    }
    return status;
}

struct gpume_k_sort gpume_k_sort_shapes(struct gpume_gpu *gpu, const struct gpume_sort_shape *shape)
{
    struct gpume_k_sort sort = {.gpu = gpu, .tiny = LENGTH_TINY};
    if (gpu->subgroup) {
        sort.shape = shape ? *shape : shape_of(gpu, 512, 11);
        sort.small = shape_of(gpu, 128, 8);
        sort.middle = shape_of(gpu, 512, 8);
        sort.small =
            gpume_sort_tile(&sort.small) < gpume_sort_tile(&sort.shape) ? sort.small : sort.shape;
        sort.middle =
            gpume_sort_tile(&sort.middle) < gpume_sort_tile(&sort.shape) ? sort.middle : sort.shape;
    }
    return sort;
}

int gpume_k_sort_create(struct gpume_gpu *gpu, const struct gpume_sort_shape *shape,
    const struct gpume_sort_task *only, struct gpume_k_sort *out)
{
    if (!gpu->addresses) {
        return gpume_log_refuse(gpu->log, GPUME_UNSUPPORTED,
            gpume_about_two(NULL, NULL, GPUME_PARAM(backend), "cpu"),
            "%s: no buffer addresses (bufferDeviceAddress), which sorting needs; use",
            gpu->properties.deviceName);
    }
    struct gpume_k_sort sort = gpume_k_sort_shapes(gpu, shape);
    int status = create_kernels(&sort, only);
    if (status != GPUME_OK) {
        gpume_k_sort_destroy(&sort);
        return status;
    }
    *out = sort;
    return GPUME_OK;
}

int gpume_k_sort_wait(struct gpume_k_sort *sort)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; i < KERNELS && status == GPUME_OK; i++) {
        status = gpume_kernel_wait(sort->gpu, &sort->kernels[i]);
    }
    return status;
}

static uint32_t sort_version(void)
{
    uint64_t sum = GPUME_CHECKSUM_BEGIN;
    sum = gpume_checksum(sum, sort_chunk, sizeof(sort_chunk));
    sum = gpume_checksum(sum, sort_step, sizeof(sort_step));
    sum = gpume_checksum(sum, sort_copy, sizeof(sort_copy));
    sum = gpume_checksum(sum, sort_hist, sizeof(sort_hist));
    sum = gpume_checksum(sum, sort_scan, sizeof(sort_scan));
    sum = gpume_checksum(sum, sort_scatter, sizeof(sort_scatter));
    sum = gpume_checksum(sum, sort_local, sizeof(sort_local));
    return (uint32_t)(sum ^ sum >> 32);
}

void gpume_k_sort_destroy(struct gpume_k_sort *sort)
{
    for (uint32_t i = 0; sort->gpu && i < KERNELS; i++) {
        gpume_kernel_destroy(sort->gpu, &sort->kernels[i]);
    }
    *sort = (struct gpume_k_sort){0};
}

/* --- the commands of a sort: which segments go which way, and where scratch memory lies */

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

static VkDeviceSize take_bytes(VkDeviceSize *end, VkDeviceSize bytes)
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
    layout.payload[0] = take_bytes(end, pairs ? words : 0);
    if (network) {
        layout.counts = take_bytes(end, 2 * words);
        return layout;
    }
    VkDeviceSize tiles = task->count / gpume_sort_tile(&sort->shape) + 1;
    layout.keys[0] = take_bytes(end, words);
    layout.keys[1] = take_bytes(end, task->ranks ? words : 0);
    layout.payload[1] = take_bytes(end, task->ranks && pairs ? words : 0);
    layout.counts = take_bytes(end, 2 * tiles * GPUME_SORT_DIGITS * 4);
    layout.totals = take_bytes(end, tiles * GPUME_SORT_DIGITS * 4);
    return layout;
}

VkDeviceSize gpume_k_sort_scratch(
    const struct gpume_k_sort *sort, const struct gpume_sort_task *task)
{
    return layout_of(sort, task).bytes;
}

static void sort_barrier(struct recording *r)
{
    VkMemoryBarrier memory = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
    };
    vkCmdPipelineBarrier(r->commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, NULL, 0, NULL);
}

static void dispatch_sort(
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
        dispatch_sort(r, kernel, groups, gpume_min_u32(r->task->segments - first, GROUPS_MAX));
    }
    r->push.segment_first = 0;
}

/* Segments of `least` to `most` keys are meant; false: there are none. */
static bool choose_segments(struct recording *r, uint32_t least, uint32_t most)
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
    if (!choose_segments(r, r->task->ranks ? 1 : 2, most)) {
        return;
    }
    addresses_in_place(r);
    r->push.slot = 1u << gpume_bit_width(r->push.most - 1);
    r->push.steps = GPUME_BITONIC_FROM_KEYS | GPUME_BITONIC_TO_KEYS | to_ranks(r);
    dispatch_sort(
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
        sort_barrier(r);
        dispatch_segments(
            r, &r->sort->step, gpume_div_up(longest, 2 * reach) * reach / GPUME_BITONIC_LOCAL);
        r->push.steps = 0;
    }
    if (size >= longest) {
        r->push.steps = GPUME_BITONIC_TO_KEYS | to_ranks(r);
        r->push.payload_in = r->task->payload ? r->task->scratch + r->layout.payload[0] : 0;
        r->push.payload_out = r->task->payload;
    }
    sort_barrier(r);
    dispatch_segments(r, &r->sort->chunk, gpume_div_up(longest, GPUME_BITONIC_CHUNK));
}

static void record_network(struct recording *r)
{
    if (!choose_segments(r, GPUME_BITONIC_CHUNK + 1, UINT32_MAX)) {
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
    if (choose_segments(r, least, gpume_sort_tile(shape))) {
        addresses_in_place(r);
        r->push.steps = to_ranks(r);
        dispatch_sort(r, kernel, r->task->segments, 1);
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
    if (!choose_segments(r, tile + 1, UINT32_MAX)) {
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
        sort_barrier(r);
        dispatch_segments(r, &sort->scan, rows ? 1 : GPUME_SORT_DIGITS);
        sort_barrier(r);
        dispatch_segments(r, scatter, tiles);
        if (pass + 1 < r->push.passes) {
            sort_barrier(r);
        }
    }
    if (r->push.passes % 2 == 1 && !r->task->ranks) {
        sort_barrier(r);
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

/* --- the check: see sort.h */

#define RIGHT "right"
#define SEGMENTS 3u
#define GAP 3u /* keys between two segments: they begin at any alignment */
#define TASKS_MAX 13u
#define LENGTHS_MAX 5u

struct sort_check {
    const struct gpume_k_sort *sort;
    struct gpume_timeline timeline;
    struct gpume_slot slot;
    struct gpume_buffer words; /* keys, then payload or ranks */
    struct gpume_buffer scratch;
};

/* Segments of up to these lengths are sorted by kernels of their own; longer ones by those that
 * work by tiles. */
static uint32_t list_lengths(const struct gpume_k_sort *sort, uint32_t lengths[LENGTHS_MAX])
{
    if (!sort->gpu->subgroup) {
        lengths[0] = GPUME_BITONIC_CHUNK;
        return 1;
    }
    lengths[0] = sort->tiny;
    lengths[1] = gpume_sort_tile(&sort->small);
    lengths[2] = gpume_sort_tile(&sort->middle);
    lengths[3] = gpume_sort_tile(&sort->shape);
    return 4;
}

/* Five tiles, the last of which is not full: a few more than are scanned row by row in a segment
 * that is alone. */
static uint32_t many_tiles(uint32_t tile)
{
    return 4 * tile + 5;
}

static struct gpume_sort_task with_length(
    struct gpume_sort_task task, uint32_t longest, uint32_t segments)
{
    task.table = 0;
    task.longest = longest;
    task.segments = segments;
    task.stride = longest + GAP;
    task.count = (segments - 1) * task.stride + longest;
    return task;
}

/* Everything that gpume_segment_sort may ask for: pairs, and keys alone in three passes. */
static uint32_t list_all(const struct gpume_k_sort *sort, struct gpume_sort_task tasks[TASKS_MAX])
{
    const struct gpume_sort_task pairs = {.payload = 1, .key_bits = 32}, keys = {.key_bits = 24};
    uint32_t lengths[LENGTHS_MAX], count = list_lengths(sort, lengths), at = 0;
    lengths[count] = many_tiles(lengths[count - 1]);
    for (uint32_t i = 0; i <= count; i++) {
        tasks[at++] = with_length(pairs, lengths[i], SEGMENTS);
        tasks[at++] = with_length(keys, lengths[i], 1);
    }
    if (sort->gpu->subgroup) {
        for (uint32_t i = 0; i < 2; i++, at++) {
            tasks[at] = with_length(i ? keys : pairs, many_tiles(GPUME_BITONIC_CHUNK), SEGMENTS);
            tasks[at].method = GPUME_SORT_BITONIC;
        }
    }
    return at;
}

/* For ranks, by the kernels that `like` takes: of their longest segments, with as many passes. */
static uint32_t list_ranks(const struct gpume_k_sort *sort, const struct gpume_sort_task *like,
    struct gpume_sort_task tasks[TASKS_MAX])
{
    struct gpume_sort_task task = *like;
    uint32_t lengths[LENGTHS_MAX], count = list_lengths(sort, lengths), i = 0;
    lengths[count] = many_tiles(lengths[count - 1]);
    while (i < count && lengths[i] < like->longest) {
        i++;
    }
    bool in_words = like->key_bits + like->place_bits <= 32; /* else pairs */
    task.place_bits = in_words ? gpume_bit_width(lengths[i] - 1) : 32;
    task.key_bits = (uint32_t)gpume_round_up(like->key_bits, 8);
    if (in_words) {
        task.key_bits = gpume_min_u32(task.key_bits, 32 - task.place_bits);
    }
    assert(task.flip == UINT32_MAX); /* as gpume_host_rank */
    tasks[0] = with_length(task, lengths[i], SEGMENTS);
    tasks[1] = with_length(task, lengths[i], 1);
    return 2;
}

/* What is known to be right: everything, or these kernels, on words or pairs, with this many
 * passes. Different subgroups make different kernels. */
static void name_of(const struct gpume_k_sort *sort, const struct gpume_sort_task *like,
    const struct gpume_sort_task *task, char name[GPUME_CACHE_NAME_BYTES])
{
    char kind[64], what[32] = "all";
    if (like) {
        snprintf(what, sizeof(what), "%u%s%u", task->longest,
            task->key_bits + task->place_bits <= 32 ? "w" : "p",
            (unsigned)gpume_div_up(task->key_bits, 8));
    }
    snprintf(
        kind, sizeof(kind), "sort-%08x-%u-%s", (unsigned)sort_version(), sort->gpu->subgroup, what);
    gpume_device_cache_name(sort->gpu, kind, name);
}

/* A third of the keys have one of five values, the value of padding among them. */
static void fill_keys(uint32_t *keys, uint32_t count, uint32_t key_bits)
{
    static const uint32_t few[] = {0, UINT32_MAX, 1, 0x80ffff00u, 0x12345678u};
    uint32_t state = count, mask = UINT32_MAX >> (32 - key_bits);
    for (uint32_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u; /* Numerical Recipes' quick generator */
        uint32_t key = (state ^ state >> 15) * 0x9e3779b1u;
        keys[i] = (key % 3 == 0 ? few[key / 3 % 5] : key) & mask;
    }
}

static int run_sort(struct sort_check *check, const struct gpume_sort_task *task)
{
    uint64_t row_ns[GPUME_ROW_COUNT] = {0};
    int status;
    gpume_slot_begin(&check->slot);
    if (check->slot.status == GPUME_OK) {
        gpume_k_sort_record(check->sort, check->slot.commands, task);
    }
    gpume_barrier_all_to_host(&check->slot);
    GPUME_TRY(gpume_slot_submit(&check->slot, &check->timeline));
    GPUME_TRY(gpume_slot_wait(&check->slot, &check->timeline, row_ns));
fail:
    return status;
}

/* Is a segment as the host sorts it? before: its keys; room: 4 words per key. */
static bool is_right(const struct gpume_sort_task *task, const uint32_t *keys,
    const uint32_t *other, const uint32_t *before, uint32_t *room)
{
    const struct gpume_sort_params rising = {.key_bits = task->key_bits};
    uint32_t count = task->longest, *order = room + count;
    size_t bytes = count * sizeof(*keys);
    if (task->ranks) {
        gpume_host_rank(before, count, task->key_bits, room, order);
        return memcmp(room, other, bytes) == 0;
    }
    memcpy(room, before, bytes);
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    gpume_radix_sort(&rising, room, order, count, order + count);
    return memcmp(room, keys, bytes) == 0 && (!task->payload || memcmp(order, other, bytes) == 0);
}

static int check_task(struct sort_check *check, struct gpume_sort_task task, bool *right)
{
    uint32_t *keys = check->words.mapped, *other = keys + task.count;
    uint32_t *before = malloc((task.count + 4ull * task.longest) * sizeof(*before));
    int status = before ? GPUME_OK : gpume_log_nomem(check->sort->gpu->log, "a check of the sort");
    if (status == GPUME_OK) {
        VkDeviceAddress behind = check->words.address + (VkDeviceSize)task.count * sizeof(*keys);
        task.keys = check->words.address;
        task.payload = task.payload ? behind : 0;
        task.ranks = task.ranks ? behind : 0;
        task.scratch = check->scratch.address;
        fill_keys(keys, task.count, task.key_bits);
        memcpy(before, keys, task.count * sizeof(*keys));
        for (uint32_t i = 0; i < task.count; i++) {
            other[i] = i % task.stride;
        }
        status = run_sort(check, &task);
    }
    for (uint32_t i = 0; status == GPUME_OK && i < task.segments && *right; i++) {
        uint32_t at = i * task.stride;
        *right = is_right(&task, keys + at, other + at, before + at, before + task.count);
    }
    free(before);
    return status;
}

static int check_create(
    struct sort_check *check, const struct gpume_sort_task *tasks, uint32_t count)
{
    struct gpume_gpu *gpu = check->sort->gpu;
    VkDeviceSize words = 0, scratch = GPUME_SORT_SCRATCH_ALIGN;
    int status;
    for (uint32_t i = 0; i < count; i++) {
        words = gpume_max_u64(words, 2ull * tasks[i].count * sizeof(uint32_t));
        scratch = gpume_max_u64(scratch, gpume_k_sort_scratch(check->sort, &tasks[i]));
    }
    GPUME_TRY(gpume_buffers_create(gpu, GPUME_BUFFER_SHARED, words, 1, &check->words));
    GPUME_TRY(gpume_buffers_create(gpu, GPUME_BUFFER_DEVICE, scratch, 1, &check->scratch));
    GPUME_TRY(gpume_timeline_create(gpu, &check->timeline));
    GPUME_TRY(gpume_slot_create(gpu, 1, 0, &check->slot));
fail:
    return status;
}

static int check_all(const struct gpume_k_sort *sort, const struct gpume_sort_task *tasks,
    uint32_t count, bool *right)
{
    struct sort_check check = {.sort = sort};
    uint64_t start = gpume_clock_ns();
    int status = check_create(&check, tasks, count);
    for (uint32_t i = 0; status == GPUME_OK && i < count && *right; i++) {
        status = check_task(&check, tasks[i], right);
    }
    gpume_slot_destroy(&check.slot);
    gpume_timeline_destroy(sort->gpu, &check.timeline);
    gpume_buffers_destroy(sort->gpu, 1, &check.scratch);
    gpume_buffers_destroy(sort->gpu, 1, &check.words);
    gpume_log_write(sort->gpu->log, GPUME_LOG_DEBUG, "sort checked in %.1f ms",
        (double)(gpume_clock_ns() - start) / 1e6);
    return status;
}

int gpume_sort_check(const struct gpume_k_sort *sort, const struct gpume_sort_task *like,
    const struct gpume_cache *cache)
{
    struct gpume_gpu *gpu = sort->gpu;
    struct gpume_sort_task tasks[TASKS_MAX];
    uint32_t count = like ? list_ranks(sort, like, tasks) : list_all(sort, tasks);
    char name[GPUME_CACHE_NAME_BYTES], answer[GPUME_KNOWN_BYTES];
    bool right = true;
    name_of(sort, like, tasks, name);
    if (gpu->sorts_wrongly ||
        (gpume_known_find(cache, name, answer) && strcmp(answer, RIGHT) == 0)) {
        return GPUME_OK;
    }
    GPUME_CHECK(check_all(sort, tasks, count, &right));
    if (right) {
        gpume_known_keep(cache, name, RIGHT);
        return GPUME_OK;
    }
    gpu->sorts_wrongly = true; /* not kept: what fails once may be well again */
    gpume_log_write(gpu->log, GPUME_LOG_WARNING,
        "%s (%s) sorts wrongly: a fault of the driver; the CPU sorts and ranks instead, which "
        "takes longer",
        gpu->properties.deviceName, gpu->driver);
    return GPUME_OK;
}

/* --- the public sort for callers with a device of their own: checks, then k_sort */

struct gpume_sorter {
    struct gpume_log log;
    struct gpume_gpu gpu; /* of the caller's handles; never closed */
    struct gpume_k_sort sort;
};

static int borrow_device(struct gpume_sorter *sorter, const struct gpume_vulkan *vulkan)
{
    sorter->log = (struct gpume_log){.fn = vulkan->log, .opaque = vulkan->log_opaque};
    sorter->gpu = (struct gpume_gpu){
        .log = &sorter->log,
        .physical = vulkan->physical,
        .device = vulkan->device,
        .pipelines = vulkan->pipelines,
    };
    gpume_gpu_describe(&sorter->gpu);
    if (sorter->gpu.properties.apiVersion < VK_API_VERSION_1_2) {
        return gpume_log_fail(&sorter->log, GPUME_UNSUPPORTED, "%s: sorting needs Vulkan 1.2",
            sorter->gpu.properties.deviceName);
    }
    sorter->gpu.subgroup = vulkan->full_subgroups ? sorter->gpu.subgroup : 0;
    return GPUME_OK;
}

int gpume_sorter_create(gpume_sorter **out, const struct gpume_vulkan *vulkan)
{
    if (!out || !vulkan) {
        return GPUME_INVALID;
    }
    const struct gpume_log log = GPUME_SIZED_LOG(vulkan);
    struct gpume_vulkan own;
    int status = gpume_sized_read(&own, sizeof(own), vulkan, "gpume_vulkan", &log);
    if (status != GPUME_OK) {
        return status;
    }
    if (!own.physical || !own.device) {
        return GPUME_INVALID;
    }
    if (!gpume_vk_load()) {
        return gpume_log_fail(
            &log, GPUME_UNSUPPORTED, "the Vulkan loader, %s, cannot be loaded", gpume_os_vulkan);
    }
    struct gpume_sorter *sorter = calloc(1, sizeof(*sorter));
    if (!sorter) {
        return gpume_log_nomem(&log, "a sorter");
    }
    GPUME_TRY(borrow_device(sorter, &own));
    GPUME_TRY(gpume_k_sort_create(&sorter->gpu, NULL, NULL, &sorter->sort));
    GPUME_TRY(gpume_k_sort_wait(&sorter->sort));
    *out = sorter;
    return GPUME_OK;
fail:
    gpume_sorter_destroy(&sorter);
    return status;
}

void gpume_sorter_destroy(gpume_sorter **sorter)
{
    if (sorter && *sorter) {
        gpume_k_sort_destroy(&(*sorter)->sort);
        free(*sorter);
        *sorter = NULL;
    }
}

static bool is_valid_task(const struct gpume_sorter_task *task)
{
    uint64_t longest = task->segment_longest, stride = task->segment_stride;
    if (task->count > GPUME_SORT_COUNT_MAX || (unsigned)task->type > GPUME_KEY_I32 ||
        (unsigned)task->method > GPUME_SORT_BITONIC || task->key_bits > 32 || task->keys % 4 ||
        task->payload % 4 || task->segments % 8 || task->scratch % GPUME_SORT_SCRATCH_ALIGN) {
        return false;
    }
    if (task->segment_count == 0 || longest == 0) {
        return true;
    }
    return longest <= task->count &&
           (task->segments || task->segment_count == 1 ||
               (stride >= longest && (task->segment_count - 1) * stride <= task->count - longest));
}

static struct gpume_sort_task sort_task_of(const struct gpume_sorter_task *task)
{
    bool is_signed = task->type == GPUME_KEY_I32, one = task->segment_count == 0;
    return (struct gpume_sort_task){
        .keys = task->keys,
        .payload = task->payload,
        .scratch = task->scratch,
        .count = (uint32_t)task->count,
        .table = one ? 0 : task->segments,
        .segments = one ? 1 : task->segment_count,
        .stride = task->segment_stride,
        .longest = one ? (uint32_t)task->count : task->segment_longest,
        .key_bits = task->key_bits == 0 || is_signed ? 32 : task->key_bits,
        .flip = (is_signed ? 0x80000000u : 0) ^ (task->descending ? ~UINT32_C(0) : 0),
        .method = task->method,
    };
}

static bool overlap(VkDeviceAddress a, uint64_t a_bytes, VkDeviceAddress b, uint64_t b_bytes)
{
    return a_bytes > 0 && b_bytes > 0 && a < b + b_bytes && b < a + a_bytes;
}

/* Keys, payload and scratch memory are there, where they are needed, and apart. */
static bool has_memory(const struct gpume_sorter_task *task, uint64_t scratch_bytes)
{
    uint64_t bytes = task->count * 4, payload_bytes = task->payload ? bytes : 0;
    return (bytes == 0 || task->keys) && (scratch_bytes == 0 || task->scratch) &&
           !overlap(task->keys, bytes, task->payload, payload_bytes) &&
           !overlap(task->keys, bytes, task->scratch, scratch_bytes) &&
           !overlap(task->payload, payload_bytes, task->scratch, scratch_bytes);
}

/* Silent: several threads may call it at once. */
static int read_task(const struct gpume_sorter_task *task, struct gpume_sorter_task *own,
    struct gpume_sort_task *internal)
{
    int status = gpume_sized_read(own, sizeof(*own), task, "gpume_sorter_task", NULL);
    status = status == GPUME_OK && !is_valid_task(own) ? GPUME_INVALID : status;
    if (status == GPUME_OK) {
        *internal = sort_task_of(own);
    }
    return status;
}

int gpume_sorter_sizes(const gpume_sorter *sorter, const struct gpume_sorter_task *task,
    struct gpume_sorter_memory *memory)
{
    struct gpume_sorter_task own;
    struct gpume_sort_task internal;
    const int status = sorter && task && memory ? read_task(task, &own, &internal) : GPUME_INVALID;
    if (status == GPUME_OK) {
        *memory = (struct gpume_sorter_memory){
            .scratch_bytes = gpume_k_sort_scratch(&sorter->sort, &internal),
            .scratch_alignment = GPUME_SORT_SCRATCH_ALIGN,
        };
    }
    return status;
}

int gpume_sorter_record(
    const gpume_sorter *sorter, VkCommandBuffer commands, const struct gpume_sorter_task *task)
{
    struct gpume_sorter_task own;
    struct gpume_sort_task internal;
    int status = sorter && commands && task ? read_task(task, &own, &internal) : GPUME_INVALID;
    if (status == GPUME_OK && !has_memory(&own, gpume_k_sort_scratch(&sorter->sort, &internal))) {
        status = GPUME_INVALID;
    }
    if (status == GPUME_OK) {
        gpume_k_sort_record(&sorter->sort, commands, &internal);
    }
    return status;
}
