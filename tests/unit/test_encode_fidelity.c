/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PSNR, SSIM and XPSNR of generated frames: against FFmpeg's filters, whose values are below, and
 * against the definitions, sample by sample, in pictures of all sizes and depths.
 *
 * The values below are those of psnr and ssim of FFmpeg 5.1 and of xpsnr of FFmpeg 7.1:
 *     test_encode_fidelity FOLDER    writes the frames as FOLDER/N-source.y4m, FOLDER/N-decoded.y4m
 *     ffmpeg -i N-decoded.y4m -i N-source.y4m -lavfi psnr -f null -
 *     ffmpeg -i N-source.y4m -i N-decoded.y4m -lavfi xpsnr -f null -
 */
#include "encode/fidelity.h"
#include "encode/xpsnr.h"
#include "harness.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FRAMES = 4 };

struct known {
    uint32_t width, height, bits, rate;
    double psnr, ssim, xpsnr;
};

static const struct known known[] = {
    {176, 144, 8, 25, 31.829162, 0.986256, 34.3025},
    {369, 281, 8, 50, 31.853967, 0.989687, 38.1267},
    {704, 576, 10, 25, 31.854297, 0.990451, 40.1193},
    {640, 482, 12, 60, 31.847832, 0.990340, 40.1757},
    {2112, 1184, 8, 24, 31.848330, 0.990204, 38.8634},
    {2112, 1184, 10, 50, 31.852483, 0.990192, 39.7643},
};

static struct gpume_plane new_plane(uint32_t width, uint32_t height, uint32_t bits)
{
    const size_t stride = ((size_t)width + 5) * (bits > 8 ? 2 : 1);
    return (struct gpume_plane){calloc(height, stride), (ptrdiff_t)stride, width, height, bits};
}

static uint32_t get_sample(const struct gpume_plane *plane, uint32_t x, uint32_t y)
{
    const char *row = (const char *)plane->data + (ptrdiff_t)y * plane->stride;
    return plane->bits > 8 ? ((const uint16_t *)(const void *)row)[x] : ((const uint8_t *)row)[x];
}

static void set_sample(struct gpume_plane *plane, uint32_t x, uint32_t y, int64_t value)
{
    char *row = (char *)plane->data + (ptrdiff_t)y * plane->stride;
    const int64_t peak = (INT64_C(1) << plane->bits) - 1;
    value = value < 0 ? 0 : value > peak ? peak : value;
    if (plane->bits > 8) {
        ((uint16_t *)(void *)row)[x] = (uint16_t)value;
    } else {
        ((uint8_t *)row)[x] = (uint8_t)value;
    }
}

/* A moving texture, flat at the left and rough at the right; the decoded frame has coarse steps and
 * some noise. */
static void make_frame(
    struct gpume_plane *source, struct gpume_plane *decoded, uint32_t frame, uint64_t *random)
{
    const uint32_t bits = source->bits, step = 1u << (bits - 4);
    for (uint32_t y = 0; y < source->height; y++) {
        for (uint32_t x = 0; x < source->width; x++) {
            const uint32_t wave = (x + 3 * frame) * (y + 2 * frame) / 5 % 160;
            const uint32_t noise = harness_random(random) % (1 + 60 * x / source->width);
            const uint32_t value = (40 + wave + noise) << (bits - 8);
            set_sample(source, x, y, value);
            set_sample(decoded, x, y,
                (int64_t)(get_sample(source, x, y) / step * step) + harness_random(random) % step);
        }
    }
}

/* --- the definitions */

static double sse_of(const struct gpume_plane *a, const struct gpume_plane *b)
{
    double sum = 0;
    for (uint32_t y = 0; y < a->height; y++) {
        for (uint32_t x = 0; x < a->width; x++) {
            const double difference = (double)get_sample(a, x, y) - get_sample(b, x, y);
            sum += difference * difference;
        }
    }
    return sum;
}

/* Wang and others, "Image quality assessment: from error visibility to structural similarity"
 * (2004), with flat windows, and the variance of a sample of 64. */
