/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clean_frames: the shortest complete use of gpume/filter.h. No files, no video library, one
 * thread.
 *
 * It paints a texture that moves by two pixels from frame to frame, adds noise, and lets the
 * library remove it. The steps, in order:
 *
 *     1. gpume_filter_params_default, then the parameters that differ; width and height have none
 *     2. gpume_filter_open      checks the parameters, chooses the engine, allocates everything
 *     3. gpume_filter_send      once per frame, in order; the planes are copied. GPUME_AGAIN: a
 *                               result has to be received first
 *     4. gpume_filter_finish    no more frames will come
 *     5. gpume_filter_receive   one result per frame, until GPUME_EOF
 *     6. gpume_filter_close     releases everything
 *
 * Output: for each frame its PSNR against the one without noise, before and after. Exit status: 0
 * if all are closer after it, 1 if not, or if the library failed.
 */
#include <gpume/filter.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 176, HEIGHT = 144, FRAMES = 12, NOISE = 12, CELL = 8 };

static uint8_t clean[FRAMES][HEIGHT][WIDTH], noisy[FRAMES][HEIGHT][WIDTH];

/* Each error or warning is one line of text, logged once, possibly from another thread. */
static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "clean_frames: %s\n", line);
    }
}

/* A hash of the position, 0 to 255. */
static int hash(int x, int y)
{
    uint32_t bits = (uint32_t)(x + 1000) * 0x9E3779B1u + (uint32_t)(y + 1000) * 0x85EBCA77u;
    bits = (bits ^ (bits >> 15)) * 0x2C1B3C6Du;
    bits = (bits ^ (bits >> 12)) * 0x297A2D39u;
    return (int)(bits >> 24);
}

/* A smooth texture: hashes of the corners of cells, and what lies between them. */
static int texture(int x, int y)
{
    const int cx = x / CELL, cy = y / CELL, fx = x % CELL, fy = y % CELL;
    const int above = hash(cx, cy) * (CELL - fx) + hash(cx + 1, cy) * fx;
    const int below = hash(cx, cy + 1) * (CELL - fx) + hash(cx + 1, cy + 1) * fx;
    return 32 + (above * (CELL - fy) + below * fy) / (CELL * CELL) * 3 / 4;
}

static void paint(void)
{
    for (int t = 0; t < FRAMES; t++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                const int noise = hash(x + WIDTH * t, y + 7777) % (2 * NOISE + 1) - NOISE;
                clean[t][y][x] = (uint8_t)texture(x + 2 * t, y);
                noisy[t][y][x] = (uint8_t)(clean[t][y][x] + noise);
            }
        }
    }
}

/* The PSNR of a frame's samples against the clean ones. */
static double psnr_of(uint64_t frame, const uint8_t *samples, ptrdiff_t stride)
{
    uint64_t sse = 0;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const int d = samples[y * stride + x] - clean[frame][y][x];
            sse += (uint64_t)(d * d);
        }
    }
    return gpume_psnr(8, WIDTH * HEIGHT, sse);
}

/* Receives one result. 1: it is closer; 0: it is not, or there is none: *status says. */
static int receive(gpume_filter *filter, int *status)
{
    struct gpume_filter_result result = {.size = sizeof result};
    *status = gpume_filter_receive(filter, &result);
    if (*status != GPUME_OK) {
        return 0;
    }
    const double before = psnr_of(result.frame, noisy[result.frame][0], WIDTH);
    const double after = psnr_of(result.frame, result.planes[0].data, result.planes[0].stride);
    printf("frame %2" PRIu64 ": %.2f dB, filtered %.2f dB, noise %.2f, %" PRIu32 " references\n",
        result.frame, before, after, result.sigma[0], result.references);
    return after > before;
}

int main(void)
{
    struct gpume_filter_params params;
    gpume_filter *filter = NULL;
    int closer = 0, status;
    paint();
    gpume_filter_params_default(&params);
    params.width = WIDTH;
    params.height = HEIGHT;
    params.plane_count = 1; /* luma alone */
    params.strength = 2;
    params.log = print_log;
    status = gpume_filter_open(&filter, &params);
    for (int t = 0; t < FRAMES && status == GPUME_OK; t++) {
        const struct gpume_filter_frame frame = {.size = sizeof frame,
            .planes = {
                {.data = noisy[t], .stride = WIDTH, .width = WIDTH, .height = HEIGHT, .bits = 8}}};
        while ((status = gpume_filter_send(filter, &frame)) == GPUME_AGAIN) {
            closer += receive(filter, &status);
        }
    }
    status = status == GPUME_OK ? gpume_filter_finish(filter) : status;
    while (status == GPUME_OK) {
        closer += receive(filter, &status);
    }
    gpume_filter_close(&filter);
    if (status != GPUME_EOF) {
        fprintf(stderr, "clean_frames: %s\n", gpume_status_text(status));
    }
    return status == GPUME_EOF && closer == FRAMES ? EXIT_SUCCESS : EXIT_FAILURE;
}
