/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public functions of gpume/filter.h: what they are given is checked, and goes to one filter
 * (progressive.c), or of interlaced frames to two. For those, the field of the even lines and that
 * of the odd ones are copied, sent, received and woven in turn. Both filters have the same numbers
 * of frames and pictures, so neither waits for long.
 */
#include "gpume/filter.h"

#include "base/base.h"
#include "base/params.h"
#include "filter/temporal.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 2u
#define PLANES GPUME_FILTER_PLANES

struct gpume_filter {
    struct gpume_locked_log locked;
    struct gpume_filter_params params;         /* of frames; without its strings, once it is open */
    struct gpume_progressive *filters[FIELDS]; /* of whole frames, or of a field each */
    uint32_t count;
    bool finished;
    int status; /* the first failure */
    atomic_bool cancelled;
    uint32_t received;                 /* results for the frame at hand */
    struct gpume_filter_result result; /* that is put together */

    /* Of fields: */
    struct gpume_plane copies[FIELDS][PLANES];
    struct gpume_plane woven[PLANES];
    uint32_t sent; /* of the frame at hand */
    bool repeats;  /* that frame */
};

/* --- parameters */

int gpume_filter_params_fill(struct gpume_filter_params *params)
{
    static const struct gpume_filter_params defaults = {.bits = 8,
        .plane_count = PLANES,
        .chroma_x = 1,
        .chroma_y = 1,
        .strength = 1,
        .sigma = GPUME_FILTER_MEASURE,
        .radius = GPUME_FILTER_RADIUS_MAX,
        .window_x = 16,
        .window_y = 16};
    return params ? gpume_sized_write(params, &defaults, sizeof(defaults)) : GPUME_INVALID;
}

static int check_number(const char *name, double value, double least, double most, const char *also,
    const struct gpume_log *log)
{
    return value >= least && value <= most /* no NaN */
               ? GPUME_OK
               : gpume_log_fail(log, GPUME_INVALID, "%s %g: must be from %g to %g%s", name, value,
                     least, most, also);
}

static int check_params(const struct gpume_filter_params *p, const struct gpume_log *log)
{
    const double window = GPUME_FILTER_WINDOW_MAX;
    GPUME_CHECK(gpume_args_check_number(GPUME_PARAM(width), p->width, log));
    GPUME_CHECK(gpume_args_check_number(GPUME_PARAM(height), p->height, log));
    GPUME_CHECK(gpume_args_check_number(GPUME_PARAM(bits), p->bits, log));
    GPUME_CHECK(gpume_args_check_number(GPUME_PARAM(metric), (unsigned)p->metric, log));
    GPUME_CHECK(gpume_args_check_number(GPUME_PARAM(backend), (unsigned)p->backend, log));
    if (p->plane_count != 1 && p->plane_count != PLANES) {
        return gpume_log_fail(
            log, GPUME_INVALID, "plane_count %u: must be 1 or %u", p->plane_count, PLANES);
    }
    GPUME_CHECK(check_number("chroma_x", p->chroma_x, 0, 1, "", log));
    GPUME_CHECK(check_number("chroma_y", p->chroma_y, 0, 1, "", log));
    GPUME_CHECK(check_number("strength", p->strength, 0, GPUME_FILTER_STRENGTH_MAX, "", log));
    GPUME_CHECK(check_number("spatial", p->spatial, 0, GPUME_FILTER_SPATIAL_MAX, "", log));
    if (p->sigma != GPUME_FILTER_MEASURE) {
        GPUME_CHECK(check_number(
            "sigma", p->sigma, 0, GPUME_FILTER_SIGMA_MAX, ", or GPUME_FILTER_MEASURE", log));
    }
    GPUME_CHECK(check_number("radius", p->radius, 1, GPUME_FILTER_RADIUS_MAX, "", log));
    GPUME_CHECK(check_number("window_x", p->window_x, 1, window, "", log));
    GPUME_CHECK(check_number("window_y", p->window_y, 1, window, "", log));
    return p->device && p->devices
               ? gpume_log_fail(log, GPUME_INVALID, "device, devices: give one of them")
               : GPUME_OK;
}

