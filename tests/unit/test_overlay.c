/* SPDX-License-Identifier: BSD-2-Clause */
/* Overlays of synthetic fields: colours, positions, sizes from one pixel, and the same bytes every
 * time. */
#include "draw/legend.h"
#include "draw/overlay.h"
#include "harness.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A gray frame and its layer of blocks; with parts, those of two layers. */
struct scene {
    struct gpume_overlay_options options;
    struct gpume_plane rgb;
    struct gpume_layer layer;
    struct gpume_vector *vectors;
    uint32_t *costs, *ranks;
    size_t blocks;
    uint32_t units; /* 0 = 1 */
    const struct gpume_layer *second;
    const struct gpume_part *parts;
    uint32_t part_count;
};

static struct scene make_scene(
    uint32_t width, uint32_t height, uint32_t block, uint32_t scale, enum gpume_overlay_style style)
{
    struct scene scene = {
        .options = {.width = width,
            .height = height,
            .bits = 8,
            .block_w = block,
            .block_h = block,
            .window_x = 16,
            .window_y = 8,
            .look =
                {.style = style, .scale = scale, .key = GPUME_OVERLAY_KEY_OFF, .arrow_spacing = 1}},
        .rgb = {.data = malloc((size_t)3 * width * height),
            .stride = (ptrdiff_t)3 * width,
            .width = width,
            .height = height,
            .bits = 8},
    };
    struct gpume_layer *layer = &scene.layer;
    layer->block_w = layer->block_h = block;
    layer->blocks_x = (width + block - 1) / block;
    layer->blocks_y = (height + block - 1) / block;
    scene.blocks = (size_t)layer->blocks_x * layer->blocks_y;
    layer->vectors = scene.vectors = calloc(scene.blocks, sizeof(*scene.vectors));
    layer->costs = scene.costs = calloc(scene.blocks, sizeof(*scene.costs));
    layer->ranks = scene.ranks = calloc(scene.blocks, sizeof(*scene.ranks));
    memset(scene.rgb.data, 100, (size_t)3 * width * height);
    return scene;
}

static void free_scene(struct scene *scene)
{
    free(scene->rgb.data);
    free(scene->vectors);
    free(scene->costs);
    free(scene->ranks);
}

static void fill_field(struct scene *scene, uint64_t seed)
{
    for (size_t i = 0; i < scene->blocks; i++) {
        scene->vectors[i].dx = (int16_t)((int)(harness_random(&seed) % 33) - 16);
        scene->vectors[i].dy = (int16_t)((int)(harness_random(&seed) % 17) - 8);
        scene->costs[i] = harness_random(&seed) % 4000;
        scene->ranks[i] = (uint32_t)i;
    }
}

/* The picture's bytes, which the caller frees. */
static uint8_t *draw(const struct scene *scene, struct gpume_plane *picture)
{
    struct gpume_overlay *overlay = NULL;
    const struct gpume_layer *const layers[] = {&scene->layer, scene->second};
    const struct gpume_field field = {.vector_units = scene->units ? scene->units : 1,
        .layer_count = 2,
        .layers = layers,
        .parts = scene->parts,
        .part_count = scene->part_count};
    REQUIRE_EQUAL(gpume_overlay_create(&overlay, &scene->options), GPUME_OK);
    REQUIRE_EQUAL(gpume_overlay_draw(overlay, &scene->rgb, &field, picture), GPUME_OK);
    const size_t bytes = (size_t)picture->stride * picture->height;
    uint8_t *copy = malloc(bytes);
    memcpy(copy, picture->data, bytes);
    /* A second time over the first. */
    REQUIRE_EQUAL(gpume_overlay_draw(overlay, &scene->rgb, &field, picture), GPUME_OK);
    REQUIRE(memcmp(copy, picture->data, bytes) == 0);
    gpume_overlay_destroy(&overlay);
    REQUIRE(overlay == NULL);
    picture->data = copy;
    return copy;
}

static const uint8_t *at(const struct gpume_plane *picture, uint32_t x, uint32_t y)
{
    return (const uint8_t *)picture->data + (ptrdiff_t)y * picture->stride + 3 * (size_t)x;
}

static bool is_colour(const uint8_t *pixel, struct gpume_colour colour, int near)
{
    return abs(pixel[0] - colour.r) <= near && abs(pixel[1] - colour.g) <= near &&
           abs(pixel[2] - colour.b) <= near;
}

