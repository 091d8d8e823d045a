/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * checksort [--validate] [--small] [--large]: compares the sort on the device with a stable sort in
 * C, word for word, with guard words around keys, between segments and after scratch memory, which
 * is poisoned.
 * --small: as with the least shared memory that Vulkan allows. --large: sizes for a GPU,
 * up to 2^26 + 1. Skips without a Vulkan driver.
 */
#include "gpume/vulkan.h"
#include "harness.h"
#include "sortrig.h"
#include "vulkan_probe.h"

#include <stdlib.h>
#include <string.h>

#define LARGE_MAX ((1u << 26) + 1)
#define SMALL_MAX ((1u << 20) + 1)
#define SEGMENTS_MAX 5000u

enum input {
    RANDOM,
    ZEROS,
    ONES, /* the value of padding */
    SAME,
    RISING,
    FALLING,
    ALTERNATING,
    FEW,
    BYTE_0,
    BYTE_1,
    BYTE_2,
    BYTE_3,
    LOW_ENTROPY,
    OUTLIER,
    SAWTOOTH,
    RUNS,
    SIGNS,
    INPUTS
};

struct check {
    struct sortrig rig;
    uint32_t *keys, *payload;                           /* the input */
    uint32_t *sorted_keys, *sorted_payload;             /* by the device, with guards */
    uint64_t *order;                                    /* of a segment, by the host */
    uint32_t segments[2 * SEGMENTS_MAX], segment_count; /* of a table */
    uint64_t random;
    enum gpume_sort_method last; /* the sort under test */
};

