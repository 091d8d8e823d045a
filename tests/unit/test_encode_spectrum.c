/* SPDX-License-Identifier: BSD-2-Clause */
/* Spectra, and losses by quantization, against counts from the definitions: one coefficient at a
 * time, in floating point. */
#include "encode/distortion.h"
#include "encode/spectrum.h"
#include "harness.h"
#include "plain_costs.h"
#include "synth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 4096u

static uint64_t seed = 20261126;

static uint32_t below(uint32_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % limit;
}

struct picture {
    struct gpume_plane luma;
    uint8_t *memory;
    struct gpume_half half;
    struct plain plain;
};

static struct picture picture_of(
    uint32_t width, uint32_t height, enum synth_content content, uint32_t index)
{
    const uint32_t blocks_x = (width + 15) / 16, blocks_y = (height + 15) / 16;
    struct picture p = {.luma = synth_plane(width, height, 8)};
    synth_fill(&p.luma, content, index, 4);
    p.memory = calloc(1, gpume_half_bytes(blocks_x, blocks_y));
    p.half = gpume_half_at(p.memory, blocks_x, blocks_y);
    uint8_t *band_memory = malloc(blocks_x * GPUME_BAND_BYTES);
    for (uint32_t y = 0; y < blocks_y; y++) {
        const struct gpume_band band = gpume_band_read(band_memory, &p.luma, blocks_x, y);
        gpume_half_write(&p.half, &band, y);
    }
    free(band_memory);
    p.plain = plain_half(&p.luma);
    return p;
}

static void picture_free(struct picture *p)
{
    free(p->luma.data);
    free(p->memory);
    free(p->plain.samples);
}

/* A frame of pictures with random vectors, kinds, costs and offsets. */
struct scene {
    struct picture target, past, future;
    struct gpume_vector vectors[2][BLOCKS_MAX];
    uint8_t kinds[BLOCKS_MAX];
    uint16_t costs[BLOCKS_MAX];
    int16_t offsets[BLOCKS_MAX];
    struct gpume_predicted predicted;
};

static void scene_init(struct scene *s, uint32_t width, uint32_t height)
{
    s->target = picture_of(width, height, SYNTH_GRAIN, 2);
    s->past = picture_of(width, height, SYNTH_GRAIN, 1);
    s->future = picture_of(width, height, SYNTH_NOISE, 3);
    const uint32_t blocks = s->target.half.width / 8 * (s->target.half.height / 8);
    REQUIRE(blocks <= BLOCKS_MAX);
    for (uint32_t i = 0; i < blocks; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            s->vectors[k][i] =
                (struct gpume_vector){(int16_t)(below(129) - 64), (int16_t)(below(129) - 64)};
        }
        s->kinds[i] = (uint8_t)below(GPUME_FROM_STILL + 1);
        s->costs[i] = (uint16_t)below(26);                     /* 12: nothing is coded */
        s->offsets[i] = (int16_t)(1536 * ((int)below(5) - 2)); /* whole octaves */
    }
    s->predicted = (struct gpume_predicted){
        .frame = 7,
        .target = &s->target.half,
        .past = {&s->past.half, s->vectors[0]},
        .future = {&s->future.half, s->vectors[1]},
        .past_share = 40,
        .weight = {.denominator = 0, .scale = 1},
        .distance = 1,
        .kinds = s->kinds,
        .costs = s->costs,
        .offsets = s->offsets,
    };
}

static void scene_free(struct scene *s)
{
    picture_free(&s->target);
    picture_free(&s->past);
    picture_free(&s->future);
}

/* --- from the definitions */

static int32_t matched(const struct plain *plain, int64_t x, int64_t y, struct gpume_vector v)
{
    /* quarter pixels: the floor and the ceiling of both coordinates in half samples */
    const int64_t qx = 4 * x + v.dx, qy = 4 * y + v.dy;
    const int64_t x0 = (qx - (qx & 1)) / 2, y0 = (qy - (qy & 1)) / 2;
    return (plain_half_at(plain, x0, y0) + plain_half_at(plain, x0 + (qx & 1), y0 + (qy & 1)) + 1) /
           2;
}

