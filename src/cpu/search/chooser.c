/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/search/chooser.h"

/* With one item in 16, probes of a way that is ten times slower cost 2 %. */
#define PROBE_FIELDS 32u
#define PROBE_ITEMS 16u

void gpume_chooser_init(struct gpume_chooser *chooser, bool possible, bool wide, uint32_t items)
{
    *chooser = (struct gpume_chooser){.possible = possible,
        .eliminating = possible && wide,
        .items = items,
        .period = items < PROBE_ITEMS ? items : PROBE_ITEMS};
}

struct gpume_choice gpume_chooser_next(struct gpume_chooser *chooser)
{
    uint64_t field = chooser->fields++;
    return (struct gpume_choice){.eliminating = chooser->eliminating,
        .probing = chooser->possible && field % PROBE_FIELDS == 0,
        .period = chooser->period,
        .first = (uint32_t)((chooser->period / 2 + field / PROBE_FIELDS) % chooser->period)};
}

void gpume_chooser_learn(struct gpume_chooser *chooser, const struct gpume_probe *probe)
{
    for (uint32_t way = 0; way < 2; way++) {
        if (probe->items[way]) {
            uint64_t boxes = way ? probe->box_ns / chooser->items : 0;
            chooser->item_ns[way] = probe->ns[way] / probe->items[way] + boxes + 1;
        }
    }
    if (chooser->item_ns[0] && chooser->item_ns[1]) {
        chooser->eliminating = chooser->item_ns[1] < chooser->item_ns[0];
    }
}
