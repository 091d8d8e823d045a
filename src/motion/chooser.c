/* SPDX-License-Identifier: BSD-2-Clause */
#include "motion/chooser.h"

#define PROBE_FIELDS                                                                               \
    32u /* with one row in 16, probes of a way that is ten times slower cost 2 %                   \
         */
#define PROBE_ROWS 16u

void gpume_chooser_init(struct gpume_chooser *chooser, bool possible, bool wide, uint32_t rows)
{
    *chooser = (struct gpume_chooser){.possible = possible,
        .eliminating = possible && wide,
        .rows = rows,
        .period = rows < PROBE_ROWS ? rows : PROBE_ROWS};
}

void gpume_chooser_begin(struct gpume_chooser *chooser)
{
    chooser->probing = chooser->possible && chooser->fields % PROBE_FIELDS == 0;
}

bool gpume_chooser_needs_boxes(const struct gpume_chooser *chooser)
{
    return chooser->eliminating || chooser->probing;
}

bool gpume_chooser_eliminates(const struct gpume_chooser *chooser, uint32_t row)
{
    uint64_t probe = chooser->fields / PROBE_FIELDS;
    bool other = chooser->probing && (row + probe) % chooser->period == chooser->period / 2;
    return chooser->eliminating != other;
}

void gpume_chooser_end(struct gpume_chooser *chooser, uint64_t box_ns)
{
    uint64_t sum[2] = {0}, count[2] = {0};
    for (uint32_t row = 0; chooser->probing && row < chooser->rows; row++) {
        bool eliminated = gpume_chooser_eliminates(chooser, row);
        sum[eliminated] += chooser->searched_ns[row];
        count[eliminated]++;
    }
    for (uint32_t way = 0; way < 2; way++) {
        if (count[way]) {
            uint64_t boxes = way ? box_ns / chooser->rows : 0;
            chooser->row_ns[way] = sum[way] / count[way] + boxes + 1;
        }
    }
    if (chooser->probing && chooser->row_ns[0] && chooser->row_ns[1]) {
        chooser->eliminating = chooser->row_ns[1] < chooser->row_ns[0];
    }
    chooser->fields++;
}
