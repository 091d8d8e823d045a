/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans as a GPU would have them, for tests of what is cut to a plan. */
#ifndef GPUME_TESTS_PLANS_H
#define GPUME_TESTS_PLANS_H

#include "model/plan.h"

/* window_bytes: what a kernel sees of all frames at once. Params that are refused fail the test. */
struct gpume_plan plans_make(const struct gpume_params *params, uint64_t window_bytes);

#endif
