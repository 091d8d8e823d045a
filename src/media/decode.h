/* SPDX-License-Identifier: BSD-2-Clause */
/* How packets become frames: the interface of decoders, and what FFmpeg's are made of. */
#ifndef GPUME_MEDIA_DECODE_H
#define GPUME_MEDIA_DECODE_H

#include "base/log.h"
#include "media/libav.h"
#include "media/packets.h"
#include "media/video.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libavcodec/codec_id.h>
#include <libavutil/pixfmt.h>
#include <libavutil/rational.h>

/*
 * --- Decoders turn the video stream of an input into frames in presentation order. One thread.
 * gpume_decode_lavf is FFmpeg's; gpume_decode_y4m reads raw video, and pictures that are too large
 * for FFmpeg.
 */

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

/*
 * --- Memory for decoded frames, shared by several decoders. FFmpeg gives each decoder memory of
 * its own, which is mapped anew, page by page, while all of them run. This is mapped in large pages
 * where the system has them, and frames that one decoder returns serve the next.
 */

struct AVCodecContext;
struct gpume_buffers;

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

/*
 * --- Implements --hwaccel: chooses the decoder, opens the device, and reports when software
 * decodes instead. All decoders of a source share one object, so that the device is opened once and
 * its failure is reported once. One thread, except where stated, and apart from calls by libav.
 */

#define GPUME_HWACCEL_DECODERS 4u /* most that gpume_hwaccel_decoders returns, for each device */

struct AVCodec;

/* text: TYPE[:DEVICE], "auto", or "none" and NULL, which leave *hwaccel NULL; kept, not copied.
 * GPUME_INVALID: no such type; logged. */
int gpume_hwaccel_open(
    struct gpume_hwaccel **hwaccel, const char *text, const struct gpume_log *log);

/* Returns the decoder for the device, which is opened, or NULL after logging why there is none.
 * label: the name of the input in messages. */
const struct AVCodec *gpume_hwaccel_choose(
    struct gpume_hwaccel *hwaccel, enum AVCodecID id, const char *label);

/* Call this when the first frame has come from the device. */
void gpume_hwaccel_accept(struct gpume_hwaccel *hwaccel, enum AVCodecID id, const char *label);

/* Reports once that software decodes instead: as a warning if the user named a type, and with the
 * decoder's own reason if it gave one. */
void gpume_hwaccel_refuse(struct gpume_hwaccel *hwaccel, const char *label, const char *reason);

/* Devices that are opened for one decoder each are, in turn, those that CUDA numbers from 0 to
 * count - 1, unless the user has named one. Before there are such decoders. */
void gpume_hwaccel_spread(struct gpume_hwaccel *hwaccel, uint32_t count);

/* How many decoders suit its devices and this number of frames (0: unknown); 1: not known. */
uint32_t gpume_hwaccel_decoders(const struct gpume_hwaccel *hwaccel, uint64_t frames);

/* TYPE[:DEVICE] in use. */
const char *gpume_hwaccel_name(const struct gpume_hwaccel *hwaccel);

void gpume_hwaccel_close(struct gpume_hwaccel **hwaccel);

/*
 * Copies frames from video hardware to memory, and converts them to what a software decoder would
 * have returned: the same visible part, depth and samples. Stateless.
 */

/* Replaces a frame of this decoder that is on a device by a copy in memory, which comes from
 * buffers if they are not NULL. whole: convert to exactly the format that a software decoder would
 * return, rather than to any with the same luma. On failure the frame is unchanged. Not logged:
 * GPUME_DEVICE (cannot be copied), GPUME_NOMEM. */
int gpume_hwframe_download(
    struct AVFrame *frame, struct AVCodecContext *codec, struct gpume_buffers *buffers, bool whole);

/* The conversion after the copy: from a frame in memory with a layout that devices use (NV12, P010,
 * P016...). */
int gpume_hwframe_settle(struct AVFrame *frame, enum AVPixelFormat software, bool whole);

/* --- One decoder of FFmpeg: packets in, frames with their times out, and a count of the damage.
 * One thread at a time. */

struct AVPacket;

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

/* The same on a device, with the decoder that gpume_hwaccel_choose chose. own: opens the device
 * once more for it, since NVIDIA's decoders wait for each other where they share one. Any thread
 * once the first frame has come. Returns libav's error; close follows after one, too. */
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

/*
 * --- Several decoders on one video. The packets are read once, in their order, and cut into
 * segments at pictures where a decoder can begin (source.h). Each segment is decoded by the next
 * decoder that is free, on its own thread, and on into the first frames of the segment after it.
 * Only if the decoder of that segment delivers the same frames are its frames used; else, and after
 * damage or anything else that one decoder might treat differently, the decoder goes on alone to
 * the end. So the frames are those of one decoder.
 *
 * Frames wait where libav has put them, up to a number that is planned. Those of early segments
 * may fill more of it than those of later ones.
 */

struct gpume_scan;
struct gpume_segments;

#define GPUME_SEGMENTS_DECODERS 64u /* at most */
#define GPUME_SEGMENTS_OVERLAP 3u   /* frames of a segment that two decoders must deliver alike */

struct gpume_segments_options {
    struct gpume_division division;
    struct gpume_decoding *first; /* takes the packets that follow; may have delivered frames */
    /* Opens another decoder like it, whose owner has set what struct gpume_decoding says, with this
     * many threads. Any thread; after a failure there are fewer. */
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
