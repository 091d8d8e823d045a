/* SPDX-License-Identifier: BSD-2-Clause */
#include "runner.h"

#include "brute.h"
#include "gpu/engine_gpu.h"
#include "run/pipeline.h"
#include "run/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 40u
#define SEED 20060923u

/* Uses the layer below the public functions, so that the frame window can be limited. */
struct run {
    const struct runner_case *c;
    struct gpume_params params;
    struct gpume_log log;
    struct gpume_plan plan;
    struct gpume_pipeline *pipeline;
    struct gpume_schedule schedule;
    struct gpume_plane planes[FRAMES_MAX];
    uint32_t frame_count;
    uint64_t candidates; /* fields received so far */
    unsigned failures;
};

/* The progress of the fields. */
struct place {
    uint32_t target;
    unsigned way; /* how many of its two references have been tried */
    int64_t ref;
};

static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "  log: %s\n", line);
    }
}

static void fail(struct run *run, const char *what, uint64_t frame, uint32_t block, long long got,
    long long expected)
{
    const struct runner_case *c = run->c;
    if (run->failures++ > 0) {
        return; /* the first one suffices */
    }
    fprintf(stderr,
        "%ux%u %u bits, block %u window %ux%u edge %d content %d direction %d distance %u filter "
        "%d on %s %s, "
        "seed %u: frame %llu block %u: %s is %lld, expected %lld\n",
        c->width, c->height, c->bits, c->block, c->window_x, c->window_y, (int)c->edge,
        (int)c->content, (int)c->direction, run->params.ref_distance,
        c->filtered ? (int)c->filter.kind : -1,
        run->params.backend == GPUME_BACKEND_CPU ? "cpu" : "vulkan", c->search ? c->search : "",
        SEED, (unsigned long long)frame, block, what, got, expected);
}

static void expect(struct run *run, const char *what, uint64_t frame, uint32_t block, uint64_t got,
    uint64_t expected)
{
    if (got != expected) {
        fail(run, what, frame, block, (long long)got, (long long)expected);
    }
}

static void compare_predicted(struct run *run, const struct gpume_field *field)
{
    const struct gpume_params *p = &run->params;
    const struct gpume_plane *reference = &run->planes[field->ref];
    const struct gpume_shape *layer = &run->plan.layers[0];
    for (uint32_t y = 0; y < p->height; y++) {
        for (uint32_t x = 0; x < p->width; x++) {
            uint32_t block = y / layer->block_h * field->blocks_x + x / layer->block_w;
            int64_t rx = (int64_t)x + field->vectors[block].dx;
            int64_t ry = (int64_t)y + field->vectors[block].dy;
            rx = rx < 0 ? 0 : rx >= p->width ? p->width - 1 : rx;
            ry = ry < 0 ? 0 : ry >= p->height ? p->height - 1 : ry;
            expect(run, "predicted sample", field->frame, block,
                synth_sample(&field->predicted, x, y), synth_sample(reference, rx, ry));
            expect(run, "target sample", field->frame, block, synth_sample(&field->target, x, y),
                synth_sample(&run->planes[field->frame], x, y));
            expect(run, "reference sample", field->frame, block,
                synth_sample(&field->reference, x, y), synth_sample(reference, x, y));
        }
    }
}

/* The sums are the first layer's. */
static void compare_sums(struct run *run, const struct gpume_field *field, const struct brute *b)
{
    uint64_t f = field->frame;
    expect(run, "number of blocks", f, 0, (uint64_t)field->blocks_x * field->blocks_y, b->blocks);
    expect(run, "zero", f, 0, field->sums.zero, b->zero);
    expect(run, "sad_before", f, 0, field->sums.sad_before, b->sad_before);
    expect(run, "sad_after", f, 0, field->sums.sad_after, b->sad_after);
    expect(run, "sse_before", f, 0, field->sums.sse_before, b->sse_before);
    expect(run, "sse_after", f, 0, field->sums.sse_after, b->sse_after);
}