static uint32_t key_of(struct check *check, enum input input, uint32_t i, uint32_t count)
{
    static const uint32_t signs[] = {0x80000000u, 0xffffffffu, 0, 1, 0x7fffffffu};
    uint32_t r = harness_random(&check->random);
    switch (input) {
    case ZEROS:
        return 0;
    case ONES:
        return 0xffffffffu;
    case SAME:
        return 0x12345678u;
    case RISING:
        return i * 3;
    case FALLING:
        return (count - i) * 5;
    case ALTERNATING:
        return i % 2 ? 0xffffffffu : 0;
    case FEW:
        return (r >> 7) % 3 * 0x55555555u;
    case BYTE_0:
    case BYTE_1:
    case BYTE_2:
    case BYTE_3:
        return 0x40302010u ^ (r & 0xffu << 8 * (input - BYTE_0));
    case LOW_ENTROPY:
        return r & harness_random(&check->random) & harness_random(&check->random);
    case OUTLIER:
        return i == count / 3 ? 5 : 0x80000000u;
    case SAWTOOTH:
        return i % 1000 * 0x10001u;
    case RUNS:
        return (i / 2048 * 0x9e3779b9u) >> 8;
    case SIGNS:
        return signs[r % 5];
    default:
        return r;
    }
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Stable by construction; for sizes at which qsort takes too long. */
static void sort_by_bytes(uint64_t *words, uint64_t *other, uint32_t count)
{
    for (uint32_t shift = 32; shift < 64; shift += 8) {
        size_t at[257] = {0};
        for (uint32_t i = 0; i < count; i++) {
            at[(words[i] >> shift & 255) + 1]++;
        }
        for (uint32_t i = 0; i < 256; i++) {
            at[i + 1] += at[i];
        }
        for (uint32_t i = 0; i < count; i++) {
            other[at[words[i] >> shift & 255]++] = words[i];
        }
        uint64_t *swap = words;
        words = other;
        other = swap;
    }
}

/* The first position in a segment at which the device's answer is wrong, or count. */
static uint32_t wrong_at(
    struct check *check, const struct gpume_sort_task *task, uint32_t first, uint32_t count)
{
    uint64_t *order = check->order;
    for (uint32_t i = 0; i < count; i++) {
        order[i] = (uint64_t)(check->keys[first + i] ^ task->flip) << 32 | i;
    }
    if (count > 5000) {
        sort_by_bytes(order, order + count, count);
    } else {
        qsort(order, count, sizeof(*order), compare_words);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = first + (uint32_t)order[i], at = SORTRIG_GUARD + first + i;
        if (check->sorted_keys[at] != check->keys[from] ||
            (task->payload && check->sorted_payload[at] != check->payload[from])) {
            return i;
        }
    }
    return count;
}

/* Sorts check->keys twice as the task says, and compares. */
static void check_task(struct check *check, struct gpume_sort_task task, const char *what)
{
    static uint32_t number;
    struct sortrig *rig = &check->rig;
    uint32_t words = task.count + 2 * SORTRIG_GUARD, wrong = 0;
    if (!harness_has_case(number++)) {
        return;
    }
    uint8_t *seen = calloc(words, 1);
    REQUIRE_EQUAL(sortrig_load(rig, check->keys, task.payload ? check->payload : NULL, task.count,
                      task.table ? check->segments : NULL, task.table ? task.segments : 0),
        GPUME_OK);
    REQUIRE_EQUAL(sortrig_run(rig, &task, true, NULL), GPUME_OK);
    REQUIRE(sortrig_read(rig, &task, check->sorted_keys, check->sorted_payload, task.count));
    for (uint32_t s = 0; s < task.segments && !wrong; s++) {
        uint32_t first = task.table ? check->segments[2 * s] : s * task.stride;
        uint32_t count = task.table ? check->segments[2 * s + 1] : task.longest;
        uint32_t at = wrong_at(check, &task, first, count);
        memset(seen + SORTRIG_GUARD + first, 1, count);
        if (at < count) {
            wrong = 1;
            fprintf(stderr, "%s: key %u of segment %u (%u keys) of %u\n", what, at, s, count,
                task.segments);
        }
    }
    for (uint32_t i = 0; i < words && !wrong; i++) { /* nothing else is written */
        bool guard = i < SORTRIG_GUARD || i >= words - SORTRIG_GUARD;
        uint32_t at = i - SORTRIG_GUARD;
        if (!seen[i] && (check->sorted_keys[i] != (guard ? SORTRIG_POISON : check->keys[at]) ||
                            (task.payload && check->sorted_payload[i] !=
                                                 (guard ? SORTRIG_POISON : check->payload[at])))) {
            wrong = 1;
            fprintf(stderr, "%s: word %u outside all segments has changed\n", what, i);
        }
    }
    REQUIRE_EQUAL(wrong, 0);
    free(seen);
    if (!wrong) {
        uint32_t *once = malloc((size_t)words * 4);
        memcpy(once, check->sorted_keys, (size_t)words * 4);
        REQUIRE_EQUAL(sortrig_run(rig, &task, false, NULL), GPUME_OK); /* on stale scratch memory */
        REQUIRE(sortrig_read(rig, &task, check->sorted_keys, check->sorted_payload, task.count));
        REQUIRE(memcmp(once, check->sorted_keys, (size_t)words * 4) == 0);
        free(once);
    }
}

static void fill(struct check *check, enum input input, uint32_t count, uint32_t key_bits)
{
    uint32_t mask = 0xffffffffu >> (32 - key_bits);
    for (uint32_t i = 0; i < count; i++) {
        check->keys[i] = key_of(check, input, i, count) & mask;
        check->payload[i] = harness_random(&check->random);
    }
}

#define SIGNED 1u  /* keys are two's complement */
#define FALLS 2u   /* falling order */
#define PAYLOAD 4u /* pairs */

static struct gpume_sort_task task_of(
    uint32_t count, uint32_t kind, uint32_t key_bits, enum gpume_sort_method by)
{
    uint32_t mask = 0xffffffffu >> (32 - key_bits);
    return (struct gpume_sort_task){
        .payload = (kind & PAYLOAD) != 0,
        .count = count,
        .segments = 1,
        .longest = count,
        .key_bits = key_bits,
        .flip = (kind & SIGNED ? 0x80000000u : 0) ^ (kind & FALLS ? mask : 0),
        .method = by,
    };
}

static void check_one(struct check *check, enum input input, uint32_t count, uint32_t kind,
    uint32_t key_bits, enum gpume_sort_method by)
{
    char what[128];
    snprintf(what, sizeof(what), "input %d, %u keys, kind %u, %u bits, by %d", (int)input, count,
        kind, key_bits, (int)by);
    fill(check, input, count, key_bits);
    check_task(check, task_of(count, kind, key_bits, by), what);
}

/* Around every edge: subgroups, workgroups, tiles, chunks. */
static void check_sizes(struct check *check)
{
    const struct gpume_k_sort *sort = &check->rig.sort;
    uint32_t edges[] = {4, 8, 16, 32, 64, 128, 256, 512, sort->tiny,
        sort->small.local * sort->small.keys, sort->shape.local, 1024, 2048,
        sort->middle.local * sort->middle.keys, sort->shape.local * sort->shape.keys,
        2 * sort->shape.local * sort->shape.keys, 4096};
    for (enum gpume_sort_method by = GPUME_SORT_AUTO; by <= check->last; by++) {
        for (uint32_t count = 0; count < 4; count++) {
            check_one(check, RANDOM, count, PAYLOAD, 32, by);
        }
        for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
            for (uint32_t count = edges[i] - 1; count <= edges[i] + 1; count++) {
                check_one(check, RANDOM, count, count % 8, 32, by);
                check_one(check, FEW, count, PAYLOAD, 32, by);
            }
        }
        for (uint32_t count = 65535; count <= 65537; count++) {
            check_one(check, by == GPUME_SORT_BITONIC ? FEW : RANDOM, count, PAYLOAD, 32, by);
        }
    }
}

