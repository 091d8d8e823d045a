/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several decoders on one video. The packets are read once, in their order, and cut into segments
 * at pictures where a decoder can begin (timeline.h). Each segment is decoded by the next decoder
 * that is free, on its own thread, and on into the first frames of the segment after it. Only if
 * the decoder of that segment delivers the same frames are its frames used; else, and after damage
 * or anything else that one decoder might treat differently, the decoder goes on alone to the end.
 * So the frames are those of one decoder.
 *
 * Frames wait where libav has put them, up to a number that is planned. Those of early segments
 * may fill more of it than those of later ones.
 */
#ifndef GPUME_MEDIA_SEGMENTS_H
#define GPUME_MEDIA_SEGMENTS_H

#include "media/decoding.h"
#include "media/packets.h"

#include <pthread.h>

struct gpume_scan;
struct gpume_segments;

#define GPUME_SEGMENTS_DECODERS 64u /* at most */
#define GPUME_SEGMENTS_OVERLAP 3u   /* frames of a segment that two decoders must deliver alike */

struct gpume_segments_options {
    struct gpume_division division;
    struct gpume_decoding *first; /* takes the packets that follow; may have delivered frames */
    /* Opens another decoder like it, whose owner has set what decoding.h says, with this many
     * threads. Any thread; after a failure there are fewer. */
    int (*open)(void *opaque, struct gpume_decoding *another, uint32_t threads);
    void *opaque;         /* for open */
    uint64_t first_frame; /* number of the frame that the scan's first packet shows */
    struct gpume_packets *packets;
    struct gpume_scan *scan; /* of all packets that the first decoder took */
    atomic_bool *cancel;
    struct gpume_log log;
};

/* How many decoders suit this machine; threads: that decoding may use, 0 = all. */
uint32_t gpume_segments_decoders(uint32_t threads);

/* Reduces the division to what its memory allows, at this many bytes per frame (0: unknown), and
 * sets its threads, frames and bytes. threads: of one decoder; 0: all. */
void gpume_segments_plan(struct gpume_division *division, uint32_t threads, uint64_t frame_bytes);

/* Starts the threads. *segments NULL: not even two decoders can be opened. GPUME_NOMEM. What the
 * options point to is theirs until the end. */
int gpume_segments_open(
    struct gpume_segments **segments, const struct gpume_segments_options *options);

/* As struct gpume_decoder's next. */
int gpume_segments_next(struct gpume_segments *segments, struct AVFrame *frame);

/* What one decoder would have met, and delivered, up to the frame returned last. */
struct gpume_damage gpume_segments_damage(const struct gpume_segments *segments);
uint64_t gpume_segments_delivered(const struct gpume_segments *segments);

/* Whether two frames have the same time, format, colours and samples. */
bool gpume_frames_are_alike(const struct AVFrame *a, const struct AVFrame *b);

/* Sets *segments to NULL; NULL is fine. */
void gpume_segments_close(struct gpume_segments **segments);

/*
 * --- the state that the decoders of a video share: its packets, the segments found so far, and
 * their frames. One mutex and two condition variables guard it. For segments.c, and for its test.
 */

#define SEGMENTS_MAX 64u /* segments at a time: begun, and not yet delivered */

/* Frames that wait for their turn, in lists that share a fixed number of places. */
struct gpume_waiting_frame {
    struct AVFrame *frame;
    struct gpume_damage damage; /* that its decoder had met by then */
    struct gpume_waiting_frame *next;
};

/* Zeroed: empty. */
struct gpume_waiting {
    struct gpume_waiting_frame *oldest, *newest;
    uint32_t count;
};

struct gpume_waiting_places {
    struct gpume_waiting_frame *all;
    struct gpume_waiting free;
    uint32_t count;
};

struct gpume_video_segment {
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
    pthread_mutex_t mutex;
    pthread_cond_t work;   /* for decoders */
    pthread_cond_t frames; /* for the thread that takes frames */
    struct gpume_backlog backlog;
    uint64_t packet_bytes; /* that may be read ahead */
    struct AVPacket *fresh;
    bool reading;    /* a thread reads a packet, without the mutex */
    int read_status; /* GPUME_OK: there may be more packets */
    struct gpume_video_segment ring[SEGMENTS_MAX];
    uint64_t head, taken, found; /* numbers: delivered now; the next to be taken; to be found */
    uint64_t last;               /* the segment whose decoder goes on to the end */
    const char *why;             /* it does; NULL: it does not, or that has been told */
    uint32_t others;             /* decoders besides the first that are open or may still be */
    uint64_t at[GPUME_SEGMENTS_DECODERS]; /* packet that each takes next; UINT64_MAX: idle */
    struct gpume_waiting_places places;
    uint32_t room, waiting; /* frames that may wait, and that do */
    bool stop;
};

/* All functions need the mutex, or the only thread. */

/* From this segment on its decoder goes on alone. why: a constant, for the note about it. */
void gpume_cutter_end_with(struct gpume_cutter *cutter, uint64_t number, const char *why);

/* A decoder cannot be opened. */
void gpume_cutter_lose_decoder(struct gpume_cutter *cutter);

/* Whether a frame of this segment may be added to those that wait. */
bool gpume_cutter_has_room(
    const struct gpume_cutter *cutter, const struct gpume_video_segment *segment);

/* Whether the next packet may be read before a decoder needs it, to find the end of a segment. */
bool gpume_cutter_read_ahead(struct gpume_cutter *cutter);

/* GPUME_NOMEM; finish follows in any case. */
int gpume_waiting_init(struct gpume_waiting_places *places, uint32_t count);
void gpume_waiting_finish(struct gpume_waiting_places *places);

/* Moves a frame to the end of the list. There must be a free place. */
void gpume_waiting_put(struct gpume_waiting *list, struct gpume_waiting_places *places,
    struct AVFrame *frame, const struct gpume_damage *damage);

/* Moves the oldest frame, of which there must be one, into an empty one. */
struct gpume_damage gpume_waiting_take(
    struct gpume_waiting *list, struct gpume_waiting_places *places, struct AVFrame *frame);

/* Moves all frames of `from` to the end of the list. */
void gpume_waiting_join(struct gpume_waiting *list, struct gpume_waiting *from);

/* Drops all frames. */
void gpume_waiting_clear(struct gpume_waiting *list, struct gpume_waiting_places *places);

#endif
