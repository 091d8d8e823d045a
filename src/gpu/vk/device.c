/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/device.h"

#include "base/clock.h"
#include "base/status.h"
#include "gpu/vk/instance.h"
#include "gpu/vk/logical.h"

#include <stdlib.h>
#include <string.h>

static int select_physical(struct gpume_gpu *gpu, const char *wanted, bool software)
{
    VkPhysicalDevice physical[GPUME_PHYSICAL_MAX];
    struct gpume_device devices[GPUME_PHYSICAL_MAX];
    uint32_t count;
    int status = gpume_instance_devices(gpu, physical, devices, &count);
    if (status != GPUME_OK) {
        return status;
    }
    int index = gpume_instance_choose(devices, count, wanted, software);
    if (index < 0) {
        gpume_log_write(gpu->log, wanted || software ? GPUME_LOG_ERROR : GPUME_LOG_INFO,
            "%s%s%s among %u Vulkan devices; gpume_list_devices lists them, "
            "params.backend = GPUME_BACKEND_CPU needs none",
            wanted ? "params.device " : "no usable device", wanted ? wanted : "",
            wanted ? ": no such device" : "", count);
        return GPUME_DEVICE;
    }
    if (devices[index].unusable[0]) {
        return gpume_log_fail(gpu->log, GPUME_DEVICE, "%s %s; choose another with params.device",
            devices[index].name, devices[index].unusable);
    }
    gpu->physical = physical[index];
    gpu->heap_bytes = devices[index].memory_bytes;
    memcpy(gpu->driver, devices[index].driver, sizeof(gpu->driver));
    return GPUME_OK;
}

static bool has_extension(VkPhysicalDevice physical, const char *name)
{
    uint32_t count = 0;
    VkExtensionProperties *extensions = NULL;
    bool found = false;
    if (vkEnumerateDeviceExtensionProperties(physical, NULL, &count, NULL) == VK_SUCCESS) {
        extensions = calloc(count ? count : 1, sizeof(*extensions));
    }
    if (extensions &&
        vkEnumerateDeviceExtensionProperties(physical, NULL, &count, extensions) >= 0) {
        for (uint32_t i = 0; i < count && !found; i++) {
            found = strcmp(extensions[i].extensionName, name) == 0;
        }
    }
    free(extensions);
    return found;
}

#define SUBGROUP_MIN 4u /* smaller ones are no faster than none */

/* Kernels that use subgroups want them full, of a size that is known, and a few operations. */
static void read_subgroups(struct gpume_gpu *gpu)
{
    static const VkSubgroupFeatureFlags needed =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT |
        VK_SUBGROUP_FEATURE_BALLOT_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    gpu->subgroup = gpu->subgroups_max = 0;
    if (!has_extension(gpu->physical, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) {
        return;
    }
    VkPhysicalDeviceSubgroupSizeControlFeatures control = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &control};
    vkGetPhysicalDeviceFeatures2(gpu->physical, &features);
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties subgroups = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &sizes};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &subgroups};
    vkGetPhysicalDeviceProperties2(gpu->physical, &properties);
    uint32_t size = subgroups.subgroupSize;
    if (size >= SUBGROUP_MIN && control.subgroupSizeControl && control.computeFullSubgroups &&
        (sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
        (subgroups.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
        (subgroups.supportedOperations & needed) == needed && size >= sizes.minSubgroupSize &&
        size <= sizes.maxSubgroupSize) {
        gpu->subgroup = size;
        gpu->subgroups_max = sizes.maxComputeWorkgroupSubgroups;
    }
}

static void read_features(struct gpume_gpu *gpu)
{
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &features};
    vkGetPhysicalDeviceFeatures2(gpu->physical, &all);
    gpu->half = features.shaderFloat16;
    gpu->addresses = features.bufferDeviceAddress;
}

static void read_limits(struct gpume_gpu *gpu)
{
    VkPhysicalDeviceMaintenance3Properties maintenance = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &maintenance};
    vkGetPhysicalDeviceProperties2(gpu->physical, &all);
    gpu->properties = all.properties;
    gpu->allocation_max = maintenance.maxMemoryAllocationSize;
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &gpu->memory);
}

void gpume_gpu_describe(struct gpume_gpu *gpu)
{
    read_limits(gpu);
    read_features(gpu);
    read_subgroups(gpu);
}

int gpume_gpu_find(struct gpume_gpu *gpu, const struct gpume_log *log, const char *wanted,
    bool software, bool validate)
{
    *gpu = (struct gpume_gpu){.log = log};
    uint64_t start = gpume_clock_ns();
    int status;
    GPUME_TRY(gpume_instance_open(gpu, validate, !software && !wanted));
    gpu->instance_ns = gpume_clock_ns() - start;
    GPUME_TRY(select_physical(gpu, wanted, software));
    gpume_gpu_describe(gpu);
fail:
    return status;
}

int gpume_gpu_open(struct gpume_gpu *gpu, const struct gpume_log *log, const char *wanted,
    bool software, bool validate)
{
    int status = gpume_gpu_find(gpu, log, wanted, software, validate);
    return status == GPUME_OK ? gpume_logical_open(gpu) : status;
}

int gpume_gpu_verdict(const struct gpume_gpu *gpu)
{
    return atomic_load(&gpu->validation_errors) > 0 ? GPUME_DEVICE : GPUME_OK;
}

void gpume_gpu_close(struct gpume_gpu *gpu)
{
    if (gpu->device) {
        vkDestroyPipelineCache(gpu->device, gpu->pipelines, NULL);
    }
    gpume_logical_close(gpu);
    gpume_instance_close(gpu);
}