/* Every input with every kind and every length; every kind with every length. */
static void check_inputs(struct check *check)
{
    uint32_t tile = check->rig.sort.shape.local * check->rig.sort.shape.keys;
    const uint32_t counts[] = {50, 1000, tile - 7, 3 * tile + 17};
    for (uint32_t input = RANDOM; input < INPUTS; input++) {
        for (uint32_t kind = 0; kind < 8; kind++) {
            enum gpume_sort_method by = kind % 3 == 2 ? GPUME_SORT_BITONIC : GPUME_SORT_AUTO;
            check_one(check, (enum input)input, counts[(input + kind) % 4], kind, 32, by);
        }
    }
}

/* Every number of bits with every kind, method and length; the length alternates. */
static void check_key_bits(struct check *check)
{
    static const uint32_t bits[] = {1, 7, 8, 9, 16, 17, 24, 25, 31, 32};
    for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
        for (enum gpume_sort_method by = GPUME_SORT_AUTO; by <= check->last; by++) {
            const uint32_t counts[] = {700, by == GPUME_SORT_BITONIC ? 5001 : 13001};
            for (uint32_t kind = 0; kind < 8; kind += bits[i] == 32 ? 1 : 2) {
                check_one(check, RANDOM, counts[(i + by + kind / 2) % 2], kind, bits[i], by);
            }
        }
    }
}

static void check_uniform(struct check *check, uint32_t segments, uint32_t stride, uint32_t longest,
    uint32_t kind, enum gpume_sort_method by)
{
    uint32_t count = segments > 0 ? (segments - 1) * stride + longest : 0;
    struct gpume_sort_task task = task_of(count, kind, 32, by);
    char what[128];
    snprintf(what, sizeof(what), "%u segments of %u every %u, kind %u, by %d", segments, longest,
        stride, kind, (int)by);
    task.segments = segments;
    task.stride = stride;
    task.longest = longest;
    fill(check, kind % 3 ? RANDOM : LOW_ENTROPY, count, 32);
    check_task(check, task, what);
}

static void check_segments(struct check *check, enum gpume_sort_method by)
{
    uint32_t tile = check->rig.sort.shape.local * check->rig.sort.shape.keys;
    uint32_t small = check->rig.sort.small.local * check->rig.sort.small.keys;
    const uint32_t lengths[] = {
        0, 1, 2, 3, 31, 32, 33, 64, 65, 127, small, small + 1, tile - 1, tile, tile + 1, 2 * tile};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        uint32_t length = lengths[i];
        check_uniform(check, 5, length + (uint32_t)i % 3, length, PAYLOAD | (uint32_t)i % 4, by);
        check_uniform(check, length > 1000 ? 2 : 300, length + 1, length, (uint32_t)i % 4, by);
    }
    check_uniform(check, 0, 7, 7, 0, by);
}

