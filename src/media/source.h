/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads any input as luma frames in presentation order. Luma of YUV and gray is unchanged; other
 * formats are converted to gray. The bit depth is kept. Frames whose size or depth differs from the
 * first frame's are scaled to it. FFmpeg decodes on its own threads; one caller at a time.
 */
#ifndef GPUME_MEDIA_SOURCE_H
#define GPUME_MEDIA_SOURCE_H

#include "base/log.h"
#include "media/video.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpume_source;

struct gpume_source_counts {
    uint64_t delivered; /* frames read so far */
    uint64_t refused;   /* packets that the decoder refused, plus an incomplete last frame */
    uint64_t scaled;    /* frames scaled to the first frame's size or depth */
};

/* Opens the input and decodes its first frame; *info describes the frames that follow. Failures are
 * logged with the name of the input: GPUME_IO (cannot be opened), GPUME_FORMAT (no video, no
 * frame), GPUME_UNSUPPORTED (pictures too large), GPUME_INVALID (stream, filter,
 * hwaccel, or a video where a still is needed and `pictures` does not allow one), GPUME_NOMEM,
 * GPUME_AGAIN (no more threads can be started). If the hardware cannot decode the input, software
 * does, with one warning if the type was named. */
int gpume_source_open(struct gpume_source **source, const struct gpume_source_options *options,
    struct gpume_source_info *info);

/* Memory for a frame, all zeros, which the caller frees; .data is NULL if there is none. */
struct gpume_plane gpume_source_plane(const struct gpume_source_info *info);

/* Writes the next frame into *plane, whose size and bits must be those of *info; drops the frame if
 * plane is NULL. GPUME_EOF at the end. *time_us: presentation time in microseconds. */
int gpume_source_read(
    struct gpume_source *source, const struct gpume_plane *plane, int64_t *time_us);

/* A frame that is read without a copy, where its own memory holds what would be copied. */
struct gpume_luma_view {
    struct gpume_plane plane;  /* read only; valid until the next read into it */
    struct gpume_plane memory; /* for a copy */
    struct AVFrame *frame;     /* that the plane lies in, or empty */
};

/* False: out of memory. Close it in any case; zeroed is fine. */
bool gpume_luma_view_open(struct gpume_luma_view *view, const struct gpume_source_info *info);
void gpume_luma_view_close(struct gpume_luma_view *view);

/* As gpume_source_read. */
int gpume_source_view(struct gpume_source *source, struct gpume_luma_view *view, int64_t *time_us);

/* Before the first read: drops the frames before `index`, counted from 0. They are decoded only as
 * far as needed to give frame `index`, and those after it, the same number, time and samples as
 * without this call. GPUME_EOF: there are fewer; gpume_source_get_counts tells how many. Other
 * failures as of gpume_source_read. */
int gpume_source_skip(struct gpume_source *source, uint64_t index);

/* Before the first read and before skipping: lets several decoders work side by side on one video
 * (see media/decode.h), where that is known to change nothing. Reduces *division to what will be
 * used. */
void gpume_source_divide(struct gpume_source *source, struct gpume_division *division);

/* How many decoders suit this machine at most; threads: that decoding may use, 0 = all; hwaccel: as
 * in the options; gpus: as in struct gpume_division. */
uint32_t gpume_source_decoders(uint32_t threads, const char *hwaccel, uint32_t gpus);

/* The motion that the stream holds for the frame read last, whether or not it was written to a
 * plane. Valid until the next read. Without options.motion there is none. */
const struct gpume_motion *gpume_source_motion(const struct gpume_source *source);

/* Warns once about damage in the frames read so far. Reaching the end of the input does so, too. */
void gpume_source_warn(struct gpume_source *source);

/* Converts a frame that was read into a plane to R, G, B byte triples in the luma's size, by the
 * stream's own matrix and range, without alpha. index counts all frames read and never decreases;
 * earlier frames are dropped, and with rgb NULL nothing else happens. *rgb is valid until the next
 * call. One thread, which need not be the
 * one that reads. Failures are logged: GPUME_NOMEM, GPUME_IO, GPUME_UNSUPPORTED (a pixel format
 * that cannot be converted). */
int gpume_source_take_colour(struct gpume_source *source, uint64_t index, struct gpume_plane *rgb);

/* Writes the two planes of chroma of a frame that was read into a plane, unchanged, in the depth of
 * luma. With options.chroma, of a video with GPUME_CHROMA_PLANES. index and threads: as for
 * gpume_source_take_colour. Failures are logged: GPUME_NOMEM, GPUME_INVALID (a frame of other
 * colours, or none of this index). */
int gpume_source_take_chroma(
    struct gpume_source *source, uint64_t index, const struct gpume_plane *planes);

/* Makes a blocking read return GPUME_CANCELLED soon. Any thread. */
void gpume_source_cancel(struct gpume_source *source);

void gpume_source_get_counts(const struct gpume_source *source, struct gpume_source_counts *counts);

void gpume_source_close(struct gpume_source **source);

#define GPUME_FIND_NONE UINT64_MAX
#define GPUME_FIND_MAX 2u /* times in one call */

/* For each of the times, which rise: the number of the first frame that comes at least this many
 * microseconds after the first frame, or GPUME_FIND_NONE. options: of a file. It is opened and
 * closed here; packets alone are read where they suffice, else frames are decoded. Failures as
 * those of gpume_source_open and gpume_source_read. */
int gpume_find_frames(const struct gpume_source_options *options, const int64_t *times,
    uint64_t *frames, uint32_t count);

/*
 * --- Where the frames of a video are in time, by its packets: they are read, but not decoded.
 *
 * Packets come in the order of decoding, and are shown in the order of their times. But times may
 * recur, as in files joined by cat: only within a section do they rise from packet to packet shown.
 */

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
 * is found without decoding: every packet before the frame must show exactly one (packets.h),
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
