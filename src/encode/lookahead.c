/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/lookahead.h"

#include "base/grid.h"
#include "base/log.h"
#include "base/status.h"
#include "encode/blocks.h"
#include "encode/choice.h"
#include "encode/energy.h"
#include "encode/half.h"
#include "encode/searches.h"
#include "encode/split.h"
#include "encode/weights.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define GPU_THREADS 4u

/* The match of a frame in one reference. */
struct pair {
    struct pair *next;
    struct gpume_match match;
};

struct result {
    struct result *next;
    uint64_t past, future;
    struct gpume_frame_cost cost;
};

struct frame {
    struct gpume_half half;
    struct gpume_intra intra;
    uint32_t *energies;
    struct gpume_luma_stats luma;
    struct pair *pairs;
    struct result *results;
};

struct gpume_lookahead {
    struct gpume_lookahead_params params;
    struct gpume_log log;
    uint32_t blocks_x, blocks_y, blocks;
    uint64_t first, end;  /* positions of the frames that are kept */
    struct frame *frames; /* position % params.frames_max */
    uint8_t *planes;      /* of all frames, and of the weighted reference */
    uint16_t *all_intra_costs;
    uint32_t *all_energies;
    struct gpume_split split;
    uint8_t *bands;      /* one for each part of the split */
    uint16_t *row_costs; /* two rows of blocks for each part of the split */
    struct gpume_searches *searches;
    struct gpume_blocks *work; /* of the searches */
    /* Searches in a weighted reference: frame 2n is the reference, 2n + 1 the target. */
    struct gpume_half weighted;
    struct gpume_searches *weighted_searches;
    uint64_t weighted_count;
    struct pair *free_pairs;
    struct result *free_results;
};

/* --- open, close */

static int open_searches(struct gpume_lookahead *l)
{
    struct gpume_searches_params params = {
        .blocks_x = l->blocks_x,
        .blocks_y = l->blocks_y,
        .frames = l->params.frames_max,
        .backend = l->params.backend,
        .device = l->params.device,
        .threads = l->params.threads,
        .split = &l->split,
        .cache_dir = l->params.cache_dir,
        .log = l->params.log,
        .log_opaque = l->params.log_opaque,
    };
    GPUME_CHECK(gpume_searches_open(&l->searches, &params));
    l->work = gpume_searches_blocks(l->searches);
    l->params.eager = l->params.eager || gpume_searches_on_gpu(l->searches);
    if (!l->params.weights) {
        return GPUME_OK;
    }
    /* Few pairs need it, one at a time: nothing for a GPU. */
    params.frames = 2;
    params.backend = GPUME_BACKEND_CPU;
    params.device = NULL;
    return gpume_searches_open(&l->weighted_searches, &params);
}

static int allocate(struct gpume_lookahead *l)
{
    const uint32_t count = l->params.frames_max;
    const size_t plane_bytes = gpume_half_bytes(l->blocks_x, l->blocks_y);
    l->frames = calloc(count, sizeof(*l->frames));
    l->planes = calloc((size_t)count + 1, plane_bytes);
    l->all_intra_costs = calloc((size_t)count * l->blocks, sizeof(*l->all_intra_costs));
    l->all_energies = calloc((size_t)count * l->blocks, sizeof(*l->all_energies));
    l->bands = calloc((size_t)l->split.parts * l->blocks_x, GPUME_BAND_BYTES);
    l->row_costs = calloc((size_t)2 * l->split.parts, l->blocks_x * sizeof(*l->row_costs));
    if (!l->frames || !l->planes || !l->all_intra_costs || !l->all_energies || !l->bands ||
        !l->row_costs) {
        return gpume_log_nomem(&l->log, "the frames of the lookahead");
    }
    for (uint32_t i = 0; i < count; i++) {
        l->frames[i] = (struct frame){
            .half = gpume_half_at(l->planes + i * plane_bytes, l->blocks_x, l->blocks_y),
            .intra.costs = l->all_intra_costs + (size_t)i * l->blocks,
            .energies = l->all_energies + (size_t)i * l->blocks,
        };
    }
    l->weighted = gpume_half_at(l->planes + count * plane_bytes, l->blocks_x, l->blocks_y);
    return GPUME_OK;
}

/* A GPU leaves little to do, in many short pieces: to start more threads for them takes longer. */
static int open_split(struct gpume_lookahead *l)
{
    uint32_t threads = l->params.threads;
    if (gpume_searches_on_gpu(l->searches) && (threads == 0 || threads > GPU_THREADS)) {
        threads = GPU_THREADS;
    }
    return gpume_split_init(&l->split, l->blocks_y, threads, &l->log);
}

