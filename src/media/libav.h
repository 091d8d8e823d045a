/* SPDX-License-Identifier: BSD-2-Clause */
/* What several files of this module do with libav: its log and errors, the colours that it states,
 * a graph of filters, and an encoder. */
#ifndef GPUME_MEDIA_LIBAV_H
#define GPUME_MEDIA_LIBAV_H

#include "base/colours.h"
#include "media/video.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <libavutil/pixfmt.h>
#include <libavutil/rational.h>

/*
 * --- libav's log and errors. Nothing that libav logs is printed. The first error line that a call
 * logs on the calling thread is kept, as the reason in our own message.
 */

/* Counts the errors that a decoder logs on all of its threads; AVCodecContext.opaque points here.
 */
struct gpume_libav_faults {
    atomic_uint_fast64_t errors;
    atomic_uint_fast64_t starved; /* those logged by a thread whose last allocation failed */
};

/* Call this before a libav call about which the functions below are then called. */
void gpume_libav_quiet(void);

/* Call this right after the libav call, with its result. libav also returns AVERROR(ENOMEM) for
 * absurd sizes in damaged files: if no allocation has failed (errno), this function returns
 * AVERROR_INVALIDDATA instead. */
int gpume_libav_check_memory(int error);

/* The kept line, or else the text of the AVERROR; valid until the thread's next call of a function
 * of this header. */
const char *gpume_libav_reason(int error);

/* Whether an error has been logged on the calling thread since gpume_libav_quiet. */
bool gpume_libav_complained(void);

/* Whether a demultiplexer has logged since then that its input is truncated. The call itself may
 * still have returned a normal end. */
bool gpume_libav_cut(void);

/* Number of pictures, on all threads, that were refused because of AVCodecContext.max_pixels. */
uint64_t gpume_libav_oversized(void);

/* --- What files and frames say of their colours. */

struct AVFrame;
struct AVStream;

/* Of a stream that is not decoded yet. */
void gpume_colours_of_stream(const struct AVStream *stream, struct gpume_colours *colours);

/* The same of light, into a stream that is to be written. Returns 0 or AVERROR(ENOMEM). */
int gpume_colours_to_stream(const struct gpume_colours *colours, struct AVStream *stream);

/* By how many degrees its pictures are to be turned clockwise before they are shown. */
int gpume_rotation_of_stream(const struct AVStream *stream);

/* Of a frame. *colours: those of its stream, which count where the frame says nothing. What is said
 * of light counts only with a transfer of HDR. */
void gpume_colours_of_frame(const struct AVFrame *frame, struct gpume_colours *colours);

/*
 * --- The libavfilter graph between decoder and luma. It is built for the first frame and rebuilt,
 * after the old graph has been drained, whenever the size or format of frames changes. One thread.
 */

struct AVFrame;
struct gpume_graph;

/* Whether FFmpeg has a filter of this name. */
bool gpume_graph_exists(const char *name);

/* graph: kept, not copied. info: of the frames pushed; their start is the time 0 in the graph, as
 * the ffmpeg program has it. threads: 0 = all. GPUME_NOMEM.
 * GPUME_UNSUPPORTED, logged: there is no libavfilter. */
int gpume_graph_open(struct gpume_graph **filter, const char *graph,
    const struct gpume_source_info *info, uint32_t threads, const struct gpume_log *log);

/* Takes the frame's reference, also on failure; NULL = no more frames. Pull until GPUME_AGAIN
 * before the next push. GPUME_INVALID, logged: the graph does not work for this frame. */
int gpume_graph_push(struct gpume_graph *filter, struct AVFrame *frame);

/* Sets the frame's time_base, too; its time is that of frames pushed. GPUME_AGAIN: push more.
 * GPUME_EOF: after the end. Failures are logged. */
int gpume_graph_pull(struct gpume_graph *filter, struct AVFrame *frame);

/* Of the filtered frames; call this after the first one. */
AVRational gpume_graph_rate(const struct gpume_graph *filter);

/* Whether a filtered frame is as wide as those pushed. */
bool gpume_graph_keeps_width(const struct gpume_graph *filter, const struct AVFrame *frame);

void gpume_graph_close(struct gpume_graph **filter);

/* --- Encodes luma planes, or R, G, B planes, with one libavcodec encoder. One thread. */

struct AVCodecContext;
struct AVFrame;
struct AVPacket;
struct SwsContext;

struct gpume_encoding_options {
    const char *label;             /* name of the output in messages; kept, not copied */
    const char *encoder;           /* libavcodec's name */
    const char *settings;          /* "key=value:key=value" for the encoder, or NULL */
    const char *remedy;            /* what to do if that is missing or fails; kept, too */
    enum AVPixelFormat formats[2]; /* tried in turn; AV_PIX_FMT_NONE = no second one */
    uint32_t width, height;        /* of the planes */
    bool pad;                      /* to even sizes, by repeating the edge */
    bool colour;                   /* planes hold R, G, B byte triples */
    bool full_range;
    bool global_header;
    int threads; /* 0 = all */
    AVRational time_base;
    AVRational rate;   /* 0/1 unknown */
    AVRational aspect; /* of a pixel; num 0: unknown */
    /* What the planes are of, chroma included, if that is a video as it was read; only for opening.
     * NULL: luma alone, or colours of our own. */
    const struct gpume_source_info *video;
    struct gpume_log log;
};

struct gpume_encoding {
    struct AVCodecContext *codec;
    struct AVFrame *frame;
    struct AVPacket *packet;     /* the packet from gpume_encoding_receive */
    bool chroma;                 /* planes of it follow that of luma */
    struct AVFrame *rgb;         /* colours, in the encoder's size; NULL: luma */
    struct SwsContext *from_rgb; /* converts them to the encoder's format */
    const char *label, *remedy;
    struct gpume_log log;
};

/* Fills a zeroed *encode; close it also after a failure, which is logged. GPUME_UNSUPPORTED: this
 * FFmpeg has no such encoder, or it cannot do this size. */
int gpume_encoding_open(
    struct gpume_encoding *encode, const struct gpume_encoding_options *options);

/* The plane has the size that the options state, as have those of chroma behind it in their way.
 * Samples deeper than the encoder's are shifted down; others keep their values. NULL: no more.
 * Receive until GPUME_AGAIN before the next call. */
int gpume_encoding_send(
    struct gpume_encoding *encode, const struct gpume_plane *planes, int64_t pts);

/* GPUME_AGAIN, GPUME_EOF, or a packet in encode->packet. */
int gpume_encoding_receive(struct gpume_encoding *encode);

/* Logs that the output could not be made, and returns the status for a libav error. */
int gpume_encoding_refuse(const struct gpume_encoding *encode, const char *what, int error);

void gpume_encoding_close(struct gpume_encoding *encode);

#endif
