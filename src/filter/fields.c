/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The field of the even lines and that of the odd ones are copied, sent, received and woven in
 * turn. Both filters have the same numbers of frames and pictures, so neither waits for long.
 */
#include "base/base.h"
#include "filter/temporal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 2u
#define PLANES GPUME_FILTER_PLANES

struct gpume_filter_fields {
    struct gpume_filter_params params; /* of frames */
    gpume_filter *filters[FIELDS];
    struct gpume_plane copies[FIELDS][PLANES];
    struct gpume_plane woven[PLANES];
    struct gpume_filter_result result; /* that is put together */
    uint32_t sent, received;           /* fields of the frame at hand */
    bool repeats;                      /* the frame that is being sent */
};

/* Rows of a plane of frames, or of one of fields: half of luma's, rounded up. */
static uint32_t lines_of(const struct gpume_filter_fields *fields, uint32_t plane, bool field)
{
    const uint32_t shift = plane > 0 ? fields->params.chroma_y : 0;
    const uint32_t luma = field ? (fields->params.height + 1) / 2 : fields->params.height;
    return (luma + shift) >> shift;
}

/* Without data. */
static struct gpume_plane shape_of(
    const struct gpume_filter_fields *fields, uint32_t plane, bool field)
{
    const uint32_t shift = plane > 0 ? fields->params.chroma_x : 0;
    struct gpume_plane shape = {.width = (fields->params.width + shift) >> shift,
        .height = lines_of(fields, plane, field),
        .bits = fields->params.bits};
    shape.stride = (ptrdiff_t)shape.width * (shape.bits > 8 ? 2 : 1);
    return shape;
}

static struct gpume_plane new_plane(
    const struct gpume_filter_fields *fields, uint32_t plane, bool field)
{
    struct gpume_plane made = shape_of(fields, plane, field);
    made.data = malloc((size_t)made.stride * made.height);
    return made;
}

/* Of all planes that are allocated here. */
static uint64_t plane_bytes(const struct gpume_filter_fields *fields)
{
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < fields->params.plane_count; p++) {
        const struct gpume_plane frame = shape_of(fields, p, false),
                                 field = shape_of(fields, p, true);
        bytes += (uint64_t)frame.stride * (frame.height + FIELDS * field.height);
    }
    return bytes;
}

int gpume_filter_fields_open(struct gpume_filter_fields **out,
    const struct gpume_filter_params *params, const struct gpume_log *log)
{
    struct gpume_filter_fields *fields = calloc(1, sizeof(*fields));
    struct gpume_filter_params half = *params;
    if (!fields) {
        return gpume_log_nomem(log, "fields");
    }
    fields->params = *params;
    half.height = (params->height + 1) / 2;
    half.fields = false;
    const uint64_t planes = plane_bytes(fields);
    int status = GPUME_OK;
    if (params->memory_max > 0) {
        uint64_t needed = 0; /* by a field, which says so if it may have a byte */
        gpume_filter *filter = NULL;
        half.memory_max = 1;
        half.log = gpume_filter_note_needed;
        half.log_opaque = &needed;
        (void)gpume_filter_open(&filter, &half);
        (void)gpume_filter_close(&filter);
        status = gpume_filter_check_memory(params, planes + FIELDS * needed, log);
        half.memory_max = (params->memory_max - planes) / FIELDS; /* not used if refused */
    }
    half.log = log->fn;
    half.log_opaque = log->opaque;
    for (uint32_t i = 0; i < FIELDS && status == GPUME_OK; i++) {
        status = gpume_filter_open(&fields->filters[i], &half);
    }
    bool complete = true;
    for (uint32_t p = 0; p < params->plane_count && status == GPUME_OK; p++) {
        fields->woven[p] = new_plane(fields, p, false);
        complete = complete && fields->woven[p].data;
        for (uint32_t i = 0; i < FIELDS; i++) {
            fields->copies[i][p] = new_plane(fields, p, true);
            complete = complete && fields->copies[i][p].data;
        }
    }
    status = complete ? status : gpume_log_nomem(log, "fields");
    if (status != GPUME_OK) {
        (void)gpume_filter_fields_close(&fields);
        return status;
    }
    *out = fields;
    return GPUME_OK;
}

