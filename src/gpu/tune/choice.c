/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/choice.h"

#include "base/base.h"
#include "base/os.h"
#include "base/params.h"
#include "common/shared.h"
#include "gpu/stages/stage.h"
#include "gpu/vk/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- shapes */

#define LOCAL_MIN 128u     /* invocations: a warp for each scheduler of a core */
#define LOCAL_MAX 512u     /* beyond that, registers leave no room for a second workgroup */
#define WARP 32u           /* invocations that run in step on most hardware */
#define CHUNK_MAX_HALF 17u /* a sum is a register: with more, too few workgroups fit on a core */
#define CHUNK_MAX 8u       /* with a register for every sample, fewer sums fit */
#define PASSES_MAX 16u     /* loads along x */
#define TILE_X_MAX 8u      /* blocks */
#define TILE_Y_MAX 4u
#define SHARED_MAX                                                                                 \
    49152u /* bytes: not every device has more, and one workgroup per core would be left */

/* A core, and issue slots of a warp there: fitted to 180 shapes measured on an NVIDIA H200 (driver
 * 580), within 6 % for most near the best, up to 30 % for some, so that choice.c tries a few. What
 * they say: load seldom, for many items, and keep many warps on a core that wait for different
 * things. */
#define CORE_SHARED                                                                                \
    229376u /* bytes that workgroups share; each takes 1 KiB more than it asks for */
#define CORE_REGISTERS 65536u
#define CORE_THREADS 2048u
#define CORE_GROUPS 32u
#define BUSY_GROUPS 512u       /* workgroups that keep a large device busy */
#define LOAD_SLOTS 0.45        /* a word of shared memory, beside the arithmetic on it */
#define UNIT_ROW_SLOTS 4.0     /* a row of target samples into registers */
#define OFFER_SLOTS 12.7       /* a candidate's cost against the best */
#define FILL_SLOTS 10.3        /* a quad of reference samples: read, unpack, four writes */
#define FILL_LATENCY_SLOTS 308 /* until an invocation's next quad can be read */
#define TARGET_SLOTS 4.9       /* a quad of target samples */
#define IDLE_SLOTS 1.1         /* waiting for the rest of the workgroup, against working */
#define LATENCY_WARPS 19.0     /* with this many warps a core works half of the time */
#define PASSES_FACTOR 1.15     /* measured where a window was loaded in parts along x */

/* What limits and score of a shape depend on. */
struct tile_work {
    uint32_t word_samples;
    double slots;               /* per pixel difference */
    uint64_t chunks, bands;     /* per block; loads along y */
    uint64_t passes;            /* loads along x */
    uint64_t quads, fours;      /* of reference samples per load; of target samples */
    uint64_t items, last_items; /* per load; of the last load along y */
    uint64_t units_x, runs,
        rows; /* units of a block along x, whose sums are carried out in runs; along y */
};

/* RUN_SAMPLES of samples.glsl. */
static uint32_t run_samples(const struct gpume_plan *plan, enum gpume_tile_words words)
{
    uint32_t bits = plan->params.bits;
    return words == GPUME_TILE_HALF    ? 512u >> (bits - 8)
           : words == GPUME_TILE_FLOAT ? 1u << (24 - bits)
                                       : 128u * 128u;
}

/* A difference and its sum are two operations per word; half carries sums out every 4, 2 or 1. */
static double difference_slots(const struct gpume_plan *plan, enum gpume_tile_words words)
{
    return words == GPUME_TILE_HALF ? 1.0 + 0.5 / (double)(4u >> (plan->params.bits - 8)) : 2.0;
}

