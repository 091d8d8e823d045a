/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume-denoise: removes noise from the luma of a video by averaging along the motion.
 *
 *     gpume-denoise [-y] [-s SIGMA] [-r RADIUS] [-b BLOCK] [-w WINDOW] [INPUT.y4m [OUTPUT.y4m]]
 *
 * Every frame is searched in the RADIUS frames before it and after it (default 3), each of which
 * then predicts it. A pixel becomes a weighted mean of itself and its predictions. The weight of a
 * prediction falls with its difference from the frame around the pixel, beyond what noise explains,
 * and the faster the less its vector is to be relied on. SIGMA is the standard deviation of the
 * noise in steps of 8 bits (default: measured in the first frame). BLOCK is 16, WINDOW 16 pixels.
 * Without names, or for -, standard input and output are taken; -y replaces an existing output. Y4M
 * of 8 to 16 bits; chroma is copied. The last line on standard error has the number of frames and
 * SIGMA. It shows:
 *
 * - a search in several past and future frames in one run (params.distances, direction), with
 *   frames predicted by libgpume (want_predicted), so that nothing is interpolated here;
 * - a search that noise does not mislead: a prefilter, and a price for vectors that differ from
 *   their neighbours (choose_search);
 * - the confidence of vectors as a weight (doubt_of).
 *
 * motion_energy.c explains how sending and receiving nest, and README.md compares the result with
 * that of FFmpeg's denoisers. Exit status: 0 success, 1 failure, 2 wrong usage.
 */
#include "y4m.h"

#include <gpume/gpume.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIUS_MAX 8
#define ONE 256u    /* the weight of the pixel itself, and the most that a prediction can have */
#define REACH 2     /* pixels on each side that are compared to weigh a prediction */
#define STEPS 64    /* entries of the table of weights per variance of the noise */
#define TABLE 1024u /* entries: up to 16 variances */

/* Chosen on three clips with noise of 5, 10 and 20 steps, for the highest PSNR. */
#define EXPECTED 2.0 /* variances by which two noisy pictures of the same differ */
#define FALL 2.5     /* variances beyond that at which the weight has fallen to 37 % */
#define PRICE 1.0    /* of a bit of a vector, in standard deviations of the noise */
#define BLUR 1.0     /* pixels: the prefilter's sigma */

/* A frame as it was read, until the searches in its neighbours are done. */
struct picture {
    struct picture *next;
    uint8_t bytes[];
};

struct denoiser {
    struct y4m y4m;
    gpume *ctx;
    struct gpume_params params;
    double sigma; /* in steps of 8 bits; negative: measure it */
    uint32_t radius;
    struct picture *first, **last;
    uint64_t number;   /* of the first picture of the list */
    uint32_t *sums;    /* per pixel of the first picture: its weighted predictions */
    uint32_t *weights; /* and their weights */
    uint64_t *squares; /* per pixel: squared difference from a prediction; then a row of sums */
    float *doubts;     /* of a field's blocks */
    uint16_t table[TABLE];
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "gpume-denoise: %s: %s\n", what, why);
    return -1;
}

static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "gpume-denoise: %s\n", line);
    }
}

/* In steps of the video's own depth. */
static double noise_of(const struct denoiser *denoiser)
{
    return denoiser->sigma * (double)(1u << (denoiser->y4m.bits - 8));
}

/* Writes the first picture of the list, with the weighted mean in place of its luma. */
static int write_picture(struct denoiser *denoiser)
{
    struct picture *picture = denoiser->first;
    struct y4m *y4m = &denoiser->y4m;
    for (size_t i = 0; i < y4m->luma; i++) {
        const uint32_t weight = denoiser->weights[i] + ONE;
        const uint32_t sum = denoiser->sums[i] + y4m_sample(y4m, picture->bytes, i) * ONE;
        y4m_set_sample(y4m, picture->bytes, i, (sum + weight / 2) / weight);
    }
    memset(denoiser->sums, 0, y4m->luma * sizeof *denoiser->sums);
    memset(denoiser->weights, 0, y4m->luma * sizeof *denoiser->weights);
    const int status = y4m_write(y4m, picture->bytes);
    denoiser->first = picture->next;
    denoiser->last = denoiser->first ? denoiser->last : &denoiser->first;
    denoiser->number++;
    free(picture);
    return status;
}

