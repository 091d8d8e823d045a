/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mandelbrot: a picture of the Mandelbrot set, by your own kernel in two dimensions.
 *
 *     mandelbrot WIDTH HEIGHT FILE
 *
 * Writes FILE as PPM: the set in black, other points in colours by their number of iterations. Read
 * saxpy.c first. This program adds:
 *
 *     - two-dimensional workgroups, with more invocations than pixels at the right and bottom edges
 *     - a specialization constant: the limit of iterations is fixed when the kernel is compiled for
 *       the device, whereas push constants can change from run to run
 *     - an array that the host never fills: gpume_array_sum adds up what the kernel has written,
 *       without copying it to the host
 *     - fixed-point numbers rather than floats: the same picture, bit for bit, on every device
 *
 * Output: the device, the iterations of all pixels, the number of pixels inside the set, and the
 * rate. Exit status: 0 success, 1 failure, 2 wrong usage, 3 no Vulkan device.
 */
#include <gpume/compute.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t code[] =
#include "mandelbrot.inc"
    ;

/* Push of the kernel. Positions are in units of 2^-24. */
struct push {
    uint32_t width, height;
    int32_t left, top, pitch; /* c of the first pixel; distance of neighbours */
};

enum {
    GROUP = 8, /* invocations across and down, as in the kernel */
    SIDE_MAX = 16384,
    ASPECT_MAX = 4, /* the kernel's bounds rely on it */
    NO_DEVICE = 1,
};

/* 1 in fixed point. */
static const int64_t one = 1 << 24;

static const uint32_t limit = 1000; /* iterations */

struct mandelbrot {
    struct push push;
    uint32_t *counts;
    uint64_t iterations, run_ns;
    bool logged; /* the library has logged an error */
};

static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    struct mandelbrot *mandelbrot = opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "mandelbrot: %s\n", line);
        mandelbrot->logged = mandelbrot->logged || level == GPUME_LOG_ERROR;
    }
}

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "mandelbrot: %s: %s\n", what, why);
    return 1;
}

/* Shows at least -2.25 to 1.25 across and -1.25 to 1.25 down, centred on -0.5. */
static struct push view(uint32_t width, uint32_t height)
{
    const int64_t across = 7 * one / (2 * (int64_t)width), down = 5 * one / (2 * (int64_t)height);
    const int64_t pitch = across > down ? across : down;
    return (struct push){.width = width,
        .height = height,
        .left = (int32_t)(-one / 2 - pitch * (width - 1) / 2),
        .top = (int32_t)(-pitch * (height - 1) / 2),
        .pitch = (int32_t)pitch};
}

static uint64_t pixels_of(const struct mandelbrot *mandelbrot)
{
    return (uint64_t)mandelbrot->push.width * mandelbrot->push.height;
}

static int run(struct mandelbrot *mandelbrot, gpume_compute *compute, gpume_array *counts)
{
    const struct gpume_program_params kernel = {.size = sizeof(kernel),
        .spirv = code,
        .spirv_bytes = sizeof code,
        .array_count = 1,
        .push_bytes = sizeof(struct push),
        .constants = &limit,
        .constant_count = 1};
    gpume_program *program = NULL;
    int status = gpume_program_create(compute, &program, &kernel);
    if (status == GPUME_OK) {
        const uint32_t groups[3] = {(mandelbrot->push.width + GROUP - 1) / GROUP,
            (mandelbrot->push.height + GROUP - 1) / GROUP, 1};
        struct gpume_compute_times times;
        status = gpume_program_run(program, &counts, &mandelbrot->push, groups);
        gpume_compute_get_times(compute, &times); /* of the last call */
        mandelbrot->run_ns = times.run_ns;
    }
    const uint64_t pixels = pixels_of(mandelbrot);
    if (status == GPUME_OK) {
        status = gpume_array_sum(counts, GPUME_ELEMENT_U32, 0, pixels, &mandelbrot->iterations);
    }
    if (status == GPUME_OK) {
        status = gpume_array_read(counts, 0, mandelbrot->counts, pixels * sizeof(uint32_t));
    }
    gpume_program_destroy(&program);
    return status;
}

