/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The libavfilter graph between decoder and luma. It is built for the first frame and rebuilt,
 * after the old graph has been drained, whenever the size or format of frames changes. One thread.
 */
#ifndef GPUME_MEDIA_FILTER_H
#define GPUME_MEDIA_FILTER_H

#include "media/video.h"

#include <libavutil/rational.h>

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

#endif