static double ssim_of_window(
    const struct gpume_plane *a, const struct gpume_plane *b, uint32_t left, uint32_t top)
{
    const double peak = pow(2, a->bits) - 1;
    double mean_a = 0, mean_b = 0, variance = 0, covariance = 0;
    for (uint32_t i = 0; i < 64; i++) {
        mean_a += get_sample(a, left + i % 8, top + i / 8) / 64.;
        mean_b += get_sample(b, left + i % 8, top + i / 8) / 64.;
    }
    for (uint32_t i = 0; i < 64; i++) {
        const double da = get_sample(a, left + i % 8, top + i / 8) - mean_a;
        const double db = get_sample(b, left + i % 8, top + i / 8) - mean_b;
        variance += (da * da + db * db) / 63;
        covariance += da * db / 63;
    }
    const double c1 = .01 * .01 * peak * peak, c2 = .03 * .03 * peak * peak;
    return (2 * mean_a * mean_b + c1) * (2 * covariance + c2) /
           ((mean_a * mean_a + mean_b * mean_b + c1) * (variance + c2));
}

static double ssim_of(const struct gpume_plane *a, const struct gpume_plane *b)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t y = 0; y + 8 <= a->height; y += 4) {
        for (uint32_t x = 0; x + 8 <= a->width; x += 4, count++) {
            sum += ssim_of_window(a, b, x, y);
        }
    }
    return sum / count;
}

/* --- */

static void require_close(double found, double expected, double tolerance, const char *what,
    const struct gpume_fidelity_params *params)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fprintf(stderr, "%s of %" PRIu32 "x%" PRIu32 ", %" PRIu32 " bits: %.6f, not %.6f\n", what,
            params->width, params->height, params->bits, found, expected);
    }
    REQUIRE(fabs(found - expected) <= tolerance);
}

static FILE *open_y4m(const char *folder, size_t number, const char *name, const struct known *clip)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%zu-%s.y4m", folder, number, name);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "YUV4MPEG2 W%" PRIu32 " H%" PRIu32 " F%" PRIu32 ":1 Ip C", clip->width,
        clip->height, clip->rate);
    fprintf(file, clip->bits > 8 ? "mono%" PRIu32 "\n" : "mono\n", clip->bits);
    return file;
}

static void write_frame(FILE *file, const struct gpume_plane *plane)
{
    fputs("FRAME\n", file);
    for (uint32_t y = 0; y < plane->height; y++) {
        fwrite((const char *)plane->data + (ptrdiff_t)y * plane->stride, plane->bits > 8 ? 2 : 1,
            plane->width, file);
    }
}

/* folder: where to write the frames; NULL: compare the values. */
static void check_known(size_t number, const char *folder)
{
    const struct known *clip = &known[number];
    const struct gpume_fidelity_params params = {
        clip->width, clip->height, clip->bits, clip->rate, 1, {0}};
    struct gpume_plane source = new_plane(clip->width, clip->height, clip->bits);
    struct gpume_plane decoded = new_plane(clip->width, clip->height, clip->bits);
    struct gpume_fidelity *fidelity = NULL;
    FILE *files[2] = {NULL, NULL};
    uint64_t random = number + 1;
    REQUIRE_EQUAL(gpume_fidelity_open(&fidelity, &params), GPUME_OK);
    if (folder) {
        files[0] = open_y4m(folder, number, "source", clip);
        files[1] = open_y4m(folder, number, "decoded", clip);
    }
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        make_frame(&source, &decoded, frame, &random);
        gpume_fidelity_add(fidelity, &source, &decoded, NULL);
        if (folder) {
            write_frame(files[0], &source);
            write_frame(files[1], &decoded);
        }
    }
    const struct gpume_fidelity_scores scores = gpume_fidelity_scores(fidelity);
    if (folder) {
        printf("%zu: %.6f %.6f %.4f\n", number, scores.psnr, scores.ssim, scores.xpsnr);
        fclose(files[0]);
        fclose(files[1]);
    } else {
        REQUIRE_EQUAL(scores.frames, FRAMES);
        require_close(scores.psnr, clip->psnr, 0.00005, "PSNR", &params);
        require_close(scores.ssim, clip->ssim, 0.00005, "SSIM", &params);
        require_close(scores.xpsnr, clip->xpsnr, 0.00005, "XPSNR", &params);
    }
    gpume_fidelity_close(&fidelity);
    free(source.data);
    free(decoded.data);
}

