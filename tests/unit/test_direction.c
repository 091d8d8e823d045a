/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Directions as gpume.h defines them: which fields arrive, in which order and how soon, for every
 * distance and number of frames; that params.check agrees; that searching the future equals
 * searching the past of the reversed clip. With both engines.
 */
#include "gpume/gpume.h"
#include "harness.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static enum gpume_backend backend;

static struct gpume_params params_of(enum gpume_direction direction, uint32_t distance)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = 20;
    params.height = 12;
    params.window_x = params.window_y = 2;
    params.backend = backend;
    params.direction = direction;
    params.ref_distance = distance;
    return params;
}

struct expected {
    uint64_t frame, ref;
};

static bool has_distance(const struct gpume_params *p, uint64_t distance)
{
    for (uint32_t i = 0; i < p->distance_count; i++) {
        if (p->distances[i] == distance) {
            return true;
        }
    }
    return p->distance_count == 0 && p->ref_distance == distance;
}

#define DISTANCE_MAX 6u

/* The header's definition, literally: the fields of `frames` frames numbered from first_frame. */
static uint32_t list_fields(const struct gpume_params *p, uint64_t frames, struct expected *list)
{
    const uint64_t first = p->first_frame, end = first + frames;
    uint32_t count = 0;
    for (uint64_t t = first; t < end; t++) {
        bool wanted =
            t >= p->first_target && (p->target_count == 0 || t - p->first_target < p->target_count);
        for (uint64_t d = 1; wanted && d <= DISTANCE_MAX; d++) {
            if (has_distance(p, d) && p->direction != GPUME_DIRECTION_FUTURE && t >= first + d) {
                list[count++] = (struct expected){t, t - d};
            }
            if (has_distance(p, d) && p->direction != GPUME_DIRECTION_PAST && t + d < end) {
                list[count++] = (struct expected){t, t + d};
            }
        }
    }
    return count;
}

static void take(const struct gpume_field *field, const struct expected *expected)
{
    REQUIRE_EQUAL(field->frame, expected->frame);
    REQUIRE_EQUAL(field->ref, expected->ref);
    REQUIRE_EQUAL(field->time_us, (int64_t)expected->frame * 1000);
    REQUIRE_EQUAL(field->checked, (uint64_t)field->blocks_x * field->blocks_y);
    REQUIRE_EQUAL(field->matched, field->checked);
}

#define FRAMES_MAX 40u
#define FIELDS_MAX (2u * DISTANCE_MAX * (FRAMES_MAX + FURTHER))
#define FURTHER (2 * DISTANCE_MAX)

/* Number of fields that must be available after `frames` frames, if more may follow: the leading
 * ones of the list that need no later frames. */
static uint32_t list_ready(const struct gpume_params *p, uint64_t sent)
{
    struct expected list[FIELDS_MAX];
    uint32_t count = list_fields(p, sent + FURTHER, list), ready = 0;
    uint64_t end = p->first_frame + sent;
    while (ready < count && list[ready].frame < end && list[ready].ref < end) {
        ready++;
    }
    /* With several distances, the fields of a target come together. */
    while (p->distance_count > 1 && ready > 0 && ready < count &&
           list[ready - 1].frame == list[ready].frame) {
        ready--;
    }
    return ready;
}

/* eager: every available field is received before the next frame is sent, else as late as allowed.
 * */
static void check_run(struct gpume_params params, uint32_t frames, bool eager)
{
    struct expected list[FIELDS_MAX];
    uint32_t count = list_fields(&params, frames, list), received = 0, sent = 0;
    struct gpume_plane plane = synth_plane(params.width, params.height, 8);
    const struct gpume_field *field = NULL;
    gpume *ctx = NULL;
    params.check = true;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_OK);
    int status = GPUME_OK;
    while (status != GPUME_EOF && harness_failures == 0) {
        status = GPUME_AGAIN;
        if (sent < frames) {
            synth_fill(&plane, SYNTH_NOISE, sent, 5);
            int64_t time = (int64_t)(params.first_frame + sent) * 1000;
            status = gpume_send_plane(ctx, &plane, time);
            sent += status == GPUME_OK;
        }
        if (sent == frames) {
            REQUIRE_EQUAL(gpume_finish(ctx), GPUME_OK);
        }
        if (status == GPUME_OK && !eager && sent < frames) {
            continue;
        }
        while ((status = gpume_receive(ctx, &field, 0)) == GPUME_OK) {
            REQUIRE(received < count);
            take(field, &list[received < count ? received : 0]);
            received++;
            gpume_field_release(&field);
        }
        REQUIRE(status == GPUME_AGAIN || status == GPUME_EOF);
        if (eager && status == GPUME_AGAIN) {
            REQUIRE_EQUAL(received, list_ready(&params, sent));
        }
    }
    REQUIRE_EQUAL(received, count);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(plane.data);
}

