/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads one video stream of an input, packet by packet, and finds out how it ends. One thread. */
#ifndef GPUME_MEDIA_PACKETS_H
#define GPUME_MEDIA_PACKETS_H

#include "base/log.h"
#include "media/backlog.h"
#include "media/cut.h"
#include "media/input.h"
#include "media/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct AVPacket;
struct AVStream;

struct gpume_packets {
    struct gpume_input input;
    struct AVStream *stream;
    uint32_t number, count; /* its number among the video streams, and how many there are */
    const char *label;
    struct gpume_log log;
    uint64_t taken; /* packets */
    bool partial;   /* the newest packet is incomplete */
    struct AVPacket
        *next; /* read ahead to learn whether its predecessor is the last; may be empty */
    bool has_next;
    struct gpume_backlog again;  /* to be given once more */
    int64_t y4m_frame, y4m_line; /* bytes of samples and of the FRAME line; 0: not Y4M */
    int64_t y4m_end;             /* position after the last complete frame */
    /* Known at the end: */
    bool ended;
    struct gpume_cut cut;
    uint64_t lost; /* incomplete frames that were skipped */
    bool failed;   /* reading ended because of an error, not at the end of the data */
};

/* The caller has zeroed *packets and does not move it until it is closed, which is required even
 * after a failure. path is kept, not copied; stream counts video streams from 0, -1 = best.
 * Failures other than GPUME_NOMEM are logged. */
int gpume_packets_open(struct gpume_packets *packets, const char *path, int stream,
    const struct gpume_trust *trust, atomic_bool *cancel, const struct gpume_log *log);

/* Replaces *packet by the next packet of the stream. An incomplete last packet is left out.
 * GPUME_EOF at the end, also of a truncated input; GPUME_CANCELLED; GPUME_NOMEM. */
int gpume_packets_next(struct gpume_packets *packets, struct AVPacket *packet);

/* Gives packets that were read once more, those of *kept from `first` on, before the ones that were
 * not read yet. Moves *kept. */
void gpume_packets_repeat(
    struct gpume_packets *packets, struct gpume_backlog *kept, uint64_t first);

/* After GPUME_EOF: whether the input ends too early, or reading failed. */
bool gpume_packets_are_cut(const struct gpume_packets *packets);

/* After GPUME_EOF: warns if the input ends within a frame or too early. decoded: frames so far. */
void gpume_packets_warn(const struct gpume_packets *packets, uint64_t decoded);

void gpume_packets_close(struct gpume_packets *packets);

#endif