/* --- fields */

/* Rows of a plane of frames, or of one of fields: half of luma's, rounded up. */
static uint32_t lines_of(const struct gpume_filter *filter, uint32_t plane, bool field)
{
    const uint32_t shift = plane > 0 ? filter->params.chroma_y : 0;
    const uint32_t luma = field ? (filter->params.height + 1) / 2 : filter->params.height;
    return (luma + shift) >> shift;
}

/* Without data. */
static struct gpume_plane shape_of(const struct gpume_filter *filter, uint32_t plane, bool field)
{
    const uint32_t shift = plane > 0 ? filter->params.chroma_x : 0;
    struct gpume_plane shape = {.width = (filter->params.width + shift) >> shift,
        .height = lines_of(filter, plane, field),
        .bits = filter->params.bits};
    shape.stride = (ptrdiff_t)shape.width * (shape.bits > 8 ? 2 : 1);
    return shape;
}

static struct gpume_plane new_plane(const struct gpume_filter *filter, uint32_t plane, bool field)
{
    struct gpume_plane made = shape_of(filter, plane, field);
    made.data = malloc((size_t)made.stride * made.height);
    return made;
}

/* Of all planes that are allocated here. */
static uint64_t plane_bytes(const struct gpume_filter *filter)
{
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < filter->params.plane_count; p++) {
        const struct gpume_plane frame = shape_of(filter, p, false),
                                 field = shape_of(filter, p, true);
        bytes += (uint64_t)frame.stride * (frame.height + FIELDS * field.height);
    }
    return bytes;
}

/* Two filters of half the height. What memory they and the planes may take is checked before. */
static int open_fields(struct gpume_filter *filter)
{
    const struct gpume_filter_params *params = &filter->params;
    const struct gpume_log *log = &filter->locked.log;
    struct gpume_filter_params half = *params;
    half.height = (params->height + 1) / 2;
    if (params->memory_max > 0) {
        const uint64_t planes = plane_bytes(filter);
        GPUME_CHECK(gpume_filter_check_memory(
            params, planes + FIELDS * gpume_progressive_least(&half), log));
        half.memory_max = (params->memory_max - planes) / FIELDS;
    }
    for (; filter->count < FIELDS; filter->count++) {
        GPUME_CHECK(gpume_progressive_open(&filter->filters[filter->count], &half, log));
    }
    bool complete = true;
    for (uint32_t p = 0; p < params->plane_count; p++) {
        filter->woven[p] = new_plane(filter, p, false);
        complete = complete && filter->woven[p].data;
        for (uint32_t i = 0; i < FIELDS; i++) {
            filter->copies[i][p] = new_plane(filter, p, true);
            complete = complete && filter->copies[i][p].data;
        }
    }
    return complete ? GPUME_OK : gpume_log_nomem(log, "fields");
}

/* A line that the frame lacks is the last one of its field, or else of the frame. */
static void copy_field(
    const struct gpume_plane *to, const struct gpume_plane *frame, uint32_t parity)
{
    for (uint32_t y = 0; y < to->height; y++) {
        uint32_t line = 2 * y + parity;
        while (line >= frame->height) {
            line = line >= 2 ? line - 2 : 0;
        }
        memcpy(gpume_plane_row(to, y), gpume_plane_row(frame, line), (size_t)to->stride);
    }
}

static int send_fields(struct gpume_filter *filter, const struct gpume_filter_frame *frame)
{
    if (filter->sent == 0) {
        filter->repeats = true;
        for (uint32_t i = 0; i < FIELDS; i++) {
            for (uint32_t p = 0; p < filter->params.plane_count; p++) {
                copy_field(&filter->copies[i][p], &frame->planes[p], i);
            }
            filter->repeats =
                filter->repeats && gpume_progressive_repeats(filter->filters[i], filter->copies[i]);
        }
    }
    for (; filter->sent < FIELDS; filter->sent++) {
        struct gpume_filter_frame field = *frame;
        memcpy(field.planes, filter->copies[filter->sent], sizeof field.planes);
        const int status =
            gpume_progressive_send(filter->filters[filter->sent], &field, filter->repeats);
        if (status == GPUME_AGAIN) {
            gpume_progressive_refuse(filter->filters[1 - filter->sent]);
        }
        GPUME_CHECK(status);
    }
    filter->sent = 0;
    return GPUME_OK;
}

