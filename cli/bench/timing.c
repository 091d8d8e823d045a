/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread sends frames and receives motion fields; it sends as many frames as the engine
 * accepts, which keeps the engine busy. Time is measured over rounds of several frame pairs; the
 * statistics of the search stage are read between rounds, when the engine is idle.
 */
#include "bench/timing.h"

#include "base/base.h"
#include "base/os.h"
#include "console.h"
#include "media/ffmpeg.h"
#include "model/plan.h"

#include <gpume/gpume.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MIN 3u
#define ROUNDS 7u      /* into which the given time is divided */
#define ROUNDS_MAX 64u /* limit of times kept for the median */
#define ROUND_FIELDS_MAX 4096u
#define LANES_MAX 32u     /* engines of a list of devices */
#define SLOW_NS 10000000u /* comparing a frame pair takes less than 1 % of this */

#define WARM_UP_NS UINT64_C(1500000000)
#define WARM_UP_BUDGETS 20u

#define FFMPEG_REPEATS_MIN 3u
#define FFMPEG_REPEATS_MAX 64u

/* --- medians and repeats */

static int compare_doubles(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double gpume_bench_median(double *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

int gpume_bench_warm_up(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque)
{
    const uint64_t start = gpume_clock_ns();
    const uint64_t time_ns =
        budget_ns < WARM_UP_NS / WARM_UP_BUDGETS ? WARM_UP_BUDGETS * budget_ns : WARM_UP_NS;
    int status = GPUME_OK;
    double us;
    while (status == GPUME_OK && gpume_clock_ns() - start < time_ns) {
        status = once(opaque, &us);
    }
    return status;
}

int gpume_bench_repeat(uint64_t budget_ns, gpume_bench_repeat_fn once, void *opaque, double *us)
{
    double all[GPUME_BENCH_REPEATS_MAX];
    const uint64_t start = gpume_clock_ns();
    uint32_t count = 0;
    uint64_t spent = 0;
    while (count == 0 || (count < GPUME_BENCH_REPEATS_MAX &&
                             (spent < budget_ns || (count < 10u && spent < 4 * budget_ns)))) {
        GPUME_CHECK(once(opaque, &all[count]));
        count++;
        spent = gpume_clock_ns() - start;
    }
    *us = gpume_bench_median(all, count);
    return GPUME_OK;
}

/* --- the work */

static uint32_t shape_count(const struct gpume_params *params)
{
    return params->shape_count > 0 ? params->shape_count : 1;
}

static struct gpume_block_size shape_at(const struct gpume_params *params, uint32_t i)
{
    return params->shape_count > 0 ? params->shapes[i]
                                   : (struct gpume_block_size){params->block, params->block};
}

uint32_t gpume_bench_blocks(const struct gpume_params *params)
{
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < shape_count(params); i++) {
        const struct gpume_block_size shape = shape_at(params, i);
        blocks +=
            gpume_div_up(params->width, shape.width) * gpume_div_up(params->height, shape.height);
    }
    return (uint32_t)blocks;
}

uint32_t gpume_bench_block_rows(const struct gpume_params *params)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < shape_count(params); i++) {
        rows = gpume_max_u32(rows, shape_at(params, i).height);
    }
    return rows;
}

/* One axis: visible pixels times candidates, which reach as far as the plan lets them, summed over
 * the blocks. */
static double along_axis(
    const struct gpume_params *params, uint32_t side, uint32_t block, uint32_t window)
{
    const bool inside = params->edge == GPUME_EDGE_INSIDE;
    double sum = 0;
    for (uint32_t at = 0; at < side; at += block) {
        const uint32_t visible = gpume_min_u32(side - at, block);
        const uint32_t before = gpume_plan_reach(window, at, inside);
        const uint32_t after = gpume_plan_reach(window, side - at - visible, inside);
        sum += (double)visible * (before + 1.0 + after);
    }
    return sum;
}