static struct tile_work work_of(const struct gpume_plan *plan, const struct gpume_shape *layer,
    enum gpume_tile_words words, const struct gpume_tile *t)
{
    const struct gpume_params *p = &plan->params;
    uint32_t span_x = 2 * p->window_x + 1, span_y = 2 * p->window_y + 1;
    uint32_t unit = gpume_tile_unit(layer), blocks = t->tile_x * t->tile_y;
    struct tile_work w = {
        .word_samples = words == GPUME_TILE_HALF ? 2 : 1,
        .slots = difference_slots(plan, words),
        .chunks = gpume_div_up(span_y, t->chunk),
        .passes = gpume_div_up(span_x, t->columns),
        .units_x = layer->block_w / unit,
        .rows = layer->block_h / unit,
    };
    uint64_t skip = plan->pad_x - p->window_x;
    w.bands = gpume_div_up(w.chunks, t->band);
    w.quads = (t->tile_x * layer->block_w + t->columns + skip + 2) / 4 *
              (t->tile_y * layer->block_h + t->band * t->chunk - 1);
    w.fours = (uint64_t)blocks * layer->block_w * layer->block_h / (4 * w.word_samples);
    w.items = (uint64_t)blocks * t->columns * t->band;
    w.last_items = (uint64_t)blocks * t->columns * (w.chunks - (w.bands - 1) * t->band);
    w.runs = gpume_div_up(layer->block_w, run_samples(plan, words) / unit);
    return w;
}

/* Costs by the depth; 0: they and the order need more than 32 bits. One bit at least, as 0 means
 * that. */
static uint32_t key_bits(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    uint64_t largest = ((1u << plan->params.bits) - 1ull) * layer->block_w * layer->block_h;
    uint32_t order_bits = gpume_max_u32(gpume_bit_width(plan->candidates - 1), 1);
    return gpume_bit_width(largest) + order_bits <= 32 ? order_bits : 0;
}

/* match_tiles.comp: four planes, target words, three words per block, two more. */
static uint64_t shared_bytes(const struct tile_work *w, const struct gpume_tile *t)
{
    uint64_t plane = (w->quads + 23) / 32 * 32 + 8;
    return 4 * 4 * plane + 16 * w->fours + 12ull * t->tile_x * t->tile_y + 8;
}

static uint64_t iterations(const struct gpume_plan *plan, const struct gpume_shape *layer,
    const struct tile_work *w, const struct gpume_tile *t)
{
    uint64_t blocks = (uint64_t)t->tile_x * t->tile_y;
    uint64_t inner = w->units_x == 1 ? 0 : w->rows * (1 + w->runs + w->units_x);
    uint64_t load =
        1 + gpume_div_up(w->quads, t->local) + gpume_div_up(w->items, t->local) * (1 + inner);
    uint64_t sum = 3 * gpume_div_up(blocks, t->local) + gpume_div_up(w->fours, t->local) +
                   w->passes * (1 + w->bands * load);
    if (plan->sample_bytes == 2 && plan->params.bits < 16) { /* match_excess.glsl */
        uint64_t candidate = 1 + layer->block_h * (layer->block_w / 4 + 1ull);
        sum += blocks * (1 + gpume_div_up(plan->candidates, t->local) * candidate);
    }
    return sum;
}

/* Warp slots of one load's items: those issued, and as far as no other workgroup of the core fills
 * the gap, those in which part of the workgroup waits for the rest. */
static double item_slots(uint64_t items, double slots, double groups, const struct gpume_tile *t)
{
    double issued = (double)gpume_div_up(items, WARP);
    double elapsed = (double)gpume_div_up(items, t->local) * t->local / WARP;
    return slots * (issued + (elapsed - issued) * IDLE_SLOTS / groups);
}

/* Workgroups that fit on a core. */
static double groups_of(const struct gpume_tile *t)
{
    uint64_t registers = (uint64_t)(21 + t->chunk) * t->local;
    uint64_t groups = gpume_min_u64(CORE_REGISTERS / registers, CORE_THREADS / t->local);
    groups = gpume_min_u64(groups, CORE_SHARED / (t->shared_bytes + 1024));
    return (double)gpume_max_u64(gpume_min_u64(groups, CORE_GROUPS), 1);
}