static int32_t weighted(const struct gpume_weight *weight, int32_t sample)
{
    const int32_t half = weight->denominator > 0 ? 1 << (weight->denominator - 1) : 0;
    const double value = floor((sample * weight->scale + half) / pow(2, weight->denominator));
    return (int32_t)fmin(255, fmax(0, value + weight->offset));
}

/* The vectors of a block in the past and the future. */
struct motion {
    struct gpume_vector of[2];
};

static struct motion motion_of(const struct scene *s, uint32_t index)
{
    struct motion motion = {0};
    for (uint32_t k = 0; k < 2; k++) {
        const enum gpume_source_kind alone = k == 0 ? GPUME_FROM_PAST : GPUME_FROM_FUTURE;
        if (s->kinds[index] == alone || s->kinds[index] == GPUME_FROM_BOTH) {
            motion.of[k] = s->vectors[k][index];
        }
    }
    return motion;
}

static int32_t predicted_from_others(
    const struct scene *s, uint32_t index, const struct motion *motion, int64_t x, int64_t y)
{
    const enum gpume_source_kind kind = (enum gpume_source_kind)s->kinds[index];
    const int32_t a = matched(&s->past.plain, x, y, motion->of[0]);
    const int32_t b = matched(&s->future.plain, x, y, motion->of[1]);
    const int32_t share = (int32_t)s->predicted.past_share;
    return kind == GPUME_FROM_PAST     ? weighted(&s->predicted.weight, a)
           : kind == GPUME_FROM_FUTURE ? b
                                       : (a * share + b * (64 - share) + 32) / 64;
}

/* The best of three predictions of 4x4 samples at (x,y). */
static void predict_from_self(const struct plain *plain, int64_t x, int64_t y, int32_t out[16])
{
    int32_t mean = 4, least = INT32_MAX;
    for (int64_t i = 0; i < 4; i++) {
        mean += plain_at(plain, x + i, y - 1) + plain_at(plain, x - 1, y + i);
    }
    for (int mode = 0; mode < 3; mode++) {
        int32_t tried[16], sum = 0;
        for (int64_t i = 0; i < 16; i++) {
            tried[i] = mode == 0   ? plain_at(plain, x + i % 4, y - 1)
                       : mode == 1 ? plain_at(plain, x - 1, y + i / 4)
                                   : mean / 8;
            sum += abs(plain_at(plain, x + i % 4, y + i / 4) - tried[i]);
        }
        if (sum < least) {
            least = sum;
            memcpy(out, tried, sizeof(tried));
        }
    }
}

static int32_t coefficient(const int32_t residual[16], int k)
{
    int32_t sum = 0;
    for (int i = 0; i < 16; i++) { /* a Hadamard matrix: signs by the bits in common */
        sum += __builtin_popcount((unsigned)(k & i)) % 2 ? -residual[i] : residual[i];
    }
    return sum;
}

static void count_part(struct gpume_spectrum *expected, const int32_t residual[16], double octaves)
{
    for (int k = 0; k < 16; k++) {
        const int32_t sum = coefficient(residual, k);
        if (sum != 0) {
            /* log2 of the middle of a sixteenth of the octave */
            const int exponent = ilogb(abs(sum));
            const double mantissa = floor(ldexp(abs(sum), 4 - exponent)) + 0.5;
            const double size = exponent - 4 + log2(mantissa) - 2 + octaves;
            const double bin = floor(2 * (size + 3));
            const int at = (int)fmin(GPUME_SPECTRUM_BINS - 1, fmax(0, bin));
            (k == 0 ? expected->means : expected->details)[at]++;
        }
    }
}

/* --- vectors */

static int32_t middle_of(int32_t a, int32_t b, int32_t c)
{
    return a + b + c - (int32_t)fmax(a, fmax(b, c)) - (int32_t)fmin(a, fmin(b, c));
}

/* The median of the neighbours to the left, above, and above to the right; where there is none
 * above, that to the left, and in the last column, above to the left instead. */
