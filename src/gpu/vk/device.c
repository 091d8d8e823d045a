/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/gpu.h"

#include "base/base.h"
#include "base/os.h"
#include "base/params.h"
#include "common/shared.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what is kept of a device */

/* A larger entry, of many block and window sizes, is left unread, so that it begins anew. */
#define FULL_BYTES (GPUME_CACHE_BYTES_MAX / 2)

void gpume_device_cache_name(
    const struct gpume_gpu *gpu, const char *kind, char name[GPUME_CACHE_NAME_BYTES])
{
    const VkPhysicalDeviceProperties *p = &gpu->properties;
    char uuid[2 * VK_UUID_SIZE + 1];
    for (size_t i = 0; i < VK_UUID_SIZE; i++) {
        snprintf(uuid + 2 * i, 3, "%02x", p->pipelineCacheUUID[i]);
    }
    /* The version besides, as the UUID of lavapipe (Mesa 22.3) is the same for all of them. */
    snprintf(name, GPUME_CACHE_NAME_BYTES, "%.32s-%04x-%04x-%08x-%s.bin", kind, p->vendorID,
        p->deviceID, p->driverVersion, uuid);
}

/* A driver looks at this too, but may crash on what is not its own. */
static bool is_ours(const struct gpume_gpu *gpu, const void *data, size_t bytes)
{
    const VkPhysicalDeviceProperties *p = &gpu->properties;
    VkPipelineCacheHeaderVersionOne header;
    if (bytes < sizeof(header)) {
        return false;
    }
    memcpy(&header, data, sizeof(header));
    return header.headerSize >= sizeof(header) && header.headerSize <= bytes &&
           header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           header.vendorID == p->vendorID && header.deviceID == p->deviceID &&
           memcmp(header.pipelineCacheUUID, p->pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

void gpume_device_cache_open(struct gpume_gpu *gpu, const struct gpume_cache *cache)
{
    char name[GPUME_CACHE_NAME_BYTES];
    void *data = NULL;
    size_t bytes = 0;
    if (!cache->folder) {
        return;
    }
    gpume_device_cache_name(gpu, "pipelines", name);
    bool usable = gpume_cache_load(cache, name, &data, &bytes) && bytes <= FULL_BYTES &&
                  is_ours(gpu, data, bytes);
    VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = usable ? bytes : 0,
        .pInitialData = usable ? data : NULL,
    };
    if (vkCreatePipelineCache(gpu->device, &info, NULL, &gpu->pipelines) == VK_SUCCESS) {
        gpu->pipelines_bytes = info.initialDataSize;
    } else {
        gpu->pipelines = VK_NULL_HANDLE; /* as without a folder */
    }
    free(data);
}

const char *gpume_device_cache_save(const struct gpume_gpu *gpu, const struct gpume_cache *cache)
{
    char name[GPUME_CACHE_NAME_BYTES];
    size_t bytes = 0;
    if (!gpu->pipelines) {
        return "no cache";
    }
    /* Pipelines are only ever added, and each makes it longer. */
    if (vkGetPipelineCacheData(gpu->device, gpu->pipelines, &bytes, NULL) != VK_SUCCESS ||
        bytes == gpu->pipelines_bytes) {
        return bytes > 0 ? "cached" : "not cached";
    }
    gpume_device_cache_name(gpu, "pipelines", name);
    void *data = malloc(bytes);
    /* Only what the next run would take: lavapipe (Mesa 26.2) cuts its header to 20 bytes. */
    bool stored = data &&
                  vkGetPipelineCacheData(gpu->device, gpu->pipelines, &bytes, data) == VK_SUCCESS &&
                  is_ours(gpu, data, bytes) && gpume_cache_store(cache, name, data, bytes);
    free(data);
    return stored ? "compiled, cached now" : "compiled, not cached";
}

/* --- answers */

#define ANSWERS_MAX 64u /* answers of this process; older ones make room */

static pthread_mutex_t answers_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[GPUME_CACHE_NAME_BYTES];
    char answer[GPUME_KNOWN_BYTES];
} answers[ANSWERS_MAX];
static uint32_t answer_count;

