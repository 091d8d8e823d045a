/* SPDX-License-Identifier: BSD-2-Clause */
/* What gpume devices has found, and its form for programs. */
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
    uint64_t memory_bytes; /* of the host; 0: not known */
    bool cpu_automatic;    /* --backend auto takes the CPU engine */
    const struct gpume_device *devices;
    uint32_t device_count;
    const struct gpume_search_info *searches;
    uint32_t search_count;
};

/* What gpume makes of a device, and why, in a few words. */
const char *gpume_device_use(const struct gpume_device *device);

const char *gpume_device_type(const struct gpume_device *device);

/* To standard output. Failures are logged. */
int gpume_machine_write_json(const struct gpume_machine *machine, const struct gpume_log *log);

#endif
