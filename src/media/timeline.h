/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the frames of a video are in time, by its packets: they are read, but not decoded.
 *
 * Packets come in the order of decoding, and are shown in the order of their times. But times may
 * recur, as in files joined by cat: only within a section do they rise from packet to packet shown.
 */
#ifndef GPUME_MEDIA_TIMELINE_H
#define GPUME_MEDIA_TIMELINE_H

#include "media/video.h"

#include <stddef.h>

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

/* Which frames a decoder can start at, by the container. */
struct gpume_keyframes {
    uint64_t frames; /* of the video, by its packets */
    uint64_t *at;    /* indices of key frames in presentation order, rising; for free() */
    size_t count;
};

/* options: of one video. Failures are logged, as those of gpume_source_open are. */
int gpume_keyframes_find(
    struct gpume_keyframes *keyframes, const struct gpume_source_options *options);

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
