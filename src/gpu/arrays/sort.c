/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernels of the sort, and their shape on a device. */
#include "gpu/arrays/sort.h"
#include "base/checksum.h"
#include "base/grid.h"
#include "base/status.h"
#include "common/shared.h"

_Static_assert(sizeof(struct gpume_sort_push) == 120, "as GLSL lays it");

#define KERNELS (sizeof((struct gpume_k_sort){0}.kernels) / sizeof(struct gpume_kernel))
#define TILE_MIN 1024u   /* keys: what sort_scan.comp counts on */
#define LENGTH_TINY 256u /* keys: measured on an H200, see PERFORMANCE.md */

#include "sort_chunk.inc"
#include "sort_copy.inc"
#include "sort_hist.inc"
#include "sort_local.inc"
#include "sort_scan.inc"
#include "sort_scatter.inc"
#include "sort_step.inc"

/* Invocations of a workgroup: a power of 2, of at most what is wished and what the device has. */
static uint32_t local_size(const struct gpume_gpu *gpu, uint32_t wished)
{
    const VkPhysicalDeviceLimits *limits = &gpu->properties.limits;
    uint64_t most = (uint64_t)gpu->subgroup * gpu->subgroups_max;
    most = gpume_min_u64(most, limits->maxComputeWorkGroupInvocations);
    most = gpume_min_u64(most, limits->maxComputeWorkGroupSize[0]);
    uint32_t local = wished;
    while (local > most) {
        local /= 2;
    }
    return local;
}

/* A tile of `keys` for each invocation, in workgroups of the wished size, as far as they fit. */
static struct gpume_sort_shape shape_of(const struct gpume_gpu *gpu, uint32_t wished, uint32_t keys)
{
    struct gpume_sort_shape shape = {.local = local_size(gpu, wished), .keys = keys};
    /* The histograms, or the tile that takes their place; 4 KiB for all else. */
    uint32_t most = gpu->properties.limits.maxComputeSharedMemorySize - 4096;
    while (shape.local / gpu->subgroup * GPUME_SORT_DIGITS * 4 > most) {
        shape.local /= 2;
    }
    while (gpume_sort_tile(&shape) * 4 > most) {
        shape.keys /= 2;
    }
    while (gpume_sort_tile(&shape) < TILE_MIN) {
        shape.keys *= 2;
    }
    return shape;
}

struct code {
    const uint32_t *words;
    size_t bytes;
    const struct gpume_sort_shape *shape; /* NULL: neither shape nor subgroups matter */
    uint32_t pairs;
};

static int create_kernel(
    struct gpume_gpu *gpu, const struct code *code, struct gpume_kernel *kernel)
{
    uint32_t constants[GPUME_SORT_SPEC_COUNT] = {0};
    struct gpume_kernel_info info = {
        .words = code->words,
        .bytes = code->bytes,
        .push_bytes = sizeof(struct gpume_sort_push),
    };
    if (code->shape) {
        constants[GPUME_SORT_SPEC_LOCAL] = code->shape->local;
        constants[GPUME_SORT_SPEC_KEYS] = code->shape->keys;
        constants[GPUME_SORT_SPEC_SUBGROUP] = gpu->subgroup;
        constants[GPUME_SORT_SPEC_PAIRS] = code->pairs;
        info.constants = constants;
        info.constant_count = GPUME_SORT_SPEC_COUNT;
        info.subgroup = gpu->subgroup;
    }
    return gpume_kernel_create(gpu, &info, kernel);
}

/* Is the kernel needed for segments of `longest` keys each? */
static bool is_needed(const struct gpume_k_sort *sort, const struct gpume_kernel *kernel,
    const struct gpume_sort_task *only)
{
    if (!only) {
        return true;
    }
    if (!sort->gpu->subgroup || only->method == GPUME_SORT_BITONIC) {
        return kernel == &sort->chunk || (kernel == &sort->step && only->longest > 1) ||
               (kernel == &sort->copy && only->payload);
    }
    const struct gpume_kernel *alone =
        only->longest <= sort->tiny                       ? &sort->chunk
        : only->longest <= gpume_sort_tile(&sort->small)  ? &sort->local_small
        : only->longest <= gpume_sort_tile(&sort->middle) ? &sort->local_middle
        : only->longest <= gpume_sort_tile(&sort->shape)  ? &sort->local
                                                          : NULL;
    if (alone) {
        return kernel == alone;
    }
    return kernel == &sort->hist || kernel == &sort->scan || kernel == &sort->scatter_keys ||
           kernel == &sort->scatter_pairs || (kernel == &sort->copy && !only->ranks);
}