static void check_wheel(void)
{
    /* Corners of the colour wheel as its authors define it: right is red; left and down are
     * opposites in a circle of 55 hues. */
    REQUIRE(is_colour((uint8_t[]){255, 0, 0}, gpume_colour_of_motion(1, 0), 0));
    REQUIRE(is_colour((uint8_t[]){255, 0, 0}, gpume_colour_of_motion(5, -0.0), 0));
    REQUIRE(is_colour((uint8_t[]){255, 255, 255}, gpume_colour_of_motion(0, 0), 0));
    REQUIRE(is_colour((uint8_t[]){255, 128, 128}, gpume_colour_of_motion(0.5, 0), 1));
    REQUIRE(is_colour((uint8_t[]){255, 230, 0}, gpume_colour_of_motion(0, 1), 1));  /* 13.5 of 15 */
    REQUIRE(is_colour((uint8_t[]){0, 209, 255}, gpume_colour_of_motion(-1, 0), 1)); /* 2 of 11 */
    REQUIRE(is_colour((uint8_t[]){88, 0, 255}, gpume_colour_of_motion(0, -1), 1));  /* 4.5 of 13 */
    /* Heat grows in lightness. */
    double before = -1;
    for (int i = 0; i <= 100; i++) {
        const struct gpume_colour c = gpume_colour_of_heat(i / 100.0);
        const double light = 0.2126 * pow(c.r / 255.0, 2.2) + 0.7152 * pow(c.g / 255.0, 2.2) +
                             0.0722 * pow(c.b / 255.0, 2.2);
        REQUIRE(light >= before);
        before = light;
    }
    REQUIRE(is_colour((uint8_t[]){0, 0, 4}, gpume_colour_of_heat(-1), 0));
    REQUIRE(is_colour((uint8_t[]){252, 255, 164}, gpume_colour_of_heat(7), 0));
}

/* The middle of an arrow has its direction's colour; blocks without one keep theirs. */
static void check_arrows(void)
{
    static const struct gpume_vector vectors[] = {
        {-16, 0}, {16, 0}, {0, 8}, {0, -8}, {-3, -3}, {5, -2}, {1, 0}, {-16, 8}};
    for (uint32_t block = 16; block <= 128; block += 28) {
        struct scene scene = make_scene(2 * block, block, block, 1, GPUME_OVERLAY_ARROWS);
        for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
            struct gpume_plane picture;
            scene.vectors[0] = vectors[i];
            uint8_t *bytes = draw(&scene, &picture);
            const struct gpume_colour colour =
                gpume_colour_of_direction(-vectors[i].dx, -vectors[i].dy);
            REQUIRE(block < 60 || is_colour(at(&picture, block / 2, block / 2), colour, 2));
            /* The arrow is thicker at its head. */
            const double length = hypot(vectors[i].dx, vectors[i].dy);
            const double x = -vectors[i].dx / length, y = -vectors[i].dy / length;
            uint32_t ahead = 0, behind = 0;
            for (uint32_t py = 0; py < block; py++) {
                for (uint32_t px = 0; px < block; px++) {
                    const double along = (px + 0.5 - block / 2) * x + (py + 0.5 - block / 2) * y;
                    const bool drawn =
                        !is_colour(at(&picture, px, py), (struct gpume_colour){100, 100, 100}, 0);
                    *(along > 0 ? &ahead : &behind) += drawn;
                }
            }
            REQUIRE(block < 60 || ahead > behind);
            free(bytes);
        }
        free_scene(&scene);
    }
}

/* Gray where the reverse vector leads back, or is unknown; lighter the farther it leads away. */
static void check_return(void)
{
    const uint32_t returns[4] = {4, GPUME_NONE, 5, 64}; /* quarter pixels: the first is one pixel */
    struct gpume_plane picture;
    struct scene scene = make_scene(32, 8, 8, 1, GPUME_OVERLAY_RETURN);
    scene.units = 4;
    scene.layer.returns = returns;
    uint8_t *bytes = draw(&scene, &picture);
    const struct gpume_colour gray = {100, 100, 100};
    REQUIRE(is_colour(at(&picture, 4, 4), gray, 1) && is_colour(at(&picture, 12, 4), gray, 1));
    REQUIRE(!is_colour(at(&picture, 20, 4), gray, 5));
    REQUIRE(at(&picture, 28, 4)[0] > at(&picture, 20, 4)[0] + 50);
    free(bytes);
    free_scene(&scene);
}

