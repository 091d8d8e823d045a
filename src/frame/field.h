/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A field on its way: the public part plus what keeps its memory alive. It lives in a slot of the
 * pipeline; its arrays point into the engine's memory of that slot, which stays untouched until the
 * field is released.
 */
#ifndef GPUME_FRAME_FIELD_H
#define GPUME_FRAME_FIELD_H

#include "frame/frame.h"
#include "frame/task.h"

struct gpume_field_box {
    struct gpume_field field; /* first: the public pointer is a pointer to the box */
    struct gpume_task task;
    struct gpume_frame *target, *reference; /* held with params.want_frames, else NULL */
    uint32_t slot;
    void (*recycle)(void *owner, struct gpume_field_box *box);
    void *owner;
};

#endif
