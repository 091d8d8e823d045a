/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_filter_call cpu|vulkan ORACLE [--validate]: gpume/filter.h gives what gpume-filter(1)
 * defines, as tests/support/filter_oracle.c has it, in all formats and depths, for noise, cuts,
 * changes of light, repeated frames and the largest values; its results come in order, and it
 * refuses what the header says.
 */
#include "gpume/filter.h"

#include "harness.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 8u
#define LEAST 2.52 /* as for an encoder, of every other frame */

static enum gpume_backend backend;
static bool validate;
static const char *oracle;
static char folder[] = "/tmp/gpume-filter-XXXXXX";

enum content { MOVING, GRAY /* chroma is */, EXTREME, STILL, DIRTY /* and --despot */ };

struct filter_case {
    const char *space; /* in Y4M */
    uint32_t width, height, bits, planes, chroma_x, chroma_y;
    enum content content;
    uint32_t radius, window, strength; /* 1/32 */
    int sigma;                         /* 1/100, or -1 */
    bool least;
    uint32_t spatial; /* 1/32 */
};

/* Their samples; planes of a frame one after the other. */
static struct gpume_plane frames[FRAMES][GPUME_FILTER_PLANES];

static uint32_t hash(uint32_t x, uint32_t y, uint32_t seed)
{
    uint64_t state = ((uint64_t)seed << 40 ^ (uint64_t)x << 20 ^ y) * 2654435761u + 88172645463325u;
    (void)harness_random(&state);
    return harness_random(&state) >> 16 & 255u;
}

/* A texture of 8 bits whose cells have 6 samples, in 1/4 of a sample. */
static int texture(int x4, int y4, uint32_t seed)
{
    const uint32_t x = (uint32_t)(x4 + 4000), y = (uint32_t)(y4 + 4000);
    const uint32_t cx = x / 24, cy = y / 24, fx = x % 24, fy = y % 24;
    const uint32_t above = hash(cx, cy, seed) * (24 - fx) + hash(cx + 1, cy, seed) * fx;
    const uint32_t below = hash(cx, cy + 1, seed) * (24 - fx) + hash(cx + 1, cy + 1, seed) * fx;
    return (int)((above * (24 - fy) + below * fy) / 576);
}

/* Frame 3 repeats frame 2, frame 5 begins a scene, frame 6 is darker than its neighbours. */
static uint32_t sample_of(const struct filter_case *c, uint32_t frame, uint32_t plane, uint32_t x,
    uint32_t y, uint64_t *random)
{
    const int peak = (int)(1u << c->bits) - 1, at = c->content == STILL ? 0 : (int)frame;
    const int scale = plane > 0 ? 4 << (c->chroma_x == 1) : 4;
    const uint32_t drawn = harness_random(random);
    if (c->content == EXTREME) { /* a tenth is the opposite of what it is in most frames */
        const bool high = (hash(x, y, plane) > 127) != (drawn % 10 == 0);
        return high ? (uint32_t)peak - drawn / 16 % 2 : drawn / 16 % 2;
    }
    if (c->content == GRAY && plane > 0) {
        return 1u << (c->bits - 1);
    }
    const uint32_t cell = hash(x * (uint32_t)scale / 32, y * (uint32_t)scale / 32, frame + 50);
    if (c->content == DIRTY && cell < 5 && x * (uint32_t)scale / 4 % 8 < 3 + cell % 4) {
        return cell % 2 ? (uint32_t)peak : 0;
    }
    int value = texture((int)x * scale + 7 * at, (int)y * scale - 3 * at,
                    (frame >= 5 && c->content == MOVING ? 3 : 0) + plane)
                << (c->bits - 8);
    if (c->content == DIRTY) { /* nothing there looks like a spot */
        value = value / 2 + (64 << (c->bits - 8));
    }
    value += ((int)(drawn % 33) - 16) * (1 << (c->bits - 8)) / (c->content == DIRTY ? 4 : 1);
    value -= frame == 6 && c->content == MOVING ? 5 << (c->bits - 8) : 0;
    return (uint32_t)(value < 0 ? 0 : value > peak ? peak : value);
}