static double linear(uint8_t value)
{
    const double v = value / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

/* The lightness of OKLab, by its definition, and the angle of its hue in degrees. */
static double lightness_of(struct gpume_colour colour, double *hue)
{
    const double r = linear(colour.r), g = linear(colour.g), b = linear(colour.b);
    const double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    *hue = atan2(0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
               1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s) *
           180 / 3.14159265358979323846;
    return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

/* All directions are equally light, and each turn of them is as large a turn of the hue. */
static void check_directions(void)
{
    for (int degrees = 0; degrees < 360; degrees++) {
        const double angle = degrees * 3.14159265358979323846 / 180;
        double hue;
        const double light =
            lightness_of(gpume_colour_of_direction(3 * cos(angle), 3 * sin(angle)), &hue);
        const double off = fmod(hue - 29 - degrees + 1260, 360) - 180;
        REQUIRE(fabs(light - 0.76) < 0.01);
        REQUIRE(fabs(off) < 4);
    }
    REQUIRE(is_colour((uint8_t[]){255, 139, 123}, gpume_colour_of_direction(1, -0.0), 0));
}

/* Whether two scenes give the same picture. */
static void require_same(const struct scene *a, const struct scene *b)
{
    struct gpume_plane left, right;
    uint8_t *const lefts = draw(a, &left), *const rights = draw(b, &right);
    REQUIRE(memcmp(lefts, rights, (size_t)left.stride * left.height) == 0);
    free(lefts);
    free(rights);
}

/* The arrow of several blocks is that of one block of their size which has their mean. */
static void check_groups(void)
{
    static const struct gpume_vector small[] = {
        {4, 0}, {8, 0}, {-3, 1}, {4, 4}, {8, 4}, {-5, 3}, {0, 1}, {0, -1}, {-7, 7}};
    struct scene blocks = make_scene(24, 24, 8, 1, GPUME_OVERLAY_ARROWS);
    struct scene means = make_scene(24, 24, 16, 1, GPUME_OVERLAY_ARROWS);
    memcpy(blocks.vectors, small, sizeof(small));
    blocks.options.look.arrow_spacing = 16;
    means.vectors[0] = (struct gpume_vector){6, 2};
    means.vectors[1] = (struct gpume_vector){-4, 2};
    means.vectors[2] = (struct gpume_vector){0, 0};
    means.vectors[3] = (struct gpume_vector){-7, 7};
    require_same(&blocks, &means);
    blocks.options.look.arrow_length = means.options.look.arrow_length = GPUME_OVERLAY_TRUE;
    blocks.options.look.arrow_width = means.options.look.arrow_width = 3;
    require_same(&blocks, &means);
    free_scene(&blocks);
    free_scene(&means);
    /* By default those of 1080p have 48 pixels. */
    blocks = make_scene(1920, 1080, 16, 1, GPUME_OVERLAY_ARROWS);
    means = make_scene(1920, 1080, 48, 1, GPUME_OVERLAY_ARROWS);
    blocks.options.look.arrow_spacing = 0;
    for (size_t i = 0; i < means.blocks; i++) {
        means.vectors[i] = (struct gpume_vector){(int16_t)(i % 33 - 16), (int16_t)(i % 17 - 8)};
    }
    for (size_t i = 0; i < blocks.blocks; i++) {
        blocks.vectors[i] = means.vectors[i / 120 / 3 * 40 + i % 120 / 3];
    }
    require_same(&blocks, &means);
    free_scene(&blocks);
    free_scene(&means);
}

/* A shaft is as wide as asked for: counted across the rear of an arrow to the right. */
static void check_width(void)
{
    for (int width = 4; width <= 12; width += 4) {
        struct gpume_plane picture;
        struct scene scene = make_scene(64, 64, 64, 1, GPUME_OVERLAY_ARROWS);
        const struct gpume_colour right = gpume_colour_of_direction(1, 0);
        int count = 0;
        scene.vectors[0] = (struct gpume_vector){-16, 0};
        scene.options.look.arrow_width = width;
        uint8_t *bytes = draw(&scene, &picture);
        for (uint32_t y = 0; y < 64; y++) {
            count += is_colour(at(&picture, 20, y), right, 40);
        }
        REQUIRE(count <= width + 1 && 2 * count >= width); /* it narrows towards the tail */
        free(bytes);
        free_scene(&scene);
    }
}

/* Only small dots in the middle of the blocks. */
static void check_zero(void)
{
    for (uint32_t block = 4; block <= 128; block *= 2) {
        struct gpume_plane picture;
        struct scene scene = make_scene(3 * block, 2 * block, block, 1, GPUME_OVERLAY_ARROWS);
        uint8_t *bytes = draw(&scene, &picture);
        for (uint32_t y = 0; y < picture.height; y++) {
            for (uint32_t x = 0; x < picture.width; x++) {
                const double dx = x % block + 0.5 - block / 2, dy = y % block + 0.5 - block / 2;
                const bool drawn =
                    !is_colour(at(&picture, x, y), (struct gpume_colour){100, 100, 100}, 0);
                REQUIRE(!drawn || hypot(dx, dy) < 2 + 0.06 * block);
                REQUIRE(drawn || dx < 0 || dy < 0 || hypot(dx, dy) > 0.8);
            }
        }
        free(bytes);
        free_scene(&scene);
    }
}

static void check_fills(void)
{
    struct gpume_plane picture;
    struct scene scene = make_scene(16, 8, 8, 2, GPUME_OVERLAY_FLOW);
    memset(scene.rgb.data, 255, 16 * 8 * 3);
    scene.vectors[0] = (struct gpume_vector){16, 8};
    scene.vectors[1] = (struct gpume_vector){-4, 3};
    uint8_t *bytes = draw(&scene, &picture);
    const double longest = hypot(16, 8);
    REQUIRE_EQUAL(picture.width, 32);
    REQUIRE(is_colour(at(&picture, 3, 3), gpume_colour_of_motion(-16, -8), 1));
    REQUIRE(is_colour(at(&picture, 20, 15), gpume_colour_of_motion(4 / longest, -3 / longest), 1));
    free(bytes);
    free_scene(&scene);

    /* Brightness follows the cost, from 0 to the largest, and the rank. */
    for (int i = 0; i < 2; i++) {
        scene = make_scene(16, 8, 8, 1, i ? GPUME_OVERLAY_BLOCKS : GPUME_OVERLAY_COST);
        scene.costs[1] = 64 * 255;
        scene.ranks[0] = 1;
        bytes = draw(&scene, &picture);
        REQUIRE(at(&picture, 12, 4)[0] > at(&picture, 4, 4)[0] + 100);
        free(bytes);
        free_scene(&scene);
    }
}

/* Quarter pixels: hues by the vector in pixels, arrows by the nearest whole one. */
static void check_fractions(void)
{
    struct gpume_plane picture, whole;
    struct scene scene = make_scene(16, 8, 8, 1, GPUME_OVERLAY_FLOW);
    memset(scene.rgb.data, 255, 16 * 8 * 3);
    scene.units = 4;
    scene.vectors[0] = (struct gpume_vector){-18, 10};
    uint8_t *bytes = draw(&scene, &picture);
    const double longest = hypot(16, 8);
    REQUIRE(
        is_colour(at(&picture, 3, 3), gpume_colour_of_motion(4.5 / longest, -2.5 / longest), 1));
    free(bytes);
    scene.options.look.style = GPUME_OVERLAY_ARROWS;
    scene.vectors[0] = (struct gpume_vector){64, -32}; /* the window's corner */
    scene.vectors[1] = (struct gpume_vector){1, 1};    /* a dot */
    bytes = draw(&scene, &picture);
    scene.units = 1;
    scene.vectors[0] = (struct gpume_vector){16, -8};
    scene.vectors[1] = (struct gpume_vector){0, 0};
    uint8_t *others = draw(&scene, &whole);
    REQUIRE(memcmp(bytes, others, (size_t)picture.stride * picture.height) == 0);
    free(bytes);
    free(others);
    free_scene(&scene);
}

/* A picture of 16x16: the left half one block of 8x16, the right half two blocks of 8x8. */
static void check_parts(void)
{
    const struct gpume_vector vectors[2] = {{0, 0}, {0, 0}};
    const uint32_t costs[2] = {8 * 16 * 255, 0}, ranks[2] = {0, 1};
    const struct gpume_layer halves = {.block_w = 8,
        .block_h = 16,
        .blocks_x = 2,
        .blocks_y = 1,
        .vectors = vectors,
        .costs = costs,
        .ranks = ranks};
    const struct gpume_part parts[] = {{1, 0, 0}, {0, 1, 1}, {0, 3, 2}};
    struct gpume_plane picture;
    struct scene scene = make_scene(16, 16, 8, 1, GPUME_OVERLAY_COST);
    scene.second = &halves;
    scene.parts = parts;
    scene.part_count = 3;
    scene.costs[3] = 64 * 255;
    uint8_t *bytes = draw(&scene, &picture);
    REQUIRE(memcmp(at(&picture, 4, 2), at(&picture, 4, 14), 3) == 0);
    REQUIRE(memcmp(at(&picture, 4, 2), at(&picture, 12, 14), 3) == 0); /* as costly per pixel */
    REQUIRE(at(&picture, 12, 2)[0] < at(&picture, 12, 14)[0]);
    free(bytes);
    free_scene(&scene);
}

/* Light where the best match is alone or much better, dark where another is as good. */
static void check_confidence(void)
{
    const uint32_t second[3] = {GPUME_NONE, 1000, 100};
    struct gpume_plane picture;
    struct scene scene = make_scene(24, 8, 8, 1, GPUME_OVERLAY_CONFIDENCE);
    scene.layer.second = second;
    scene.costs[0] = scene.costs[1] = scene.costs[2] = 100;
    uint8_t *bytes = draw(&scene, &picture);
    REQUIRE(at(&picture, 4, 4)[1] > at(&picture, 12, 4)[1]);
    REQUIRE(at(&picture, 12, 4)[1] > at(&picture, 20, 4)[1] + 50);
    free(bytes);
    free_scene(&scene);
}

/* Any size, block, style and scale: for sanitizers, and for the key. */
static void check_sizes(void)
{
    static const uint32_t sizes[][2] = {{1, 1}, {3, 5}, {16, 16}, {130, 9}, {9, 130}, {300, 200}};
    static const uint32_t blocks[] = {4, 8, 20, 64, 128};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) * 6 * 5 * 2; i++) {
        const uint32_t *const size = sizes[i / 60];
        const enum gpume_overlay_style style = (enum gpume_overlay_style)(i / 2 % 6);
        struct scene scene = make_scene(size[0], size[1], blocks[i / 12 % 5], i % 2 ? 3 : 1, style);
        struct gpume_plane picture;
        scene.options.look.key = GPUME_OVERLAY_KEY_ON;
        fill_field(&scene, i + 1);
        uint8_t *bytes = draw(&scene, &picture);
        REQUIRE_EQUAL(picture.width, size[0] * scene.options.look.scale);
        REQUIRE_EQUAL(picture.height, size[1] * scene.options.look.scale);
        struct gpume_plane again;
        uint8_t *others = draw(&scene, &again);
        REQUIRE(memcmp(bytes, others, (size_t)picture.stride * picture.height) == 0);
        free(others);
        free(bytes);
        free_scene(&scene);
    }
}

