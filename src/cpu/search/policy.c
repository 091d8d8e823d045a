/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/search/policy.h"

/* With one item in 16, probing an alternative that is ten times slower costs 2 %. */
#define PROBE_FIELDS 32u
#define PROBE_ITEMS 16u

void gpume_policy_init(struct gpume_policy *policy, bool possible, bool wide, uint32_t items)
{
    *policy = (struct gpume_policy){.possible = possible,
        .eliminating = possible && wide,
        .items = items,
        .period = items < PROBE_ITEMS ? items : PROBE_ITEMS};
}

struct gpume_choice gpume_policy_next(struct gpume_policy *policy)
{
    uint64_t field = policy->fields++;
    return (struct gpume_choice){.eliminating = policy->eliminating,
        .probing = policy->possible && field % PROBE_FIELDS == 0,
        .period = policy->period,
        .first = (uint32_t)((policy->period / 2 + field / PROBE_FIELDS) % policy->period)};
}

void gpume_policy_learn(struct gpume_policy *policy, const struct gpume_probe *probe)
{
    for (uint32_t way = 0; way < 2; way++) {
        if (probe->items[way]) {
            uint64_t boxes = way ? probe->box_ns / policy->items : 0;
            policy->item_ns[way] = probe->ns[way] / probe->items[way] + boxes + 1;
        }
    }
    if (policy->item_ns[0] && policy->item_ns[1]) {
        policy->eliminating = policy->item_ns[1] < policy->item_ns[0];
    }
}
