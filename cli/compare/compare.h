/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume compare`: where two runs, folders or files of vectors, differ. */
#ifndef GPUME_CLI_COMPARE_COMPARE_H
#define GPUME_CLI_COMPARE_COMPARE_H

#include "options/option.h"

extern const struct gpume_command gpume_compare_command;

#endif
