/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_engine [WIDTH HEIGHT BITS BLOCK WINDOW [FILE]]: the CPU engine through the public
 * functions, from memory, on 1, 2, 4, ... cores, on all of them, and on all processors of the
 * affinity that it was started with. A run on N confines all threads to N processors: N engine
 * threads, one that sends and one that receives. With N = 1, one core does all the work, including
 * the sender's copying, so the speed-up with two is the true gain of a second core. FILE holds raw
 * luma frames (ffmpeg -pix_fmt gray -f rawvideo, or gray10le etc.); without it, noise is used.
 * Prints frame pairs per second, the best of several rounds, the speed-up, and the processor time
 * per frame pair: the product of the first and the last is the number of cores that the run had,
 * which is smaller if other programs run. Then the total time of the engine's threads in each step,
 * in the round with the least processor time; waiting for a processor counts as part of the step.
 */
#include "base/os.h"
#include "harness.h"
#include "processors.h"
#include "synth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FRAMES 8 /* frames in memory, sent in a cycle: as many as a decoder holds */
#define ROUND_NS 1000000000u
#define ROUNDS 3
#define COUNTS_MAX 13 /* powers of two up to PROCESSORS_MAX, all cores, and all processors */
#define LABEL_MAX 48

struct bench {
    struct gpume_params params;
    struct gpume_plane planes[FRAMES];
    uint32_t plane_count;
};

struct sender {
    const struct bench *bench;
    gpume *ctx;
    uint64_t end_ns;
    int status;
};

static void copy(struct gpume_plane *to, const struct gpume_plane *from)
{
    size_t bytes = (size_t)from->width * (from->bits > 8 ? 2 : 1);
    for (uint32_t y = 0; y < from->height; y++) {
        memcpy((uint8_t *)to->data + (ptrdiff_t)y * to->stride,
            (const uint8_t *)from->data + (ptrdiff_t)y * from->stride, bytes);
    }
}

static void *send_main(void *opaque)
{
    struct sender *sender = opaque;
    gpume_frame *frame = NULL;
    struct gpume_plane plane;
    for (uint32_t i = 0; sender->status == GPUME_OK && gpume_clock_ns() < sender->end_ns; i++) {
        sender->status = gpume_frame_acquire(sender->ctx, &frame, &plane, GPUME_WAIT);
        if (sender->status == GPUME_OK) {
            copy(&plane, &sender->bench->planes[i % sender->bench->plane_count]);
            sender->status = gpume_send(sender->ctx, &frame, i);
        }
    }
    gpume_finish(sender->ctx);
    return NULL;
}

struct rate {
    double fields_s,
        cpu_us; /* frame pairs per second; the process's processor time per frame pair */
    double pad_us, search_us, measure_us, rank_us; /* per frame pair, all threads together */
};

static struct rate run_once(
    const struct bench *bench, const struct processors *processors, uint32_t count)
{
    struct gpume_params params = bench->params;
    params.threads = count;
    struct sender sender = {.bench = bench};
    pthread_t thread;
    REQUIRE(processors_confine(processors, count)); /* first: threads inherit it */
    REQUIRE_EQUAL(gpume_open(&sender.ctx, &params), GPUME_OK);
    uint64_t start = gpume_clock_ns(), fields = 0;
    sender.end_ns = start + ROUND_NS;
    REQUIRE_EQUAL(pthread_create(&thread, NULL, send_main, &sender), 0);
    const struct gpume_field *field = NULL;
    clock_t busy = clock();
    while (gpume_receive(sender.ctx, &field, GPUME_WAIT) == GPUME_OK) {
        gpume_field_release(&field);
        fields++;
    }
    double seconds = (double)(gpume_clock_ns() - start) / 1e9;
    busy = clock() - busy;
    pthread_join(thread, NULL);
    struct gpume_stats stats;
    gpume_get_stats(sender.ctx, &stats);
    REQUIRE_EQUAL(sender.status, GPUME_OK);
    REQUIRE_EQUAL(gpume_close(&sender.ctx), GPUME_OK);
    REQUIRE(processors_confine(processors, processors->count));
    double each = (double)(fields ? fields : 1), share = count / each / 1e3; /* of a thread */
    return (struct rate){.fields_s = (double)fields / seconds,
        .cpu_us = (double)busy * 1e6 / CLOCKS_PER_SEC / each,
        .pad_us = (double)gpume_stats_ns(&stats, "upload") * share,
        .search_us = (double)gpume_stats_ns(&stats, "match") * share,
        .measure_us = (double)gpume_stats_ns(&stats, "reduce") * share,
        .rank_us = (double)gpume_stats_ns(&stats, "rank") * share};
}