double gpume_bench_differences(const struct gpume_params *params)
{
    double sum = 0;
    for (uint32_t i = 0; i < shape_count(params); i++) {
        const struct gpume_block_size shape = shape_at(params, i);
        sum += along_axis(params, params->width, shape.width, params->window_x) *
               along_axis(params, params->height, shape.height, params->window_y);
    }
    return params->subpel_search == GPUME_SUBPEL_FULL ? sum * params->subpel * params->subpel : sum;
}

static int init_answers(struct gpume_bench_answers *answers, uint32_t fields, uint32_t blocks)
{
    const size_t count = (size_t)fields * blocks;
    *answers = (struct gpume_bench_answers){.fields = fields,
        .blocks = blocks,
        .vectors = calloc(count, sizeof(*answers->vectors)),
        .costs = calloc(count, sizeof(*answers->costs))};
    if (answers->vectors && answers->costs) {
        return GPUME_OK;
    }
    gpume_bench_answers_finish(answers);
    return gpume_refuse(GPUME_NOMEM, "out of memory for the results of %u frame pairs of %u blocks",
        (unsigned)fields, (unsigned)blocks);
}

void gpume_bench_answers_finish(struct gpume_bench_answers *answers)
{
    free(answers->vectors);
    free(answers->costs);
    *answers = (struct gpume_bench_answers){0};
}

uint32_t gpume_bench_difference(const struct gpume_bench_answers *answers, uint32_t index,
    const struct gpume_vector *vectors, const uint32_t *costs)
{
    const struct gpume_vector *must = answers->vectors + (size_t)index * answers->blocks;
    const uint32_t *cost = answers->costs + (size_t)index * answers->blocks;
    for (uint32_t i = 0; i < answers->blocks; i++) {
        if (vectors[i].dx != must[i].dx || vectors[i].dy != must[i].dy ||
            (costs && costs[i] != cost[i])) {
            return i;
        }
    }
    return UINT32_MAX;
}

struct stream {
    gpume *ctx;
    const struct gpume_bench_clip *clip;
    const struct gpume_params *params;
    uint64_t sent, received;
    struct gpume_bench_answers *store;          /* NULL: not wanted */
    const struct gpume_bench_answers *expected; /* NULL: not compared */
};

static int open_stream(
    struct stream *stream, const struct gpume_bench_clip *clip, const struct gpume_params *params)
{
    *stream = (struct stream){.clip = clip, .params = params};
    GPUME_CHECK(gpume_open(&stream->ctx, params));
    return gpume_open_devices(stream->ctx);
}

/* Returns the first failure, of the work or of closing. */
static int close_stream(struct stream *stream, int status)
{
    const int closed = gpume_close(&stream->ctx);
    return status ? status : closed;
}

/* must: of the layer. */
static int report_difference(const struct stream *stream, const struct gpume_field *field,
    const struct gpume_layer *layer, const struct gpume_bench_answers *must, uint32_t block)
{
    struct gpume_info info;
    gpume_get_info(stream->ctx, &info);
    return gpume_refuse(GPUME_FORMAT,
        "the searches disagree: %s %s (%s): frame pair %" PRIu64
        ", block %u of %ux%u: vector (%d,%d) cost %u, not (%d,%d) cost %u",
        info.backend, info.search, info.device, field->frame, (unsigned)block,
        (unsigned)layer->block_w, (unsigned)layer->block_h, layer->vectors[block].dx,
        layer->vectors[block].dy, (unsigned)layer->costs[block], must->vectors[block].dx,
        must->vectors[block].dy, (unsigned)must->costs[block]);
}

/* Frames from a target to its farthest reference. */
static uint32_t reach_of(const struct gpume_params *params)
{
    uint32_t reach = params->ref_distance;
    for (uint32_t i = 0; i < params->distance_count; i++) {
        reach = params->distances[i] > reach ? params->distances[i] : reach;
    }
    return reach;
}

static uint32_t layer_blocks(const struct gpume_layer *layer)
{
    return layer->blocks_x * layer->blocks_y;
}

