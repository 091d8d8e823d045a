/* SPDX-License-Identifier: BSD-2-Clause */
/* Exit statuses; scripts rely on them. */
#ifndef GPUME_CLI_EXIT_H
#define GPUME_CLI_EXIT_H

enum gpume_exit {
    GPUME_EXIT_DONE = 0,
    GPUME_EXIT_FAILED = 1,
    GPUME_EXIT_USAGE = 2,
    GPUME_EXIT_INPUT = 3,
    GPUME_EXIT_DEVICE = 4,
    GPUME_EXIT_MISMATCH = 5,
};

#endif
