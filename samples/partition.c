/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partition: divides every frame of a video into blocks as an encoder would.
 *
 *     partition INPUT [LAMBDA [WINDOW]]
 *
 * Asks gpume for the vectors of squares from 64x64 to 8x8 and of their halves, in quarter pixels,
 * by SATD, with the price of each vector counted from the median of its neighbours. Of each 64x64
 * block it takes the division that costs least: the same questions that an encoder asks, all
 * answered exactly. Prints one row per chosen block,
 *
 *     frame,x,y,w,h,dx,dy,cost,bits
 *
 * x, y, w, h in pixels, dx and dy in quarter pixels; cost is SATD plus LAMBDA (default 8) times
 * bits. A summary of how much of the picture each shape covers follows on standard error. It shows:
 *
 * - the parameters of such a search (choose_search);
 * - how to read a partition: parts of the field name a layer and a block of it (print_field).
 *
 * motion_energy.c explains how sending and receiving nest. Exit status: 0 success, 1 failure, 2
 * wrong usage.
 */
#include "video.h"

#include <stdio.h>
#include <stdlib.h>

#define LARGEST 64u
#define SMALLEST 8u

struct estimator {
    gpume *ctx;
    struct gpume_params params;
    double covered[GPUME_SHAPES_MAX]; /* pixels, by layer */
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "partition: %s: %s\n", what, why);
    return -1;
}

static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "partition: %s\n", line);
    }
}

static void add_shape(struct gpume_params *params, uint32_t width, uint32_t height)
{
    params->shapes[params->shape_count++] = (struct gpume_block_size){width, height};
}

static void choose_search(struct gpume_params *params)
{
    gpume_params_default(params);
    for (uint32_t side = LARGEST; side >= SMALLEST; side /= 2) {
        add_shape(params, side, side);
        if (side > SMALLEST) {
            add_shape(params, side, side / 2);
            add_shape(params, side / 2, side);
        }
    }
    params->partition = true;
    params->window_x = params->window_y = 16;
    params->metric = GPUME_METRIC_SATD;
    params->subpel = 4;
    params->rate = true;
    params->lambda = 8 * 256;
    params->predictor = GPUME_PREDICTOR_MEDIAN;
    params->log = print_log;
}

static int estimator_open(struct estimator *estimator, const struct video *video)
{
    struct gpume_params *params = &estimator->params;
    params->width = (uint32_t)video->width;
    params->height = (uint32_t)video->height;
    params->bits = video->bits;
    return gpume_open(&estimator->ctx, params) == GPUME_OK ? 0 : -1;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void print_part(
    struct estimator *estimator, const struct gpume_field *field, const struct gpume_part *part)
{
    const struct gpume_params *params = &estimator->params;
    const struct gpume_layer *layer = field->layers[part->layer];
    const uint32_t x = part->block % layer->blocks_x * layer->block_w;
    const uint32_t y = part->block / layer->blocks_x * layer->block_h;
    const uint32_t width = smaller(layer->block_w, params->width - x); /* edges cut blocks */
    const uint32_t height = smaller(layer->block_h, params->height - y);
    const struct gpume_vector vector = layer->vectors[part->block];
    printf("%llu,%u,%u,%u,%u,%d,%d,%u,%u\n", (unsigned long long)field->frame, x, y, width, height,
        vector.dx, vector.dy, layer->costs[part->block], layer->bits[part->block]);
    estimator->covered[part->layer] += (double)width * height;
}

/* Receives a field, if there is one, and prints its partition. */
static int receive(struct estimator *estimator)
{
    const struct gpume_field *field = NULL;
    const int status = gpume_receive(estimator->ctx, &field, 0);
    if (status == GPUME_OK) {
        for (uint32_t i = 0; i < field->part_count; i++) {
            print_part(estimator, field, &field->parts[i]);
        }
        gpume_field_release(&field);
    }
    return status;
}

static int estimator_send(struct estimator *estimator, const struct video *video)
{
    if (!estimator->ctx && estimator_open(estimator, video) < 0) {
        return -1;
    }
    gpume_frame *pooled = NULL;
    struct gpume_plane plane;
    int status = gpume_frame_acquire(estimator->ctx, &pooled, &plane, 0);
    while (status == GPUME_AGAIN) {
        status = receive(estimator);
        if (status == GPUME_OK) {
            status = gpume_frame_acquire(estimator->ctx, &pooled, &plane, 0);
        }
    }
    if (status == GPUME_OK) {
        video_fill(video, &plane);
        status = gpume_send(estimator->ctx, &pooled, video_time_us(video));
    }
    return status == GPUME_OK ? 0 : fail("estimating", gpume_status_text(status));
}

static int estimator_drain(struct estimator *estimator)
{
    int status = gpume_finish(estimator->ctx);
    while (status == GPUME_OK) {
        status = receive(estimator);
    }
    return status == GPUME_EOF ? 0 : fail("estimating", gpume_status_text(status));
}

static void print_summary(const struct estimator *estimator)
{
    const struct gpume_params *params = &estimator->params;
    double all = 0;
    for (uint32_t i = 0; i < params->shape_count; i++) {
        all += estimator->covered[i];
    }
    for (uint32_t i = 0; all > 0 && i < params->shape_count; i++) {
        fprintf(stderr, "%ux%u: %.1f %%\n", params->shapes[i].width, params->shapes[i].height,
            100 * estimator->covered[i] / all);
    }
}

static int run(struct video *video, struct estimator *estimator)
{
    printf("frame,x,y,w,h,dx,dy,cost,bits\n");
    int got = video_next(video);
    while (got > 0) {
        const int sent = estimator_send(estimator, video);
        got = sent < 0 ? sent : video_next(video);
    }
    if (got == 0 && estimator->ctx) {
        got = estimator_drain(estimator);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return fail("standard output", "cannot be written");
    }
    print_summary(estimator);
    return got;
}

static bool parse(const char *text, uint32_t most, uint32_t *value)
{
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    *value = (uint32_t)number;
    return end != text && *end == '\0' && number <= most;
}

int main(int argc, char **argv)
{
    struct video video = {.program = "partition"};
    struct estimator estimator = {0};
    choose_search(&estimator.params);
    bool usable = argc >= 2 && argc <= 4;
    if (usable && argc > 2) {
        usable = parse(argv[2], GPUME_LAMBDA_MAX / 256, &estimator.params.lambda);
        estimator.params.lambda *= 256;
    }
    if (usable && argc > 3) {
        usable = parse(argv[3], GPUME_WINDOW_MAX, &estimator.params.window_x);
        estimator.params.window_y = estimator.params.window_x;
    }
    if (!usable) {
        fprintf(stderr, "usage: partition INPUT [LAMBDA [WINDOW]]\n");
        return 2;
    }
    if (gpume_api_version() < GPUME_API_VERSION) {
        fail("libgpume", "older than the version that this program was built for");
        return 1;
    }
    int result = video_open(&video, argv[1]);
    if (result == 0) {
        result = run(&video, &estimator);
    }
    const int closed = gpume_close(&estimator.ctx);
    video_close(&video);
    return result < 0 || closed != GPUME_OK ? 1 : 0;
}
