/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A field on its way: the public part plus what keeps its memory alive. It lives in a slot of a
 * lane; its arrays point into the engine's memory of that slot, which stays untouched until the
 * last reference is released.
 */
#ifndef GPUME_FRAME_FIELD_H
#define GPUME_FRAME_FIELD_H

#include "frame/frame.h"
#include "model/plan.h"

struct gpume_field_box {
    struct gpume_field field; /* first: the public pointer is a pointer to the box */
    struct gpume_task task;   /* frames by sequence number */
    uint64_t number;          /* its place in the order in which fields are received */
    uint64_t frames;          /* how many had been sent when the task was requested */
    struct gpume_frame *target, *reference; /* held with params.want_frames, else NULL */
    uint32_t slot;
    atomic_uint refs;
    void (*recycle)(void *owner, struct gpume_field_box *box);
    void *owner;
    struct gpume_layer *layers;
    const struct gpume_layer **layer_list;
};

/* Fills in what all fields of a plan have in common; the box is zeroed before. Call finish after a
 * failure too. */
int gpume_field_box_init(struct gpume_field_box *box, const struct gpume_plan *plan);
void gpume_field_box_finish(struct gpume_field_box *box);

/* Points the layers into the arrays that the engine has filled in. */
void gpume_field_box_complete(struct gpume_field_box *box, const struct gpume_plan *plan);

#endif
