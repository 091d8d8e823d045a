/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between host memory and buffers that the host cannot see: in pieces through two staging buffers,
 * of which one is filled or emptied while the device works on the other.
 */
#ifndef GPUME_GPU_ARRAYS_TRANSFER_H
#define GPUME_GPU_ARRAYS_TRANSFER_H

#include "gpu/vk/slot.h"

#define GPUME_TRANSFER_LANES 2u

struct gpume_transfer {
    struct {
        struct gpume_slot slot;
        struct gpume_buffer staging;
        void *sink; /* where to put what has arrived */
        uint64_t bytes;
        bool busy;
    } lanes[GPUME_TRANSFER_LANES];
    struct gpume_timeline *timeline;
};

/* Call destroy after a failure too; it accepts a zeroed struct. */
int gpume_transfer_create(
    struct gpume_gpu *gpu, struct gpume_timeline *timeline, struct gpume_transfer *transfer);
void gpume_transfer_destroy(struct gpume_gpu *gpu, struct gpume_transfer *transfer);

/* Whole when they return. */
int gpume_transfer_write(struct gpume_transfer *transfer, const struct gpume_buffer *to,
    uint64_t offset, const void *data, uint64_t bytes);
int gpume_transfer_read(struct gpume_transfer *transfer, const struct gpume_buffer *from,
    uint64_t offset, void *data, uint64_t bytes);

#endif
