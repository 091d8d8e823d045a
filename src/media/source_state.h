/* SPDX-License-Identifier: BSD-2-Clause */
/* A source, and the functions of source_decoders.c for source.c, which calls them and is not called
 * by them. */
#ifndef GPUME_MEDIA_SOURCE_STATE_H
#define GPUME_MEDIA_SOURCE_STATE_H

#include "media/decode.h"
#include "media/frame_time.h"
#include "media/luma.h"
#include "media/source.h"

#include <stdatomic.h>

#include <libavutil/frame.h>

struct gpume_filter;
struct gpume_colour_frames;

struct gpume_source {
    struct gpume_source_options options;
    uint32_t path_index;           /* the one being opened or decoded */
    struct gpume_hwaccel *hwaccel; /* or NULL */
    const struct gpume_decoder *decoder;
    void *decodes[2];   /* its states; NULL: not allocated */
    AVFrame *stills[2]; /* the frames of two inputs, until they are read; NULL: one input */
    struct gpume_division division; /* of the one input */
    struct gpume_decode_facts facts;
    struct gpume_filter *filter;
    struct gpume_luma luma;
    struct gpume_colour_frames *colour; /* NULL: not requested */
    struct gpume_motion_taker motion;   /* of the frame read last */
    AVFrame *frame;                     /* the first one, until it is read */
    bool has_frame, ended, warned;
    int64_t last_us;
    struct gpume_frame_time time;
    uint32_t width, height, bits;
    struct gpume_source_counts counts;
    uint64_t decoded; /* frames, before the filter */
    atomic_bool cancelled;
};

/* The name of the current input in messages. */
const char *gpume_source_label(const struct gpume_source *source);

/* Decides which decoder reads the inputs (options.decoder, if there is one), and how many threads
 * beside it move samples. */
void gpume_source_choose(struct gpume_source *source);

/* Opens the input path_index. */
int gpume_source_open_path(struct gpume_source *source, struct gpume_decode_facts *facts);

void gpume_source_close_decode(const struct gpume_source *source, void *decode);

/* Before the first read: replaces the decoder by one that begins close to frame `index`, where that
 * gains time and changes nothing else. */
int gpume_source_jump(struct gpume_source *source, uint64_t index);

/* Logs GPUME_NOMEM. */
void gpume_source_report_memory(const struct gpume_source *source, int status);

#endif