/* --- weights */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The noise of a picture: the response to a mask that texture hardly excites (Immerkaer, "Fast
 * noise variance estimation", CVIU 64, 1996), in the flattest sixth of its blocks of 16x16. */
static double measure_noise(const struct denoiser *denoiser, const uint8_t *bytes)
{
    static const int mask[3][3] = {{1, -2, 1}, {-2, 4, -2}, {1, -2, 1}};
    const uint32_t width = denoiser->y4m.width, height = denoiser->y4m.height;
    double *blocks = malloc(((size_t)width / 16 + 1) * (height / 16 + 1) * sizeof *blocks);
    size_t count = 0;
    for (uint32_t top = 1; blocks && top + 17 <= height; top += 16) {
        for (uint32_t left = 1; left + 17 <= width; left += 16) {
            double sum = 0;
            for (uint32_t i = 0; i < 256; i++) {
                int response = 0;
                for (uint32_t k = 0; k < 9; k++) {
                    const size_t at =
                        (size_t)(top + i / 16 + k / 3 - 1) * width + left + i % 16 + k % 3 - 1;
                    response += mask[k / 3][k % 3] * (int)y4m_sample(&denoiser->y4m, bytes, at);
                }
                sum += abs(response);
            }
            blocks[count] = sum / 256 * sqrt(acos(-1.0) / 2) / 6;
            count += sum > 0;
        }
    }
    double sigma = 0;
    if (count > 0) {
        qsort(blocks, count, sizeof *blocks, compare);
        sigma = blocks[count / 6];
    }
    free(blocks);
    return sigma;
}

/* How little a vector is to be relied on, as a factor of differences, from 1: it leads elsewhere
 * than the reverse search says, in a block that has more texture than noise alone would show, so
 * that a wrong vector matters. */
static float doubt_of(
    const struct denoiser *denoiser, const struct gpume_field *field, uint32_t block)
{
    const struct gpume_layer *layer = field->layers[0];
    const double noise = noise_of(denoiser), pixels = (double)layer->block_w * layer->block_h;
    /* Noise alone makes neighbours differ by 1.13 sigma, in x and in y. */
    const double texture = fmax(layer->texture[block] / pixels - 2.26 * noise, 0);
    const uint32_t returns = layer->returns[block];
    const double astray = returns == GPUME_NONE ? 4 : (double)returns / field->vector_units;
    return (float)(1 + texture / (texture + 2 * noise + 1) * fmin(astray, 4) / 4);
}

/* The weight of a prediction whose mean squared difference is i / STEPS variances. Two noisy
 * pictures differ by two variances; interpolation makes that less. */
static void make_table(struct denoiser *denoiser)
{
    for (uint32_t i = 0; i < TABLE; i++) {
        const double beyond = (double)i / STEPS - EXPECTED;
        denoiser->table[i] = (uint16_t)lrint(ONE * exp(-(beyond > 0 ? beyond : 0) / FALL));
    }
}

static uint32_t predicted_at(const struct gpume_field *field, uint32_t x, uint32_t y)
{
    const uint8_t *row =
        (const uint8_t *)field->predicted.data + (ptrdiff_t)y * field->predicted.stride;
    return field->predicted.bits == 8 ? row[x] : ((const uint16_t *)(const void *)row)[x];
}

/* Adds the prediction of a row. columns: sums of squares over the rows around it; scale: from a
 * pixel's sum to entries of the table. */
static void add_row(struct denoiser *denoiser, const struct gpume_field *field, uint32_t y,
    const uint64_t *columns, double scale)
{
    const uint32_t width = denoiser->y4m.width;
    const struct gpume_layer *layer = field->layers[0];
    const float *doubts = denoiser->doubts + (size_t)(y / layer->block_h) * layer->blocks_x;
    uint64_t sum = 0;
    for (uint32_t x = 0; x < width + REACH; x++) {
        sum += x < width ? columns[x] : 0;
        sum -= x > 2 * REACH ? columns[x - 2 * REACH - 1] : 0;
        if (x >= REACH) {
            const uint32_t at = x - REACH;
            const double entry = (double)sum * scale * (double)doubts[at / layer->block_w];
            const uint32_t weight = entry < TABLE ? denoiser->table[(uint32_t)entry] : 0;
            denoiser->sums[(size_t)y * width + at] += weight * predicted_at(field, at, y);
            denoiser->weights[(size_t)y * width + at] += weight;
        }
    }
}

static void add_prediction(struct denoiser *denoiser, const struct gpume_field *field)
{
    const uint32_t width = denoiser->y4m.width, height = denoiser->y4m.height;
    const double noise = noise_of(denoiser), area = (2 * REACH + 1) * (2 * REACH + 1);
    const double scale = noise > 0 ? STEPS / (area * noise * noise) : 1e30;
    uint64_t *squares = denoiser->squares, *columns = squares + denoiser->y4m.luma;
    memset(columns, 0, width * sizeof *columns);
    for (uint32_t y = 0; y < height + REACH; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const size_t at = (size_t)y * width + x;
            if (y < height) {
                const int64_t difference =
                    (int64_t)y4m_sample(&denoiser->y4m, denoiser->first->bytes, at) -
                    predicted_at(field, x, y);
                squares[at] = (uint64_t)(difference * difference);
                columns[x] += squares[at];
            }
            columns[x] -= y > 2 * REACH ? squares[at - (2 * REACH + 1) * (size_t)width] : 0;
        }
        if (y >= REACH) {
            add_row(denoiser, field, y - REACH, columns, scale);
        }
    }
}

