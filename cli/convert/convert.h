/* SPDX-License-Identifier: BSD-2-Clause */
/* gpume convert: vectors from one format into another. */
#ifndef GPUME_CLI_CONVERT_CONVERT_H
#define GPUME_CLI_CONVERT_CONVERT_H

#include "options/options.h"

enum gpume_exit gpume_convert_run(const struct gpume_options *options);

#endif
