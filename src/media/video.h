/* SPDX-License-Identifier: BSD-2-Clause */
/* What is asked of a video, and what is known of it. */
#ifndef GPUME_MEDIA_VIDEO_H
#define GPUME_MEDIA_VIDEO_H

#include "base/colours.h"
#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_decoder;

/* What an input may access, and how large it may be. Zeroed: nothing else, and any size. */
struct gpume_trust {
    bool network; /* the input, and what it refers to, may be on the network (--allow-network) */
    bool files;   /* it may refer to other local files (--allow-files) */
    uint64_t max_pixels; /* of a picture, before and after filters; 0 = any (--max-pixels) */
    uint64_t max_memory; /* bytes that one decoded picture per input may take; 0 = any
                            (--max-memory) */
};

/* The strings are kept, not copied. */
struct gpume_source_options {
    /* One video, or two still pictures (reference, target); "-" = standard input */
    const char *paths[2];
    uint32_t path_count;
    bool pictures;       /* of two paths, use the first frame of a video as a still picture */
    const char *filter;  /* libavfilter graph applied after decoding; NULL = none */
    int stream;          /* index within the file, or -1 = best video stream */
    uint32_t threads;    /* for decoding; 0 = all */
    const char *hwaccel; /* decode on video hardware: TYPE[:DEVICE], "auto"; NULL = "none" */
    struct gpume_trust trust;
    bool chroma;           /* keep frames for gpume_source_take_chroma */
    bool colour;           /* keep frames for gpume_source_take_colour */
    uint64_t colour_first; /* from this index on */
    bool divisible;        /* allows gpume_source_divide */
    uint32_t decoders;     /* for that, at most; 0 = as many as suit */
    bool motion;           /* of one video, without filter and hwaccel: see gpume_source_motion */
    const struct gpume_decoder *decoder; /* NULL: the one that the inputs need */
    struct gpume_log log;
};

/* How several decoders share a video: see media/decode.h. */
struct gpume_division {
    uint32_t decoders; /* at most; 1: it is not divided */
    uint64_t bytes;    /* of memory that all but the first, and frames that wait, may take */
    bool asked;        /* by the user, who is told if it does not come about */
    uint64_t length;   /* frames that are to be read, about; 0: unknown */
    uint32_t gpus;     /* whose video hardware may decode, with a hwaccel without DEVICE; 0: one */
    /* set by struct gpume_decoder's divide: */
    uint32_t threads; /* of each decoder but the first */
    uint32_t frames;  /* that may wait */
};

/* Which chroma a video has beside its luma. */
enum gpume_chroma {
    GPUME_CHROMA_NONE,   /* it is gray */
    GPUME_CHROMA_PLANES, /* two components, each side of which is that of luma or half of it */
    GPUME_CHROMA_OTHER,  /* another kind, with transparency, or other colours */
};

/* The facts about a video. Whoever opens its file fills in what the file says; the source completes
 * them with the first frame, and they describe what it delivers. */
struct gpume_source_info {
    const char *label; /* name of the last input in messages: a path as given, or a constant */
    char codec[64];
    char decoder[64]; /* and its hardware: "h264 on cuda" */
    char pixel_format[64];
    uint32_t width, height, bits;    /* of the luma frames delivered */
    uint32_t rate_num, rate_den;     /* average frames per second; 0/1 unknown */
    uint32_t aspect_num, aspect_den; /* width of a pixel by its height; 0/1 unknown */
    int32_t time_num, time_den;      /* seconds that are the unit of the decoder's times */
    uint64_t frames;                 /* estimate from the container; 0 = unknown */
    uint64_t frame_bytes;            /* of a decoded one, according to the container; 0 = unknown */
    int64_t start_us;                /* where the container's time begins, for all streams */
    bool late;                       /* the ffmpeg program may count from the stream's own start */
    bool picture;                    /* a still picture, or several in a row, rather than a video */
    bool list;        /* its data are in other files, which it names: FFmpeg's concat */
    bool progressive; /* before filters, according to the container or the codec */
    bool converted;   /* luma was converted from other colours */
    bool full_range;  /* luma uses 0..peak rather than a range such as 16..235 */
    bool interlaced;  /* the first frame has lines of two fields */
    bool top_first;   /* and its upper line belongs to the first of them */
    bool lost_alpha;  /* the file has transparency, as WebM does, that the decoder leaves out */
    enum gpume_chroma chroma;
    uint32_t chroma_x, chroma_y; /* 1: half as many samples in this direction; else 0 */
    /* In FFmpeg's numbering, which is that of ITU-T H.273: where 4:2:0 has its chroma, and how
     * colours are meant. */
    int chroma_place, primaries, transfer, matrix;
    uint32_t stream, streams; /* number of the video stream that is read, of how many */
    struct gpume_colours colours;
    int rotation; /* degrees, clockwise, before it is shown; frames are not turned by it */
};

/* Whether the path is a regular file, which can be opened again. */
bool gpume_input_is_file(const char *path);

/* Whether the input can be opened once only: standard input, a pipe, what is on the network, or
 * numbered pictures. No for names of nothing and folders, so that opening them says what is wrong.
 */
bool gpume_input_is_read_once(const char *path);

/*
 * --- the motion vectors of a coded stream, as FFmpeg's decoders export them: H.264, MPEG-1,
 * MPEG-2, MPEG-4, H.263 and their relatives. FFmpeg says of each vector whether it belongs to the
 * first list of references, which are usually past frames, or to the second; it does not name the
 * frame. So this also tells what narrows that down: a frame's place in coding order, and whether
 * other frames may refer to it. One thread.
 */

struct gpume_motion_vector {
    int32_t x, y;   /* upper left corner of the block, pixels; may lie outside the picture */
    uint16_t w, h;  /* of the block as coded, pixels */
    int32_t dx, dy; /* quarter pixels, with the sign of gpume.h */
    int32_t source; /* -k: its k-th reference in the past; k: in the future */
};

/* Of one frame. Intra blocks have no vector, and blocks that predict from two frames have two. */
struct gpume_motion {
    char type;       /* how the frame is coded: I, P or B; '?': unknown */
    bool reference;  /* other frames may be predicted from it */
    bool interlaced; /* positions and vectors of blocks in one field count its own lines */
    uint64_t coded;  /* place in coding order */
    uint32_t units;  /* in which the stream counts, in a pixel: 1, 2 or 4; 0: no vectors */
    size_t count;
    const struct gpume_motion_vector *vectors;
};

#endif