int gpume_lookahead_open(
    struct gpume_lookahead **lookahead, const struct gpume_lookahead_params *params)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    assert(params->distance_max < params->frames_max);
    struct gpume_lookahead *l = calloc(1, sizeof(*l));
    if (!l) {
        return gpume_log_nomem(&log, "the lookahead");
    }
    l->params = *params;
    l->log = log;
    l->blocks_x = (uint32_t)gpume_div_up(params->width, GPUME_SQUARE);
    l->blocks_y = (uint32_t)gpume_div_up(params->height, GPUME_SQUARE);
    l->blocks = l->blocks_x * l->blocks_y;
    int status;
    GPUME_TRY(open_searches(l));
    GPUME_TRY(open_split(l));
    GPUME_TRY(allocate(l));
    *lookahead = l;
    return GPUME_OK;
fail:
    gpume_lookahead_close(&l);
    return status;
}

static void free_pairs(struct pair *pair)
{
    while (pair) {
        struct pair *next = pair->next;
        free(pair);
        pair = next;
    }
}

static void free_results(struct result *result)
{
    while (result) {
        struct result *next = result->next;
        free(result);
        result = next;
    }
}

void gpume_lookahead_close(struct gpume_lookahead **lookahead)
{
    struct gpume_lookahead *l = *lookahead;
    if (!l) {
        return;
    }
    gpume_searches_close(&l->searches);
    gpume_searches_close(&l->weighted_searches);
    for (uint32_t i = 0; l->frames && i < l->params.frames_max; i++) {
        free_pairs(l->frames[i].pairs);
        free_results(l->frames[i].results);
    }
    free_pairs(l->free_pairs);
    free_results(l->free_results);
    free(l->row_costs);
    free(l->bands);
    gpume_split_finish(&l->split);
    free(l->all_energies);
    free(l->all_intra_costs);
    free(l->planes);
    free(l->frames);
    free(l);
    *lookahead = NULL;
}

const char *gpume_lookahead_engine(const struct gpume_lookahead *lookahead)
{
    return gpume_searches_engine(lookahead->searches);
}

uint32_t gpume_lookahead_lag(const struct gpume_lookahead *lookahead)
{
    return gpume_searches_on_gpu(lookahead->searches) ? GPUME_LOOKAHEAD_LAG : 0;
}

uint32_t gpume_lookahead_blocks_x(const struct gpume_lookahead *lookahead)
{
    return lookahead->blocks_x;
}

uint32_t gpume_lookahead_blocks_y(const struct gpume_lookahead *lookahead)
{
    return lookahead->blocks_y;
}

/* --- frames */

static struct frame *frame_at(const struct gpume_lookahead *l, uint64_t position)
{
    assert(position >= l->first && position < l->end);
    return &l->frames[position % l->params.frames_max];
}

struct reading {
    struct gpume_lookahead *lookahead;
    struct frame *frame;
    const struct gpume_plane *luma;
};

static void read_part(void *opaque, uint32_t part)
{
    const struct reading *r = opaque;
    const struct gpume_lookahead *l = r->lookahead;
    const uint32_t end = gpume_split_row(&l->split, part + 1);
    uint8_t *band = l->bands + (size_t)part * l->blocks_x * GPUME_BAND_BYTES;
    for (uint32_t y = gpume_split_row(&l->split, part); y < end; y++) {
        gpume_band_read(band, r->luma, l->blocks_x, y);
        gpume_half_write(&r->frame->half, band, y);
        if (l->params.energies) {
            gpume_energies(band, l->blocks_x, r->frame->energies + (size_t)y * l->blocks_x);
        }
    }
}

static void read_frame(
    struct gpume_lookahead *l, struct frame *frame, const struct gpume_plane *luma)
{
    struct reading reading = {l, frame, luma};
    gpume_split_run(&l->split, read_part, &reading);
    gpume_half_extend(&frame->half);
    frame->luma = gpume_luma_stats(&frame->half);
}

/* A pair, new or in use before; NULL: out of memory. `half`: of the reference. */
static struct pair *take_pair(
    struct gpume_lookahead *l, uint64_t target, uint64_t reference, const struct gpume_half *half)
{
    struct frame *frame = frame_at(l, target);
    struct pair *pair = l->free_pairs;
    if (pair) {
        l->free_pairs = pair->next;
    } else {
        const size_t bytes = sizeof(struct gpume_vector) + sizeof(uint16_t);
        pair = malloc(sizeof(*pair) + l->blocks * bytes);
        if (!pair) {
            return NULL;
        }
    }
    struct gpume_vector *vectors = (struct gpume_vector *)(void *)(pair + 1);
    *pair = (struct pair){.next = frame->pairs,
        .match = {.target = &frame->half,
            .reference = half,
            .target_frame = target,
            .reference_frame = reference,
            .vectors = vectors,
            .costs = (uint16_t *)(void *)(vectors + l->blocks)}};
    frame->pairs = pair;
    return pair;
}