static bool find_answer(const char *name, char answer[GPUME_KNOWN_BYTES])
{
    bool found = false;
    pthread_mutex_lock(&answers_mutex);
    for (uint32_t i = 0; i < ANSWERS_MAX && !found; i++) {
        found = strcmp(answers[i].name, name) == 0;
        snprintf(answer, GPUME_KNOWN_BYTES, "%s", answers[i].answer);
    }
    pthread_mutex_unlock(&answers_mutex);
    return found;
}

bool gpume_known_find(
    const struct gpume_cache *cache, const char *name, char answer[GPUME_KNOWN_BYTES])
{
    void *data = NULL;
    size_t bytes = 0;
    if (find_answer(name, answer)) {
        return true;
    }
    if (!gpume_cache_load(cache, name, &data, &bytes)) {
        return false;
    }
    snprintf(answer, GPUME_KNOWN_BYTES, "%.*s", (int)gpume_min_u64(bytes, GPUME_KNOWN_BYTES - 1),
        (const char *)data);
    free(data);
    return true;
}

void gpume_known_keep(const struct gpume_cache *cache, const char *name, const char *answer)
{
    pthread_mutex_lock(&answers_mutex);
    uint32_t place = answer_count++ % ANSWERS_MAX;
    snprintf(answers[place].name, sizeof(answers[place].name), "%s", name);
    snprintf(answers[place].answer, sizeof(answers[place].answer), "%s", answer);
    pthread_mutex_unlock(&answers_mutex);
    gpume_cache_store(cache, name, answer, strlen(answer));
}

/* --- the loader */

struct gpume_vk gpume_vk;

static bool loader_is_open;

/* It stays for the life of the process, as do the drivers that it loads. */
static void open_loader(void)
{
    void *loader = gpume_os_load(gpume_os_vulkan);
    loader_is_open = loader;
#define FIND(name)                                                                                 \
    loader_is_open = loader_is_open && gpume_os_find(loader, "vk" #name, &gpume_vk.name);
    GPUME_VK_FUNCTIONS(FIND)
#undef FIND
}

bool gpume_vk_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_loader);
    return loader_is_open;
}

/* --- results */

static const struct {
    VkResult result;
    int status;
    const char *text;
} failures[] = {
    {VK_ERROR_OUT_OF_HOST_MEMORY, GPUME_NOMEM, "out of host memory"},
    {VK_ERROR_OUT_OF_DEVICE_MEMORY, GPUME_DEVICE, "out of device memory"},
    {VK_ERROR_INITIALIZATION_FAILED, GPUME_DEVICE, "initialization failed"},
    {VK_ERROR_DEVICE_LOST, GPUME_DEVICE_LOST, "device lost"},
    {VK_ERROR_LAYER_NOT_PRESENT, GPUME_DEVICE, "layer not present"},
    {VK_ERROR_EXTENSION_NOT_PRESENT, GPUME_DEVICE, "extension not present"},
    {VK_ERROR_FEATURE_NOT_PRESENT, GPUME_DEVICE, "feature not present"},
    {VK_ERROR_INCOMPATIBLE_DRIVER, GPUME_DEVICE, "no compatible driver"},
    {VK_TIMEOUT, GPUME_DEVICE, "timeout"},
    {VK_SUCCESS, GPUME_DEVICE, "unexpected result"}, /* any other */
};

int gpume_vk_check(const struct gpume_log *log, VkResult result, const char *what)
{
    if (result >= 0 && result != VK_TIMEOUT) {
        return GPUME_OK;
    }
    size_t i = 0, name = 0; /* of the function in the call's text */
    while (failures[i].result != VK_SUCCESS && failures[i].result != result) {
        i++;
    }
    while (what[name] && what[name] != '(') {
        name++;
    }
    gpume_log_tell(log, GPUME_LOG_ERROR, gpume_about_two(NULL, NULL, GPUME_PARAM(backend), "cpu"),
        "Vulkan: %.*s: %s (%d); try", (int)name, what, failures[i].text, (int)result);
    return failures[i].status;
}

