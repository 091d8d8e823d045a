/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hardest_blocks: a table of the blocks of a video that motion compensation predicts worst.
 *
 *     hardest_blocks INPUT [N [BLOCK [WINDOW]]]
 *
 * Prints N rows by decreasing cost: frame, position and visible size of the block, its vector, its
 * cost, and the cost per pixel. Blocks of equal cost are in order of frames, then in raster order.
 *
 * This is the pattern for a program that decodes on one thread and receives results on another,
 * both while the engine works. With GPUME_WAIT each thread waits for the engine, and neither needs
 * to know about the other:
 *
 *     send_all, on its own thread             gpume_frame_acquire, gpume_send; gpume_finish
 *     receive_all, on the main thread         gpume_receive until GPUME_EOF
 *     whichever fails                         gpume_cancel, which wakes the other
 *
 * The selection has two steps. Within a field, ranks below N mark the N hardest blocks. Across
 * fields, gpume_sort sorts the costs in decreasing order with the index of the block as payload;
 * then only the first N blocks are copied. This is repeated whenever enough blocks have gathered,
 * so that memory stays bounded however long the video is.
 *
 * Exit status: 0 success, 1 failure, 2 wrong usage.
 */
#define _POSIX_C_SOURCE 200809L

#include "video.h"

#include <gpume/compute.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WANTED_MAX = 1000000,
    SPARE = 65536, /* blocks beyond 2 N that gather before all but N are dropped */
};

struct block {
    uint64_t frame;
    uint32_t x, y, width, height, cost;
    struct gpume_vector vector;
};

/* Grows by the hardest blocks of each field; shrinks to the hardest ones so far. */
struct ranking {
    gpume_compute *compute;
    struct block *blocks;
    size_t count, capacity, wanted;
};

/* The sending thread. */
struct sender {
    gpume *ctx;
    struct video *video; /* its first frame has been decoded */
    bool failed;         /* read after the thread has ended */
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "hardest_blocks: %s: %s\n", what, why);
    return -1;
}

/* The library logs each failure once, possibly from another thread. */
static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "hardest_blocks: %s\n", line);
    }
}

static void *send_all(void *opaque)
{
    struct sender *sender = opaque;
    int got = 1, status = GPUME_OK;
    while (got > 0 && status == GPUME_OK) {
        gpume_frame *frame = NULL;
        struct gpume_plane plane;
        status = gpume_frame_acquire(sender->ctx, &frame, &plane, GPUME_WAIT);
        if (status == GPUME_OK) {
            video_fill(sender->video, &plane);
            status = gpume_send(sender->ctx, &frame, video_time_us(sender->video));
        }
        if (status == GPUME_OK) {
            got = video_next(sender->video);
        }
    }
    if (got == 0) {
        status = gpume_finish(sender->ctx);
    }
    sender->failed = got < 0 || status != GPUME_OK;
    if (sender->failed) {
        gpume_cancel(sender->ctx);
    }
    return NULL;
}

/* Sorts by cost and keeps the hardest. */
static int ranking_shrink(struct ranking *ranking)
{
    const size_t kept = ranking->count < ranking->wanted ? ranking->count : ranking->wanted;
    uint32_t *costs = malloc((ranking->count + 1) * sizeof *costs); /* + 1: never 0 bytes */
    uint32_t *indices = malloc((ranking->count + 1) * sizeof *indices);
    struct block *blocks = malloc((kept + 1) * sizeof *blocks);
    int status = costs && indices && blocks ? GPUME_OK : GPUME_NOMEM;
    if (status == GPUME_OK) {
        for (size_t i = 0; i < ranking->count; i++) {
            costs[i] = ranking->blocks[i].cost;
            indices[i] = (uint32_t)i;
        }
        struct gpume_sort_params order;
        gpume_sort_params_default(&order);
        order.descending = true;
        order.key_bits = 30; /* gpume.h bounds a cost by 128 * 128 * 65535 */
        status = gpume_sort(ranking->compute, &order, costs, indices, ranking->count);
    }
    if (status == GPUME_OK) {
        for (size_t i = 0; i < kept; i++) {
            blocks[i] = ranking->blocks[indices[i]];
        }
        free(ranking->blocks);
        ranking->blocks = blocks;
        ranking->count = ranking->capacity = kept;
        blocks = NULL;
    }
    free(blocks);
    free(indices);
    free(costs);
    return status == GPUME_OK ? 0 : fail("sorting", gpume_status_text(status));
}

static int ranking_reserve(struct ranking *ranking, size_t more)
{
    const size_t needed = ranking->count + more;
    if (needed <= ranking->capacity) {
        return 0;
    }
    const size_t capacity = needed + needed / 2;
    struct block *blocks = realloc(ranking->blocks, capacity * sizeof *blocks);
    if (!blocks) {
        return fail("ranking", "out of memory");
    }
    ranking->blocks = blocks;
    ranking->capacity = capacity;
    return 0;
}

/* Blocks at the right and bottom edges may be cut. */
static struct block describe(
    const struct gpume_field *field, const struct gpume_params *params, uint32_t index)
{
    const struct gpume_layer *layer = field->layers[0];
    const uint32_t x = index % layer->blocks_x * layer->block_w;
    const uint32_t y = index / layer->blocks_x * layer->block_h;
    const uint32_t right = params->width - x, below = params->height - y;
    return (struct block){.frame = field->frame,
        .x = x,
        .y = y,
        .width = right < layer->block_w ? right : layer->block_w,
        .height = below < layer->block_h ? below : layer->block_h,
        .cost = layer->costs[index],
        .vector = layer->vectors[index]};
}

