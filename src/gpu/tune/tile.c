/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/tile.h"

#include "base/grid.h"
#include "common/shared.h"

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