static void make_frames(const struct filter_case *c)
{
    uint64_t random = 4711;
    for (uint32_t i = 0; i < FRAMES; i++) {
        for (uint32_t p = 0; p < c->planes; p++) {
            struct gpume_plane *plane = &frames[i][p];
            *plane = synth_plane(p > 0 ? (c->width + c->chroma_x) >> c->chroma_x : c->width,
                p > 0 ? (c->height + c->chroma_y) >> c->chroma_y : c->height, c->bits);
            for (uint32_t at = 0; plane->data && at < plane->width * plane->height; at++) {
                const uint32_t x = at % plane->width, y = at / plane->width;
                synth_put(plane, x, y,
                    i == 3 ? synth_sample(&frames[2][p], x, y) : sample_of(c, i, p, x, y, &random));
            }
        }
    }
}

static void free_frames(void)
{
    for (uint32_t i = 0; i < FRAMES * GPUME_FILTER_PLANES; i++) {
        free(frames[i / GPUME_FILTER_PLANES][i % GPUME_FILTER_PLANES].data);
        frames[i / GPUME_FILTER_PLANES][i % GPUME_FILTER_PLANES].data = NULL;
    }
}

static FILE *open_file(const char *name, const char *mode)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void write_clip(const struct filter_case *c)
{
    FILE *file = open_file("clip.y4m", "wb");
    fprintf(file, "YUV4MPEG2 W%u H%u F25:1 Ip A1:1 C%s\n", c->width, c->height, c->space);
    for (uint32_t i = 0; i < FRAMES; i++) {
        fputs("FRAME\n", file);
        for (uint32_t p = 0; p < c->planes; p++) {
            const struct gpume_plane *plane = &frames[i][p];
            for (uint32_t at = 0; at < plane->width * plane->height; at++) {
                const uint32_t value = synth_sample(plane, at % plane->width, at / plane->width);
                fputc((int)(value & 255), file);
                if (c->bits > 8) {
                    fputc((int)(value >> 8), file);
                }
            }
        }
    }
    fclose(file);
}

/* As the command writes them, of the pictures: frames but number 3. */
static void write_vectors(const struct filter_case *c)
{
    gpume *ctx = NULL;
    const struct gpume_field *field;
    struct gpume_prefilter blur = {
        .size = sizeof(blur), .kind = GPUME_PREFILTER_GAUSS, .sigma = 0.6};
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = c->width;
    params.height = c->height;
    params.bits = c->bits;
    params.block = c->content == DIRTY ? 32 : 16;
    params.window_x = params.window_y = c->window;
    params.prefilter = &blur;
    params.subpel = 4;
    params.direction = GPUME_DIRECTION_BOTH;
    params.backend = GPUME_BACKEND_CPU;
    params.distance_count = c->radius;
    for (uint32_t i = 0; i < c->radius; i++) {
        params.distances[i] = i + 1;
    }
    FILE *file = open_file("vectors.csv", "w");
    fputs("frame,ref,x,y,w,h,dx,dy\n", file);
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_OK);
    for (uint32_t i = 0; i <= FRAMES && ctx; i++) {
        REQUIRE_EQUAL(i == FRAMES ? gpume_finish(ctx)
                      : i == 3    ? GPUME_OK
                                  : gpume_send_plane(ctx, &frames[i][0], 0),
            GPUME_OK);
        while (gpume_receive(ctx, &field, 0) == GPUME_OK) {
            for (uint32_t b = 0; b < field->blocks_x * field->blocks_y; b++) {
                fprintf(file, "%d,%d,%u,%u,16,16,%g,%g\n", (int)field->frame, (int)field->ref,
                    b % field->blocks_x * params.block, b / field->blocks_x * params.block,
                    field->vectors[b].dx / 4.0, field->vectors[b].dy / 4.0);
            }
            gpume_field_release(&field);
        }
    }
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    fclose(file);
}

