/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * benchkernel [BLOCK WINDOW [BITS [SEARCH [CHUNK TILE_X TILE_Y BAND COLUMNS LOCAL]]]]: the time
 * that the match stage, and ranking, takes on the device by its own clock, on 1920x1080 noise, for
 * one shape or a list of them, with the given search and tile, or with those that the engine
 * chooses. A few blocks of every run are checked. --size WIDTHxHEIGHT, as the first option, sets
 * another frame size. --luma FILE, after that, reads consecutive frames of 8-bit luma instead of
 * noise, and uses box sums; the time is then the mean of all submissions but the first two.
 */
#include "base/os.h"
#include "gpu/engine_gpu.h"
#include "harness.h"
#include "synth.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 16u /* submissions of plan.batch frames; the fastest counts */
#define WARM_NS 1000000000u
#define CHECKED 8u /* blocks checked in the first field */

struct bench {
    struct gpume_params params;
    struct gpume_engine_gpu_rules rules;
    struct gpume_log log;
    struct gpume_plan plan;
    void *engine;
    struct gpume_frame *frames; /* plan.pool */
    const char *luma;
};

static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_INFO ||
        strncmp(line, "search", 6) == 0) { /* the choice, and the reason */
        printf("  %s\n", line);
    }
}

static uint32_t clamped(const struct gpume_plane *plane, int64_t x, int64_t y)
{
    x = x < 0 ? 0 : x >= plane->width ? plane->width - 1 : x;
    y = y < 0 ? 0 : y >= plane->height ? plane->height - 1 : y;
    return synth_sample(plane, x, y);
}

/* Of the block at x0, y0 between the first two frames. */
static uint32_t sad(const struct bench *bench, int64_t x0, int64_t y0, int64_t dx, int64_t dy)
{
    const struct gpume_plane *reference = &bench->frames[0].plane;
    const struct gpume_plane *target = &bench->frames[1].plane;
    uint32_t sum = 0, block = bench->params.block;
    for (int64_t y = y0; y < y0 + block && y < target->height; y++) {
        for (int64_t x = x0; x < x0 + block && x < target->width; x++) {
            int64_t d = (int64_t)synth_sample(target, x, y);
            d -= (int64_t)clamped(reference, x + dx, y + dy);
            sum += (uint32_t)(d < 0 ? -d : d);
        }
    }
    return sum;
}

static void check_block(const struct bench *bench, const struct gpume_field *field, uint32_t block)
{
    int64_t x = (int64_t)(block % bench->plan.layers[0].blocks_x) * bench->params.block;
    int64_t y = (int64_t)(block / bench->plan.layers[0].blocks_x) * bench->params.block;
    int64_t window = bench->params.window_x;
    struct gpume_vector best = {0, 0};
    uint32_t least = sad(bench, x, y, 0, 0);
    for (int64_t dy = -window; dy <= window; dy++) {
        for (int64_t dx = -window; dx <= window; dx++) {
            uint32_t cost = sad(bench, x, y, dx, dy);
            if (cost < least) {
                least = cost;
                best = (struct gpume_vector){(int16_t)dx, (int16_t)dy};
            }
        }
    }
    REQUIRE_EQUAL(field->costs[block], least);
    REQUIRE_EQUAL(field->vectors[block].dx, best.dx);
    REQUIRE_EQUAL(field->vectors[block].dy, best.dy);
}

static void check_field(const struct bench *bench, const struct gpume_field *field)
{
    uint64_t random = 20060923;
    for (uint32_t i = 0; i < CHECKED; i++) {
        uint32_t last = bench->plan.blocks - 1;
        check_block(bench, field, i == 0 ? last : harness_random(&random) % last);
    }
}

