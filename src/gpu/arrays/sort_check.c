/* SPDX-License-Identifier: BSD-2-Clause */
/* The check of a sort on a device: see sort.h. */
#include "arrays/host_sort.h"
#include "base/clock.h"
#include "base/grid.h"
#include "base/status.h"
#include "common/shared.h"
#include "gpu/arrays/sort.h"
#include "gpu/vk/device_cache.h"
#include "gpu/vk/slot.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    snprintf(kind, sizeof(kind), "sort-%08x-%u-%s", (unsigned)gpume_k_sort_version(),
        sort->gpu->subgroup, what);
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
    GPUME_TRY(gpume_buffer_create(gpu, GPUME_BUFFER_SHARED, words, &check->words));
    GPUME_TRY(gpume_buffer_create(gpu, GPUME_BUFFER_DEVICE, scratch, &check->scratch));
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
    gpume_buffer_destroy(sort->gpu, &check.scratch);
    gpume_buffer_destroy(sort->gpu, &check.words);
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
