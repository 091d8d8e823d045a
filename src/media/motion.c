/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/motion.h"

#include "base/status.h"
#include "media/coded_picture.h"
#include "media/luma.h"

#include <stdlib.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/motion_vector.h>

#define UNITS 4 /* vectors count in quarters of a pixel */

/* H.264, 7.3.1: the bits of a NAL unit's first byte. */
#define NAL_REF_IDC 0x60
#define NAL_TYPE 0x1f
#define NAL_SLICE 1 /* of a frame that is no instantaneous refresh */
#define NAL_IDR 5

/* Frame threads are left out: the vectors of a delayed frame are read while another thread may
 * still decode it. */
void gpume_motion_request(AVCodecContext *codec)
{
    codec->export_side_data |= AV_CODEC_EXPORT_DATA_MVS;
    codec->thread_type = FF_THREAD_SLICE;
#if LIBAVCODEC_VERSION_MAJOR >= 60
    codec->flags |= AV_CODEC_FLAG_COPY_OPAQUE;
#endif
}

/* --- reference frames of H.264 */

/* The first byte of the NAL unit at or after *at, which moves behind that byte; -1: there is no
 * other. length_bytes: of the length before each unit; 0: they begin with start codes. */
static int next_unit(const AVPacket *packet, int length_bytes, int64_t *at)
{
    const uint8_t *data = packet->data, *end = data + packet->size;
    const int64_t i = *at;
    if (length_bytes == 0) {
        const uint8_t *code = gpume_start_code(data + i, end);
        *at = code + 4 - data;
        return end - code > 3 ? code[3] : -1;
    }
    int64_t length = 0;
    if (i + length_bytes >= packet->size) {
        return -1;
    }
    for (int k = 0; k < length_bytes; k++) {
        length = length << 8 | data[i + k];
    }
    *at = i + length_bytes + length; /* beyond the packet: it is the last */
    return data[i + length_bytes];
}

/* What a packet tells of whether other frames are predicted from its frame. Codecs other than H.264
 * tell nothing, but none of their B frames is a reference. */
enum use { NOT_USED, USED, USED_UNLESS_B, USES };

static enum use use_of(const AVCodecParameters *stream, const AVPacket *packet)
{
    const bool lengths = stream->extradata_size > 6 && stream->extradata[0] == 1;
    const int length_bytes = lengths ? (stream->extradata[4] & 3) + 1 : 0;
    int64_t at = 0;
    int unit;
    if (stream->codec_id != AV_CODEC_ID_H264) {
        return USED_UNLESS_B;
    }
    while ((unit = next_unit(packet, length_bytes, &at)) >= 0) {
        const int type = unit & NAL_TYPE;
        if (type >= NAL_SLICE && type <= NAL_IDR) {
            return unit & NAL_REF_IDC ? USED : NOT_USED;
        }
    }
    return USED;
}

void gpume_motion_mark(
    AVCodecContext *codec, const AVCodecParameters *stream, AVPacket *packet, uint64_t number)
{
    const int64_t mark = (int64_t)(USES * number + (uint64_t)use_of(stream, packet));
#if LIBAVCODEC_VERSION_MAJOR >= 60
    (void)codec;
    packet->opaque = (void *)(intptr_t)mark;
#else
    codec->reordered_opaque = mark;
#endif
}

/* --- vectors */

static char type_of(const AVFrame *frame)
{
    switch (frame->pict_type) {
    case AV_PICTURE_TYPE_I:
    case AV_PICTURE_TYPE_SI:
        return 'I';
    case AV_PICTURE_TYPE_P:
    case AV_PICTURE_TYPE_S: /* of MPEG-4: predicted, with motion of the whole frame */
    case AV_PICTURE_TYPE_SP:
        return 'P';
    case AV_PICTURE_TYPE_B:
        return 'B';
    default:
        return '?';
    }
}

/* The exported place is the block's centre. */
static int take_vector(const AVMotionVector *from, struct gpume_motion_vector *to)
{
    const int32_t scale = from->motion_scale;
    if (scale == 0 || UNITS * from->motion_x % scale != 0 || UNITS * from->motion_y % scale != 0) {
        return GPUME_UNSUPPORTED;
    }
    *to = (struct gpume_motion_vector){
        .x = from->dst_x - from->w / 2,
        .y = from->dst_y - from->h / 2,
        .w = from->w,
        .h = from->h,
        .dx = UNITS * from->motion_x / scale,
        .dy = UNITS * from->motion_y / scale,
        .source = from->source,
    };
    return GPUME_OK;
}

int gpume_motion_take(struct gpume_motion_taker *taker, const AVFrame *frame)
{
    const AVFrameSideData *data = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const AVMotionVector *vectors = data ? (const AVMotionVector *)(const void *)data->data : NULL;
    const size_t count = data ? data->size / sizeof(*vectors) : 0;
#if LIBAVCODEC_VERSION_MAJOR >= 60
    const int64_t mark = (intptr_t)frame->opaque;
#else
    const int64_t mark = frame->reordered_opaque;
#endif
    const enum use use = (enum use)(mark % USES);
    const char type = type_of(frame);
    struct gpume_motion *motion = &taker->motion;
    *motion = (struct gpume_motion){
        .type = type,
        .interlaced = gpume_luma_is_interlaced(frame),
        .coded = (uint64_t)mark / USES,
        .reference = use == USED || (use == USED_UNLESS_B && type != 'B'),
    };
    if (count > taker->capacity) {
        struct gpume_motion_vector *more = realloc(taker->vectors, count * sizeof(*more));
        if (!more) {
            return GPUME_NOMEM;
        }
        taker->vectors = more;
        taker->capacity = count;
    }
    for (size_t i = 0; i < count; i++) {
        GPUME_CHECK(take_vector(&vectors[i], &taker->vectors[i]));
    }
    if (count > 0) {
        motion->units = vectors->motion_scale < UNITS ? vectors->motion_scale : UNITS;
    }
    motion->count = count;
    motion->vectors = taker->vectors;
    return GPUME_OK;
}

void gpume_motion_finish(struct gpume_motion_taker *taker)
{
    free(taker->vectors);
    *taker = (struct gpume_motion_taker){0};
}
