/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume's sort inside a program that uses Vulkan itself: its device, its memory, its command
 * buffers. Whoever lets gpume do all that takes compute.h.
 *
 *     gpume_sorter_create(&sorter, &vulkan);                    compiles kernels
 *     gpume_sorter_sizes(sorter, &task, &memory);               how much scratch memory
 *     gpume_sorter_record(sorter, commands, &task);             writes commands, nothing else
 *     gpume_sorter_destroy(&sorter);
 *
 * The device: Vulkan 1.2 or newer, created with the feature bufferDeviceAddress; and, where the
 * physical device has them, with subgroupSizeControl and computeFullSubgroups (in Vulkan 1.2 the
 * extension VK_EXT_subgroup_size_control). Without these two a sort takes several times as long.
 * The process uses the Vulkan loader that gpume is linked with.
 *
 * Memory: buffers with VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT and _STORAGE_BUFFER_BIT, whose
 * memory was allocated with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT. Nothing is bound and nothing is
 * kept: one sorter may be recorded any number of times, and what was recorded may be submitted any
 * number of times, with other content in the same memory.
 *
 * Order: commands are recorded outside a render pass, into a command buffer of a queue family that
 * computes. Between them are the barriers that they need; not before the first and not after the
 * last. Before: what wrote keys, payload and table must be available and visible to
 * VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT with VK_ACCESS_SHADER_READ_BIT and
 * VK_ACCESS_SHADER_WRITE_BIT, and what used the scratch memory must be done. After: keys and
 * payload were written, and the scratch memory used, by that stage with VK_ACCESS_SHADER_WRITE_BIT.
 * Afterwards the bound compute pipeline and push constants are gpume's.
 *
 * Threads: a sorter may be used by several threads at once, each with a command buffer of its own.
 * It must live until no command buffer with its commands runs.
 */
#ifndef GPUME_VULKAN_H
#define GPUME_VULKAN_H

#include <gpume/compute.h>

#include <vulkan/vulkan_core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's, for as long as what was made with it. */
struct gpume_vulkan {
    VkPhysicalDevice physical;
    VkDevice device;
    VkPipelineCache pipelines; /* may be VK_NULL_HANDLE */
    bool full_subgroups;       /* both features of subgroups are enabled */
    gpume_log_fn log;          /* may be NULL */
    void *log_opaque;
    uint8_t reserved[64]; /* zero */
};

typedef struct gpume_sorter gpume_sorter;

/* GPUME_UNSUPPORTED: the device has no Vulkan 1.2 or no bufferDeviceAddress. */
GPUME_API int gpume_sorter_create(gpume_sorter **sorter, const struct gpume_vulkan *vulkan);

/* Sets *sorter to NULL; NULL is fine. */
GPUME_API void gpume_sorter_destroy(gpume_sorter **sorter);

struct gpume_sorter_task {
    VkDeviceAddress keys;    /* `count` words of 32 bits, 4 bytes aligned; sorted in place */
    VkDeviceAddress payload; /* as many, moved along; 0: none */
    VkDeviceAddress scratch; /* as gpume_sorter_sizes says; its content does not matter */
    uint64_t count;          /* at most 2^30 */
    enum gpume_key_type type;
    enum gpume_sort_method method;
    bool descending;
    uint32_t key_bits; /* as gpume_sort_params.key_bits */
    /* 0: all keys are one segment. */
    uint32_t segment_count;
    /* Of the longest segment, keys; no segment may be longer. */
    uint32_t segment_longest;
    /* segment_count structs gpume_segment in device memory, 8 bytes aligned, read as the commands
     * run; segments lie within `count` and do not overlap. 0: segment i has the segment_longest
     * keys from i * segment_stride on. Every length class up to segment_longest costs a look at all
     * segments, and segments longer than some thousand keys cost workgroups for segment_longest
     * keys each: where few are long, give them a task of their own. */
    VkDeviceAddress segments;
    uint32_t segment_stride; /* keys */
    uint8_t reserved[36];    /* zero */
};

struct gpume_sorter_memory {
    uint64_t scratch_bytes; /* may be 0 */
    uint64_t scratch_alignment;
};

/* Memory for a task; its addresses count only as 0 or not. It never takes more for fewer keys or
 * shorter segments. GPUME_INVALID: a field of the task. */
GPUME_API int gpume_sorter_sizes(const gpume_sorter *sorter, const struct gpume_sorter_task *task,
    struct gpume_sorter_memory *memory);

/* The result is where the keys were: in keys and payload. Stable, as gpume_sort. GPUME_INVALID: a
 * field of the task; nothing is recorded. */
GPUME_API int gpume_sorter_record(
    const gpume_sorter *sorter, VkCommandBuffer commands, const struct gpume_sorter_task *task);

#ifdef __cplusplus
}
#endif

#endif