static int create_kernels(struct gpume_k_sort *sort, const struct gpume_sort_task *only)
{
    const struct gpume_sort_shape *shape = &sort->shape;
    const struct code codes[] = {
        /* in the order of sort->kernels */
        {sort_chunk, sizeof(sort_chunk), NULL, 0},
        {sort_step, sizeof(sort_step), NULL, 0},
        {sort_copy, sizeof(sort_copy), NULL, 0},
        {sort_hist, sizeof(sort_hist), shape, 0},
        {sort_scan, sizeof(sort_scan), shape, 0},
        {sort_scatter, sizeof(sort_scatter), shape, 0},
        {sort_scatter, sizeof(sort_scatter), shape, 1},
        {sort_local, sizeof(sort_local), shape, 0},
        {sort_local, sizeof(sort_local), &sort->small, 0},
        {sort_local, sizeof(sort_local), &sort->middle, 0},
    };
    _Static_assert(sizeof(codes) / sizeof(*codes) == KERNELS, "a code for each kernel");
    int status = GPUME_OK;
    uint32_t count = sort->gpu->subgroup ? KERNELS : 3;
    for (uint32_t i = 0; i < count && status == GPUME_OK; i++) {
        if (is_needed(sort, &sort->kernels[i], only)) {
            status = create_kernel(sort->gpu, &codes[i], &sort->kernels[i]);
        }
    }
    return status;
}

struct gpume_k_sort gpume_k_sort_shapes(struct gpume_gpu *gpu, const struct gpume_sort_shape *shape)
{
    struct gpume_k_sort sort = {.gpu = gpu, .tiny = LENGTH_TINY};
    if (gpu->subgroup) {
        sort.shape = shape ? *shape : shape_of(gpu, 512, 11);
        sort.small = shape_of(gpu, 128, 8);
        sort.middle = shape_of(gpu, 512, 8);
        sort.small =
            gpume_sort_tile(&sort.small) < gpume_sort_tile(&sort.shape) ? sort.small : sort.shape;
        sort.middle =
            gpume_sort_tile(&sort.middle) < gpume_sort_tile(&sort.shape) ? sort.middle : sort.shape;
    }
    return sort;
}

int gpume_k_sort_create(struct gpume_gpu *gpu, const struct gpume_sort_shape *shape,
    const struct gpume_sort_task *only, struct gpume_k_sort *out)
{
    if (!gpu->addresses) {
        return gpume_log_fail(gpu->log, GPUME_UNSUPPORTED,
            "%s: no buffer addresses (bufferDeviceAddress), which sorting needs; use "
            "params.backend = GPUME_BACKEND_CPU",
            gpu->properties.deviceName);
    }
    struct gpume_k_sort sort = gpume_k_sort_shapes(gpu, shape);
    int status = create_kernels(&sort, only);
    if (status != GPUME_OK) {
        gpume_k_sort_destroy(&sort);
        return status;
    }
    *out = sort;
    return GPUME_OK;
}

int gpume_k_sort_wait(struct gpume_k_sort *sort)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; i < KERNELS && status == GPUME_OK; i++) {
        status = gpume_kernel_wait(sort->gpu, &sort->kernels[i]);
    }
    return status;
}

uint32_t gpume_k_sort_version(void)
{
    uint64_t sum = GPUME_CHECKSUM_BEGIN;
    sum = gpume_checksum(sum, sort_chunk, sizeof(sort_chunk));
    sum = gpume_checksum(sum, sort_step, sizeof(sort_step));
    sum = gpume_checksum(sum, sort_copy, sizeof(sort_copy));
    sum = gpume_checksum(sum, sort_hist, sizeof(sort_hist));
    sum = gpume_checksum(sum, sort_scan, sizeof(sort_scan));
    sum = gpume_checksum(sum, sort_scatter, sizeof(sort_scatter));
    sum = gpume_checksum(sum, sort_local, sizeof(sort_local));
    return (uint32_t)(sum ^ sum >> 32);
}

void gpume_k_sort_destroy(struct gpume_k_sort *sort)
{
    for (uint32_t i = 0; sort->gpu && i < KERNELS; i++) {
        gpume_kernel_destroy(sort->gpu, &sort->kernels[i]);
    }
    *sort = (struct gpume_k_sort){0};
}
