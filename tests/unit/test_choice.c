/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpu/choice: a named search is used, a cached choice is used if it is plausible, and the result of
 * trials is cached. Needs a Vulkan device, which is treated as hardware.
 */
#include "gpu/tune/choice.h"
#include "gpu/vk/gpu.h"
#include "harness.h"
#include "vulkan_probe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned trials;

static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    trials += strstr(line, "searches tried") != NULL;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "  log: %s\n", line);
    }
}

static const struct gpume_log target = {.fn = on_log};
static const struct gpume_log silent;
static struct gpume_gpu gpu;

static struct gpume_plan plan_of(uint32_t bits, uint32_t block, uint32_t window)
{
    static const struct gpume_caps caps = {
        .window_bytes = UINT64_MAX, .align_bytes = 256, .batch_max = 1};
    struct gpume_plan plan;
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = 100;
    params.height = 80;
    params.bits = bits;
    params.block = block;
    params.window_x = params.window_y = window;
    REQUIRE_EQUAL(gpume_plan_make(&params, &caps, &silent, &plan), GPUME_OK);
    return plan;
}

static struct gpume_match_choice choose(
    const struct gpume_plan *plan, const struct gpume_cache *cache)
{
    static const struct gpume_tile any;
    struct gpume_match_choice choice = {0};
    trials = 0;
    REQUIRE_EQUAL(gpume_choice_make(&gpu, plan, &plan->layers[0], cache, &any, &choice), GPUME_OK);
    REQUIRE(choice.variant);
    REQUIRE(choice.variant->tiled == (choice.tile.chunk > 0));
    return choice;
}

/* Does the cache entry name this choice? */
static bool entry_is(const struct gpume_plan *plan, const struct gpume_cache *cache,
    const struct gpume_match_choice *choice)
{
    char name[GPUME_CACHE_NAME_BYTES], expected[GPUME_CHOICE_LABEL_BYTES];
    gpume_choice_label(choice->variant, &choice->tile, expected);
    void *data = NULL;
    size_t bytes = 0;
    gpume_choice_name(&gpu, plan, &plan->layers[0], name);
    bool same = gpume_cache_load(cache, name, &data, &bytes) && bytes == strlen(expected) &&
                memcmp(data, expected, bytes) == 0;
    free(data);
    return same;
}

static void store(const struct gpume_plan *plan, const struct gpume_cache *cache, const char *entry)
{
    char name[GPUME_CACHE_NAME_BYTES];
    gpume_choice_name(&gpu, plan, &plan->layers[0], name);
    REQUIRE(gpume_cache_store(cache, name, entry, strlen(entry)));
}

/* The most promising shape of the variant. */
static void store_shape_of(
    const struct gpume_plan *plan, const struct gpume_cache *cache, const char *variant)
{
    const struct gpume_match_variant *found = gpume_match_variant_select(&gpu, variant);
    struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX];
    char label[GPUME_CHOICE_LABEL_BYTES];
    REQUIRE(found && gpume_match_variant_tiles(
                         found, &gpu, plan, &plan->layers[0], GPUME_TILE_BLOCKS_MAX, tiles) > 0);
    gpume_choice_label(found, &tiles[0], label);
    store(plan, cache, label);
}

static void test_remembered(const struct gpume_cache *cache)
{
    static const struct gpume_cache none = {NULL, &silent};
    struct gpume_plan plan = plan_of(8, 8, 3);
    struct gpume_match_choice first = choose(&plan, cache);
    REQUIRE_EQUAL(trials, 1);
    REQUIRE(entry_is(&plan, cache, &first));
    REQUIRE(choose(&plan, &none).variant == first.variant); /* by this process */
    REQUIRE_EQUAL(trials, 0);

    plan = plan_of(8, 8, 4);
    store_shape_of(&plan, cache, "int");
    REQUIRE(strcmp(choose(&plan, cache).variant->name, "int") == 0);
    REQUIRE_EQUAL(trials, 0);

    plan = plan_of(8, 8, 5);
    store(&plan, cache, "nonsense");
    first = choose(&plan, cache);
    REQUIRE_EQUAL(trials, 1);
    REQUIRE(entry_is(&plan, cache, &first));

    plan = plan_of(12, 8, 3); /* too deep */
    store(&plan, cache, "half");
    first = choose(&plan, cache);
    REQUIRE_EQUAL(trials, 1);
    REQUIRE(entry_is(&plan, cache, &first));

    plan = plan_of(8, 8, 6);
    choose(&plan, &none);
    REQUIRE_EQUAL(trials, 1);
}

static void test_named(const struct gpume_cache *cache)
{
    static const struct gpume_tile any;
    struct gpume_match_choice choice;
    struct gpume_plan plan = plan_of(12, 8, 3);
    plan.params.search = "quads";
    REQUIRE(strcmp(choose(&plan, cache).variant->name, "quads") == 0);
    REQUIRE_EQUAL(trials, 0);
    plan = plan_of(12, 8, 7);
    const struct gpume_match_choice unnamed = choose(&plan, cache);
    plan.params.search = "float";
    const struct gpume_match_choice named = choose(&plan, cache);
    REQUIRE(strcmp(named.variant->name, "float") == 0);
    REQUIRE_EQUAL(trials, 1); /* of its shapes, */
    REQUIRE(entry_is(&plan, cache, &named));
    plan.params.search = NULL; /* which implies nothing about the others */
    REQUIRE(entry_is(&plan, cache, &unnamed));
    plan.params.search = "half";
    gpu.log = &silent;
    REQUIRE_EQUAL(
        gpume_choice_make(&gpu, &plan, &plan.layers[0], cache, &any, &choice), GPUME_UNSUPPORTED);
    gpu.log = &target;
}

static void test_software(const struct gpume_cache *cache)
{
    struct gpume_plan plan = plan_of(8, 8, 8);
    gpu.properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU;
    REQUIRE(strcmp(choose(&plan, cache).variant->name, "quads") == 0);
    REQUIRE_EQUAL(trials, 0);
}

int main(void)
{
    char folder[] = "/tmp/test_choice.XXXXXX", command[64];
    vulkan_probe_or_skip(false);
    REQUIRE_EQUAL(gpume_gpu_open(&gpu, &silent, NULL, true, false), GPUME_OK);
    if (harness_failures) {
        gpume_gpu_close(&gpu);
        return harness_verdict();
    }
    REQUIRE(mkdtemp(folder));
    const struct gpume_cache cache = {folder, &silent};
    gpu.log = &target;
    gpu.properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_OTHER;
    test_remembered(&cache);
    test_named(&cache);
    test_software(&cache);
    gpume_gpu_close(&gpu);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    REQUIRE_EQUAL(system(command), 0);
    return harness_verdict();
}
