/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_api cpu|vulkan: calls the public functions as an application does: on one thread and two,
 * waiting and not, with early ends, wrong arguments, fields kept while more are sent, known motion,
 * and params.check.
 */
#include "gpume/gpume.h"
#include "harness.h"
#include "logged.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <float.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static enum gpume_backend backend;

static struct gpume_params params_of(uint32_t width, uint32_t height)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = width;
    params.height = height;
    params.backend = backend;
    params.log = logged_line;
    return params;
}

static gpume *open_context(const struct gpume_params *params)
{
    gpume *ctx = NULL;
    REQUIRE_EQUAL(gpume_open(&ctx, params), GPUME_OK);
    return ctx;
}

/* Programs compiled for an older and for a newer library. */
static void check_sizes(struct gpume_params params)
{
    struct {
        struct gpume_params params;
        uint64_t later;
    } newer = {.params = params};
    gpume *ctx = NULL;
    newer.params.size = sizeof(newer);
    REQUIRE_EQUAL(gpume_open(&ctx, &newer.params), GPUME_OK);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    newer.later = 1;
    logged.errors = 0;
    REQUIRE_EQUAL(gpume_open(&ctx, &newer.params), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(logged.errors, 1);
    params.size = offsetof(struct gpume_params, direction);
    params.direction = (enum gpume_direction)77; /* not known to such a program */
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_OK);
    struct gpume_stats stats = {.size = offsetof(struct gpume_stats, candidates)};
    stats.candidates = 77;
    REQUIRE_EQUAL(gpume_stats_fill(ctx, &stats), GPUME_OK);
    REQUIRE_EQUAL(stats.candidates, 77);
    stats.size = 0;
    REQUIRE_EQUAL(gpume_stats_fill(ctx, &stats), GPUME_INVALID);
    struct gpume_info info = {.size = 0};
    REQUIRE_EQUAL(gpume_info_fill(ctx, &info), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    params.size = 0;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_params_fill(&params), GPUME_INVALID);
}

static void test_arguments(void)
{
    struct gpume_params params = params_of(32, 32);
    gpume *ctx = NULL;
    REQUIRE_EQUAL(gpume_open(NULL, &params), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_open(&ctx, NULL), GPUME_INVALID);
    params.block = 7;
    logged.errors = 0;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_INVALID);
    REQUIRE_EQUAL(logged.errors, 1);
    REQUIRE(!ctx);
    params = params_of(32, 32);
    params.backend = (enum gpume_backend)9;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_INVALID);
    params = params_of(32, 32);
    check_sizes(params);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    REQUIRE_EQUAL(gpume_close(NULL), GPUME_OK);
    REQUIRE_EQUAL(gpume_send(NULL, NULL, 0), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_finish(NULL), GPUME_INVALID);
    gpume_field_release(NULL);
    gpume_frame_release(NULL);
    gpume_cancel(NULL);
    REQUIRE_EQUAL(gpume_api_version(), GPUME_API_VERSION);
    REQUIRE(strlen(gpume_version()) >= 5);
    REQUIRE(strcmp(gpume_status_text(GPUME_NOMEM), "out of memory") == 0);
    REQUIRE(strcmp(gpume_status_text(-1000), "unknown status") == 0);
    REQUIRE(strcmp(gpume_status_text(5), "unknown status") == 0);
    REQUIRE(gpume_psnr(8, 100, 0) > DBL_MAX); /* infinite */
    REQUIRE(fabs(gpume_psnr(8, 65536, 11939858) - 25.526) < 0.0005);
}

/* Every search can be selected by its name, which belongs to one backend; auto takes that backend.
 * */