/* Any size and depth against the definitions; the sum of frames, too. */
static void check_definitions(uint32_t width, uint32_t height, uint32_t bits)
{
    const struct gpume_fidelity_params params = {width, height, bits, 25, 1, {0}};
    struct gpume_plane source = new_plane(width, height, bits);
    struct gpume_plane decoded = new_plane(width, height, bits);
    struct gpume_fidelity *fidelity = NULL;
    struct gpume_fidelity_frame found;
    uint64_t random = width * 100 + bits;
    double sse = 0, ssim = 0, roots = 0;
    REQUIRE_EQUAL(gpume_fidelity_open(&fidelity, &params), GPUME_OK);
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        make_frame(&source, &decoded, frame, &random);
        gpume_fidelity_add(fidelity, &source, &decoded, &found);
        require_close((double)found.sse, sse_of(&source, &decoded), 0, "errors", &params);
        if (width >= 8 && height >= 8) {
            require_close(found.ssim, ssim_of(&source, &decoded), 2e-5, "SSIM", &params);
        } else {
            REQUIRE(isnan(found.ssim));
        }
        sse += (double)found.sse;
        ssim += found.ssim;
        roots += sqrt((double)found.wsse);
    }
    const struct gpume_fidelity_scores scores = gpume_fidelity_scores(fidelity);
    const double peak = pow(2, bits) - 1, pixels = (double)width * height;
    require_close(
        scores.psnr, 10 * log10(peak * peak * pixels * FRAMES / sse), 1e-9, "PSNR", &params);
    require_close(
        scores.xpsnr, 20 * log10(peak * sqrt(pixels) * FRAMES / roots), 1e-9, "XPSNR", &params);
    REQUIRE(isnan(ssim) || fabs(scores.ssim - ssim / FRAMES) < 1e-9);
    gpume_fidelity_close(&fidelity);
    REQUIRE(!fidelity);
    free(source.data);
    free(decoded.data);
}

/* Deep samples weigh as shallow ones of the same picture: all values but a rounded sum are equal.
 */
static void check_depths(void)
{
    double xpsnr[2] = {0, 0};
    for (uint32_t deep = 0; deep < 2; deep++) {
        const uint32_t bits = deep ? 16 : 8;
        const struct gpume_fidelity_params params = {200, 120, bits, 50, 1, {0}};
        struct gpume_plane source = new_plane(200, 120, bits), decoded = new_plane(200, 120, bits);
        struct gpume_fidelity *fidelity = NULL;
        uint64_t random = 7;
        REQUIRE_EQUAL(gpume_fidelity_open(&fidelity, &params), GPUME_OK);
        for (uint32_t frame = 0; frame < FRAMES; frame++) {
            for (uint32_t i = 0; i < 200 * 120; i++) {
                const uint32_t value = harness_random(&random) % 240,
                               noise = harness_random(&random) % 16;
                set_sample(&source, i % 200, i / 200, (int64_t)value << (bits - 8));
                set_sample(&decoded, i % 200, i / 200, (int64_t)(value + noise) << (bits - 8));
            }
            gpume_fidelity_add(fidelity, &source, &decoded, NULL);
        }
        xpsnr[deep] = gpume_fidelity_scores(fidelity).xpsnr - 20 * log10((1u << bits) - 1) +
                      20 * log10(1u << bits);
        gpume_fidelity_close(&fidelity);
        free(source.data);
        free(decoded.data);
    }
    REQUIRE(fabs(xpsnr[0] - xpsnr[1]) < 0.001);
}

