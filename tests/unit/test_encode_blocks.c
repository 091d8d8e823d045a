/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work on blocks by a device, against that of the processor: intra costs, refined matches,
 * their means and weighted references are equal for all sizes, contents and vectors, while frames
 * come and go; also when the device fails, with one line more than the failure's.
 * test_encode_blocks [faults]: with the layer in tests/fault.
 */
#include "encode/blocks.h"
#include "encode/costs.h"
#include "encode/decision.h"
#include "encode/device.h"
#include "encode/weights.h"
#include "harness.h"
#include "vulkan_probe.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 3u
#define FRAMES 7u
#define MATCHES 70u /* more than one batch */

static uint64_t seed = 20261123;
static unsigned warnings;

enum content { NOISE, EXTREME, FLAT, SMOOTH, CONTENTS };

static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    REQUIRE(level != GPUME_LOG_ERROR);
    if (level == GPUME_LOG_WARNING) {
        fprintf(stderr, "  log: %s\n", line);
        warnings++;
    }
}

static uint32_t random_below(uint32_t end)
{
    return harness_random(&seed) % end;
}

static uint8_t sample_of(enum content content, uint32_t x, uint32_t y, uint32_t phase)
{
    switch (content) {
    case NOISE:
        return (uint8_t)random_below(256);
    case EXTREME:
        return random_below(2) ? 255 : 0;
    case FLAT:
        return (uint8_t)phase;
    default:
        return (uint8_t)((x * x / 9 + y * (x + 3 * phase) / 7 + 5 * y + 2 * phase) % 251);
    }
}

static void fill(struct gpume_half *half, enum content content, uint32_t frame)
{
    for (uint32_t plane = 0; plane < GPUME_HALF_PLANES; plane++) {
        for (uint32_t y = 0; y < half->height; y++) {
            uint8_t *row = half->samples + plane * half->plane + y * half->stride;
            for (uint32_t x = 0; x < half->width; x++) {
                row[x] = sample_of(content, x, y, 4 * frame + plane);
            }
        }
    }
    gpume_half_extend(half);
}

/* --- both ways side by side */

struct way {
    struct gpume_blocks *blocks;
    struct gpume_intra intra[KEPT];
    struct gpume_match matches[MATCHES];
};

struct room {
    struct gpume_split split;
    uint32_t blocks_x, blocks_y, blocks, coarse;
    struct gpume_half halves[KEPT]; /* the device's */
    struct way ways[2];             /* by the processor, by the device */
};

static void open_way(struct room *room, bool gpu)
{
    struct way *way = &room->ways[gpu];
    const struct gpume_blocks_params params = {.split = &room->split,
        .blocks_x = room->blocks_x,
        .blocks_y = room->blocks_y,
        .frames = KEPT,
        .backend = GPUME_BACKEND_VULKAN,
        .log = on_log};
    REQUIRE_EQUAL(gpume_blocks_open(&way->blocks, &params, gpu), GPUME_OK);
    for (uint32_t i = 0; i < KEPT; i++) {
        room->halves[i] = gpume_blocks_half(way->blocks, i);
        way->intra[i] = (struct gpume_intra){
            .half = &room->halves[i], .costs = calloc(room->blocks, sizeof(uint16_t))};
    }
    for (uint32_t i = 0; i < MATCHES; i++) {
        way->matches[i].coarse = calloc(room->coarse, sizeof(struct gpume_vector));
        way->matches[i].vectors = calloc(room->blocks, sizeof(struct gpume_vector));
        way->matches[i].costs = calloc(room->blocks, sizeof(uint16_t));
    }
}

static void close_way(struct way *way)
{
    gpume_blocks_close(&way->blocks);
    REQUIRE(way->blocks == NULL);
    for (uint32_t i = 0; i < KEPT; i++) {
        free(way->intra[i].costs);
    }
    for (uint32_t i = 0; i < MATCHES; i++) {
        free(way->matches[i].coarse);
        free(way->matches[i].vectors);
        free(way->matches[i].costs);
    }
}

static struct room room_of(uint32_t blocks_x, uint32_t blocks_y)
{
    static const struct gpume_log log = {.fn = on_log};
    struct room room = {.blocks_x = blocks_x,
        .blocks_y = blocks_y,
        .blocks = blocks_x * blocks_y,
        .coarse = gpume_coarse_count(blocks_x, blocks_y)};
    REQUIRE_EQUAL(gpume_split_init(&room.split, blocks_y, 2, &log), GPUME_OK);
    return room;
}

static void room_free(struct room *room)
{
    close_way(&room->ways[0]);
    close_way(&room->ways[1]);
    gpume_split_finish(&room->split);
}

static int16_t random_component(void)
{
    const int32_t end = GPUME_HALF_WINDOW / 2;
    const uint32_t kind = random_below(4);
    return (int16_t)(kind == 0   ? 0
                     : kind == 1 ? (random_below(2) ? end : -end)
                                 : (int32_t)random_below(2 * (uint32_t)end + 1) - end);
}

