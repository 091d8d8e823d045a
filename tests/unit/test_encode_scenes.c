/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes of scene in synthetic videos, whose changes are known. */
#include "encode/scenes.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 256, HEIGHT = 144, PIXELS = WIDTH * HEIGHT };

static uint32_t hash(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t value = x * 0x9e3779b1u ^ y * 0x85ebca77u ^ seed * 0xc2b2ae3du;
    value = (value ^ value >> 15) * 0x2c1b3ca5u;
    return (value ^ value >> 12) >> 8 & 255;
}

/* Random values on a grid of `step` pixels, interpolated. */
static uint32_t noise(uint32_t x, uint32_t y, uint32_t step, uint32_t seed)
{
    const uint32_t gx = x / step, gy = y / step, fx = x % step, fy = y % step;
    const uint32_t top = hash(gx, gy, seed) * (step - fx) + hash(gx + 1, gy, seed) * fx;
    const uint32_t bottom = hash(gx, gy + 1, seed) * (step - fx) + hash(gx + 1, gy + 1, seed) * fx;
    return (top * (step - fy) + bottom * fy) / (step * step);
}

/* A picture of its own for every scene, moving by `speed` pixels per frame. */
static void draw(uint8_t *samples, uint32_t scene, uint32_t frame, uint32_t speed)
{
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            const uint32_t at = x + 1000 + frame * speed;
            const uint32_t value = 5 * noise(at, y, 48, scene) + 2 * noise(at, y, 12, scene + 50) +
                                   noise(at, y, 4, scene + 100);
            samples[y * WIDTH + x] = (uint8_t)(value / 8);
        }
    }
}

/* samples = samples * (of - part) / of + with * part / of; with NULL: black. */
static void mix(uint8_t *samples, const uint8_t *with, uint32_t part, uint32_t of)
{
    for (uint32_t i = 0; i < PIXELS; i++) {
        const uint32_t other = with ? with[i] : 16;
        samples[i] = (uint8_t)((samples[i] * (of - part) + other * part + of / 2) / of);
    }
}

/* Draws one frame of a video. */
typedef void (*draw_fn)(uint8_t *samples, uint32_t frame);

static struct gpume_scene_frame described[128];

static int note(void *opaque, const struct gpume_scene_frame *frame)
{
    (void)opaque;
    described[frame->frame] = *frame;
    return GPUME_OK;
}

/* For free(). */
static struct gpume_change *find(draw_fn draw_frame, uint32_t frames, size_t *count)
{
    static uint8_t samples[PIXELS];
    const struct gpume_plane luma = {samples, WIDTH, WIDTH, HEIGHT, 8};
    const struct gpume_scenes_params params = {
        .lookahead = {.width = WIDTH, .height = HEIGHT, .backend = GPUME_BACKEND_CPU, .threads = 1},
        .take = note,
    };
    struct gpume_scenes *scenes = NULL;
    const struct gpume_changes *changes = NULL;
    REQUIRE(gpume_scenes_open(&scenes, &params) == GPUME_OK);
    for (uint32_t i = 0; i < frames; i++) {
        draw_frame(samples, i);
        REQUIRE(gpume_scenes_put(scenes, &luma) == GPUME_OK);
    }
    REQUIRE(gpume_scenes_finish(scenes, &changes) == GPUME_OK);
    struct gpume_change *copy = calloc(changes->count + 2, sizeof(*copy));
    REQUIRE(copy != NULL);
    *count = 0;
    for (size_t i = 0; copy && i < changes->count; i++) {
        if (changes->items[i].confidence >= 0.5) {
            copy[(*count)++] = changes->items[i];
        }
    }
    gpume_scenes_close(&scenes);
    REQUIRE(scenes == NULL);
    return copy;
}

/* A frame of the video has at most this many frames between its place and the one expected. */
static bool is_near(uint64_t found, uint64_t expected, uint64_t distance)
{
    return found + distance >= expected && found <= expected + distance;
}

static void draw_cuts(uint8_t *samples, uint32_t frame)
{
    draw(samples, frame < 20 ? 1 : frame < 23 ? 2 : 3, frame, frame < 20 ? 0 : 3);
}

static void check_cuts(void)
{
    size_t count;
    struct gpume_change *changes = find(draw_cuts, 40, &count);
    REQUIRE_EQUAL(count, 2);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(changes[i].kind == GPUME_CHANGE_CUT);
        REQUIRE_EQUAL(changes[i].first, i == 0 ? 20 : 23);
        REQUIRE_EQUAL(changes[i].last, changes[i].first);
        REQUIRE(changes[i].confidence > 0.8);
        REQUIRE(gpume_change_scene(&changes[i]) == changes[i].first);
    }
    REQUIRE(described[0].inter_cost == described[0].intra_cost);
    REQUIRE(described[10].inter_cost < described[10].intra_cost / 10); /* still */
    REQUIRE(described[10].temporal == 0);
    REQUIRE(described[20].inter_cost > described[20].intra_cost / 10 * 8);
    REQUIRE(described[20].intra_blocks > described[20].blocks / 2);
    REQUIRE(described[10].spatial > 1 && described[10].luma > 64 && described[10].luma < 192);
    free(changes);
}

/* The first and last frames are part of a scene, too. */
static void draw_short(uint8_t *samples, uint32_t frame)
{
    draw(samples, frame == 0 ? 4 : frame < 12 ? 5 : 6, frame, 1);
}

static void draw_two(uint8_t *samples, uint32_t frame)
{
    draw(samples, 4, frame, 3);
}

static void draw_two_scenes(uint8_t *samples, uint32_t frame)
{
    draw(samples, 4 + frame, frame, 3);
}