/* Adds the result of a field to that of its frame. */
static void weave(struct gpume_filter *filter, const struct gpume_filter_result *field)
{
    struct gpume_filter_result *frame = &filter->result;
    const bool first = filter->received == 0;
    for (uint32_t p = 0; p < filter->params.plane_count; p++) {
        const struct gpume_plane *woven = &filter->woven[p];
        for (uint32_t y = filter->received; y < woven->height && !field->repeats; y += FIELDS) {
            memcpy(gpume_plane_row(woven, y), gpume_plane_row(&field->planes[p], y / FIELDS),
                (size_t)woven->stride);
        }
    }
    if (first) {
        *frame = *field;
        memcpy(frame->planes, filter->woven, sizeof frame->planes);
        return;
    }
    for (uint32_t p = 0; p < PLANES; p++) {
        frame->sigma[p] =
            sqrt((frame->sigma[p] * frame->sigma[p] + field->sigma[p] * field->sigma[p]) / FIELDS);
    }
    frame->references = gpume_max_u32(frame->references, field->references);
    frame->replaced += field->replaced;
}

/* --- open, close */

int gpume_filter_open(gpume_filter **out, const struct gpume_filter_params *params)
{
    if (!out || !params) {
        return GPUME_INVALID;
    }
    const struct gpume_log log = GPUME_SIZED_LOG(params);
    struct gpume_filter_params own;
    GPUME_CHECK(gpume_sized_read(&own, sizeof(own), params, "gpume_filter_params", &log));
    GPUME_CHECK(check_params(&own, &log));
    struct gpume_filter *filter = calloc(1, sizeof(*filter));
    if (!filter) {
        return gpume_log_nomem(&log, "a filter");
    }
    int status;
    gpume_locked_log_init(&filter->locked, log.fn, log.opaque);
    filter->params = own;
    if (own.fields) {
        GPUME_TRY(open_fields(filter));
    } else {
        filter->count = 1;
        GPUME_TRY(gpume_progressive_open(&filter->filters[0], &own, &filter->locked.log));
    }
    filter->params.device = filter->params.devices = filter->params.cache_dir = NULL;
    *out = filter;
    return GPUME_OK;
fail:
    (void)gpume_filter_close(&filter);
    return status;
}

int gpume_filter_close(gpume_filter **pointer)
{
    gpume_filter *filter = pointer ? *pointer : NULL;
    int status = GPUME_OK;
    if (!filter) {
        return GPUME_OK;
    }
    *pointer = NULL;
    for (uint32_t i = 0; i < FIELDS; i++) {
        const int closed = gpume_progressive_close(&filter->filters[i]);
        status = status ? status : closed;
    }
    for (uint32_t p = 0; p < PLANES; p++) {
        free(filter->copies[0][p].data);
        free(filter->copies[1][p].data);
        free(filter->woven[p].data);
    }
    gpume_locked_log_finish(&filter->locked);
    free(filter);
    return status;
}

/* --- frames in */

static int check_plane(
    const struct gpume_filter *filter, uint32_t index, const struct gpume_plane *plane)
{
    const struct gpume_filter_params *p = &filter->params;
    const uint32_t x = index > 0 ? p->chroma_x : 0, y = index > 0 ? p->chroma_y : 0;
    const uint32_t width = (p->width + x) >> x, height = (p->height + y) >> y;
    const size_t row_bytes = (size_t)width * (p->bits > 8 ? 2 : 1);
    const size_t stride = plane->stride < 0 ? 0 - (size_t)plane->stride : (size_t)plane->stride;
    const bool fits = plane->data && plane->width == width && plane->height == height &&
                      plane->bits == p->bits && (stride >= row_bytes || height == 1);
    return fits ? GPUME_OK
                : gpume_log_fail(&filter->locked.log, GPUME_INVALID,
                      "plane %u of %ux%u, %u bits, stride %td%s was sent to a filter that wants "
                      "%ux%u, %u bits",
                      index, plane->width, plane->height, plane->bits, plane->stride,
                      plane->data ? "" : ", without data", width, height, p->bits);
}

