/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes of scene in synthetic videos, whose changes are known. */
#include "encode/changes.h"
#include "encode/scenes.h"
#include "encode/thumbnail.h"
#include "harness.h"

#include <stdio.h>
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

/* A different picture for every scene, moving by `speed` pixels per frame. */
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

/* Whether these frames have no change at confidence 0.5. */
static bool has_none(draw_fn draw_frame, uint32_t frames)
{
    size_t count;
    struct gpume_change *changes = find(draw_frame, frames, &count);
    for (size_t i = 0; i < count; i++) {
        fprintf(stderr, "kind %d at %d to %d: %.3f\n", (int)changes[i].kind, (int)changes[i].first,
            (int)changes[i].last, changes[i].confidence);
    }
    free(changes);
    return count == 0;
}

/* A noisy flash right after the first frame: only frames 0 and 4 show that it is one. */
static void draw_early_flash(uint8_t *samples, uint32_t frame)
{
    draw(samples, 7, frame, 0);
    if (frame >= 1 && frame <= 3) {
        draw(samples, 21, frame, 0);
        for (uint32_t i = 0; i < PIXELS; i++) {
            samples[i] = (uint8_t)(samples[i] / 2 + hash(i % WIDTH, i / WIDTH, frame) / 4);
        }
    }
}

/* A still shot whose coding noise changes every ten frames. */
static void draw_key_frames(uint8_t *samples, uint32_t frame)
{
    draw(samples, 22, 0, 0);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            uint8_t *sample = &samples[y * WIDTH + x];
            *sample = (uint8_t)(*sample / 4 + 80 + hash(x / 2, y / 2, frame / 10) / 16);
        }
    }
}

/* A strip of checks appears on a still picture. */
static void draw_text(uint8_t *samples, uint32_t frame)
{
    draw(samples, 23, 0, 0);
    for (uint32_t y = 100; y < 112 && frame >= 20; y++) {
        for (uint32_t x = 30; x < 220; x++) {
            samples[y * WIDTH + x] = hash(x / 4, y / 4, 1) < 128 ? 16 : 235;
        }
    }
}

/* Lines appear on a black terminal, whose other blocks have nothing to predict. */
static void draw_terminal(uint8_t *samples, uint32_t frame)
{
    memset(samples, 16, PIXELS);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 8; x < 150 && y % 12 < 8 && y / 12 < frame / 5; x++) {
            samples[y * WIDTH + x] = hash(x / 2, y / 2, 1) < 100 ? 200 : 16;
        }
    }
}

/* Old film: every picture three times, weaving by 4 pixels, with grain and dirt. */
static void draw_film(uint8_t *samples, uint32_t frame)
{
    const uint32_t drawing = frame / 3;
    draw(samples, 24, drawing % 2, 4);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            uint8_t *sample = &samples[y * WIDTH + x];
            *sample = (uint8_t)(*sample / 2 + 40 + hash(x, y, drawing) / 8);
            if (hash(x / 6, y / 6, drawing + 500) == 0) {
                *sample = 235;
            }
        }
    }
}

static void draw_light(uint8_t *samples, uint32_t frame)
{
    draw(samples, 25, frame, 1);
    for (uint32_t i = 0; i < PIXELS && frame >= 20; i++) {
        samples[i] = (uint8_t)(samples[i] / 2 + 10);
    }
}

/* A dark band as wide as half of the picture crosses it in 20 frames. */
static void draw_crosser(uint8_t *samples, uint32_t frame)
{
    draw(samples, 26, 0, 0);
    for (uint32_t i = 0; i < PIXELS && frame >= 20; i++) {
        const uint32_t left = (frame - 20) * 20, x = i % WIDTH + WIDTH / 2;
        if (x >= left && x < left + WIDTH / 2) {
            samples[i] = (uint8_t)(20 + samples[i] / 16);
        }
    }
}

