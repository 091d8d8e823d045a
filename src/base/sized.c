/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/sized.h"

#include <stdint.h>
#include <string.h>

static size_t size_of(const void *sized)
{
    size_t size;
    memcpy(&size, sized, sizeof(size));
    return size;
}

int gpume_sized_read(
    void *ours, size_t bytes, const void *theirs, const char *name, const struct gpume_log *log)
{
    const size_t size = size_of(theirs);
    if (size < sizeof(size)) {
        return gpume_log_fail(log, GPUME_INVALID,
            "struct %s: size is %zu: set it to sizeof(struct %s)", name, size, name);
    }
    for (size_t i = bytes; i < size; i++) {
        if (((const uint8_t *)theirs)[i] != 0) {
            return gpume_log_fail(log, GPUME_UNSUPPORTED,
                "struct %s: a member is set that this library does not know; install the version "
                "that the program was compiled for",
                name);
        }
    }
    memset(ours, 0, bytes);
    memcpy(ours, theirs, size < bytes ? size : bytes);
    memcpy(ours, &bytes, sizeof(bytes));
    return GPUME_OK;
}

int gpume_sized_write(void *theirs, const void *ours, size_t bytes)
{
    const size_t size = size_of(theirs), at = sizeof(size);
    if (size < at) {
        return GPUME_INVALID;
    }
    memcpy((uint8_t *)theirs + at, (const uint8_t *)ours + at, (size < bytes ? size : bytes) - at);
    return GPUME_OK;
}
