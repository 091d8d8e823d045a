/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans as for a GPU, for tests of code that depends on a plan. */
#ifndef GPUME_TESTS_PLANS_H
#define GPUME_TESTS_PLANS_H

#include "model/plan.h"

/* window_bytes: how much of all frames a kernel can access at once. Refused params fail the test.
 * */
struct gpume_plan plans_make(const struct gpume_params *params, uint64_t window_bytes);

#endif