/* Segments of all lengths in no order, with gaps. */
static void check_ragged(struct check *check, uint32_t segments, uint32_t longest, uint32_t kind,
    enum gpume_sort_method by)
{
    uint32_t end = 3;
    for (uint32_t i = 0; i < segments; i++) {
        uint32_t r = harness_random(&check->random);
        uint32_t length = i == 0 ? longest : (longest >> r % 14) * (r >> 8 & 255) / 255;
        length = end + length + 3 > check->rig.capacity ? 0 : length;
        check->segments[2 * i] = end;
        check->segments[2 * i + 1] = length;
        end += length > 0 ? length + (r >> 20) % 3 : 0;
    }
    for (uint32_t i = segments; i-- > 1;) {
        uint32_t j = harness_random(&check->random) % (i + 1), swap[2];
        memcpy(swap, check->segments + 2 * i, 8);
        memcpy(check->segments + 2 * i, check->segments + 2 * j, 8);
        memcpy(check->segments + 2 * j, swap, 8);
    }
    struct gpume_sort_task task = task_of(end, kind, 32, by);
    char what[128];
    snprintf(what, sizeof(what), "%u ragged segments up to %u, by %d", segments, longest, (int)by);
    task.table = 1;
    task.segments = segments;
    task.longest = longest;
    fill(check, RANDOM, end, 32);
    check_task(check, task, what);
}

/* The public function, on the rig's device as if it belonged to a caller. */
static void check_public(struct check *check)
{
    struct sortrig *rig = &check->rig;
    struct gpume_vulkan vulkan = {.size = sizeof(vulkan),
        .physical = rig->gpu.physical,
        .device = rig->gpu.device,
        .full_subgroups = rig->gpu.subgroup > 0};
    gpume_sorter *sorter = NULL;
    REQUIRE_EQUAL(gpume_sorter_create(&sorter, NULL), GPUME_INVALID);
    vulkan.size = 0;
    REQUIRE_EQUAL(gpume_sorter_create(&sorter, &vulkan), GPUME_INVALID);
    vulkan.size = sizeof(vulkan);
    REQUIRE_EQUAL(gpume_sorter_create(&sorter, &vulkan), GPUME_OK);
    struct gpume_sorter_task task = {
        .size = sizeof(task), .count = 30000, .type = GPUME_KEY_I32, .descending = true};
    struct gpume_sorter_memory memory;
    REQUIRE_EQUAL(gpume_sorter_sizes(sorter, &task, &memory), GPUME_OK);
    REQUIRE(memory.scratch_bytes >= 30000 * 4 && memory.scratch_bytes <= rig->scratch.bytes);
    /* What the rig does otherwise, but recorded by the public function. */
    struct gpume_sort_task same = task_of(30000, SIGNED | FALLS | PAYLOAD, 32, 0);
    fill(check, RANDOM, same.count, 32);
    REQUIRE_EQUAL(sortrig_load(rig, check->keys, check->payload, same.count, NULL, 0), GPUME_OK);
    rig->sorter = sorter;
    rig->sorter_task = &task;
    REQUIRE_EQUAL(sortrig_run(rig, &same, true, NULL), GPUME_OK);
    rig->sorter = NULL;
    REQUIRE(sortrig_read(rig, &same, check->sorted_keys, check->sorted_payload, same.count));
    REQUIRE_EQUAL(wrong_at(check, &same, 0, same.count), same.count);
    task.keys++;
    REQUIRE_EQUAL(gpume_sorter_sizes(sorter, &task, &memory), GPUME_INVALID);
    task.keys--;
    task.size = 0;
    REQUIRE_EQUAL(gpume_sorter_sizes(sorter, &task, &memory), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_sorter_record(sorter, rig->slot.commands, &task), GPUME_INVALID);
    task.size = sizeof(task);
    const struct gpume_sorter_task good = task;
    task.scratch = 0;
    REQUIRE_EQUAL(gpume_sorter_record(sorter, rig->slot.commands, &task), GPUME_INVALID);
    task.scratch = task.keys / 256 * 256;
    REQUIRE_EQUAL(gpume_sorter_record(sorter, rig->slot.commands, &task), GPUME_INVALID);
    task = good;
    task.payload = task.keys + 4;
    REQUIRE_EQUAL(gpume_sorter_record(sorter, rig->slot.commands, &task), GPUME_INVALID);
    task = good;
    task.keys = 0;
    REQUIRE_EQUAL(gpume_sorter_record(sorter, rig->slot.commands, &task), GPUME_INVALID);
    task = good;
    task.segment_count = 4;
    task.segment_longest = 10000;
    task.segment_stride = 10000;
    REQUIRE_EQUAL(gpume_sorter_sizes(sorter, &task, &memory), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_sorter_record(sorter, rig->slot.commands, &task), GPUME_INVALID);
    gpume_sorter_destroy(&sorter);
    REQUIRE(sorter == NULL);
}

