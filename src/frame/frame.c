/* SPDX-License-Identifier: BSD-2-Clause */
#include "frame/frame.h"

#include <assert.h>

void gpume_frame_ref(struct gpume_frame *frame)
{
    atomic_fetch_add_explicit(&frame->refs, 1, memory_order_relaxed);
}

void gpume_frame_unref(struct gpume_frame **out)
{
    struct gpume_frame *frame = *out;
    if (!frame) {
        return;
    }
    *out = NULL;
    unsigned before = atomic_fetch_sub_explicit(&frame->refs, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before == 1) {
        frame->recycle(frame->owner, frame);
    }
}