static void test_searches(void)
{
    struct gpume_search_info searches[32];
    uint32_t count = 0, automatic = 0;
    REQUIRE_EQUAL(gpume_list_searches(NULL, NULL, 0, NULL), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_list_searches(NULL, NULL, 1, &count), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_list_searches("no such device", NULL, 0, &count), GPUME_DEVICE);
    REQUIRE_EQUAL(gpume_list_searches(NULL, NULL, 0, &count), GPUME_OK);
    REQUIRE(count >= 2 && count <= 32);
    REQUIRE_EQUAL(gpume_list_searches(NULL, searches, 32, &count), GPUME_OK);
    for (uint32_t i = 0; i < count; i++) {
        struct gpume_params params = params_of(32, 32);
        bool mine = searches[i].backend == backend;
        params.search = searches[i].name;
        gpume *ctx = NULL;
        logged.errors = 0;
        int expected = searches[i].available ? GPUME_OK : GPUME_UNSUPPORTED;
        REQUIRE_EQUAL(gpume_open(&ctx, &params), mine ? expected : GPUME_INVALID);
        REQUIRE_EQUAL(logged.errors, ctx ? 0 : 1);
        REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
        params.backend = GPUME_BACKEND_AUTO;
        if (mine && searches[i].available) {
            struct gpume_info info = {0};
            REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_OK);
            gpume_get_info(ctx, &info);
            REQUIRE(strcmp(info.search, searches[i].name) == 0);
            REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
        }
        automatic += mine && searches[i].automatic && searches[i].available;
    }
    REQUIRE_EQUAL(automatic, 1);
    struct gpume_params params = params_of(32, 32);
    gpume *ctx = NULL;
    params.search = "no such search";
    logged.errors = 0;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_INVALID);
    REQUIRE_EQUAL(logged.errors, 1);
}

/* One thread receives fields after it has signalled the end, and does not wait for itself. */
static void test_frames_after_end(void)
{
    struct gpume_params params = params_of(32, 32);
    gpume *ctx = open_context(&params);
    gpume_frame *frames[1024];
    struct gpume_plane plane;
    uint32_t count = 0;
    REQUIRE_EQUAL(gpume_finish(ctx), GPUME_OK);
    while (count < 1024 && gpume_frame_acquire(ctx, &frames[count], &plane, 0) == GPUME_OK) {
        count++;
    }
    REQUIRE(count > 0 && count < 1024);
    REQUIRE_EQUAL(gpume_frame_acquire(ctx, &frames[0], &plane, 0), GPUME_AGAIN);
    for (uint32_t i = 0; i < count; i++) {
        gpume_frame_release(&frames[i]);
    }
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
}

static void test_wrong_plane(void)
{
    struct gpume_params params = params_of(32, 32);
    gpume *ctx = open_context(&params);
    struct gpume_plane small = synth_plane(31, 32, 8), deep = synth_plane(32, 32, 10);
    struct gpume_plane wild = synth_plane(32, 31, 8);
    wild.stride = PTRDIFF_MIN; /* its magnitude exceeds PTRDIFF_MAX */
    logged.errors = 0;
    REQUIRE_EQUAL(gpume_send_plane(ctx, &small, 0), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_send_plane(ctx, &deep, 0), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_send_plane(ctx, &wild, 0), GPUME_INVALID);
    REQUIRE_EQUAL(logged.errors, 3);
    const struct gpume_field *field = NULL;
    REQUIRE_EQUAL(gpume_receive(ctx, &field, 0), GPUME_AGAIN);
    REQUIRE_EQUAL(gpume_finish(ctx), GPUME_OK);
    struct gpume_plane late = synth_plane(32, 32, 8);
    REQUIRE_EQUAL(gpume_send_plane(ctx, &late, 0), GPUME_INVALID);
    REQUIRE_EQUAL(logged.errors, 4);
    REQUIRE_EQUAL(gpume_receive(ctx, &field, 0), GPUME_EOF);
    REQUIRE_EQUAL(gpume_receive(ctx, &field, GPUME_WAIT), GPUME_EOF);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    REQUIRE(!ctx);
    free(small.data);
    free(deep.data);
    free(wild.data);
    free(late.data);
}

/* Away from the edges every block must have the known vector, against the motion. */
static void check_pan(const struct gpume_field *field)
{
    for (uint32_t y = 1; y + 1 < field->blocks_y; y++) {
        for (uint32_t x = 1; x + 1 < field->blocks_x; x++) {
            struct gpume_vector v = field->vectors[y * field->blocks_x + x];
            REQUIRE_EQUAL(v.dx, -SYNTH_PAN_X);
            REQUIRE_EQUAL(v.dy, -SYNTH_PAN_Y);
            REQUIRE_EQUAL(field->costs[y * field->blocks_x + x], 0);
        }
    }
}

