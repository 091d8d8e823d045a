/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the kernels of a sort do here what they should. A driver may translate a kernel wrongly,
 * and a wrong order looks like a right one: llvmpipe of Mesa 25 gave wrong ranks without a word. So
 * before a sort is relied on, it sorts keys that are known, and the order is compared with the
 * host's. That takes milliseconds, and is done once for a device, its driver and the kernels: like
 * the fastest search (tune/choice.h), that they are right is remembered, in the cache's folder too.
 */
#ifndef GPUME_GPU_ARRAYS_SORT_CHECK_H
#define GPUME_GPU_ARRAYS_SORT_CHECK_H

#include "base/cache.h"
#include "gpu/arrays/sort.h"

/* like: a task for ranks, whose kernels were made; NULL: all were, for tasks without ranks. If the
 * order is wrong, sets gpu->sorts_wrongly, with one warning: the caller sorts on the host. Fails as
 * the device does. Between gpume_k_sort_wait and gpume_k_sort_record. */
int gpume_sort_check(const struct gpume_k_sort *sort, const struct gpume_sort_task *like,
    const struct gpume_cache *cache);

#endif