static void store_field(struct gpume_bench_answers *store, const struct gpume_field *field)
{
    size_t at = (size_t)(field->frame % store->fields) * store->blocks;
    for (uint32_t i = 0; i < field->layer_count; i++) {
        const struct gpume_layer *layer = field->layers[i];
        const uint32_t blocks = layer_blocks(layer);
        memcpy(store->vectors + at, layer->vectors, blocks * sizeof(*store->vectors));
        memcpy(store->costs + at, layer->costs, blocks * sizeof(*store->costs));
        at += blocks;
    }
}

static int compare_with_expected(const struct stream *stream, const struct gpume_field *field)
{
    const struct gpume_bench_answers *expected = stream->expected;
    struct gpume_bench_answers part = *expected;
    const size_t first = (size_t)(field->frame % expected->fields) * expected->blocks;
    part.vectors += first;
    part.costs += first;
    for (uint32_t i = 0; i < field->layer_count; i++) {
        const struct gpume_layer *layer = field->layers[i];
        part.blocks = layer_blocks(layer);
        const uint32_t block = gpume_bench_difference(&part, 0, layer->vectors, layer->costs);
        if (block != UINT32_MAX) {
            return report_difference(stream, field, layer, &part, block);
        }
        part.vectors += part.blocks;
        part.costs += part.blocks;
    }
    return GPUME_OK;
}

static int take_bench_field(struct stream *stream, const struct gpume_field *field)
{
    if (field->frame < reach_of(stream->params)) {
        return GPUME_OK; /* it lacks references that it has when the clip repeats */
    }
    if (stream->store) {
        store_field(stream->store, field);
    }
    return stream->expected ? compare_with_expected(stream, field) : GPUME_OK;
}

static int send_one(struct stream *stream)
{
    struct gpume_plane plane = *gpume_bench_frame(stream->clip, stream->sent);
    plane.width = stream->params->width; /* the upper left part of a larger picture */
    plane.height = stream->params->height;
    const int status = gpume_send_plane(stream->ctx, &plane, 0);
    stream->sent += status == GPUME_OK;
    return status;
}

/* Processes `fields` more frame pairs; the engine is idle before and after. */
static int advance(struct stream *stream, uint64_t fields)
{
    const uint64_t end = stream->received + fields;
    while (stream->received < end) {
        int status = stream->sent < end + reach_of(stream->params) ? send_one(stream) : GPUME_AGAIN;
        if (status == GPUME_OK) {
            continue;
        }
        const struct gpume_field *field = NULL;
        if (status == GPUME_AGAIN) {
            status = gpume_receive(stream->ctx, &field, 0);
        }
        if (status == GPUME_OK) {
            stream->received++;
            status = take_bench_field(stream, field);
            gpume_field_release(&field);
        }
        if (status != GPUME_OK) {
            return status;
        }
    }
    return GPUME_OK;
}

/* How many engines there are, and whether all of them search in the same way. */
static void look_at_lanes(gpume *ctx, struct gpume_bench_setup *setup)
{
    static struct gpume_lane_info lanes[LANES_MAX];
    (void)gpume_list_lanes(ctx, lanes, LANES_MAX, &setup->engines);
    for (uint32_t i = 1; i < setup->engines && i < LANES_MAX; i++) {
        if (strcmp(lanes[i].search, lanes[0].search) != 0) {
            snprintf(setup->search, sizeof(setup->search), "several");
        }
    }
}

int gpume_bench_look(const struct gpume_params *params, struct gpume_bench_setup *setup)
{
    gpume *ctx = NULL;
    GPUME_CHECK(gpume_open(&ctx, params));
    const int opened = gpume_open_devices(ctx);
    if (opened != GPUME_OK) {
        (void)gpume_close(&ctx);
        return opened;
    }
    struct gpume_info info;
    gpume_get_info(ctx, &info);
    snprintf(setup->device, sizeof(setup->device), "%s", info.device);
    snprintf(setup->driver, sizeof(setup->driver), "%s", info.driver);
    snprintf(setup->search, sizeof(setup->search), "%s", info.search);
    setup->eliminates = info.eliminates;
    look_at_lanes(ctx, setup);
    return gpume_close(&ctx);
}

