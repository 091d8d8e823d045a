/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "media/buffers.h"

#include "base/base.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

#define LARGE_PAGE (UINT64_C(2) << 20)
#define SLAB (16 * LARGE_PAGE)
#define ALIGNMENT 64u /* of planes and rows: enough for all vector code */
#define PADDING 128u  /* decoders may read beyond a plane */

/* A piece of memory from which frames are cut_buffer; it is freed with the last of them. */
struct slab {
    void *memory;
    size_t bytes;
    struct slab *next;
};

struct gpume_buffers {
    pthread_mutex_t mutex;
    AVBufferPool *pool; /* NULL until the first frame */
    size_t frame_bytes;
    struct slab *slabs; /* the first one is cut_buffer now */
    size_t used;        /* bytes of it */
};

int gpume_buffers_open(struct gpume_buffers **buffers)
{
    *buffers = calloc(1, sizeof(**buffers));
    if (!*buffers) {
        return GPUME_NOMEM;
    }
    pthread_mutex_init(&(*buffers)->mutex, NULL);
    return GPUME_OK;
}

/* Called when neither the owner nor a frame needs the memory any more. */
static void destroy_buffers(void *opaque)
{
    struct gpume_buffers *buffers = opaque;
    while (buffers->slabs) {
        struct slab *slab = buffers->slabs;
        buffers->slabs = slab->next;
        munmap(slab->memory, slab->bytes);
        free(slab);
    }
    pthread_mutex_destroy(&buffers->mutex);
    free(buffers);
}

static bool add_slab(struct gpume_buffers *buffers, size_t bytes)
{
    struct slab *slab = calloc(1, sizeof(*slab));
    if (!slab) {
        return false;
    }
    slab->bytes = bytes > SLAB ? bytes : SLAB;
    slab->memory =
        mmap(NULL, slab->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slab->memory == MAP_FAILED) {
        free(slab);
        return false;
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(slab->memory, slab->bytes, MADV_HUGEPAGE);
#endif
    slab->next = buffers->slabs;
    buffers->slabs = slab;
    buffers->used = 0;
    return true;
}

static void leave_slab(void *opaque, uint8_t *data)
{
    (void)opaque;
    (void)data; /* part of a slab */
}

/* The pool's way to get a new buffer. Any thread. */
static AVBufferRef *cut_buffer(void *opaque, size_t bytes)
{
    struct gpume_buffers *buffers = opaque;
    uint8_t *data = NULL;
    pthread_mutex_lock(&buffers->mutex);
    if ((buffers->slabs && buffers->slabs->bytes - buffers->used >= bytes) ||
        add_slab(buffers, bytes)) {
        data = (uint8_t *)buffers->slabs->memory + buffers->used;
        buffers->used += bytes;
    }
    pthread_mutex_unlock(&buffers->mutex);
    return data ? av_buffer_create(data, bytes, leave_slab, NULL, 0) : NULL;
}

/* Rows as FFmpeg's own buffers have them; 0: the format is laid out otherwise. */
static size_t lay_out(AVCodecContext *codec, const AVFrame *frame, int rows[4], size_t planes[4])
{
    int width = frame->width, height = frame->height, aligned[AV_NUM_DATA_POINTERS];
    ptrdiff_t strides[4];
    size_t bytes = 0;
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    if (!format || format->flags & (AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_HWACCEL)) {
        return 0;
    }
    avcodec_align_dimensions2(codec, &width, &height, aligned);
    const int unit = (int)ALIGNMENT << format->log2_chroma_w;
    width = (width + unit - 1) / unit * unit;
    if (av_image_fill_linesizes(rows, frame->format, width) < 0) {
        return 0;
    }
    for (int i = 0; i < 4; i++) {
        strides[i] = rows[i];
    }
    if (av_image_fill_plane_sizes(planes, frame->format, height, strides) < 0) {
        return 0;
    }
    for (int i = 0; i < 4 && planes[i] > 0; i++) {
        if (rows[i] % (int)ALIGNMENT != 0 || (aligned[i] > 0 && rows[i] % aligned[i] != 0)) {
            return 0;
        }
        planes[i] = (planes[i] + PADDING + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        bytes += planes[i];
    }
    return bytes;
}

/* The pool for frames of this size; NULL: there is none. */
static AVBufferPool *pool_of(struct gpume_buffers *buffers, size_t bytes)
{
    pthread_mutex_lock(&buffers->mutex);
    if (!buffers->pool && bytes > 0) {
        buffers->pool = av_buffer_pool_init2(bytes, buffers, cut_buffer, destroy_buffers);
        buffers->frame_bytes = bytes;
    }
    AVBufferPool *pool = bytes == buffers->frame_bytes ? buffers->pool : NULL;
    pthread_mutex_unlock(&buffers->mutex);
    return pool;
}

int gpume_buffers_take(struct gpume_buffers *buffers, AVCodecContext *codec, AVFrame *frame)
{
    int rows[4] = {0};
    size_t planes[4] = {0};
    const size_t bytes = lay_out(codec, frame, rows, planes);
    AVBufferPool *pool = pool_of(buffers, bytes);
    if (!pool) {
        return GPUME_UNSUPPORTED;
    }
    frame->buf[0] = av_buffer_pool_get(pool);
    if (!frame->buf[0]) {
        return GPUME_NOMEM;
    }
    uint8_t *data = frame->buf[0]->data;
    for (int i = 0; i < 4 && planes[i] > 0; i++) {
        frame->data[i] = data;
        frame->linesize[i] = rows[i];
        data += planes[i];
    }
    frame->extended_data = frame->data;
    return GPUME_OK;
}

int gpume_buffers_get(
    struct gpume_buffers *buffers, AVCodecContext *codec, AVFrame *frame, int flags)
{
    const int status = gpume_buffers_take(buffers, codec, frame);
    return status == GPUME_UNSUPPORTED ? avcodec_default_get_buffer2(codec, frame, flags)
           : status == GPUME_OK        ? 0
                                       : AVERROR(ENOMEM);
}

void gpume_buffers_close(struct gpume_buffers **pointer)
{
    struct gpume_buffers *buffers = *pointer;
    if (!buffers) {
        return;
    }
    *pointer = NULL;
    if (buffers->pool) {
        av_buffer_pool_uninit(&buffers->pool);
    } else {
        destroy_buffers(buffers);
    }
}