/* Sends until GPUME_AGAIN, as a single thread does. */
static void test_one_thread(uint32_t bits, uint64_t first)
{
    struct gpume_params params = params_of(70, 60);
    params.bits = bits;
    params.first_frame = first;
    params.check = true;
    gpume *ctx = open_context(&params);
    struct gpume_plane plane = synth_plane(70, 60, bits);
    uint64_t expected = first + 1;
    int status = GPUME_OK;
    for (uint32_t sent = 0; status != GPUME_EOF;) {
        if (sent < 40) {
            synth_fill(&plane, SYNTH_PAN, sent, 7);
            status = gpume_send_plane(ctx, &plane, sent * 1000);
            sent += status == GPUME_OK;
            if (sent == 40) {
                gpume_finish(ctx);
            }
        } else {
            status = GPUME_AGAIN;
        }
        if (status == GPUME_AGAIN) {
            const struct gpume_field *field = NULL;
            status = gpume_receive(ctx, &field, 0);
            if (status == GPUME_OK) {
                REQUIRE_EQUAL(field->frame, expected);
                REQUIRE_EQUAL(field->ref, expected - 1);
                REQUIRE_EQUAL(field->time_us, (int64_t)(expected - first) * 1000);
                REQUIRE_EQUAL(field->checked, 72);
                REQUIRE_EQUAL(field->matched, 72);
                REQUIRE(!field->predicted.data && !field->target.data);
                check_pan(field);
                expected++;
                gpume_field_release(&field);
                REQUIRE(!field);
            }
        }
    }
    REQUIRE_EQUAL(expected, first + 40);
    REQUIRE_EQUAL(gpume_send_plane(ctx, &plane, 0), GPUME_INVALID); /* after the end */
    struct gpume_stats stats;
    gpume_get_stats(ctx, &stats);
    REQUIRE_EQUAL(stats.fields, 39);
    REQUIRE_EQUAL(stats.candidates, 39 * 72 * 225);
    REQUIRE(stats.past_parts <= stats.past_blocks && stats.past_blocks <= stats.candidates);
    struct gpume_info info;
    gpume_get_info(ctx, &info);
    REQUIRE_EQUAL(info.candidates, 225);
    REQUIRE(info.host_bytes > 0 && info.device[0]);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(plane.data);
}

/* Planes so large that several threads may copy them, with rows in either order. */
static void test_large_planes(void)
{
    struct gpume_params params = params_of(700, 500);
    params.block = 16;
    params.want_frames = true;
    params.window_x = params.window_y = 0;
    gpume *ctx = open_context(&params);
    const struct gpume_field *field = NULL;
    struct gpume_plane planes[2], flipped;
    for (uint32_t i = 0; i < 2; i++) {
        planes[i] = synth_plane(700, 500, 8);
        synth_fill(&planes[i], SYNTH_NOISE, i, 7);
    }
    flipped = planes[1];
    flipped.data = (uint8_t *)flipped.data + 499 * flipped.stride;
    flipped.stride = -flipped.stride;
    REQUIRE_EQUAL(gpume_send_plane(ctx, &planes[0], 0), GPUME_OK);
    REQUIRE_EQUAL(gpume_send_plane(ctx, &flipped, 0), GPUME_OK);
    REQUIRE_EQUAL(gpume_receive(ctx, &field, 0), GPUME_OK);
    bool same = true;
    for (uint32_t y = 0; y < 500; y++) {
        for (uint32_t x = 0; x < 700; x++) {
            same = same &&
                   synth_sample(&field->reference, x, y) == synth_sample(&planes[0], x, y) &&
                   synth_sample(&field->target, x, y) == synth_sample(&planes[1], x, 499 - y);
        }
    }
    REQUIRE(same);
    gpume_field_release(&field);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(planes[0].data);
    free(planes[1].data);
}