/* The parts by which errors are expected to count are the weights of the measure, which FFmpeg's
 * values above confirm, in every size and depth. */
static void check_parts(uint32_t width, uint32_t height, uint32_t bits)
{
    const struct gpume_fidelity_params params = {width, height, bits, 50, 1, {0}};
    const struct gpume_xpsnr_params of_source = {width, height, bits, 50, 1};
    struct gpume_plane source = new_plane(width, height, bits);
    struct gpume_plane decoded = new_plane(width, height, bits);
    struct gpume_fidelity *fidelity = NULL;
    struct gpume_xpsnr *xpsnr = NULL;
    struct gpume_fidelity_frame found;
    uint64_t random = width + bits;
    REQUIRE_EQUAL(gpume_fidelity_open(&fidelity, &params), GPUME_OK);
    REQUIRE_EQUAL(gpume_xpsnr_open(&xpsnr, &of_source), GPUME_OK);
    const uint32_t side = xpsnr->side > 0 ? xpsnr->side : width + height;
    const uint32_t columns = xpsnr->side > 0 ? xpsnr->columns : 1;
    uint32_t *parts = calloc((size_t)columns * (height / side + 1), sizeof(*parts));
    for (uint32_t frame = 0; frame < FRAMES; frame++) {
        double sum = 0;
        make_frame(&source, &decoded, frame, &random);
        gpume_fidelity_add(fidelity, &source, &decoded, &found);
        gpume_xpsnr_take(xpsnr, &source);
        gpume_xpsnr_parts(xpsnr, parts);
        for (uint32_t i = 0; i < width * height; i++) {
            const uint32_t x = i % width, y = i / width;
            const double error =
                (double)get_sample(&source, x, y) - (double)get_sample(&decoded, x, y);
            sum += error * error * parts[y / side * columns + x / side] / 65536;
        }
        sum *= gpume_xpsnr_factor((uint64_t)width * height);
        require_close((double)found.wsse, sum, 0.01 * sum + 1, "weighted errors", &params);
    }
    gpume_fidelity_close(&fidelity);
    gpume_xpsnr_close(&xpsnr);
    REQUIRE(!xpsnr);
    free(parts);
    free(source.data);
    free(decoded.data);
}

static void check_ends(void)
{
    const struct gpume_fidelity_params params = {64, 48, 8, 25, 1, {0}};
    struct gpume_plane source = new_plane(64, 48, 8), decoded = new_plane(64, 48, 8);
    struct gpume_fidelity *fidelity = NULL;
    uint64_t random = 1;
    REQUIRE_EQUAL(gpume_fidelity_open(&fidelity, &params), GPUME_OK);
    struct gpume_fidelity_scores scores = gpume_fidelity_scores(fidelity);
    REQUIRE(scores.frames == 0 && isnan(scores.psnr) && isnan(scores.ssim) && isnan(scores.xpsnr));
    make_frame(&source, &decoded, 0, &random);
    gpume_fidelity_add(fidelity, &source, &source, NULL);
    scores = gpume_fidelity_scores(fidelity);
    REQUIRE(scores.frames == 1 && isinf(scores.psnr) && scores.ssim == 1 && isinf(scores.xpsnr));
    gpume_fidelity_close(&fidelity);
    gpume_fidelity_close(&fidelity);
    free(source.data);
    free(decoded.data);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[][2] = {
        {1, 1}, {7, 33}, {8, 8}, {33, 9}, {45, 46}, {100, 75}, {641, 483}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        check_known(i, argc > 1 ? argv[1] : NULL);
    }
    if (argc > 1) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        for (uint32_t bits = 8; bits <= 16; bits++) {
            check_definitions(sizes[i][0], sizes[i][1], bits);
            if (sizes[i][0] > 64 || sizes[i][0] < 8) { /* without blocks of a border alone */
                check_parts(sizes[i][0], sizes[i][1], bits);
            }
        }
    }
    check_depths();
    check_ends();
    return harness_verdict();
}