/* --- the instance, and what is known of its devices */

#define PHYSICAL_MAX 64u /* devices looked at */
#define FAMILIES_MAX 16u
#define VULKAN_LAYERS_MAX 64u
#define EXTENSIONS_MAX 64u

/*
 * The instance of all contexts without validation: made once, kept for the life of the process.
 * Destroying the last instance unloads the driver, and NVIDIA's (580) takes static thread-local
 * storage every time it is loaded: after some thirty contexts, one after the other, it could not be
 * loaded again.
 */
static pthread_mutex_t instance_mutex = PTHREAD_MUTEX_INITIALIZER;
static VkInstance shared_instance;

#define VALIDATION_LAYER "VK_LAYER_KHRONOS_validation"
static const char *const validation_layer = VALIDATION_LAYER;

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
    VkDebugUtilsMessageTypeFlagsEXT types, const VkDebugUtilsMessengerCallbackDataEXT *data,
    void *opaque)
{
    struct gpume_gpu *gpu = opaque;
    const char *name = data->pMessageIdName ? data->pMessageIdName : "";
    /* What the layer says of its settings where GPU-assisted validation is on, as layer 1.4.309
     * does: features that it enables for itself or does without (InternalWarning in layers/gpuav),
     * and that it is slow. What it finds in shaders has other names. */
    bool of_layer = strcmp(name, "WARNING-GPU-Assisted-Validation") == 0 ||
                    strcmp(name, "VALIDATION-SETTINGS") == 0;
    /* Dispatches of one stage write different blocks of an array. To layer 1.4.363 each writes all
     * of it (Vulkan-ValidationLayers, issue 11715); up to 1.4.309 layers passed over such pairs. */
    if (strcmp(name, "SYNC-HAZARD-WRITE-AFTER-WRITE") == 0 &&
        strstr(data->pMessage, "previously written by another vkCmdDispatch")) {
        return VK_FALSE;
    }
    /* The loader reports its own business, such as drivers it skips, as general messages. */
    if ((types == VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT || of_layer) &&
        !(severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT)) {
        return VK_FALSE;
    }
    atomic_fetch_add(&gpu->validation_errors, 1);
    gpume_log_write(gpu->log, GPUME_LOG_ERROR, "Vulkan validation: %s", data->pMessage);
    return VK_FALSE;
}

static bool layer_present(const char *name)
{
    VkLayerProperties layers[VULKAN_LAYERS_MAX];
    uint32_t count = VULKAN_LAYERS_MAX;
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
        return gpume_log_refuse(gpu->log, GPUME_UNSUPPORTED,
            gpume_about(GPUME_PARAM(validate), NULL),
            "the Vulkan loader has no VK_EXT_debug_utils; leave it out");
    }
    return gpume_vk_check(gpu->log, create(gpu->instance, messenger_info, NULL, &gpu->messenger),
        "vkCreateDebugUtilsMessengerEXT");
}

#ifdef VK_EXT_layer_settings
static const VkBool32 setting_on = VK_TRUE;
static const VkLayerSettingEXT shader_accesses = {.pLayerName = VALIDATION_LAYER,
    .pSettingName = "syncval_shader_accesses_heuristic",
    .type = VK_LAYER_SETTING_TYPE_BOOL32_EXT,
    .valueCount = 1,
    .pValues = &setting_on};
static const VkLayerSettingsCreateInfoEXT with_kernels = {
    .sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT,
    .settingCount = 1,
    .pSettings = &shader_accesses};

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
    pthread_mutex_lock(&instance_mutex);
    int status = shared_instance ? GPUME_OK : create_instance(gpu, false, result);
    if (*result == VK_SUCCESS) {
        shared_instance = shared_instance ? shared_instance : gpu->instance;
        gpu->instance = shared_instance;
        gpu->instance_shared = true;
    }
    pthread_mutex_unlock(&instance_mutex);
    return status;
}

