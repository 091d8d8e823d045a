/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/instance.h"

#include "common/shared.h"
#include "gpu/vk/kernel.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAMILIES_MAX 16u
#define LAYERS_MAX 64u
#define EXTENSIONS_MAX 64u

/*
 * The instance of all contexts without validation: made once, kept for the life of the process.
 * Destroying the last instance unloads the driver, and NVIDIA's (580) takes static thread-local
 * storage every time it is loaded: after some thirty contexts, one after the other, it could not be
 * loaded again.
 */
static pthread_mutex_t shared_mutex = PTHREAD_MUTEX_INITIALIZER;
static VkInstance shared_instance;

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"
static const char *const validation_layer = VALIDATION_LAYER;

/* What the layer says of its settings where GPU-assisted validation is on, as layer 1.4.309
 * does: features that it enables for itself or does without (InternalWarning in layers/gpuav), and
 * that it is slow. What it finds in shaders has other names. */
static bool is_of_layer(const VkDebugUtilsMessengerCallbackDataEXT *data)
{
    const char *name = data->pMessageIdName ? data->pMessageIdName : "";
    return strcmp(name, "WARNING-GPU-Assisted-Validation") == 0 ||
           strcmp(name, "VALIDATION-SETTINGS") == 0;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
    VkDebugUtilsMessageTypeFlagsEXT types, const VkDebugUtilsMessengerCallbackDataEXT *data,
    void *opaque)
{
    struct gpume_gpu *gpu = opaque;
    /* The loader reports its own business, such as drivers it skips, as general messages. */
    if ((types == VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT || is_of_layer(data)) &&
        !(severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT)) {
        return VK_FALSE;
    }
    atomic_fetch_add(&gpu->validation_errors, 1);
    gpume_log_write(gpu->log, GPUME_LOG_ERROR, "Vulkan validation: %s", data->pMessage);
    return VK_FALSE;
}

static bool layer_present(const char *name)
{
    VkLayerProperties layers[LAYERS_MAX];
    uint32_t count = LAYERS_MAX;
    if (vkEnumerateInstanceLayerProperties(&count, layers) < 0) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(layers[i].layerName, name) == 0) {
            return true;
        }
    }
    return false;
}

static int create_messenger(
    struct gpume_gpu *gpu, const VkDebugUtilsMessengerCreateInfoEXT *messenger_info)
{
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
            gpu->instance, "vkCreateDebugUtilsMessengerEXT");
    if (!create) {
        return gpume_log_fail(gpu->log, GPUME_UNSUPPORTED,
            "params.validate: the Vulkan loader has no VK_EXT_debug_utils; leave it out");
    }
    return gpume_vk_check(gpu->log, create(gpu->instance, messenger_info, NULL, &gpu->messenger),
        "vkCreateDebugUtilsMessengerEXT");
}

#ifdef VK_EXT_layer_settings
static const VkBool32 yes = VK_TRUE;
static const VkLayerSettingEXT setting = {.pLayerName = VALIDATION_LAYER,
    .pSettingName = "syncval_shader_accesses_heuristic",
    .type = VK_LAYER_SETTING_TYPE_BOOL32_EXT,
    .valueCount = 1,
    .pValues = &yes};
static const VkLayerSettingsCreateInfoEXT with_kernels = {
    .sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT,
    .settingCount = 1,
    .pSettings = &setting};

/* Layers that have settings, such as 1.4.309, leave what kernels read and write out of
 * synchronization validation unless this one is set. Debian 12's layer (1.3.239), which knows
 * VK_EXT_validation_features alone, never does. */
static const void *kernels_setting(void)
{
    VkExtensionProperties known[EXTENSIONS_MAX];
    uint32_t count = EXTENSIONS_MAX;
    if (vkEnumerateInstanceExtensionProperties(validation_layer, &count, known) < 0) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(known[i].extensionName, "VK_EXT_layer_settings") == 0) {
            return &with_kernels;
        }
    }
    return NULL;
}
#else
static const void *kernels_setting(void)
{
    return NULL;
}
#endif