static void check_false_cuts(void)
{
    REQUIRE(has_none(draw_early_flash, 30));
    REQUIRE(has_none(draw_key_frames, 50));
    REQUIRE(has_none(draw_text, 40));
    REQUIRE(has_none(draw_terminal, 60));
    REQUIRE(has_none(draw_film, 60));
    REQUIRE(has_none(draw_light, 40));
    REQUIRE(has_none(draw_crosser, 70));
}

/* A cut in the dark, where levels differ little. */
static void draw_dark(uint8_t *samples, uint32_t frame)
{
    draw(samples, frame < 20 ? 27 : 28, frame, 1);
    for (uint32_t i = 0; i < PIXELS; i++) {
        samples[i] = (uint8_t)(16 + samples[i] / 3);
    }
}

/* A cut from a flat card to a picture, and to another flat card. */
static void draw_cards(uint8_t *samples, uint32_t frame)
{
    draw(samples, 29, frame, 1);
    if (frame < 15 || frame >= 30) {
        memset(samples, frame < 15 ? 16 : frame < 45 ? 60 : 200, PIXELS);
    }
}

/* A cut that follows repeated frames, into violent motion. */
static void draw_into_motion(uint8_t *samples, uint32_t frame)
{
    draw(samples, frame < 20 ? 30 : 31, frame < 20 ? frame / 2 : frame, frame < 20 ? 2 : 26);
}

static bool has_cuts(
    draw_fn draw_frame, uint32_t frames, const uint64_t *expected, size_t expected_count)
{
    size_t count;
    struct gpume_change *changes = find(draw_frame, frames, &count);
    bool same = count == expected_count;
    for (size_t i = 0; i < count && same; i++) {
        same = changes[i].kind == GPUME_CHANGE_CUT && changes[i].first == expected[i];
    }
    free(changes);
    return same;
}

static void check_hard_cuts(void)
{
    REQUIRE(has_cuts(draw_dark, 40, (const uint64_t[]){20}, 1));
    REQUIRE(has_cuts(draw_cards, 60, (const uint64_t[]){15, 30, 45}, 3));
    REQUIRE(has_cuts(draw_into_motion, 40, (const uint64_t[]){20}, 1));
}

/* The only change: its kind, and its ends within two frames. */
static bool is_only(
    draw_fn draw_frame, uint32_t frames, enum gpume_change_kind kind, uint64_t first, uint64_t last)
{
    size_t count;
    struct gpume_change *changes = find(draw_frame, frames, &count);
    for (size_t i = 0; i < count; i++) {
        fprintf(stderr, "kind %d at %d to %d: %.3f\n", (int)changes[i].kind, (int)changes[i].first,
            (int)changes[i].last, changes[i].confidence);
    }
    const bool same = count == 1 && changes[0].kind == kind &&
                      is_near(changes[0].first, first, 2) && is_near(changes[0].last, last, 2);
    free(changes);
    return same;
}

/* White in frame 20, black in frame 41. */
static void draw_card_out(uint8_t *samples, uint32_t frame)
{
    const uint32_t part = frame < 20 ? 0 : frame < 41 ? frame - 20 : 21;
    memset(samples, (int)(235 - 219 * part / 21), PIXELS);
}

static void draw_card_in(uint8_t *samples, uint32_t frame)
{
    draw_card_out(samples, 61 - frame);
}

/* To black in frames 20 to 34, under a logo and a caption that changes. */
static void draw_under_logo(uint8_t *samples, uint32_t frame)
{
    draw(samples, 32, frame, 1);
    mix(samples, NULL, frame < 20 ? 0 : frame < 35 ? frame - 19 : 16, 16);
    for (uint32_t i = 0; i < PIXELS; i++) {
        const uint32_t x = i % WIDTH, y = i / WIDTH;
        if (x >= 190 && x < 240 && y >= 8 && y < 30) {
            samples[i] = (uint8_t)(x / 8 % 2 == y / 8 % 2 ? 235 : 90);
        }
        if (x >= 20 && x < 140 && y >= 120 && y < 132) {
            samples[i] = hash(x / 4, y / 4, frame / 8) < 128 ? 16 : 235;
        }
    }
}

