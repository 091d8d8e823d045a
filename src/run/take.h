/* SPDX-License-Identifier: BSD-2-Clause */
/* What a lane takes from the queue for a submission. */
#ifndef GPUME_RUN_TAKE_H
#define GPUME_RUN_TAKE_H

#include "run/lane.h"

/* Locked. Fills the slot's batch with waiting frames and tasks, of which there are some, as many as
 * is the lane's share. */
void gpume_take_batch(struct gpume_lane *lane, struct gpume_lane_slot *slot);

#endif