static struct gpume_vector expected_vector(const struct scene *s, uint32_t k, uint32_t index)
{
    const uint32_t blocks_x = s->target.half.width / 8, x = index % blocks_x;
    const struct gpume_vector *v = s->vectors[k];
    const struct gpume_vector zero = {0, 0}, left = x > 0 ? v[index - 1] : zero;
    if (index < blocks_x) {
        return left;
    }
    const uint32_t above = index - blocks_x;
    const struct gpume_vector corner = x + 1 < blocks_x ? v[above + 1]
                                       : x > 0          ? v[above - 1]
                                                        : zero;
    return (struct gpume_vector){(int16_t)middle_of(left.dx, v[above].dx, corner.dx),
        (int16_t)middle_of(left.dy, v[above].dy, corner.dy)};
}

static int32_t satd_by(const struct scene *s, uint32_t index, const struct motion *motion)
{
    const uint32_t blocks_x = s->target.half.width / 8;
    int32_t sum = 0;
    for (int64_t part = 0; part < 4; part++) {
        int32_t residual[16];
        for (int64_t i = 0; i < 16; i++) {
            const int64_t x = index % blocks_x * 8 + part % 2 * 4 + i % 4;
            const int64_t y = index / blocks_x * 8 + part / 2 * 4 + i / 4;
            residual[i] =
                plain_at(&s->target.plain, x, y) - predicted_from_others(s, index, motion, x, y);
        }
        for (int k = 0; k < 16; k++) {
            sum += abs(coefficient(residual, k));
        }
    }
    return sum / 2;
}

static void count_vectors(double counts[GPUME_SPECTRUM_BINS], const struct scene *s, uint32_t index)
{
    const struct motion motion = motion_of(s, index), still = {0};
    struct motion expected = {0};
    double bits = 0;
    for (uint32_t k = 0; k < 2; k++) {
        const enum gpume_source_kind alone = k == 0 ? GPUME_FROM_PAST : GPUME_FROM_FUTURE;
        if (s->kinds[index] == alone || s->kinds[index] == GPUME_FROM_BOTH) {
            expected.of[k] = expected_vector(s, k, index);
            bits += log2(1 + 2 * abs(motion.of[k].dx - expected.of[k].dx)) +
                    log2(1 + 2 * abs(motion.of[k].dy - expected.of[k].dy));
        }
    }
    if (bits > 0) {
        const double other = fmin(satd_by(s, index, &expected), satd_by(s, index, &still));
        const double saved = fmax(0, other - satd_by(s, index, &motion));
        const double bin = floor(2 * (log2((saved + 2) / bits) + 5));
        counts[(int)fmin(GPUME_SPECTRUM_BINS - 1, fmax(0, bin))] += bits;
    }
}

/* --- all of it */

static void count_block(struct gpume_spectrum *expected, const struct scene *s, uint32_t index)
{
    const uint32_t blocks_x = s->target.half.width / 8;
    const enum gpume_source_kind kind = (enum gpume_source_kind)s->kinds[index];
    const struct motion motion = motion_of(s, index);
    const double offset = s->predicted.offsets ? s->predicted.offsets[index] / 256.0 : 0;
    for (int64_t part = 0; part < 4; part++) {
        const int64_t x0 = index % blocks_x * 8 + part % 2 * 4;
        const int64_t y0 = index / blocks_x * 8 + part / 2 * 4;
        int32_t residual[16];
        if (kind == GPUME_FROM_SELF) {
            predict_from_self(&s->target.plain, x0, y0, residual);
        }
        for (int64_t i = 0; i < 16; i++) {
            const int64_t x = x0 + i % 4, y = y0 + i / 4;
            const int32_t predicted = kind == GPUME_FROM_SELF
                                          ? residual[i]
                                          : predicted_from_others(s, index, &motion, x, y);
            residual[i] = plain_at(&s->target.plain, x, y) - predicted;
        }
        count_part(expected, residual, -offset / 6);
    }
}

static void check_counts(const struct gpume_spectrum *found, const struct gpume_spectrum *expected)
{
    for (uint32_t i = 0; i < GPUME_SPECTRUM_BINS; i++) {
        REQUIRE_EQUAL(found->means[i], expected->means[i]);
        REQUIRE_EQUAL(found->details[i], expected->details[i]);
    }
}

