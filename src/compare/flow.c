/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/comparison.h"

#include "base/base.h"
#include "files/byte_stream.h"
#include "files/bytes.h"
#include "media/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLO_MAGIC "PIEH"
#define FLO_HEAD_BYTES 12u
#define FLO_PIXEL_BYTES 8u
#define FLO_UNKNOWN 1e9f /* larger components mean that the vector is unknown */

#define KITTI_ZERO 32768 /* the sample that stands for 0, and samples in a pixel */
#define KITTI_ONE 64

/* What is read, for whom. */
struct flow_reading {
    struct gpume_flow *flow;
    const struct gpume_vectors_field *field;
    const char *const *names; /* of the run and of the flow */
    const struct gpume_log *log;
};

/* Checks the size first, so that a damaged one takes no memory. */
static int allocate(const struct flow_reading *reading)
{
    struct gpume_flow *flow = reading->flow;
    const struct gpume_vectors_field *field = reading->field;
    /* Blocks may be missing at the edges, where a stream has none. */
    if (field->width > flow->width || field->height > flow->height ||
        flow->width - field->width >= GPUME_BLOCK_MAX ||
        flow->height - field->height >= GPUME_BLOCK_MAX) {
        return gpume_log_fail(reading->log, GPUME_INVALID,
            "%s: frame %" PRIu64 " has %" PRIu32 "x%" PRIu32 " pixels, but %s has %" PRIu32
            "x%" PRIu32,
            reading->names[0], field->frame, field->width, field->height, reading->names[1],
            flow->width, flow->height);
    }
    flow->vectors = malloc((size_t)flow->width * flow->height * sizeof(*flow->vectors));
    return flow->vectors ? GPUME_OK : gpume_log_nomem(reading->log, reading->names[1]);
}

/* To the nearest unit. False: out of range. */
static bool take_pixel(const unsigned char *at, struct gpume_flow_vector *vector)
{
    const float u = gpume_le_get_float(at), v = gpume_le_get_float(at + 4);
    if (isnan(u) || isnan(v) || fabsf(u) > FLO_UNKNOWN || fabsf(v) > FLO_UNKNOWN) {
        *vector = (struct gpume_flow_vector){GPUME_FLOW_UNKNOWN, 0};
        return true;
    }
    if (fabsf(u) > GPUME_FLOW_MAX || fabsf(v) > GPUME_FLOW_MAX) {
        return false;
    }
    *vector = (struct gpume_flow_vector){
        (int32_t)lrint((double)u * GPUME_FLOW_ONE), (int32_t)lrint((double)v * GPUME_FLOW_ONE)};
    return true;
}

static int read_flo(const struct flow_reading *reading, struct gpume_stream *stream)
{
    struct gpume_flow *flow = reading->flow;
    bool ended = false;
    unsigned char head[FLO_HEAD_BYTES], pixel[FLO_PIXEL_BYTES];
    GPUME_CHECK(gpume_stream_read(stream, head, sizeof(head)));
    flow->width = gpume_le_get32(head + 4);
    flow->height = gpume_le_get32(head + 8);
    if (flow->width < 1 || flow->width > GPUME_READ_SIDE_MAX || flow->height < 1 ||
        flow->height > GPUME_READ_SIDE_MAX) {
        return gpume_stream_refuse(stream,
            "%" PRId32 "x%" PRId32 " is not a picture size; sides are 1 to %d pixels",
            (int32_t)flow->width, (int32_t)flow->height, GPUME_READ_SIDE_MAX);
    }
    GPUME_CHECK(allocate(reading));
    for (size_t i = 0; i < (size_t)flow->width * flow->height; i++) {
        GPUME_CHECK(gpume_stream_read(stream, pixel, sizeof(pixel)));
        if (!take_pixel(pixel, &flow->vectors[i])) {
            return gpume_stream_refuse(stream,
                "the vector of the pixel at (%zu,%zu) is longer than %d pixels", i % flow->width,
                i / flow->width, GPUME_FLOW_MAX);
        }
    }
    GPUME_CHECK(gpume_stream_at_end(stream, &ended));
    return ended ? GPUME_OK
                 : gpume_stream_refuse(stream,
                       "there is more than the vectors of %" PRIu32 "x%" PRIu32 " pixels",
                       flow->width, flow->height);
}

static int read_kitti(const struct flow_reading *reading)
{
    struct gpume_flow *flow = reading->flow;
    struct gpume_png16 picture = {0};
    int status = gpume_png16_read(&picture, reading->names[1], reading->log);
    flow->width = picture.width;
    flow->height = picture.height;
    status = status ? status : allocate(reading);
    for (size_t i = 0; status == GPUME_OK && i < (size_t)flow->width * flow->height; i++) {
        const uint16_t *samples = &picture.samples[3 * i];
        const int32_t u = samples[0] - KITTI_ZERO, v = samples[1] - KITTI_ZERO;
        flow->vectors[i] = samples[2] == 0
                               ? (struct gpume_flow_vector){GPUME_FLOW_UNKNOWN, 0}
                               : (struct gpume_flow_vector){u * (GPUME_FLOW_ONE / KITTI_ONE),
                                     v * (GPUME_FLOW_ONE / KITTI_ONE)};
    }
    free(picture.samples);
    return status;
}