static uint32_t run_counts(const struct processors *processors, uint32_t counts[COUNTS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 1; i <= processors->count; i++) {
        if ((i & (i - 1)) == 0 || i == processors->cores || i == processors->count) {
            counts[count++] = i;
        }
    }
    return count;
}

/* "2 cores", "16 processors on 8 cores"; "2 processors" if the system does not report cores. */
static const char *label(char text[LABEL_MAX], uint32_t count, uint32_t cores)
{
    const char *unit = cores ? "core" : "processor";
    if (cores && count > cores) {
        snprintf(text, LABEL_MAX, "%u processors on %u core%s", count, cores, cores > 1 ? "s" : "");
    } else {
        snprintf(text, LABEL_MAX, "%u %s%s", count, unit, count > 1 ? "s" : "");
    }
    return text;
}

static void print_rates(const struct gpume_params *p, const struct processors *processors,
    const uint32_t *counts, const struct rate *rates, uint32_t count)
{
    double window = 2.0 * p->window_x + 1, differences = window * window * p->width * p->height;
    for (uint32_t i = 0; i < count; i++) {
        char text[LABEL_MAX];
        printf("%ux%u, %2u bits, block %3u, window %2u, %8s: %8.1f fields/s, %7.1f G px/s, "
               "%5.2f times one %s, processor time of a field %6.0f us, "
               "threads in pad %.0f, search %.0f, measure %.0f, rank %.0f us\n",
            p->width, p->height, p->bits, p->block, p->window_x,
            label(text, counts[i], processors->cores), rates[i].fields_s,
            rates[i].fields_s * differences / 1e9, rates[i].fields_s / rates[0].fields_s,
            processors->cores ? "core" : "processor", rates[i].cpu_us, rates[i].pad_us,
            rates[i].search_us, rates[i].measure_us, rates[i].rank_us);
    }
}

static void run_all(const struct bench *bench)
{
    struct processors processors;
    REQUIRE(processors_find(&processors)); /* 0: not reported */
    uint32_t counts[COUNTS_MAX], count = run_counts(&processors, counts);
    struct rate best[COUNTS_MAX] = {0};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < count;
             i++) { /* alternating, so that the machine's variations affect all */
            struct rate rate = run_once(bench, &processors, counts[i]);
            double most = rate.fields_s > best[i].fields_s ? rate.fields_s : best[i].fields_s;
            best[i] = round == 0 || rate.cpu_us < best[i].cpu_us ? rate : best[i];
            best[i].fields_s = most;
        }
    }
    print_rates(&bench->params, &processors, counts, best, count);
}

static void fill(struct bench *bench, FILE *file)
{
    const struct gpume_params *p = &bench->params;
    while (bench->plane_count < FRAMES) {
        struct gpume_plane *plane = &bench->planes[bench->plane_count];
        *plane = synth_plane(p->width, p->height, p->bits);
        size_t bytes = (size_t)p->width * (p->bits > 8 ? 2 : 1);
        for (uint32_t y = 0; file && y < p->height; y++) {
            void *row = (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
            if (fread(row, 1, bytes, file) != bytes) {
                free(plane->data);
                return;
            }
        }
        if (!file) {
            synth_fill(plane, SYNTH_NOISE, bench->plane_count, 1);
        }
        bench->plane_count++;
    }
}

static int bench_one(const uint32_t numbers[5], const char *path)
{
    static struct bench bench;
    bench.plane_count = 0;
    gpume_params_default(&bench.params);
    bench.params.width = numbers[0];
    bench.params.height = numbers[1];
    bench.params.bits = numbers[2];
    bench.params.block = numbers[3];
    bench.params.window_x = bench.params.window_y = numbers[4];
    bench.params.backend = GPUME_BACKEND_CPU;
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!path || file) {
        fill(&bench, file);
    }
    if (file) {
        fclose(file);
    }
    if (bench.plane_count < 2) {
        fprintf(stderr, "%s: not two frames\n", path ? path : "noise");
        return 1;
    }
    run_all(&bench);
    for (uint32_t i = 0; i < bench.plane_count; i++) {
        free(bench.planes[i].data);
    }
    return harness_failures ? 1 : 0;
}

int main(int argc, char **argv)
{
    static const uint32_t usual[][5] = {{1920, 1080, 8, 8, 7}, {1920, 1080, 10, 8, 7},
        {1920, 1080, 8, 16, 32}, {320, 240, 8, 8, 7}, {65536, 4, 8, 4, 7}};
    uint32_t numbers[5];
    for (int i = 0; i < 5 && argc > 5; i++) {
        numbers[i] = (uint32_t)strtoul(argv[i + 1], NULL, 10);
    }
    if (argc > 5) {
        return bench_one(numbers, argc > 6 ? argv[6] : NULL);
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
        failed |= bench_one(usual[i], NULL);
    }
    return failed;
}