/* Fills in gpu->instance (and messenger). quiet: a machine without Vulkan is not logged as an
 * error. */
static int instance_open(struct gpume_gpu *gpu, bool validate, bool quiet)
{
    if (!gpume_vk_load()) {
        gpume_log_tell(gpu->log, quiet ? GPUME_LOG_INFO : GPUME_LOG_ERROR,
            gpume_about_two(NULL, NULL, GPUME_PARAM(backend), "cpu"),
            "the Vulkan loader, %s, cannot be loaded; install it (%s), or use", gpume_os_vulkan,
            gpume_os_vulkan_package);
        return GPUME_DEVICE;
    }
    if (validate && !layer_present(validation_layer)) {
        return gpume_log_refuse(gpu->log, GPUME_UNSUPPORTED,
            gpume_about(GPUME_PARAM(validate), NULL),
            "%s is not installed (on Debian: apt install vulkan-validationlayers)",
            validation_layer);
    }
    VkResult result;
    int status = validate ? create_instance(gpu, true, &result) : share_instance(gpu, &result);
    if (result != VK_SUCCESS && result != VK_ERROR_INCOMPATIBLE_DRIVER) {
        return gpume_vk_check(gpu->log, result, "vkCreateInstance");
    }
    if (result != VK_SUCCESS) {
        gpume_log_tell(gpu->log, quiet ? GPUME_LOG_INFO : GPUME_LOG_ERROR,
            gpume_about_two(NULL, NULL, GPUME_PARAM(backend), "cpu"),
            "no Vulkan driver on this machine (%d); install one, such as mesa-vulkan-drivers, or "
            "use",
            (int)result);
        return GPUME_DEVICE;
    }
    return status;
}

static void instance_close(struct gpume_gpu *gpu)
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

/* The family of a queue that computes, UINT32_MAX if there is none. */
static uint32_t instance_compute_family(VkPhysicalDevice physical, uint32_t *timestamp_bits)
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
    if (instance_compute_family(physical, &bits) == UINT32_MAX) {
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
static void describe_device(VkPhysicalDevice physical, struct gpume_device *device)
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
    _Static_assert((int)GPUME_DEVICE_INTEGRATED == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU &&
                       (int)GPUME_DEVICE_DISCRETE == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU &&
                       (int)GPUME_DEVICE_VIRTUAL == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU &&
                       (int)GPUME_DEVICE_SOFTWARE == VK_PHYSICAL_DEVICE_TYPE_CPU,
        "types as Vulkan numbers them");
    const bool known = first.deviceType <= VK_PHYSICAL_DEVICE_TYPE_CPU;
    *device = (struct gpume_device){
        .type = known ? (enum gpume_device_type)first.deviceType : GPUME_DEVICE_OTHER};
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

/* Whether the user's --device means this one. A number is an index. */
static bool is_meant(const char *wanted, uint32_t index, const struct gpume_device *device)
{
    char *end;
    unsigned long number = strtoul(wanted, &end, 10);
    if (isdigit((unsigned char)wanted[0]) && !*end) {
        return number == index;
    }
    return wanted[0] && contains(device->name, wanted);
}

/* The device to take: the one wanted (an index or a part of a name), or the best usable one,
 * software drivers only if welcome; -1: none. */
static int instance_choose(
    const struct gpume_device *devices, uint32_t count, const char *wanted, bool software)
{
    /* How gladly a device is taken, without and with software drivers; 0: not at all. */
    static const int preferences[][2] = {
        [GPUME_DEVICE_DISCRETE] = {5, 5},
        [GPUME_DEVICE_INTEGRATED] = {4, 4},
        [GPUME_DEVICE_VIRTUAL] = {3, 3},
        [GPUME_DEVICE_OTHER] = {0, 2},
        [GPUME_DEVICE_SOFTWARE] = {0, 1},
    };
    int best = -1, best_preference = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (wanted ? !is_meant(wanted, i, &devices[i]) : devices[i].unusable[0] != '\0') {
            continue;
        }
        int value = preferences[devices[i].type][software || wanted];
        if (value > best_preference) {
            best_preference = value;
            best = (int)i;
        }
    }
    return best;
}

