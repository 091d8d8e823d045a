/* SPDX-License-Identifier: BSD-2-Clause */
#include "vulkan_probe.h"

#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define DEVICES_MAX 16
#define LAYERS_MAX 64

/* Functions of the loader. */
#define FUNCTIONS(X)                                                                               \
    X(CreateInstance)                                                                              \
    X(DestroyInstance)                                                                             \
    X(EnumerateInstanceLayerProperties)                                                            \
    X(EnumeratePhysicalDevices)                                                                    \
    X(GetPhysicalDeviceFeatures2)                                                                  \
    X(GetPhysicalDeviceProperties)
static struct {
#define DECLARE(name) PFN_vk##name name;
    FUNCTIONS(DECLARE)
} vk;

static bool has_loader(void)
{
    void *loader = gpume_os_load(gpume_os_vulkan);
    bool found = loader;
#define FIND(name) found = gpume_os_find(loader, "vk" #name, &vk.name) && found;
    FUNCTIONS(FIND)
    return found;
}

/* What the program requires of a device: Vulkan 1.2, timeline semaphores, buffer addresses. */
static bool suits(VkPhysicalDevice device)
{
    VkPhysicalDeviceProperties properties;
    vk.GetPhysicalDeviceProperties(device, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2) {
        return false;
    }
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &features};
    vk.GetPhysicalDeviceFeatures2(device, &all);
    return features.timelineSemaphore && features.bufferDeviceAddress;
}

/* Only a missing driver skips the test; after any other error the test runs and shows it. */
static bool has_device(void)
{
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_2};
    const VkInstanceCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    VkResult result = vk.CreateInstance(&create, NULL, &instance);
    if (result != VK_SUCCESS) {
        return result != VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    VkPhysicalDevice devices[DEVICES_MAX];
    uint32_t count = DEVICES_MAX;
    result = vk.EnumeratePhysicalDevices(instance, &count, devices);
    bool found = result != VK_SUCCESS && result != VK_INCOMPLETE;
    for (uint32_t i = 0; i < count && !found; i++) {
        found = suits(devices[i]);
    }
    vk.DestroyInstance(instance, NULL);
    return found;
}

static bool has_validation(void)
{
    VkLayerProperties layers[LAYERS_MAX];
    uint32_t count = LAYERS_MAX;
    bool found = false;
    if (vk.EnumerateInstanceLayerProperties(&count, layers) < 0) {
        return true;
    }
    for (uint32_t i = 0; i < count && !found; i++) {
        found = strcmp(layers[i].layerName, "VK_LAYER_KHRONOS_validation") == 0;
    }
    return found;
}

void vulkan_probe_or_skip(bool validation)
{
    const char *missing = !has_loader()                     ? "no Vulkan loader"
                          : !has_device()                   ? "no Vulkan driver"
                          : validation && !has_validation() ? "no Vulkan validation layer"
                                                            : NULL;
    if (!missing) {
        return;
    }
    const char *wish = getenv("GPUME_TEST_VULKAN");
    const bool required = wish && strcmp(wish, "required") == 0;
    printf("%s: %s\n", required ? "FAILED" : "SKIPPED", missing);
    exit(required ? 1 : 77);
}