/* Measures the second frame pair, since the first finds cold caches. */
static int advance_two(struct stream *stream, uint64_t *ns)
{
    int status = advance(stream, 1);
    const uint64_t start = gpume_clock_ns();
    status = status ? status : advance(stream, 1);
    *ns = gpume_clock_ns() - start;
    return status;
}

/* --- FFmpeg's mestimate */

static bool is_mestimate(const struct gpume_params *params)
{
    return params->search && strcmp(params->search, GPUME_BENCH_MESTIMATE) == 0;
}

const char *gpume_bench_ffmpeg_params(struct gpume_params *params)
{
    const char *obstacle = gpume_mestimate_obstacle(params);
    if (!obstacle) {
        params->width = params->width / params->block * params->block;
        params->height = params->height / params->block * params->block;
        params->edge = GPUME_EDGE_INSIDE;
        params->threads = 1;
        params->search = GPUME_BENCH_MESTIMATE;
    }
    return obstacle;
}

static int refuse_ffmpeg_memory(void)
{
    return gpume_refuse(GPUME_NOMEM, "out of memory for the vectors of FFmpeg's mestimate");
}

/* Searches frame 1 in both its neighbours; *ns: time per neighbour. */
static int search_with_ffmpeg(const struct gpume_bench_clip *clip,
    const struct gpume_params *params, struct gpume_vector *vectors, uint64_t *ns)
{
    struct gpume_plane frames[3];
    for (uint32_t i = 0; i < 3; i++) {
        frames[i] = *gpume_bench_frame(clip, i);
        frames[i].width = params->width;
        frames[i].height = params->height;
    }
    *ns = 0;
    const int status = gpume_mestimate_search(params, frames, vectors, ns);
    *ns /= 2;
    return status;
}

static int search_once_with_ffmpeg(
    const struct gpume_bench_clip *clip, const struct gpume_params *params, uint64_t *ns)
{
    struct gpume_vector *vectors = calloc(2 * (size_t)gpume_bench_blocks(params), sizeof(*vectors));
    const int status =
        vectors ? search_with_ffmpeg(clip, params, vectors, ns) : refuse_ffmpeg_memory();
    free(vectors);
    return status;
}

uint32_t gpume_bench_cost(const struct gpume_plane *target, const struct gpume_plane *reference,
    uint32_t block, uint32_t index, struct gpume_vector vector)
{
    const uint32_t blocks_x = target->width / block;
    const ptrdiff_t x = (ptrdiff_t)(index % blocks_x * block);
    const ptrdiff_t y = (ptrdiff_t)(index / blocks_x * block);
    uint32_t cost = 0;
    for (ptrdiff_t j = 0; j < (ptrdiff_t)block; j++) {
        const uint8_t *c = gpume_plane_row(target, y + j);
        const uint8_t *r = gpume_plane_row(reference, y + j + vector.dy);
        for (uint32_t i = 0; i < block; i++) {
            cost += (uint32_t)abs(c[x + i] - r[x + vector.dx + i]);
        }
    }
    return cost;
}

/* Compares one direction with the expected results for the same two frames. */
static int compare_with_answers(const struct gpume_bench_clip *clip,
    const struct gpume_params *params, const struct gpume_bench_answers *answers, bool ahead,
    const struct gpume_vector *vectors, uint32_t *costs)
{
    struct gpume_plane target = *gpume_bench_frame(clip, 1);
    const struct gpume_plane *reference = gpume_bench_frame(clip, ahead ? 2 : 0);
    target.width = params->width;
    for (uint32_t i = 0; i < answers->blocks; i++) {
        costs[i] = gpume_bench_cost(&target, reference, params->block, i, vectors[i]);
    }
    /* The clip plays forwards and backwards: on the way back frame 1 comes last, after frame 2. */
    const uint32_t index = ahead ? answers->fields - 1 : 1 % answers->fields;
    const uint32_t block = gpume_bench_difference(answers, index, vectors, costs);
    if (block == UINT32_MAX) {
        return GPUME_OK;
    }
    const size_t at = (size_t)index * answers->blocks + block;
    return gpume_refuse(GPUME_FORMAT,
        "the searches disagree: FFmpeg's mestimate, %s: block %u: vector (%d,%d) cost %u, gpume "
        "has (%d,%d) cost %u",
        ahead ? "future" : "past", (unsigned)block, vectors[block].dx, vectors[block].dy,
        (unsigned)costs[block], answers->vectors[at].dx, answers->vectors[at].dy,
        (unsigned)answers->costs[at]);
}

