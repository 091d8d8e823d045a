/* SPDX-License-Identifier: BSD-2-Clause */
/* What the operating system is asked. */
#ifndef GPUME_BASE_SYSTEM_H
#define GPUME_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

/* Whether this machine may have a GPU. If not, only software drivers are left, and loading Vulkan's
 * drivers takes as much processor time as a second of a small video. */
bool gpume_may_have_gpu(void);

/* Before memory is written for the first time: the system then provides its pages at once, where it
 * can, in two thirds of the time that it takes to provide one after the other. */
void gpume_touch(void *memory, size_t bytes);

#endif