/* --- tests */

static void check_scene(const struct scene *s)
{
    struct gpume_spectrum found, expected = {0};
    double vectors[GPUME_SPECTRUM_BINS] = {0};
    const uint32_t blocks = s->target.half.width / 8 * (s->target.half.height / 8);
    gpume_spectrum_measure(&found, &s->predicted);
    for (uint32_t i = 0; i < blocks; i++) {
        const struct motion m = motion_of(s, i);
        const bool moves = m.of[0].dx != 0 || m.of[0].dy != 0 || m.of[1].dx != 0 || m.of[1].dy != 0;
        expected.differing += s->costs[i] > (moves || s->kinds[i] == GPUME_FROM_SELF ? 9 : 4);
        if (s->costs[i] > 12) {
            count_block(&expected, s, i);
            count_vectors(vectors, s, i);
        }
    }
    REQUIRE_EQUAL(found.blocks, blocks);
    REQUIRE_EQUAL(found.sampled, blocks);
    REQUIRE_EQUAL(found.differing, expected.differing);
    check_counts(&found, &expected);
    for (uint32_t i = 0; i < GPUME_SPECTRUM_BINS; i++) {
        REQUIRE(fabs(found.vectors[i] - vectors[i]) < 0.51);
    }
}

static void test_predictions(void)
{
    static const uint32_t sizes[][2] = {{1, 1}, {16, 16}, {33, 47}, {160, 100}};
    static struct scene s;
    for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        scene_init(&s, sizes[i][0], sizes[i][1]);
        check_scene(&s);
        s.predicted.weight = (struct gpume_weight){5, 31, 3}; /* darkens */
        check_scene(&s);
        memset(s.kinds, GPUME_FROM_SELF, sizeof(s.kinds));
        s.predicted.offsets = NULL;
        check_scene(&s);
        scene_free(&s);
    }
}

/* Counts from bins of the one are half an octave or less further up in the other. */
static void test_brighter(void)
{
    static struct scene s;
    struct gpume_spectrum plain, brighter;
    scene_init(&s, 160, 100);
    memset(s.kinds, GPUME_FROM_PAST, sizeof(s.kinds));
    s.predicted.weight = (struct gpume_weight){5, 33, 0};
    s.predicted.distance = 4; /* 1/32 brighter in four frames: not more than 1/128 per frame */
    gpume_spectrum_measure(&plain, &s.predicted);
    s.predicted.distance = 3;
    gpume_spectrum_measure(&brighter, &s.predicted);
    uint32_t sum = 0, moved = 0;
    for (uint32_t i = GPUME_SPECTRUM_BINS; i-- > 0;) {
        sum += plain.details[i];
        moved += brighter.details[i];
        REQUIRE(moved >= sum);
        REQUIRE(i == 0 || moved <= sum + plain.details[i - 1]);
    }
    REQUIRE(memcmp(plain.details, brighter.details, sizeof(plain.details)) != 0);
    scene_free(&s);
}

static double all_vectors(const struct scene *s)
{
    struct gpume_spectrum found;
    double sum = 0;
    gpume_spectrum_measure(&found, &s->predicted);
    for (uint32_t i = 0; i < GPUME_SPECTRUM_BINS; i++) {
        sum += found.vectors[i];
    }
    return sum;
}

static void test_vectors(void)
{
    static struct scene s;
    scene_init(&s, 96, 80); /* 6 x 5 blocks */
    memset(s.vectors, 0, sizeof(s.vectors));
    memset(s.kinds, GPUME_FROM_PAST, sizeof(s.kinds));
    for (uint32_t i = 0; i < 30; i++) {
        s.costs[i] = 13;
    }
    REQUIRE(all_vectors(&s) == 0);
    s.vectors[0][14] = (struct gpume_vector){3, -1}; /* no median of others */
    const double bits = log2(7) + log2(3);
    REQUIRE(fabs(all_vectors(&s) - bits) < 0.51);
    for (uint32_t i = 0; i < 30; i++) { /* one motion: only the first block differs */
        s.vectors[0][i] = (struct gpume_vector){3, -1};
    }
    REQUIRE(fabs(all_vectors(&s) - bits) < 0.51);
    memset(s.kinds, GPUME_FROM_BOTH, sizeof(s.kinds));
    s.vectors[1][29] = (struct gpume_vector){-4, 0};
    REQUIRE(fabs(all_vectors(&s) - bits - log2(9)) < 1.01);
    memset(s.kinds, GPUME_FROM_STILL, sizeof(s.kinds));
    REQUIRE(all_vectors(&s) == 0);
    scene_free(&s);
}

