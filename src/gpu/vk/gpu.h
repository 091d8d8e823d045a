/* SPDX-License-Identifier: BSD-2-Clause */
/* Vulkan in small pieces: its functions and a device (device.c), buffers, kernels and submissions
 * (slot.c). */
#ifndef GPUME_GPU_VK_GPU_H
#define GPUME_GPU_VK_GPU_H

#include "base/cache.h"
#include "base/log.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * --- The one include of Vulkan, how its functions are found, and how its results become status
 * codes. Only src/gpu includes this, and each of its contexts has one device.
 */

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

/*
 * Functions come from the loader, which is opened when the first of them is needed: so the library
 * also runs, on the CPU, where there is no loader. A function that nobody has used before goes into
 * both lists.
 */
/* clang-format off */
#define GPUME_VK_FUNCTIONS(X) \
    X(AllocateCommandBuffers) X(AllocateDescriptorSets) X(AllocateMemory) X(BeginCommandBuffer) \
    X(BindBufferMemory) X(CmdBindDescriptorSets) X(CmdBindPipeline) X(CmdCopyBuffer) \
    X(CmdDispatch) X(CmdFillBuffer) X(CmdPipelineBarrier) X(CmdPushConstants) \
    X(CmdResetQueryPool) X(CmdWriteTimestamp) X(CreateBuffer) X(CreateCommandPool) \
    X(CreateComputePipelines) X(CreateDescriptorPool) X(CreateDescriptorSetLayout) \
    X(CreateDevice) X(CreateInstance) X(CreatePipelineCache) X(CreatePipelineLayout) \
    X(CreateQueryPool) X(CreateSemaphore) X(CreateShaderModule) X(DestroyBuffer) \
    X(DestroyCommandPool) X(DestroyDescriptorPool) X(DestroyDescriptorSetLayout) \
    X(DestroyDevice) X(DestroyInstance) X(DestroyPipeline) X(DestroyPipelineCache) \
    X(DestroyPipelineLayout) X(DestroyQueryPool) X(DestroySemaphore) X(DestroyShaderModule) \
    X(DeviceWaitIdle) X(EndCommandBuffer) X(EnumerateDeviceExtensionProperties) \
    X(EnumerateInstanceExtensionProperties) X(EnumerateInstanceLayerProperties) \
    X(EnumeratePhysicalDevices) X(FreeMemory) X(GetBufferDeviceAddress) \
    X(GetBufferMemoryRequirements) X(GetDeviceQueue) X(GetInstanceProcAddr) \
    X(GetPhysicalDeviceFeatures2) X(GetPhysicalDeviceMemoryProperties) \
    X(GetPhysicalDeviceProperties) X(GetPhysicalDeviceProperties2) \
    X(GetPhysicalDeviceQueueFamilyProperties) X(GetPipelineCacheData) X(GetQueryPoolResults) \
    X(MapMemory) X(QueueSubmit) X(ResetCommandPool) X(ResetDescriptorPool) \
    X(UpdateDescriptorSets) X(WaitSemaphores)
/* clang-format on */
#define GPUME_VK_MEMBER(name) PFN_vk##name name;
struct gpume_vk {
    GPUME_VK_FUNCTIONS(GPUME_VK_MEMBER)
};

extern struct gpume_vk gpume_vk; /* constant after gpume_vk_load */

/* Before any other call of Vulkan, by any thread. False: there is no loader. */
bool gpume_vk_load(void);