/* The pair of two frames, requested by now. */
static int request(
    struct gpume_lookahead *l, uint64_t target, uint64_t reference, struct pair **out)
{
    const struct gpume_half *half = &frame_at(l, reference)->half;
    struct pair *pair = frame_at(l, target)->pairs;
    while (pair && (pair->match.reference_frame != reference || pair->match.reference != half)) {
        pair = pair->next;
    }
    if (!pair) {
        pair = take_pair(l, target, reference, half);
        if (!pair) {
            return gpume_log_nomem(&l->log, "a search of the lookahead");
        }
        GPUME_CHECK(gpume_searches_request(l->searches, &pair->match));
    }
    *out = pair;
    return GPUME_OK;
}

int gpume_lookahead_put(struct gpume_lookahead *lookahead, const struct gpume_plane *luma)
{
    struct gpume_lookahead *l = lookahead;
    assert(l->end - l->first < l->params.frames_max);
    const uint64_t position = l->end++;
    struct frame *frame = frame_at(l, position);
    struct pair *pair;
    read_frame(l, frame, luma);
    frame->intra.half = &frame->half;
    frame->intra.frame = position;
    gpume_blocks_add(l->work, &frame->intra);
    GPUME_CHECK(gpume_searches_send(l->searches, &frame->half));
    const uint64_t others = gpume_min_u64(position - l->first, l->params.distance_max);
    for (uint64_t d = 1; l->params.eager && d <= others; d++) {
        GPUME_CHECK(request(l, position, position - d, &pair));
        GPUME_CHECK(request(l, position - d, position, &pair));
    }
    /* One half of the lag is for the searches, the other one for what follows. */
    const uint64_t pending = (uint64_t)gpume_lookahead_lag(l) / 2 * 2 * l->params.distance_max;
    return pending > 0 ? gpume_searches_drain(l->searches, pending) : GPUME_OK;
}

static void drop_frame(struct gpume_lookahead *l, struct frame *frame)
{
    gpume_blocks_wait(l->work, &frame->intra.ready);
    while (frame->pairs) {
        struct pair *pair = frame->pairs;
        if (pair->match.requested) {
            /* libgpume writes to it until then. A failure has been logged, and comes again. */
            (void)gpume_searches_wait(l->searches, &pair->match);
        }
        frame->pairs = pair->next;
        pair->next = l->free_pairs;
        l->free_pairs = pair;
    }
    while (frame->results) {
        struct result *result = frame->results;
        frame->results = result->next;
        result->next = l->free_results;
        l->free_results = result;
    }
}

void gpume_lookahead_drop(struct gpume_lookahead *lookahead, uint64_t first)
{
    assert(first <= lookahead->end);
    while (lookahead->first < first) {
        drop_frame(lookahead, frame_at(lookahead, lookahead->first));
        lookahead->first++;
    }
}

const uint32_t *gpume_lookahead_energies(const struct gpume_lookahead *lookahead, uint64_t frame)
{
    return lookahead->params.energies ? frame_at(lookahead, frame)->energies : NULL;
}

void gpume_lookahead_facts(
    const struct gpume_lookahead *lookahead, uint64_t frame, struct gpume_frame_facts *facts)
{
    const struct frame *f = frame_at(lookahead, frame);
    gpume_blocks_wait(lookahead->work, &f->intra.ready);
    *facts = (struct gpume_frame_facts){
        .intra_costs = f->intra.costs,
        .intra_cost = f->intra.cost,
        .energies = gpume_lookahead_energies(lookahead, frame),
        .luma_sum = f->luma.sum,
        .luma_energy = f->luma.energy,
    };
}

/* --- costs */

/* Finds the weight of the past reference, beside its plain match; unless there is none, the
 * weighted samples are then in l->weighted. */
static struct gpume_weight find_weight(struct gpume_lookahead *l, const struct frame *target,
    const struct frame *reference, const struct gpume_match *match)
{
    const uint64_t samples = (uint64_t)target->half.width * target->half.height;
    const struct gpume_weight weight = gpume_weight_guess(&target->luma, &reference->luma, samples);
    if (gpume_weight_is_none(&weight)) {
        return weight;
    }
    const struct gpume_plain_costs plain = {target->intra.costs, match->costs, match->vectors};
    gpume_weight_apply(&l->split, &weight, &reference->half, &l->weighted);
    return gpume_weight_pays(&l->split, &target->half, &plain, &l->weighted, l->row_costs)
               ? weight
               : GPUME_WEIGHT_NONE;
}