int gpume_flow_read(struct gpume_flow *flow, const struct gpume_vectors_field *field,
    const char *const names[2], const struct gpume_log *log)
{
    static const unsigned char png[] = {0x89, 'P', 'N', 'G'};
    const struct flow_reading reading = {flow, field, names, log};
    struct gpume_stream *stream = NULL;
    const unsigned char *data;
    size_t got;
    int status;
    *flow = (struct gpume_flow){0};
    GPUME_TRY(gpume_stream_open(&stream, names[1], log));
    GPUME_TRY(gpume_stream_peek(stream, sizeof(png), &data, &got));
    if (got == sizeof(png) && memcmp(data, png, sizeof(png)) == 0) {
        status = read_kitti(&reading);
    } else if (got == sizeof(png) && memcmp(data, FLO_MAGIC, sizeof(png)) == 0) {
        status = read_flo(&reading, stream);
    } else {
        status = gpume_stream_refuse_whole(
            stream, "is not a flow field; give a Middlebury .flo or a KITTI .png file");
    }
fail:
    gpume_stream_close(&stream);
    return status;
}

void gpume_flow_finish(struct gpume_flow *flow)
{
    free(flow->vectors);
    *flow = (struct gpume_flow){0};
}

/* --- errors */

#define OUTLIER_PIXELS 3
#define OUTLIER_SHARE 20 /* 1/20 of the true length: 5 % */

#define DEGREES (180 / 3.14159265358979323846)

const uint32_t gpume_flow_limits[GPUME_FLOW_LIMITS] = {1, 3, 5};

/* Components are at most 2^16 pixels = 2^31 units apart (a vector's is at most 2^15 pixels, a true
 * one's 2^14), so that squared lengths fit. */
static uint64_t squared(int64_t x, int64_t y)
{
    return (uint64_t)(x * x) + (uint64_t)(y * y);
}

static bool is_above(uint64_t distance, uint32_t pixels)
{
    const uint64_t limit = (uint64_t)pixels * GPUME_FLOW_ONE;
    return distance > limit * limit;
}

/* Between (u,v,1) and its truth in space. By atan2, because acos loses half of the digits of small
 * angles. */
static double angle(double u, double v, double true_u, double true_v)
{
    const double x = v - true_v, y = true_u - u, z = u * true_v - v * true_u;
    return atan2(sqrt(x * x + y * y + z * z), u * true_u + v * true_v + 1) * DEGREES;
}

static void measure_pixel(struct gpume_flow_errors *errors, struct gpume_flow_vector found,
    struct gpume_flow_vector truth)
{
    const double one = GPUME_FLOW_ONE;
    const uint64_t distance = squared((int64_t)found.u - truth.u, (int64_t)found.v - truth.v);
    const uint64_t opposite = squared((int64_t)found.u + truth.u, (int64_t)found.v + truth.v);
    const uint64_t length = squared(truth.u, truth.v);
    const double pixels = sqrt((double)distance) / one;
    errors->pixels++;
    for (uint32_t i = 0; i < GPUME_FLOW_LIMITS; i++) {
        errors->above[i] += is_above(distance, gpume_flow_limits[i]);
    }
    errors->outliers +=
        is_above(distance, OUTLIER_PIXELS) && distance > length / (OUTLIER_SHARE * OUTLIER_SHARE);
    errors->distance_sum += pixels;
    errors->distance_max = fmax(errors->distance_max, pixels);
    errors->opposite_sum += sqrt((double)opposite) / one;
    if (distance > 0) {
        errors->angle_sum += angle(found.u / one, found.v / one, truth.u / one, truth.v / one);
    }
}

/* taken: which pixels have a vector. False: one of this block's has another already. */
static bool measure_block(struct gpume_flow_errors *errors, const struct gpume_flow *flow,
    const struct gpume_vectors_block *block, int32_t scale, bool *taken)
{
    const struct gpume_flow_vector found = {block->dx * scale, block->dy * scale};
    for (uint32_t y = block->y; y < block->y + block->h; y++) {
        const struct gpume_flow_vector *line = flow->vectors + (size_t)y * flow->width;
        bool *taken_line = taken + (size_t)y * flow->width;
        for (uint32_t x = block->x; x < block->x + block->w; x++) {
            if (taken_line[x]) {
                return false;
            }
            taken_line[x] = true;
            if (line[x].u != GPUME_FLOW_UNKNOWN) {
                measure_pixel(errors, found, line[x]);
            }
        }
    }
    return true;
}

int gpume_flow_measure(struct gpume_flow_errors *errors, const struct gpume_flow *flow,
    const struct gpume_vectors_field *field, const char *run, const struct gpume_log *log)
{
    const size_t pixels = (size_t)flow->width * flow->height;
    bool *taken = calloc(pixels, sizeof(*taken)), apart = true;
    const int32_t scale = GPUME_FLOW_ONE / (field->fine ? GPUME_VECTORS_FINE : GPUME_VECTORS_UNITS);
    *errors = (struct gpume_flow_errors){0};
    if (!taken) {
        return gpume_log_nomem(log, run);
    }
    for (size_t i = 0; i < pixels; i++) {
        errors->known += flow->vectors[i].u != GPUME_FLOW_UNKNOWN;
    }
    for (size_t i = 0; i < field->count && apart; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        apart = block->candidate > 0 || measure_block(errors, flow, block, scale, taken);
    }
    free(taken);
    return apart ? GPUME_OK
                 : gpume_log_fail(log, GPUME_INVALID,
                       "%s: frame %" PRIu64 " has several vectors per pixel; run it with one "
                       "shape of blocks, or with --partition",
                       run, field->frame);
}

void gpume_flow_add(struct gpume_flow_errors *total, const struct gpume_flow_errors *errors)
{
    total->known += errors->known;
    total->pixels += errors->pixels;
    for (uint32_t i = 0; i < GPUME_FLOW_LIMITS; i++) {
        total->above[i] += errors->above[i];
    }
    total->outliers += errors->outliers;
    total->distance_sum += errors->distance_sum;
    total->distance_max = fmax(total->distance_max, errors->distance_max);
    total->opposite_sum += errors->opposite_sum;
    total->angle_sum += errors->angle_sum;
}
