/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume convert`: a file of vectors into another format. */
#ifndef GPUME_CLI_CONVERT_CONVERT_H
#define GPUME_CLI_CONVERT_CONVERT_H

#include "options/option.h"

extern const struct gpume_command gpume_convert_command;

#endif