/* Of a large frame every block is looked at sooner or later, whatever the rhythm of frames. */
static void check_sampling(uint32_t width, uint32_t height, uint32_t every)
{
    static struct scene s;
    struct gpume_spectrum found;
    scene_init(&s, width, height);
    const uint32_t blocks = s.target.half.width / 8 * (s.target.half.height / 8);
    const uint32_t chosen = blocks - 1;
    uint32_t seen = 0;
    memset(s.costs, 0, sizeof(s.costs));
    s.costs[chosen] = 13;
    for (uint64_t frame = 0; frame < 64; frame++) {
        s.predicted.frame = frame * every;
        gpume_spectrum_measure(&found, &s.predicted);
        REQUIRE(found.sampled > 0 && found.sampled <= 1000 && found.sampled * 16 >= blocks);
        uint32_t counted = 0;
        for (uint32_t i = 0; i < GPUME_SPECTRUM_BINS; i++) {
            counted += found.details[i];
        }
        seen += counted > 0;
    }
    REQUIRE(seen >= 4 && seen < 60);
    scene_free(&s);
}

/* --- losses */

static double pixel(const struct plain *plain, int64_t x, int64_t y)
{
    return plain_half_at(plain, x, y);
}

/* A pixel at a vector in quarter half samples, which are half pixels. */
static double pixel_matched(const struct plain *plain, int64_t x, int64_t y, struct gpume_vector v)
{
    const int64_t x0 = x + (int64_t)floor(v.dx / 2.0), y0 = y + (int64_t)floor(v.dy / 2.0);
    const int64_t x1 = x + (int64_t)ceil(v.dx / 2.0), y1 = y + (int64_t)ceil(v.dy / 2.0);
    return floor((pixel(plain, x0, y0) + pixel(plain, x1, y0) + pixel(plain, x0, y1) +
                     pixel(plain, x1, y1) + 2) /
                 4);
}

static double pixel_predicted(const struct scene *s, uint32_t index, int64_t x, int64_t y)
{
    const enum gpume_source_kind kind = (enum gpume_source_kind)s->kinds[index];
    const struct motion motion = motion_of(s, index);
    const double a = pixel_matched(&s->past.plain, x, y, motion.of[0]);
    const double b = pixel_matched(&s->future.plain, x, y, motion.of[1]);
    const double share = s->predicted.past_share;
    return kind == GPUME_FROM_PAST     ? weighted(&s->predicted.weight, (int32_t)a)
           : kind == GPUME_FROM_FUTURE ? b
                                       : floor((a * share + b * (64 - share) + 32) / 64);
}

static void pixels_from_self(const struct plain *plain, int64_t x, int64_t y, double out[16])
{
    double mean = 4, least = 1e9;
    for (int64_t i = 0; i < 4; i++) {
        mean += pixel(plain, x + i, y - 1) + pixel(plain, x - 1, y + i);
    }
    for (int mode = 0; mode < 3; mode++) {
        double tried[16], sum = 0;
        for (int64_t i = 0; i < 16; i++) {
            tried[i] = mode == 0   ? pixel(plain, x + i % 4, y - 1)
                       : mode == 1 ? pixel(plain, x - 1, y + i / 4)
                                   : floor(mean / 8);
            sum += fabs(pixel(plain, x + i % 4, y + i / 4) - tried[i]);
        }
        if (sum < least) {
            least = sum;
            memcpy(out, tried, sizeof(tried));
        }
    }
}