/* --- the run */

/* The price keeps vectors from wandering where noise alone decides. */
static void choose_search(struct denoiser *denoiser, struct gpume_prefilter *filter)
{
    struct gpume_params *params = &denoiser->params;
    const double price = 256 * PRICE * noise_of(denoiser);
    params->width = denoiser->y4m.width;
    params->height = denoiser->y4m.height;
    params->bits = denoiser->y4m.bits;
    for (uint32_t i = 0; i < denoiser->radius; i++) {
        params->distances[i] = i + 1;
    }
    params->distance_count = denoiser->radius;
    params->direction = GPUME_DIRECTION_BOTH;
    params->confidence = true;
    params->want_predicted = true;
    params->subpel = 4;
    params->rate = true;
    params->predictor = GPUME_PREDICTOR_MEDIAN;
    params->lambda = price < GPUME_LAMBDA_MAX ? (uint32_t)price : GPUME_LAMBDA_MAX;
    *filter = (struct gpume_prefilter){
        .size = sizeof *filter, .kind = GPUME_PREFILTER_GAUSS, .sigma = BLUR};
    params->prefilter = filter;
}

static int open_estimator(struct denoiser *denoiser)
{
    struct gpume_prefilter filter;
    const struct y4m *y4m = &denoiser->y4m;
    const size_t blocks =
        ((size_t)y4m->width / GPUME_BLOCK_MIN + 1) * ((size_t)y4m->height / GPUME_BLOCK_MIN + 1);
    if (denoiser->sigma < 0) {
        denoiser->sigma = measure_noise(denoiser, denoiser->first->bytes) / (1u << (y4m->bits - 8));
    }
    choose_search(denoiser, &filter);
    make_table(denoiser);
    denoiser->sums = calloc(y4m->luma, sizeof *denoiser->sums);
    denoiser->weights = calloc(y4m->luma, sizeof *denoiser->weights);
    denoiser->squares = malloc((y4m->luma + y4m->width) * sizeof *denoiser->squares);
    denoiser->doubts = malloc(blocks * sizeof *denoiser->doubts);
    if (!denoiser->sums || !denoiser->weights || !denoiser->squares || !denoiser->doubts) {
        return fail("input", "out of memory");
    }
    return gpume_open(&denoiser->ctx, &denoiser->params) == GPUME_OK ? 0 : -1;
}

/* Receives a field, if there is one. Those of a frame come one after the other; when the first of
 * another comes, the frame is complete. */
static int receive(struct denoiser *denoiser)
{
    const struct gpume_field *field = NULL;
    int status = gpume_receive(denoiser->ctx, &field, 0);
    if (status != GPUME_OK) {
        return status;
    }
    while (status == GPUME_OK && denoiser->number < field->frame) {
        status = write_picture(denoiser) == 0 ? GPUME_OK : GPUME_IO;
    }
    if (status == GPUME_OK) {
        for (uint32_t i = 0; i < field->blocks_x * field->blocks_y; i++) {
            denoiser->doubts[i] = doubt_of(denoiser, field, i);
        }
        add_prediction(denoiser, field);
    }
    gpume_field_release(&field);
    return status;
}

/* Samples above the depth, which damaged files may hold, are clipped: gpume must not get any. */
static void fill(const struct y4m *y4m, const uint8_t *bytes, const struct gpume_plane *to)
{
    const uint32_t peak = (1u << to->bits) - 1;
    for (uint32_t y = 0; y < to->height; y++) {
        uint8_t *row = (uint8_t *)to->data + (ptrdiff_t)y * to->stride;
        for (uint32_t x = 0; x < to->width; x++) {
            const uint32_t sample = y4m_sample(y4m, bytes, (size_t)y * to->width + x);
            if (to->bits == 8) {
                row[x] = (uint8_t)sample;
            } else {
                ((uint16_t *)(void *)row)[x] = (uint16_t)(sample < peak ? sample : peak);
            }
        }
    }
}

/* Sends the picture that was read last. */
static int send_frame(struct denoiser *denoiser, const uint8_t *bytes)
{
    gpume_frame *pooled = NULL;
    struct gpume_plane plane;
    if (!denoiser->ctx && open_estimator(denoiser) < 0) {
        return -1;
    }
    int status = gpume_frame_acquire(denoiser->ctx, &pooled, &plane, 0);
    while (status == GPUME_AGAIN) { /* the pool is empty until a field is released */
        status = receive(denoiser);
        if (status == GPUME_OK) {
            status = gpume_frame_acquire(denoiser->ctx, &pooled, &plane, 0);
        }
    }
    if (status == GPUME_OK) {
        fill(&denoiser->y4m, bytes, &plane);
        status = gpume_send(denoiser->ctx, &pooled, 0);
    }
    return status == GPUME_OK ? 0 : fail("estimating", gpume_status_text(status));
}

