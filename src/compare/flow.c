/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/flow.h"

#include "base/status.h"
#include "files/byte_stream.h"
#include "files/little_endian.h"
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
struct reading {
    struct gpume_flow *flow;
    const struct gpume_vectors_field *field;
    const char *const *names; /* of the run and of the flow */
    const struct gpume_log *log;
};

/* Checks the size first, so that a damaged one takes no memory. */
static int allocate(const struct reading *reading)
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

static int read_flo(const struct reading *reading, struct gpume_stream *stream)
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

static int read_kitti(const struct reading *reading)
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
    const struct reading reading = {flow, field, names, log};
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