#define vkAllocateCommandBuffers gpume_vk.AllocateCommandBuffers
#define vkAllocateDescriptorSets gpume_vk.AllocateDescriptorSets
#define vkAllocateMemory gpume_vk.AllocateMemory
#define vkBeginCommandBuffer gpume_vk.BeginCommandBuffer
#define vkBindBufferMemory gpume_vk.BindBufferMemory
#define vkCmdBindDescriptorSets gpume_vk.CmdBindDescriptorSets
#define vkCmdBindPipeline gpume_vk.CmdBindPipeline
#define vkCmdCopyBuffer gpume_vk.CmdCopyBuffer
#define vkCmdDispatch gpume_vk.CmdDispatch
#define vkCmdFillBuffer gpume_vk.CmdFillBuffer
#define vkCmdPipelineBarrier gpume_vk.CmdPipelineBarrier
#define vkCmdPushConstants gpume_vk.CmdPushConstants
#define vkCmdResetQueryPool gpume_vk.CmdResetQueryPool
#define vkCmdWriteTimestamp gpume_vk.CmdWriteTimestamp
#define vkCreateBuffer gpume_vk.CreateBuffer
#define vkCreateCommandPool gpume_vk.CreateCommandPool
#define vkCreateComputePipelines gpume_vk.CreateComputePipelines
#define vkCreateDescriptorPool gpume_vk.CreateDescriptorPool
#define vkCreateDescriptorSetLayout gpume_vk.CreateDescriptorSetLayout
#define vkCreateDevice gpume_vk.CreateDevice
#define vkCreateInstance gpume_vk.CreateInstance
#define vkCreatePipelineCache gpume_vk.CreatePipelineCache
#define vkCreatePipelineLayout gpume_vk.CreatePipelineLayout
#define vkCreateQueryPool gpume_vk.CreateQueryPool
#define vkCreateSemaphore gpume_vk.CreateSemaphore
#define vkCreateShaderModule gpume_vk.CreateShaderModule
#define vkDestroyBuffer gpume_vk.DestroyBuffer
#define vkDestroyCommandPool gpume_vk.DestroyCommandPool
#define vkDestroyDescriptorPool gpume_vk.DestroyDescriptorPool
#define vkDestroyDescriptorSetLayout gpume_vk.DestroyDescriptorSetLayout
#define vkDestroyDevice gpume_vk.DestroyDevice
#define vkDestroyInstance gpume_vk.DestroyInstance
#define vkDestroyPipeline gpume_vk.DestroyPipeline
#define vkDestroyPipelineCache gpume_vk.DestroyPipelineCache
#define vkDestroyPipelineLayout gpume_vk.DestroyPipelineLayout
#define vkDestroyQueryPool gpume_vk.DestroyQueryPool
#define vkDestroySemaphore gpume_vk.DestroySemaphore
#define vkDestroyShaderModule gpume_vk.DestroyShaderModule
#define vkDeviceWaitIdle gpume_vk.DeviceWaitIdle
#define vkEndCommandBuffer gpume_vk.EndCommandBuffer
#define vkEnumerateDeviceExtensionProperties gpume_vk.EnumerateDeviceExtensionProperties
#define vkEnumerateInstanceExtensionProperties gpume_vk.EnumerateInstanceExtensionProperties
#define vkEnumerateInstanceLayerProperties gpume_vk.EnumerateInstanceLayerProperties
#define vkEnumeratePhysicalDevices gpume_vk.EnumeratePhysicalDevices
#define vkFreeMemory gpume_vk.FreeMemory
#define vkGetBufferDeviceAddress gpume_vk.GetBufferDeviceAddress
#define vkGetBufferMemoryRequirements gpume_vk.GetBufferMemoryRequirements
#define vkGetDeviceQueue gpume_vk.GetDeviceQueue
#define vkGetInstanceProcAddr gpume_vk.GetInstanceProcAddr
#define vkGetPhysicalDeviceFeatures2 gpume_vk.GetPhysicalDeviceFeatures2
#define vkGetPhysicalDeviceMemoryProperties gpume_vk.GetPhysicalDeviceMemoryProperties
#define vkGetPhysicalDeviceProperties gpume_vk.GetPhysicalDeviceProperties
#define vkGetPhysicalDeviceProperties2 gpume_vk.GetPhysicalDeviceProperties2
#define vkGetPhysicalDeviceQueueFamilyProperties gpume_vk.GetPhysicalDeviceQueueFamilyProperties
#define vkGetPipelineCacheData gpume_vk.GetPipelineCacheData
#define vkGetQueryPoolResults gpume_vk.GetQueryPoolResults
#define vkMapMemory gpume_vk.MapMemory
#define vkQueueSubmit gpume_vk.QueueSubmit
#define vkResetCommandPool gpume_vk.ResetCommandPool
#define vkResetDescriptorPool gpume_vk.ResetDescriptorPool
#define vkUpdateDescriptorSets gpume_vk.UpdateDescriptorSets
#define vkWaitSemaphores gpume_vk.WaitSemaphores

/* GPUME_OK, or the matching status with one logged line: what was tried and Vulkan's name for the
 * trouble. */
int gpume_vk_check(const struct gpume_log *log, VkResult result, const char *what);

