/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast vector files are written: synthetic fields of 1920x1080 in blocks of 8, through the
 * command's sink, by one, two and four threads. To /dev/null this measures the formatter; to a
 * file, the slower of the formatter and the file system.
 *
 *     bench_vectors [FIELDS [PATH [FORMAT]]]     400 fields, to /dev/null, csv
 *
 * Prints one line for each: the rate, the wall time, and the processor time of all threads.
 */
#include "sinks/sink.h"
#include "vectors/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 1920, HEIGHT = 1080, BLOCK = 8, COLUMNS = WIDTH / BLOCK, ROWS = HEIGHT / BLOCK };
enum { BLOCKS = COLUMNS * ROWS };

static struct gpume_vector vectors[BLOCKS];
static uint32_t costs[BLOCKS], ranks[BLOCKS];

static void tell(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    (void)level;
    fprintf(stderr, "%s\n", line);
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Small vectors, costs of two to four digits, every rank once: typical of animation. */
static void make_up(void)
{
    for (uint32_t i = 0; i < BLOCKS; i++) {
        const uint32_t mix = i * 2654435761u;
        vectors[i].dx = (int16_t)((int32_t)(mix >> 28) - 8);
        vectors[i].dy = (int16_t)((int32_t)(mix >> 24 & 15) - 8);
        costs[i] = (mix >> 8 & 1023) * (mix >> 20 & 7);
        ranks[i] = (uint32_t)((uint64_t)i * 12347 % BLOCKS);
    }
}

static int measure(
    const struct gpume_vectors_format *format, uint32_t threads, uint64_t fields, const char *path)
{
    struct gpume_out_set outputs = {.overwrite = true};
    const struct gpume_run_request asked = {0};
    struct gpume_run run = {
        .asked = &asked, .set = &outputs, .format = format, .log = {tell, NULL}};
    const struct gpume_layer layer = {.block_w = BLOCK,
        .block_h = BLOCK,
        .blocks_x = COLUMNS,
        .blocks_y = ROWS,
        .vectors = vectors,
        .costs = costs,
        .ranks = ranks};
    const struct gpume_layer *const layers[] = {&layer};
    struct gpume_field field = {.layer_count = 1, .layers = layers};
    struct gpume_sink *sink = NULL;
    gpume_params_default(&run.params);
    run.params.width = WIDTH;
    run.params.height = HEIGHT;
    run.params.block = BLOCK;
    run.params.threads = 4 * threads; /* processors: the sink takes a quarter of them */
    int status = gpume_sink_open(&sink, gpume_sink_vectors(run.format), path, &run);
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (uint64_t i = 0; i < fields && status == GPUME_OK; i++) {
        field.frame = 100;
        field.ref = 99;
        status = sink->ops->field(sink, &field);
    }
    status = status == GPUME_OK ? sink->ops->finish(sink) : status;
    if (status == GPUME_OK) {
        const double took = seconds(CLOCK_MONOTONIC) - wall;
        const double used = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        printf("%-12s %u threads %8.1f million blocks/s %7.3f ms per field %7.3f ms of CPU per "
               "field\n",
            format->name, threads, (double)fields * BLOCKS / 1e6 / took,
            1e3 * took / (double)fields, 1e3 * used / (double)fields);
    }
    gpume_sink_close(&sink);
    return status;
}

int main(int argc, char **argv)
{
    static const uint32_t threads[] = {1, 2, 4};
    const uint64_t fields = argc > 1 ? strtoull(argv[1], NULL, 10) : 400;
    const struct gpume_vectors_format *format =
        argc > 3 ? gpume_vectors_format_named(argv[3]) : &gpume_vectors_csv;
    int status = format ? GPUME_OK : GPUME_INVALID;
    make_up();
    for (size_t i = 0; i < sizeof threads / sizeof threads[0] && status == GPUME_OK; i++) {
        status = measure(format, threads[i], fields, argc > 2 ? argv[2] : "/dev/null");
    }
    return status != GPUME_OK;
}