/* So many candidates per block that every engine with elimination tries it. */
static struct gpume_stats stats_of(enum synth_content content, bool no_elimination)
{
    struct gpume_params params = params_of(96, 80);
    params.block = 16;
    params.window_x = params.window_y = 20;
    params.edge = GPUME_EDGE_INSIDE;
    params.no_elimination = no_elimination;
    gpume *ctx = open_context(&params);
    struct gpume_plane plane = synth_plane(96, 80, 8);
    const struct gpume_field *field = NULL;
    for (uint32_t i = 0; i < 2; i++) {
        synth_fill(&plane, content, i, 7);
        REQUIRE_EQUAL(gpume_send_plane(ctx, &plane, 0), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_receive(ctx, &field, 0), GPUME_OK);
    gpume_field_release(&field);
    struct gpume_stats stats;
    gpume_get_stats(ctx, &stats);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(plane.data);
    return stats;
}

static void test_elimination(void)
{
    struct gpume_stats full = stats_of(SYNTH_PAN, true), pan = stats_of(SYNTH_PAN, false),
                       noise = stats_of(SYNTH_NOISE, false);
    /* Horizontally, six blocks reach 20 pixels or the picture's edge; vertically, five. */
    REQUIRE_EQUAL(full.candidates, (2 * 21 + 2 * 37 + 2 * 41) * (2 * 21 + 2 * 37 + 41));
    REQUIRE_EQUAL(full.past_parts, full.candidates);
    REQUIRE_EQUAL(full.past_blocks, full.candidates);
    REQUIRE_EQUAL(pan.candidates, full.candidates);
    REQUIRE_EQUAL(noise.candidates, full.candidates);
    REQUIRE(pan.past_parts <= pan.past_blocks && pan.past_blocks <= pan.candidates);
    if (pan.past_parts < pan.candidates) { /* an engine that eliminates, on this machine */
        REQUIRE(pan.past_parts < noise.past_parts);
    }
}

/* Searches four frames of noise with params.check. filter: NULL or memory that is freed once the
 * context is open. Returns the context's memory use. */
static uint64_t run_filtered(
    struct gpume_prefilter *filter, double *weights, uint32_t *costs, struct gpume_sums *sums)
{
    struct gpume_params params = params_of(40, 24);
    struct gpume_plane plane = synth_plane(40, 24, 8);
    const struct gpume_field *field = NULL;
    struct gpume_info info;
    params.check = true;
    params.prefilter = filter;
    gpume *ctx = open_context(&params);
    if (filter) {
        memset(weights, 0xFF, 9 * sizeof(*weights));
        memset(filter, 0xFF, sizeof(*filter));
    }
    gpume_get_info(ctx, &info);
    for (uint32_t i = 0; i < 4; i++) {
        synth_fill(&plane, SYNTH_NOISE, i, 3);
        REQUIRE_EQUAL(gpume_send_plane(ctx, &plane, 0), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_finish(ctx), GPUME_OK);
    for (uint32_t i = 0; i < 3; i++) {
        REQUIRE_EQUAL(gpume_receive(ctx, &field, GPUME_WAIT), GPUME_OK);
        REQUIRE_EQUAL(field->checked, 15);
        REQUIRE_EQUAL(field->matched, 15);
        memcpy(costs + 15 * i, field->costs, 15 * sizeof(*costs));
        sums[i] = field->sums;
        gpume_field_release(&field);
    }
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(plane.data);
    return info.host_bytes + info.device_bytes;
}

/* A limit of exactly the planned memory is accepted; with less the context plans less, and logs
 * what it leaves out. */
static void check_memory_max(struct gpume_params params)
{
    gpume *ctx = open_context(&params);
    struct gpume_info info;
    gpume_get_info(ctx, &info);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    params.memory_max = info.host_bytes + info.device_bytes;
    uint32_t refused = 0;
    ctx = open_context(&params);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    for (uint64_t allowed = params.memory_max - 1; allowed > 0; allowed /= 2) {
        struct gpume_params tight = params;
        tight.memory_max = allowed;
        logged.errors = 0;
        int status = gpume_open(&ctx, &tight);
        REQUIRE_EQUAL(logged.errors, status == GPUME_OK ? 0 : 1);
        if (status == GPUME_OK) {
            gpume_get_info(ctx, &info);
            REQUIRE(info.host_bytes + info.device_bytes <= tight.memory_max);
            REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
        } else {
            REQUIRE_EQUAL(status, GPUME_INVALID);
            REQUIRE(!ctx);
            refused++;
        }
    }
    REQUIRE(refused > 0);
}

/* In use by malloc; 0: it does not say. */
static uint64_t allocated(void)
{
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
#endif
#endif
    return 0;
}

/* What is planned is what is allocated: here most of it is the queue, of 64 tasks for each frame.
 */
static void check_allocated(void)
{
    struct gpume_params params;
    struct gpume_info info;
    gpume_params_default(&params);
    params.width = 64;
    params.height = 1;
    params.backend = backend;
    params.direction = GPUME_DIRECTION_BOTH;
    params.confidence = true;
    for (uint32_t i = 0; i < GPUME_DISTANCES_MAX; i++) {
        params.distances[params.distance_count++] = GPUME_DISTANCE_MAX - i;
    }
    const uint64_t before = allocated();
    gpume *ctx = open_context(&params);
    const uint64_t took = allocated() - before;
    gpume_get_info(ctx, &info);
    REQUIRE(took <= info.host_bytes + (1u << 18));
    REQUIRE(took == 0 || info.host_bytes <= took + took / 8);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
}

static int predict_nothing(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    (void)opaque, (void)frame, (void)ref, (void)vectors;
    return GPUME_OK;
}

static void test_memory_max(void)
{
    struct gpume_params params = params_of(80, 48);
    check_memory_max(params);
    if (backend == GPUME_BACKEND_CPU) {
        params.shapes[0] = (struct gpume_block_size){16, 16};
        params.shapes[1] = (struct gpume_block_size){8, 8};
        params.shape_count = 2;
        params.direction = GPUME_DIRECTION_BOTH;
        params.best_reference = params.partition = params.rate = params.confidence = true;
        params.lambda = 1;
        params.predictor = GPUME_PREDICTOR_GIVEN;
        params.predict = predict_nothing;
        check_memory_max(params);
        check_allocated();
    }
}

static void test_prefilter(void)
{
    double mean[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, none[9] = {0};
    uint32_t plain[45], box[45], kernel[45];
    struct gpume_sums plain_sums[3], box_sums[3], kernel_sums[3];
    struct gpume_prefilter filter = {.size = sizeof(struct gpume_prefilter),
        .kind = GPUME_PREFILTER_BOX,
        .width = 3,
        .height = 3};
    uint64_t bytes = run_filtered(NULL, NULL, plain, plain_sums);
    REQUIRE(run_filtered(&filter, mean, box, box_sums) > bytes);
    filter = (struct gpume_prefilter){.size = sizeof(struct gpume_prefilter),
        .kind = GPUME_PREFILTER_KERNEL,
        .width = 3,
        .height = 3,
        .weights = mean};
    for (uint32_t i = 0; i < 9; i++) {
        mean[i] = 0.25;
    }
    run_filtered(&filter, mean, kernel, kernel_sums);
    REQUIRE(memcmp(plain, box, sizeof(plain)) != 0);
    REQUIRE(memcmp(kernel, box, sizeof(box)) == 0); /* two ways to say the same */
    REQUIRE(memcmp(kernel_sums, box_sums, sizeof(box_sums)) == 0);
    for (uint32_t i = 0; i < 3; i++) {
        REQUIRE_EQUAL(box_sums[i].sad_before, plain_sums[i].sad_before);
        REQUIRE_EQUAL(box_sums[i].sse_before, plain_sums[i].sse_before);
        REQUIRE(box_sums[i].sad_after > plain_sums[i].sad_after);
    }
    struct gpume_params params = params_of(40, 24);
    gpume *ctx = NULL;
    filter = (struct gpume_prefilter){.size = sizeof(struct gpume_prefilter),
        .kind = GPUME_PREFILTER_KERNEL,
        .width = 3,
        .height = 3,
        .weights = none};
    params.prefilter = &filter;
    logged.errors = 0;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_INVALID);
    REQUIRE_EQUAL(logged.errors, 1);
}

struct sender {
    gpume *ctx;
    uint32_t frames;
    int status;
};

static void *send_main(void *opaque)
{
    struct sender *sender = opaque;
    for (uint32_t i = 0; i < sender->frames && sender->status == GPUME_OK; i++) {
        gpume_frame *frame = NULL;
        struct gpume_plane plane;
        sender->status = gpume_frame_acquire(sender->ctx, &frame, &plane, GPUME_WAIT);
        if (sender->status == GPUME_OK) {
            synth_fill(&plane, SYNTH_NOISE, i, 3);
            sender->status = gpume_send(sender->ctx, &frame, i);
        }
    }
    if (sender->status == GPUME_OK) {
        sender->status = gpume_finish(sender->ctx);
    }
    return NULL;
}

static void test_two_threads(void)
{
    struct gpume_params params = params_of(48, 48);
    params.ref_distance = 3;
    gpume *ctx = open_context(&params);
    struct sender sender = {.ctx = ctx, .frames = 200};
    pthread_t thread;
    REQUIRE_EQUAL(pthread_create(&thread, NULL, send_main, &sender), 0);
    const struct gpume_field *held = NULL, *field = NULL;
    uint64_t count = 0;
    while (gpume_receive(ctx, &field, GPUME_WAIT) == GPUME_OK) {
        REQUIRE_EQUAL(field->frame, count + 3);
        gpume_field_release(&held); /* the test always holds one field */
        held = field;
        count++;
    }
    gpume_field_release(&held);
    pthread_join(thread, NULL);
    REQUIRE_EQUAL(sender.status, GPUME_OK);
    REQUIRE_EQUAL(count, 197);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
}

#define HOARD_MAX 1000 /* frames: more than any plan keeps at this size */

/* A caller that releases no field gets an error instead of waiting for itself. */
static void test_hoarding(bool want_frames)
{
    struct gpume_params params = params_of(48, 48);
    params.want_frames = want_frames;
    params.ref_distance = want_frames ? 5 : 1;
    gpume *ctx = open_context(&params);
    struct gpume_plane plane = synth_plane(48, 48, 8);
    static const struct gpume_field *held[HOARD_MAX];
    uint32_t count = 0, refusals = 0;
    for (uint32_t sent = 0; sent < HOARD_MAX && refusals < 2;) {
        int status = gpume_send_plane(ctx, &plane, 0);
        sent += status == GPUME_OK;
        if (status == GPUME_AGAIN) {
            status = gpume_receive(ctx, &held[count], 0);
            count += status == GPUME_OK;
            refusals = status == GPUME_AGAIN ? refusals + 1 : 0;
        }
    }
    REQUIRE_EQUAL(refusals, 2);
    REQUIRE(count >= 2);
    gpume_frame *frames[HOARD_MAX] = {0}, *frame = NULL;
    while (count > 0) {
        gpume_field_release(&held[--count]);
    }
    uint32_t acquired = 0;
    struct gpume_plane lent;
    while (acquired < HOARD_MAX && gpume_frame_acquire(ctx, &frame, &lent, 0) == GPUME_OK) {
        frames[acquired++] = frame;
    }
    REQUIRE(acquired < HOARD_MAX);
    while (acquired > 0) {
        gpume_frame_release(&frames[--acquired]);
    }
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(plane.data);
}

/* Wakes a sender that waits for space that no one frees. */
static void test_cancel(void)
{
    struct gpume_params params = params_of(48, 48);
    gpume *ctx = open_context(&params);
    struct sender sender = {.ctx = ctx, .frames = 100000};
    pthread_t thread;
    REQUIRE_EQUAL(pthread_create(&thread, NULL, send_main, &sender), 0);
    const struct gpume_field *field = NULL;
    REQUIRE_EQUAL(gpume_receive(ctx, &field, GPUME_WAIT), GPUME_OK);
    gpume_cancel(ctx);
    pthread_join(thread, NULL);
    REQUIRE_EQUAL(sender.status, GPUME_CANCELLED);
    gpume_field_release(&field);
    REQUIRE_EQUAL(gpume_receive(ctx, &field, GPUME_WAIT), GPUME_CANCELLED);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
}

/* Closes contexts with frames filled, sent and in flight, and opens new ones, many times. */
static void test_close_early(void)
{
    for (uint32_t round = 0; round < 40; round++) {
        struct gpume_params params = params_of(64, 64);
        params.want_predicted = params.want_frames = round % 2;
        gpume *ctx = open_context(&params);
        struct gpume_plane plane;
        gpume_frame *frame = NULL;
        for (uint32_t i = 0; i < round % 6; i++) {
            REQUIRE_EQUAL(gpume_frame_acquire(ctx, &frame, &plane, 0), GPUME_OK);
            synth_fill(&plane, SYNTH_NOISE, i, round);
            REQUIRE_EQUAL(gpume_send(ctx, &frame, 0), GPUME_OK);
        }
        REQUIRE_EQUAL(gpume_frame_acquire(ctx, &frame, &plane, 0), GPUME_OK);
        gpume_frame_release(&frame);
        REQUIRE(!frame);
        REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    }
}

/* The costs themselves are compared with those of the oracle in tests/cli/test_surface.sh. */
static void test_surface(void)
{
    uint8_t samples[6 * 5];
    uint32_t costs[5 * 3];
    struct gpume_params params = params_of(6, 5);
    struct gpume_plane plane = {samples, 6, 6, 5, 8}, other = {samples, 6, 5, 5, 8};
    struct gpume_prefilter filter = {.kind = GPUME_PREFILTER_GAUSS, .sigma = 1};
    const struct gpume_block_size shape = {4, 4};
    params.window_x = 2;
    params.window_y = 1;
    for (size_t i = 0; i < sizeof(samples); i++) {
        samples[i] = (uint8_t)(i % 6);
    }
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &plane, &shape, 0, 0, costs), GPUME_OK);
    REQUIRE(costs[5 + 2] == 0 && costs[2] == 0);   /* no motion; columns are alike */
    REQUIRE(costs[5 + 3] == 16 && costs[0] == 20); /* the edge repeats its samples */
    params.edge = GPUME_EDGE_INSIDE;
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &plane, &shape, 4, 4, costs), GPUME_OK);
    REQUIRE(costs[5 + 2] == 0 && costs[5 + 1] == 2 && costs[5 + 3] == GPUME_NONE);
    REQUIRE(costs[10 + 2] == GPUME_NONE);
    REQUIRE_EQUAL(gpume_surface(NULL, &plane, &plane, &shape, 0, 0, costs), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_surface(&params, &plane, NULL, &shape, 0, 0, costs), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &plane, &shape, 0, 0, NULL), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &other, &shape, 0, 0, costs), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &plane, &shape, 6, 0, costs), GPUME_INVALID);
    const struct gpume_block_size odd = {5, 4};
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &plane, &odd, 0, 0, costs), GPUME_INVALID);
    params.prefilter = &filter;
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &plane, &shape, 0, 0, costs), GPUME_UNSUPPORTED);
    params.prefilter = NULL;
    params.window_x = GPUME_WINDOW_MAX + 1;
    REQUIRE_EQUAL(gpume_params_check(&params), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &plane, &shape, 0, 0, costs), GPUME_INVALID);
    params.window_x = params.window_y = 0;
    params.bits = plane.bits = 40;
    REQUIRE_EQUAL(gpume_params_check(&params), GPUME_INVALID);
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &plane, &shape, 0, 0, costs), GPUME_INVALID);
    params.bits = plane.bits = 12; /* a cost could pass 32 bits, but not in the run's own blocks */
    params.metric = GPUME_METRIC_SSD;
    REQUIRE_EQUAL(gpume_params_check(&params), GPUME_OK);
    const struct gpume_block_size largest = {128, 128};
    REQUIRE_EQUAL(gpume_surface(&params, &plane, &plane, &largest, 0, 0, costs), GPUME_INVALID);
}

int main(int argc, char **argv)
{
    bool cpu = argc < 2 || strcmp(argv[1], "cpu") == 0;
    backend = cpu ? GPUME_BACKEND_CPU : GPUME_BACKEND_VULKAN;
    if (!cpu) {
        vulkan_probe_or_skip(false);
    }
    test_arguments();
    test_searches();
    test_surface();
    test_wrong_plane();
    test_frames_after_end();
    test_memory_max();
    test_one_thread(8, 100);
    test_one_thread(12, (UINT64_C(1) << 31) - 3);
    test_one_thread(8, (UINT64_C(1) << 32) - 3);
    test_one_thread(8, (UINT64_C(1) << 53) + 1);
    test_large_planes();
    test_elimination();
    test_prefilter();
    test_two_threads();
    test_hoarding(false);
    test_hoarding(true);
    test_cancel();
    test_close_early();
    return harness_verdict();
}
