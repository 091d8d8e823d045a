/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume devices`. */
#ifndef GPUME_CLI_DEVICES_H
#define GPUME_CLI_DEVICES_H

#include "options/options.h"

/* Standard output; the caller checks that it arrived. */
enum gpume_exit gpume_devices_print(const struct gpume_options *options);

#endif
