/* SPDX-License-Identifier: BSD-2-Clause */
/* When the frames of a video are shown, by its packets: they are read, but not decoded. */
#ifndef GPUME_MEDIA_PACKET_TIMES_H
#define GPUME_MEDIA_PACKET_TIMES_H

#include "media/source.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes the time of the next frame, in microseconds. False: that is enough. */
typedef bool (*gpume_packet_time_fn)(void *opaque, int64_t time_us);

/* Gives the times of the one input in the order of presentation, as frames have them without a
 * filter, until `bytes` bytes of packets have been read. Packets that are shown before the first
 * key frame are left out. A packet may show no frame, so there may be times that no frame has, but
 * no frame has another time. GPUME_UNSUPPORTED: it is no file, or is not compressed, or a packet
 * has no time; other failures as those of gpume_source_open. Nothing is logged: what is wrong with
 * the input is found by decoding it. */
int gpume_packet_times_read(const struct gpume_source_options *options, uint64_t bytes,
    gpume_packet_time_fn take, void *opaque);

#endif
