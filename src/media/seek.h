/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds where a decoder may start so that a frame gets the number and the samples that it has in a
 * run from the beginning. All packets before the frame are read, not decoded. It is found only if
 * their times, flags and headers leave no doubt.
 */
#ifndef GPUME_MEDIA_SEEK_H
#define GPUME_MEDIA_SEEK_H

#include <stdint.h>

struct gpume_packets;

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

/* For each of the times, which rise: the number of the first frame at or after it; UINT64_MAX:
 * none. Microseconds; first_us: the time of frame 0. packets: just opened. Results as those of
 * gpume_seek_find. */
int gpume_seek_rank(struct gpume_packets *packets, int64_t first_us, const int64_t *times,
    uint64_t *frames, uint32_t count);

/* Notes why the run has to begin with frame 0, and returns GPUME_UNSUPPORTED. */
int gpume_seek_refuse(const struct gpume_packets *packets, const char *why);

void gpume_seek_finish(struct gpume_seek *seek);

#endif
