/* SPDX-License-Identifier: BSD-2-Clause */
/* What a field has besides the results of an engine, and which follows from these alone: the blocks
 * of a partition, and how far reverse vectors lead away. */
#ifndef GPUME_RUN_DERIVED_H
#define GPUME_RUN_DERIVED_H

#include "frame/field.h"
#include "model/partition.h"

/* The list of the blocks that params.partition chose: the field's `parts`, from the flags that an
 * engine gives (gpume_results.chosen), with their ranks. */
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

/*
 * The last stage of a field with plan.returns. The vectors of a frame pair (t,r) lead from blocks
 * of t to their matches in r; those of the reverse pair (r,t) lead back. For each block of t the
 * field says how far the vector at its match misses the block (struct gpume_layer, returns).
 *
 * The schedule has a reverse pair searched as a hidden task just before the task that needs it, in
 * the order of that task's references, unless it has come as an earlier task or is the next one
 * (schedule.h). The stage takes all fields in the order of their tasks: it copies the vectors of a
 * hidden one, so that its slot is free at once, and completes the others. Of a future pair it keeps
 * the vectors until the past pair that needs them. No field waits for another than the next one,
 * and what is found for a target depends neither on the targets around it nor on which of them are
 * wanted.
 */
#define GPUME_RETURNS_DONE 2u /* fields that are done at once, at most */

struct gpume_returns;

/* For a plan with `returns`. GPUME_NOMEM, not logged. */
int gpume_returns_open(struct gpume_returns **returns, const struct gpume_plan *plan);

/* The fields of all lanes in the order of their tasks, one at a time; the results of each are
 * complete. Gives those that are done, in their order, and returns how many: they have their
 * returns, unless they are hidden. */
uint32_t gpume_returns_take(struct gpume_returns *returns, struct gpume_field_box *box,
    struct gpume_field_box *done[GPUME_RETURNS_DONE]);

/* NULL is fine. Sets *returns to NULL. */
void gpume_returns_close(struct gpume_returns **returns);

#endif
