/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A GPU fails during a run: every field equals that of a run on the CPU, with one warning, whenever
 * and however the GPU fails, in every direction. If the caller required the GPU, the run fails. The
 * layer in tests/fault makes the calls fail, and presents a software driver as a GPU.
 */
#include "gpume/gpume.h"
#include "harness.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 150u          /* with submissions of 64 */
#define FIELDS (2u * FRAMES) /* at most */
#define HOLD 70u             /* of this many fields, one is kept until the next such one arrives */

struct way {
    const char *at, *result, *kind; /* GPUME_FAULT_VK_ */
};

/* lost: calls are vkQueueSubmit, vkWaitSemaphores and vkGetQueryPoolResults. */
static const struct way ways[] = {
    {"1", "lost", NULL},
    {"2", "lost", NULL},
    {"3", "lost", NULL},
    {"4", "lost", NULL},
    {"6", "lost", NULL},
    {"8", "lost", NULL},
    {"1", "memory", "vkQueueSubmit"},
    {"2", "memory", "vkQueueSubmit"},
    {"3", "memory", "vkBeginCommandBuffer"},
    {"2", "memory", "vkResetDescriptorPool"},
    {"120", "memory", "vkAllocateDescriptorSets"},
    {"2", "memory", "vkEndCommandBuffer"},
    {"2", "host", "vkQueueSubmit"},
};
#define WAYS (sizeof ways / sizeof *ways)

struct result {
    uint64_t frame, ref, checked, matched, hash;
    int64_t time_us;
};

struct outcome {
    struct result fields[FIELDS];
    uint32_t count;
    int status;
    bool stood_by;
    uint64_t stats_fields;
    unsigned warnings, errors;
};

static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    struct outcome *outcome = opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "  log: %s\n", line);
    }
    outcome->warnings += level == GPUME_LOG_WARNING;
    outcome->errors += level == GPUME_LOG_ERROR;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    for (size_t i = 0; at && i < bytes; i++) {
        hash = (hash ^ at[i]) * 0x100000001B3ull; /* FNV-1a */
    }
    return hash;
}

static uint64_t hash_plane(uint64_t hash, const struct gpume_plane *plane)
{
    for (uint32_t y = 0; plane->data && y < plane->height; y++) {
        const uint8_t *row = (const uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        hash = hash_bytes(hash, row, (size_t)plane->width * (plane->bits > 8 ? 2 : 1));
    }
    return hash;
}

static void release(const struct gpume_field **pointer, struct result *result)
{
    const struct gpume_field *field = *pointer;
    const size_t blocks = (size_t)field->blocks_x * field->blocks_y;
    uint64_t hash = hash_bytes(0xCBF29CE484222325ull, field->vectors, blocks * 4);
    hash = hash_bytes(hash, field->costs, blocks * 4);
    hash = hash_bytes(hash, field->ranks, blocks * 4);
    hash = hash_bytes(hash, field->layers[0]->refs, blocks * 4);
    hash = hash_bytes(hash, field->layers[0]->returns, blocks * 4);
    hash = hash_bytes(hash, field->parts, field->part_count * sizeof *field->parts);
    hash = hash_bytes(hash, &field->sums, sizeof field->sums);
    hash = hash_plane(hash, &field->predicted);
    hash = hash_plane(hash, &field->target);
    hash = hash_plane(hash, &field->reference);
    *result = (struct result){
        field->frame, field->ref, field->checked, field->matched, hash, field->time_us};
    gpume_field_release(pointer);
}

static void (*arm)(const char *at, const char *result, const char *kind);

/* way: how Vulkan fails once the context is open; NULL: it does not. */
static void run(struct gpume_params params, const struct way *way, struct outcome *outcome)
{
    struct gpume_plane plane = synth_plane(params.width, params.height, params.bits);
    const struct gpume_field *field = NULL, *held = NULL;
    uint32_t sent = 0, held_at = 0;
    gpume *ctx = NULL;
    *outcome = (struct outcome){0};
    params.log = on_log;
    params.log_opaque = outcome;
    arm(NULL, NULL, NULL);
    int status = gpume_open(&ctx, &params);
    if (way) {
        arm(way->at, way->result, way->kind);
    }
    while (status == GPUME_OK || status == GPUME_AGAIN) {
        status = GPUME_AGAIN;
        if (sent < FRAMES) {
            synth_fill(&plane, sent % 7 ? SYNTH_PAN : SYNTH_TIES, sent, 5);
            status = gpume_send_plane(ctx, &plane, (int64_t)sent * 1000);
            sent += status == GPUME_OK;
        } else {
            status = gpume_finish(ctx);
        }
        if (status == GPUME_OK && sent < FRAMES) {
            continue; /* as many as possible, so that submissions are full */
        }
        status = gpume_receive(ctx, &field, 0);
        if (status == GPUME_OK && outcome->count % HOLD == 0) {
            if (held) {
                release(&held, &outcome->fields[held_at]);
            }
            held = field;
            held_at = outcome->count++;
        } else if (status == GPUME_OK) {
            release(&field, &outcome->fields[outcome->count++]);
        }
    }
    if (held) {
        release(&held, &outcome->fields[held_at]);
    }
    if (ctx) {
        struct gpume_info info;
        struct gpume_stats stats;
        gpume_get_info(ctx, &info);
        gpume_get_stats(ctx, &stats);
        outcome->stood_by = info.standby != NULL;
        outcome->stats_fields = stats.fields;
        REQUIRE_EQUAL(gpume_close(&ctx), status == GPUME_EOF ? GPUME_OK : status);
    }
    outcome->status = status;
    free(plane.data);
}

static struct gpume_params params_of(unsigned number, const struct gpume_prefilter *filter)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = 26;
    params.height = 14;
    params.bits = number % 2 ? 10 : 8;
    params.window_x = params.window_y = 2;
    params.direction = (enum gpume_direction)(number % 3); /* two ways of each result */
    params.ref_distance = number % 4 < 2 ? 1 : 3;
    params.want_predicted = number % 5 < 3;
    params.want_frames = number % 7 < 3;
    params.check = number % 4 == 0;
    params.confidence = number % 8 == 0; /* with both directions a field waits for the next one */
    params.prefilter = number % 3 == number / 3 ? filter : NULL;
    params.cache_dir = getenv("GPUME_TEST_CACHE");
    if (number % 4 == 3) { /* hidden tasks, several references, the general search */
        params.direction = GPUME_DIRECTION_BOTH;
        params.distances[0] = 3;
        params.distances[1] = 1;
        params.distance_count = 2;
        params.best_reference = params.confidence = params.partition = params.rate = true;
        params.lambda = 256;
        params.predictor = GPUME_PREDICTOR_MEDIAN;
        params.shapes[0] = (struct gpume_block_size){16, 16};
        params.shapes[1] = (struct gpume_block_size){8, 8};
        params.shape_count = 2;
    }
    return params;
}