int gpume_filter_fields_close(struct gpume_filter_fields **pointer)
{
    struct gpume_filter_fields *fields = *pointer;
    int status = GPUME_OK;
    *pointer = NULL;
    for (uint32_t i = 0; i < FIELDS && fields; i++) {
        const int closed = gpume_filter_close(&fields->filters[i]);
        status = status ? status : closed;
        for (uint32_t p = 0; p < PLANES; p++) {
            free(fields->copies[i][p].data);
        }
    }
    for (uint32_t p = 0; p < PLANES && fields; p++) {
        free(fields->woven[p].data);
    }
    free(fields);
    return status;
}

static uint8_t *line_at(const struct gpume_plane *plane, uint32_t y)
{
    return (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
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
        memcpy(line_at(to, y), line_at(frame, line), (size_t)to->stride);
    }
}

int gpume_filter_fields_send(
    struct gpume_filter_fields *fields, const struct gpume_filter_frame *frame)
{
    if (fields->sent == 0) {
        fields->repeats = true;
        for (uint32_t i = 0; i < FIELDS; i++) {
            for (uint32_t p = 0; p < fields->params.plane_count; p++) {
                copy_field(&fields->copies[i][p], &frame->planes[p], i);
            }
            fields->repeats =
                fields->repeats && gpume_filter_repeats(fields->filters[i], fields->copies[i]);
        }
    }
    for (; fields->sent < FIELDS; fields->sent++) {
        struct gpume_filter_frame field = *frame;
        memcpy(field.planes, fields->copies[fields->sent], sizeof field.planes);
        const int status =
            gpume_filter_send_known(fields->filters[fields->sent], &field, fields->repeats);
        if (status == GPUME_AGAIN) {
            gpume_filter_refuse(fields->filters[1 - fields->sent]);
        }
        GPUME_CHECK(status);
    }
    fields->sent = 0;
    return GPUME_OK;
}

int gpume_filter_fields_finish(struct gpume_filter_fields *fields)
{
    for (uint32_t i = 0; i < FIELDS; i++) {
        GPUME_CHECK(gpume_filter_finish(fields->filters[i]));
    }
    return GPUME_OK;
}

/* Adds the result of a field to that of its frame. */
static void weave(struct gpume_filter_fields *fields, const struct gpume_filter_result *field)
{
    struct gpume_filter_result *frame = &fields->result;
    const bool first = fields->received == 0;
    for (uint32_t p = 0; p < fields->params.plane_count; p++) {
        const struct gpume_plane *woven = &fields->woven[p];
        for (uint32_t y = fields->received; y < woven->height && !field->repeats; y += FIELDS) {
            memcpy(
                line_at(woven, y), line_at(&field->planes[p], y / FIELDS), (size_t)woven->stride);
        }
    }
    if (first) {
        *frame = *field;
        memcpy(frame->planes, fields->woven, sizeof frame->planes);
        return;
    }
    for (uint32_t p = 0; p < PLANES; p++) {
        frame->sigma[p] =
            sqrt((frame->sigma[p] * frame->sigma[p] + field->sigma[p] * field->sigma[p]) / FIELDS);
    }
    frame->references = gpume_max_u32(frame->references, field->references);
    frame->replaced += field->replaced;
}

int gpume_filter_fields_receive(
    struct gpume_filter_fields *fields, struct gpume_filter_result *result)
{
    for (; fields->received < FIELDS; fields->received++) {
        struct gpume_filter_result field = {.size = sizeof field};
        GPUME_CHECK(gpume_filter_receive(fields->filters[fields->received], &field));
        weave(fields, &field);
    }
    fields->received = 0;
    *result = fields->result;
    return GPUME_OK;
}

void gpume_filter_fields_cancel(struct gpume_filter_fields *fields)
{
    for (uint32_t i = 0; i < FIELDS && fields; i++) {
        gpume_filter_cancel(fields->filters[i]);
    }
}

void gpume_filter_fields_info(struct gpume_filter_fields *fields, struct gpume_filter_info *info)
{
    struct gpume_filter_info other;
    gpume_filter_get_info(fields->filters[0], info);
    gpume_filter_get_info(fields->filters[1], &other);
    info->fields += other.fields;
}