static double score(const struct gpume_plan *plan, const struct gpume_shape *layer,
    const struct tile_work *w, const struct gpume_tile *t)
{
    double words = (double)t->unit / w->word_samples, groups = groups_of(t);
    double warps = (double)t->local / WARP;
    double item = (double)(w->units_x * w->rows) *
                      ((t->unit + t->chunk - 1) * words * LOAD_SLOTS + t->unit * UNIT_ROW_SLOTS +
                          (double)t->unit * t->unit * t->chunk * w->slots) +
                  t->chunk * OFFER_SLOTS;
    double tile = (double)w->fours * w->word_samples * TARGET_SLOTS / WARP;
    tile += (double)(w->passes * w->bands) *
            ((double)w->quads * FILL_SLOTS / WARP +
                (double)gpume_div_up(w->quads, t->local) * FILL_LATENCY_SLOTS * warps / groups);
    tile += (double)w->passes * ((double)(w->bands - 1) * item_slots(w->items, item, groups, t) +
                                    item_slots(w->last_items, item, groups, t));
    tile *= 1 + LATENCY_WARPS / (groups * warps);
    tile *= w->passes > 1 ? PASSES_FACTOR : 1;
    /* Tiles that reach beyond the picture, and too few to fill the device. */
    uint64_t tiles =
        gpume_div_up(layer->blocks_x, t->tile_x) * gpume_div_up(layer->blocks_y, t->tile_y);
    double waves = (double)(tiles * plan->batch) / BUSY_GROUPS;
    tile *= waves < 1 ? 1 / waves : 1;
    return tile * WARP * (double)tiles /
           ((double)layer->blocks * layer->block_w * layer->block_h * (double)plan->candidates);
}

/* What follows from a shape, except the score; false: it exceeds a limit. */
static bool fits(const struct gpume_plan *plan, const struct gpume_shape *layer,
    const struct tile_work *w, const struct gpume_tile_limits *limits, struct gpume_tile *tile)
{
    tile->unit = gpume_tile_unit(layer);
    tile->key_bits = key_bits(plan, layer);
    tile->shared_bytes = shared_bytes(w, tile);
    tile->iterations = iterations(plan, layer, w, tile);
    return tile->shared_bytes <= gpume_min_u64(limits->shared_bytes, SHARED_MAX) &&
           tile->local <= limits->invocations && tile->iterations <= GPUME_ITERATIONS_MAX &&
           (tile->key_bits > 0 || tile->local % (tile->tile_x * tile->tile_y) == 0);
}

static bool suits(const struct gpume_plan *plan, enum gpume_tile_words words)
{
    return words != GPUME_TILE_HALF || plan->params.bits <= 10;
}

bool gpume_tile_complete(const struct gpume_plan *plan, const struct gpume_shape *layer,
    enum gpume_tile_words words, const struct gpume_tile_limits *limits, struct gpume_tile *tile)
{
    uint32_t span_x = 2 * plan->params.window_x + 1;
    bool whole = tile->columns == span_x || (tile->columns % 4 == 0 && tile->columns < span_x);
    if (!suits(plan, words) || !whole || !tile->chunk || !tile->tile_x || !tile->tile_y ||
        !tile->band || !tile->columns || !tile->local) {
        return false;
    }
    struct tile_work w = work_of(plan, layer, words, tile);
    if (!fits(plan, layer, &w, limits, tile)) {
        return false;
    }
    tile->score = score(plan, layer, &w, tile);
    return true;
}

/* A search through many shapes. */
struct search {
    const struct gpume_plan *plan;
    const struct gpume_shape *layer;
    enum gpume_tile_words words;
    const struct gpume_tile_limits *limits;
    /* The best by chunk and number of blocks, both less 1; chunk 0: none. */
    struct gpume_tile best[CHUNK_MAX_HALF][GPUME_TILE_BLOCKS_MAX];
};

/* The next smaller size of the parts of a whole, of those for which fewer parts do not do; 0 after
 * 1. */
static uint32_t smaller_part(uint32_t whole, uint32_t part)
{
    return part <= 1 ? 0 : (uint32_t)gpume_div_up(whole, gpume_div_up(whole, part - 1));
}

static void try_locals(struct search *search, struct gpume_tile tile)
{
    uint32_t most = gpume_min_u32(search->limits->invocations, LOCAL_MAX);
    uint32_t first = gpume_min_u32(most / WARP * WARP, LOCAL_MIN);
    struct tile_work w = work_of(search->plan, search->layer, search->words, &tile);
    struct gpume_tile *best = &search->best[tile.chunk - 1][tile.tile_x * tile.tile_y - 1];
    for (tile.local = first; tile.local <= most; tile.local += WARP) {
        if (!fits(search->plan, search->layer, &w, search->limits, &tile)) {
            continue;
        }
        tile.score = score(search->plan, search->layer, &w, &tile);
        if (!best->chunk || tile.score < best->score) {
            *best = tile;
        }
        if (tile.local >= w.items) {
            break; /* more would have nothing to do */
        }
    }
}