/* Needs `int status` and a label `fail`. */
#define GPUME_VK_TRY(log, call)                                                                    \
    do {                                                                                           \
        status = gpume_vk_check((log), (call), #call);                                             \
        if (status != GPUME_OK) {                                                                  \
            goto fail;                                                                             \
        }                                                                                          \
    } while (0)

/* A device as everything in this module knows it: instance, physical and logical device, and what
 * the device can do. device.c fills it in. */
struct gpume_gpu {
    const struct gpume_log *log;
    VkInstance instance;
    bool instance_shared;               /* with other contexts: not ours to destroy */
    VkDebugUtilsMessengerEXT messenger; /* with validation */
    atomic_uint validation_errors;
    VkPhysicalDevice physical;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceSize allocation_max; /* bytes in one allocation */
    uint64_t heap_bytes;         /* of the largest device-local heap */
    bool half;                   /* 16-bit float arithmetic */
    bool addresses;              /* kernels may reach buffers by address, of whatever size */
    uint32_t subgroup;           /* size that kernels may ask for, every subgroup full; 0: none */
    uint32_t subgroups_max;      /* in a workgroup, of that size */
    bool sorts_wrongly;          /* see gpume_sort_check */
    char driver[256];
    struct gpume_logical *logical; /* shared by contexts, see below */
    VkDevice device;               /* the logical one */
    uint32_t queue_family;
    uint32_t timestamp_bits;   /* 0: the queue has no timestamps */
    uint64_t instance_ns;      /* that opening the instance took */
    VkPipelineCache pipelines; /* those of earlier runs included; may be null */
    size_t pipelines_bytes;    /* as they were read */
};

/*
 * --- Instance, physical device, logical device and its one compute queue. Features are asked once,
 * here. Baseline: Vulkan 1.2 with timeline semaphores and buffer addresses; 16-bit floats and
 * subgroups of a known size are used where they are.
 */

/* wanted: an index of gpume_list_devices, a part of a name, or NULL for the best; software: a
 * software driver may be taken. GPUME_DEVICE, logged: nothing suits. On failure close it all the
 * same. */
int gpume_gpu_open(struct gpume_gpu *gpu, const struct gpume_log *log, const char *wanted,
    bool software, bool validate);

/* The same without a logical device: only describes the physical one. */
int gpume_gpu_find(struct gpume_gpu *gpu, const struct gpume_log *log, const char *wanted,
    bool software, bool validate);

/* Fills in the limits, features and subgroup sizes of gpu->physical. */
void gpume_gpu_describe(struct gpume_gpu *gpu);

/* GPUME_DEVICE: the validation layer has reported something, which is logged. */
int gpume_gpu_verdict(const struct gpume_gpu *gpu);

/* Zeroed is fine. */
void gpume_gpu_close(struct gpume_gpu *gpu);

/* --- the logical device and its one compute queue, which contexts on the same physical device
 * share, unless they validate: to open one takes NVIDIA's driver 0.1 s of processor time. Each
 * context has its own buffers, kernels and command buffers. Any thread. */

VkResult gpume_logical_submit(const struct gpume_gpu *gpu, const VkSubmitInfo *info);

/* After a wait that failed: returns when the device does nothing any more, for any context. If it
 * is lost, contexts that are opened from now on do not share it. */
void gpume_logical_fail(const struct gpume_gpu *gpu, VkResult result);

/* --- what is kept of a device and its driver in the cache's folder: compiled pipelines, by the
 * engine's thread before and after the kernels are made, and short answers */

#define GPUME_CACHE_NAME_BYTES 96u

/* The name of an entry that is good for this device with this driver alone. kind: a short word. */
void gpume_device_cache_name(
    const struct gpume_gpu *gpu, const char *kind, char name[GPUME_CACHE_NAME_BYTES]);

/* Fills in gpu->pipelines, with what is stored if it is this device's; without a folder there is
 * none, which is fine for all who use it. gpume_gpu_close destroys it. */
void gpume_device_cache_open(struct gpume_gpu *gpu, const struct gpume_cache *cache);

/* Stores it if pipelines have come in since it was opened. Says how that was: "cached" if all of
 * them were there. */
const char *gpume_device_cache_save(const struct gpume_gpu *gpu, const struct gpume_cache *cache);

/* --- answers: what was found out about a device with its driver, by a name that
 * gpume_device_cache_name makes. Kept for the life of the process too. Any thread. */

#define GPUME_KNOWN_BYTES 64u /* of an answer */

/* False: nothing is known by that name. */
bool gpume_known_find(
    const struct gpume_cache *cache, const char *name, char answer[GPUME_KNOWN_BYTES]);

void gpume_known_keep(const struct gpume_cache *cache, const char *name, const char *answer);

/*
 * --- Buffers, kernels, and what uses them.
 *
 * A slot is one submission: a command buffer, the descriptor sets, timestamps and uniform block it
 * uses, and the value that the timeline semaphore reaches when it is done. begin -> bind, dispatch,
 * copy, barriers -> submit -> wait; then it may begin again. Recording allocates nothing from the
 * system.
 */

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
