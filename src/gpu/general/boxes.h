/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of boxes of the searched surface: a frame has as many planes of them as are searched, and
 * ranges of the sums behind them. */
#ifndef GPUME_GPU_GENERAL_BOXES_H
#define GPUME_GPU_GENERAL_BOXES_H

#include "gpu/general/general.h"

/* Side of a box: 8, where that leaves four boxes in each block; SATD's tiles need 4. */
uint32_t gpume_boxes_side(const struct gpume_plan *plan);

/* Words of a plane's sums: two sums in each at 8 bits, else one. */
uint32_t gpume_boxes_plane_words(const struct gpume_plan *plan);

/* Where a frame's sums and their ranges are; 0 if the run has none. */
VkDeviceAddress gpume_boxes_frame(const struct gpume_work *work, uint64_t sequence);
VkDeviceAddress gpume_boxes_ranges(const struct gpume_work *work, uint64_t sequence);

#endif
