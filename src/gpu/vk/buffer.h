/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers, all of which are made when an engine opens. Equal ones share their memory: an NVIDIA
 * H200 (driver 580) takes 1 ms to free each allocation that the host sees.
 */
#ifndef GPUME_GPU_VK_BUFFER_H
#define GPUME_GPU_VK_BUFFER_H

#include "gpu/vk/gpu.h"

enum gpume_buffer_kind {
    GPUME_BUFFER_DEVICE,   /* device-local, not mapped */
    GPUME_BUFFER_UPLOAD,   /* the host writes, kernels read or it is copied from */
    GPUME_BUFFER_READBACK, /* copied to, the host reads */
    GPUME_BUFFER_STAGING,  /* copied to and from, the host reads and writes */
    GPUME_BUFFER_SHARED,   /* the same, and kernels read and write it */
    GPUME_BUFFER_UNIFORM,  /* the host writes, kernels see a uniform block; on the device if it can
                            */
};

struct gpume_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory; /* NULL: that of a buffer before it */
    VkDeviceSize bytes;
    void *mapped;            /* of host-visible kinds, for the buffer's whole life; coherent */
    VkDeviceAddress address; /* of DEVICE and SHARED where gpu->addresses, else 0 */
};

/* A part of a buffer as a kernel sees it. */
struct gpume_view {
    VkBuffer buffer;
    VkDeviceSize offset, bytes;
};

/* Creates all of them, or none and leaves `buffers` zeroed, which they must be before. GPUME_DEVICE
 * with the numbers in the log when memory runs out. */
int gpume_buffers_create(struct gpume_gpu *gpu, enum gpume_buffer_kind kind, VkDeviceSize bytes,
    uint32_t count, struct gpume_buffer *buffers);

/* As many as were created together; zeroed is fine. */
void gpume_buffers_destroy(struct gpume_gpu *gpu, uint32_t count, struct gpume_buffer *buffers);

static inline int gpume_buffer_create(struct gpume_gpu *gpu, enum gpume_buffer_kind kind,
    VkDeviceSize bytes, struct gpume_buffer *buffer)
{
    return gpume_buffers_create(gpu, kind, bytes, 1, buffer);
}

static inline void gpume_buffer_destroy(struct gpume_gpu *gpu, struct gpume_buffer *buffer)
{
    gpume_buffers_destroy(gpu, 1, buffer);
}

struct gpume_view gpume_buffer_view(const struct gpume_buffer *buffer);

#endif
