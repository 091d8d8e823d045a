/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * motion_energy: a table of the amount of motion in a video over time.
 *
 *     motion_energy INPUT [BLOCK [WINDOW]]
 *
 * Prints one row per frame from the second on: its time in seconds, the mean of dx^2 + dy^2 over
 * all pixels (each has the vector of its block), and the share of zero vectors. A pan by 4 pixels
 * per frame has an energy of 16; a still scene has 0.
 *
 * This is the pattern for a program that decodes video itself, all on one thread. libav and gpume
 * are both fed at one end and drained at the other, so their loops nest (video.c drives libav;
 * hardest_blocks.c uses two threads instead):
 *
 *     while libav gives a frame               video_next, in video.c
 *         while gpume's pool is empty         gpume_frame_acquire returns GPUME_AGAIN
 *             receive a field                 gpume_receive
 *         fill the frame, send it             gpume_send
 *     gpume_finish, then receive the rest     gpume_receive until GPUME_EOF
 *
 * Two things are worth copying from it:
 *
 * - gpume_frame_acquire returns memory that the engine reads directly, so the decoder's luma is
 *   copied only once, to where the GPU fetches it. (gpume_send_plane would copy it a second time.)
 *   Write each sample once and read none: the memory may be uncached.
 * - Fields are received only when the pool is empty. gpume_receive waits for work under way;
 * calling it after every frame would be correct too, but the engine would have only one frame to
 * work on and would idle while the next one is decoded.
 *
 * Exit status: 0 success, 1 failure, 2 wrong usage.
 */
#include "video.h"

#include <stdio.h>
#include <stdlib.h>

/* The context is opened when the first frame's size is known. */
struct estimator {
    gpume *ctx;
    struct gpume_params params;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "motion_energy: %s: %s\n", what, why);
    return -1;
}

/* The library logs each failure once; its callers need not repeat it. */
static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "motion_energy: %s\n", line);
    }
}

static int estimator_open(struct estimator *estimator, const struct video *video)
{
    struct gpume_params *params = &estimator->params;
    params->width = (uint32_t)video->width;
    params->height = (uint32_t)video->height;
    params->bits = video->bits;
    return gpume_open(&estimator->ctx, params) == GPUME_OK ? 0 : -1;
}

/* Blocks at the right and bottom edges may be cut; only their visible pixels count. */
static double energy(const struct gpume_field *field, const struct gpume_params *params)
{
    const struct gpume_layer *layer = field->layers[0];
    double sum = 0;
    for (uint32_t y = 0; y < layer->blocks_y; y++) {
        const uint32_t below = params->height - y * layer->block_h;
        const uint32_t height = below < layer->block_h ? below : layer->block_h;
        for (uint32_t x = 0; x < layer->blocks_x; x++) {
            const uint32_t right = params->width - x * layer->block_w;
            const uint32_t width = right < layer->block_w ? right : layer->block_w;
            const struct gpume_vector vector = layer->vectors[y * layer->blocks_x + x];
            sum += (double)(vector.dx * vector.dx + vector.dy * vector.dy) * width * height;
        }
    }
    return sum / ((double)params->width * params->height);
}

/* Receives a field, if there is one, and prints its row. */
static int receive(struct estimator *estimator)
{
    const struct gpume_field *field = NULL;
    const int status = gpume_receive(estimator->ctx, &field, 0);
    if (status == GPUME_OK) {
        const double blocks = (double)field->blocks_x * field->blocks_y;
        printf("%.6f,%.4f,%.4f\n", (double)field->time_us / 1e6, energy(field, &estimator->params),
            (double)field->sums.zero / blocks);
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
    while (status == GPUME_AGAIN) { /* not an error: the pool is empty until a field is released */
        status = receive(estimator);
        if (status == GPUME_OK) {
            status = gpume_frame_acquire(estimator->ctx, &pooled, &plane, 0);
        }
    }
    if (status == GPUME_OK) {
        video_fill(video, &plane);
        /* pooled is NULL from here on */
        status = gpume_send(estimator->ctx, &pooled, video_time_us(video));
    }
    return status == GPUME_OK ? 0 : fail("estimating", gpume_status_text(status));
}

/* Receives the remaining fields. */
static int estimator_drain(struct estimator *estimator)
{
    int status = gpume_finish(estimator->ctx);
    while (status == GPUME_OK) {
        status = receive(estimator);
    }
    return status == GPUME_EOF ? 0 : fail("estimating", gpume_status_text(status));
}

static int run(struct video *video, struct estimator *estimator)
{
    printf("time,energy,zero_share\n");
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
    return got;
}

static bool parse(const char *text, uint32_t *value)
{
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    *value = (uint32_t)number;
    return end != text && *end == '\0' && number <= GPUME_WINDOW_MAX;
}

int main(int argc, char **argv)
{
    struct video video = {.program = "motion_energy"};
    struct estimator estimator = {0};
    gpume_params_default(&estimator.params);
    estimator.params.log = print_log;
    bool usable = argc >= 2 && argc <= 4;
    if (usable && argc > 2) {
        usable = parse(argv[2], &estimator.params.block);
    }
    if (usable && argc > 3) {
        usable = parse(argv[3], &estimator.params.window_x);
        estimator.params.window_y = estimator.params.window_x;
    }
    if (!usable) {
        fprintf(stderr, "usage: motion_energy INPUT [BLOCK [WINDOW]]\n");
        return 2;
    }
    /* An older library does not know all that the headers of this program promise. */
    if (gpume_api_version() < GPUME_API_VERSION) {
        fail("libgpume", "older than the version that this program was built for");
        return 1;
    }
    int result = video_open(&video, argv[1]);
    if (result == 0) {
        result = run(&video, &estimator);
    }
    const int closed = gpume_close(&estimator.ctx); /* the first failure of the run, if any */
    video_close(&video);
    return result < 0 || closed != GPUME_OK ? 1 : 0;
}
