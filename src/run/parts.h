/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of the blocks that params.partition chose: the field's `parts`, from the flags that an
 * engine gives (gpume_results.chosen), with their ranks.
 */
#ifndef GPUME_RUN_PARTS_H
#define GPUME_RUN_PARTS_H

#include "frame/field.h"
#include "model/partition.h"

struct gpume_parts {
    const struct gpume_plan *plan;
    struct gpume_partition partition;
    uint32_t *scratch;
};

/* For a plan with params.partition, which outlives the struct; the struct is zeroed before.
 * GPUME_NOMEM. Call finish after a failure too. */
int gpume_parts_init(struct gpume_parts *parts, const struct gpume_plan *plan);
void gpume_parts_finish(struct gpume_parts *parts);

/* Fills in box->parts, and part_count and parts of its field. */
void gpume_parts_list(const struct gpume_parts *parts, struct gpume_field_box *box);

#endif
