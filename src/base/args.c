/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/args.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int gpume_args_check_number(
    const struct gpume_param *param, uint64_t value, const struct gpume_log *log)
{
    char text[24];
    if (value >= param->least && value <= param->most) {
        return GPUME_OK;
    }
    snprintf(text, sizeof(text), "%" PRIu64, value);
    if (!param->choices) {
        return gpume_log_refuse(log, GPUME_INVALID, gpume_about(param, text),
            "must be from %" PRIu64 " to %" PRIu64, param->least, param->most);
    }
    return gpume_log_refuse(log, GPUME_INVALID, gpume_about(param, text),
        "must be from 0 (%s) to %" PRIu64 " (%s)", param->choices[0], param->most,
        param->choices[param->most]);
}

int gpume_args_check_cpu(const char *device, bool validate, const struct gpume_log *log)
{
    const char *has = device     ? "the CPU has no devices; leave it out or choose another"
                      : validate ? "the CPU has nothing to validate; leave it out or choose another"
                                 : NULL;
    return has ? gpume_log_refuse(log, GPUME_INVALID,
                     gpume_about_two(device ? GPUME_PARAM(device) : GPUME_PARAM(validate), device,
                         GPUME_PARAM(backend), NULL),
                     "%s", has)
               : GPUME_OK;
}

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

static void write_locked(void *opaque, enum gpume_log_level level, const char *line)
{
    struct gpume_locked_log *locked = opaque;
    pthread_mutex_lock(&locked->mutex);
    locked->fn(locked->opaque, level, line);
    pthread_mutex_unlock(&locked->mutex);
}

void gpume_locked_log_init(struct gpume_locked_log *locked, gpume_log_fn fn, void *opaque)
{
    pthread_mutex_init(&locked->mutex, NULL);
    locked->fn = fn;
    locked->opaque = opaque;
    locked->log = (struct gpume_log){.fn = fn ? write_locked : NULL, .opaque = locked};
}

void gpume_locked_log_finish(struct gpume_locked_log *locked)
{
    pthread_mutex_destroy(&locked->mutex);
}
