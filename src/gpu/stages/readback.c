/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies what the host asked for: sums, counts, vectors, costs and ranks always, the predicted
 * frame if wanted. */
#include "gpu/stages/stages.h"

static void copy(const struct gpume_work *work, VkDeviceSize offset, VkDeviceSize bytes)
{
    gpume_slot_copy(work->slot, work->results, work->readback, offset, bytes);
}

void gpume_k_readback_record(const struct gpume_work *work)
{
    const struct gpume_layout *layout = work->layout;
    const struct gpume_plan *plan = work->plan;
    VkDeviceSize words = (VkDeviceSize)work->task_count * plan->blocks * 4;
    copy(work, layout->sums, (VkDeviceSize)work->task_count * GPUME_SUM_WORDS * 4);
    copy(work, layout->counts, (VkDeviceSize)work->task_count * GPUME_COUNT_BYTES);
    copy(work, layout->vectors, words);
    copy(work, layout->costs, words);
    copy(work, layout->ranks, words);
    if (plan->params.want_predicted) {
        copy(work, layout->predicted, work->task_count * plan->plane_bytes);
    }
}
