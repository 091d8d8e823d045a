/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times the analysis of a first pass (src/encode/analysis.h) on frames that lie in memory, so that
 * no decoder takes part. Prints the engine, frames per second, and processor time of all threads
 * per frame.
 *
 *     bench_lookahead [--backend auto|cpu|vulkan] [--encoder x264|x265] [--b-adapt N] [--threads N]
 *                     [--frames N] [--size WxH] [FILE]
 *
 * FILE has luma samples of 8 bits without gaps, as ffmpeg -pix_fmt gray -f rawvideo writes them; of
 * a long one the first frames are taken forwards, backwards, and again. Without a file the frames
 * are generated. Defaults: auto, x264, the encoder's own, all processors, 1000, 1920x1080.
 */
#include "encode/analysis.h"
#include "encode/encoder.h"
#include "synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEMORY_FRAMES 100u

struct job {
    struct gpume_analysis_params params;
    const char *path;
    uint32_t frames;
    struct gpume_plane planes[MEMORY_FRAMES];
    uint32_t plane_count;
};

static _Noreturn void fail(const char *what, const char *which)
{
    fprintf(stderr, "bench_lookahead: %s: %s\n", which, what);
    exit(1);
}

static void stop_at(int status)
{
    if (status != 0) {
        fail(gpume_status_text(status), "the analysis");
    }
}

/* What it did is said at the end, at the level of debugging. */
static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_INFO || strncmp(line, "analysis:", 9) == 0 ||
        strncmp(line, "lookahead:", 10) == 0) {
        fprintf(stderr, "bench_lookahead: %s\n", line);
    }
}

static int take(void *opaque, const struct gpume_decision *decision)
{
    *(uint64_t *)opaque += decision->cost;
    return GPUME_OK;
}

/* --- arguments */

static uint32_t number_of(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

static void set_backend(struct job *job, const char *name)
{
    job->params.lookahead.backend = strcmp(name, "cpu") == 0      ? GPUME_BACKEND_CPU
                                    : strcmp(name, "vulkan") == 0 ? GPUME_BACKEND_VULKAN
                                                                  : GPUME_BACKEND_AUTO;
}

static void set_option(struct job *job, const char *name, const char *value)
{
    struct gpume_lookahead_params *lookahead = &job->params.lookahead;
    if (strcmp(name, "--backend") == 0) {
        set_backend(job, value);
    } else if (strcmp(name, "--encoder") == 0) {
        const struct gpume_encoder *encoder = gpume_encoder_find(value);
        if (!encoder) {
            fail("not an encoder", value);
        }
        gpume_encode_options_default(&job->params.options, encoder);
    } else if (strcmp(name, "--b-adapt") == 0) {
        job->params.options.b_adapt = number_of(value);
    } else if (strcmp(name, "--threads") == 0) {
        lookahead->threads = number_of(value);
    } else if (strcmp(name, "--frames") == 0) {
        job->frames = number_of(value);
    } else if (strcmp(name, "--size") != 0 ||
               sscanf(value, "%ux%u", &lookahead->width, &lookahead->height) != 2) {
        fail("not an option, or not its value", name);
    }
}

static void read_arguments(struct job *job, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            job->path = argv[i];
        } else if (i + 1 < argc) {
            set_option(job, argv[i], argv[i + 1]);
            i++;
        }
    }
    job->params.options.bits = 8;
    stop_at(gpume_encode_options_settle(
        &job->params.options, 25, 1, &(struct gpume_log){.fn = on_log}));
}

/* --- frames */

static bool read_plane(FILE *file, const struct gpume_plane *plane)
{
    for (uint32_t y = 0; y < plane->height; y++) {
        char *row = (char *)plane->data + y * plane->stride;
        if (fread(row, 1, plane->width, file) != plane->width) {
            return false;
        }
    }
    return true;
}

static void fill(struct job *job)
{
    FILE *file = job->path ? fopen(job->path, "rb") : NULL;
    if (job->path && !file) {
        fail("cannot be opened", job->path);
    }
    for (uint32_t i = 0; i < MEMORY_FRAMES && i < job->frames; i++) {
        struct gpume_plane *plane = &job->planes[i];
        *plane = synth_plane(job->params.lookahead.width, job->params.lookahead.height, 8);
        stop_at(plane->data ? GPUME_OK : GPUME_NOMEM);
        if (!file) {
            synth_fill(plane, SYNTH_GRAIN, i, 1);
        } else if (!read_plane(file, plane)) {
            free(plane->data);
            break;
        }
        job->plane_count++;
    }
    if (file) {
        (void)fclose(file);
    }
    if (job->plane_count == 0) {
        fail("has no frame of this size", job->path ? job->path : "--frames");
    }
}

/* 0, 1, ..., n - 1, n - 2, ..., 1, 0, 1, ... */
static const struct gpume_plane *plane_at(const struct job *job, uint32_t frame)
{
    const uint32_t last = job->plane_count - 1;
    const uint32_t place = last > 0 ? frame % (2 * last) : 0;
    return &job->planes[place <= last ? place : 2 * last - place];
}

/* --- the run */

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void run(struct job *job)
{
    struct gpume_analysis *analysis = NULL;
    uint64_t cost = 0;
    job->params.opaque = &cost;
    stop_at(gpume_analysis_open(&analysis, &job->params));
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint32_t i = 0; i < job->frames; i++) {
        stop_at(gpume_analysis_put(analysis, plane_at(job, i)));
    }
    stop_at(gpume_analysis_finish(analysis));
    const double wall_s = seconds(CLOCK_MONOTONIC) - wall;
    const double cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("%s: %ux%u, %u frames, %.1f frames/s, %.3f ms of processor time per frame, cost %llu\n",
        gpume_analysis_engine(analysis), job->params.lookahead.width, job->params.lookahead.height,
        job->frames, job->frames / wall_s, cpu_s * 1e3 / job->frames, (unsigned long long)cost);
    gpume_analysis_close(&analysis);
}

int main(int argc, char **argv)
{
    struct job job = {.frames = 1000,
        .params = {.lookahead = {.width = 1920,
                       .height = 1080,
                       .backend = GPUME_BACKEND_AUTO,
                       .log = on_log},
            .decide = take}};
    gpume_encode_options_default(&job.params.options, gpume_encoders[0]);
    read_arguments(&job, argc, argv);
    fill(&job);
    run(&job);
    for (uint32_t i = 0; i < job.plane_count; i++) {
        free(job.planes[i].data);
    }
    return 0;
}
