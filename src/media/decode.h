/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoders turn the video stream of an input into frames in presentation order. One thread.
 * gpume_decode_lavf is FFmpeg's; gpume_decode_y4m reads raw video, and pictures that are too large
 * for FFmpeg.
 */
#ifndef GPUME_MEDIA_DECODE_H
#define GPUME_MEDIA_DECODE_H

#include "media/libav.h"
#include "media/video.h"

#include <libavutil/pixfmt.h>
#include <libavutil/rational.h>
#include <stdatomic.h>
#include <stddef.h>

struct AVCodec;
struct AVCodecContext;
struct AVFrame;
struct AVPacket;
struct gpume_buffers;
struct gpume_hwaccel;
struct gpume_packets;

/* --- one decoder of FFmpeg: packets in, frames with their times out, and a count of the damage.
 * One thread at a time. */

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

/*
 * --- memory for decoded frames, shared by several decoders. FFmpeg gives each decoder memory of
 * its own, which is mapped anew, page by page, while all of them run. This is mapped in large pages
 * where the system has them, and frames that one decoder returns serve the next.
 */

/* GPUME_NOMEM. */
int gpume_buffers_open(struct gpume_buffers **buffers);

/* Memory for a frame that has no more than a format and a size. Any thread. GPUME_UNSUPPORTED: its
 * size is another than the first one's, or libav lays out its format in its own way; GPUME_NOMEM.
 */
int gpume_buffers_take(
    struct gpume_buffers *buffers, struct AVCodecContext *codec, struct AVFrame *frame);

/* As AVCodecContext.get_buffer2. Any thread. Frames that gpume_buffers_take does not support get
 * memory from FFmpeg. */
int gpume_buffers_get(
    struct gpume_buffers *buffers, struct AVCodecContext *codec, struct AVFrame *frame, int flags);

/* Sets *buffers to NULL; NULL is fine. Frames may live on: the memory goes with the last. */
void gpume_buffers_close(struct gpume_buffers **buffers);

struct AVFrame;
struct gpume_hwaccel;

/* --- decoders of an input */

/* The pointers outlive the decoder. */
struct gpume_decode_options {
    const struct gpume_source_options *source;
    uint32_t input;                /* which of its paths */
    uint32_t copy_threads;         /* that move samples, at most */
    struct gpume_hwaccel *hwaccel; /* NULL = software */
    bool whole;                    /* frames as software would return them, not only their luma */
    bool divisible;                /* `divide` may be called */
    const void *first;             /* state of the first input's decoder, which may be this one */
    atomic_bool *cancel;
};

struct gpume_decoder {
    size_t bytes; /* of its state, which the caller allocates, zeroed, and frees after close */

    /* Fills in what the file says of the video. Close follows, also after a failure. Failures other
     * than GPUME_NOMEM are logged. GPUME_AGAIN: no more threads can be started. */
    int (*open)(
        void *state, const struct gpume_decode_options *options, struct gpume_source_info *info);

    /* Moves the next frame into an empty *frame and sets its pts. Packets that the decoder refuses
     * are counted and skipped. GPUME_EOF at the end, also of a truncated input; GPUME_CANCELLED;
     * GPUME_DEVICE, logged: a frame could not be copied from the hardware. */
    int (*next)(void *state, struct AVFrame *frame);

    /* Right after open: moves frame `index`, counted from 0, into an empty *frame without decoding
     * all frames before it; `next` then goes on. start: the pts of frame 0. GPUME_UNSUPPORTED,
     * noted in the log: this is not certain to give what `next` would give; GPUME_CANCELLED,
     * GPUME_NOMEM: close follows. NULL: never possible. */
    int (*seek)(void *state, uint64_t index, int64_t start, struct AVFrame *frame);

    /* After the first `next`: from now on several decoders may work side by side, which changes no
     * frame and no count. Reduces *division to what will be used. NULL: never possible. */
    void (*divide)(void *state, struct gpume_division *division);

    /* Writes the decoder and its device, such as "h264 on cuda". Returns the number of threads.
     * Call this after the first frame. */
    int (*describe)(const void *state, char *text, size_t bytes);

    /* Number of packets that the decoder refused, plus an incomplete last frame. */
    uint64_t (*refused)(const void *state);

    /* Warns about a damaged input: at most one line about damage that the decoder met and, after
     * GPUME_EOF, at most one about a premature end. */
    void (*warn)(const void *state);

    /* After GPUME_EOF without a frame: logs the reason and returns GPUME_FORMAT. */
    int (*no_frame)(const void *state);

    void (*close)(void *state);
};

extern const struct gpume_decoder gpume_decode_lavf;

/* Times of frames in microseconds. One without a time is `since` frames after known_us; without any
 * before, at 0. */
struct gpume_frame_time {
    AVRational step; /* seconds between frames */
    int64_t known_us, since;
};

/* The time of the next frame, whose time_base is set. */
int64_t gpume_frame_time_next(struct gpume_frame_time *time, const struct AVFrame *frame);

/* --- Y4M from regular files, also as standard input, faster than FFmpeg and up to 2^29 pixels
 * (such as 23170x23170); without filters and scaling */

/* Accepts small sizes, too. Of two inputs, the second must have the first one's size and depth. */
extern const struct gpume_decoder gpume_decode_y4m;

/* Whether the path is a Y4M file that is too large for FFmpeg. Moves no file's position and opens
 * only regular files. */
bool gpume_decode_y4m_needs(const char *path);

/* Whether it is a Y4M file, other than standard input, whose colour space is known. */
bool gpume_decode_y4m_takes(const char *path);

/* The first line of a Y4M file, parsed. */
struct gpume_y4m_header {
    uint64_t width, height; /* as stated, 1 or more; numbers above 2^60 read as 2^60 */
    AVRational rate;        /* frames per second, reduced; 25/1 if not stated */
    AVRational aspect;      /* width of a sample by its height, reduced; 0/1 unknown */
    char space[32];         /* as stated, truncated to fit; "420jpeg" if not stated */
    uint32_t bits;          /* per sample; 0: unknown colour space, and no format */
    enum AVPixelFormat format;
    bool limited_range, full_range; /* neither: not said */
    bool interlaced, progressive;   /* neither: it does not say */
    bool top_first;
    enum AVChromaLocation place; /* of chroma in 4:2:0 */
};

/* line: without its line end. False: not Y4M, or a size is missing or zero; *header is then
 * undefined. */
bool gpume_y4m_parse(const char *line, struct gpume_y4m_header *header);

/* Whether the size is beyond what FFmpeg opens. Its av_image_check_size2 requires (8 width + 1024)
 * * (height + 128) < INT_MAX: for squares, up to 16255. */
bool gpume_y4m_is_large(const struct gpume_y4m_header *header);

#endif