/* The new scene comes from the right in frames 20 to 44. */
static void draw_wipe(uint8_t *samples, uint32_t frame)
{
    static uint8_t other[PIXELS];
    const uint32_t edge = frame < 20 ? 0 : frame < 45 ? (frame - 19) * WIDTH / 26 : WIDTH;
    draw(samples, 33, frame, 1);
    draw(other, 34, 0, 0);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        memcpy(samples + (y + 1) * WIDTH - edge, other + (y + 1) * WIDTH - edge, edge);
    }
}

static void check_gradual(void)
{
    REQUIRE(is_only(draw_card_out, 62, GPUME_CHANGE_FADE_OUT, 21, 40));
    REQUIRE(is_only(draw_card_in, 62, GPUME_CHANGE_FADE_IN, 21, 40));
    REQUIRE(is_only(draw_under_logo, 60, GPUME_CHANGE_FADE_OUT, 20, 34));
    REQUIRE(is_only(draw_wipe, 70, GPUME_CHANGE_WIPE, 20, 44));
    const struct gpume_change wipe = {.kind = GPUME_CHANGE_WIPE, .first = 20, .last = 44};
    REQUIRE(gpume_change_scene(&wipe) == 45);
}

static void make_drawn(struct gpume_thumbnail *thumbnail, draw_fn draw_frame, uint32_t frame)
{
    static uint8_t samples[PIXELS];
    const struct gpume_plane luma = {samples, WIDTH, WIDTH, HEIGHT, 8};
    draw_frame(samples, frame);
    gpume_thumbnail_make(thumbnail, &luma);
}

static struct gpume_unlike compare_drawn(draw_fn draw_a, uint32_t a, draw_fn draw_b, uint32_t b)
{
    static struct gpume_thumbnail first, second;
    struct gpume_unlike unlike;
    make_drawn(&first, draw_a, a);
    make_drawn(&second, draw_b, b);
    gpume_thumbnail_compare(&unlike, &first, &second, false);
    const struct gpume_unlike still = unlike;
    gpume_thumbnail_compare(&unlike, &first, &second, true);
    REQUIRE(still.residual >= unlike.residual && still.share >= unlike.share);
    return unlike;
}

static void check_unlike(void)
{
    const struct gpume_unlike same = compare_drawn(draw_cuts, 1, draw_cuts, 5);
    REQUIRE(same.plain == 0 && same.residual == 0 && same.share == 0);
    REQUIRE(same.structure < 1e-9);
    /* A pan of 16 pixels is 4 cells: only what enters at one side is not explained. */
    const struct gpume_unlike pan = compare_drawn(draw_pan, 0, draw_pan, 1);
    REQUIRE(pan.plain > 10 && pan.residual < pan.plain / 4 && pan.share < 0.2);
    const struct gpume_unlike cut = compare_drawn(draw_cuts, 19, draw_cuts, 20);
    REQUIRE(cut.plain > 10 && cut.residual > 4 && cut.share > 0.5 && cut.structure > 0.3);
    const struct gpume_unlike light = compare_drawn(draw_light, 19, draw_light, 20);
    REQUIRE(light.plain > 10 && light.structure < 0.05);
    const struct gpume_unlike text = compare_drawn(draw_text, 19, draw_text, 20);
    REQUIRE(text.plain > 5 && text.residual < 3 && text.share < 0.2);
    const struct gpume_unlike cards = compare_drawn(draw_cards, 44, draw_cards, 45);
    REQUIRE(cards.plain > 139 && cards.plain < 141);
    REQUIRE(cards.structure == 1 && cards.share == 1);
    static struct gpume_thumbnail dark, bright, level;
    for (uint32_t i = 0; i < GPUME_THUMBNAIL_CELLS; i++) {
        dark.means[i] = (int16_t)(i % 100 * GPUME_THUMBNAIL_LEVEL);
        bright.means[i] = (int16_t)(dark.means[i] + 50 * GPUME_THUMBNAIL_LEVEL);
    }
    gpume_thumbnail_level(&level, &bright, &dark);
    REQUIRE(gpume_thumbnail_distance(&dark, &bright) == 50);
    REQUIRE(gpume_thumbnail_distance(&dark, &level) == 0);
}