static const enum gpume_direction directions[] = {
    GPUME_DIRECTION_PAST, GPUME_DIRECTION_FUTURE, GPUME_DIRECTION_BOTH};

static void test_counts(void)
{
    static const uint32_t distances[] = {1, 2, 5};
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t j = 0; j < 3; j++) {
            uint32_t distance = distances[j], n = backend == GPUME_BACKEND_CPU ? 1 : distance + 1;
            for (uint32_t frames = 0; frames <= 2 * distance + 3; frames += n) {
                check_run(params_of(directions[i], distance), frames, frames % 2);
            }
            struct gpume_params params = params_of(directions[i], distance);
            params.want_frames = params.want_predicted = true;
            check_run(params, FRAMES_MAX, false);
            check_run(params, FRAMES_MAX, true);
        }
    }
}

/* Several distances, in any order. */
static void test_distances(void)
{
    static const uint32_t lists[][4] = {{2, 1}, {1, 4, 2}, {3, 6, 5}, {6, 1}};
    for (uint32_t i = 0; i < 12; i++) {
        struct gpume_params params = params_of(directions[i % 3], 5);
        memcpy(params.distances, lists[i / 3], sizeof(*lists));
        while (params.distances[params.distance_count] > 0) {
            params.distance_count++;
        }
        params.want_frames = i % 2;
        params.first_frame = 3;
        params.first_target = i % 4 == 1 ? 8 : 0;
        params.target_count = i % 4 > 1 ? 7 : 0;
        check_run(params, i, false);
        check_run(params, FRAMES_MAX, i % 4 < 2);
    }
}

/* With params.first_target and target_count: before the first frame, within the clip, after the
 * last. */
static void test_targets(void)
{
    static const uint64_t ranges[][2] = {
        {0, 4}, {7, 0}, {9, 1}, {12, 6}, {31, 0}, {500, 3}, {20, UINT64_MAX}, {0, 26}};
    const uint32_t first = backend == GPUME_BACKEND_CPU ? 0 : 2; /* engines do not see the range */
    for (uint32_t i = first; i < 3; i++) {
        for (uint32_t j = 0; j < sizeof(ranges) / sizeof(*ranges); j++) {
            struct gpume_params params = params_of(directions[i], 3);
            params.first_frame = 6;
            params.first_target = ranges[j][0];
            params.target_count = ranges[j][1];
            params.want_frames = j % 2;
            check_run(params, 30, j % 3 == 0);
        }
    }
}

/* The limit of the distance. */
static void test_refusal(void)
{
    struct gpume_params params = params_of((enum gpume_direction)4, 1);
    gpume *ctx = NULL;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_INVALID);
    REQUIRE(!ctx);
}

/* All of a field but its frame numbers. */
struct kept {
    struct gpume_vector vectors[6];
    uint32_t costs[6], ranks[6];
    struct gpume_sums sums;
};

#define CLIP 11u

