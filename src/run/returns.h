/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last stage of a field with plan.returns. The vectors of a frame pair (t,r) lead from blocks
 * of t to their matches in r; those of the reverse pair (r,t) lead back. For each block of t the
 * field says how far the vector at its match misses the block (struct gpume_layer, returns).
 *
 * The schedule has every reverse pair that has not come as an earlier task searched as a hidden
 * task just before the task that needs it, in the order of that task's references. The stage takes
 * all fields in the order of their tasks: it copies the vectors of a hidden one, so that its slot
 * is free at once, and completes the others. Of a future pair it keeps the vectors until the past
 * pair that needs them. So no field waits for a later one, and what is found for a target depends
 * neither on the targets around it nor on which of them are wanted.
 */
#ifndef GPUME_RUN_RETURNS_H
#define GPUME_RUN_RETURNS_H

#include "frame/field.h"

struct gpume_returns;

/* For a plan with `returns`. GPUME_NOMEM, not logged. */
int gpume_returns_open(struct gpume_returns **returns, const struct gpume_plan *plan);

/* The fields of all lanes in the order of their tasks, one at a time; the results of each are
 * complete. Fills in box->returns unless the field is hidden. */
void gpume_returns_take(struct gpume_returns *returns, struct gpume_field_box *box);

/* NULL is fine. Sets *returns to NULL. */
void gpume_returns_close(struct gpume_returns **returns);

#endif
