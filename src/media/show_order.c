/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/show_order.h"

#include <libavcodec/packet.h>

/* What comes before a key packet is shown before it, so a key packet that is not later than all of
 * them begins anew; and so does any other that would be shown before one that came long ago. */
static bool goes_back(const struct gpume_show_order *order, const AVPacket *packet)
{
    const bool key = packet->flags & AV_PKT_FLAG_KEY;
    const int64_t old = order->older[order->count % GPUME_SHOW_DELAY_MAX];
    return (order->count > 0 && key && packet->pts <= order->newest) ||
           (order->count >= GPUME_SHOW_DELAY_MAX && packet->pts <= old);
}

bool gpume_show_order_begins(struct gpume_show_order *order, const AVPacket *packet)
{
    const bool begins = goes_back(order, packet);
    if (begins) {
        order->count = 0;
    }
    if (order->count == 0 || packet->pts > order->newest) {
        order->newest = packet->pts;
    }
    order->older[order->count++ % GPUME_SHOW_DELAY_MAX] = order->newest;
    return begins;
}
