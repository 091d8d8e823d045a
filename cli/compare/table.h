/* SPDX-License-Identifier: BSD-2-Clause */
/* What gpume compare has found, for people. */
#ifndef GPUME_CLI_COMPARE_TABLE_H
#define GPUME_CLI_COMPARE_TABLE_H

#include "compare/comparison.h"

/* To standard output; the caller checks that it arrived. */
void gpume_compare_print_table(const struct gpume_comparison *comparison);

#endif