/* The picture of a scene, and from frame 20 on the same, darker, with a light in it. */
static void draw_lamp(uint8_t *samples, uint32_t frame)
{
    draw(samples, 40, 0, 0);
    for (uint32_t i = 0; i < PIXELS && frame >= 20; i++) {
        const int32_t x = (int32_t)(i % WIDTH) - 160, y = (int32_t)(i / WIDTH) - 60;
        const int32_t value = samples[i] / 2 + 150 * 1500 / (1500 + x * x + y * y);
        samples[i] = (uint8_t)(value < 255 ? value : 255);
    }
}

/* A light picture in a sixth of a black frame. */
static void draw_spot(uint8_t *samples, uint32_t frame)
{
    draw(samples, 41, frame, 0);
    for (uint32_t i = 0; i < PIXELS; i++) {
        samples[i] = i % WIDTH < WIDTH / 6 ? samples[i] : 16;
    }
}

static void draw_black(uint8_t *samples, uint32_t frame)
{
    memset(samples, 16 + (int)frame, PIXELS);
}

static double other_of(draw_fn draw_a, uint32_t a, draw_fn draw_b, uint32_t b)
{
    static struct gpume_thumbnail first, second;
    make_drawn(&first, draw_a, a);
    make_drawn(&second, draw_b, b);
    return gpume_thumbnail_other(&first, &second);
}

static void check_other(void)
{
    REQUIRE(other_of(draw_lamp, 0, draw_lamp, 20) == 0);
    REQUIRE(other_of(draw_lamp, 20, draw_lamp, 0) == 0);
    REQUIRE(other_of(draw_cuts, 19, draw_cuts, 20) == 1);
    REQUIRE(other_of(draw_lamp, 20, draw_cuts, 20) == 1);
    REQUIRE(other_of(draw_black, 0, draw_cuts, 20) == 1);
    static struct gpume_thumbnail black, picture, other, mixed;
    make_drawn(&black, draw_black, 0);
    make_drawn(&picture, draw_cuts, 0);
    REQUIRE(gpume_thumbnail_is_even(&black) && !gpume_thumbnail_is_even(&picture));
    make_drawn(&other, draw_cuts, 20);
    for (uint32_t i = 0; i < GPUME_THUMBNAIL_CELLS; i++) {
        mixed.means[i] = (int16_t)((picture.means[i] + 2 * other.means[i]) / 3);
    }
    REQUIRE(gpume_thumbnail_is_mixture(&picture, &mixed, &other));
    REQUIRE(gpume_thumbnail_is_mixture(&other, &mixed, &picture));
    REQUIRE(!gpume_thumbnail_is_mixture(&picture, &other, &mixed));
    REQUIRE(!gpume_thumbnail_is_mixture(&picture, &picture, &other));
    REQUIRE(!gpume_thumbnail_is_mixture(&picture, &other, &other));
    REQUIRE(!gpume_thumbnail_is_mixture(&picture, &picture, &picture));
    make_drawn(&mixed, draw_lamp, 0);
    REQUIRE(!gpume_thumbnail_is_mixture(&picture, &mixed, &other));
    /* Black is not explained by what is black in a picture. */
    draw_fn both[] = {draw_black, draw_spot};
    for (uint32_t i = 0; i < 2; i++) {
        const struct gpume_unlike spot = compare_drawn(both[i], 0, both[1 - i], 0);
        REQUIRE(spot.residual > 5 && spot.share > 0.1);
    }
}

