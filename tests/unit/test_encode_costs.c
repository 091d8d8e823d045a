/* SPDX-License-Identifier: BSD-2-Clause */
/* Half planes, energies and costs of blocks against the plain versions of support/plain_costs.h. */
#include "encode/costs.h"
#include "encode/half.h"
#include "encode/kernels/kernels.h"
#include "encode/kernels/satd.h"
#include "harness.h"
#include "plain_costs.h"
#include "synth.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 20261122;

struct picture {
    struct gpume_plane luma;
    uint32_t blocks_x, blocks_y;
    uint8_t *memory, *band_memory;
    struct gpume_half half;
    uint32_t *energies;
    struct plain plain;
};

static struct picture picture_of(
    uint32_t width, uint32_t height, uint32_t bits, enum synth_content content, uint32_t index)
{
    struct picture p = {.luma = synth_plane(width, height, bits),
        .blocks_x = (width + 15) / 16,
        .blocks_y = (height + 15) / 16};
    synth_fill(&p.luma, content, index, 4);
    p.memory = calloc(1, gpume_half_bytes(p.blocks_x, p.blocks_y));
    p.band_memory = malloc(p.blocks_x * GPUME_BAND_BYTES);
    p.energies = calloc((size_t)p.blocks_x * p.blocks_y, sizeof(*p.energies));
    p.half = gpume_half_at(p.memory, p.blocks_x, p.blocks_y);
    for (uint32_t y = 0; y < p.blocks_y; y++) {
        const struct gpume_band band = gpume_band_read(p.band_memory, &p.luma, p.blocks_x, y);
        gpume_half_write(&p.half, &band, y);
        gpume_encode_kernels()->energies(&band, p.blocks_x, p.energies + (size_t)y * p.blocks_x);
    }
    p.plain = plain_half(&p.luma);
    return p;
}

static void picture_free(struct picture *p)
{
    free(p->luma.data);
    free(p->memory);
    free(p->band_memory);
    free(p->energies);
    free(p->plain.samples);
}

static void check_half(const struct picture *p)
{
    const int64_t margin = GPUME_HALF_MARGIN;
    REQUIRE_EQUAL(p->half.width, p->plain.width);
    REQUIRE_EQUAL(p->half.height, p->plain.height);
    for (int64_t y = -margin; y < p->half.height + margin; y++) {
        for (int64_t x = -margin; x < p->half.width + margin; x++) {
            for (int64_t plane = 0; plane < 4; plane++) {
                REQUIRE_EQUAL(p->half.samples[plane * p->half.plane + y * p->half.stride + x],
                    plain_half_at(&p->plain, 2 * x + plane % 2, 2 * y + plane / 2));
            }
        }
    }
}

static void check_quarter(const struct picture *p)
{
    struct plain quarter = plain_quarter(&p->plain);
    struct gpume_plane plane = synth_plane((uint32_t)quarter.width, (uint32_t)quarter.height, 8);
    gpume_half_quarter(&p->half, &plane);
    for (int64_t y = 0; y < quarter.height; y++) {
        REQUIRE(memcmp((const uint8_t *)plane.data + y * plane.stride,
                    quarter.samples + y * quarter.width, (size_t)quarter.width) == 0);
    }
    free(quarter.samples);
    free(plane.data);
}

static void check_facts(const struct picture *p)
{
    uint16_t costs[8];
    REQUIRE(p->blocks_x <= 8);
    for (uint32_t y = 0; y < p->blocks_y; y++) {
        gpume_intra_costs(&p->half, y, costs);
        for (uint32_t x = 0; x < p->blocks_x; x++) {
            REQUIRE_EQUAL(costs[x], plain_intra_cost(&p->plain, x, y));
            REQUIRE_EQUAL(p->energies[y * p->blocks_x + x], plain_energy(&p->luma, x, y));
        }
    }
}

static void test_pictures(void)
{
    static const uint32_t sizes[][2] = {{1, 1}, {16, 16}, {17, 33}, {47, 40}, {99, 31}, {128, 50}};
    static const uint32_t depths[] = {8, 9, 10, 16};
    static const enum synth_content contents[] = {
        SYNTH_NOISE, SYNTH_EXTREME, SYNTH_SLOPE, SYNTH_PAN, SYNTH_CHECKERS};
    for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (uint32_t j = 0; j < sizeof(contents) / sizeof(contents[0]); j++) {
            struct picture p =
                picture_of(sizes[i][0], sizes[i][1], depths[(i + j) % 4], contents[j], 1);
            check_half(&p);
            check_quarter(&p);
            check_facts(&p);
            picture_free(&p);
        }
    }
}

static int32_t random_below(int32_t end)
{
    return (int32_t)(harness_random(&seed) % (uint32_t)end);
}

static uint32_t satd_of(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride)
{
    const struct gpume_places place = gpume_same_place(a), other = gpume_same_place(b);
    const struct gpume_rows rows = gpume_load_rows(&place, a_stride);
    const struct gpume_rows others = gpume_load_rows(&other, b_stride);
    return gpume_satd(&rows, &others)[0];
}