static void compare_layer(
    struct run *run, const struct gpume_field *field, const struct gpume_shape *layer)
{
    uint64_t f = field->frame;
    struct brute b = brute_layer(
        &run->params, layer->block_w, layer->block_h, &run->planes[f], &run->planes[field->ref]);
    for (uint32_t i = 0; i < b.blocks; i++) {
        uint32_t at = layer->first + i;
        expect(run, "cost", f, at, field->costs[at], b.costs[i]);
        expect(run, "dx", f, at, (uint64_t)field->vectors[at].dx, (uint64_t)(int64_t)b.dx[i]);
        expect(run, "dy", f, at, (uint64_t)field->vectors[at].dy, (uint64_t)(int64_t)b.dy[i]);
        expect(run, "rank", f, at, field->ranks[at], b.ranks[i]);
    }
    if (layer->first == 0) {
        compare_sums(run, field, &b);
    }
    run->candidates += b.candidates;
    brute_free(&b);
}

static void compare(struct run *run, const struct gpume_field *field)
{
    for (uint32_t i = 0; i < run->plan.layer_count; i++) {
        compare_layer(run, field, &run->plan.layers[i]);
    }
    expect(run, "time", field->frame, 0, (uint64_t)field->time_us, field->frame * 40000);
    compare_predicted(run, field);
}

static int open_run(struct run *run, enum gpume_backend backend, bool validate)
{
    const struct runner_case *c = run->c;
    gpume_params_default(&run->params);
    run->params.backend = backend;
    run->params.width = c->width;
    run->params.height = c->height;
    run->params.bits = c->bits;
    run->params.block = c->block;
    run->params.window_x = c->window_x;
    run->params.window_y = c->window_y;
    run->params.edge = c->edge;
    run->params.ref_distance = c->distance ? c->distance : 1;
    run->params.direction = c->direction;
    run->params.want_predicted = true;
    run->params.want_frames = true;
    run->params.shape_count = c->shape_count;
    memcpy(run->params.shapes, c->shapes, sizeof(c->shapes));
    run->params.validate = validate;
    run->params.search = c->search;
    run->params.prefilter = c->filtered ? &c->filter : NULL;
    run->log = (struct gpume_log){.fn = on_log};
    void *engine = NULL;
    bool cpu = backend == GPUME_BACKEND_CPU;
    const struct gpume_engine_ops *ops = cpu ? &gpume_engine_cpu : &gpume_engine_gpu;
    const struct gpume_engine_gpu_rules rules = {.window_bytes = c->window_bytes,
        .force_pruning = c->prune,
        .as_hardware = c->hardware,
        .tile = c->tile};
    int status =
        cpu ? ops->open(&engine, &run->params, &run->log, &run->plan)
            : gpume_engine_gpu_open_with(&engine, &run->params, &run->log, &rules, &run->plan);
    const struct gpume_pipeline_parts parts = {
        .engines = {{.ops = ops, .opaque = engine, .plan = &run->plan}},
        .engine_count = 1,
        .source = {gpume_schedule_next, &run->schedule},
        .log = &run->log};
    if (status != GPUME_OK) {
        return status;
    }
    run->schedule = gpume_schedule_make(&run->plan);
    return gpume_pipeline_open(&run->pipeline, &parts);
}

static void send_plane(struct run *run, uint32_t index, struct gpume_frame **frame)
{
    const struct gpume_plane *from = &run->planes[index];
    size_t row_bytes = (size_t)from->width * (from->bits > 8 ? 2 : 1);
    /* Data to the right of the picture must not matter. */
    memset((*frame)->plane.data, 0xCD, (size_t)(*frame)->plane.stride * from->height);
    for (uint32_t y = 0; y < from->height; y++) {
        memcpy((uint8_t *)(*frame)->plane.data + (ptrdiff_t)y * (*frame)->plane.stride,
            (const uint8_t *)from->data + (ptrdiff_t)y * from->stride, row_bytes);
    }
    expect(run, "send", index, 0,
        (uint64_t)gpume_pipeline_send(run->pipeline, frame, index * 40000), GPUME_OK);
}

