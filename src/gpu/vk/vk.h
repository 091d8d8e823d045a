/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one include of Vulkan, and how its results become status codes. Only src/gpu includes this.
 */
#ifndef GPUME_GPU_VK_VK_H
#define GPUME_GPU_VK_VK_H

#include "base/log.h"

#include <vulkan/vulkan.h>

/* GPUME_OK, or the matching status with one logged line: what was tried and Vulkan's name for the
 * trouble. */
int gpume_vk_check(const struct gpume_log *log, VkResult result, const char *what);

/* Needs `int status` and a label `fail`. */
#define GPUME_VK_TRY(log, call)                                                                    \
    do {                                                                                           \
        status = gpume_vk_check((log), (call), #call);                                             \
        if (status != GPUME_OK) {                                                                  \
            goto fail;                                                                             \
        }                                                                                          \
    } while (0)

#endif