/* The energies of coefficients of 4x4 samples, with what the mean of two pixels takes away. */
static void energies_of(const double samples[16], double out[16])
{
    static const double basis[4][4] = {
        {1, 1, 1, 1}, {2, 1, -1, -2}, {1, -1, -1, 1}, {1, -2, 2, -1}};
    static const double norms[4] = {4, 10, 4, 10};
    const double pi = acos(-1);
    for (int v = 0; v < 4; v++) {
        for (int u = 0; u < 4; u++) {
            double sum = 0;
            for (int i = 0; i < 16; i++) {
                sum += samples[i] * basis[u][i % 4] * basis[v][i / 4];
            }
            const double kept = cos(pi * u / 8) * cos(pi * v / 8);
            out[v * 4 + u] = sum * sum / (norms[u] * norms[v]) / (kept * kept);
        }
    }
}

/* The variance of 8x8 pixels of the source: of details, and of the means of 4x4. */
static double variance_of(const struct plain *plain, int64_t x0, int64_t y0)
{
    double details = 0, means = 0, squares = 0;
    for (int part = 0; part < 4; part++) {
        double samples[16], energies[16];
        for (int64_t i = 0; i < 16; i++) {
            samples[i] = pixel(plain, x0 + part % 2 * 4 + i % 4, y0 + part / 2 * 4 + i / 4);
        }
        energies_of(samples, energies);
        for (int k = 1; k < 16; k++) {
            details += energies[k] / 64;
        }
        means += sqrt(energies[0]) / 16;
        squares += energies[0] / 64;
    }
    return details + squares - means * means;
}

typedef double shares_of[GPUME_LOSS_KINDS][GPUME_LOSS_CLASSES][GPUME_LOSS_BINS];

/* Of blocks that do not fit those of 16 pixels, and end before the picture does. */
enum { WEIGHT_SIDE = 20, WEIGHT_COLUMNS = 8, WEIGHT_ROWS = 6 };

static double weight_at(int64_t x, int64_t y)
{
    const int64_t column = x / WEIGHT_SIDE, row = y / WEIGHT_SIDE;
    return 1.0 / (double)(1 + (row < WEIGHT_ROWS ? row : WEIGHT_ROWS - 1) * WEIGHT_COLUMNS +
                          (column < WEIGHT_COLUMNS ? column : WEIGHT_COLUMNS - 1));
}

static void count_losses(const struct scene *s, uint32_t index, shares_of shares)
{
    const uint32_t blocks_x = s->target.half.width / 8;
    const int64_t x0 = index % blocks_x * 16, y0 = index / blocks_x * 16;
    const struct motion motion = motion_of(s, index);
    const bool moves = motion.of[0].dx || motion.of[0].dy || motion.of[1].dx || motion.of[1].dy;
    const double square = exp2(s->offsets[index] / 256.0 / 3);
    const enum gpume_loss_class class = s->kinds[index] == GPUME_FROM_SELF ? GPUME_LOSS_INTRA
                                        : moves                            ? GPUME_LOSS_MOVING
                                                                           : GPUME_LOSS_STILL;
    for (int64_t part = 0; part < 16; part++) {
        const int64_t x = x0 + part % 4 * 4, y = y0 + part / 4 * 4;
        const double variance = variance_of(&s->target.plain, x / 8 * 8, y / 8 * 8);
        double samples[16], energies[16];
        if (class == GPUME_LOSS_INTRA) {
            pixels_from_self(&s->target.plain, x, y, samples);
        }
        for (int64_t i = 0; i < 16; i++) {
            const double by = class == GPUME_LOSS_INTRA
                                  ? samples[i]
                                  : pixel_predicted(s, index, x + i % 4, y + i / 4);
            samples[i] = pixel(&s->target.plain, x + i % 4, y + i / 4) - by;
        }
        energies_of(samples, energies);
        for (int k = 0; k < 16; k++) {
            const double bin = floor(log2(energies[k] / square + 1e-9) + 4) + 1;
            const int at = (int)fmin(GPUME_LOSS_BINS - 1, fmax(0, bin));
            shares[GPUME_LOSS_ERROR][class][at] += square;
            shares[GPUME_LOSS_SSIM][class][at] += square * 58.5225 / (2 * variance + 58.5225);
            shares[GPUME_LOSS_XPSNR][class][at] += square * weight_at(x / 8 * 8 + 4, y / 8 * 8 + 4);
        }
    }
}