/* Two frames alone: a cut only where nearly nothing is left. */
static void check_two(void)
{
    size_t count;
    free(find(draw_two, 2, &count));
    REQUIRE_EQUAL(count, 0);
    free(find(draw_two_scenes, 2, &count));
    REQUIRE_EQUAL(count, 1);
}

static void check_ends(void)
{
    size_t count;
    struct gpume_change *changes = find(draw_short, 13, &count);
    REQUIRE(count == 2 && changes[0].first == 1 && changes[1].first == 12);
    free(changes);
    free(find(draw_short, 0, &count));
    REQUIRE_EQUAL(count, 0);
    free(find(draw_short, 1, &count));
    REQUIRE_EQUAL(count, 0);
}

static void draw_flashes(uint8_t *samples, uint32_t frame)
{
    draw(samples, 7, frame, 2);
    if (frame == 15 || (frame >= 28 && frame < 31)) {
        memset(samples, 235, PIXELS / 8 * 7);
    }
}

static void draw_pan(uint8_t *samples, uint32_t frame)
{
    draw(samples, 8, frame, 22);
}

/* It becomes lighter steadily, and in the middle slightly blurred: as straight as a dissolve, but
 * with nearly all of its detail. */
static void draw_slope(uint8_t *samples, uint32_t frame)
{
    draw(samples, 13, frame, 0);
    const uint32_t contrast = frame >= 16 && frame < 32 ? 47 : 50;
    for (uint32_t i = 0; i < PIXELS; i++) {
        samples[i] = (uint8_t)((samples[i] * contrast + 128 * (50 - contrast)) / 75 + frame);
    }
}

static void check_no_change(void)
{
    size_t count;
    free(find(draw_flashes, 48, &count));
    REQUIRE_EQUAL(count, 0);
    free(find(draw_pan, 48, &count));
    REQUIRE_EQUAL(count, 0);
    free(find(draw_slope, 48, &count));
    REQUIRE_EQUAL(count, 0);
}

/* Frames 20 to 31 are mixed. */
static void draw_dissolve(uint8_t *samples, uint32_t frame)
{
    static uint8_t other[PIXELS];
    draw(samples, 9, frame, 1);
    draw(other, 10, frame, 2);
    const uint32_t part = frame < 20 ? 0 : frame < 32 ? frame - 19 : 13;
    mix(samples, other, part, 13);
}

static void check_dissolve(void)
{
    size_t count;
    struct gpume_change *changes = find(draw_dissolve, 52, &count);
    REQUIRE(count == 1 && changes[0].kind == GPUME_CHANGE_DISSOLVE);
    REQUIRE(is_near(changes[0].first, 20, 2) && is_near(changes[0].last, 31, 2));
    REQUIRE(gpume_change_scene(&changes[0]) == changes[0].last + 1);
    free(changes);
}

/* To black in frames 20 to 34, from black in frames 40 to 54. */
static void draw_fades(uint8_t *samples, uint32_t frame)
{
    draw(samples, frame < 37 ? 11 : 12, frame, 1);
    const uint32_t part = frame < 20   ? 0
                          : frame < 35 ? frame - 19
                          : frame < 40 ? 16
                          : frame < 55 ? 55 - frame
                                       : 0;
    mix(samples, NULL, part, 16);
}

static void check_fades(void)
{
    size_t count;
    struct gpume_change *changes = find(draw_fades, 75, &count);
    REQUIRE_EQUAL(count, 2);
    REQUIRE(changes[0].kind == GPUME_CHANGE_FADE_OUT);
    REQUIRE(is_near(changes[0].first, 20, 2) && is_near(changes[0].last, 34, 2));
    REQUIRE(gpume_change_scene(&changes[0]) == UINT64_MAX);
    REQUIRE(changes[1].kind == GPUME_CHANGE_FADE_IN);
    REQUIRE(is_near(changes[1].first, 40, 2) && is_near(changes[1].last, 54, 2));
    REQUIRE(gpume_change_scene(&changes[1]) == changes[1].first);
    free(changes);
}

static void check_list(void)
{
    struct gpume_changes list = {0};
    const struct gpume_change part = {GPUME_CHANGE_DISSOLVE, 20, 24, 0.5, 1};
    const struct gpume_change whole = {GPUME_CHANGE_DISSOLVE, 19, 30, 0.5, 2};
    const struct gpume_change cut = {GPUME_CHANGE_CUT, 10, 10, 0.5, 1};
    const struct gpume_change late = {GPUME_CHANGE_CUT, 12, 12, 0.9, 2};
    REQUIRE(gpume_changes_add(&list, &part) == GPUME_OK);
    REQUIRE(gpume_changes_add(&list, &whole) == GPUME_OK);
    REQUIRE(gpume_changes_add(&list, &part) == GPUME_OK);
    REQUIRE(list.count == 1 && list.items[0].last == 30);
    REQUIRE(gpume_changes_add(&list, &cut) == GPUME_OK);
    REQUIRE(list.count == 2 && list.items[0].first == 10);
    REQUIRE(gpume_changes_add(&list, &late) == GPUME_OK);
    REQUIRE(list.count == 2 && list.items[0].first == 12);
    for (uint64_t i = 0; i < 200; i++) {
        const struct gpume_change more = {GPUME_CHANGE_CUT, 100 + 10 * i, 100 + 10 * i, 1, 1};
        REQUIRE(gpume_changes_add(&list, &more) == GPUME_OK);
    }
    REQUIRE(list.count == 202 && list.items[201].first == 2090);
    gpume_changes_finish(&list);
    REQUIRE(list.items == NULL && list.count == 0);
}

int main(void)
{
    check_list();
    check_cuts();
    check_ends();
    check_two();
    check_no_change();
    check_dissolve();
    check_fades();
    return harness_verdict();
}