static int create_instance(struct gpume_gpu *gpu, bool validate, VkResult *result)
{
    static const char *const extensions[] = {
        "VK_EXT_debug_utils", "VK_EXT_validation_features", "VK_EXT_layer_settings"};
    static const VkValidationFeatureEnableEXT synchronization =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = validate ? kernels_setting() : NULL,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = &synchronization,
    };
    VkDebugUtilsMessengerCreateInfoEXT messenger_info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .pNext = &features,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                       VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = gpu,
    };
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "gpume",
        .pEngineName = "gpume",
        .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    if (validate) {
        info.pNext = &messenger_info;
        info.enabledLayerCount = 1;
        info.ppEnabledLayerNames = &validation_layer;
        info.enabledExtensionCount = features.pNext ? 3 : 2;
        info.ppEnabledExtensionNames = extensions;
    }
    *result = vkCreateInstance(&info, NULL, &gpu->instance);
    messenger_info.pNext = NULL; /* which creating a messenger requires */
    return *result == VK_SUCCESS && validate ? create_messenger(gpu, &messenger_info) : GPUME_OK;
}

static int share_instance(struct gpume_gpu *gpu, VkResult *result)
{
    *result = VK_SUCCESS;
    pthread_mutex_lock(&shared_mutex);
    int status = shared_instance ? GPUME_OK : create_instance(gpu, false, result);
    if (*result == VK_SUCCESS) {
        shared_instance = shared_instance ? shared_instance : gpu->instance;
        gpu->instance = shared_instance;
        gpu->instance_shared = true;
    }
    pthread_mutex_unlock(&shared_mutex);
    return status;
}

int gpume_instance_open(struct gpume_gpu *gpu, bool validate, bool quiet)
{
    if (validate && !layer_present(validation_layer)) {
        return gpume_log_fail(gpu->log, GPUME_UNSUPPORTED,
            "params.validate: %s is not installed (on Debian: apt install vulkan-validationlayers)",
            validation_layer);
    }
    VkResult result;
    int status = validate ? create_instance(gpu, true, &result) : share_instance(gpu, &result);
    if (result != VK_SUCCESS && result != VK_ERROR_INCOMPATIBLE_DRIVER) {
        return gpume_vk_check(gpu->log, result, "vkCreateInstance");
    }
    if (result != VK_SUCCESS) {
        gpume_log_write(gpu->log, quiet ? GPUME_LOG_INFO : GPUME_LOG_ERROR,
            "no Vulkan driver on this machine (%d); install one, such as mesa-vulkan-drivers, or "
            "use params.backend = GPUME_BACKEND_CPU",
            (int)result);
        return GPUME_DEVICE;
    }
    return status;
}

void gpume_instance_close(struct gpume_gpu *gpu)
{
    if (gpu->messenger) {
        PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                gpu->instance, "vkDestroyDebugUtilsMessengerEXT");
        destroy(gpu->instance, gpu->messenger, NULL);
        gpu->messenger = VK_NULL_HANDLE;
    }
    if (gpu->instance && !gpu->instance_shared) {
        vkDestroyInstance(gpu->instance, NULL);
    }
    gpu->instance = VK_NULL_HANDLE;
}

uint32_t gpume_instance_compute_family(VkPhysicalDevice physical, uint32_t *timestamp_bits)
{
    VkQueueFamilyProperties families[FAMILIES_MAX];
    uint32_t count = FAMILIES_MAX;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count; i++) {
        if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) {
            *timestamp_bits = families[i].timestampValidBits;
            return i;
        }
    }
    return UINT32_MAX;
}

static enum gpume_device_type device_type(VkPhysicalDeviceType type)
{
    switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return GPUME_DEVICE_INTEGRATED;
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return GPUME_DEVICE_DISCRETE;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return GPUME_DEVICE_VIRTUAL;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return GPUME_DEVICE_SOFTWARE;
    default:
        return GPUME_DEVICE_OTHER;
    }
}

/* Kernels that sort reach memory by address. Of a device with Vulkan 1.2. */
static bool has_addresses(VkPhysicalDevice physical)
{
    VkPhysicalDeviceBufferDeviceAddressFeatures addresses = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
    VkPhysicalDeviceFeatures2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &addresses};
    vkGetPhysicalDeviceFeatures2(physical, &all);
    return addresses.bufferDeviceAddress;
}

/* "" if every kernel fits the device. */
static const char *why_unusable(VkPhysicalDevice physical, const VkPhysicalDeviceProperties *p)
{
    uint32_t bits;
    if (p->apiVersion < VK_API_VERSION_1_2) {
        return "needs Vulkan 1.2";
    }
    if (!has_addresses(physical)) {
        return "has no buffer device addresses, which ranking needs";
    }
    if (gpume_instance_compute_family(physical, &bits) == UINT32_MAX) {
        return "has no compute queue";
    }
    if (p->limits.maxComputeWorkGroupInvocations < GPUME_REDUCE_LOCAL ||
        p->limits.maxComputeWorkGroupSize[0] < GPUME_REDUCE_LOCAL) {
        return "needs workgroups of 256 invocations";
    }
    if (p->limits.maxPerStageDescriptorStorageBuffers < GPUME_KERNEL_BUFFERS_MAX) {
        return "needs five storage buffers a kernel";
    }
    return "";
}

