/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for decoded frames, shared by several decoders. FFmpeg gives each decoder memory of its
 * own, which is mapped anew, page by page, while all of them run. This is mapped in large pages
 * where the system has them, and frames that one decoder returns serve the next.
 */
#ifndef GPUME_MEDIA_BUFFERS_H
#define GPUME_MEDIA_BUFFERS_H

struct AVCodecContext;
struct AVFrame;
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

#endif
