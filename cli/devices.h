/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume devices`: the Vulkan devices, the CPU, and the implementations of the search. */
#ifndef GPUME_CLI_DEVICES_H
#define GPUME_CLI_DEVICES_H

#include "options/option.h"

extern const struct gpume_command gpume_devices_command;

#endif
