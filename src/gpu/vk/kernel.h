/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One compute pipeline: its SPIR-V, specialised, with storage buffers at bindings 0 .. buffer_count
 * - 1 of set 0, or none, perhaps the slot's uniform block, and one block of push constants.
 */
#ifndef GPUME_GPU_VK_KERNEL_H
#define GPUME_GPU_VK_KERNEL_H

#include "gpu/vk/gpu.h"

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

#endif