static int measure_ffmpeg(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers, uint64_t budget_ns, struct gpume_bench_time *time)
{
    double times[FFMPEG_REPEATS_MAX];
    uint64_t total = 0;
    uint32_t repeats = 0;
    struct gpume_vector *vectors = calloc(2 * (size_t)answers->blocks, sizeof(*vectors));
    uint32_t *costs = calloc(answers->blocks, sizeof(*costs));
    int status = vectors && costs ? GPUME_OK : refuse_ffmpeg_memory();
    while (status == GPUME_OK && repeats < FFMPEG_REPEATS_MAX &&
           (repeats < FFMPEG_REPEATS_MIN || total < budget_ns)) {
        uint64_t ns;
        status = search_with_ffmpeg(clip, params, vectors, &ns);
        status =
            status ? status : compare_with_answers(clip, params, answers, false, vectors, costs);
        status = status ? status
                        : compare_with_answers(
                              clip, params, answers, true, vectors + answers->blocks, costs);
        total += ns;
        times[repeats++] = (double)ns;
    }
    if (status == GPUME_OK) {
        time->search_ns = time->wall_ns = gpume_bench_median(times, repeats);
    }
    free(vectors);
    free(costs);
    return status;
}

/* --- either of them */

/* Measures one frame pair of params->height rows. */
static int search_once(
    const struct gpume_bench_clip *clip, const struct gpume_params *params, uint64_t *ns)
{
    struct stream stream;
    int status;
    if (is_mestimate(params)) {
        return search_once_with_ffmpeg(clip, params, ns);
    }
    GPUME_TRY(open_stream(&stream, clip, params));
    GPUME_TRY(advance_two(&stream, ns));
fail:
    return close_stream(&stream, status);
}

int gpume_bench_fit(const struct gpume_bench_clip *clip, struct gpume_params *params, uint32_t rows,
    uint64_t budget_ns)
{
    const uint32_t whole = params->height;
    params->height = rows < whole ? rows : whole;
    for (;;) {
        uint64_t ns = 0;
        GPUME_CHECK(search_once(clip, params, &ns));
        ns = ns ? ns : 1;
        const uint64_t affordable = (uint64_t)params->height * budget_ns / ns;
        if (affordable >= whole) {
            params->height = whole;
            return GPUME_OK;
        }
        /* A few rows do not fill a large device: their time means little unless it is long. */
        if (ns >= budget_ns / 4 || params->height == whole) {
            const uint32_t block = gpume_bench_block_rows(params);
            const uint32_t height = (uint32_t)(affordable / block * block);
            params->height = height > rows ? height : rows < whole ? rows : whole;
            return GPUME_OK;
        }
        params->height = params->height < whole / 4 ? params->height * 4 : whole;
    }
}

/* Stores or compares the results of a cycle; one of the two is NULL. */
static int run_cycle(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    struct gpume_bench_answers *store, const struct gpume_bench_answers *expected)
{
    struct stream stream;
    int status;
    GPUME_TRY(open_stream(&stream, clip, params));
    stream.store = store;
    stream.expected = expected;
    /* The first targets may lack references, so every pair of the clip comes once more. */
    status = advance(&stream, gpume_bench_cycle(clip) + reach_of(params));
fail:
    return close_stream(&stream, status);
}