static void test_losses(void)
{
    static struct scene s;
    static shares_of expected;
    struct gpume_losses found;
    scene_init(&s, 170, 140);
    s.predicted.weight = (struct gpume_weight){.denominator = 6, .scale = 70, .offset = -3};
    for (uint32_t i = 0; i < 99; i += 7) { /* some stand still */
        s.vectors[0][i] = s.vectors[1][i] = (struct gpume_vector){0, 0};
    }
    for (uint32_t i = 0; i < 99; i++) {
        count_losses(&s, i, expected);
    }
    uint32_t weights[WEIGHT_COLUMNS * WEIGHT_ROWS];
    for (uint32_t i = 0; i < WEIGHT_COLUMNS * WEIGHT_ROWS; i++) {
        weights[i] = 65536 / (1 + i);
    }
    gpume_losses_measure(&found, &s.predicted,
        &(struct gpume_loss_weights){weights, WEIGHT_SIDE, WEIGHT_COLUMNS, WEIGHT_ROWS});
    for (uint32_t i = 0; i < GPUME_LOSS_KINDS; i++) {
        for (uint32_t class = 0; class < GPUME_LOSS_CLASSES; class ++) {
            double all = 0, moved = 0;
            for (uint32_t bin = 0; bin < GPUME_LOSS_BINS; bin++) {
                const double right = expected[i][class][bin] / (99 * 256);
                all += right;
                moved += fabs(found.shares[i][class][bin] / exp2(GPUME_LOSS_ONE) - right);
            }
            /* factors are rounded, so that a few coefficients fall into the bin beside theirs */
            REQUIRE(all > 0 && moved < 0.01 * all);
        }
    }
    /* without blocks, errors count as for PSNR; without weights, not at all */
    const uint32_t one = 65536;
    gpume_losses_measure(&found, &s.predicted, &(struct gpume_loss_weights){.of = &one});
    REQUIRE(memcmp(found.shares[GPUME_LOSS_XPSNR], found.shares[GPUME_LOSS_ERROR],
                sizeof(found.shares[0])) == 0);
    REQUIRE_EQUAL(found.weight, 1u << GPUME_LOSS_ONE);
    gpume_losses_measure(&found, &s.predicted, NULL);
    REQUIRE_EQUAL(found.weight, 0);
    for (uint32_t i = 0; i < GPUME_LOSS_CLASSES * GPUME_LOSS_BINS; i++) {
        REQUIRE_EQUAL((&found.shares[GPUME_LOSS_XPSNR][0][0])[i], 0);
    }
    scene_free(&s);
}

/* The formulas of distortion.h. */
static double left_of(double energy, double limit, double bend)
{
    return energy > 0 ? pow(pow(energy, -bend) + pow(limit, -bend), -1 / bend) : 0;
}

