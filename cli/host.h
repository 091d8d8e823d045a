/* SPDX-License-Identifier: BSD-2-Clause */
/* The host: its processors and devices, and the user's folder for caches. */
#ifndef GPUME_CLI_HOST_H
#define GPUME_CLI_HOST_H

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdint.h>

#define GPUME_HOST_CPU_BYTES 128

/* The processor's name, if the system reports it. */
void gpume_host_cpu(char name[GPUME_HOST_CPU_BYTES]);

uint32_t gpume_host_processors(void);

/* Bytes, as far as a container allows; 0: unknown. */
uint64_t gpume_host_memory_allowed(void);

/* Of the Vulkan device of this name; GPUME_DEVICE_OTHER if there is none. */
enum gpume_device_type gpume_host_device_type(const char *name);

/* Whether this machine may have a GPU, or the environment names drivers or layers of Vulkan. If
 * not, only software drivers are left, and loading them takes as much processor time as a second of
 * a small video. */
bool gpume_host_may_have_gpu(void);

/* The folder for files that make the next start faster, such as compiled pipelines. According to
 * the XDG Base Directory Specification: gpume in $XDG_CACHE_HOME, or in $HOME/.cache; NULL if
 * neither is set to an absolute path. Main thread only; valid until the next call. */
const char *gpume_host_cache_folder(void);

/* The beginning of the names of temporary files that have nothing to lie beside: gpume-WHAT in
 * $TMPDIR, if that is an absolute path, or in /tmp. For free(); NULL without memory. */
char *gpume_host_temporary(const char *what);

#endif
