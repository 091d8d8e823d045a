/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/arrays/array_kernels.h"

#include "base/grid.h"
#include "base/status.h"
#include "common/shared.h"

#define QUAD_BYTES 16u

_Static_assert(sizeof(struct gpume_array_push) == 9 * 4, "words without gaps, as GLSL lays them");

#include "array_histogram.inc"
#include "array_reduce.inc"

static int prepare_kernel(struct gpume_gpu *gpu, const uint32_t *words, size_t bytes,
    uint32_t element_bytes, bool minimum, struct gpume_kernel *kernel)
{
    if (kernel->pipeline) {
        return GPUME_OK;
    }
    uint32_t constants[GPUME_ARRAY_SPEC_COUNT] = {0};
    constants[GPUME_ARRAY_SPEC_ELEMENT] = element_bytes;
    constants[GPUME_ARRAY_SPEC_MINIMUM] = minimum;
    struct gpume_kernel_info info = {
        .words = words,
        .bytes = bytes,
        .push_bytes = sizeof(struct gpume_array_push),
        .constants = constants,
        .constant_count = GPUME_ARRAY_SPEC_COUNT,
    };
    GPUME_CHECK(gpume_kernel_create(gpu, &info, kernel));
    return gpume_kernel_wait(gpu, kernel);
}

static int prepare_buffer(struct gpume_gpu *gpu, uint64_t bytes, struct gpume_buffer *buffer)
{
    return buffer->buffer ? GPUME_OK : gpume_buffer_create(gpu, GPUME_BUFFER_DEVICE, bytes, buffer);
}

int gpume_array_kernels_prepare(
    struct gpume_gpu *gpu, const struct gpume_reduction *what, struct gpume_array_kernels *kernels)
{
    uint32_t bytes = gpume_element_bytes(what->element);
    bool minimum = what->kind == GPUME_REDUCE_MINIMUM;
    GPUME_CHECK(prepare_buffer(gpu, GPUME_ARRAY_GROUPS * 8, &kernels->partials));
    GPUME_CHECK(prepare_buffer(gpu, GPUME_HISTOGRAM_MAX * 8, &kernels->results));
    if (what->kind == GPUME_REDUCE_HISTOGRAM) {
        return prepare_kernel(gpu, array_histogram, sizeof(array_histogram), bytes, false,
            &kernels->histogram[bytes]);
    }
    GPUME_CHECK(prepare_kernel(
        gpu, array_reduce, sizeof(array_reduce), bytes, minimum, &kernels->reduce[minimum][bytes]));
    return prepare_kernel(
        gpu, array_reduce, sizeof(array_reduce), 8, minimum, &kernels->reduce[minimum][8]);
}

void gpume_array_kernels_destroy(struct gpume_gpu *gpu, struct gpume_array_kernels *kernels)
{
    for (uint32_t i = 0; i < 9; i++) {
        gpume_kernel_destroy(gpu, &kernels->reduce[0][i]);
        gpume_kernel_destroy(gpu, &kernels->reduce[1][i]);
    }
    for (uint32_t i = 0; i < 5; i++) {
        gpume_kernel_destroy(gpu, &kernels->histogram[i]);
    }
    gpume_buffer_destroy(gpu, &kernels->partials);
    gpume_buffer_destroy(gpu, &kernels->results);
}

static void set_address(GPUME_U32 words[2], VkDeviceAddress address)
{
    words[0] = (uint32_t)address;
    words[1] = (uint32_t)(address >> 32);
}

/* The quads that hold the elements. At most 2^32 elements of 4 bytes and one quad: 2^30 + 1. */
static struct gpume_array_push push_for(const struct gpume_reduction *what, VkDeviceAddress data)
{
    uint64_t in_quad = QUAD_BYTES / gpume_element_bytes(what->element);
    uint64_t first_quad = what->first / in_quad, last = what->first + what->count - 1;
    struct gpume_array_push push = {
        .quads = (uint32_t)(last / in_quad - first_quad + 1),
        .skip = (uint32_t)(what->first % in_quad),
        .keep = (uint32_t)(last % in_quad + 1),
        .shift = what->shift,
        .bins = what->bin_count,
    };
    set_address(push.data, data + first_quad * QUAD_BYTES);
    return push;
}

void gpume_array_kernels_record(struct gpume_slot *slot, const struct gpume_reduction *what,
    const struct gpume_array_kernels *kernels, VkDeviceAddress data)
{
    uint32_t bytes = gpume_element_bytes(what->element);
    struct gpume_array_push push = push_for(what, data);
    uint32_t groups =
        (uint32_t)gpume_min_u64(gpume_div_up(push.quads, GPUME_ARRAY_LOCAL), GPUME_ARRAY_GROUPS);
    if (what->kind == GPUME_REDUCE_HISTOGRAM) {
        struct gpume_view bins = {kernels->results.buffer, 0, (VkDeviceSize)what->bin_count * 8};
        gpume_slot_clear(slot, &bins);
        gpume_barrier_clear_to_kernel(slot);
        set_address(push.results, kernels->results.address);
        gpume_slot_bind(slot, &kernels->histogram[bytes], NULL);
        gpume_slot_dispatch(slot, &kernels->histogram[bytes], &push, groups,
            (uint32_t)gpume_div_up(what->bin_count, GPUME_ARRAY_BINS), 1);
        return;
    }
    const struct gpume_kernel *of_kind = kernels->reduce[what->kind == GPUME_REDUCE_MINIMUM];
    set_address(push.results, kernels->partials.address);
    gpume_slot_bind(slot, &of_kind[bytes], NULL);
    gpume_slot_dispatch(slot, &of_kind[bytes], &push, groups, 1, 1);
    gpume_barrier_kernel_to_kernel(slot);
    push.quads = groups;
    set_address(push.data, kernels->partials.address);
    set_address(push.results, kernels->results.address);
    gpume_slot_bind(slot, &of_kind[8], NULL);
    gpume_slot_dispatch(slot, &of_kind[8], &push, 1, 1, 1);
}