/* Up to PHYSICAL_MAX devices in the loader's order, and what is known of them. */
static int instance_devices(const struct gpume_gpu *gpu, VkPhysicalDevice *physical,
    struct gpume_device *devices, uint32_t *count)
{
    *count = PHYSICAL_MAX;
    int status = gpume_vk_check(gpu->log,
        vkEnumeratePhysicalDevices(gpu->instance, count, physical), "vkEnumeratePhysicalDevices");
    for (uint32_t i = 0; status == GPUME_OK && i < *count; i++) {
        describe_device(physical[i], &devices[i]);
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
    VkPhysicalDevice physical[PHYSICAL_MAX];
    struct gpume_device devices[PHYSICAL_MAX];
    uint32_t present = 0;
    int status = instance_open(&gpu, false, true);
    if (status == GPUME_OK) {
        status = instance_devices(&gpu, physical, devices, &present);
    }
    instance_close(&gpu);
    present = status == GPUME_OK ? present : 0; /* without Vulkan there are none */
    int best = instance_choose(devices, present, NULL, false);
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

/* --- the logical device */

struct gpume_logical {
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    pthread_mutex_t mutex; /* for the queue, and while the device is created */
    /* Under logical_mutex: */
    uint32_t users;
    bool shared; /* with contexts that are opened from now on */
    struct gpume_logical *next;
};

static pthread_mutex_t logical_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct gpume_logical *first_logical; /* of all that are open */

static VkResult create_device(const struct gpume_gpu *gpu, VkDevice *device)
{
    static const float priority = 1.0f;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = gpu->queue_family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroups = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        .subgroupSizeControl = VK_TRUE,
        .computeFullSubgroups = VK_TRUE,
    };
    static const char *const extensions[] = {VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME};
    VkPhysicalDeviceVulkan12Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = gpu->subgroup ? &subgroups : NULL,
        .shaderFloat16 = gpu->half,
        .bufferDeviceAddress = gpu->addresses,
        .timelineSemaphore = VK_TRUE,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &features,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = gpu->subgroup ? 1 : 0,
        .ppEnabledExtensionNames = extensions,
    };
    return vkCreateDevice(gpu->physical, &info, NULL, device);
}

/* Adds one to the list, without a device yet. NULL: no memory. Needs logical_mutex. */
static struct gpume_logical *add_logical(const struct gpume_gpu *gpu)
{
    struct gpume_logical *logical = calloc(1, sizeof(*logical));
    if (logical) {
        pthread_mutex_init(&logical->mutex, NULL);
        logical->physical = gpu->physical;
        logical->shared = gpu->instance_shared;
        logical->next = first_logical;
        first_logical = logical;
    }
    return logical;
}

/* Creates the device unless another user has: several physical devices at once, each once. */
static VkResult create_shared(const struct gpume_gpu *gpu, struct gpume_logical *logical)
{
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&logical->mutex);
    if (!logical->device) {
        result = create_device(gpu, &logical->device);
        if (result == VK_SUCCESS) {
            vkGetDeviceQueue(logical->device, gpu->queue_family, 0, &logical->queue);
        } else {
            logical->device = VK_NULL_HANDLE;
        }
    }
    pthread_mutex_unlock(&logical->mutex);
    return result;
}

/* After all that the context made on the device has been destroyed. Zeroed is fine. */
static void logical_close(struct gpume_gpu *gpu)
{
    struct gpume_logical *logical = gpu->logical;
    if (!logical) {
        return;
    }
    gpu->logical = NULL;
    gpu->device = VK_NULL_HANDLE;
    pthread_mutex_lock(&logical_mutex);
    const bool last = --logical->users == 0;
    if (last) {
        struct gpume_logical **link = &first_logical;
        while (*link != logical) {
            link = &(*link)->next;
        }
        *link = logical->next;
    }
    pthread_mutex_unlock(&logical_mutex);
    if (last) { /* takes long, and other devices need not wait for it */
        if (logical->device) {
            vkDestroyDevice(logical->device, NULL);
        }
        pthread_mutex_destroy(&logical->mutex);
        free(logical);
    }
}

