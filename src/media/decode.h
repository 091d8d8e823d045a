/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoders turn the video stream of an input into frames in presentation order. One thread.
 * gpume_decode_lavf is FFmpeg's; gpume_decode_y4m reads raw video, and pictures that are too large
 * for FFmpeg.
 */
#ifndef GPUME_MEDIA_DECODE_H
#define GPUME_MEDIA_DECODE_H

#include "media/video.h"

#include <stdatomic.h>
#include <stddef.h>

#include <libavutil/pixfmt.h>
#include <libavutil/rational.h>

struct AVFrame;
struct gpume_hwaccel;

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
