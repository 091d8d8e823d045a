/* SPDX-License-Identifier: BSD-2-Clause */
/* The devices of a machine as JSON, for `gpume devices --json`. */
#ifndef GPUME_SINKS_MACHINE_H
#define GPUME_SINKS_MACHINE_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

/* Grows by one when a key of the JSON object changes its meaning or goes away. */
#define GPUME_MACHINE_FORMAT 1

struct gpume_machine {
    char cpu[128];
    uint32_t processors;
    uint64_t memory_bytes; /* of the host; 0: unknown */
    bool cpu_automatic;    /* --backend auto takes the CPU engine */
    const struct gpume_device *devices;
    uint32_t device_count;
    const struct gpume_search_info *searches;
    uint32_t search_count;
};

/* Will gpume use the device, and if not, why? In a few words. */
const char *gpume_device_use(const struct gpume_device *device);

const char *gpume_device_type(const struct gpume_device *device);

/* Writes to standard output. Errors are logged. */
int gpume_machine_write_json(const struct gpume_machine *machine, const struct gpume_log *log);

#endif
