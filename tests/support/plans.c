/* SPDX-License-Identifier: BSD-2-Clause */
#include "plans.h"

#include "harness.h"

struct gpume_plan plans_make(const struct gpume_params *params, uint64_t window_bytes)
{
    static const struct gpume_log silent;
    const struct gpume_caps caps = {.window_bytes = window_bytes,
        .align_bytes = 256,
        .batch_max = GPUME_BATCH_MAX,
        .batch_work = 1ull << 36};
    struct gpume_plan plan = {0};
    REQUIRE_EQUAL(gpume_plan_make(params, &caps, &silent, &plan), GPUME_OK);
    return plan;
}
