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

#define CONTENDERS_MAX 36u /* four variants of GPUME_VARIANT_TILES_MAX shapes */

struct contender {
    struct gpume_match_choice choice; /* its tile is completed for the plan */
    struct gpume_gpu_stage match;     /* while it is tried */
    uint64_t ns;                      /* per field, in the best run; 0: not timed */
};

struct contest {
    struct gpume_gpu *gpu;
    const struct gpume_plan *plan;
    const struct gpume_shape *layer;
    struct contender contenders[CONTENDERS_MAX];
    uint32_t count;
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
static int plan_trial(const struct contest *contest, struct gpume_plan *plan)
{
    const struct gpume_shape *layer = contest->layer;
    const struct gpume_log *log = contest->gpu->log;
    static const struct gpume_caps caps = {.window_bytes = UINT64_MAX,
        .align_bytes = 256,
        .batch_max = FIELDS,
        .batch_work = TRIAL_WORK};
    struct gpume_params p = contest->plan->params;
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

static int time_contender(struct trial *t, struct contender *contender)
{
    uint64_t ns = 0;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < TRIAL_RUNS && ns < LONG_RUN_NS; i++) {
        GPUME_TRY(run_stage(t, &contender->match, &ns));
        contender->ns = i == 0 ? ns : gpume_min_u64(contender->ns, ns);
        t->spent_ns += ns * t->planned.plan.batch;
    }
fail:
    return status;
}

/* All are compiled at a time, each in its own thread. */
static int time_contenders(struct trial *t, struct contest *contest)
{
    struct contender *contenders = contest->contenders;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < contest->count; i++) {
        struct gpume_stage_setup setup = setup_of(t, &contenders[i].choice);
        GPUME_TRY(gpume_stage_create(&gpume_stage_match, &setup, &contenders[i].match));
    }
    for (uint32_t i = 0; i < contest->count; i++) {
        GPUME_TRY(gpume_stage_wait(&contenders[i].match));
    }
    for (uint32_t i = contest->count; i > 0 && t->spent_ns < TRIAL_NS; i--) {
        GPUME_TRY(time_contender(t, &contenders[i - 1]));
    }
fail:
    return status;
}

/* Fills in the contenders' times, from the last to the first, as far as time allows and if the plan
 * is large enough to tell. A failure is logged. */
static int run_trial(struct contest *contest)
{
    struct trial trial = {.gpu = contest->gpu};
    const struct gpume_plan *small = &trial.planned.plan;
    int status = plan_trial(contest, &trial.planned.plan);
    if (status != GPUME_OK || (uint64_t)small->blocks * small->batch < BLOCKS_MIN / 2) {
        return status;
    }
    status = trial_create(&trial);
    if (status == GPUME_OK) {
        status = time_contenders(&trial, contest);
    }
    for (uint32_t i = 0; i < contest->count; i++) {
        gpume_stage_destroy(&contest->contenders[i].match);
    }
    gpume_slot_destroy(&trial.slot);
    gpume_timeline_destroy(trial.gpu, &trial.timeline);
    gpume_stage_destroy(&trial.upload);
    gpume_memory_destroy(trial.gpu, &trial.planned.needs, &trial.memory);
    return status;
}

/* --- the choice */

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

/* Without measurement: the first shape of the last variant. */
static uint32_t promising(const struct contest *contest)
{
    const struct contender *last = &contest->contenders[contest->count - 1];
    uint32_t first = contest->count - 1;
    while (first > 0 && contest->contenders[first - 1].choice.variant == last->choice.variant) {
        first--;
    }
    return first;
}

static void label_contender(const struct contender *contender, char label[GPUME_CHOICE_LABEL_BYTES])
{
    gpume_choice_label(contender->choice.variant, &contender->choice.tile, label);
}

