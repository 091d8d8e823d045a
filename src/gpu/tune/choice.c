/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/choice.h"

#include "base/clock.h"
#include "base/grid.h"
#include "base/status.h"
#include "gpu/plan_gpu.h"
#include "gpu/stages/stage.h"
#include "gpu/vk/device.h"
#include "gpu/vk/device_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- variants */

static bool runs_anywhere(const struct gpume_gpu *gpu)
{
    (void)gpu;
    return true;
}

static bool has_half(const struct gpume_gpu *gpu)
{
    return gpu->half;
}

/* From the plainest to the fastest. The first suits every plan. */
static const struct gpume_match_variant variants[] = {
    {"quads", "integers, four samples a word: any device", runs_anywhere, false, GPUME_TILE_INT},
    {"int", "integers, tiles in shared memory", runs_anywhere, true, GPUME_TILE_INT},
    {"float", "floats that stay exact, tiles in shared memory", runs_anywhere, true,
        GPUME_TILE_FLOAT},
    {"half", "pairs of half floats that stay exact, to 10 bits", has_half, true, GPUME_TILE_HALF},
    {0},
};

const struct gpume_match_variant *gpume_match_variant_select(
    const struct gpume_gpu *gpu, const char *name)
{
    if (!name && gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU) {
        return &variants[0]; /* shared memory is no gain there */
    }
    const struct gpume_match_variant *best = NULL;
    for (uint32_t i = 0; variants[i].name; i++) {
        bool meant = !name || strcmp(name, variants[i].name) == 0;
        best = meant && variants[i].available(gpu) ? &variants[i] : best;
    }
    return best;
}

static struct gpume_tile_limits limits_of(const struct gpume_gpu *gpu, uint32_t blocks)
{
    const VkPhysicalDeviceLimits *l = &gpu->properties.limits;
    return (struct gpume_tile_limits){
        .shared_bytes = l->maxComputeSharedMemorySize,
        .invocations =
            gpume_min_u32(l->maxComputeWorkGroupInvocations, l->maxComputeWorkGroupSize[0]),
        .blocks = blocks,
    };
}

uint32_t gpume_match_variant_tiles(const struct gpume_match_variant *variant,
    const struct gpume_gpu *gpu, const struct gpume_plan *plan, const struct gpume_shape *layer,
    uint32_t blocks, struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX])
{
    struct gpume_tile_limits limits = limits_of(gpu, blocks);
    tiles[0] = (struct gpume_tile){0};
    if (!variant->tiled) {
        return 1;
    }
    bool half = variant->words == GPUME_TILE_HALF; /* usually the fastest: worth a closer look */
    return gpume_tile_choose(
        plan, layer, variant->words, &limits, half ? 3 : 1, half ? 3 : 2, tiles);
}

int gpume_match_variant_list(
    const char *device, struct gpume_search_info *searches, uint32_t *count)
{
    static const struct gpume_log silent;
    struct gpume_gpu gpu;
    int found = gpume_gpu_find(&gpu, &silent, device, true, false);
    const struct gpume_match_variant *best =
        found == GPUME_OK ? gpume_match_variant_select(&gpu, NULL) : NULL;
    for (*count = 0; variants[*count].name; (*count)++) {
        const struct gpume_match_variant *variant = &variants[*count];
        searches[*count] = (struct gpume_search_info){.backend = GPUME_BACKEND_VULKAN,
            .available = found == GPUME_OK && variant->available(&gpu),
            .automatic = variant == best};
        snprintf(searches[*count].name, sizeof(searches->name), "%s", variant->name);
        snprintf(searches[*count].summary, sizeof(searches->summary), "%s", variant->summary);
    }
    gpume_gpu_close(&gpu);
    return device ? found : GPUME_OK;
}

/* --- trials: how long variants take on this device. A small picture of noise, where nothing can be
 * skipped, is searched a few times by each in turn. The engine's thread, as it opens. */

struct contender {
    const struct gpume_match_variant *variant;
    struct gpume_tile tile; /* completed for the plan */
    uint64_t ns;            /* per field, in the best run; 0: not timed */
};

#define TRIAL_RUNS 4u  /* of each contender; the best counts, since clocks rise meanwhile */
#define SIDE_MAX 2048u /* pixels */
#define FIELDS 8u      /* at a time, to fill a large device */