/* kind 0: noise; 1: 0 or 255; 2: all opposite; 3: nearly equal */
static void test_satd(void)
{
    uint8_t a[8 * 11], b[8 * 19];
    for (int32_t run = 0; run < 400; run++) {
        int32_t differences[64];
        for (int32_t i = 0; i < 64; i++) {
            uint8_t *at = &a[i / 8 * 11 + i % 8], *bt = &b[i / 8 * 19 + i % 8];
            const int32_t sample = random_below(256);
            *at = (uint8_t)(run % 4 == 1 ? sample / 128 * 255 : run % 4 == 2 ? 255 : sample);
            *bt = (uint8_t)(run % 4 == 0   ? random_below(256)
                            : run % 4 == 1 ? random_below(2) * 255
                            : run % 4 == 2 ? 0
                                           : sample ^ random_below(4));
            differences[i] = *at - *bt;
        }
        REQUIRE_EQUAL(satd_of(a, 11, b, 19), plain_satd(differences));
    }
}

/* The sum of all coefficients is largest where all are equal: a bent function of 4 bits. */
static void test_satd_largest(void)
{
    uint8_t a[64], b[64];
    for (uint32_t i = 0; i < 64; i++) {
        const uint32_t ones = (i & 1 & i >> 1) ^ (i >> 3 & 1 & i >> 4);
        a[i] = ones != 0 ? 255 : 0;
        b[i] = ones != 0 ? 0 : 255;
    }
    REQUIRE_EQUAL(satd_of(a, 8, b, 8), 32640);
}

static struct gpume_vector random_vector(void)
{
    const int32_t end = 4 * (int32_t)GPUME_HALF_WINDOW;
    return (struct gpume_vector){
        (int16_t)(random_below(2 * end + 1) - end), (int16_t)(random_below(2 * end + 1) - end)};
}

static void test_matches(void)
{
    static const enum synth_content contents[] = {SYNTH_NOISE, SYNTH_EXTREME, SYNTH_PAN};
    for (uint32_t run = 0; run < 60; run++) {
        struct picture p[3];
        struct gpume_vector vectors[2][8] = {0};
        uint16_t costs[8];
        for (uint32_t i = 0; i < 3; i++) {
            p[i] = picture_of(16 * (run % 5) + 9, 20, 8, contents[run % 3], i);
        }
        for (uint32_t i = 1; i < 16; i++) { /* the first is (0,0) */
            vectors[i / 8][i % 8] = random_vector();
        }
        for (uint32_t y = 0; y < p[0].blocks_y; y++) {
            const struct gpume_matches past = {&p[1].half, vectors[0]},
                                       future = {&p[2].half, vectors[1]};
            const int32_t share = y % 2 == 0 ? 32 : random_below(65);
            gpume_mean_costs(&p[0].half, y, &past, &future, (uint32_t)share, costs);
            for (uint32_t x = 0; x < p[0].blocks_x; x++) {
                const struct plain_match a = {&p[1].plain, vectors[0][x], share},
                                         b = {&p[2].plain, vectors[1][x], 0};
                REQUIRE_EQUAL(costs[x], plain_match_cost(&p[0].plain, x, y, &a, &b));
            }
            gpume_match_costs(&p[0].half, y, &past, costs);
            for (uint32_t x = 0; x < p[0].blocks_x; x++) {
                const struct plain_match a = {&p[1].plain, vectors[0][x], 0};
                REQUIRE_EQUAL(costs[x], plain_match_cost(&p[0].plain, x, y, &a, NULL));
            }
            gpume_match_costs(&p[0].half, y, &(struct gpume_matches){&p[1].half, NULL}, costs);
            for (uint32_t x = 0; x < p[0].blocks_x; x++) {
                const struct plain_match a = {&p[1].plain, {0, 0}, 0};
                REQUIRE_EQUAL(costs[x], plain_match_cost(&p[0].plain, x, y, &a, NULL));
            }
        }
        for (uint32_t i = 0; i < 3; i++) {
            picture_free(&p[i]);
        }
    }
}

/* 0, the ends of the window, and what lies between. */
static int16_t random_coarse_component(void)
{
    const int32_t end = GPUME_HALF_WINDOW / 2, kind = random_below(4);
    return (int16_t)(kind == 0   ? 0
                     : kind == 1 ? (random_below(2) ? end : -end)
                                 : random_below(2 * end + 1) - end);
}

