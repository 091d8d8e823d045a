/* SPDX-License-Identifier: BSD-2-Clause */
/* One decoder of FFmpeg: packets in, frames with their times out, and a count of the damage. One
 * thread at a time. */
#ifndef GPUME_MEDIA_DECODING_H
#define GPUME_MEDIA_DECODING_H

#include "media/libav.h"
#include "media/video.h"

struct AVCodec;
struct AVCodecContext;
struct AVFrame;
struct AVPacket;
struct gpume_buffers;
struct gpume_hwaccel;
struct gpume_packets;

/* Damage that a decoder has met */
struct gpume_damage {
    uint64_t errors;  /* that it reported */
    uint64_t refused; /* packets */
    uint64_t frames;  /* delivered, with damage concealed */
};

/* Its owner sets the members above the blank line, then opens it. */
struct gpume_decoding {
    const struct gpume_packets *packets; /* what is decoded; what changes in it is not read */
    struct gpume_log log;
    /* See gpume_decoding_next; or NULL. */
    int (*fetch)(struct gpume_decoding *decoding, struct AVFrame *frame, int *error);
    void *opaque;                  /* for fetch */
    struct gpume_buffers *buffers; /* for its frames, or NULL */

    struct AVCodecContext *codec;
    struct gpume_libav_faults faults;
    /* A frame without a time gets the last known time plus that of `fields` fields, as long as the
     * frames since then are shown: two each, and those that a frame asks to repeat (pulldown).
     * They are counted, so that rounding errors do not add up. */
    int64_t known_pts, fields;
    int64_t last_pts;  /* of the frame before */
    int64_t first_pts; /* frames before this time are dropped until one is delivered */
    uint64_t delivered, refused;
    uint64_t damaged;   /* of those delivered */
    uint32_t refusals;  /* in a row */
    uint64_t oversized; /* gpume_libav_oversized() at opening */
    bool draining;
};

/* Opens software with this many threads, 0 = all. Failures other than GPUME_NOMEM are logged:
 * GPUME_FORMAT, GPUME_AGAIN (threads cannot be started). */
int gpume_decoding_open(struct gpume_decoding *decoding, uint32_t threads);

/* As gpume_decoding_open, on a device: with the decoder that gpume_hwaccel_choose chose; own: see
 * gpume_hwaccel_attach. Returns libav's error; close follows after one, too. */
int gpume_decoding_open_device(struct gpume_decoding *decoding, const struct AVCodec *codec,
    struct gpume_hwaccel *hwaccel, uint32_t threads, bool own);

/* Sends a packet; NULL: there are no more. One that the decoder refuses is counted. GPUME_NOMEM;
 * GPUME_UNSUPPORTED, logged: pictures exceed a limit. */
int gpume_decoding_send(struct gpume_decoding *decoding, struct AVPacket *packet);

/* Moves the next frame into an empty *frame and sets its pts. GPUME_AGAIN: it needs a packet first;
 * GPUME_EOF; failures as those of gpume_decoding_send. After every receipt, fetch may replace the
 * frame and libav's error. */
int gpume_decoding_next(struct gpume_decoding *decoding, struct AVFrame *frame);

/* Forgets what was sent, to go on with a packet that needs nothing before it, the frame of which
 * has this number and time. */
void gpume_decoding_restart(struct gpume_decoding *decoding, uint64_t number, int64_t pts);

/* Whether decoding has met damage, after which frames may depend on where it began. */
bool gpume_decoding_is_flawed(const struct gpume_decoding *decoding);
struct gpume_damage gpume_decoding_damage(const struct gpume_decoding *decoding);

void gpume_decoding_close(struct gpume_decoding *decoding);

#endif
