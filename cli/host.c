/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void gpume_bench_cpu_name(char name[GPUME_BENCH_CPU_BYTES])
{
    char line[256];
    snprintf(name, GPUME_BENCH_CPU_BYTES, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon && colon[1] == ' ') {
            const int length = (int)strcspn(colon + 2, "\n");
            snprintf(name, GPUME_BENCH_CPU_BYTES, "%.*s", length, colon + 2);
            break;
        }
    }
    if (file) {
        fclose(file);
    }
}

uint32_t gpume_bench_processors(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (uint32_t)processors : 1;
}