/* What the oracle gives. */
static FILE *ask_oracle(const struct filter_case *c)
{
    char command[400];
    if (c->content == DIRTY) {
        snprintf(command, sizeof(command), "cd %s && '%s' despot clip.y4m vectors.csv >wanted",
            folder, oracle);
        REQUIRE_EQUAL(system(command), 0);
        return open_file("wanted", "rb");
    }
    snprintf(command, sizeof(command),
        "cd %s && '%s' filter clip.y4m vectors.csv %u %u %u %d %u%s >wanted 2>variances", folder,
        oracle, c->radius, c->window, c->strength, c->sigma, c->spatial,
        c->least ? " 252 PbPbPbPb" : "");
    REQUIRE_EQUAL(system(command), 0);
    return open_file("wanted", "rb");
}

static struct gpume_filter_params params_of(const struct filter_case *c)
{
    struct gpume_filter_params params;
    gpume_filter_params_default(&params);
    params.width = c->width;
    params.height = c->height;
    params.bits = c->bits;
    params.plane_count = c->planes;
    params.chroma_x = c->chroma_x;
    params.chroma_y = c->chroma_y;
    params.radius = c->radius;
    params.window_x = params.window_y = c->window;
    params.strength = c->strength / 32.0;
    params.spatial = c->spatial / 32.0;
    params.sigma = c->sigma < 0 ? GPUME_FILTER_MEASURE : c->sigma / 100.0;
    params.despot = c->content == DIRTY;
    params.backend = backend;
    params.validate = validate;
    params.cache_dir = getenv("GPUME_TEST_CACHE");
    return params;
}

/* Counts samples of a result that differ from what the oracle wrote, and from the frame sent. */
static void compare_result(const struct filter_case *c, const struct gpume_filter_result *result,
    FILE *wanted, uint64_t *wrong, uint64_t *changed)
{
    for (uint32_t p = 0; p < c->planes; p++) {
        const struct gpume_plane *plane = &result->planes[p], *sent = &frames[result->frame][p];
        REQUIRE(plane->width == sent->width && plane->height == sent->height);
        REQUIRE_EQUAL(plane->bits, c->bits);
        for (uint32_t at = 0; at < sent->width * sent->height; at++) {
            const uint32_t x = at % sent->width, y = at / sent->width;
            const uint32_t value = synth_sample(plane, x, y);
            const int low = fgetc(wanted), high = fgetc(wanted);
            *wrong += low == EOF || high == EOF || value != (uint32_t)(low | high << 8);
            *changed += value != synth_sample(sent, x, y);
        }
    }
}

/* Receives what is there. Returns the status after the last one. */
static int receive_all(const struct filter_case *c, gpume_filter *filter, FILE *wanted,
    uint32_t *count, uint64_t wrong[2])
{
    struct gpume_filter_result result = {.size = sizeof(result)};
    int status;
    while ((status = gpume_filter_receive(filter, &result)) == GPUME_OK) {
        REQUIRE_EQUAL(result.frame, *count);
        REQUIRE_EQUAL(result.time_us, 1000 * *count + 7);
        REQUIRE_EQUAL(result.repeats, *count == 3);
        REQUIRE(c->sigma < 0 || result.sigma[0] >= c->sigma / 100.0 - 0.05);
        const uint64_t before = wrong[1];
        compare_result(c, &result, wanted, &wrong[0], &wrong[1]);
        REQUIRE_EQUAL(c->content == DIRTY && wrong[1] > before, result.replaced > 0);
        ++*count;
    }
    return status;
}

/* Means are made by the processor where it is asked for, or nothing is to be done. */
static void check_place(const struct filter_case *c, gpume_filter *filter)
{
    struct gpume_filter_info info = {.size = sizeof(info)};
    gpume_filter_get_info(filter, &info);
    REQUIRE_EQUAL(info.means_on_device,
        backend == GPUME_BACKEND_VULKAN && (c->strength > 0 || c->spatial > 0));
}