/* Adds the hardest blocks of a field by rank, so that equal costs stay in raster order. */
static int ranking_add(
    struct ranking *ranking, const struct gpume_field *field, const struct gpume_params *params)
{
    const struct gpume_layer *layer = field->layers[0];
    const uint32_t all = layer->blocks_x * layer->blocks_y;
    const uint32_t taken = all < ranking->wanted ? all : (uint32_t)ranking->wanted;
    if (ranking_reserve(ranking, taken) < 0) {
        return -1;
    }
    for (uint32_t i = 0; i < all; i++) {
        if (layer->ranks[i] < taken) {
            ranking->blocks[ranking->count + layer->ranks[i]] = describe(field, params, i);
        }
    }
    ranking->count += taken;
    return ranking->count < 2 * ranking->wanted + SPARE ? 0 : ranking_shrink(ranking);
}

static int receive_all(gpume *ctx, struct ranking *ranking, const struct gpume_params *params)
{
    int status = GPUME_OK, result = 0;
    while (status == GPUME_OK && result == 0) {
        const struct gpume_field *field = NULL;
        status = gpume_receive(ctx, &field, GPUME_WAIT);
        if (status == GPUME_OK) {
            result = ranking_add(ranking, field, params);
            gpume_field_release(&field);
        }
    }
    if (status == GPUME_EOF) {
        return 0;
    }
    gpume_cancel(ctx);
    /* The sender has reported its own failure before it cancelled. */
    const bool unreported = status != GPUME_OK && status != GPUME_CANCELLED;
    return unreported ? fail("estimating", gpume_status_text(status)) : -1;
}

/* The first frame has been decoded, so its size is known. */
static int estimate(struct video *video, struct ranking *ranking, struct gpume_params *params)
{
    struct sender sender = {.video = video};
    params->width = (uint32_t)video->width;
    params->height = (uint32_t)video->height;
    params->bits = video->bits;
    if (gpume_open(&sender.ctx, params) != GPUME_OK) {
        return -1;
    }
    pthread_t thread;
    const int error = pthread_create(&thread, NULL, send_all, &sender);
    int result = error == 0 ? 0 : fail("a thread", strerror(error));
    if (error == 0) {
        result = receive_all(sender.ctx, ranking, params);
        pthread_join(thread, NULL);
    }
    const int closed = gpume_close(&sender.ctx);
    return result < 0 || sender.failed || closed != GPUME_OK ? -1 : 0;
}

static int print(const struct ranking *ranking)
{
    printf("frame,x,y,w,h,dx,dy,cost,cost_per_pixel\n");
    for (size_t i = 0; i < ranking->count; i++) {
        const struct block *block = &ranking->blocks[i];
        printf("%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%d,%d,%" PRIu32
               ",%.3f\n",
            block->frame, block->x, block->y, block->width, block->height, block->vector.dx,
            block->vector.dy, block->cost,
            (double)block->cost / ((double)block->width * block->height));
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return fail("standard output", "cannot be written");
    }
    return 0;
}

static int run(struct video *video, struct ranking *ranking, struct gpume_params *params)
{
    struct gpume_compute_params compute;
    gpume_compute_params_default(&compute);
    compute.log = print_log;
    if (gpume_compute_open(&ranking->compute, &compute) != GPUME_OK) {
        return -1;
    }
    int result = video_next(video);
    if (result > 0) { /* 0: a video without frames has no blocks */
        result = estimate(video, ranking, params);
    }
    if (result == 0) {
        result = ranking_shrink(ranking);
    }
    if (result == 0) {
        result = print(ranking);
    }
    const int closed = gpume_compute_close(&ranking->compute);
    return result < 0 || closed != GPUME_OK ? -1 : 0;
}

static bool parse(const char *text, unsigned long max, uint32_t *value)
{
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    *value = (uint32_t)number;
    return end != text && *end == '\0' && number <= max;
}

int main(int argc, char **argv)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.log = print_log;
    uint32_t wanted = 20;
    bool usable = argc >= 2 && argc <= 5;
    usable = usable && (argc <= 2 || (parse(argv[2], WANTED_MAX, &wanted) && wanted > 0));
    usable = usable && (argc <= 3 || parse(argv[3], GPUME_BLOCK_MAX, &params.block));
    usable = usable && (argc <= 4 || parse(argv[4], GPUME_WINDOW_MAX, &params.window_x));
    params.window_y = params.window_x;
    if (!usable) {
        fprintf(stderr, "usage: hardest_blocks INPUT [N [BLOCK [WINDOW]]], N from 1 to %d\n",
            WANTED_MAX);
        return 2;
    }
    struct video video = {.program = "hardest_blocks"};
    struct ranking ranking = {.wanted = wanted};
    int result = video_open(&video, argv[1]);
    if (result == 0) {
        result = run(&video, &ranking, &params);
    }
    video_close(&video);
    free(ranking.blocks);
    return result == 0 ? 0 : 1;
}
