/* SPDX-License-Identifier: BSD-2-Clause */
/* The table that `gpume compare` prints. */
#ifndef GPUME_CLI_COMPARE_TABLE_H
#define GPUME_CLI_COMPARE_TABLE_H

#include "compare/comparison.h"

/* To standard output; the caller checks that it arrived. */
void gpume_compare_print_table(const struct gpume_comparison *comparison);

#endif