/* eager: receives after each frame, else when none can be sent. */
static void run_case(const struct filter_case *c, bool eager)
{
    gpume_filter *filter = NULL;
    const struct gpume_filter_params params = params_of(c);
    uint32_t count = 0;
    uint64_t wrong[2] = {0};
    make_frames(c);
    write_clip(c);
    write_vectors(c);
    FILE *wanted = ask_oracle(c);
    REQUIRE_EQUAL(gpume_filter_open(&filter, &params), GPUME_OK);
    for (uint32_t i = 0; i < FRAMES && filter; i++) {
        struct gpume_filter_frame frame = {.size = sizeof(frame), .time_us = 1000 * i + 7};
        int status;
        frame.least_sigma = c->least && i % 2 == 0 ? LEAST : 0;
        memcpy(frame.planes, frames[i], sizeof(frame.planes));
        while ((status = gpume_filter_send(filter, &frame)) == GPUME_AGAIN) {
            REQUIRE_EQUAL(receive_all(c, filter, wanted, &count, wrong), GPUME_AGAIN);
        }
        REQUIRE_EQUAL(status, GPUME_OK);
        if (eager) {
            REQUIRE_EQUAL(receive_all(c, filter, wanted, &count, wrong), GPUME_AGAIN);
        }
    }
    if (filter) {
        REQUIRE_EQUAL(gpume_filter_finish(filter), GPUME_OK);
        REQUIRE_EQUAL(receive_all(c, filter, wanted, &count, wrong), GPUME_EOF);
        check_place(c, filter);
        REQUIRE_EQUAL(gpume_filter_close(&filter), GPUME_OK);
    }
    REQUIRE_EQUAL(count, FRAMES);
    REQUIRE_EQUAL(fgetc(wanted), EOF);
    REQUIRE_EQUAL(wrong[0], 0);
    const bool changes = c->strength > 0 || c->spatial > 0 || c->content == DIRTY;
    REQUIRE_EQUAL(changes, wrong[1] > 0);
    if (wrong[0] > 0 || changes != (wrong[1] > 0)) {
        fprintf(stderr, "C%s %ux%u radius %u window %u strength %u sigma %d spatial %u\n", c->space,
            c->width, c->height, c->radius, c->window, c->strength, c->sigma, c->spatial);
    }
    fclose(wanted);
    free_frames();
}

/* --- the noise that is given for pictures whose noise is measured */

/* What the filter takes as the noise of each plane of each frame. given: for every frame; 0: none.
 */
static void note_noise(
    const struct filter_case *c, double given, double noise[FRAMES][GPUME_FILTER_PLANES])
{
    gpume_filter *filter = NULL;
    const struct gpume_filter_params params = params_of(c);
    struct gpume_filter_result result = {.size = sizeof(result)};
    uint32_t count = 0;
    REQUIRE_EQUAL(gpume_filter_open(&filter, &params), GPUME_OK);
    for (uint32_t i = 0; i <= FRAMES; i++) {
        struct gpume_filter_frame frame = {.size = sizeof(frame), .sigma = given};
        memcpy(frame.planes, frames[i % FRAMES], sizeof(frame.planes));
        REQUIRE_EQUAL(
            i < FRAMES ? gpume_filter_send(filter, &frame) : gpume_filter_finish(filter), GPUME_OK);
        while (count < FRAMES && gpume_filter_receive(filter, &result) == GPUME_OK) {
            memcpy(noise[count++], result.sigma, sizeof(result.sigma));
        }
    }
    REQUIRE_EQUAL(count, FRAMES);
    REQUIRE_EQUAL(gpume_filter_close(&filter), GPUME_OK);
}

