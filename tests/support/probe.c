/* SPDX-License-Identifier: BSD-2-Clause */
/* vulkan_probe [--validate]: vulkan_probe_or_skip for scripts. Exit status 0: there is a driver. */
#include "vulkan_probe.h"

#include <string.h>

int main(int argc, char **argv)
{
    vulkan_probe_or_skip(argc > 1 && strcmp(argv[1], "--validate") == 0);
    return 0;
}