static void check_loss(enum gpume_loss_class class, uint32_t bin, enum gpume_frame_type type,
    double qp, const struct gpume_loss *past, const struct gpume_loss *future)
{
    const struct gpume_loss_model model = {
        .limit = {GPUME_LOSS_FIXED(0.1), GPUME_LOSS_FIXED(0.2), GPUME_LOSS_FIXED(0.3)},
        .bend = {GPUME_LOSS_FIXED(3), GPUME_LOSS_FIXED(1), GPUME_LOSS_FIXED(0.5)},
        .gain = GPUME_LOSS_FIXED(1.5),
        .mean = GPUME_LOSS_FIXED(0.75),
        .floor = GPUME_LOSS_FIXED(0.125),
        .ssim_power = GPUME_LOSS_FIXED(0.9),
        .ssim_octaves = GPUME_LOSS_FIXED(-6),
        .xpsnr_power = GPUME_LOSS_FIXED(0.75),
        .xpsnr_decibels = GPUME_LOSS_FIXED(3),
    };
    const uint32_t of = class == GPUME_LOSS_INTRA || type < GPUME_FRAME_P ? 0
                        : type == GPUME_FRAME_P                           ? 1
                                                                          : 2;
    const double limits[] = {0.1, 0.2, 0.3}, bends[] = {3, 1, 0.5};
    struct gpume_losses losses = {0};
    losses.shares[GPUME_LOSS_ERROR][class][bin] = 1u << GPUME_LOSS_ONE;
    losses.shares[GPUME_LOSS_SSIM][class][bin] = 1u << (GPUME_LOSS_ONE - 2);
    losses.shares[GPUME_LOSS_XPSNR][class][bin] = 1u << (GPUME_LOSS_ONE - 3);
    losses.weight = 1u << (GPUME_LOSS_ONE - 3);
    const struct gpume_loss found =
        gpume_loss_at(&losses, &model, type, (int32_t)(qp * 256), past, future);
    const double own = bin == 0 ? 0 : exp2(bin - 4.5);
    const double reference = past && future ? 0.75 * (double)(past->of[0] + future->of[0]) / 131072
                             : past         ? (double)past->of[0] / 65536
                             : future       ? (double)future->of[0] / 65536
                                            : 0;
    const double energy = class == GPUME_LOSS_INTRA   ? own
                          : class == GPUME_LOSS_STILL ? 1.5 * own + reference
                                                      : fmax(reference, 1.5 * own - reference);
    const double right = left_of(energy, limits[of] * exp2((qp - 4) / 3), bends[of]);
    REQUIRE(
        fabs((double)found.of[GPUME_LOSS_ERROR] / 65536 - right - 0.125) < 0.005 * right + 0.01);
    REQUIRE(fabs((double)found.of[GPUME_LOSS_SSIM] / 65536 - right / 4) < 0.005 * right + 0.01);
    REQUIRE(fabs((double)found.of[GPUME_LOSS_XPSNR] / 65536 - (right + 0.125) / 8) <
            0.005 * right + 0.01);
    if (right > 1) {
        /* sqrt(16 * 2^7 / sqrt(pixels / (3840 * 2160))), by the least activity, 4 */
        const double xpsnr = 10 * log10(65025 * 8 / (right + 0.125));
        const double factor = sqrt(2048 * 4) / 4;
        REQUIRE(fabs(gpume_loss_xpsnr(&found, &model, 960 * 540) -
                     0.75 * (xpsnr - 10 * log10(factor)) - 3) < 0.05);
        REQUIRE(fabs(gpume_loss_xpsnr(&found, &model, 16 * 16) - 0.75 * xpsnr - 3) < 0.05);
        REQUIRE(fabs(gpume_loss_psnr(&found) - 10 * log10(65025 / (right + 0.125))) < 0.05);
        REQUIRE(fabs(log2(1 - gpume_loss_ssim(&found, &model)) - 0.9 * log2(right / 4) + 6) < 0.02);
    }
}

static void test_loss_formulas(void)
{
    const struct gpume_loss fine = {{2 * 65536, 0, 2 * 16384}, 1 << 22},
                            coarse = {{50 * 65536, 0, 50 * 4096}, 1 << 20};
    for (uint32_t bin = 0; bin < GPUME_LOSS_BINS; bin += 3) {
        for (int qp = 4; qp <= 51; qp += 9) {
            check_loss(GPUME_LOSS_INTRA, bin, GPUME_FRAME_IDR, qp, NULL, NULL);
            check_loss(GPUME_LOSS_INTRA, bin, GPUME_FRAME_P, qp + 0.5, &fine, NULL);
            check_loss(GPUME_LOSS_STILL, bin, GPUME_FRAME_P, qp, &coarse, NULL);
            check_loss(GPUME_LOSS_MOVING, bin, GPUME_FRAME_P, qp, &coarse, NULL);
            check_loss(GPUME_LOSS_STILL, bin, GPUME_FRAME_B, qp, &fine, &coarse);
            check_loss(GPUME_LOSS_MOVING, bin, GPUME_FRAME_B_REF, qp, NULL, &fine);
        }
    }
}

int main(void)
{
    test_losses();
    test_loss_formulas();
    test_predictions();
    test_brighter();
    test_vectors();
    check_sampling(1280, 720, 1);
    check_sampling(1280, 720, 4);
    check_sampling(16, 32768, 1);
    return harness_verdict();
}