/* Pixel differences per run, roughly: 1 ms on a large device. */
#define TRIAL_WORK (1ull << 34)
#define BLOCKS_MIN 2048u /* with fewer a large device is not busy, and a trial would mislead */
#define LONG_RUN_NS 10000000u
#define TRIAL_NS 400000000u /* of device time for all contenders, roughly */

#define FRAMES 2u

struct trial {
    struct gpume_gpu *gpu;
    struct gpume_plan_gpu planned; /* of the small picture */
    struct gpume_memory memory;
    struct gpume_gpu_stage upload;
    struct gpume_timeline timeline;
    struct gpume_slot slot;
    uint64_t spent_ns; /* by the contenders so far */
};

/* The same search on a part of the picture, of at least BLOCKS_MIN blocks if the picture has them,
 * however long that takes. */
static int plan_trial(const struct gpume_plan *whole, const struct gpume_shape *layer,
    const struct gpume_log *log, struct gpume_plan *plan)
{
    static const struct gpume_caps caps = {.window_bytes = UINT64_MAX,
        .align_bytes = 256,
        .batch_max = FIELDS,
        .batch_work = TRIAL_WORK};
    struct gpume_params p = whole->params;
    p.width = gpume_min_u32(p.width, SIDE_MAX);
    p.height = gpume_min_u32(p.height, SIDE_MAX);
    p.shape_count = 1;
    p.shapes[0] = (struct gpume_block_size){layer->block_w, layer->block_h};
    p.ref_distance = 1;
    p.distance_count = 0;
    p.direction = GPUME_DIRECTION_PAST;
    p.want_predicted = p.want_frames = false;
    p.prefilter = NULL;
    p.best_reference = p.bidirectional = false;
    p.subpel = 1; /* what is refined makes no difference to the search */
    p.refine_metric = GPUME_REFINE_BY_METRIC;
    int status = gpume_plan_make(&p, &caps, log, plan);
    while (status == GPUME_OK && (uint64_t)p.width * p.height * plan->candidates > TRIAL_WORK &&
           plan->blocks >= 2 * BLOCKS_MIN) {
        *(p.width > p.height ? &p.width : &p.height) /= 2;
        status = gpume_plan_make(&p, &caps, log, plan);
    }
    return status;
}

static void fill_noise(const struct gpume_plan *plan, struct gpume_buffer *upload, uint32_t seed)
{
    uint32_t peak = (1u << plan->params.bits) - 1, state = seed;
    for (uint64_t i = 0; i < plan->plane_bytes / plan->sample_bytes; i++) {
        state = state * 1664525u + 1013904223u; /* Numerical Recipes' quick generator */
        uint32_t value = state >> 16 & peak;
        if (plan->sample_bytes == 2) {
            ((uint16_t *)upload->mapped)[i] = (uint16_t)value;
        } else {
            ((uint8_t *)upload->mapped)[i] = (uint8_t)value;
        }
    }
}

/* Two frames are enough, and nothing is read back. */
static int create_memory(struct trial *t)
{
    const struct gpume_plan *plan = &t->planned.plan;
    struct gpume_memory_needs *needs = &t->planned.needs;
    gpume_plan_gpu_needs(t->gpu, NULL, 1, &t->planned);
    needs->parts[GPUME_MEMORY_UPLOADS].count = FRAMES;
    needs->parts[GPUME_MEMORY_READBACK].count = 0;
    int status = gpume_memory_create(t->gpu, needs, &t->memory);
    for (uint32_t i = 0; status == GPUME_OK && i < FRAMES; i++) {
        fill_noise(plan, &t->memory.parts[GPUME_MEMORY_UPLOADS][i], i + 1);
    }
    return status;
}

static struct gpume_stage_setup setup_of(
    const struct trial *t, const struct gpume_match_choice *choice)
{
    return (struct gpume_stage_setup){
        .gpu = t->gpu,
        .plan = &t->planned.plan,
        .layout = &t->planned.layout,
        .choice = choice,
    };
}

/* Runs a stage over all frames of the ring or over as many tasks as a submission takes. ns: per
 * task, where it is the search. */