/* Two blocks of 16x8, one above the other, in pictures of twice the size. */
static void check_rectangles(void)
{
    struct gpume_plane picture;
    struct scene scene = make_scene(16, 16, 8, 2, GPUME_OVERLAY_FLOW);
    scene.options.block_w = 16;
    scene.layer.block_w = 16;
    scene.layer.blocks_x = 1;
    scene.vectors[0].dx = -16;
    (void)draw(&scene, &picture);
    REQUIRE(memcmp(at(&picture, 0, 0), at(&picture, 31, 15), 3) == 0);
    REQUIRE(memcmp(at(&picture, 0, 16), at(&picture, 31, 31), 3) == 0);
    REQUIRE(memcmp(at(&picture, 0, 15), at(&picture, 0, 16), 3) != 0);
    free(picture.data);
    free_scene(&scene);
}

/* The pixels of a row that an arrow covers. */
static uint32_t drawn_in_row(const struct gpume_plane *picture, uint32_t y, uint32_t *first)
{
    uint32_t count = 0;
    *first = picture->width;
    for (uint32_t x = 0; x < picture->width; x++) {
        if (!is_colour(at(picture, x, y), (struct gpume_colour){100, 100, 100}, 20)) {
            *first = x < *first ? x : *first;
            count++;
        }
    }
    return count;
}

