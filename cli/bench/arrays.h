/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume bench --sort` and `--reduce`. */
#ifndef GPUME_CLI_BENCH_ARRAYS_H
#define GPUME_CLI_BENCH_ARRAYS_H

#include "options/options.h"

/* As gpume_bench_run. */
enum gpume_exit gpume_bench_arrays_run(const struct gpume_options *options);

#endif
