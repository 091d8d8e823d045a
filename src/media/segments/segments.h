/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several decoders on one video. The packets are read once, in their order, and cut into segments
 * at pictures where a decoder can begin (scan.h). Each segment is decoded by the next decoder that
 * is free, on its own thread, and on into the first frames of the segment after it. Only if
 * the decoder of that segment delivers the same frames are its frames used; else, and after damage
 * or anything else that one decoder might treat differently, the decoder goes on alone to the end.
 * So the frames are those of one decoder.
 *
 * Frames wait where libav has put them, up to a number that is planned. Those of early segments
 * may fill more of it than those of later ones.
 */
#ifndef GPUME_MEDIA_SEGMENTS_SEGMENTS_H
#define GPUME_MEDIA_SEGMENTS_SEGMENTS_H

#include "media/decode.h"

struct gpume_packets;
struct gpume_scan;
struct gpume_segments;

#define GPUME_SEGMENTS_DECODERS 64u /* at most */
#define GPUME_SEGMENTS_OVERLAP 3u   /* frames of a segment that two decoders must deliver alike */

struct gpume_segments_options {
    struct gpume_division division;
    struct gpume_decoding *first; /* takes the packets that follow; may have delivered frames */
    /* Opens another decoder like it, whose owner has set what decode.h says, with this many
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

#endif
