/* SPDX-License-Identifier: BSD-2-Clause */
/* The host: its processor and their number. */
#ifndef GPUME_CLI_HOST_H
#define GPUME_CLI_HOST_H

#include <stdint.h>

#define GPUME_BENCH_CPU_BYTES 128

/* The processor's name, if the system reports it. */
void gpume_bench_cpu_name(char name[GPUME_BENCH_CPU_BYTES]);

uint32_t gpume_bench_processors(void);

#endif