static void check_given(void)
{
    const struct filter_case c = {"420jpeg", 96, 64, 8, 3, 1, 1, MOVING, 4, 8, 32, -1, false, 0};
    const double given[2] = {0.5, 50};
    double measured[FRAMES][GPUME_FILTER_PLANES], taken[FRAMES][GPUME_FILTER_PLANES];
    uint32_t less = 0, as_given = 0;
    make_frames(&c);
    note_noise(&c, 0, measured);
    for (uint32_t k = 0; k < 2; k++) {
        note_noise(&c, given[k], taken);
        for (uint32_t i = 0; i < FRAMES * GPUME_FILTER_PLANES; i++) {
            const double found = measured[i / GPUME_FILTER_PLANES][i % GPUME_FILTER_PLANES];
            const double is = taken[i / GPUME_FILTER_PLANES][i % GPUME_FILTER_PLANES];
            const double wanted = 8 * found < given[k] ? 8 * found : given[k];
            REQUIRE(is > 0.98 * wanted - 0.02 && is < 1.02 * wanted + 0.02);
            less += wanted < given[k];
            as_given += wanted == given[k];
        }
    }
    REQUIRE(less > 0 && as_given > 0);
    free_frames();
}

/* --- what is refused */

static void check_refusals(void)
{
    const struct filter_case c = {"420jpeg", 32, 32, 8, 3, 1, 1, MOVING, 1, 4, 32, -1, false, 0};
    const struct gpume_filter_params good = params_of(&c);
    struct gpume_filter_params bad[18];
    uint32_t count = 0;
    gpume_filter *filter = NULL;
    for (uint32_t i = 0; i < 18; i++) {
        bad[i] = good;
    }
    bad[count++].width = 0;
    bad[count++].bits = 7;
    bad[count++].bits = 17;
    bad[count++].plane_count = 2;
    bad[count++].chroma_x = 2;
    bad[count++].chroma_y = 2;
    bad[count++].strength = 2.01;
    bad[count++].strength = (double)NAN;
    bad[count++].spatial = 2.01;
    bad[count++].spatial = -0.01;
    bad[count++].sigma = 51;
    bad[count++].sigma = -2;
    bad[count++].radius = 0;
    bad[count++].radius = 5;
    bad[count++].window_x = 129;
    bad[count++].window_y = 0;
    bad[count++].size = 0;
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE_EQUAL(gpume_filter_open(&filter, &bad[i]), GPUME_INVALID);
        REQUIRE(filter == NULL);
    }
    REQUIRE_EQUAL(gpume_filter_open(&filter, NULL), GPUME_INVALID);
    make_frames(&c);
    struct gpume_filter_frame frame = {.size = sizeof(frame)}, other;
    memcpy(frame.planes, frames[0], sizeof(frame.planes));
    REQUIRE_EQUAL(gpume_filter_open(&filter, &good), GPUME_OK);
    other = frame;
    other.planes[2].height = 15;
    REQUIRE_EQUAL(gpume_filter_send(filter, &other), GPUME_INVALID);
    gpume_filter_close(&filter);
    REQUIRE_EQUAL(gpume_filter_open(&filter, &good), GPUME_OK);
    REQUIRE_EQUAL(gpume_filter_send(filter, &frame), GPUME_OK);
    gpume_filter_cancel(filter);
    REQUIRE_EQUAL(gpume_filter_send(filter, &frame), GPUME_CANCELLED);
    REQUIRE_EQUAL(gpume_filter_close(&filter), GPUME_OK);
    REQUIRE_EQUAL(gpume_filter_close(&filter), GPUME_OK);
    free_frames();
}