/* Everything `gpume devices` shows, except the index. */
static void describe(VkPhysicalDevice physical, struct gpume_device *device)
{
    VkPhysicalDeviceProperties first;
    vkGetPhysicalDeviceProperties(physical, &first);
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    if (first.apiVersion >= VK_API_VERSION_1_2) {
        VkPhysicalDeviceProperties2 all = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
        vkGetPhysicalDeviceProperties2(physical, &all);
    }
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    *device = (struct gpume_device){.type = device_type(first.deviceType)};
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        bool local = memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
        if (local && memory.memoryHeaps[i].size > device->memory_bytes) {
            device->memory_bytes = memory.memoryHeaps[i].size;
        }
    }
    snprintf(device->name, sizeof(device->name), "%.250s", first.deviceName);
    if (driver.driverInfo[0]) {
        snprintf(device->driver, sizeof(device->driver), "%.120s %.120s", driver.driverName,
            driver.driverInfo);
    } else {
        snprintf(device->driver, sizeof(device->driver), "%.250s", driver.driverName);
    }
    snprintf(device->unusable, sizeof(device->unusable), "%s", why_unusable(physical, &first));
}

/* How gladly a device is taken; 0 = not unless named. */
static int preference(const struct gpume_device *device, bool software)
{
    switch (device->type) {
    case GPUME_DEVICE_DISCRETE:
        return 5;
    case GPUME_DEVICE_INTEGRATED:
        return 4;
    case GPUME_DEVICE_VIRTUAL:
        return 3;
    case GPUME_DEVICE_OTHER:
        return software ? 2 : 0;
    default:
        return software ? 1 : 0;
    }
}

static bool contains(const char *text, const char *part)
{
    for (; *text; text++) {
        size_t i = 0;
        while (part[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i])) {
            i++;
        }
        if (!part[i]) {
            return true;
        }
    }
    return false;
}

/* Does the user's --device mean this one? A number is an index. */
static bool meant(const char *wanted, uint32_t index, const struct gpume_device *device)
{
    char *end;
    unsigned long number = strtoul(wanted, &end, 10);
    if (isdigit((unsigned char)wanted[0]) && !*end) {
        return number == index;
    }
    return wanted[0] && contains(device->name, wanted);
}

int gpume_instance_choose(
    const struct gpume_device *devices, uint32_t count, const char *wanted, bool software)
{
    int best = -1, best_preference = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (wanted ? !meant(wanted, i, &devices[i]) : devices[i].unusable[0] != '\0') {
            continue;
        }
        int value = preference(&devices[i], software || wanted);
        if (value > best_preference) {
            best_preference = value;
            best = (int)i;
        }
    }
    return best;
}

int gpume_instance_devices(const struct gpume_gpu *gpu, VkPhysicalDevice *physical,
    struct gpume_device *devices, uint32_t *count)
{
    *count = GPUME_PHYSICAL_MAX;
    int status = gpume_vk_check(gpu->log,
        vkEnumeratePhysicalDevices(gpu->instance, count, physical), "vkEnumeratePhysicalDevices");
    for (uint32_t i = 0; status == GPUME_OK && i < *count; i++) {
        describe(physical[i], &devices[i]);
        devices[i].index = i;
    }
    return status;
}

int gpume_devices_fill(struct gpume_device *out, size_t stride, uint32_t capacity, uint32_t *count)
{
    if (!count || (capacity > 0 && !out)) {
        return GPUME_INVALID;
    }
    static const struct gpume_log silent;
    struct gpume_gpu gpu = {.log = &silent};
    VkPhysicalDevice physical[GPUME_PHYSICAL_MAX];
    struct gpume_device devices[GPUME_PHYSICAL_MAX];
    uint32_t present = 0;
    int status = gpume_instance_open(&gpu, false, true);
    if (status == GPUME_OK) {
        status = gpume_instance_devices(&gpu, physical, devices, &present);
    }
    gpume_instance_close(&gpu);
    present = status == GPUME_OK ? present : 0; /* without Vulkan there are none */
    int best = gpume_instance_choose(devices, present, NULL, false);
    if (best >= 0) {
        devices[best].automatic = true;
    }
    for (uint32_t i = 0; i < present && i < capacity; i++) {
        memcpy((char *)out + i * stride, &devices[i],
            stride < sizeof(*devices) ? stride : sizeof(*devices));
    }
    *count = present;
    return GPUME_OK;
}