static int run_stage(struct trial *t, const struct gpume_gpu_stage *stage, uint64_t *ns)
{
    const struct gpume_plan *plan = &t->planned.plan;
    struct gpume_frame *frames[FIELDS + 1];
    struct gpume_frame copies[FIELDS + 1];
    uint32_t uploads[FIELDS + 1];
    struct gpume_task tasks[FIELDS];
    for (uint32_t i = 0; i < plan->ring; i++) {
        copies[i] = (struct gpume_frame){.sequence = i};
        uploads[i] = i % FRAMES;
        frames[i] = &copies[i];
    }
    for (uint32_t i = 0; i < plan->batch; i++) {
        tasks[i] = (struct gpume_task){.target = i + 1, .reference = i};
    }
    const struct gpume_work work = {
        .plan = plan,
        .layout = &t->planned.layout,
        .memory = &t->memory,
        .slot = &t->slot,
        .frames = frames,
        .uploads = uploads,
        .frame_count = plan->ring,
        .tasks = tasks,
        .task_count = plan->batch,
    };
    uint64_t row_ns[GPUME_ROW_COUNT] = {0};
    int status;
    gpume_slot_begin(&t->slot);
    gpume_work_write_tasks(&work);
    gpume_barrier_kernel_to_kernel(&t->slot);
    gpume_slot_row_done(&t->slot, GPUME_ROW_UPLOAD);
    stage->ops->record(stage, &work);
    gpume_slot_row_done(&t->slot, GPUME_ROW_MATCH);
    GPUME_TRY(gpume_slot_submit(&t->slot, &t->timeline));
    GPUME_TRY(gpume_slot_wait(&t->slot, &t->timeline, row_ns));
    *ns = row_ns[GPUME_ROW_MATCH] / plan->batch;
fail:
    return status;
}

static int trial_create(struct trial *t)
{
    struct gpume_stage_setup setup = setup_of(t, NULL);
    uint64_t ns;
    int status;
    GPUME_TRY(create_memory(t));
    GPUME_TRY(gpume_stage_create(&gpume_stage_upload, &setup, &t->upload));
    GPUME_TRY(gpume_stage_wait(&t->upload));
    GPUME_TRY(gpume_timeline_create(t->gpu, &t->timeline));
    GPUME_TRY(gpume_slot_create(t->gpu, t->planned.needs.binds + t->planned.plan.ring,
        sizeof(struct gpume_task_table), &t->slot));
    GPUME_TRY(run_stage(t, &t->upload, &ns));
fail:
    return status;
}

static int time_contender(
    struct trial *t, struct contender *contender, const struct gpume_gpu_stage *match)
{
    uint64_t ns = 0;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < TRIAL_RUNS && ns < LONG_RUN_NS; i++) {
        GPUME_TRY(run_stage(t, match, &ns));
        contender->ns = i == 0 ? ns : gpume_min_u64(contender->ns, ns);
        t->spent_ns += ns * t->planned.plan.batch;
    }
fail:
    return status;
}

/* A contender's match stage. */
struct entry {
    struct gpume_match_choice choice;
    struct gpume_gpu_stage match;
};

/* All are compiled at a time, each in its own thread. */
static int time_contenders(
    struct trial *t, struct contender *contenders, struct entry *entries, uint32_t count)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; i < count; i++) {
        entries[i].choice = (struct gpume_match_choice){
            .variant = contenders[i].variant, .tile = contenders[i].tile};
        struct gpume_stage_setup setup = setup_of(t, &entries[i].choice);
        GPUME_TRY(gpume_stage_create(&gpume_stage_match, &setup, &entries[i].match));
    }
    for (uint32_t i = 0; i < count; i++) {
        GPUME_TRY(gpume_stage_wait(&entries[i].match));
    }
    for (uint32_t i = count; i > 0 && t->spent_ns < TRIAL_NS; i--) {
        GPUME_TRY(time_contender(t, &contenders[i - 1], &entries[i - 1].match));
    }
fail:
    return status;
}

/* Fills in the contenders' times, from the last to the first, as far as time allows and if the plan
 * is large enough to tell. A failure is logged. */