/* Ranks in descending order: the position of each key; keys and all else are unchanged. */
static void check_ranks(struct check *check, uint32_t segments, uint32_t longest, uint32_t key_bits,
    uint32_t place_bits, enum gpume_sort_method by)
{
    static uint32_t number;
    struct sortrig *rig = &check->rig;
    uint32_t stride = longest + 1, count = segments * stride, wrong = 0;
    struct gpume_sort_task task = task_of(count, 0, key_bits, by);
    task.flip = 0xffffffffu;
    task.segments = segments;
    task.stride = stride;
    task.longest = longest;
    task.ranks = 1;
    task.place_bits = place_bits;
    if (!harness_has_case(number++)) {
        return;
    }
    fill(check, key_bits < 5 ? FEW : RANDOM, count, key_bits);
    REQUIRE_EQUAL(sortrig_load(rig, check->keys, check->payload, count, NULL, 0), GPUME_OK);
    REQUIRE_EQUAL(sortrig_run(rig, &task, true, NULL), GPUME_OK);
    REQUIRE(sortrig_read(rig, &task, check->sorted_keys, check->sorted_payload, count));
    REQUIRE(memcmp(check->sorted_keys + SORTRIG_GUARD, check->keys, (size_t)count * 4) == 0);
    for (uint32_t s = 0; s < segments; s++) {
        uint32_t first = s * stride;
        for (uint32_t i = 0; i < longest; i++) {
            check->order[i] = (uint64_t)~check->keys[first + i] << 32 | i;
        }
        qsort(check->order, longest, sizeof(*check->order), compare_words);
        for (uint32_t i = 0; i < longest; i++) {
            uint32_t at = SORTRIG_GUARD + first + (uint32_t)check->order[i];
            wrong += check->sorted_payload[at] != i;
        }
        wrong += check->sorted_payload[SORTRIG_GUARD + first + longest] !=
                 check->payload[first + longest];
    }
    wrong += check->sorted_payload[SORTRIG_GUARD - 1] != SORTRIG_POISON;
    wrong += check->sorted_payload[SORTRIG_GUARD + count] != SORTRIG_POISON;
    if (wrong > 0) {
        fprintf(stderr, "%u segments of %u, %u bits and %u of place, by %d: %u ranks wrong\n",
            segments, longest, key_bits, place_bits, (int)by, wrong);
    }
    REQUIRE_EQUAL(wrong, 0);
}

static void check_all_ranks(struct check *check)
{
    static const uint32_t lengths[] = {1, 2, 99, 256, 257, 396, 1000, 1024, 1025, 2047, 4500, 8160};
    for (enum gpume_sort_method by = GPUME_SORT_AUTO; by <= check->last; by++) {
        for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
            check_ranks(check, 3, lengths[i], 16, 13, by);
            check_ranks(check, 2, lengths[i], i % 2 ? 30 : 20, 13, by);
            check_ranks(check, 2, lengths[i], i % 2 ? 8 : 3, 13, by);
            check_ranks(check, 2, lengths[i], i % 2 ? 19 : 17, 13, by);
        }
        check_ranks(check, 2, 32400, 14, 15, by);
        check_ranks(check, 2, 32400, 17, 15, by);
        check_ranks(check, 2, 32400, 18, 15, by);
    }
}