/* Frames 0 to CLIP - 1 of a clip in order or reversed. */
static uint32_t search_clip(const struct gpume_params *params, bool backwards, struct kept *kept)
{
    struct gpume_plane plane = synth_plane(params->width, params->height, 8);
    const struct gpume_field *field = NULL;
    gpume *ctx = NULL;
    uint32_t count = 0, sent = 0;
    int status = gpume_open(&ctx, params);
    while (status == GPUME_OK || status == GPUME_AGAIN) {
        synth_fill(&plane, SYNTH_NOISE, backwards ? CLIP - 1 - sent : sent, 8);
        if (sent < CLIP && gpume_send_plane(ctx, &plane, 0) == GPUME_OK) {
            sent++;
            continue;
        }
        if (sent == CLIP) {
            gpume_finish(ctx);
        }
        status = gpume_receive(ctx, &field, 0);
        if (status == GPUME_OK) {
            memcpy(kept[count].vectors, field->vectors, sizeof(kept->vectors));
            memcpy(kept[count].costs, field->costs, sizeof(kept->costs));
            memcpy(kept[count].ranks, field->ranks, sizeof(kept->ranks));
            kept[count++].sums = field->sums;
            gpume_field_release(&field);
        }
    }
    REQUIRE_EQUAL(status, GPUME_EOF);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    free(plane.data);
    return count;
}

static void test_backwards(uint32_t distance)
{
    static struct kept past[2 * CLIP], future[2 * CLIP], both[2 * CLIP];
    struct gpume_params params = params_of(GPUME_DIRECTION_PAST, distance);
    uint32_t count = CLIP - distance, taken = 0;
    REQUIRE_EQUAL(search_clip(&params, true, past), count);
    params.direction = GPUME_DIRECTION_FUTURE;
    REQUIRE_EQUAL(search_clip(&params, false, future), count);
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE(memcmp(&future[i], &past[count - 1 - i], sizeof(*past)) == 0);
    }
    params.direction = GPUME_DIRECTION_PAST;
    REQUIRE_EQUAL(search_clip(&params, false, past), count);
    params.direction = GPUME_DIRECTION_BOTH;
    REQUIRE_EQUAL(search_clip(&params, false, both), 2 * count);
    for (uint32_t t = 0; t < CLIP; t++) {
        if (t >= distance) {
            REQUIRE(memcmp(&both[taken++], &past[t - distance], sizeof(*past)) == 0);
        }
        if (t < count) {
            REQUIRE(memcmp(&both[taken++], &future[t], sizeof(*past)) == 0);
        }
    }
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
            sender->status = gpume_send(sender->ctx, &frame, i * 1000);
        }
    }
    if (sender->status == GPUME_OK) {
        sender->status = gpume_finish(sender->ctx);
    }
    return NULL;
}

/* One thread sends and only waits for space; another receives and always keeps one field. */
static void test_two_threads(enum gpume_direction direction, bool want_frames)
{
    enum { FRAMES = 150 };
    struct gpume_params params = params_of(direction, 4);
    params.want_frames = want_frames;
    static struct expected list[2 * FRAMES];
    uint32_t expected = list_fields(&params, FRAMES, list), count = 0;
    gpume *ctx = NULL;
    pthread_t thread;
    REQUIRE_EQUAL(gpume_open(&ctx, &params), GPUME_OK);
    struct sender sender = {.ctx = ctx, .frames = FRAMES};
    REQUIRE_EQUAL(pthread_create(&thread, NULL, send_main, &sender), 0);
    const struct gpume_field *held = NULL, *field = NULL;
    while (gpume_receive(ctx, &field, GPUME_WAIT) == GPUME_OK && count < expected) {
        REQUIRE(field->frame == list[count].frame && field->ref == list[count].ref);
        gpume_field_release(&held);
        held = field;
        count++;
    }
    gpume_field_release(&held);
    pthread_join(thread, NULL);
    REQUIRE_EQUAL(sender.status, GPUME_OK);
    REQUIRE_EQUAL(count, expected);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
}

int main(int argc, char **argv)
{
    bool cpu = argc < 2 || strcmp(argv[1], "cpu") == 0;
    backend = cpu ? GPUME_BACKEND_CPU : GPUME_BACKEND_VULKAN;
    if (!cpu) {
        vulkan_probe_or_skip(false);
    }
    test_refusal();
    test_counts();
    test_distances();
    test_targets();
    test_backwards(1);
    test_backwards(3);
    test_two_threads(GPUME_DIRECTION_FUTURE, true);
    test_two_threads(GPUME_DIRECTION_BOTH, false);
    test_two_threads(GPUME_DIRECTION_BOTH, true);
    return harness_verdict();
}