/* The next number of columns that takes one pass more, or 0. */
static uint32_t fewer_columns(uint32_t span_x, struct gpume_tile tile)
{
    uint64_t passes = gpume_div_up(span_x, tile.columns) + 1;
    uint32_t columns = (uint32_t)gpume_round_up(gpume_div_up(span_x, passes), 4);
    columns = columns < tile.columns ? columns : (tile.columns - 1) / 4 * 4;
    return passes <= PASSES_MAX ? columns : 0;
}

/* Tries every way to load the window in parts. */
static void try_loads(struct search *search, struct gpume_tile tile)
{
    uint32_t span_x = 2 * search->plan->params.window_x + 1;
    uint32_t span_y = 2 * search->plan->params.window_y + 1;
    uint32_t chunks = (uint32_t)gpume_div_up(span_y, tile.chunk);
    for (tile.columns = span_x; tile.columns > 0; tile.columns = fewer_columns(span_x, tile)) {
        for (tile.band = chunks; tile.band > 0; tile.band = smaller_part(chunks, tile.band)) {
            try_locals(search, tile);
        }
    }
}

static void try_all(struct search *search)
{
    const struct gpume_plan *plan = search->plan;
    bool half = search->words == GPUME_TILE_HALF;
    uint32_t most = suits(plan, search->words) ? search->limits->blocks : 0;
    uint32_t span_y = 2 * plan->params.window_y + 1;
    uint32_t chunk_max = half ? CHUNK_MAX_HALF : CHUNK_MAX;
    uint32_t x_max = gpume_min_u32(search->layer->blocks_x, TILE_X_MAX);
    uint32_t y_max = gpume_min_u32(search->layer->blocks_y, TILE_Y_MAX);
    struct gpume_tile try = {0};
    for (try.chunk = span_y; try.chunk > 0; try.chunk = smaller_part(span_y, try.chunk)) {
        for (try.tile_y = 1; try.chunk <= chunk_max && try.tile_y <= y_max; try.tile_y++) {
            for (try.tile_x = 1; try.tile_x <= x_max && try.tile_x * try.tile_y <= most;
                 try.tile_x++) {
                try_loads(search, try);
            }
        }
    }
}

/* Removes the best of some shapes from the table; chunk 0: there was none. */
static struct gpume_tile take_best(struct gpume_tile *tiles, uint32_t count)
{
    struct gpume_tile *best = &tiles[0];
    for (uint32_t i = 1; i < count; i++) {
        if (tiles[i].chunk && (!best->chunk || tiles[i].score < best->score)) {
            best = &tiles[i];
        }
    }
    struct gpume_tile taken = *best;
    best->chunk = 0;
    return taken;
}

uint32_t gpume_tile_choose(const struct gpume_plan *plan, const struct gpume_shape *layer,
    enum gpume_tile_words words, const struct gpume_tile_limits *limits, uint32_t chunks,
    uint32_t each, struct gpume_tile *tiles)
{
    struct search search = {.plan = plan, .layer = layer, .words = words, .limits = limits};
    uint32_t count = 0;
    try_all(&search);
    for (uint32_t i = 0; i < chunks; i++) {
        struct gpume_tile tile = take_best(search.best[0], CHUNK_MAX_HALF * GPUME_TILE_BLOCKS_MAX);
        for (uint32_t j = 0; j < each && tile.chunk; j++) {
            uint32_t chunk = tile.chunk;
            tiles[count++] = tile;
            tile = take_best(search.best[chunk - 1], GPUME_TILE_BLOCKS_MAX);
        }
        for (uint32_t j = 0; count > 0 && j < GPUME_TILE_BLOCKS_MAX; j++) {
            search.best[tiles[count - 1].chunk - 1][j].chunk = 0;
        }
    }
    return count;
}

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
    static const struct gpume_stage_ops *const stages[] = {
        &gpume_stage_upload, &gpume_stage_match, NULL};
    const struct gpume_plan *plan = &t->planned.plan;
    struct gpume_memory_needs *needs = &t->planned.needs;
    gpume_stages_plan(t->gpu, stages, 1, &t->planned);
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
