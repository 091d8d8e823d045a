/* SPDX-License-Identifier: BSD-2-Clause */
#include "pairs.h"

#include <string.h>

int gpume_pairs_open(struct gpume_pairs *pairs, const struct gpume_params *params, uint32_t held)
{
    struct gpume_params manual = *params;
    manual.direction = GPUME_DIRECTION_MANUAL;
    manual.ref_distance = held - 1;
    *pairs = (struct gpume_pairs){.held = held};
    return gpume_open(&pairs->ctx, &manual);
}

void gpume_pairs_close(struct gpume_pairs *pairs)
{
    (void)gpume_close(&pairs->ctx);
}

/* Whether the context still has the frame, and its index there. */
static bool holds(const struct gpume_pairs *pairs, uint64_t name, uint64_t *index)
{
    const uint64_t oldest = pairs->sent > pairs->held ? pairs->sent - pairs->held : 0;
    for (uint64_t i = pairs->sent; i > oldest; i--) {
        if (pairs->names[(i - 1) % pairs->held] == name) {
            *index = i - 1;
            return true;
        }
    }
    return false;
}

/* Samples above the depth, which damaged files may hold, are clipped: gpume must not get any. */
static void fill_wide(
    uint16_t *to, const uint16_t *from, const struct gpume_pairs_frame *frame, uint32_t width)
{
    const uint32_t last = frame->plane.width - 1, left = frame->left;
    const uint16_t peak = (uint16_t)((1u << frame->plane.bits) - 1);
    for (uint32_t x = 0; x < width; x++) {
        const uint32_t at = x < left ? 0 : x - left < last ? x - left : last;
        to[x] = from[at] < peak ? from[at] : peak;
    }
}

static void fill_bytes(
    uint8_t *to, const uint8_t *from, const struct gpume_pairs_frame *frame, uint32_t width)
{
    const uint32_t left = frame->left, middle = frame->plane.width;
    memset(to, from[0], left);
    memcpy(to + left, from, middle);
    memset(to + left + middle, from[middle - 1], width - left - middle);
}

static void fill(const struct gpume_pairs_frame *frame, const struct gpume_plane *to)
{
    const uint32_t last = frame->plane.height - 1, top = frame->top;
    for (uint32_t y = 0; y < to->height; y++) {
        const uint32_t at = y < top ? 0 : y - top < last ? y - top : last;
        const uint8_t *from =
            (const uint8_t *)frame->plane.data + (ptrdiff_t)at * frame->plane.stride;
        uint8_t *row = (uint8_t *)to->data + (ptrdiff_t)y * to->stride;
        if (to->bits == 8) {
            fill_bytes(row, from, frame, to->width);
        } else {
            fill_wide(
                (uint16_t *)(void *)row, (const uint16_t *)(const void *)from, frame, to->width);
        }
    }
}

static int send(struct gpume_pairs *pairs, const struct gpume_pairs_frame *frame)
{
    gpume_frame *pooled = NULL;
    struct gpume_plane plane;
    int status = gpume_frame_acquire(pairs->ctx, &pooled, &plane, GPUME_WAIT);
    if (status == GPUME_OK) {
        fill(frame, &plane);
        status = gpume_send(pairs->ctx, &pooled, 0);
    }
    if (status == GPUME_OK) {
        pairs->names[pairs->sent % pairs->held] = frame->name;
        pairs->sent++;
    }
    return status;
}

/* Sending the target may push the reference out of what the context keeps: then it is sent after
 * the target, and both are the newest. */
int gpume_pairs_search(struct gpume_pairs *pairs, const struct gpume_pairs_frame *target,
    const struct gpume_pairs_frame *reference, const struct gpume_field **field)
{
    struct gpume_task task = {.size = sizeof task};
    int status = GPUME_OK;
    bool has_target = holds(pairs, target->name, &task.target);
    bool has_reference = holds(pairs, reference->name, &task.reference);
    while (status == GPUME_OK && !(has_target && has_reference)) {
        status = send(pairs, has_reference ? target : reference);
        has_target = holds(pairs, target->name, &task.target);
        has_reference = holds(pairs, reference->name, &task.reference);
    }
    if (status == GPUME_OK) {
        status = gpume_search(pairs->ctx, &task);
    }
    return status == GPUME_OK ? gpume_receive(pairs->ctx, field, GPUME_WAIT) : status;
}
