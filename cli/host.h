/* SPDX-License-Identifier: BSD-2-Clause */
/* The host: its processors, memory and devices, the user's folders, and which engine the options
 * name on it. */
#ifndef GPUME_CLI_HOST_H
#define GPUME_CLI_HOST_H

#include "gpume/gpume.h"

#include <stdint.h>

#define GPUME_HOST_CPU_BYTES 128

/* The processor's name, if the system reports it. */
void gpume_host_cpu(char name[GPUME_HOST_CPU_BYTES]);

uint32_t gpume_host_processors(void);

/* Bytes; 0: unknown. The second: as far as a container allows. */
uint64_t gpume_host_memory(void);
uint64_t gpume_host_memory_allowed(void);

/* Of the Vulkan device of this name; GPUME_DEVICE_OTHER if there is none. */
enum gpume_device_type gpume_host_device_type(const char *name);

/* The folder for files that make the next start faster, such as compiled pipelines. According to
 * the XDG Base Directory Specification: gpume in $XDG_CACHE_HOME, or in $HOME/.cache; NULL if
 * neither is set to an absolute path. Main thread only; valid until the next call. */
const char *gpume_host_cache_folder(void);

/* The beginning of the names of temporary files that have nothing to lie beside: gpume-WHAT in
 * $TMPDIR, if that is an absolute path, or in /tmp. For free(); NULL without memory. */
char *gpume_host_temporary(const char *what);

/* --- The engine that options name. */

/* Where --device names several devices, their list becomes params.devices: all, cpu, or a list
 * that is not the name of one device. */
void gpume_take_device_list(struct gpume_params *params);

/* The next name of such a list, which it cuts off; NULL: there is none. */
char *gpume_next_device(char **list);

/* backend, device, validate and search of the parameters. The library says later whether the
 * machine has what they name. GPUME_OK, or GPUME_INVALID after one line. */
int gpume_check_engine(const struct gpume_params *params);

/* The same; then the CPU is chosen where a GPU was not asked for and the machine has none. */
int gpume_settle_engine(struct gpume_params *params);

#endif
