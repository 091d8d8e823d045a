/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets come in the order of decoding, and are shown in the order of their times. But times may
 * recur, as in files joined by cat: only within a section do they rise from packet to packet shown.
 */
#ifndef GPUME_MEDIA_SHOW_ORDER_H
#define GPUME_MEDIA_SHOW_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct AVPacket;

/* Packets by which the orders of decoding and presentation may differ: more than in any codec. */
#define GPUME_SHOW_DELAY_MAX 32u

/* Starts as zero. */
struct gpume_show_order {
    uint64_t count;                      /* packets of this section */
    int64_t newest;                      /* their latest time, */
    int64_t older[GPUME_SHOW_DELAY_MAX]; /* and as it was after each of the last ones */
};

/* Takes the next packet, which has a time. True: it begins a section, and is shown after all that
 * came before it. */
bool gpume_show_order_begins(struct gpume_show_order *order, const struct AVPacket *packet);

#endif
