/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume compare`. */
#ifndef GPUME_CLI_COMPARE_COMPARE_H
#define GPUME_CLI_COMPARE_COMPARE_H

#include "options/options.h"

/* GPUME_EXIT_MISMATCH where the two differ. Every failure has been kept by the console. */
enum gpume_exit gpume_compare_run(const struct gpume_options *options);

#endif
