/* SPDX-License-Identifier: BSD-2-Clause */
/* The public sort for callers with a device of their own: checks, then k_sort. */
#include "base/args.h"
#include "base/os.h"
#include "base/status.h"
#include "gpu/arrays/sort.h"
#include "gpu/vk/device.h"
#include "gpume/vulkan.h"

#include <stdlib.h>

struct gpume_sorter {
    struct gpume_log log;
    struct gpume_gpu gpu; /* of the caller's handles; never closed */
    struct gpume_k_sort sort;
};

static int borrow_device(struct gpume_sorter *sorter, const struct gpume_vulkan *vulkan)
{
    sorter->log = (struct gpume_log){.fn = vulkan->log, .opaque = vulkan->log_opaque};
    sorter->gpu = (struct gpume_gpu){
        .log = &sorter->log,
        .physical = vulkan->physical,
        .device = vulkan->device,
        .pipelines = vulkan->pipelines,
    };
    gpume_gpu_describe(&sorter->gpu);
    if (sorter->gpu.properties.apiVersion < VK_API_VERSION_1_2) {
        return gpume_log_fail(&sorter->log, GPUME_UNSUPPORTED, "%s: sorting needs Vulkan 1.2",
            sorter->gpu.properties.deviceName);
    }
    sorter->gpu.subgroup = vulkan->full_subgroups ? sorter->gpu.subgroup : 0;
    return GPUME_OK;
}

int gpume_sorter_create(gpume_sorter **out, const struct gpume_vulkan *vulkan)
{
    if (!out || !vulkan) {
        return GPUME_INVALID;
    }
    const struct gpume_log log = GPUME_SIZED_LOG(vulkan);
    struct gpume_vulkan own;
    int status = gpume_sized_read(&own, sizeof(own), vulkan, "gpume_vulkan", &log);
    if (status != GPUME_OK) {
        return status;
    }
    if (!own.physical || !own.device) {
        return GPUME_INVALID;
    }
    if (!gpume_vk_load()) {
        return gpume_log_fail(
            &log, GPUME_UNSUPPORTED, "the Vulkan loader, %s, cannot be loaded", gpume_os_vulkan);
    }
    struct gpume_sorter *sorter = calloc(1, sizeof(*sorter));
    if (!sorter) {
        return gpume_log_nomem(&log, "a sorter");
    }
    GPUME_TRY(borrow_device(sorter, &own));
    GPUME_TRY(gpume_k_sort_create(&sorter->gpu, NULL, NULL, &sorter->sort));
    GPUME_TRY(gpume_k_sort_wait(&sorter->sort));
    *out = sorter;
    return GPUME_OK;
fail:
    gpume_sorter_destroy(&sorter);
    return status;
}

void gpume_sorter_destroy(gpume_sorter **sorter)
{
    if (sorter && *sorter) {
        gpume_k_sort_destroy(&(*sorter)->sort);
        free(*sorter);
        *sorter = NULL;
    }
}

static bool is_valid_task(const struct gpume_sorter_task *task)
{
    uint64_t longest = task->segment_longest, stride = task->segment_stride;
    if (task->count > GPUME_SORT_COUNT_MAX || (unsigned)task->type > GPUME_KEY_I32 ||
        (unsigned)task->method > GPUME_SORT_BITONIC || task->key_bits > 32 || task->keys % 4 ||
        task->payload % 4 || task->segments % 8 || task->scratch % GPUME_SORT_SCRATCH_ALIGN) {
        return false;
    }
    if (task->segment_count == 0 || longest == 0) {
        return true;
    }
    return longest <= task->count &&
           (task->segments || task->segment_count == 1 ||
               (stride >= longest && (task->segment_count - 1) * stride <= task->count - longest));
}

static struct gpume_sort_task sort_task_of(const struct gpume_sorter_task *task)
{
    bool is_signed = task->type == GPUME_KEY_I32, one = task->segment_count == 0;
    return (struct gpume_sort_task){
        .keys = task->keys,
        .payload = task->payload,
        .scratch = task->scratch,
        .count = (uint32_t)task->count,
        .table = one ? 0 : task->segments,
        .segments = one ? 1 : task->segment_count,
        .stride = task->segment_stride,
        .longest = one ? (uint32_t)task->count : task->segment_longest,
        .key_bits = task->key_bits == 0 || is_signed ? 32 : task->key_bits,
        .flip = (is_signed ? 0x80000000u : 0) ^ (task->descending ? ~UINT32_C(0) : 0),
        .method = task->method,
    };
}

static bool overlap(VkDeviceAddress a, uint64_t a_bytes, VkDeviceAddress b, uint64_t b_bytes)
{
    return a_bytes > 0 && b_bytes > 0 && a < b + b_bytes && b < a + a_bytes;
}

/* Keys, payload and scratch memory are there, where they are needed, and apart. */
static bool has_memory(const struct gpume_sorter_task *task, uint64_t scratch_bytes)
{
    uint64_t bytes = task->count * 4, payload_bytes = task->payload ? bytes : 0;
    return (bytes == 0 || task->keys) && (scratch_bytes == 0 || task->scratch) &&
           !overlap(task->keys, bytes, task->payload, payload_bytes) &&
           !overlap(task->keys, bytes, task->scratch, scratch_bytes) &&
           !overlap(task->payload, payload_bytes, task->scratch, scratch_bytes);
}

/* Silent: several threads may call it at once. */
static int read_task(const struct gpume_sorter_task *task, struct gpume_sorter_task *own,
    struct gpume_sort_task *internal)
{
    int status = gpume_sized_read(own, sizeof(*own), task, "gpume_sorter_task", NULL);
    status = status == GPUME_OK && !is_valid_task(own) ? GPUME_INVALID : status;
    if (status == GPUME_OK) {
        *internal = sort_task_of(own);
    }
    return status;
}

int gpume_sorter_sizes(const gpume_sorter *sorter, const struct gpume_sorter_task *task,
    struct gpume_sorter_memory *memory)
{
    struct gpume_sorter_task own;
    struct gpume_sort_task internal;
    const int status = sorter && task && memory ? read_task(task, &own, &internal) : GPUME_INVALID;
    if (status == GPUME_OK) {
        *memory = (struct gpume_sorter_memory){
            .scratch_bytes = gpume_k_sort_scratch(&sorter->sort, &internal),
            .scratch_alignment = GPUME_SORT_SCRATCH_ALIGN,
        };
    }
    return status;
}

int gpume_sorter_record(
    const gpume_sorter *sorter, VkCommandBuffer commands, const struct gpume_sorter_task *task)
{
    struct gpume_sorter_task own;
    struct gpume_sort_task internal;
    int status = sorter && commands && task ? read_task(task, &own, &internal) : GPUME_INVALID;
    if (status == GPUME_OK && !has_memory(&own, gpume_k_sort_scratch(&sorter->sort, &internal))) {
        status = GPUME_INVALID;
    }
    if (status == GPUME_OK) {
        gpume_k_sort_record(&sorter->sort, commands, &internal);
    }
    return status;
}