/* Fills in gpu->logical, gpu->device, gpu->queue_family and gpu->timestamp_bits. */
static int logical_open(struct gpume_gpu *gpu)
{
    gpu->queue_family = instance_compute_family(gpu->physical, &gpu->timestamp_bits);
    pthread_mutex_lock(&logical_mutex);
    /* Handles of physical devices differ from instance to instance, and one that validates has its
     * own. */
    gpu->logical = gpu->instance_shared ? first_logical : NULL;
    while (gpu->logical && !(gpu->logical->shared && gpu->logical->physical == gpu->physical)) {
        gpu->logical = gpu->logical->next;
    }
    gpu->logical = gpu->logical ? gpu->logical : add_logical(gpu);
    if (gpu->logical) {
        gpu->logical->users++;
    }
    pthread_mutex_unlock(&logical_mutex);
    const VkResult result =
        gpu->logical ? create_shared(gpu, gpu->logical) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS) {
        gpu->device = gpu->logical->device;
    } else {
        logical_close(gpu);
    }
    return gpume_vk_check(gpu->log, result, "vkCreateDevice");
}

static void note_lost(const struct gpume_gpu *gpu, VkResult result)
{
    if (result == VK_ERROR_DEVICE_LOST) {
        pthread_mutex_lock(&logical_mutex);
        gpu->logical->shared = false;
        pthread_mutex_unlock(&logical_mutex);
    }
}

VkResult gpume_logical_submit(const struct gpume_gpu *gpu, const VkSubmitInfo *info)
{
    pthread_mutex_lock(&gpu->logical->mutex);
    const VkResult result = vkQueueSubmit(gpu->logical->queue, 1, info, VK_NULL_HANDLE);
    pthread_mutex_unlock(&gpu->logical->mutex);
    note_lost(gpu, result);
    return result;
}

void gpume_logical_fail(const struct gpume_gpu *gpu, VkResult result)
{
    note_lost(gpu, result);
    pthread_mutex_lock(&gpu->logical->mutex);
    const VkResult waited = vkDeviceWaitIdle(gpu->device);
    pthread_mutex_unlock(&gpu->logical->mutex);
    note_lost(gpu, waited);
}

/* --- the physical device */

static int select_physical(struct gpume_gpu *gpu, const char *wanted, bool software)
{
    VkPhysicalDevice physical[PHYSICAL_MAX];
    struct gpume_device devices[PHYSICAL_MAX];
    uint32_t count;
    int status = instance_devices(gpu, physical, devices, &count);
    if (status != GPUME_OK) {
        return status;
    }
    int index = instance_choose(devices, count, wanted, software);
    if (index < 0) {
        struct gpume_message message = gpume_about_two(
            wanted ? GPUME_PARAM(device) : NULL, wanted, GPUME_PARAM(backend), "cpu");
        message.rest = ", which needs none";
        gpume_log_tell(gpu->log, wanted || software ? GPUME_LOG_ERROR : GPUME_LOG_INFO, message,
            "no %s device among %u Vulkan devices; choose another, or", wanted ? "such" : "usable",
            count);
        return GPUME_DEVICE;
    }
    if (devices[index].unusable[0]) {
        return gpume_log_refuse(gpu->log, GPUME_DEVICE,
            gpume_about(GPUME_PARAM(device), devices[index].name), "%s; choose another",
            devices[index].unusable);
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
    GPUME_TRY(instance_open(gpu, validate, !software && !wanted));
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
    return status == GPUME_OK ? logical_open(gpu) : status;
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
    logical_close(gpu);
    instance_close(gpu);
}
