/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* affinity: POSIX has none */

#include "processors.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>

/*
 * A core is identified by its first sibling, the first number of a list such as "3,11" or "6-7". If
 * that cannot be read, *core is unchanged.
 */
static bool core_of(uint32_t processor, uint32_t *core)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list",
        (unsigned)processor);
    FILE *file = fopen(path, "r");
    bool known = file && fscanf(file, "%4" SCNu32, core) == 1;
    if (file) {
        fclose(file);
    }
    return known;
}

bool processors_find(struct processors *processors)
{
    cpu_set_t left, taken;
    *processors = (struct processors){0};
    if (sched_getaffinity(0, sizeof left, &left) != 0) {
        return false;
    }
    bool known = true;
    CPU_ZERO(&taken);
    for (uint32_t i = 0; i < PROCESSORS_MAX; i++) {
        uint32_t core = i;
        if (!CPU_ISSET(i, &left)) {
            continue;
        }
        known = core_of(i, &core) && known;
        if (!CPU_ISSET(core, &taken)) {
            CPU_SET(core, &taken);
            CPU_CLR(i, &left);
            processors->order[processors->count++] = i;
        }
    }
    processors->cores = known ? processors->count : 0;
    for (uint32_t i = 0; i < PROCESSORS_MAX; i++) {
        if (CPU_ISSET(i, &left)) {
            processors->order[processors->count++] = i;
        }
    }
    return true;
}

bool processors_confine(const struct processors *processors, uint32_t count)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (uint32_t i = 0; i < count; i++) {
        CPU_SET(processors->order[i], &set);
    }
    return sched_setaffinity(0, sizeof set, &set) == 0;
}
