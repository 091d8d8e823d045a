/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stable sort of 32-bit keys, alone or with a 32-bit payload each, in one segment or many. Memory
 * is given by address: nothing is bound, so recording keeps no state and one sort may be recorded
 * into any number of command buffers, by one thread at a time for each.
 *
 * By a segment's length: a bitonic network for very short ones, many to a workgroup
 * (sort_chunk.comp); a radix sort in shared memory, a workgroup for each segment (sort_local.comp);
 * above a tile the radix sort of three kernels per pass: counts of digits by tile, their sums,
 * and keys to their places (sort_hist, sort_scan, sort_scatter). No workgroup waits for another.
 * Without subgroups to rely on (gpu->subgroup is 0) the network does it all.
 */
#ifndef GPUME_GPU_ARRAYS_SORT_H
#define GPUME_GPU_ARRAYS_SORT_H

#include "arrays/backend.h"
#include "base/cache.h"
#include "gpu/vk/gpu.h"

#define GPUME_SORT_COUNT_MAX (UINT32_C(1) << 30) /* keys */

/* Of the kernels that work by tiles; a tile is local * keys. */
struct gpume_sort_shape {
    uint32_t local; /* invocations of a workgroup, a power of 2 */
    uint32_t keys;  /* of an invocation */
};

struct gpume_k_sort {
    struct gpume_gpu *gpu;
    struct gpume_sort_shape shape; /* of segments longer than those below */
    struct gpume_sort_shape small, middle;
    uint32_t tiny; /* keys of a segment that the network is taken for */
    union {
        struct { /* those of the network, then those of the radix sort */
            struct gpume_kernel chunk, step, copy;
            struct gpume_kernel hist, scan, scatter_keys, scatter_pairs, local, local_small,
                local_middle;
        };
        struct gpume_kernel kernels[10];
    };
};

static inline uint32_t gpume_sort_tile(const struct gpume_sort_shape *shape)
{
    return shape->local * shape->keys;
}

struct gpume_sort_task {
    VkDeviceAddress keys;    /* of 4 bytes aligned, as payload */
    VkDeviceAddress payload; /* 0: none */
    VkDeviceAddress scratch; /* of GPUME_SORT_SCRATCH_ALIGN bytes aligned */
    /* From `keys` on: segments lie within. At most GPUME_SORT_COUNT_MAX. */
    uint32_t count;
    /* Pairs (first, count) of words that the device reads, 8 bytes aligned, which do not overlap,
     * none longer than `longest`; or 0: segment i has the `longest` keys from i * stride on. */
    VkDeviceAddress table;
    uint32_t segments, stride, longest;
    uint32_t key_bits; /* 1 to 32: after the exclusive or no key has more */
    uint32_t flip;     /* keys are compared after an exclusive or with this */
    enum gpume_sort_method method;
    /* Not 0: keys stay as they are, and this becomes, for each key, its place in the order of its
     * segment. Nothing else is written. No payload; uniform segments of at most 2^place_bits. */
    VkDeviceAddress ranks;
    uint32_t place_bits;
};

#define GPUME_SORT_SCRATCH_ALIGN 256u

/* shape: of long segments, NULL for what suits the device. The shapes alone, for
 * gpume_k_sort_scratch. */
struct gpume_k_sort gpume_k_sort_shapes(
    struct gpume_gpu *gpu, const struct gpume_sort_shape *shape);

/* only: makes only the kernels that tasks of this one's kind and segments take; NULL: all. Wait
 * before recording. GPUME_UNSUPPORTED, logged: kernels cannot reach memory by address here. */
int gpume_k_sort_create(struct gpume_gpu *gpu, const struct gpume_sort_shape *shape,
    const struct gpume_sort_task *only, struct gpume_k_sort *sort);
int gpume_k_sort_wait(struct gpume_k_sort *sort);

/* Zeroed is fine. */
void gpume_k_sort_destroy(struct gpume_k_sort *sort);

/* Bytes of scratch memory that a task takes, whatever its addresses but that of payload, which
 * counts as none or some. */
VkDeviceSize gpume_k_sort_scratch(
    const struct gpume_k_sort *sort, const struct gpume_sort_task *task);

/* Writes commands, with barriers between them; those before and after are the caller's. */
void gpume_k_sort_record(
    const struct gpume_k_sort *sort, VkCommandBuffer commands, const struct gpume_sort_task *task);

/* --- the check: whether the kernels of a sort do here what they should. A driver may translate a
 * kernel wrongly, and a wrong order looks like a right one: llvmpipe of Mesa 25 gave wrong ranks
 * without a word. So before a sort is relied on, it sorts keys that are known, and the order is
 * compared with the host's. That takes milliseconds, and is done once for a device, its driver and
 * the kernels: like the fastest search (tune/choice.h), that they are right is remembered, in the
 * cache's folder too.
 */

/* like: a task for ranks, whose kernels were made; NULL: all were, for tasks without ranks. If the
 * order is wrong, sets gpu->sorts_wrongly, with one warning: the caller sorts on the host. Fails as
 * the device does. Between gpume_k_sort_wait and gpume_k_sort_record. */
int gpume_sort_check(const struct gpume_k_sort *sort, const struct gpume_sort_task *like,
    const struct gpume_cache *cache);

#endif
