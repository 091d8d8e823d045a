/* SPDX-License-Identifier: BSD-2-Clause */
/* What gpume bench has measured, for people. */
#ifndef GPUME_CLI_BENCH_TABLE_H
#define GPUME_CLI_BENCH_TABLE_H

#include "bench/rows.h"

/* Standard output; the caller checks that it arrived. */
void gpume_bench_print_table(const struct gpume_bench *bench);

#endif
