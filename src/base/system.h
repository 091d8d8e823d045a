/* SPDX-License-Identifier: BSD-2-Clause */
/* What the operating system is asked. */
#ifndef GPUME_BASE_SYSTEM_H
#define GPUME_BASE_SYSTEM_H

#include <stdbool.h>

/* Whether this machine may have a GPU. If not, only software drivers are left, and loading Vulkan's
 * drivers takes as much processor time as a second of a small video. */
bool gpume_may_have_gpu(void);

#endif
