/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state that the decoders of a video share: its packets, the segments found so far, and their
 * frames. One mutex and two condition variables guard it.
 */
#ifndef GPUME_MEDIA_SEGMENTS_CUTTER_H
#define GPUME_MEDIA_SEGMENTS_CUTTER_H

#include "media/backlog.h"
#include "media/segments/segments.h"
#include "media/segments/waiting.h"

#include <pthread.h>

#define SEGMENTS_MAX 64u /* segments at a time: begun, and not yet delivered */

/* A segment */
struct gpume_segment {
    uint64_t number;
    uint64_t first;   /* its first packet */
    int64_t start;    /* time of its first frame */
    uint64_t before;  /* packets of the video that come before it */
    uint64_t leading; /* packets that come after its first one and are shown before it */
    uint64_t packets;
    bool closed;                          /* all of its packets have been read, without a doubt */
    bool taken;                           /* a decoder is at work */
    uint64_t placed;                      /* frames so far */
    struct gpume_waiting frames, overlap; /* overlap: frames of the next segment */
    bool handed_over; /* the frames that follow are those of the next segment's decoder */
    bool ended;       /* its decoder ends with `status`, and is the last */
    int status;
    struct gpume_damage damage;
};

struct gpume_cutter {
    const struct gpume_segments_options *options;
    const char *label;
    pthread_mutex_t mutex;
    pthread_cond_t work;   /* for decoders */
    pthread_cond_t frames; /* for the one who takes frames */
    struct gpume_backlog backlog;
    uint64_t packet_bytes; /* that may be read ahead */
    struct AVPacket *fresh;
    bool reading;    /* a thread reads a packet, without the mutex */
    int read_status; /* GPUME_OK: there may be more packets */
    struct gpume_segment ring[SEGMENTS_MAX];
    uint64_t head, taken, found; /* numbers: delivered now; the next to be taken; to be found */
    uint64_t last;               /* the segment whose decoder goes on to the end */
    const char *why;             /* it does; NULL: it does not, or that has been told */
    uint32_t others;             /* decoders besides the first that are open or may still be */
    uint64_t at[GPUME_SEGMENTS_DECODERS]; /* packet that each takes next; UINT64_MAX: idle */
    struct gpume_places places;
    uint32_t room, waiting; /* frames that may wait, and that do */
    bool stop;
};

/* GPUME_NOMEM; finish follows in any case. */
int gpume_cutter_init(struct gpume_cutter *cutter, const struct gpume_segments_options *options);
void gpume_cutter_finish(struct gpume_cutter *cutter);

static inline struct gpume_segment *gpume_segment_at(struct gpume_cutter *cutter, uint64_t number)
{
    return &cutter->ring[number % SEGMENTS_MAX];
}

/* The number of its first frame; it is closed, or the first one. */
static inline uint64_t gpume_segment_frame(
    const struct gpume_cutter *cutter, const struct gpume_segment *segment)
{
    return cutter->options->first_frame + segment->before + segment->leading;
}

/* All others: with the mutex. */

/* Reads a packet. Other threads may have the mutex meanwhile. */
void gpume_cutter_read(struct gpume_cutter *cutter);

/* Drops packets that no decoder may still take. */
void gpume_cutter_drop(struct gpume_cutter *cutter);

/* From this segment on its decoder goes on alone. why: a constant, for the note about it. */
void gpume_cutter_end_with(struct gpume_cutter *cutter, uint64_t number, const char *why);

/* Logs that note when the segment is delivered: until then an earlier one may take its place. */
void gpume_cutter_tell_end(struct gpume_cutter *cutter);

/* A decoder cannot be opened. */
void gpume_cutter_lose_decoder(struct gpume_cutter *cutter);

/* Whether the decoder of this segment has become useless. */
bool gpume_cutter_is_beyond(const struct gpume_cutter *cutter, const struct gpume_segment *segment);

/* Whether a frame of this segment may be added to those that wait. */
bool gpume_cutter_has_room(const struct gpume_cutter *cutter, const struct gpume_segment *segment);

/* Whether the next packet may be read before a decoder needs it, to find the end of a segment. */
bool gpume_cutter_read_ahead(struct gpume_cutter *cutter);

#endif