static int run_trial(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, struct contender *contenders, uint32_t count)
{
    struct trial trial = {.gpu = gpu};
    const struct gpume_plan *small = &trial.planned.plan;
    int status = plan_trial(plan, layer, gpu->log, &trial.planned.plan);
    if (status != GPUME_OK || (uint64_t)small->blocks * small->batch < BLOCKS_MIN / 2) {
        return status;
    }
    struct entry *entries = calloc(count, sizeof(*entries));
    status = entries ? trial_create(&trial) : gpume_log_nomem(gpu->log, "a trial of searches");
    if (status == GPUME_OK) {
        status = time_contenders(&trial, contenders, entries, count);
    }
    for (uint32_t i = 0; entries && i < count; i++) {
        gpume_stage_destroy(&entries[i].match);
    }
    gpume_slot_destroy(&trial.slot);
    gpume_timeline_destroy(gpu, &trial.timeline);
    gpume_stage_destroy(&trial.upload);
    gpume_memory_destroy(gpu, &trial.planned.needs, &trial.memory);
    free(entries);
    return status;
}

/* --- the choice */

#define CONTENDERS_MAX 36u /* four variants of GPUME_VARIANT_TILES_MAX shapes */

void gpume_choice_label(const struct gpume_match_variant *variant, const struct gpume_tile *t,
    char label[GPUME_CHOICE_LABEL_BYTES])
{
    snprintf(label, GPUME_CHOICE_LABEL_BYTES, "%s %u %ux%u %u %u %u", variant->name, t->chunk,
        t->tile_x, t->tile_y, t->band, t->columns, t->local);
}

#define SIZE_BYTES 24u

/* "8" for squares, "16x8" for others. */
static void print_size(const struct gpume_shape *layer, char size[SIZE_BYTES])
{
    int length = snprintf(size, SIZE_BYTES, "%u", layer->block_w);
    if (layer->block_h != layer->block_w) {
        snprintf(size + length, SIZE_BYTES - (size_t)length, "x%u", layer->block_h);
    }
}

void gpume_choice_name(const struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, char name[GPUME_CACHE_NAME_BYTES])
{
    const struct gpume_params *p = &plan->params;
    char kind[64], size[SIZE_BYTES];
    print_size(layer, size);
    /* With the name that is asked for: the best shape of one variant is no answer for all. */
    snprintf(kind, sizeof(kind), "search-%s-%ux%u-%u%s%s", size, p->window_x, p->window_y, p->bits,
        p->edge == GPUME_EDGE_INSIDE ? "i" : "-", p->search ? p->search : "");
    gpume_device_cache_name(gpu, kind, name);
}