static void test_case(unsigned number)
{
    static struct outcome wanted, got, named;
    const struct way *way = &ways[number];
    double weights[] = {0, 1, 0, 1, 4, 1, 0, 1, 0};
    const struct gpume_prefilter filter = {.size = sizeof(struct gpume_prefilter),
        .kind = GPUME_PREFILTER_KERNEL,
        .width = 3,
        .height = 3,
        .weights = weights};
    struct gpume_params params = params_of(number, &filter);
    params.backend = GPUME_BACKEND_CPU;
    run(params, NULL, &wanted);
    REQUIRE_EQUAL(wanted.status, GPUME_EOF);
    params.backend = GPUME_BACKEND_AUTO;
    if (number < 3) { /* nothing fails, and the standby engine is never used */
        run(params, NULL, &got);
        REQUIRE_EQUAL(got.status, GPUME_EOF);
        REQUIRE_EQUAL(got.warnings + got.errors, 0);
        REQUIRE(!got.stood_by);
        REQUIRE_EQUAL(memcmp(got.fields, wanted.fields, sizeof got.fields), 0);
    }
    run(params, way, &got);
    REQUIRE_EQUAL(got.status, GPUME_EOF);
    REQUIRE_EQUAL(got.warnings, 1);
    REQUIRE_EQUAL(got.errors, 0);
    REQUIRE(got.stood_by);
    REQUIRE_EQUAL(got.stats_fields, wanted.stats_fields);
    REQUIRE_EQUAL(got.count, wanted.count);
    REQUIRE_EQUAL(memcmp(got.fields, wanted.fields, sizeof got.fields), 0);
    for (uint32_t i = 0; params.check && i < got.count; i++) {
        REQUIRE(got.fields[i].checked > 0 && got.fields[i].matched == got.fields[i].checked);
    }
    if (number % 6 == 0) { /* of each result one */
        params.backend = GPUME_BACKEND_VULKAN;
        run(params, way, &named);
        const int status = strcmp(way->result, "lost") == 0   ? GPUME_DEVICE_LOST
                           : strcmp(way->result, "host") == 0 ? GPUME_NOMEM
                                                              : GPUME_DEVICE;
        REQUIRE_EQUAL(named.status, status);
        REQUIRE_EQUAL(named.warnings, 0);
        REQUIRE_EQUAL(named.errors, 1);
        REQUIRE(!named.stood_by);
    }
}

/* Closed while the second engine has work. */
static void test_stop(void)
{
    struct gpume_params params = params_of(1, NULL);
    struct gpume_plane plane = synth_plane(params.width, params.height, params.bits);
    const struct gpume_field *field = NULL;
    struct gpume_info info;
    gpume *ctx = NULL;
    arm(NULL, NULL, NULL);
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_OK);
    arm("1", "lost", NULL);
    synth_fill(&plane, SYNTH_NOISE, 0, 5);
    for (uint32_t i = 0; i < FRAMES && gpume_send_plane(ctx, &plane, 0) == GPUME_OK; i++) {
    }
    REQUIRE_EQUAL(gpume_receive(ctx, &field, 0), GPUME_OK);
    gpume_field_release(&field);
    gpume_get_info(ctx, &info);
    REQUIRE(info.standby);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(plane.data);
}

/* The layer that the Vulkan loader has loaded. */
static bool find_layer(void)
{
    const char *folder = getenv("VK_LAYER_PATH");
    char path[4096];
    uint32_t devices = 0;
    snprintf(path, sizeof path, "%s/fault_layer.so", folder ? folder : ".");
    REQUIRE_EQUAL(gpume_list_devices(NULL, 0, &devices), GPUME_OK); /* the loader loads the layer */
    void *layer = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    *(void **)&arm = layer ? dlsym(layer, "fault_layer_arm") : NULL;
    return arm != NULL;
}

int main(void)
{
    vulkan_probe_or_skip(false);
    REQUIRE(find_layer());
    if (harness_failures) {
        return harness_verdict();
    }
    for (unsigned i = 0; i < WAYS; i++) {
        const unsigned before = harness_failures;
        test_case(i);
        if (harness_failures > before) {
            fprintf(stderr, "in case %u\n", i);
        }
    }
    test_stop();
    return harness_verdict();
}
