/* SPDX-License-Identifier: BSD-2-Clause */
/* `gpume bench`. */
#ifndef GPUME_CLI_BENCH_BENCH_H
#define GPUME_CLI_BENCH_BENCH_H

#include "options/options.h"

/* Standard output; the caller checks that it arrived. Nothing is written before all engines have
 * been measured and agree. GPUME_EXIT_MISMATCH: they do not. */
enum gpume_exit gpume_bench_run(const struct gpume_options *options);

#endif
