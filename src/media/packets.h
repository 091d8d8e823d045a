/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads one video stream of an input, packet by packet, and finds out how it ends. One thread. */
#ifndef GPUME_MEDIA_PACKETS_H
#define GPUME_MEDIA_PACKETS_H

#include "media/input.h"
#include "media/video.h"

#include <libavutil/rational.h>

struct AVPacket;
struct AVStream;

/* The packets of a video that some decoder has not taken yet, numbered in their order. They are
 * kept once, however many decoders take them. Its owner's mutex guards it. */
struct gpume_backlog {
    struct AVPacket **ring; /* empty where no packet is kept */
    uint64_t capacity;
    uint64_t first, end; /* numbers of the packets that are kept */
    uint64_t bytes;      /* that they take */
};

/* Appends a packet, which it moves. GPUME_NOMEM. */
int gpume_backlog_append(struct gpume_backlog *backlog, struct AVPacket *packet);

/* A reference to the packet of this number, which is kept, in an empty packet. GPUME_NOMEM. */
int gpume_backlog_get(
    const struct gpume_backlog *backlog, uint64_t number, struct AVPacket *packet);

/* Drops the packets before this number. */
void gpume_backlog_drop(struct gpume_backlog *backlog, uint64_t number);

void gpume_backlog_finish(struct gpume_backlog *backlog);

/* Where and why an input ends before its last frame. Zeroed: it is complete. */
struct gpume_cut {
    uint64_t there, whole; /* bytes present and bytes needed of a frame that is incomplete */
    char reason[300];      /* why reading stops early, if not because of such a frame */
};

/* Warns, if the input is cut, that only the frames before that are used: `taken` from the input,
 * `decoded` of `promised` frames (0: unknown). */
void gpume_cut_warn(const struct gpume_cut *cut, const char *label, uint64_t taken,
    uint64_t decoded, uint64_t promised, const struct gpume_log *log);

/* Logs that the input has not even one complete frame. Returns GPUME_FORMAT. */
int gpume_cut_refuse(const struct gpume_cut *cut, const char *label, const char *codec,
    const char *remedy, const struct gpume_log *log);

struct gpume_packets {
    const struct gpume_source_options *options;
    const char *label;
    struct gpume_input input;
    struct AVStream *stream;
    struct gpume_source_info info; /* what the file says of the video */
    AVRational time_base;          /* of frames; as in info */
    uint64_t taken;                /* packets */
    bool partial;                  /* the newest packet is incomplete */
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

/* Opens this one of the paths. The caller has zeroed *packets and does not move it until it is
 * closed, which is required even after a failure; options and cancel outlive it. Failures other
 * than GPUME_NOMEM are logged. */
int gpume_packets_open(struct gpume_packets *packets, const struct gpume_source_options *options,
    uint32_t input, atomic_bool *cancel);

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