static void check_large(struct check *check)
{
    static const uint32_t counts[] = {
        1u << 22, (1u << 25) - 1, 1u << 25, (1u << 25) + 1, 1u << 26, LARGE_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        check_one(check, RANDOM, counts[i], PAYLOAD, 32, GPUME_SORT_AUTO);
        check_one(check, i % 2 ? SAME : LOW_ENTROPY, counts[i], 0, 32, GPUME_SORT_AUTO);
    }
    check_one(check, RANDOM, 1u << 22, PAYLOAD, 32, GPUME_SORT_BITONIC);
    check_uniform(check, 1u << 12, 1u << 10, 1u << 10, PAYLOAD, GPUME_SORT_AUTO);
    check_uniform(check, 300, 100000, 99999, PAYLOAD, GPUME_SORT_AUTO);
    check_uniform(check, 70000, 33, 32, 0, GPUME_SORT_AUTO);
    check_uniform(check, 70000, 300, 299, 0, GPUME_SORT_AUTO);
    check_ragged(check, SEGMENTS_MAX, 200000, PAYLOAD, GPUME_SORT_AUTO);
}

static void check_all(struct check *check)
{
    check_public(check);
    check_sizes(check);
    check_inputs(check);
    check_key_bits(check);
    check_all_ranks(check);
    for (enum gpume_sort_method by = GPUME_SORT_AUTO; by <= check->last; by++) {
        check_segments(check, by);
        check_ragged(check, 1, 9000, PAYLOAD, by);
        check_ragged(check, 40, 9000, PAYLOAD, by);
        check_ragged(check, 500, 60, FALLS, by);
    }
    check_ragged(check, 400, 30000, PAYLOAD | SIGNED | FALLS, GPUME_SORT_AUTO);
    check_one(check, RANDOM, SMALL_MAX - 2, PAYLOAD, 32, GPUME_SORT_AUTO);
    check_one(check, RANDOM, SMALL_MAX, 0, 16, GPUME_SORT_AUTO);
}

static void *words(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

int main(int argc, char **argv)
{
    static struct check check = {.random = 20261121};
    bool validate = false, large = false, small = false;
    for (int i = 1; i < argc; i++) {
        validate = validate || strcmp(argv[i], "--validate") == 0;
        large = large || strcmp(argv[i], "--large") == 0;
        small = small || strcmp(argv[i], "--small") == 0;
    }
    uint32_t capacity = large ? LARGE_MAX : SMALL_MAX;
    vulkan_probe_or_skip(validate);
    REQUIRE_EQUAL(sortrig_open(&check.rig, capacity, validate, small), GPUME_OK);
    if (harness_failures) {
        sortrig_close(&check.rig);
        return harness_verdict();
    }
    check.last = small ? GPUME_SORT_RADIX : GPUME_SORT_BITONIC; /* which is the same for all */
    const struct gpume_sort_shape *shape = &check.rig.sort.shape;
    printf("%s, subgroups of %u, %u invocations of %u keys\n", check.rig.gpu.properties.deviceName,
        check.rig.gpu.subgroup, shape->local, shape->keys);
    check.keys = words(capacity, 4);
    check.payload = words(capacity, 4);
    check.sorted_keys = words(capacity + 2 * SORTRIG_GUARD, 4);
    check.sorted_payload = words(capacity + 2 * SORTRIG_GUARD, 4);
    check.order = words(2 * (size_t)capacity, 8);
    check_all(&check);
    if (large) {
        check_large(&check);
    }
    REQUIRE_EQUAL(sortrig_close(&check.rig), 0);
    free(check.keys);
    free(check.payload);
    free(check.sorted_keys);
    free(check.sorted_payload);
    free(check.order);
    return harness_verdict();
}