static int find_label(const struct contender *contenders, uint32_t count, const char *wanted)
{
    for (uint32_t i = 0; i < count; i++) {
        char label[GPUME_CHOICE_LABEL_BYTES];
        gpume_choice_label(contenders[i].variant, &contenders[i].tile, label);
        if (strcmp(label, wanted) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Without measurement: the first shape of the last variant. */
static uint32_t promising(const struct contender *contenders, uint32_t count)
{
    uint32_t first = count - 1;
    while (first > 0 && contenders[first - 1].variant == contenders[count - 1].variant) {
        first--;
    }
    return first;
}

/* Times all contenders and takes the fastest. */
static int try_contenders(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, struct contender *contenders, uint32_t count, uint32_t *best)
{
    uint64_t start = gpume_clock_ns();
    int status;
    GPUME_TRY(run_trial(gpu, plan, layer, contenders, count));
    *best = promising(contenders, count);
    for (uint32_t i = 0; i < count; i++) {
        char label[GPUME_CHOICE_LABEL_BYTES];
        gpume_choice_label(contenders[i].variant, &contenders[i].tile, label);
        uint64_t least = contenders[*best].ns;
        if (contenders[i].ns > 0 && (least == 0 || contenders[i].ns < least)) {
            *best = i;
        }
        gpume_log_write(gpu->log, GPUME_LOG_DEBUG, "search %s: %.1f us per field in a trial", label,
            (double)contenders[i].ns / 1e3);
    }
    gpume_log_write(gpu->log, GPUME_LOG_DEBUG, "searches tried in %.1f ms",
        (double)(gpume_clock_ns() - start) / 1e6);
fail:
    return status;
}

static int choose_fastest(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct gpume_cache *cache, struct contender *contenders,
    uint32_t count, uint32_t *best)
{
    char name[GPUME_CACHE_NAME_BYTES];
    int status;
    gpume_choice_name(gpu, plan, layer, name);
    char label[GPUME_CHOICE_LABEL_BYTES];
    int before = gpume_known_find(cache, name, label) ? find_label(contenders, count, label) : -1;
    if (before >= 0) {
        *best = (uint32_t)before;
        return GPUME_OK;
    }
    GPUME_TRY(try_contenders(gpu, plan, layer, contenders, count, best));
    gpume_choice_label(contenders[*best].variant, &contenders[*best].tile, label);
    gpume_known_keep(cache, name, label);
fail:
    return status;
}

static int refuse_search(
    const struct gpume_gpu *gpu, const struct gpume_params *p, const struct gpume_shape *layer)
{
    char size[SIZE_BYTES];
    print_size(layer, size);
    return gpume_log_refuse(gpu->log, GPUME_UNSUPPORTED,
        gpume_about(GPUME_PARAM(search), p->search),
        "not for %u bits, block %s, window %ux%u on %s; leave it out", p->bits, size, p->window_x,
        p->window_y, gpu->properties.deviceName);
}

/* The variant with every shape that is worth a trial, or with the one that is wanted. */
static uint32_t add_contenders(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct gpume_match_variant *variant,
    const struct gpume_tile *wanted, struct contender *contenders)
{
    struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX] = {*wanted};
    uint32_t count;
    if (wanted->chunk && variant->tiled) {
        struct gpume_tile_limits limits = limits_of(gpu, GPUME_TILE_BLOCKS_MAX);
        count = gpume_tile_complete(plan, layer, variant->words, &limits, &tiles[0]);
    } else {
        count = gpume_match_variant_tiles(variant, gpu, plan, layer, GPUME_TILE_BLOCKS_MAX, tiles);
    }
    for (uint32_t i = 0; i < count; i++) {
        contenders[i] = (struct contender){.variant = variant, .tile = tiles[i]};
    }
    return count;
}

static void log_choice(const struct gpume_gpu *gpu, const struct gpume_match_choice *choice)
{
    const struct gpume_tile *t = &choice->tile;
    if (!choice->variant->tiled) {
        return;
    }
    gpume_log_write(gpu->log, GPUME_LOG_DEBUG,
        "search %s: chunks of %u, tiles of %ux%u blocks, loads of %u chunks and %u columns, %u "
        "invocations, %.1f KiB, score %.3f",
        choice->variant->name, t->chunk, t->tile_x, t->tile_y, t->band, t->columns, t->local,
        (double)t->shared_bytes / 1024, t->score);
}

/* Blocks that fall back are few and far between: a tile each, if such tiles suit. */
static struct gpume_tile fallback_tile(const struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct contender *best)
{
    struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX];
    uint32_t count = gpume_match_variant_tiles(best->variant, gpu, plan, layer, 1, tiles);
    return count > 0 ? tiles[0] : best->tile;
}

int gpume_choice_make(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct gpume_cache *cache, const struct gpume_tile *tile,
    struct gpume_match_choice *choice)
{
    struct contender contenders[CONTENDERS_MAX];
    uint32_t count = 0, best = 0;
    const char *only = plan->params.search;
    bool software = gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (!only && software) {
        only = gpume_match_variant_select(gpu, NULL)->name;
    }
    for (uint32_t i = 0; variants[i].name; i++) {
        const struct gpume_match_variant *variant = &variants[i];
        bool meant = !only || strcmp(only, variant->name) == 0;
        if (meant && variant->available(gpu)) {
            count += add_contenders(gpu, plan, layer, variant, tile, &contenders[count]);
        }
    }
    if (count == 0) {
        return refuse_search(gpu, &plan->params, layer);
    }
    int status = GPUME_OK;
    if (count > 1 && !software && tile->chunk == 0) {
        status = choose_fastest(gpu, plan, layer, cache, contenders, count, &best);
    } else {
        best = promising(contenders, count);
    }
    if (status == GPUME_OK) {
        *choice = (struct gpume_match_choice){
            .variant = contenders[best].variant,
            .tile = contenders[best].tile,
            .fallback_tile = fallback_tile(gpu, plan, layer, &contenders[best]),
        };
        log_choice(gpu, choice);
    }
    return status;
}