/* Frame i of the file, which is read forwards and backwards in turn. */
static void read_luma(FILE *file, uint32_t i, const struct gpume_plane *plane)
{
    size_t bytes = (size_t)plane->width * plane->height;
    REQUIRE(fseeko(file, 0, SEEK_END) == 0 && (size_t)ftello(file) >= 2 * bytes);
    uint32_t last = (uint32_t)((size_t)ftello(file) / bytes) - 1;
    uint32_t at = i / last % 2 == 0 ? i % last : last - i % last;
    REQUIRE(fseeko(file, (off_t)(at * bytes), SEEK_SET) == 0);
    uint8_t *row = plane->data;
    for (uint32_t y = 0; y < plane->height; y++, row += plane->stride) {
        REQUIRE(fread(row, 1, plane->width, file) == plane->width);
    }
}

/* Fills every frame of the pool with noise or from the file. */
static void fill_frames(struct bench *bench)
{
    const struct gpume_params *p = &bench->params;
    FILE *file = bench->luma ? fopen(bench->luma, "rb") : NULL;
    REQUIRE(!bench->luma || file);
    bench->frames = calloc(bench->plan.pool, sizeof(*bench->frames));
    for (uint32_t i = 0; i < bench->plan.pool; i++) {
        bench->frames[i].plane = (struct gpume_plane){
            .data = gpume_engine_gpu.frame_memory(bench->engine, i),
            .stride = bench->plan.plane_stride,
            .width = p->width,
            .height = p->height,
            .bits = p->bits,
        };
        bench->frames[i].pool_index = i;
        bench->frames[i].home = bench->engine;
        if (file) {
            read_luma(file, i, &bench->frames[i].plane);
        } else {
            synth_fill(&bench->frames[i].plane, SYNTH_NOISE, i, p->block);
        }
    }
    if (file) {
        fclose(file);
    }
}

/* Submits consecutive frames from `sequence`; returns nanoseconds of the match stage and of
 * ranking. */
static uint64_t submit(
    struct bench *bench, uint64_t sequence, uint32_t count, bool checked, uint64_t *rank_ns)
{
    static struct gpume_field_box boxes[GPUME_BATCH_MAX];
    struct gpume_submission batch = {
        .frame_count = count, .field_count = sequence ? count : count - 1};
    uint64_t first = sequence ? sequence : 1;
    struct gpume_stats before, after;
    for (uint32_t i = 0; i < count; i++) {
        batch.frames[i] = &bench->frames[(sequence + i) % bench->plan.pool];
        batch.frames[i]->sequence = sequence + i;
        batch.fields[i] = &boxes[i];
        boxes[i].task = (struct gpume_task){.target = first + i, .reference = first + i - 1};
    }
    gpume_engine_gpu.get_stats(bench->engine, &before);
    REQUIRE_EQUAL(gpume_engine_gpu.submit(bench->engine, 0, &batch), GPUME_OK);
    REQUIRE_EQUAL(gpume_engine_gpu.collect(bench->engine, 0, &batch), GPUME_OK);
    gpume_engine_gpu.get_stats(bench->engine, &after);
    if (checked) {
        check_field(bench, &boxes[0].field);
    }
    *rank_ns = gpume_stats_ns(&after, "rank") - gpume_stats_ns(&before, "rank");
    return gpume_stats_ns(&after, "match") - gpume_stats_ns(&before, "match");
}

/* Runs until the device has reached its full clock rate, which takes a second. The first submission
 * is checked, the second is never pruned. */
static void warm_up(struct bench *bench, uint64_t *sequence)
{
    uint64_t rank, start = gpume_clock_ns();
    for (uint32_t round = 0; round < 3 || gpume_clock_ns() - start < WARM_NS; round++) {
        submit(bench, *sequence, bench->plan.batch, round == 0, &rank);
        *sequence += bench->plan.batch;
    }
}