/* Arrows of true length end in the middle of their block, and are as long as the motion: also of
 * fractions of a pixel, when enlarged, and where they leave the picture. */
static void check_true_arrows(void)
{
    for (uint32_t scale = 1; scale <= 4; scale++) {
        for (int dx = -16 * 4; dx <= 16 * 4; dx += 9) {
            struct scene scene = make_scene(144, 16, 16, scale, GPUME_OVERLAY_ARROWS);
            struct gpume_plane picture;
            scene.options.look.arrow_length = GPUME_OVERLAY_TRUE;
            scene.options.look.min_length = 0.01;
            scene.units = 4;
            scene.vectors[4].dx = (int16_t)dx;
            uint8_t *bytes = draw(&scene, &picture);
            uint32_t first;
            const double length = abs(dx) / 4.0 * scale, tip = 72.0 * scale;
            const double edge = 2 + 0.15 * 16 * scale; /* rims, rounded ends and dots */
            const uint32_t count = drawn_in_row(&picture, 8 * scale, &first);
            REQUIRE(count >= length - 2 && count <= length + edge);
            REQUIRE(first + edge >= (dx > 0 ? tip : tip - length) && first <= tip);
            REQUIRE(dx > 0 || first + count <= tip + edge);
            free(bytes);
            free_scene(&scene);
        }
    }
    struct scene scene = make_scene(20, 20, 4, 2, GPUME_OVERLAY_ARROWS);
    struct gpume_plane picture;
    scene.options.look.arrow_length = GPUME_OVERLAY_TRUE;
    fill_field(&scene, 5);
    free(draw(&scene, &picture));
    free_scene(&scene);
}