/* New noise in every frame: nothing can be predicted, and nothing changes. */
static void draw_noise(uint8_t *samples, uint32_t frame)
{
    for (uint32_t i = 0; i < PIXELS; i++) {
        samples[i] = (uint8_t)(64 + hash(i % WIDTH, i / WIDTH, frame) / 2);
    }
}

/* A grey card that becomes a little lighter. */
static void draw_faint(uint8_t *samples, uint32_t frame)
{
    memset(samples, (int)(80 + (frame < 20 ? 0 : frame < 32 ? frame - 20 : 12)), PIXELS);
}

static void check_even(void)
{
    REQUIRE(has_none(draw_noise, 40));
    REQUIRE(has_none(draw_faint, 50));
}

/* The score of certain evidence, and that less of any kind of it is less certain. */
static void check_confidence(void)
{
    REQUIRE(gpume_confidence(0) == 0.5);
    REQUIRE(gpume_confidence(-1) + gpume_confidence(1) == 1);
    REQUIRE(gpume_confidence(2) > 0.88 && gpume_confidence(2) < 0.881);
    REQUIRE(gpume_confidence(100) == 0.999 && gpume_confidence(-100) == 0.001);
    for (double score = -8; score < 8; score += 0.25) {
        REQUIRE(gpume_confidence(score) <= gpume_confidence(score + 0.25));
    }
    const struct gpume_difference sure = {
        .unlike = {40, 15, 0.8, 0.7, 0.8}, .cost = 0.95, .changed = 1, .other = 1};
    const struct gpume_usual calm = {
        .plain = 2, .relative = 0.1, .structure = 0.01, .cost = 0.2, .quiet = 1};
    REQUIRE(gpume_cut_confidence(&sure, &calm) > 0.95);
    struct gpume_difference less[] = {sure, sure, sure, sure, sure, sure, sure};
    less[0].unlike.residual = 1;
    less[1].unlike.relative = 0.1;
    less[2].unlike.share = 0.1;
    less[3].unlike.structure = 0.05;
    less[4].cost = 0.2;
    less[5].changed = 0.1;
    less[6].other = 0.5;
    for (size_t i = 0; i < 7; i++) {
        REQUIRE(gpume_cut_confidence(&less[i], &calm) < gpume_cut_confidence(&sure, &calm));
    }
    struct gpume_usual wild = calm;
    wild.quiet = 14; /* nearly as much as at the boundary */
    REQUIRE(gpume_cut_confidence(&sure, &wild) < 0.3);
    struct gpume_difference lowest = sure;
    gpume_difference_lower(&lowest, &less[4]);
    REQUIRE(lowest.cost == 0.2 && lowest.unlike.residual == 15);
}

/* A dissolve hides the cuts in it, unless it is far less certain. */
static void check_covering(void)
{
    struct gpume_changes list = {0};
    const struct gpume_change sure = {GPUME_CHANGE_DISSOLVE, 20, 30, 0.9, 1};
    const struct gpume_change doubtful = {GPUME_CHANGE_WIPE, 50, 60, 0.5, 1};
    REQUIRE(gpume_changes_add(&list, &sure) == GPUME_OK);
    REQUIRE(gpume_changes_add(&list, &doubtful) == GPUME_OK);
    struct gpume_change cut = {GPUME_CHANGE_CUT, 25, 25, 0.95, 1};
    REQUIRE(gpume_changes_cover(&list, &cut));
    cut.first = cut.last = 31;
    REQUIRE(gpume_changes_cover(&list, &cut));
    cut.first = cut.last = 32;
    REQUIRE(!gpume_changes_cover(&list, &cut));
    REQUIRE(list.items[0].confidence == 0.9 && list.items[1].confidence == 0.5);
    cut.first = cut.last = 55;
    REQUIRE(!gpume_changes_cover(&list, &cut));
    REQUIRE(list.items[1].confidence < 0.03);
    gpume_changes_finish(&list);
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
    check_unlike();
    check_other();
    check_false_cuts();
    check_hard_cuts();
    check_gradual();
    check_even();
    check_confidence();
    check_covering();
    return harness_verdict();
}