/* With blocks at all edges, equal frames, and many equal candidates. */
static void test_refine(void)
{
    static const enum synth_content contents[] = {
        SYNTH_NOISE, SYNTH_EXTREME, SYNTH_PAN, SYNTH_FLAT, SYNTH_SLOPE};
    for (uint32_t run = 0; run < 80; run++) {
        struct picture p[2];
        struct gpume_vector coarse[8], vectors[8];
        uint16_t costs[8];
        for (uint32_t i = 0; i < 2; i++) {
            p[i] = picture_of(
                16 * (run % 5) + 9, 16 * (run % 4) + 9, 8, contents[run % 5], run < 60 ? i : 0);
        }
        for (uint32_t i = 0; i < gpume_coarse_count(p[0].blocks_x, p[0].blocks_y); i++) {
            coarse[i] = (struct gpume_vector){random_coarse_component(), random_coarse_component()};
        }
        for (uint32_t y = 0; y < p[0].blocks_y; y++) {
            gpume_refine(&p[0].half, &p[1].half, y, coarse, vectors, costs);
            for (uint32_t x = 0; x < p[0].blocks_x; x++) {
                const struct gpume_vector v = plain_refine(&p[0].plain, x, y, &p[1].plain, coarse);
                const struct plain_match match = {&p[1].plain, v, 0};
                REQUIRE_EQUAL(vectors[x].dx, v.dx);
                REQUIRE_EQUAL(vectors[x].dy, v.dy);
                REQUIRE_EQUAL(costs[x], plain_match_cost(&p[0].plain, x, y, &match, NULL));
            }
        }
        picture_free(&p[0]);
        picture_free(&p[1]);
    }
}

static const struct gpume_weight weights[] = {{0, 1, 0}, {5, 57, -11}, {7, 127, 127},
    {0, 127, -128}, {0, 0, 100}, {1, 1, 0}, {3, 9, -128}, {6, 63, 2}};
enum { WEIGHTS = sizeof(weights) / sizeof(weights[0]) };

/* The outputs of all kernels for a row of at most eight blocks. */
struct satds {
    uint16_t intra[8], match[8], still[8], mean[8], refined[8];
    struct gpume_vector vectors[8];
    uint8_t halves[2][8 * GPUME_HALF_BLOCK];
    uint32_t energies[8];
    uint8_t weighed[WEIGHTS][8 * GPUME_HALF_BLOCK];
};

static struct satds satds_of(
    const struct gpume_encode_kernels *kernels, const struct picture *p, uint32_t y)
{
    struct satds satds = {0};
    struct gpume_vector vectors[2][8], coarse[8];
    uint64_t own_seed = y + 1;
    for (uint32_t i = 0; i < 8; i++) {
        for (uint32_t j = 0; j < 2; j++) {
            vectors[j][i].dx = (int16_t)((int32_t)(harness_random(&own_seed) % 129) - 64);
            vectors[j][i].dy = (int16_t)((int32_t)(harness_random(&own_seed) % 129) - 64);
        }
        coarse[i].dx = (int16_t)(vectors[0][i].dx / 8);
        coarse[i].dy = (int16_t)(vectors[1][i].dy / 8);
    }
    const struct gpume_matches past = {&p[1].half, vectors[0]}, future = {&p[2].half, vectors[1]};
    kernels->intra(&p[0].half, y, satds.intra);
    kernels->match(&p[0].half, y, &past, satds.match);
    kernels->match(&p[0].half, y, &(struct gpume_matches){&p[1].half, NULL}, satds.still);
    kernels->mean(&p[0].half, y, &past, &future, 21 * (1 + y % 2), satds.mean);
    kernels->refine(&p[0].half, &p[1].half, y, coarse, satds.vectors, satds.refined);
    const struct gpume_band band = gpume_band_read(p->band_memory, &p->luma, p->blocks_x, y);
    for (uint32_t right = 0; right < 2; right++) {
        const uint8_t *row = band.samples + right;
        kernels->halve(satds.halves[right], row, row + band.stride, p->half.width - right);
    }
    kernels->energies(&band, p->blocks_x, satds.energies);
    for (uint32_t i = 0; i < WEIGHTS; i++) {
        uint8_t row[8 * GPUME_HALF_BLOCK + GPUME_HALF_MARGIN]; /* its end is not compared */
        const uint8_t *from = p[1].half.samples + (ptrdiff_t)(8 * y) * p[1].half.stride;
        kernels->weigh(row, from, p[1].half.width, &weights[i]);
        memcpy(satds.weighed[i], row, p[1].half.width);
    }
    return satds;
}

/* Every instruction set gives what the plain kernels give. */
static void test_kernels(void)
{
    static const enum synth_content contents[] = {
        SYNTH_NOISE, SYNTH_EXTREME, SYNTH_PAN, SYNTH_SLOPE};
    for (uint32_t run = 0; run < 32; run++) {
        struct picture p[3];
        for (uint32_t i = 0; i < 3; i++) {
            p[i] = picture_of(16 * (run % 8) + 9, 40, 8, contents[run / 8], i);
        }
        for (uint32_t y = 0; y < p[0].blocks_y; y++) {
            const struct satds expected = satds_of(gpume_encode_kernels_at(0), p, y);
            const struct gpume_encode_kernels *kernels;
            for (uint32_t i = 1; (kernels = gpume_encode_kernels_at(i)); i++) {
                if (kernels->available()) {
                    const struct satds found = satds_of(kernels, p, y);
                    REQUIRE(memcmp(&found, &expected, sizeof(found)) == 0);
                }
            }
        }
        for (uint32_t i = 0; i < 3; i++) {
            picture_free(&p[i]);
        }
    }
}

int main(void)
{
    test_satd();
    test_satd_largest();
    test_pictures();
    test_matches();
    test_refine();
    test_kernels();
    return harness_verdict();
}
