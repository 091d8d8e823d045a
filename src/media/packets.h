/* SPDX-License-Identifier: BSD-2-Clause */
/* What is read of a video before it is decoded: the input, its packets, and what the headers in
 * these say. */
#ifndef GPUME_MEDIA_PACKETS_H
#define GPUME_MEDIA_PACKETS_H

#include "base/log.h"
#include "media/video.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavutil/rational.h>

/* --- Opens files, standard input and URLs with libavformat, explains failures, and enforces what
 * an input may open and how large it may be. */

struct AVCodecParameters;
struct AVDictionary;
struct AVFormatContext;
struct AVIOContext;

struct gpume_input {
    const struct gpume_source_options *options;
    const char *path, *label; /* label: in messages */
    atomic_bool *cancel;
    struct AVFormatContext *format;
    struct AVIOContext *pipe; /* standard input and named pipes */
    int fd;                   /* its descriptor */
    bool piped;               /* some data has been read from it */
    int64_t data;             /* position after the header */
    bool cut;                 /* libavformat found the input incomplete while opening it */
    bool opened;              /* the name that the user gave has been opened */
    char refused[512];        /* the first name in it that was refused; "": none */
    bool is_remote;           /* the refused name is remote */
    int (*open)(struct AVFormatContext *format, struct AVIOContext **stream, const char *url,
        int flags, struct AVDictionary **options); /* libavformat's own io_open */
};

/* The name of the input in messages: the path, or "standard input". */
const char *gpume_input_label(const char *path);

/* index: of the path. The caller does not move *input until it is closed, which is required even
 * after a failure. The other arguments outlive it. Failures are logged. If any thread sets *cancel,
 * blocking calls on the format return AVERROR_EXIT, and this one GPUME_CANCELLED. */
int gpume_input_open(struct gpume_input *input, const struct gpume_source_options *options,
    uint32_t index, atomic_bool *cancel);

/* Whether it holds pictures rather than a video: libavformat has other demuxers for them. */
bool gpume_input_has_pictures(const struct gpume_input *input);

/* What to do about an input that libavformat cannot read: give a file name if it was a pipe, which
 * cannot seek, else `otherwise`. */
const char *gpume_input_remedy(const struct gpume_input *input, const char *otherwise);

void gpume_input_close(struct gpume_input *input);

/* --- how large pictures may be: --max-pixels, --max-memory, and the engine's largest side */

/* The AVCodecContext.max_pixels that enforces both options. */
int64_t gpume_limits_decoder(const struct gpume_trust *trust);

/* Bytes of a decoded picture, according to the container; 0: unknown. */
uint64_t gpume_limits_bytes(const struct AVCodecParameters *codec);

/* Checks a picture of the input called `label`. GPUME_UNSUPPORTED, logged: it has too many pixels.
 * graph: the filters that produced it, or NULL. */
int gpume_limits_check_size(const struct gpume_trust *trust, const char *label, const char *graph,
    int width, int height, const struct gpume_log *log);

/* Checks the size for the engine. GPUME_UNSUPPORTED, logged: a side above GPUME_SIDE_MAX. */
int gpume_limits_check_sides(const char *label, const char *graph, uint32_t width, uint32_t height,
    const struct gpume_log *log);

/* Checks the bytes that pictures of `inputs` inputs take. GPUME_UNSUPPORTED, logged: too many. */
int gpume_limits_check_bytes(const struct gpume_trust *trust, const char *label, uint64_t bytes,
    uint32_t inputs, const struct gpume_log *log);

/* Call this when the decoder has refused a picture because of max_pixels after `frames` good ones.
 * Logs the option that set the limit and returns GPUME_UNSUPPORTED, or GPUME_OK if none did. */
int gpume_limits_refuse(const struct gpume_trust *trust, const char *label, uint64_t frames,
    const struct gpume_log *log);

/* --- Reads one video stream of an input, packet by packet, and finds out how it ends. One thread.
 */

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

/* --- What the headers of a packet say about its picture, without decoding it: H.264, HEVC, MPEG-2
 * and VP9. */

struct AVCodecContext;
struct AVCodecParameters;
struct AVCodecParserContext;
struct AVFrame;
struct AVPacket;
struct gpume_coded_packet;

struct gpume_coded_picture {
    bool restarts;    /* pictures shown after it need none that were sent before it */
    uint64_t section; /* counts the pictures that restart the numbers below */
    int64_t number;   /* rises in the order of presentation, within a section */
};

struct gpume_coded_pictures {
    void (*sum_up)(
        struct gpume_coded_packet *packet, const uint8_t *data, size_t bytes); /* or NULL */
    struct AVCodecParserContext *parser;
    struct AVCodecContext *codec;
    bool hevc;
    bool foreign;      /* its extradata are not understood, or frames may be hidden */
    int length_bytes;  /* of the size before each unit; 0: units follow start codes */
    uint64_t sections; /* so far */
    uint64_t sets;     /* hash of the parameter sets in packets */
    uint64_t taken;    /* packets */
    int width, height, format;
};

/* Whether pictures of this codec, by FFmpeg's name, are understood. */
bool gpume_coded_pictures_know(const char *codec);

/* GPUME_UNSUPPORTED: another codec; GPUME_NOMEM. Close follows, also after a failure. The caller
 * has zeroed *pictures. */
int gpume_coded_pictures_open(
    struct gpume_coded_pictures *pictures, const struct AVCodecParameters *codec);

/* Takes all packets in their order. GPUME_UNSUPPORTED: the packet is damaged, may show more or less
 * than one frame, or changes the size or the parameter sets. */
int gpume_coded_pictures_take(struct gpume_coded_pictures *pictures, const struct AVPacket *packet,
    struct gpume_coded_picture *picture);

void gpume_coded_pictures_close(struct gpume_coded_pictures *pictures);

/* --- the motion vectors of a coded stream, from FFmpeg's decoders. */

/* Asks a decoder that is about to be opened for vectors. */
void gpume_motion_request(struct AVCodecContext *codec);

/* Marks a packet that is about to be decoded, the number-th of the stream. */
void gpume_motion_mark(struct AVCodecContext *codec, const struct AVCodecParameters *stream,
    struct AVPacket *packet, uint64_t number);

/* Owns the vectors of the latest frame. Starts as zero. */
struct gpume_motion_taker {
    struct gpume_motion motion;
    struct gpume_motion_vector *vectors;
    size_t capacity;
};

/* Takes the vectors of a decoded frame. GPUME_NOMEM; GPUME_UNSUPPORTED: a vector is no multiple of
 * a quarter of a pixel. Neither is logged. */
int gpume_motion_take(struct gpume_motion_taker *taker, const struct AVFrame *frame);

void gpume_motion_finish(struct gpume_motion_taker *taker);

#endif