static void check_min_length(void)
{
    for (int style = GPUME_OVERLAY_ARROWS; style <= GPUME_OVERLAY_FLOW; style++) {
        struct scene scene = make_scene(32, 16, 16, 1, (enum gpume_overlay_style)style);
        struct gpume_plane picture;
        uint32_t first;
        scene.options.look.min_length = 5;
        scene.vectors[0] = (struct gpume_vector){3, 3};
        scene.vectors[1] = (struct gpume_vector){3, 4};
        uint8_t *bytes = draw(&scene, &picture);
        REQUIRE(drawn_in_row(&picture, 8, &first) > 0 && first >= 16);
        free(bytes);
        free_scene(&scene);
    }
}

static void check_dim(void)
{
    static const uint32_t percents[] = {0, 40, 100};
    for (size_t i = 0; i < 3; i++) {
        struct scene scene = make_scene(32, 16, 16, 1, GPUME_OVERLAY_ARROWS);
        struct gpume_plane picture;
        scene.options.look.dim = percents[i];
        uint8_t *bytes = draw(&scene, &picture);
        REQUIRE_EQUAL(at(&picture, 0, 0)[0], 100 - percents[i]);
        free(bytes);
        free_scene(&scene);
    }
}

/* The motion in full colour is the one asked for, or follows nine tenths of the frame's area. */
static void check_flow_max(void)
{
    for (int16_t length = 1; length <= 16; length++) {
        struct scene scene = make_scene(80, 8, 8, 1, GPUME_OVERLAY_FLOW);
        struct gpume_plane picture;
        const double wanted = length <= 4    ? 4
                              : length <= 6  ? 6
                              : length <= 8  ? 8
                              : length <= 12 ? 12
                                             : 16;
        memset(scene.rgb.data, 255, (size_t)3 * 80 * 8);
        for (size_t i = 0; i < scene.blocks; i++) {
            scene.vectors[i].dx = (int16_t)-length;
        }
        scene.vectors[9] = (struct gpume_vector){-16, 8}; /* an outlier: one block of ten */
        scene.options.look.flow_max = GPUME_OVERLAY_FLOW_AUTO;
        uint8_t *bytes = draw(&scene, &picture);
        REQUIRE(is_colour(at(&picture, 4, 4), gpume_colour_of_motion(length / wanted, 0), 1));
        free(bytes);
        scene.options.look.flow_max = 2.5;
        bytes = draw(&scene, &picture);
        REQUIRE(is_colour(at(&picture, 4, 4), gpume_colour_of_motion(length / 2.5, 0), 1));
        free(bytes);
        free_scene(&scene);
    }
    /* The key says it, and only if it does not follow the window. */
    struct gpume_plane plain, labelled;
    struct scene scene = make_scene(640, 480, 16, 1, GPUME_OVERLAY_FLOW);
    scene.options.look.key = GPUME_OVERLAY_KEY_ON;
    uint8_t *bytes = draw(&scene, &plain);
    scene.options.look.flow_max = GPUME_OVERLAY_FLOW_AUTO;
    uint8_t *others = draw(&scene, &labelled);
    REQUIRE(memcmp(bytes, others, (size_t)plain.stride * plain.height) != 0);
    free(bytes);
    free(others);
    free_scene(&scene);
}