static void run(struct bench *bench)
{
    const struct gpume_params *p = &bench->params;
    int status =
        gpume_engine_gpu_open_with(&bench->engine, p, &bench->log, &bench->rules, &bench->plan);
    if (status != GPUME_OK) {
        printf("block %3u window %3u, %2u bits: not by %s\n", p->block, p->window_x, p->bits,
            p->search ? p->search : "any");
        return;
    }
    fill_frames(bench);
    struct gpume_stats before, after;
    uint64_t sequence = 1, best = UINT64_MAX, sum = 0, rank, best_rank = UINT64_MAX;
    submit(bench, 0, 1, false, &rank);
    warm_up(bench, &sequence);
    gpume_engine_gpu.get_stats(bench->engine, &before);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint64_t time = submit(bench, sequence, bench->plan.batch, false, &rank);
        best_rank = rank < best_rank ? rank : best_rank;
        best = time < best ? time : best;
        sum += time;
        sequence += bench->plan.batch;
    }
    gpume_engine_gpu.get_stats(bench->engine, &after);
    double hundredth = (double)(after.candidates - before.candidates) / 100;
    best = bench->luma ? sum / ROUNDS : best;
    struct gpume_info info;
    gpume_engine_gpu.get_info(bench->engine, &info);
    double us = (double)best / 1e3 / bench->plan.batch;
    double pixels = (double)p->width * p->height * (double)bench->plan.candidates;
    printf("block %3u window %3u, %2u bits: %-5s %10.1f us a field, %8.4f T px/s, compared %.2f of "
           "%.2f %%, rank %.1f us%s\n",
        p->block, p->window_x, p->bits, info.search, us, pixels / us / 1e6,
        (double)(after.past_parts - before.past_parts) / hundredth,
        (double)(after.past_blocks - before.past_blocks) / hundredth,
        (double)best_rank / 1e3 / bench->plan.batch, harness_failures ? ", WRONG" : "");
    fflush(stdout);
    free(bench->frames);
    REQUIRE_EQUAL(gpume_engine_gpu.close(&bench->engine), GPUME_OK);
}

static void run_list(struct bench *bench)
{
    static const uint32_t shapes[][3] = {{8, 7, 8}, {16, 7, 8}, {16, 16, 8}, {16, 32, 8},
        {8, 16, 8}, {4, 7, 8}, {12, 7, 8}, {32, 16, 8}, {32, 32, 8}, {32, 64, 8}, {64, 32, 8},
        {8, 7, 10}, {16, 16, 10}, {16, 32, 10}, {8, 7, 16}, {16, 16, 16}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        bench->params.block = shapes[i][0];
        bench->params.window_x = bench->params.window_y = shapes[i][1];
        bench->params.bits = shapes[i][2];
        run(bench);
    }
}

static uint32_t number_at(int argc, char **argv, int index, uint32_t otherwise)
{
    return index < argc ? (uint32_t)strtoul(argv[index], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    struct bench bench = {.log = {.fn = on_log}};
    struct gpume_params *p = &bench.params;
    gpume_params_default(p);
    p->backend = GPUME_BACKEND_VULKAN;
    p->no_elimination = true;
    p->width = 1920;
    p->height = 1080;
    if (argc > 2 && strcmp(argv[1], "--size") == 0) {
        REQUIRE(sscanf(argv[2], "%ux%u", &p->width, &p->height) == 2);
        argc -= 2;
        argv += 2;
    }
    if (argc > 2 && strcmp(argv[1], "--luma") == 0) {
        bench.luma = argv[2];
        p->no_elimination = false;
        argc -= 2;
        argv += 2;
    }
    if (argc < 3) {
        p->search = argc == 2 ? argv[1] : NULL;
        run_list(&bench);
        return harness_verdict();
    }
    p->block = number_at(argc, argv, 1, 8);
    p->window_x = p->window_y = number_at(argc, argv, 2, 7);
    p->bits = number_at(argc, argv, 3, 8);
    p->search = argc > 4 && strcmp(argv[4], "auto") != 0 ? argv[4] : NULL;
    bench.rules.tile = (struct gpume_tile){
        .chunk = number_at(argc, argv, 5, 0),
        .tile_x = number_at(argc, argv, 6, 1),
        .tile_y = number_at(argc, argv, 7, 1),
        .band = number_at(argc, argv, 8, 1),
        .columns = number_at(argc, argv, 9, 2 * p->window_x + 1),
        .local = number_at(argc, argv, 10, 128),
    };
    run(&bench);
    return harness_verdict();
}
