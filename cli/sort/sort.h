/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume sort`. */
#ifndef GPUME_CLI_SORT_SORT_H
#define GPUME_CLI_SORT_SORT_H

#include "options/options.h"

/* Every failure has been kept by the console. */
enum gpume_exit gpume_sort_run(const struct gpume_options *options);

#endif