static const struct filter_case cases[] = {
    {"420jpeg", 75, 53, 8, 3, 1, 1, MOVING, 4, 5, 32, -1, false, 0},
    {"420jpeg", 96, 64, 8, 3, 1, 1, MOVING, 4, 16, 64, 400, true, 0},
    {"422", 66, 35, 8, 3, 1, 0, MOVING, 2, 8, 64, -1, false, 0},
    {"444", 49, 50, 8, 3, 0, 0, MOVING, 3, 6, 32, 800, false, 0},
    {"mono", 64, 48, 8, 1, 1, 1, MOVING, 4, 8, 32, -1, true, 0},
    {"mono16", 65, 33, 16, 1, 1, 1, MOVING, 2, 8, 64, 5000, false, 0},
    {"420p10", 96, 64, 10, 3, 1, 1, MOVING, 4, 8, 32, -1, false, 0},
    {"422p12", 75, 53, 12, 3, 1, 0, MOVING, 2, 4, 64, 400, true, 0},
    {"444p16", 50, 41, 16, 3, 0, 0, MOVING, 1, 8, 32, -1, false, 0},
    {"420p16", 40, 40, 16, 3, 1, 1, EXTREME, 4, 8, 64, 5000, false, 0},
    {"420jpeg", 40, 56, 8, 3, 1, 1, EXTREME, 4, 8, 64, 5000, false, 0},
    {"420jpeg", 64, 64, 8, 3, 1, 1, STILL, 4, 4, 64, -1, false, 0},
    {"420jpeg", 17, 1, 8, 3, 1, 1, MOVING, 2, 3, 64, 1000, false, 0},
    {"420jpeg", 1, 1, 8, 3, 1, 1, MOVING, 4, 2, 64, 2000, false, 0},
    {"420jpeg", 48, 32, 8, 3, 1, 1, MOVING, 4, 4, 0, -1, false, 0},
    {"420jpeg", 95, 73, 8, 3, 1, 1, DIRTY, 1, 8, 0, -1, false, 0},
    {"422p12", 98, 90, 12, 3, 1, 0, DIRTY, 1, 16, 0, -1, false, 0},
    {"420jpeg", 75, 53, 8, 3, 1, 1, MOVING, 4, 5, 32, -1, false, 32},
    {"422", 66, 35, 8, 3, 1, 0, MOVING, 2, 8, 64, 1000, true, 24},
    {"444p16", 50, 41, 16, 3, 0, 0, MOVING, 1, 8, 32, -1, false, 32},
    {"420p10", 160, 140, 10, 3, 1, 1, MOVING, 1, 8, 64, 800, false, 64},
    {"mono9", 33, 67, 9, 1, 1, 1, MOVING, 1, 8, 11, 1234, false, 1},
    {"420p16", 40, 40, 16, 3, 1, 1, EXTREME, 4, 8, 64, 5000, false, 64},
    {"420jpeg", 40, 56, 8, 3, 1, 1, EXTREME, 4, 8, 64, 5000, false, 1},
    {"420jpeg", 17, 1, 8, 3, 1, 1, MOVING, 2, 3, 64, 1000, false, 32},
    {"444", 7, 5, 8, 3, 0, 0, MOVING, 2, 3, 64, 1000, false, 32},
    {"420jpeg", 1, 1, 8, 3, 1, 1, MOVING, 4, 2, 64, 2000, false, 32},
    {"420p12", 48, 32, 12, 3, 1, 1, MOVING, 4, 4, 0, 400, false, 32},
    /* Kernels take tiles of 56x34 samples. Sides of up to 3 are mirrored more than once. */
    {"420jpeg", 113, 69, 8, 3, 1, 1, GRAY, 1, 4, 32, -1, false, 32},
    {"422p16", 112, 34, 16, 3, 1, 0, MOVING, 1, 4, 64, 700, false, 48},
    {"444p14", 3, 57, 14, 3, 0, 0, MOVING, 1, 4, 32, 1000, false, 64},
    {"420p10", 6, 5, 10, 3, 1, 1, EXTREME, 2, 4, 64, 2000, true, 16},
};

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: test_filter_call cpu|vulkan ORACLE [--validate]\n");
        return 2;
    }
    backend = strcmp(argv[1], "vulkan") == 0 ? GPUME_BACKEND_VULKAN : GPUME_BACKEND_CPU;
    oracle = argv[2];
    validate = argc > 3;
    if (backend == GPUME_BACKEND_VULKAN) {
        vulkan_probe_or_skip(validate);
    }
    if (!mkdtemp(folder)) {
        perror(folder);
        return 1;
    }
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (harness_has_case(i) || backend == GPUME_BACKEND_CPU) {
            run_case(&cases[i], i % 2 == 1);
        }
    }
    check_given();
    check_refusals();
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    REQUIRE_EQUAL(system(command), 0);
    return harness_verdict();
}