/* Times all contenders and takes the fastest. */
static int try_contenders(struct contest *contest, uint32_t *best)
{
    uint64_t start = gpume_clock_ns();
    int status;
    GPUME_TRY(run_trial(contest));
    *best = promising(contest);
    for (uint32_t i = 0; i < contest->count; i++) {
        const struct contender *contender = &contest->contenders[i];
        char label[GPUME_CHOICE_LABEL_BYTES];
        label_contender(contender, label);
        uint64_t least = contest->contenders[*best].ns;
        if (contender->ns > 0 && (least == 0 || contender->ns < least)) {
            *best = i;
        }
        gpume_log_write(contest->gpu->log, GPUME_LOG_DEBUG,
            "search %s: %.1f us per field in a trial", label, (double)contender->ns / 1e3);
    }
    gpume_log_write(contest->gpu->log, GPUME_LOG_DEBUG, "searches tried in %.1f ms",
        (double)(gpume_clock_ns() - start) / 1e6);
fail:
    return status;
}

/* The contender that was the fastest before, else that of a trial. */
static int choose_fastest(struct contest *contest, const struct gpume_cache *cache, uint32_t *best)
{
    char name[GPUME_CACHE_NAME_BYTES], known[GPUME_CHOICE_LABEL_BYTES],
        label[GPUME_CHOICE_LABEL_BYTES];
    gpume_choice_name(contest->gpu, contest->plan, contest->layer, name);
    bool is_known = gpume_known_find(cache, name, known);
    for (uint32_t i = 0; is_known && i < contest->count; i++) {
        label_contender(&contest->contenders[i], label);
        if (strcmp(label, known) == 0) {
            *best = i;
            return GPUME_OK;
        }
    }
    GPUME_CHECK(try_contenders(contest, best));
    label_contender(&contest->contenders[*best], label);
    gpume_known_keep(cache, name, label);
    return GPUME_OK;
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
static void add_contenders(struct contest *contest, const struct gpume_match_variant *variant,
    const struct gpume_tile *wanted)
{
    struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX] = {*wanted};
    uint32_t count;
    if (wanted->chunk && variant->tiled) {
        struct gpume_tile_limits limits = limits_of(contest->gpu, GPUME_TILE_BLOCKS_MAX);
        count =
            gpume_tile_complete(contest->plan, contest->layer, variant->words, &limits, &tiles[0]);
    } else {
        count = gpume_match_variant_tiles(
            variant, contest->gpu, contest->plan, contest->layer, GPUME_TILE_BLOCKS_MAX, tiles);
    }
    for (uint32_t i = 0; i < count; i++) {
        contest->contenders[contest->count++] =
            (struct contender){.choice = {.variant = variant, .tile = tiles[i]}};
    }
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

int gpume_choice_make(struct gpume_gpu *gpu, const struct gpume_plan *plan,
    const struct gpume_shape *layer, const struct gpume_cache *cache, const struct gpume_tile *tile,
    struct gpume_match_choice *choice)
{
    struct contest contest = {.gpu = gpu, .plan = plan, .layer = layer};
    uint32_t best;
    const char *only = plan->params.search;
    bool software = gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    if (!only && software) {
        only = gpume_match_variant_select(gpu, NULL)->name;
    }
    for (uint32_t i = 0; variants[i].name; i++) {
        bool meant = !only || strcmp(only, variants[i].name) == 0;
        if (meant && variants[i].available(gpu)) {
            add_contenders(&contest, &variants[i], tile);
        }
    }
    if (contest.count == 0) {
        return refuse_search(gpu, &plan->params, layer);
    }
    if (contest.count > 1 && !software && tile->chunk == 0) {
        GPUME_CHECK(choose_fastest(&contest, cache, &best));
    } else {
        best = promising(&contest);
    }
    /* Blocks that fall back are few and far between: a tile each, if such tiles suit. */
    struct gpume_match_choice chosen = contest.contenders[best].choice;
    struct gpume_tile tiles[GPUME_VARIANT_TILES_MAX];
    uint32_t count = gpume_match_variant_tiles(chosen.variant, gpu, plan, layer, 1, tiles);
    chosen.fallback_tile = count > 0 ? tiles[0] : chosen.tile;
    log_choice(gpu, &chosen);
    *choice = chosen;
    return GPUME_OK;
}
