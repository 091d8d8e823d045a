/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The libavfilter graph between decoder and luma. It is built for the first frame and rebuilt,
 * after the old graph has been drained, whenever the size or format of frames changes. One thread.
 */
#ifndef GPUME_MEDIA_FILTER_H
#define GPUME_MEDIA_FILTER_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

#include <libavutil/rational.h>

struct AVFrame;
struct gpume_filter;

struct gpume_filter_options {
    const char *graph;    /* kept, not copied */
    AVRational time_base; /* of the frames pushed */
    int64_t start_us;     /* their time that is 0 in the graph, as the ffmpeg program has it */
    AVRational rate;      /* 0/1 unknown */
    uint32_t threads;     /* 0 = all */
    struct gpume_log log;
};

int gpume_filter_open(struct gpume_filter **filter, const struct gpume_filter_options *options);

/* Takes the frame's reference, also on failure; NULL = no more frames. Pull until GPUME_AGAIN
 * before the next push. GPUME_INVALID, logged: the graph does not work for this frame. */
int gpume_filter_push(struct gpume_filter *filter, struct AVFrame *frame);

/* Sets the frame's time_base, too; its time is that of frames pushed. GPUME_AGAIN: push more.
 * GPUME_EOF: after the end. Failures are logged. */
int gpume_filter_pull(struct gpume_filter *filter, struct AVFrame *frame);

/* Of the filtered frames; call this after the first one. */
AVRational gpume_filter_rate(const struct gpume_filter *filter);

/* Is a filtered frame as wide as those pushed? */
bool gpume_filter_keeps_width(const struct gpume_filter *filter, const struct AVFrame *frame);

void gpume_filter_close(struct gpume_filter **filter);

#endif
