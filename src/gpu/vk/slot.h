/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers, kernels, and what uses them.
 *
 * A slot is one submission: a command buffer, the descriptor sets, timestamps and uniform block it
 * uses, and the value that the timeline semaphore reaches when it is done. begin -> bind, dispatch,
 * copy, barriers -> submit -> wait; then it may begin again. Recording allocates nothing from the
 * system.
 */
#ifndef GPUME_GPU_VK_SLOT_H
#define GPUME_GPU_VK_SLOT_H

#include "gpu/vk/gpu.h"

/* --- buffers, all of which are made when an engine opens. Equal ones share their memory: an NVIDIA
 * H200 (driver 580) takes 1 ms to free each allocation that the host sees. */

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

/* --- kernels: one compute pipeline, that is its SPIR-V, specialised, with storage buffers at
 * bindings 0 .. buffer_count - 1 of set 0, or none, perhaps the slot's uniform block, and one block
 * of push constants */

#define GPUME_KERNEL_BUFFERS_MAX 8u
#define GPUME_KERNEL_UNIFORM_BINDING GPUME_KERNEL_BUFFERS_MAX
#define GPUME_KERNEL_BINDINGS_MAX (GPUME_KERNEL_BUFFERS_MAX + 1u)
#define GPUME_KERNEL_CONSTANTS_MAX 64u

struct gpume_kernel {
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    uint32_t buffer_count, push_bytes;
    bool uniform;                     /* it reads the slot's uniform block */
    struct gpume_kernel_build *build; /* until gpume_kernel_wait */
};

struct gpume_kernel_info {
    const uint32_t *words;
    size_t bytes;
    uint32_t buffer_count, push_bytes;
    bool uniform;              /* the slot's uniform block is at GPUME_KERNEL_UNIFORM_BINDING */
    const char *entry;         /* NULL: main */
    const uint32_t *constants; /* by id, from 0 without gaps */
    uint32_t constant_count;   /* at most GPUME_KERNEL_CONSTANTS_MAX */
    uint32_t subgroup;         /* every subgroup is full and has this many invocations; 0: any */
};

/* Begins; the pipeline is compiled in its own thread while the caller continues. */
int gpume_kernel_create(
    struct gpume_gpu *gpu, const struct gpume_kernel_info *info, struct gpume_kernel *kernel);

/* Waits until the kernel can be used. Zeroed is fine. */
int gpume_kernel_wait(struct gpume_gpu *gpu, struct gpume_kernel *kernel);

/* Zeroed is fine. */
void gpume_kernel_destroy(struct gpume_gpu *gpu, struct gpume_kernel *kernel);

/* --- slots */

/* Rows of the statistics, in the order of the work. */
enum gpume_gpu_row {
    GPUME_ROW_UPLOAD,
    GPUME_ROW_MATCH,
    GPUME_ROW_REDUCE,
    GPUME_ROW_RANK,
    GPUME_ROW_READBACK,
    GPUME_ROW_COUNT,
};

struct gpume_timeline {
    VkSemaphore semaphore;
    uint64_t value; /* of the newest submission */
};

struct gpume_slot {
    struct gpume_gpu *gpu;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkDescriptorPool sets;
    VkQueryPool queries; /* one before the first row, one after each */
    uint32_t stamps;     /* written by this submission */
    /* What the host writes to it between begin and submit, kernels read: no barrier is needed.
     * Small, as descriptors are, so that no plan counts it. */
    struct gpume_buffer uniforms;
    uint64_t value;
    int status; /* first failure while recording; submit returns it */
};

int gpume_timeline_create(struct gpume_gpu *gpu, struct gpume_timeline *timeline);
void gpume_timeline_destroy(struct gpume_gpu *gpu, struct gpume_timeline *timeline);

/* Returns when all that was submitted has ended, or the device has failed. Zeroed is fine. */
void gpume_timeline_wait(const struct gpume_gpu *gpu, const struct gpume_timeline *timeline);

/* binds_max: calls of gpume_slot_bind in one submission, those of kernels without buffers apart.
 * uniform_bytes: of the uniform block, 0 if no kernel reads one. */
int gpume_slot_create(
    struct gpume_gpu *gpu, uint32_t binds_max, VkDeviceSize uniform_bytes, struct gpume_slot *slot);
void gpume_slot_destroy(struct gpume_slot *slot);

void gpume_slot_begin(struct gpume_slot *slot);

/* Makes the kernel and its buffers current. */
void gpume_slot_bind(
    struct gpume_slot *slot, const struct gpume_kernel *kernel, const struct gpume_view *views);

void gpume_slot_dispatch(struct gpume_slot *slot, const struct gpume_kernel *kernel,
    const void *push, uint32_t groups_x, uint32_t groups_y, uint32_t groups_z);

/* `groups` workgroups on a grid of x and y that keeps to every driver's limits; kernels that use it
 * count them as y * width + x and ignore those past their end. */
void gpume_slot_dispatch_many(struct gpume_slot *slot, const struct gpume_kernel *kernel,
    const void *push, uint64_t groups, uint32_t groups_z);

/* Copies the same range of one buffer to another. */
void gpume_slot_copy(struct gpume_slot *slot, const struct gpume_buffer *from,
    const struct gpume_buffer *to, VkDeviceSize offset, VkDeviceSize bytes);

/* Copies one part of a buffer to another of as many bytes. */
void gpume_slot_copy_view(
    struct gpume_slot *slot, const struct gpume_view *from, const struct gpume_view *to);

/* Zeroes a range; a multiple of 4 bytes. */
void gpume_slot_clear(struct gpume_slot *slot, const struct gpume_view *view);

/* Barriers, by hazard. */
void gpume_barrier_clear_to_kernel(struct gpume_slot *slot);
void gpume_barrier_kernel_to_kernel(struct gpume_slot *slot); /* in earlier slots too */
void gpume_barrier_kernel_to_copy(struct gpume_slot *slot);
void gpume_barrier_copy_to_host(struct gpume_slot *slot);
/* Everything before, in earlier submissions too, before everything after. */
void gpume_barrier_all(struct gpume_slot *slot);
/* Everything before, before the host reads what it waited for. */
void gpume_barrier_all_to_host(struct gpume_slot *slot);

/* Marks the end of what counts for a row. Rows follow each other without gaps. */
void gpume_slot_row_done(struct gpume_slot *slot, enum gpume_gpu_row row);

int gpume_slot_submit(struct gpume_slot *slot, struct gpume_timeline *timeline);

/* Waits for the submission and adds its nanoseconds to each row. Where waiting fails, out of memory
 * perhaps, the submission is still over then: what it uses may be destroyed. */
int gpume_slot_wait(struct gpume_slot *slot, const struct gpume_timeline *timeline,
    uint64_t row_ns[GPUME_ROW_COUNT]);

#endif