static int drain(struct denoiser *denoiser)
{
    int status = gpume_finish(denoiser->ctx);
    while (status == GPUME_OK) {
        status = receive(denoiser);
    }
    while (status == GPUME_EOF && denoiser->first) {
        status = write_picture(denoiser) == 0 ? GPUME_EOF : GPUME_IO;
    }
    return status == GPUME_EOF ? 0 : fail("estimating", gpume_status_text(status));
}

/* 1 with a frame at the end of the list, which has been sent; 0 at the end of the input. */
static int take_frame(struct denoiser *denoiser)
{
    struct picture *picture = malloc(sizeof *picture + denoiser->y4m.frame_bytes);
    if (!picture) {
        return fail("input", "out of memory");
    }
    const int got = y4m_read(&denoiser->y4m, picture->bytes);
    if (got <= 0) {
        free(picture);
        return got;
    }
    picture->next = NULL;
    *denoiser->last = picture;
    denoiser->last = &picture->next;
    return send_frame(denoiser, picture->bytes) < 0 ? -1 : 1;
}

static int run(struct denoiser *denoiser)
{
    int got;
    do {
        got = take_frame(denoiser);
    } while (got > 0);
    return got == 0 && denoiser->ctx ? drain(denoiser) : got;
}

static void finish(struct denoiser *denoiser)
{
    while (denoiser->first) {
        struct picture *picture = denoiser->first;
        denoiser->first = picture->next;
        free(picture);
    }
    free(denoiser->sums);
    free(denoiser->weights);
    free(denoiser->squares);
    free(denoiser->doubts);
}

/* --- the command line */

static bool parse(const char *text, double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && *value >= 0 && *value <= GPUME_WINDOW_MAX;
}

static bool parse_options(struct denoiser *denoiser, int argc, char **argv, int *at)
{
    struct gpume_params *params = &denoiser->params;
    double value;
    for (*at = 1; *at < argc && argv[*at][0] == '-' && argv[*at][1] != '\0'; *at += 2) {
        const char option = argv[*at][2] == '\0' ? argv[*at][1] : '?';
        if (option == 'y') {
            denoiser->y4m.overwrite = true;
            --*at; /* it has no value */
            continue;
        }
        if (*at + 1 >= argc || !parse(argv[*at + 1], &value)) {
            return false;
        }
        if (option == 's') {
            denoiser->sigma = value;
        } else if (option == 'r' && value >= 1 && value <= RADIUS_MAX) {
            denoiser->radius = (uint32_t)value;
        } else if (option == 'b') {
            params->block = (uint32_t)value;
        } else if (option == 'w') {
            params->window_x = params->window_y = (uint32_t)value;
        } else {
            return false;
        }
    }
    return argc - *at <= 2;
}

int main(int argc, char **argv)
{
    int at;
    struct denoiser denoiser = {.y4m = {.program = "gpume-denoise"}, .sigma = -1, .radius = 3};
    denoiser.last = &denoiser.first;
    gpume_params_default(&denoiser.params);
    denoiser.params.log = print_log;
    denoiser.params.block = 16;
    denoiser.params.window_x = denoiser.params.window_y = 16;
    if (!parse_options(&denoiser, argc, argv, &at)) {
        fprintf(stderr, "usage: gpume-denoise [-y] [-s SIGMA] [-r RADIUS] [-b BLOCK] [-w WINDOW] "
                        "[INPUT.y4m [OUTPUT.y4m]]\n");
        return 2;
    }
    /* An older library does not know all that the headers of this program promise. */
    if (gpume_api_version() < GPUME_API_VERSION) {
        fail("libgpume", "older than the version that this program was built for");
        return 1;
    }
    int result =
        y4m_open(&denoiser.y4m, at < argc ? argv[at] : NULL, at + 1 < argc ? argv[at + 1] : NULL);
    if (result == 0) {
        result = run(&denoiser);
    }
    const int closed = gpume_close(&denoiser.ctx); /* the first failure of the run, if any */
    finish(&denoiser);
    if (y4m_close(&denoiser.y4m, result == 0 && closed == GPUME_OK) < 0) {
        result = -1;
    }
    if (result < 0 || closed != GPUME_OK) {
        return 1;
    }
    fprintf(stderr, "gpume-denoise: %llu frame%s, noise of %.2f steps of 8 bits\n",
        (unsigned long long)denoiser.number, denoiser.number == 1 ? "" : "s",
        denoiser.sigma > 0 ? denoiser.sigma : 0);
    return 0;
}