static struct gpume_sprite *make_legend(
    const char *text, uint32_t width, uint32_t height, enum gpume_overlay_key key)
{
    const struct gpume_legend_row row = {.plain = true, .text = text};
    struct gpume_sprite *legend = gpume_legend_create(&row, 1, width, height, key);
    REQUIRE(legend != NULL);
    return legend;
}

/* Every letter is drawn, and differs from all others. */
static void check_letters(void)
{
    static const char letters[] = "0123456789ABabcdefghijklmnopqrstuvwxyz.,-=<>/% ";
    enum { COUNT = sizeof(letters) - 1 };
    struct gpume_sprite *sprites[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        const char text[] = {'0', letters[i], '0', '\0'};
        sprites[i] = make_legend(text, 1920, 1080, GPUME_OVERLAY_KEY_ON);
        REQUIRE(sprites[i]->width > 0 && sprites[i]->height > 0);
        for (size_t j = 0; j < i; j++) {
            REQUIRE(gpume_sprite_bytes(sprites[i]) != gpume_sprite_bytes(sprites[j]) ||
                    memcmp(sprites[i], sprites[j], gpume_sprite_bytes(sprites[i])) != 0);
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        free(sprites[i]);
    }
}

/* A key that is not asked for leaves most of the picture visible. */
static void check_legends(void)
{
    for (uint32_t side = 1; side < 2000; side += 37) {
        struct gpume_sprite *legend = make_legend("some words", side, side, GPUME_OVERLAY_KEY_AUTO);
        REQUIRE(legend->width * 3 <= side && legend->height * 3 <= side);
        REQUIRE(side < 1000 || legend->width > 0);
        free(legend);
        legend = make_legend("some words", side, side, GPUME_OVERLAY_KEY_ON);
        REQUIRE(legend->width > 0);
        struct gpume_plane picture = {.data = calloc(side, (size_t)side * 3),
            .stride = (ptrdiff_t)side * 3,
            .width = side,
            .height = side,
            .bits = 8};
        gpume_sprite_put(legend, &picture, side, side); /* clipped, for sanitizers */
        free(picture.data);
        free(legend);
        legend = make_legend("some words", side, side, GPUME_OVERLAY_KEY_OFF);
        REQUIRE_EQUAL(legend->width, 0);
        free(legend);
    }
}

static void check_limits(void)
{
    struct gpume_overlay *overlay = NULL;
    const struct gpume_overlay_options options = {
        .width = 65536, .height = 65536, .bits = 8, .block_w = 8, .block_h = 8, .look.scale = 1};
    REQUIRE_EQUAL(gpume_overlay_create(&overlay, &options), GPUME_INVALID);
    gpume_overlay_destroy(&overlay);
    /* The window (0,0) has no arrows, and nothing to divide by. */
    for (int style = 0; style < 5; style++) {
        struct gpume_plane picture;
        struct scene scene = make_scene(40, 40, 8, 4, (enum gpume_overlay_style)style);
        scene.options.window_x = scene.options.window_y = 0;
        free(draw(&scene, &picture));
        free_scene(&scene);
    }
}

int main(void)
{
    check_wheel();
    check_arrows();
    check_zero();
    check_fills();
    check_fractions();
    check_parts();
    check_confidence();
    check_return();
    check_directions();
    check_groups();
    check_width();
    check_sizes();
    check_rectangles();
    check_true_arrows();
    check_min_length();
    check_dim();
    check_flow_max();
    check_letters();
    check_legends();
    check_limits();
    return harness_verdict();
}
