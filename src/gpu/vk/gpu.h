/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one include of Vulkan, how its functions are found, and how its results become status codes.
 * Only src/gpu includes this, and each of its contexts has one device.
 */
#ifndef GPUME_GPU_VK_GPU_H
#define GPUME_GPU_VK_GPU_H

#include "base/log.h"

#include <stdatomic.h>
#include <stdbool.h>

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

/* A device as everything in this room knows it: instance, physical and logical device, and what the
 * device can do. device.c fills it in. */
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
    struct gpume_logical *logical; /* shared by contexts, see device.h */
    VkDevice device;               /* the logical one */
    uint32_t queue_family;
    uint32_t timestamp_bits;   /* 0: the queue has no timestamps */
    uint64_t instance_ns;      /* that opening the instance took */
    VkPipelineCache pipelines; /* those of earlier runs included; may be null */
    size_t pipelines_bytes;    /* as they were read */
};

#endif