/* After the last field. */
static void check_counts(struct run *run)
{
    struct gpume_stats stats = {0};
    gpume_pipeline_get_stats(run->pipeline, &stats);
    expect(run, "number of candidates", 0, 0, stats.candidates, run->candidates);
    if (stats.past_blocks > stats.candidates || stats.past_parts > stats.past_blocks) {
        fail(run, "candidates compared", 0, 0, (long long)stats.past_parts,
            (long long)stats.past_blocks);
    }
}

/* Advances *place to the frames of the next field: targets in order, each first with the frame
 * before it and then with the frame after it, where these exist. False: no more fields. */
static bool expect_next(const struct run *run, struct place *place)
{
    const int64_t distance = run->params.ref_distance;
    for (; place->target < run->frame_count; place->target++, place->way = 0) {
        for (; place->way < 2;) {
            bool back = place->way++ == 0;
            place->ref = (int64_t)place->target + (back ? -distance : distance);
            bool wanted = run->params.direction == GPUME_DIRECTION_BOTH ||
                          back == (run->params.direction == GPUME_DIRECTION_PAST);
            if (wanted && place->ref >= 0 && place->ref < run->frame_count) {
                return true;
            }
        }
    }
    return false;
}

static void take(struct run *run, const struct gpume_field *field, struct place *place)
{
    if (!expect_next(run, place)) {
        fail(run, "a field too many", field->frame, 0, 1, 0);
        return;
    }
    expect(run, "frame number", place->target, 0, field->frame, place->target);
    expect(run, "reference number", place->target, 0, field->ref, (uint64_t)place->ref);
    if (run->failures == 0) {
        compare(run, field);
    }
}

/* One thread: send while there is room, else receive. */
static void feed(struct run *run)
{
    uint32_t sent = 0;
    struct place place = {0};
    int status = GPUME_OK;
    while (status != GPUME_EOF && run->failures == 0) {
        struct gpume_frame *frame = NULL;
        status = sent < run->frame_count ? gpume_pipeline_acquire(run->pipeline, &frame, 0)
                                         : GPUME_AGAIN;
        if (status == GPUME_OK) {
            send_plane(run, sent++, &frame);
            if (sent == run->frame_count) {
                gpume_pipeline_finish(run->pipeline);
            }
            continue;
        }
        const struct gpume_field *field = NULL;
        status = status == GPUME_AGAIN ? gpume_pipeline_receive(run->pipeline, &field, 0) : status;
        if (status == GPUME_OK) {
            take(run, field, &place);
            gpume_field_release(&field);
        } else if (status != GPUME_AGAIN && status != GPUME_EOF) {
            fail(run, "status", place.target, 0, status, GPUME_OK);
        }
    }
    if (run->failures == 0) {
        expect(run, "a field too few", place.target, 0, expect_next(run, &place), false);
        check_counts(run);
    }
}

unsigned runner_run(const struct runner_case *c, enum gpume_backend backend, bool validate)
{
    struct run run = {.c = c};
    uint32_t distance = c->distance ? c->distance : 1;
    run.frame_count = c->frames ? c->frames : distance + 3;
    for (uint32_t i = 0; i < run.frame_count; i++) {
        run.planes[i] = synth_plane(c->width, c->height, c->bits);
        synth_fill(&run.planes[i], c->content, i, SEED);
    }
    int status = open_run(&run, backend, validate);
    if (status != GPUME_OK) {
        fail(&run, "status of opening", 0, 0, status, GPUME_OK);
    } else {
        feed(&run);
        status = gpume_pipeline_close(&run.pipeline);
        expect(&run, "status of closing", 0, 0, (uint64_t)(int64_t)status, GPUME_OK);
    }
    for (uint32_t i = 0; i < run.frame_count; i++) {
        free(run.planes[i].data);
    }
    return run.failures;
}