static void refine(struct room *room, uint32_t count, uint64_t newest)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t target = newest - random_below(KEPT),
                       reference = newest - random_below(KEPT);
        for (uint32_t gpu = 0; gpu < 2; gpu++) {
            struct gpume_match *match = &room->ways[gpu].matches[i];
            match->target = &room->halves[target % KEPT];
            match->reference = &room->halves[reference % KEPT];
            match->target_frame = target;
            match->reference_frame = reference;
        }
        for (uint32_t b = 0; b < room->coarse; b++) {
            const struct gpume_vector vector = {random_component(), random_component()};
            room->ways[0].matches[i].coarse[b] = room->ways[1].matches[i].coarse[b] = vector;
        }
        gpume_blocks_refine(room->ways[0].blocks, &room->ways[0].matches[i]);
        gpume_blocks_refine(room->ways[1].blocks, &room->ways[1].matches[i]);
    }
}

static void compare(struct room *room, const struct gpume_match *a, const struct gpume_match *b)
{
    gpume_blocks_wait(room->ways[0].blocks, &a->job);
    gpume_blocks_wait(room->ways[1].blocks, &b->job);
    REQUIRE(memcmp(a->costs, b->costs, room->blocks * sizeof(*a->costs)) == 0);
    REQUIRE(memcmp(a->vectors, b->vectors, room->blocks * sizeof(*a->vectors)) == 0);
}

static void compare_mean(struct room *room, const struct gpume_mean *mean)
{
    uint16_t *costs = calloc(room->blocks, sizeof(*costs));
    const struct gpume_half *past = mean->past->reference, *future = mean->future->reference;
    gpume_blocks_wait(room->ways[1].blocks, &mean->job);
    for (uint32_t still = 0; still < 2; still++) {
        for (uint32_t y = 0; y < room->blocks_y; y++) {
            const size_t first = (size_t)y * room->blocks_x;
            const struct gpume_matches a = {past, still ? NULL : mean->past->vectors + first};
            const struct gpume_matches b = {future, still ? NULL : mean->future->vectors + first};
            gpume_mean_costs(mean->past->target, y, &a, &b, mean->past_share, costs + first);
        }
        const uint16_t *found = still ? mean->still : mean->both;
        REQUIRE(memcmp(found, costs, room->blocks * sizeof(*costs)) == 0);
    }
    free(costs);
}

/* Checks the means of the first match with every match that has the same target. */
static void check_means(struct room *room, uint32_t count)
{
    struct gpume_mean means[MATCHES];
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_match *past = &room->ways[1].matches[0];
        const struct gpume_match *future = &room->ways[1].matches[i];
        if (past->target != future->target) {
            continue;
        }
        means[used] = (struct gpume_mean){.past = past,
            .future = future,
            .past_share = 1 + random_below(GPUME_SHARES - 1),
            .both = calloc(room->blocks, sizeof(uint16_t)),
            .still = calloc(room->blocks, sizeof(uint16_t))};
        gpume_blocks_mean(room->ways[1].blocks, &means[used++]);
    }
    for (uint32_t i = 0; i < used; i++) {
        compare_mean(room, &means[i]);
        free(means[i].both);
        free(means[i].still);
    }
}

/* By the weighted planes, on the processor. */
static void compare_weighing(struct room *room, const struct gpume_weighing *weighing)
{
    const struct gpume_match *plain = weighing->plain;
    uint16_t *costs = calloc(room->blocks, sizeof(*costs));
    uint8_t *planes = calloc(1, gpume_half_bytes(room->blocks_x, room->blocks_y));
    struct gpume_half weighted = gpume_half_at(planes, room->blocks_x, room->blocks_y);
    gpume_weight_apply(&room->split, &weighing->weight, plain->reference, &weighted);
    for (uint32_t still = 0; still < 2; still++) {
        for (uint32_t y = 0; y < room->blocks_y; y++) {
            const size_t first = (size_t)y * room->blocks_x;
            const struct gpume_matches matches = {&weighted, still ? NULL : plain->vectors + first};
            gpume_match_costs(plain->target, y, &matches, costs + first);
        }
        const uint16_t *found = still ? weighing->still : weighing->moved;
        REQUIRE(memcmp(found, costs, room->blocks * sizeof(*costs)) == 0);
    }
    free(planes);
    free(costs);
}

/* Weighs the references of some matches. `fails`: the device may not do it. */
static void check_weighings(struct room *room, bool fails)
{
    static const struct gpume_weight weights[] = {{0, 1, 0}, {5, 57, -11}, {7, 127, 127},
        {0, 127, -128}, {0, 0, 100}, {1, 1, 0}, {3, 9, -128}, {6, 63, 2}};
    enum { COUNT = sizeof(weights) / sizeof(weights[0]) };
    struct gpume_weighing weighings[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        weighings[i] = (struct gpume_weighing){.plain = &room->ways[1].matches[i],
            .weight = weights[i],
            .moved = calloc(room->blocks, sizeof(uint16_t)),
            .still = calloc(room->blocks, sizeof(uint16_t))};
        gpume_blocks_weigh(room->ways[1].blocks, &weighings[i]);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        gpume_blocks_wait(room->ways[1].blocks, &weighings[i].job);
        REQUIRE(fails || weighings[i].found);
        if (weighings[i].found) {
            compare_weighing(room, &weighings[i]);
        }
        free(weighings[i].moved);
        free(weighings[i].still);
    }
}

