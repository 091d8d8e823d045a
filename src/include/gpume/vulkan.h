/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume's sort for programs that use Vulkan themselves, with their own device, memory and command
 * buffers. Programs that leave all of these to gpume use compute.h.
 *
 *     gpume_sorter_create(&sorter, &vulkan);                    compiles kernels
 *     gpume_sorter_sizes(sorter, &task, &memory);               how much scratch memory
 *     gpume_sorter_record(sorter, commands, &task);             records commands, nothing else
 *     gpume_sorter_destroy(&sorter);
 *
 * Device: Vulkan 1.2 or newer, created with the feature bufferDeviceAddress and, if the physical
 * device has them, with subgroupSizeControl and computeFullSubgroups (in Vulkan 1.2 the extension
 * VK_EXT_subgroup_size_control). Without these two a sort takes several times as long. The process
 * must use the Vulkan loader that gpume is linked with.
 *
 * Memory: buffers with VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT and
 * VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, whose memory was allocated with
 * VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT. The sorter binds no memory and keeps no state between
 * calls: it may record any number of times, and the recorded commands may be submitted any number
 * of times, with different content in the same memory.
 *
 * Order: commands are recorded outside a render pass, into a command buffer of a queue family that
 * supports compute. They include the barriers between each other, but none before the first and
 * none after the last command. Before them, the caller makes the writes to keys, payload and
 * segments available, and visible to VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT with
 * VK_ACCESS_SHADER_READ_BIT and VK_ACCESS_SHADER_WRITE_BIT, and waits for earlier uses of the
 * scratch memory. After them, keys, payload and scratch memory have been written by that stage with
 * VK_ACCESS_SHADER_WRITE_BIT. The bound compute pipeline and the push constants are overwritten.
 *
 * Threads, as in gpume.h: [free] needs no sorter; [any] may be called by any thread, by several at
 * once, between gpume_sorter_create and gpume_sorter_destroy; [alone] while no other call on the
 * same sorter is under way. As Vulkan requires, only one thread at a time records into a command
 * buffer.
 *
 * Drivers: gpume_sort checks that the driver translates the kernels rightly, and sorts on the CPU
 * if not. A sorter cannot, as it submits nothing: sort known keys once if you meet drivers that you
 * do not know.
 *
 * Structs that may grow begin with `size`, as in gpume.h: write
 * {.size = sizeof(struct gpume_vulkan)}. gpume_sorter_memory never grows.
 */
#ifndef GPUME_VULKAN_H
#define GPUME_VULKAN_H

#include <gpume/compute.h>

#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Handles of the caller, which must outlive the sorter. */
struct gpume_vulkan {
    size_t size; /* sizeof(struct gpume_vulkan) */
    VkPhysicalDevice physical;
    VkDevice device;
    VkPipelineCache pipelines; /* may be VK_NULL_HANDLE */
    bool full_subgroups;       /* both subgroup features above are enabled */
    gpume_log_fn log;          /* may be NULL */
    void *log_opaque;
};

typedef struct gpume_sorter gpume_sorter;

/* [free] GPUME_UNSUPPORTED: the device lacks Vulkan 1.2 or bufferDeviceAddress. */
GPUME_API int gpume_sorter_create(gpume_sorter **sorter, const struct gpume_vulkan *vulkan);

/* [alone] Sets *sorter to NULL. NULL is fine. No command buffer with the sorter's commands may be
 * pending, nor be submitted afterwards. */
GPUME_API void gpume_sorter_destroy(gpume_sorter **sorter);

struct gpume_sorter_task {
    size_t size;             /* sizeof(struct gpume_sorter_task) */
    VkDeviceAddress keys;    /* `count` words of 32 bits, aligned to 4 bytes; sorted in place */
    VkDeviceAddress payload; /* `count` words that move with their keys; 0: none */
    VkDeviceAddress scratch; /* memory as gpume_sorter_sizes requires, with any content */
    uint64_t count;          /* at most 2^30 */
    enum gpume_key_type type;
    enum gpume_sort_method method;
    bool descending;
    uint32_t key_bits;        /* as gpume_sort_params.key_bits */
    uint32_t segment_count;   /* 0: all keys are one segment */
    uint32_t segment_longest; /* keys in the longest segment; no segment may be longer */
    /* segment_count structs gpume_segment in device memory, aligned to 8 bytes, read when the
     * commands run. Segments lie within `count` and do not overlap. 0: segment i is the
     * segment_longest keys from i * segment_stride on.
     * Each length class up to segment_longest takes one pass over all segments, and every segment
     * longer than a few thousand keys takes as many workgroups as segment_longest keys need: if few
     * segments are long, sort those as a separate task. */
    VkDeviceAddress segments;
    uint32_t segment_stride; /* keys */
};

struct gpume_sorter_memory {
    uint64_t scratch_bytes; /* may be 0 */
    uint64_t scratch_alignment;
};

/* [any] The scratch memory that a task requires. Of the task's addresses only their alignment and
 * whether they are 0 matter. Fewer keys or shorter segments never require more. GPUME_INVALID: a
 * member of the task is out of range. */
GPUME_API int gpume_sorter_sizes(const gpume_sorter *sorter, const struct gpume_sorter_task *task,
    struct gpume_sorter_memory *memory);

/* [any] Records the sort. Its result replaces keys and payload. Stable, as gpume_sort.
 * GPUME_INVALID: a member of the task is out of range; nothing is recorded. */
GPUME_API int gpume_sorter_record(
    const gpume_sorter *sorter, VkCommandBuffer commands, const struct gpume_sorter_task *task);

#ifdef __cplusplus
}
#endif

#endif