int gpume_bench_solve(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    struct gpume_bench_answers *answers)
{
    const int status = init_answers(answers, gpume_bench_cycle(clip), gpume_bench_blocks(params));
    return status ? status : run_cycle(clip, params, answers, NULL);
}

int gpume_bench_compare(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers)
{
    return run_cycle(clip, params, NULL, answers);
}

/* Rounds until the time is up. */
static int repeat(
    struct stream *stream, uint64_t fields, uint64_t budget_ns, struct gpume_bench_time *time)
{
    double search[ROUNDS_MAX], wall[ROUNDS_MAX];
    uint32_t rounds = 0;
    const uint64_t start = gpume_clock_ns();
    uint64_t now = start;
    struct gpume_stats first, before, after;
    gpume_get_stats(stream->ctx, &first);
    before = after = first;
    while (rounds < ROUNDS_MAX && (rounds < ROUNDS_MIN || now - start < budget_ns)) {
        GPUME_CHECK(advance(stream, fields));
        const uint64_t then = gpume_clock_ns();
        gpume_get_stats(stream->ctx, &after);
        search[rounds] =
            (double)(gpume_stats_ns(&after, "match") - gpume_stats_ns(&before, "match")) /
            (double)fields;
        wall[rounds++] = (double)(then - now) / (double)fields;
        before = after;
        now = then;
    }
    const double candidates = (double)(after.candidates - first.candidates);
    const double compared = (double)(after.past_parts - first.past_parts);
    *time = (struct gpume_bench_time){.search_ns = gpume_bench_median(search, rounds),
        .wall_ns = gpume_bench_median(wall, rounds),
        .eliminated = candidates > 0 ? 1 - compared / candidates : 0};
    return GPUME_OK;
}

static uint64_t fields_of(uint64_t ns, uint64_t field_ns)
{
    const uint64_t fields = ns / (field_ns ? field_ns : 1);
    return fields < 1 ? 1 : fields > ROUND_FIELDS_MAX ? ROUND_FIELDS_MAX : fields;
}

/* Finds how many frame pairs take round_ns, if one alone took field_ns. Pairs overlap, so tries a
 * round. */
static int fit_round(struct stream *stream, uint64_t field_ns, uint64_t round_ns, uint64_t *fields)
{
    *fields = fields_of(round_ns, field_ns);
    if (*fields == 1) {
        return GPUME_OK;
    }
    const uint64_t start = gpume_clock_ns();
    const int status = advance(stream, *fields);
    *fields = fields_of(round_ns, (gpume_clock_ns() - start) / *fields);
    return status;
}

/* Compares every frame pair if pairs take long, otherwise only those of the first and the last
 * cycle, which are not timed, since comparing would take a noticeable part of their time. */
static int repeat_compared(struct stream *stream, const struct gpume_bench_answers *answers,
    uint64_t field_ns, uint64_t budget_ns, struct gpume_bench_time *time)
{
    const bool slow = field_ns > SLOW_NS;
    const uint32_t apart = slow ? 0 : gpume_bench_cycle(stream->clip);
    uint64_t fields = 0;
    GPUME_CHECK(advance(stream, apart));
    stream->expected = slow ? answers : NULL;
    GPUME_CHECK(fit_round(stream, field_ns, budget_ns / ROUNDS, &fields));
    GPUME_CHECK(repeat(stream, fields, budget_ns, time));
    stream->expected = answers;
    return advance(stream, apart);
}

int gpume_bench_measure(const struct gpume_bench_clip *clip, const struct gpume_params *params,
    const struct gpume_bench_answers *answers, uint64_t budget_ns, struct gpume_bench_time *time)
{
    struct stream stream;
    uint64_t pair_ns;
    int status;
    if (is_mestimate(params)) {
        return measure_ffmpeg(clip, params, answers, budget_ns, time);
    }
    GPUME_TRY(open_stream(&stream, clip, params));
    stream.expected = answers;
    GPUME_TRY(advance_two(&stream, &pair_ns));
    status = repeat_compared(&stream, answers, pair_ns, budget_ns, time);
fail:
    return close_stream(&stream, status);
}

