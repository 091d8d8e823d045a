/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/vk/vk.h"

static const char *result_text(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "initialization failed";
    case VK_ERROR_DEVICE_LOST:
        return "device lost";
    case VK_ERROR_LAYER_NOT_PRESENT:
        return "layer not present";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
        return "extension not present";
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return "feature not present";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return "no compatible driver";
    case VK_TIMEOUT:
        return "timeout";
    default:
        return "unexpected result";
    }
}

static int result_status(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return GPUME_NOMEM;
    case VK_ERROR_DEVICE_LOST:
        return GPUME_DEVICE_LOST;
    default:
        return GPUME_DEVICE;
    }
}

int gpume_vk_check(const struct gpume_log *log, VkResult result, const char *what)
{
    if (result >= 0 && result != VK_TIMEOUT) {
        return GPUME_OK;
    }
    size_t name = 0; /* of the function in the call's text */
    while (what[name] && what[name] != '(') {
        name++;
    }
    gpume_log_write(log, GPUME_LOG_ERROR,
        "Vulkan: %.*s: %s (%d); try params.backend = GPUME_BACKEND_CPU", (int)name, what,
        result_text(result), (int)result);
    return result_status(result);
}
