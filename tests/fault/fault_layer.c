/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Vulkan layer that makes functions fail (fault.h): all that gpume calls and that can fail. It
 * also counts objects by type; the report lists those that were never destroyed. All calls of a
 * process are counted together, whatever their device.
 */
#include "common/shared.h"
#include "fault.h"

#include <pthread.h>
#include <stdio.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define SHOWN __attribute__((visibility("default")))
#define CHAINS_MAX 16u
#define ROWS_MAX 64u
#define INSTANCE_ROWS 6u /* which a device does not have; the first ones */

/* An instance or a device, with the functions of the next layer. They are looked up at its
 * creation: later the loader would return this layer's own. */
struct chain {
    void *key;                         /* the loader's dispatch table, which its objects share */
    PFN_vkVoidFunction next[ROWS_MAX]; /* indexed like the table at the end */
    VkInstance instance;
    VkDevice device;
    PFN_vkGetInstanceProcAddr instance_next;
    PFN_vkGetDeviceProcAddr device_next;
};

static const struct row {
    const char *name;
    PFN_vkVoidFunction function;
} * row_of(const char *name);
static size_t row_index(const struct row *row);
static const char *row_name(size_t index); /* NULL: there are no more */

static struct {
    struct fault_plan plan;
    VkResult result;
    bool discrete;
    bool missorts;
    bool unordered;
    atomic_bool lost;
    pthread_mutex_t mutex; /* of chains */
    struct chain chains[CHAINS_MAX];
    unsigned chain_count;
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *key_of(const void *handle)
{
    return *(void *const *)handle;
}

static PFN_vkVoidFunction ask(const struct chain *chain, const char *name)
{
    return chain->device ? chain->device_next(chain->device, name)
                         : chain->instance_next(chain->instance, name);
}

static PFN_vkVoidFunction behind(const void *handle, const char *name)
{
    const struct chain *found = NULL;
    pthread_mutex_lock(&state.mutex);
    for (unsigned i = 0; i < state.chain_count; i++) {
        found = state.chains[i].key == key_of(handle) ? &state.chains[i] : found;
    }
    pthread_mutex_unlock(&state.mutex);
    const struct row *row = row_of(name);
    return !found ? NULL : row ? found->next[row_index(row)] : ask(found, name);
}

static bool add_chain(const struct chain *from)
{
    pthread_mutex_lock(&state.mutex);
    const bool fits = state.chain_count < CHAINS_MAX;
    if (fits) {
        struct chain *chain = &state.chains[state.chain_count];
        *chain = *from;
        for (size_t i = from->device ? INSTANCE_ROWS : 0; row_name(i); i++) {
            chain->next[i] = ask(chain, row_name(i));
        }
        state.chain_count++;
    }
    pthread_mutex_unlock(&state.mutex);
    return fits;
}

/* --- functions that fail */

/* losable: the function may return VK_ERROR_DEVICE_LOST. */
static VkResult fault(const char *function, bool losable)
{
    const bool by_loss = state.result == VK_ERROR_DEVICE_LOST;
    if (by_loss && !losable) {
        return VK_SUCCESS;
    }
    if (fault_falls(&state.plan, function, function)) {
        atomic_store(&state.lost, by_loss);
        return state.result;
    }
    return losable && atomic_load(&state.lost) ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

#define CALL(handle, name, ...) ((PFN_vk##name)behind(handle, "vk" #name))(__VA_ARGS__)

/* The first parameter is called `handle`. */
#define FAILS(name, losable, parameters, ...)                                                      \
    static VKAPI_ATTR VkResult VKAPI_CALL fault_##name parameters                                  \
    {                                                                                              \
        const VkResult result = fault("vk" #name, losable);                                        \
        return result < 0 ? result : CALL(handle, name, __VA_ARGS__);                              \
    }

/* The same, and the object that it creates is counted until it is destroyed. */
#define MAKES(type, make, parameters, arguments, end)                                              \
    static atomic_int left_##type;                                                                 \
    static VKAPI_ATTR VkResult VKAPI_CALL fault_##make parameters                                  \
    {                                                                                              \
        VkResult result = fault("vk" #make, false);                                                \
        if (result >= 0) {                                                                         \
            result = CALL(handle, make, arguments);                                                \
            atomic_fetch_add(&left_##type, result >= 0);                                           \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    static VKAPI_ATTR void VKAPI_CALL fault_##end(                                                 \
        VkDevice handle, Vk##type object, const VkAllocationCallbacks *callbacks)                  \
    {                                                                                              \
        atomic_fetch_sub(&left_##type, object != VK_NULL_HANDLE);                                  \
        CALL(handle, end, handle, object, callbacks);                                              \
    }

#define CREATES(type)                                                                              \
    MAKES(type, Create##type,                                                                      \
        (VkDevice handle, const Vk##type##CreateInfo *info,                                        \
            const VkAllocationCallbacks *callbacks, Vk##type *object),                             \
        ALL(handle, info, callbacks, object), Destroy##type)
#define ALL(...) __VA_ARGS__

/* clang-format off */
CREATES(Buffer)
CREATES(CommandPool)
CREATES(DescriptorPool)
CREATES(DescriptorSetLayout)
CREATES(PipelineCache)
CREATES(PipelineLayout)
CREATES(QueryPool)
CREATES(Semaphore)
CREATES(ShaderModule)
MAKES(Pipeline, CreateComputePipelines,
    (VkDevice handle, VkPipelineCache cache, uint32_t count,
        const VkComputePipelineCreateInfo *infos, const VkAllocationCallbacks *callbacks,
        VkPipeline *pipelines),
    ALL(handle, cache, count, infos, callbacks, pipelines), DestroyPipeline)
MAKES(DeviceMemory, AllocateMemory,
    (VkDevice handle, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *callbacks,
        VkDeviceMemory *memory),
    ALL(handle, info, callbacks, memory), FreeMemory)

FAILS(EnumeratePhysicalDevices, false,
    (VkInstance handle, uint32_t *count, VkPhysicalDevice *devices), handle, count, devices)
FAILS(AllocateCommandBuffers, false,
    (VkDevice handle, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *commands),
    handle, info, commands)
FAILS(AllocateDescriptorSets, false,
    (VkDevice handle, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *sets),
    handle, info, sets)
FAILS(BeginCommandBuffer, false,
    (VkCommandBuffer handle, const VkCommandBufferBeginInfo *info), handle, info)
FAILS(EndCommandBuffer, false, (VkCommandBuffer handle), handle)
FAILS(BindBufferMemory, false,
    (VkDevice handle, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset),
    handle, buffer, memory, offset)
FAILS(MapMemory, false,
    (VkDevice handle, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize bytes,
        VkMemoryMapFlags flags, void **data),
    handle, memory, offset, bytes, flags, data)
FAILS(GetPipelineCacheData, false,
    (VkDevice handle, VkPipelineCache cache, size_t *bytes, void *data),
    handle, cache, bytes, data)
FAILS(ResetCommandPool, false,
    (VkDevice handle, VkCommandPool pool, VkCommandPoolResetFlags flags), handle, pool, flags)
FAILS(ResetDescriptorPool, false,
    (VkDevice handle, VkDescriptorPool pool, VkDescriptorPoolResetFlags flags),
    handle, pool, flags)
FAILS(GetQueryPoolResults, true,
    (VkDevice handle, VkQueryPool pool, uint32_t first, uint32_t count, size_t bytes, void *data,
        VkDeviceSize stride, VkQueryResultFlags flags),
    handle, pool, first, count, bytes, data, stride, flags)
FAILS(QueueSubmit, true,
    (VkQueue handle, uint32_t count, const VkSubmitInfo *infos, VkFence fence),
    handle, count, infos, fence)
FAILS(WaitSemaphores, true, (VkDevice handle, const VkSemaphoreWaitInfo *info, uint64_t timeout),
    handle, info, timeout)
/* clang-format on */

/* The real device is not lost: its work must end before memory is freed. */
static VKAPI_ATTR VkResult VKAPI_CALL fault_DeviceWaitIdle(VkDevice handle)
{
    const VkResult result = fault("vkDeviceWaitIdle", true);
    const VkResult really = CALL(handle, DeviceWaitIdle, handle);
    return result < 0 ? result : really;
}

/* A driver that translates the sort wrongly: its kernels, known by the size of their push
 * constants, compare keys with the lowest bit turned over. Not where that bit is one of a place in
 * memory. */
static VKAPI_ATTR void VKAPI_CALL fault_CmdPushConstants(VkCommandBuffer handle,
    VkPipelineLayout layout, VkShaderStageFlags stages, uint32_t offset, uint32_t bytes,
    const void *values)
{
    struct gpume_sort_push push;
    if (state.missorts && offset == 0 && bytes == sizeof push) {
        memcpy(&push, values, sizeof push);
        push.flip ^= push.flip != 0 || push.place_mask == 0;
        values = &push;
    }
    CALL(handle, CmdPushConstants, handle, layout, stages, offset, bytes, values);
}

/* Kernels do not wait for each other. */
static VKAPI_ATTR void VKAPI_CALL fault_CmdPipelineBarrier(VkCommandBuffer handle,
    VkPipelineStageFlags from, VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t count,
    const VkMemoryBarrier *barriers, uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
    uint32_t image_count, const VkImageMemoryBarrier *images)
{
    if (!state.unordered || from != VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT || to != from) {
        CALL(handle, CmdPipelineBarrier, handle, from, to, flags, count, barriers, buffer_count,
            buffers, image_count, images);
    }
}

/* --- instances, devices and their properties */

static VkLayerInstanceLink *instance_link(const VkInstanceCreateInfo *info)
{
    VkLayerInstanceCreateInfo *at = (VkLayerInstanceCreateInfo *)(uintptr_t)info->pNext;
    while (at && !(at->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
                     at->function == VK_LAYER_LINK_INFO)) {
        at = (VkLayerInstanceCreateInfo *)(uintptr_t)at->pNext;
    }
    VkLayerInstanceLink *link = at ? at->u.pLayerInfo : NULL;
    if (link) {
        at->u.pLayerInfo = link->pNext;
    }
    return link;
}

static VkLayerDeviceLink *device_link(const VkDeviceCreateInfo *info)
{
    VkLayerDeviceCreateInfo *at = (VkLayerDeviceCreateInfo *)(uintptr_t)info->pNext;
    while (at && !(at->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
                     at->function == VK_LAYER_LINK_INFO)) {
        at = (VkLayerDeviceCreateInfo *)(uintptr_t)at->pNext;
    }
    VkLayerDeviceLink *link = at ? at->u.pLayerInfo : NULL;
    if (link) {
        at->u.pLayerInfo = link->pNext;
    }
    return link;
}

static VKAPI_ATTR VkResult VKAPI_CALL fault_CreateInstance(
    const VkInstanceCreateInfo *info, const VkAllocationCallbacks *callbacks, VkInstance *instance)
{
    VkLayerInstanceLink *link = instance_link(info);
    VkResult result = link ? fault("vkCreateInstance", false) : VK_ERROR_INITIALIZATION_FAILED;
    if (result < 0) {
        return result;
    }
    PFN_vkGetInstanceProcAddr next = link->pfnNextGetInstanceProcAddr;
    PFN_vkCreateInstance create = (PFN_vkCreateInstance)next(VK_NULL_HANDLE, "vkCreateInstance");
    result = create(info, callbacks, instance);
    if (result < 0) {
        return result;
    }
    const struct chain chain = {
        .key = key_of(*instance), .instance = *instance, .instance_next = next};
    return add_chain(&chain) ? result : VK_ERROR_INITIALIZATION_FAILED;
}

static atomic_int left_Device;

static VKAPI_ATTR VkResult VKAPI_CALL fault_CreateDevice(VkPhysicalDevice handle,
    const VkDeviceCreateInfo *info, const VkAllocationCallbacks *callbacks, VkDevice *device)
{
    VkLayerDeviceLink *link = device_link(info);
    VkResult result = link ? fault("vkCreateDevice", false) : VK_ERROR_INITIALIZATION_FAILED;
    if (result < 0) {
        return result;
    }
    result = CALL(handle, CreateDevice, handle, info, callbacks, device);
    if (result < 0) {
        return result;
    }
    const struct chain chain = {
        .key = key_of(*device), .device = *device, .device_next = link->pfnNextGetDeviceProcAddr};
    atomic_fetch_add(&left_Device, 1);
    return add_chain(&chain) ? result : VK_ERROR_INITIALIZATION_FAILED;
}

static VKAPI_ATTR void VKAPI_CALL fault_DestroyDevice(
    VkDevice handle, const VkAllocationCallbacks *callbacks)
{
    atomic_fetch_sub(&left_Device, 1);
    CALL(handle, DestroyDevice, handle, callbacks);
    pthread_mutex_lock(&state.mutex);
    for (unsigned i = 0; i < state.chain_count; i++) {
        if (state.chains[i].device == handle) {
            state.chains[i] = state.chains[--state.chain_count];
            break;
        }
    }
    pthread_mutex_unlock(&state.mutex);
}

static VKAPI_ATTR void VKAPI_CALL fault_GetPhysicalDeviceProperties(
    VkPhysicalDevice handle, VkPhysicalDeviceProperties *properties)
{
    CALL(handle, GetPhysicalDeviceProperties, handle, properties);
    if (state.discrete) {
        properties->deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    }
}

static VKAPI_ATTR void VKAPI_CALL fault_GetPhysicalDeviceProperties2(
    VkPhysicalDevice handle, VkPhysicalDeviceProperties2 *properties)
{
    CALL(handle, GetPhysicalDeviceProperties2, handle, properties);
    if (state.discrete) {
        properties->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    }
}

/* --- the loader's entry points */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fault_GetDeviceProcAddr(
    VkDevice handle, const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fault_GetInstanceProcAddr(
    VkInstance handle, const char *name);

#define ROW(name)                                                                                  \
    {                                                                                              \
        "vk" #name, (PFN_vkVoidFunction)fault_##name                                               \
    }

static const struct row rows[] = {ROW(GetInstanceProcAddr), ROW(CreateInstance), ROW(CreateDevice),
    ROW(EnumeratePhysicalDevices), ROW(GetPhysicalDeviceProperties),
    ROW(GetPhysicalDeviceProperties2), ROW(GetDeviceProcAddr), ROW(DestroyDevice),
    ROW(CreateBuffer), ROW(DestroyBuffer), ROW(CreateCommandPool), ROW(DestroyCommandPool),
    ROW(CreateDescriptorPool), ROW(DestroyDescriptorPool), ROW(CreateDescriptorSetLayout),
    ROW(DestroyDescriptorSetLayout), ROW(CreatePipelineCache), ROW(DestroyPipelineCache),
    ROW(CreatePipelineLayout), ROW(DestroyPipelineLayout), ROW(CreateQueryPool),
    ROW(DestroyQueryPool), ROW(CreateSemaphore), ROW(DestroySemaphore), ROW(CreateShaderModule),
    ROW(DestroyShaderModule), ROW(CreateComputePipelines), ROW(DestroyPipeline),
    ROW(AllocateMemory), ROW(FreeMemory), ROW(AllocateCommandBuffers), ROW(AllocateDescriptorSets),
    ROW(BeginCommandBuffer), ROW(EndCommandBuffer), ROW(BindBufferMemory), ROW(MapMemory),
    ROW(GetPipelineCacheData), ROW(ResetCommandPool), ROW(ResetDescriptorPool),
    ROW(GetQueryPoolResults), ROW(QueueSubmit), ROW(WaitSemaphores), ROW(DeviceWaitIdle),
    ROW(CmdPushConstants), ROW(CmdPipelineBarrier)};

#define ROWS (sizeof rows / sizeof *rows)
_Static_assert(ROWS <= ROWS_MAX, "a chain holds them");

static const struct row *row_of(const char *name)
{
    size_t i = 0;
    while (i < ROWS && strcmp(rows[i].name, name) != 0) {
        i++;
    }
    return i < ROWS ? &rows[i] : NULL;
}

static size_t row_index(const struct row *row)
{
    return (size_t)(row - rows);
}

static const char *row_name(size_t index)
{
    return index < ROWS ? rows[index].name : NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fault_GetDeviceProcAddr(
    VkDevice handle, const char *name)
{
    const struct row *row = row_of(name);
    return row ? row->function : behind(handle, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL fault_GetInstanceProcAddr(
    VkInstance handle, const char *name)
{
    const struct row *row = row_of(name);
    return row ? row->function : handle ? behind(handle, name) : NULL;
}

SHOWN VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(
    VkNegotiateLayerInterface *interface)
{
    if (interface->loaderLayerInterfaceVersion < 2) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = fault_GetInstanceProcAddr;
    interface->pfnGetDeviceProcAddr = fault_GetDeviceProcAddr;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}

/* Sets what the environment variables set otherwise, for a process that loads this layer: restarts
 * the counts, and the device is no longer lost. No call may be under way. */
SHOWN void fault_layer_arm(const char *at, const char *result, const char *kind);
void fault_layer_arm(const char *at, const char *result, const char *kind)
{
    fault_plan_init(&state.plan, at, kind);
    state.result = result && strcmp(result, "lost") == 0   ? VK_ERROR_DEVICE_LOST
                   : result && strcmp(result, "host") == 0 ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                           : VK_ERROR_OUT_OF_DEVICE_MEMORY;
    atomic_store(&state.lost, false);
}

__attribute__((constructor)) static void begin(void)
{
    fault_layer_arm(getenv("GPUME_FAULT_VK_AT"), getenv("GPUME_FAULT_VK_RESULT"),
        getenv("GPUME_FAULT_VK_KIND"));
    state.discrete = getenv("GPUME_FAULT_VK_TYPE") != NULL;
    state.missorts = getenv("GPUME_FAULT_VK_SORT") != NULL;
    state.unordered = getenv("GPUME_FAULT_VK_ORDER") != NULL;
}

#define LEFT(type)                                                                                 \
    {                                                                                              \
#type, &left_##type                                                                        \
    }

__attribute__((destructor)) static void end(void)
{
    static const struct {
        const char *type;
        atomic_int *left;
    } objects[] = {LEFT(Device), LEFT(Buffer), LEFT(CommandPool), LEFT(DescriptorPool),
        LEFT(DescriptorSetLayout), LEFT(PipelineCache), LEFT(PipelineLayout), LEFT(QueryPool),
        LEFT(Semaphore), LEFT(ShaderModule), LEFT(Pipeline), LEFT(DeviceMemory)};
    const char *path = getenv("GPUME_FAULT_REPORT");
    FILE *report = path ? fopen(path, "a") : NULL;
    if (!report) {
        return;
    }
    const char *failed = state.plan.failed;
    if (failed) {
        fprintf(report, "failed %s\n", failed);
    }
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        if (atomic_load(objects[i].left) != 0) {
            fprintf(report, "left %d of Vk%s\n", atomic_load(objects[i].left), objects[i].type);
        }
    }
    fprintf(report, "counted_vk %llu\n", (unsigned long long)atomic_load(&state.plan.counted));
    fclose(report);
}
