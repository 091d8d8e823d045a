/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times the lookahead of src/encode on a generated clip, in the order in which frame types are
 * decided with b-adapt 1: every frame from the one before, from the one before that, and the one
 * between them from both. Prints processor time of all threads per frame.
 * Usage: bench_lookahead [WIDTH HEIGHT [THREADS]]
 */
#include "encode/lookahead.h"
#include "synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FRAMES 60u
#define KEPT 8u

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void stop_at(int status)
{
    if (status != 0) {
        fprintf(stderr, "bench_lookahead: %s\n", gpume_status_text(status));
        exit(1);
    }
}

static void evaluate(struct gpume_lookahead *lookahead, uint64_t frame)
{
    struct gpume_frame_cost cost;
    stop_at(gpume_lookahead_cost(lookahead, frame, frame - 1, frame, &cost));
    stop_at(gpume_lookahead_cost(lookahead, frame, frame - 2, frame, &cost));
    stop_at(gpume_lookahead_cost(lookahead, frame - 1, frame - 2, frame, &cost));
}

int main(int argc, char **argv)
{
    const struct gpume_lookahead_params params = {
        .width = argc > 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1280,
        .height = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 720,
        .bits = 8,
        .distance_max = 4,
        .frames_max = KEPT,
        .weights = true,
        .energies = true,
        .backend = GPUME_BACKEND_CPU,
        .threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1};
    struct gpume_plane plane = synth_plane(params.width, params.height, 8);
    struct gpume_lookahead *lookahead = NULL;
    double put = 0, cost = 0;
    stop_at(plane.data ? GPUME_OK : GPUME_NOMEM);
    stop_at(gpume_lookahead_open(&lookahead, &params));
    for (uint64_t i = 0; i < FRAMES; i++) {
        synth_fill(&plane, SYNTH_GRAIN, (uint32_t)i, 1);
        const double begin = seconds();
        gpume_lookahead_drop(lookahead, i < KEPT ? 0 : i - KEPT + 1);
        stop_at(gpume_lookahead_put(lookahead, &plane));
        const double middle = seconds();
        if (i >= 2) {
            evaluate(lookahead, i);
        }
        cost += seconds() - middle;
        put += middle - begin;
    }
    printf(
        "%ux%u, %u threads: put %.3f ms, three searches and three evaluations %.3f ms per frame\n",
        params.width, params.height, params.threads, put * 1e3 / FRAMES, cost * 1e3 / (FRAMES - 2));
    gpume_lookahead_close(&lookahead);
    free(plane.data);
    return 0;
}
