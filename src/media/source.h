/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any input as luma frames in presentation order (section "Frames" of the manual): YUV and gray
 * give plane 0 as decoded, anything else is converted to gray; bit depth is kept; a frame of
 * another size or depth is scaled to the first. Decoding runs on FFmpeg's threads; one caller at a
 * time.
 */
#ifndef GPUME_MEDIA_SOURCE_H
#define GPUME_MEDIA_SOURCE_H

#include "base/log.h"
#include "media/trust.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_source;

struct gpume_source_options {
    const char
        *paths[2]; /* one video, or two still pictures (reference, target); "-" = standard input */
    uint32_t path_count;
    const char *filter;  /* libavfilter graph applied after decoding; NULL = none */
    int stream;          /* index within the file, or -1 = best video stream */
    uint32_t threads;    /* for decoding; 0 = all */
    const char *hwaccel; /* decode on video hardware: TYPE[:DEVICE], "auto"; NULL = "none" */
    struct gpume_trust trust;
    bool colour;           /* keep frames for gpume_source_take_colour */
    uint64_t colour_first; /* from this index on */
    struct gpume_log log;
};

struct gpume_source_info {
    const char
        *label; /* what messages call the input, the last of two: a path as given, or a constant */
    char codec[64];
    char decoder[64]; /* and its hardware: "h264 on cuda" */
    char pixel_format[64];
    uint32_t width, height, bits; /* of the luma frames delivered */
    uint32_t rate_num, rate_den;  /* average frames a second; 0/1 unknown */
    uint64_t frames;              /* estimate from the container; 0 = unknown */
    bool converted;               /* luma is made of other colours */
    bool full_range;              /* luma uses 0..peak rather than 16..235 and its likes */
};

struct gpume_source_counts {
    uint64_t delivered; /* frames read so far */
    uint64_t refused;   /* packets that the decoder refused, and a last frame that is cut */
    uint64_t scaled;    /* frames brought to the first frame's size or depth */
};

/* Opens the input and decodes its first frame, so that *info is what the frames will be. Failures
 * name the input and are logged: GPUME_IO (cannot be opened), GPUME_FORMAT (no video, no frame),
 * GPUME_UNSUPPORTED (pictures too large), GPUME_INVALID (stream, filter or hwaccel), GPUME_NOMEM,
 * GPUME_AGAIN (no more threads can be started). Hardware that
 * cannot decode the input is left aside, with one warning if its type was named. */
int gpume_source_open(struct gpume_source **source, const struct gpume_source_options *options,
    struct gpume_source_info *info);

/* The next frame, written into *plane (whose data, stride, size and bits the caller has set as
 * *info says); with plane NULL the frame is dropped. GPUME_EOF at the end. *time_us: presentation
 * time in microseconds. */
int gpume_source_read(
    struct gpume_source *source, const struct gpume_plane *plane, int64_t *time_us);

/* Warns about damage in what was read, unless that has been done: the end does it, too. */
void gpume_source_warn(struct gpume_source *source);

/* The colours of a frame that was read into a plane, counted from 0 over all frames read: width
 * triples of bytes R, G, B a row, of the luma's size, by the stream's own matrix and range, alpha
 * left out. Memory of the source's, until the next call. Indices rise, or stay; lets go of the
 * frame and of those before it. One thread, which need not be the one that reads. Failures are
 * logged: GPUME_NOMEM, GPUME_IO, GPUME_UNSUPPORTED (a pixel format that cannot be converted). */
int gpume_source_take_colour(struct gpume_source *source, uint64_t index, struct gpume_plane *rgb);

/* Makes a blocking read return GPUME_CANCELLED soon. Any thread. */
void gpume_source_cancel(struct gpume_source *source);

void gpume_source_get_counts(const struct gpume_source *source, struct gpume_source_counts *counts);

void gpume_source_close(struct gpume_source **source);

#endif