static int check_frame(const struct gpume_filter *filter, const struct gpume_filter_frame *frame)
{
    if (filter->finished) {
        return gpume_log_fail(
            &filter->locked.log, GPUME_INVALID, "a frame was sent after gpume_filter_finish");
    }
    for (uint32_t p = 0; p < filter->params.plane_count; p++) {
        GPUME_CHECK(check_plane(filter, p, &frame->planes[p]));
    }
    GPUME_CHECK(
        check_number("sigma", frame->sigma, 0, GPUME_FILTER_SIGMA_MAX, "", &filter->locked.log));
    return check_number(
        "least_sigma", frame->least_sigma, 0, GPUME_FILTER_SIGMA_MAX, "", &filter->locked.log);
}

/* The filter's status, or that which it fails with now. */
static int settle(struct gpume_filter *filter, int status)
{
    if (filter->status == GPUME_OK) {
        filter->status = atomic_load(&filter->cancelled)                ? GPUME_CANCELLED
                         : status == GPUME_AGAIN || status == GPUME_EOF ? GPUME_OK
                                                                        : status;
    }
    return filter->status ? filter->status : status;
}

int gpume_filter_send(gpume_filter *filter, const struct gpume_filter_frame *frame)
{
    struct gpume_filter_frame own;
    if (!filter || !frame) {
        return GPUME_INVALID;
    }
    GPUME_CHECK(settle(filter, GPUME_OK));
    GPUME_CHECK(
        gpume_sized_read(&own, sizeof(own), frame, "gpume_filter_frame", &filter->locked.log));
    GPUME_CHECK(check_frame(filter, &own));
    struct gpume_progressive *whole = filter->filters[0];
    return settle(filter,
        filter->params.fields
            ? send_fields(filter, &own)
            : gpume_progressive_send(whole, &own, gpume_progressive_repeats(whole, own.planes)));
}

int gpume_filter_finish(gpume_filter *filter)
{
    if (!filter) {
        return GPUME_INVALID;
    }
    GPUME_CHECK(settle(filter, GPUME_OK));
    filter->finished = true;
    for (uint32_t i = 0; i < filter->count; i++) {
        GPUME_CHECK(settle(filter, gpume_progressive_finish(filter->filters[i])));
    }
    return GPUME_OK;
}

/* --- pictures out */

int gpume_filter_receive(gpume_filter *filter, struct gpume_filter_result *result)
{
    if (!filter || !result || result->size < sizeof(result->size)) {
        return GPUME_INVALID;
    }
    GPUME_CHECK(settle(filter, GPUME_OK));
    for (; filter->received < filter->count; filter->received++) {
        struct gpume_filter_result one;
        GPUME_CHECK(
            settle(filter, gpume_progressive_receive(filter->filters[filter->received], &one)));
        if (filter->params.fields) {
            weave(filter, &one);
        } else {
            filter->result = one;
        }
    }
    filter->received = 0;
    return gpume_sized_write(result, &filter->result, sizeof(filter->result));
}

void gpume_filter_cancel(gpume_filter *filter)
{
    if (filter) {
        atomic_store(&filter->cancelled, true);
        for (uint32_t i = 0; i < filter->count; i++) {
            gpume_progressive_cancel(filter->filters[i]);
        }
    }
}

int gpume_filter_info_fill(gpume_filter *filter, struct gpume_filter_info *info)
{
    struct gpume_filter_info own, other;
    if (!filter || !info) {
        return GPUME_INVALID;
    }
    gpume_progressive_info(filter->filters[0], &own);
    if (filter->params.fields) {
        gpume_progressive_info(filter->filters[1], &other);
        own.fields += other.fields;
    }
    return gpume_sized_write(info, &own, sizeof(own));
}