#define CELL 16u   /* pixels between grid points of the texture's coarse part */
#define GROUND_X 3 /* pixels per frame, to the right */
#define GROUND_Y (-2)
#define OBJECT_X (-5)
#define OBJECT_Y 1

static uint32_t hash(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t h = x * 0x9E3779B1u ^ y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    return h ^ h >> 15;
}

/* 0 to 255: three quarters interpolated between the corners of cells, one quarter finer grain. */
static uint32_t texture(uint32_t x, uint32_t y)
{
    const uint32_t cx = x / CELL, cy = y / CELL, fx = x % CELL, fy = y % CELL;
    const uint32_t top = (hash(cx, cy, 1) & 255) * (CELL - fx) + (hash(cx + 1, cy, 1) & 255) * fx;
    const uint32_t bottom =
        (hash(cx, cy + 1, 1) & 255) * (CELL - fx) + (hash(cx + 1, cy + 1, 1) & 255) * fx;
    const uint32_t coarse = (top * (CELL - fy) + bottom * fy) / (CELL * CELL);
    return (3 * coarse + (hash(x / 2, y / 2, 2) & 255)) / 4;
}

static uint32_t motion_sample(
    const struct gpume_plane *plane, uint32_t x, uint32_t y, uint32_t frame)
{
    const uint32_t far = 1u << 20; /* coordinates stay positive */
    const bool object = x >= plane->width / 3 && x < plane->width / 3 * 2 &&
                        y >= plane->height / 3 && y < plane->height / 3 * 2;
    const int32_t dx = object ? OBJECT_X : GROUND_X, dy = object ? OBJECT_Y : GROUND_Y;
    const uint32_t value = texture(far + x - frame * (uint32_t)dx, far + y - frame * (uint32_t)dy);
    const uint32_t peak = (1u << plane->bits) - 1;
    const uint32_t noise = hash(x, y, frame + 100) & 3;
    return (value * 252 / 255 + noise) * peak / 255;
}

static void fill_frame(struct gpume_plane *plane, enum gpume_bench_content content, uint32_t frame)
{
    const uint32_t peak = (1u << plane->bits) - 1;
    for (uint32_t y = 0; y < plane->height; y++) {
        void *row = gpume_plane_row(plane, y);
        for (uint32_t x = 0; x < plane->width; x++) {
            const uint32_t value = content == GPUME_BENCH_NOISE ? hash(x, y, frame + 1) & peak
                                                                : motion_sample(plane, x, y, frame);
            if (plane->bits > 8) {
                ((uint16_t *)row)[x] = (uint16_t)value;
            } else {
                ((uint8_t *)row)[x] = (uint8_t)value;
            }
        }
    }
}

int gpume_bench_clip_add(
    struct gpume_bench_clip *clip, uint32_t width, uint32_t height, uint32_t bits)
{
    const size_t stride = (size_t)width * (bits > 8 ? 2 : 1);
    void *data = calloc(height, stride);
    if (!data) {
        return gpume_refuse(
            GPUME_NOMEM, "out of memory for a frame of %zu MiB", (stride * height >> 20) + 1);
    }
    clip->planes[clip->count++] = (struct gpume_plane){
        .data = data, .stride = (ptrdiff_t)stride, .width = width, .height = height, .bits = bits};
    return GPUME_OK;
}

int gpume_bench_clip_make(struct gpume_bench_clip *clip, enum gpume_bench_content content,
    uint32_t width, uint32_t height, uint32_t bits, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        GPUME_CHECK(gpume_bench_clip_add(clip, width, height, bits));
        fill_frame(&clip->planes[i], content, i);
    }
    return GPUME_OK;
}

void gpume_bench_clip_free(struct gpume_bench_clip *clip)
{
    for (uint32_t i = 0; i < clip->count; i++) {
        free(clip->planes[i].data);
    }
    clip->count = 0;
}
