/* SPDX-License-Identifier: BSD-2-Clause */
/* Demultiplexing: one video stream of an input, packet by packet, and how it ends. One thread. */
#ifndef GPUME_MEDIA_PACKETS_H
#define GPUME_MEDIA_PACKETS_H

#include "base/log.h"
#include "media/cut.h"
#include "media/input.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct AVPacket;
struct AVStream;

struct gpume_packets {
    struct gpume_input input;
    struct AVStream *stream;
    const char *label;
    struct gpume_log log;
    uint64_t taken;        /* packets */
    bool partial;          /* the last of them was not read to its end */
    struct AVPacket *next; /* read to learn whether the one before was the last; or empty */
    bool has_next;
    int64_t y4m_frame, y4m_line; /* bytes of samples, and of the FRAME line; 0: another format */
    int64_t y4m_end;             /* where the last whole frame ends in the input */
    /* Known at the end. */
    bool ended;
    struct gpume_cut cut; /* of the frame after the last packet */
    uint64_t lost;        /* frames known to be there in part, and passed over */
    char reason[300];     /* why reading breaks off; "": it does not, or `cut` says it */
    bool failed;          /* it does for an error, and not at the end of what is there */
};

/* Fills *packets, which is zero but for what gpume_input_open wants of its input, and must stay
 * where it is until closed, also after a failure. path is kept; stream counts video streams from 0,
 * -1 = best. Failures but GPUME_NOMEM are logged. */
int gpume_packets_open(struct gpume_packets *packets, const char *path, int stream,
    atomic_bool *cancel, const struct gpume_log *log);

/* The stream's next packet, in place of what *packet held: GPUME_EOF, where the input breaks off
 * too, GPUME_CANCELLED, GPUME_NOMEM. A last one of which there is only the beginning is lost. */
int gpume_packets_next(struct gpume_packets *packets, struct AVPacket *packet);

/* After GPUME_EOF: warns if the input does not end with a whole frame. decoded: frames so far. */
void gpume_packets_warn(const struct gpume_packets *packets, uint64_t decoded);

void gpume_packets_close(struct gpume_packets *packets);

#endif
