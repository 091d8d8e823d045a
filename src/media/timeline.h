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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct AVCodecParameters;
struct AVPacket;
struct gpume_packets;
struct gpume_scan;

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

/* --- where a decoder may begin so that a frame gets the number and the samples that it has in a
 * run from the beginning: only where the times, flags and headers of all packets before it, which
 * are read but not decoded, leave no doubt.
 *
 * A frame's number is its rank among all frames that a decoder would deliver from the beginning. It
 * is found without decoding: every packet before the frame must show exactly one (coded_picture.h),
 * and times, orders in headers and the decoder's delay must agree. A second decoder gets the
 * packets from the last picture on that needs nothing before it, which were kept; no container is
 * asked to seek, since times may occur again later in it. It must deliver every frame up to the
 * wanted one at its time and without damage, and then takes the first one's place. In doubt the
 * first decoder goes on, so a jump that fails costs time and nothing else. */

/* Looks at all packets of a video in their order. *scan NULL: no decoder can begin within video of
 * this codec. GPUME_NOMEM. */
int gpume_scan_open(struct gpume_scan **scan, const struct AVCodecParameters *codec);

/* Takes a packet. Returns whether a decoder that begins with it gives the frames shown from its
 * time on. */
bool gpume_scan_take(struct gpume_scan *scan, const struct AVPacket *packet);

uint64_t gpume_scan_taken(const struct gpume_scan *scan); /* packets */

/* Whether that can be said of all packets taken so far: every one shows one frame, and their times,
 * the numbers in their headers and the decoder's delay agree; if not, it can be said of none after.
 */
bool gpume_scan_is_certain(const struct gpume_scan *scan);

/* Why it is not certain, for a message. */
const char *gpume_scan_doubt(const struct gpume_scan *scan);

/* Sets *scan to NULL; NULL is fine. */
void gpume_scan_close(struct gpume_scan **scan);

struct gpume_seek {
    uint64_t first; /* number of the frame at which the decoder starts */
    int64_t *times; /* of the frames from it to the one wanted, in units of the stream */
    uint64_t count; /* of times */
};

/* packets: just opened. On success the next packet is that of frame seek->first.
 * GPUME_UNSUPPORTED, noted in the log: the run has to begin with frame 0. GPUME_CANCELLED,
 * GPUME_NOMEM. frame: the one wanted; start: the time of frame 0. Finish follows in any case. */
int gpume_seek_find(
    struct gpume_seek *seek, struct gpume_packets *packets, uint64_t frame, int64_t start);

void gpume_seek_finish(struct gpume_seek *seek);

/* For each of the times, which rise: the number of the first frame of the one input at or after it;
 * UINT64_MAX: none. Microseconds; first_us: the time of frame 0, which is known from decoding it.
 * Results as those of gpume_seek_find, and of opening. */
int gpume_seek_rank(const struct gpume_source_options *options, int64_t first_us,
    const int64_t *times, uint64_t *frames, uint32_t count);

/* Notes why the run has to begin with frame 0, and returns GPUME_UNSUPPORTED. */
int gpume_seek_refuse(const struct gpume_packets *packets, const char *why);

#endif
