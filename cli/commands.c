/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of commands. */
#include "bench/bench.h"
#include "compare/compare.h"
#include "convert/convert.h"
#include "devices.h"
#include "estimate/estimate.h"
#include "options/help.h"
#include "sort/sort.h"

const struct gpume_command *const gpume_commands[] = {
    &gpume_estimate_command,
    &gpume_sort_command,
    &gpume_bench_command,
    &gpume_compare_command,
    &gpume_convert_command,
    &gpume_devices_command,
    &gpume_help_command,
    NULL,
};