static void add(struct room *room, uint64_t frame, enum content content)
{
    const uint64_t slot = frame % KEPT;
    const struct gpume_intra *a = &room->ways[0].intra[slot], *b = &room->ways[1].intra[slot];
    fill(&room->halves[slot], content, (uint32_t)frame);
    for (uint32_t gpu = 0; gpu < 2; gpu++) {
        room->ways[gpu].intra[slot].frame = frame;
        gpume_blocks_add(room->ways[gpu].blocks, &room->ways[gpu].intra[slot]);
    }
    gpume_blocks_wait(room->ways[0].blocks, &a->job);
    gpume_blocks_wait(room->ways[1].blocks, &b->job);
    REQUIRE(memcmp(a->costs, b->costs, room->blocks * sizeof(*a->costs)) == 0);
}

static void test_size(uint32_t blocks_x, uint32_t blocks_y, enum content content)
{
    struct room room = room_of(blocks_x, blocks_y);
    open_way(&room, false);
    open_way(&room, true);
    for (uint64_t frame = 0; frame < FRAMES; frame++) {
        add(&room, frame, content);
        const uint32_t count = frame == FRAMES - 1 ? MATCHES : 9;
        if (frame + 1 >= KEPT) {
            refine(&room, count, frame);
            for (uint32_t i = 0; i < count; i++) {
                compare(&room, &room.ways[0].matches[i], &room.ways[1].matches[i]);
            }
            REQUIRE(gpume_blocks_on_gpu(room.ways[1].blocks));
            check_means(&room, count);
            check_weighings(&room, false);
        }
    }
    room_free(&room);
}

/* Otherwise the processor would be compared with itself. */
static void test_opens(void)
{
    struct room room = room_of(20, 11);
    const struct gpume_blocks_params params = {.split = &room.split,
        .blocks_x = 20,
        .blocks_y = 11,
        .frames = KEPT,
        .backend = GPUME_BACKEND_VULKAN,
        .log = on_log};
    struct gpume_encode_device *device = NULL;
    REQUIRE_EQUAL(gpume_encode_device_open(&device, &params), GPUME_OK);
    REQUIRE(device != NULL);
    gpume_encode_device_close(&device);
    gpume_split_finish(&room.split);
}

/* --- faults */

static void (*arm)(const char *at, const char *result, const char *kind);

static bool find_layer(void)
{
    const char *folder = getenv("VK_LAYER_PATH");
    char path[4096];
    uint32_t devices = 0;
    snprintf(path, sizeof(path), "%s/fault_layer.so", folder ? folder : ".");
    REQUIRE_EQUAL(gpume_list_devices(NULL, 0, &devices), GPUME_OK); /* the loader loads the layer */
    void *layer = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    *(void **)&arm = layer ? dlsym(layer, "fault_layer_arm") : NULL;
    REQUIRE(arm != NULL);
    return arm != NULL;
}

/* While the device works, or, at "0+", while it is opened. */
static void test_fault(const char *at, const char *result, bool opened)
{
    struct room room = room_of(20, 11);
    arm(opened ? NULL : at, result, NULL);
    open_way(&room, false);
    open_way(&room, true);
    warnings = 0;
    if (opened) {
        arm(at, result, NULL);
    }
    for (uint64_t frame = 0; frame < KEPT; frame++) {
        add(&room, frame, SMOOTH);
    }
    refine(&room, MATCHES, KEPT - 1);
    for (uint32_t i = 0; i < MATCHES; i++) {
        compare(&room, &room.ways[0].matches[i], &room.ways[1].matches[i]);
    }
    if (gpume_blocks_on_gpu(room.ways[1].blocks)) {
        check_means(&room, MATCHES);
        check_weighings(&room, true);
    }
    REQUIRE_EQUAL(warnings, opened ? 2 : 0);
    arm(NULL, NULL, NULL);
    room_free(&room);
}

static void test_faults(void)
{
    static const char *const numbers[] = {"1", "2", "3", "5", "7", "11", "15", "18"};
    for (uint32_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        test_fault(numbers[i], "lost", true);
        test_fault(numbers[i], "memory", true);
        test_fault(numbers[i], "memory", false);
    }
}

int main(int argc, char **argv)
{
    vulkan_probe_or_skip(false);
    if (argc > 1 && strcmp(argv[1], "faults") == 0) {
        if (find_layer()) {
            test_faults();
        }
        return harness_verdict();
    }
    test_opens();
    static const uint32_t sizes[][2] = {{1, 1}, {3, 2}, {8, 5}, {9, 1}, {1, 13}, {33, 7}};
    for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (uint32_t content = 0; content < CONTENTS; content++) {
            test_size(sizes[i][0], sizes[i][1], (enum content)content);
        }
    }
    REQUIRE_EQUAL(warnings, 0);
    return harness_verdict();
}
