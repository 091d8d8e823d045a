/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_feed [cpu|vulkan [WIDTH HEIGHT BLOCK WINDOW [FILE]]]: frames from the caller's memory
 * through the public functions, on one thread that sends copies (gpume_send_plane) and receives.
 * FILE holds raw 8-bit luma frames, of which 16 are sent in turn; without it, a pan. Prints frame
 * pairs per second, the best of three rounds of a second, for 1, 2, 4, 8 copying threads.
 */
#include "base/os.h"
#include "harness.h"
#include "synth.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES 16u
#define ROUNDS 3
#define ROUND_NS 1000000000u

static struct gpume_plane planes[FRAMES];

static void fill(const struct gpume_params *params, FILE *file)
{
    for (uint32_t i = 0; i < FRAMES; i++) {
        planes[i] = synth_plane(params->width, params->height, 8);
        for (uint32_t y = 0; file && y < params->height; y++) {
            void *row = (uint8_t *)planes[i].data + (ptrdiff_t)y * planes[i].stride;
            REQUIRE_EQUAL(fread(row, 1, params->width, file), params->width);
        }
        if (!file) {
            synth_fill(&planes[i], SYNTH_PAN, i, 1);
        }
    }
}

/* Sends until no more can be sent before a field is received. */
static uint64_t send_some(gpume *ctx, uint64_t sent)
{
    int status;
    while ((status = gpume_send_plane(ctx, &planes[sent % FRAMES], 0)) == GPUME_OK) {
        sent++;
    }
    REQUIRE_EQUAL(status, GPUME_AGAIN);
    return sent;
}

/* Frame pairs per second. */
static double run_once(const struct gpume_params *params)
{
    gpume *ctx = NULL;
    const struct gpume_field *field = NULL;
    REQUIRE_EQUAL(gpume_open(&ctx, params), GPUME_OK);
    uint64_t sent = 0, fields = 0, start = 0, now = 0;
    while (ctx && now - start < ROUND_NS) {
        sent = send_some(ctx, sent);
        REQUIRE_EQUAL(gpume_receive(ctx, &field, GPUME_WAIT), GPUME_OK);
        gpume_field_release(&field);
        now = gpume_clock_ns();
        start = start ? start : now; /* the first field took longer */
        fields += now > start;
    }
    gpume_cancel(ctx);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    return (double)fields * 1e9 / (double)(now - start);
}

int main(int argc, char **argv)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.backend =
        argc > 1 && strcmp(argv[1], "cpu") == 0 ? GPUME_BACKEND_CPU : GPUME_BACKEND_VULKAN;
    params.width = argc > 5 ? (uint32_t)atoi(argv[2]) : 1920;
    params.height = argc > 5 ? (uint32_t)atoi(argv[3]) : 1080;
    params.block = argc > 5 ? (uint32_t)atoi(argv[4]) : 16;
    params.window_x = params.window_y = argc > 5 ? (uint32_t)atoi(argv[5]) : 16;
    FILE *file = argc > 6 ? fopen(argv[6], "rb") : NULL;
    fill(&params, file);
    for (params.threads = 1; params.threads <= 8; params.threads *= 2) {
        double best = 0;
        for (int i = 0; i < ROUNDS; i++) {
            const double rate = run_once(&params);
            best = rate > best ? rate : best;
        }
        printf("%ux%u, block %u, window %u, %u thread%s: %.0f frame pairs/s\n", params.width,
            params.height, params.block, params.window_x, params.threads,
            params.threads > 1 ? "s" : "", best);
    }
    if (file) {
        fclose(file);
    }
    return harness_failures ? 1 : 0;
}