static int on_device(struct mandelbrot *mandelbrot)
{
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_VULKAN;
    params.log = print_log;
    params.log_opaque = mandelbrot;
    gpume_compute *compute = NULL;
    int status = gpume_compute_open(&compute, &params);
    if (status != GPUME_OK) {
        return status == GPUME_DEVICE ? NO_DEVICE : status;
    }
    struct gpume_compute_info info;
    gpume_compute_get_info(compute, &info);
    printf("device %s\n", info.device);
    gpume_array *counts = NULL;
    status = gpume_array_create(compute, &counts, pixels_of(mandelbrot) * sizeof(uint32_t));
    if (status == GPUME_OK) {
        status = run(mandelbrot, compute, counts);
    }
    gpume_array_destroy(&counts);
    const int closed = gpume_compute_close(&compute);
    return status != GPUME_OK ? status : closed;
}

/* Rises from 0 to 255 and falls back to 0, with a period of 512. */
static uint8_t wave(uint32_t phase)
{
    const uint32_t position = phase % 512;
    return (uint8_t)(position < 256 ? position : 511 - position);
}

/* Colours change more slowly at large counts, which vary most between neighbours. */
static void colour(uint32_t count, uint8_t rgb[3])
{
    const uint32_t phase = count < 64 ? 8 * count : 512 + 2 * (count - 64);
    rgb[0] = count == limit ? 0 : wave(phase / 2);
    rgb[1] = count == limit ? 0 : wave(3 * phase / 4);
    rgb[2] = count == limit ? 0 : wave(64 + phase);
}

/* PPM: a text header, then three bytes per pixel. Counts the pixels inside the set in *inside. */
static int write_picture(const struct mandelbrot *mandelbrot, const char *path, uint64_t *inside)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        return fail(path, strerror(errno));
    }
    const uint64_t pixels = pixels_of(mandelbrot);
    fprintf(file, "P6\n%" PRIu32 " %" PRIu32 "\n255\n", mandelbrot->push.width,
        mandelbrot->push.height);
    for (uint64_t i = 0; i < pixels; i++) {
        uint8_t rgb[3];
        colour(mandelbrot->counts[i], rgb);
        *inside += mandelbrot->counts[i] == limit;
        fwrite(rgb, 1, sizeof rgb, file);
    }
    const bool bad = ferror(file) != 0;
    return fclose(file) != 0 || bad ? fail(path, "cannot be written") : 0;
}

static int paint(struct mandelbrot *mandelbrot, const char *path)
{
    mandelbrot->counts = malloc(pixels_of(mandelbrot) * sizeof(uint32_t));
    if (!mandelbrot->counts) {
        return fail(path, "out of memory");
    }
    const int status = on_device(mandelbrot);
    if (status < 0 && !mandelbrot->logged) {
        fail("the device", gpume_status_text(status));
    }
    if (status != GPUME_OK) {
        return status == NO_DEVICE ? 3 : 1;
    }
    uint64_t inside = 0;
    const int result = write_picture(mandelbrot, path, &inside);
    if (result == 0) {
        printf("%" PRIu64 " iterations, %" PRIu64 " of %" PRIu64 " pixels inside\n",
            mandelbrot->iterations, inside, pixels_of(mandelbrot));
        printf("%.6f ms, %.3f billion iterations per second\n", (double)mandelbrot->run_ns / 1e6,
            (double)mandelbrot->iterations / (double)mandelbrot->run_ns);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return fail("standard output", "cannot be written");
    }
    return result;
}

static bool parse_side(const char *text, uint32_t *side)
{
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    *side = (uint32_t)number;
    return *text >= '1' && *text <= '9' && *end == '\0' && number <= SIDE_MAX;
}

int main(int argc, char **argv)
{
    uint32_t width = 0, height = 0;
    if (argc != 4 || !parse_side(argv[1], &width) || !parse_side(argv[2], &height) ||
        width > ASPECT_MAX * height || height > ASPECT_MAX * width) {
        fprintf(stderr,
            "usage: mandelbrot WIDTH HEIGHT FILE, sides from 1 to %d pixels, neither "
            "more than %d times the other\n",
            SIDE_MAX, ASPECT_MAX);
        return 2;
    }
    struct mandelbrot mandelbrot = {.push = view(width, height)};
    const int result = paint(&mandelbrot, argv[3]);
    free(mandelbrot.counts);
    return result;
}
