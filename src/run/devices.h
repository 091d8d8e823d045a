/* SPDX-License-Identifier: BSD-2-Clause */
/* params.devices: what a list of devices stands for on this machine. */
#ifndef GPUME_RUN_DEVICES_H
#define GPUME_RUN_DEVICES_H

#include "base/log.h"

#include <stdbool.h>

#define GPUME_DEVICES_MAX 32u /* in a list */

struct gpume_device_list {
    /* Of each engine: the index of a device as text, for params.device; "": the CPU engine. */
    char devices[GPUME_DEVICES_MAX][16];
    char names[GPUME_DEVICES_MAX][256]; /* for people */
    uint32_t count;                     /* 0: the list is "all", and there is no hardware GPU */
    bool all;                           /* nothing but "all" was asked for */
};

/* For a list without empty entries (model/options.h). GPUME_DEVICE: there is no such device, or no
 * GPU for "all". GPUME_INVALID: too many. Both are logged. */
int gpume_devices_resolve(
    const char *text, const struct gpume_log *log, struct gpume_device_list *list);

#endif