/* Searches the frame in l->weighted. */
static int search_weighted(struct gpume_lookahead *l, uint64_t target, struct pair **out)
{
    const uint64_t number = 2 * l->weighted_count++;
    struct pair *pair = take_pair(l, target, number, &l->weighted);
    if (!pair) {
        return gpume_log_nomem(&l->log, "a search of the lookahead");
    }
    pair->match.target_frame = number + 1;
    GPUME_CHECK(gpume_searches_send(l->weighted_searches, &l->weighted));
    GPUME_CHECK(gpume_searches_send(l->weighted_searches, &frame_at(l, target)->half));
    GPUME_CHECK(gpume_searches_request(l->weighted_searches, &pair->match));
    GPUME_CHECK(gpume_searches_wait(l->weighted_searches, &pair->match));
    *out = pair;
    return GPUME_OK;
}

/* The match in the past reference, which is weighted if it is the only one. */
static int find_past(struct gpume_lookahead *l, uint64_t frame, uint64_t past, bool alone,
    struct gpume_weight *weight, struct pair **pair)
{
    struct frame *target = frame_at(l, frame);
    GPUME_CHECK(request(l, frame, past, pair));
    if (!alone || !l->params.weights) {
        return GPUME_OK;
    }
    GPUME_CHECK(gpume_searches_wait(l->searches, &(*pair)->match));
    gpume_blocks_wait(l->work, &target->intra.ready);
    *weight = find_weight(l, target, frame_at(l, past), &(*pair)->match);
    return gpume_weight_is_none(weight) ? GPUME_OK : search_weighted(l, frame, pair);
}

static struct result *take_result(struct gpume_lookahead *l)
{
    struct result *result = l->free_results;
    if (result) {
        l->free_results = result->next;
        return result;
    }
    return malloc(sizeof(*result) + l->blocks * (sizeof(uint16_t) + sizeof(uint8_t)));
}

static struct gpume_source source_of(
    const struct gpume_lookahead *l, uint64_t reference, const struct pair *pair)
{
    return (struct gpume_source){
        .half = &frame_at(l, reference)->half, .match = pair ? &pair->match : NULL};
}

static int evaluate(
    struct gpume_lookahead *l, uint64_t frame, uint64_t past, uint64_t future, struct result **out)
{
    const struct frame *target = frame_at(l, frame);
    struct pair *past_pair = NULL, *future_pair = NULL;
    struct gpume_weight weight = GPUME_WEIGHT_NONE;
    assert(frame - past <= l->params.distance_max && future - frame <= l->params.distance_max);
    if (future != frame) {
        GPUME_CHECK(request(l, frame, future, &future_pair));
    }
    if (past != frame) {
        GPUME_CHECK(find_past(l, frame, past, future == frame, &weight, &past_pair));
        GPUME_CHECK(gpume_searches_wait(l->searches, &past_pair->match));
    }
    if (future != frame) {
        GPUME_CHECK(gpume_searches_wait(l->searches, &future_pair->match));
    }
    gpume_blocks_wait(l->work, &target->intra.ready);
    struct result *result = take_result(l);
    if (!result) {
        return gpume_log_nomem(&l->log, "costs of the lookahead");
    }
    uint16_t *costs = (uint16_t *)(void *)(result + 1);
    struct gpume_choice choice = {.target = &target->half,
        .intra_costs = target->intra.costs,
        .past = source_of(l, past, past_pair),
        .future = source_of(l, future, future_pair),
        .past_share = l->params.shares && past != future ? gpume_past_share(past, frame, future)
                                                         : GPUME_SHARES / 2,
        .split = &l->split,
        .scratch = l->row_costs,
        .costs = costs,
        .kinds = (uint8_t *)(costs + l->blocks)};
    result->cost = gpume_choose(&choice);
    result->cost.weight = weight;
    result->past = past;
    result->future = future;
    *out = result;
    return GPUME_OK;
}

int gpume_lookahead_cost(struct gpume_lookahead *lookahead, uint64_t frame, uint64_t past,
    uint64_t future, struct gpume_frame_cost *cost)
{
    struct frame *f = frame_at(lookahead, frame);
    struct result *result = f->results;
    while (result && (result->past != past || result->future != future)) {
        result = result->next;
    }
    if (!result) {
        GPUME_CHECK(evaluate(lookahead, frame, past, future, &result));
        result->next = f->results;
        f->results = result;
    }
    *cost = result->cost;
    return GPUME_OK;
}
