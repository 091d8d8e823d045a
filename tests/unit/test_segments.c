/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of media/segments: which frames are alike, where a decoder can begin, the packets and
 * the frames that wait, their memory, and how many decoders there are. MPEG-2 packets are written
 * by hand.
 */
#include "base/base.h"
#include "harness.h"
#include "media/decode.h"
#include "media/luma.h"
#include "media/packets.h"
#include "media/source.h"

#include <string.h>

#include <libavcodec/avcodec.h>
#include <libavutil/frame.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

enum { WIDTH = 37, HEIGHT = 23 }; /* odd, so that chroma is rounded up */

/* Frames that are alike */

/* Visible bytes of a row and rows of a plane, from the samples that its components have there. */
static void measure(const AVFrame *frame, int plane, size_t *bytes, int *rows)
{
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    *bytes = 0;
    *rows = 0;
    for (int c = 0; c < format->nb_components; c++) {
        const AVComponentDescriptor *sample = &format->comp[c];
        const bool is_chroma = c == 1 || c == 2;
        const int across =
            is_chroma ? AV_CEIL_RSHIFT(frame->width, format->log2_chroma_w) : frame->width;
        const int down =
            is_chroma ? AV_CEIL_RSHIFT(frame->height, format->log2_chroma_h) : frame->height;
        if (sample->plane == plane) {
            const int end = (across - 1) * sample->step + sample->offset + (sample->depth + 7) / 8;
            *bytes = (size_t)end > *bytes ? (size_t)end : *bytes;
            *rows = down;
        }
    }
}

/* All bytes, also those that are not visible, are `fill` at first; then the visible ones get
 * samples, the same in every frame. */
static AVFrame *make_frame(enum AVPixelFormat format, int align, uint8_t fill)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = (int)format;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    frame->pts = 5;
    frame->colorspace = AVCOL_SPC_BT709;
    frame->color_range = AVCOL_RANGE_MPEG;
    REQUIRE(av_frame_get_buffer(frame, align) >= 0);
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++) {
        memset(frame->buf[i]->data, fill, frame->buf[i]->size);
    }
    for (int plane = 0; plane < 4 && frame->data[plane]; plane++) {
        size_t bytes;
        int rows;
        measure(frame, plane, &bytes, &rows);
        for (int y = 0; y < rows; y++) {
            for (size_t x = 0; x < bytes; x++) {
                frame->data[plane][(size_t)y * (size_t)frame->linesize[plane] + x] =
                    (uint8_t)((size_t)plane * 50 + (size_t)y * 7 + x);
            }
        }
    }
    if (format == AV_PIX_FMT_PAL8) {
        memset(frame->data[1], 9, AVPALETTE_SIZE);
    }
    return frame;
}

/* Whether the frame with one bit of this byte changed is still like the other one. */
static bool is_alike_with(const AVFrame *one, uint8_t *byte, const AVFrame *other)
{
    *byte ^= 1;
    const bool alike = gpume_frames_are_alike(one, other) || gpume_frames_are_alike(other, one);
    *byte ^= 1;
    return alike;
}

/* Every plane counts, to its last sample, and nothing beside it. */
static void check_samples(enum AVPixelFormat format)
{
    AVFrame *one = make_frame(format, 64, 1), *other = make_frame(format, 16, 2);
    REQUIRE(gpume_frames_are_alike(one, other));
    unsigned planes = 0;
    for (int plane = 0; plane < 4 && one->data[plane]; plane++) {
        size_t bytes;
        int rows;
        measure(one, plane, &bytes, &rows);
        uint8_t *last = one->data[plane] + (ptrdiff_t)(rows - 1) * one->linesize[plane];
        if (rows > 0) {
            planes++;
            REQUIRE(!is_alike_with(one, one->data[plane], other));
            REQUIRE(!is_alike_with(one, one->data[plane] + one->linesize[plane], other));
            REQUIRE(!is_alike_with(one, last, other));
            REQUIRE(!is_alike_with(one, last + bytes - 1, other));
        }
    }
    REQUIRE_EQUAL(planes, av_pix_fmt_count_planes(format));
    if (format == AV_PIX_FMT_PAL8) {
        REQUIRE(!is_alike_with(one, one->data[1], other));
        REQUIRE(!is_alike_with(one, one->data[1] + AVPALETTE_SIZE - 1, other));
    }
    av_frame_free(&one);
    av_frame_free(&other);
}

/* So do time, size, format and colours. */
static void check_properties(void)
{
    AVFrame *one = make_frame(AV_PIX_FMT_YUV420P, 64, 1);
    for (int i = 0; i < 8; i++) {
        AVFrame *other = make_frame(AV_PIX_FMT_YUV420P, 64, 1);
        other->pts += i == 1;
        other->width -= i == 2;
        other->height -= i == 3;
        other->format = i == 4 ? AV_PIX_FMT_YUVJ420P : other->format;
        other->colorspace = i == 5 ? AVCOL_SPC_BT470BG : other->colorspace;
        other->color_range = i == 6 ? AVCOL_RANGE_JPEG : other->color_range;
        gpume_luma_set_interlaced(other, i == 7, false);
        REQUIRE(gpume_frames_are_alike(one, other) == (i == 0));
        REQUIRE(gpume_frames_are_alike(other, one) == (i == 0));
        av_frame_free(&other);
    }
    av_frame_free(&one);
}

/* Where a decoder can begin */

enum kind { INTRA = 1, PREDICTED = 2, BOTH = 3 }; /* picture_coding_type of ITU-T H.262 */

struct picture {
    enum kind kind;
    int64_t time;
    int number; /* temporal_reference */
};

struct scanned {
    struct gpume_scan *scan;
    int64_t dts;
};

static const struct gpume_scan *open_scan(struct scanned *scanned, int delay)
{
    AVCodecParameters *codec = avcodec_parameters_alloc();
    codec->codec_type = AVMEDIA_TYPE_VIDEO;
    codec->codec_id = AV_CODEC_ID_MPEG2VIDEO;
    codec->video_delay = delay;
    *scanned = (struct scanned){.scan = NULL};
    REQUIRE_EQUAL(gpume_scan_open(&scanned->scan, codec), GPUME_OK);
    avcodec_parameters_free(&codec);
    return scanned->scan;
}

/* An intra picture comes with its sequence header and begins a group. */
static AVPacket *make_packet(struct scanned *scanned, const struct picture *picture)
{
    static const uint8_t heads[] = {
        0, 0, 1, 0xb3, 4, 0, 0x30, 0x13, 0xff, 0xff, 0xe0, 0x18, 0, 0, 1, 0xb8, 0, 8, 0, 0x40};
    const uint8_t head[] = {0, 0, 1, 0, (uint8_t)(picture->number >> 2),
        (uint8_t)((unsigned)picture->number << 6 | (unsigned)picture->kind << 3), 0xff, 0xf8, 0, 0,
        1, 1, 0x22, 0x33};
    const size_t before = picture->kind == INTRA ? sizeof(heads) : 0;
    AVPacket *packet = av_packet_alloc();
    REQUIRE(av_new_packet(packet, (int)(before + sizeof(head))) >= 0);
    memcpy(packet->data, heads, before);
    memcpy(packet->data + before, head, sizeof(head));
    packet->pts = picture->time;
    packet->dts = scanned->dts++;
    packet->flags = picture->kind == INTRA ? AV_PKT_FLAG_KEY : 0;
    return packet;
}

static bool take_packet(struct scanned *scanned, AVPacket *packet)
{
    const bool begins = gpume_scan_take(scanned->scan, packet);
    av_packet_free(&packet);
    return begins;
}

static bool take(struct scanned *scanned, enum kind kind, int64_t time, int number)
{
    const struct picture picture = {kind, time, number};
    return take_packet(scanned, make_packet(scanned, &picture));
}

static bool is_certain(const struct scanned *scanned)
{
    REQUIRE(gpume_scan_is_certain(scanned->scan) == (gpume_scan_doubt(scanned->scan) == NULL));
    return gpume_scan_is_certain(scanned->scan);
}

/* Groups of four pictures, I B B P in the order of presentation; the two pictures after an intra
 * picture are shown before it, but in the first group. */
static void check_beginnings(void)
{
    struct scanned scanned;
    open_scan(&scanned, 1);
    for (int64_t group = 0; group < 50; group++) {
        const int first = group > 0 ? 2 : 0;
        REQUIRE(take(&scanned, INTRA, 4 * group, first));
        if (group > 0) {
            REQUIRE(!take(&scanned, BOTH, 4 * group - 2, 0));
            REQUIRE(!take(&scanned, BOTH, 4 * group - 1, 1));
        }
        REQUIRE(!take(&scanned, PREDICTED, 4 * group + 1, first + 1));
    }
    REQUIRE(is_certain(&scanned));
    REQUIRE_EQUAL(gpume_scan_taken(scanned.scan), 50 * 4 - 2);
    /* a key frame for the container and the codec alike, and shown after all before it */
    const struct picture picture = {INTRA, 300, 2};
    AVPacket *packet = make_packet(&scanned, &picture);
    packet->flags = 0;
    REQUIRE(!take_packet(&scanned, packet));
    REQUIRE(!take(&scanned, PREDICTED, 305, 5));
    REQUIRE(!take(&scanned, PREDICTED, 304, 4) && is_certain(&scanned));
    gpume_scan_close(&scanned.scan);

    open_scan(&scanned, 1);
    REQUIRE(take(&scanned, INTRA, 0, 0));
    REQUIRE(!take(&scanned, PREDICTED, 9, 9));
    const struct picture late = {PREDICTED, 8, 8}; /* which the container calls a key frame */
    packet = make_packet(&scanned, &late);
    packet->flags = AV_PKT_FLAG_KEY;
    REQUIRE(!take_packet(&scanned, packet) && is_certain(&scanned));
    const struct picture last = {PREDICTED, 10, 10};
    packet = make_packet(&scanned, &last);
    packet->flags = AV_PKT_FLAG_KEY;
    REQUIRE(!take_packet(&scanned, packet) && is_certain(&scanned));
    gpume_scan_close(&scanned.scan);

    open_scan(&scanned, 1);
    REQUIRE(take(&scanned, INTRA, 0, 0));
    REQUIRE(!take(&scanned, PREDICTED, 9, 9));
    const struct picture early = {INTRA, 8, 8}; /* without its own group, and shown before P */
    packet = make_packet(&scanned, &early);
    packet->data[15] = 0xb2; /* user data where the group began */
    REQUIRE(!take_packet(&scanned, packet) && is_certain(&scanned));
    gpume_scan_close(&scanned.scan);
}

/* Whether all is certain up to the last of these pictures, and with it. */
static bool is_certain_with(int delay, const struct picture *pictures, size_t count)
{
    struct scanned scanned;
    open_scan(&scanned, delay);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(is_certain(&scanned));
        take_packet(&scanned, make_packet(&scanned, &pictures[i]));
    }
    const bool certain = is_certain(&scanned);
    REQUIRE_EQUAL(gpume_scan_taken(scanned.scan), certain ? count : count - 1);
    if (!certain) { /* and nothing is from then on */
        const char *doubt = gpume_scan_doubt(scanned.scan);
        REQUIRE(!take(&scanned, INTRA, 1000, 0));
        REQUIRE(gpume_scan_doubt(scanned.scan) == doubt);
    }
    gpume_scan_close(&scanned.scan);
    return certain;
}

#define CERTAIN_WITH(delay, ...)                                                                   \
    is_certain_with(delay, (const struct picture[]){__VA_ARGS__},                                  \
        sizeof((const struct picture[]){__VA_ARGS__}) / sizeof(struct picture))
#define FIRST                                                                                      \
    {                                                                                              \
        INTRA, 10, 0                                                                               \
    }

static void check_order(void)
{
    REQUIRE(CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {BOTH, 11, 1}));
    REQUIRE(
        !CERTAIN_WITH(0, FIRST, {PREDICTED, 13, 3}, {BOTH, 11, 1})); /* the decoder waits less */
    REQUIRE(CERTAIN_WITH(2, FIRST, {PREDICTED, 13, 3}, {BOTH, 12, 2}, {BOTH, 11, 1}));
    REQUIRE(!CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {BOTH, 12, 2}, {BOTH, 11, 1}));
    REQUIRE(!CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {BOTH, 13, 1}));      /* equal times */
    REQUIRE(!CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {BOTH, 12, 3}));      /* equal numbers */
    REQUIRE(!CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {BOTH, 12, 4}));      /* contradiction */
    REQUIRE(!CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {PREDICTED, 14, 2})); /* the other way */
    REQUIRE(!CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {PREDICTED, 14, 3}));
    REQUIRE(!CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {PREDICTED, 13, 4}));
    REQUIRE(!CERTAIN_WITH(1, FIRST, {BOTH, 9, 1}));  /* before the first */
    REQUIRE(!CERTAIN_WITH(1, FIRST, {BOTH, 10, 1})); /* with it */
    REQUIRE(!CERTAIN_WITH(1, {PREDICTED, 10, 0}));   /* which must be a beginning */
    REQUIRE(!CERTAIN_WITH(1, FIRST, {PREDICTED, AV_NOPTS_VALUE, 1}));
    REQUIRE(!CERTAIN_WITH(1, {INTRA, 10, 2}, {BOTH, 9, 1}));
    /* a new group comes after all of the one before it */
    REQUIRE(CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {INTRA, 14, 0}));
    REQUIRE(!CERTAIN_WITH(1, FIRST, {PREDICTED, 13, 3}, {INTRA, 12, 0}));
}

/* However long the decoder waits, a picture goes past fewer than 32 others. */
static void check_longest_wait(void)
{
    for (int others = 31; others <= 32; others++) {
        struct scanned scanned;
        open_scan(&scanned, 1000);
        take(&scanned, INTRA, 0, 0);
        for (int i = 0; i < others; i++) {
            take(&scanned, PREDICTED, 100 + i, 100 + i);
        }
        take(&scanned, BOTH, 50, 50);
        REQUIRE(is_certain(&scanned) == (others == 31));
        gpume_scan_close(&scanned.scan);
    }
}

/* A picture that is shown long after it was sent: what follows must not be shown before it, however
 * many packets later. */
static void check_long_past(void)
{
    struct scanned scanned;
    open_scan(&scanned, 1);
    take(&scanned, INTRA, 0, 0);
    take(&scanned, PREDICTED, 900, 900);
    int packets = 1;
    for (; packets < 200 && is_certain(&scanned); packets++) {
        take(&scanned, BOTH, packets, packets);
    }
    REQUIRE(packets > 50 && packets < 100);
    gpume_scan_close(&scanned.scan);
}

static void check_packets(void)
{
    static const struct picture first = {INTRA, 0, 0}, second = {PREDICTED, 1, 1};
    for (int i = 0; i < 7; i++) {
        struct scanned scanned;
        open_scan(&scanned, 1);
        take_packet(&scanned, make_packet(&scanned, &first));
        AVPacket *packet = make_packet(&scanned, &second);
        packet->dts = i == 1 ? 0 : i == 2 ? AV_NOPTS_VALUE : packet->dts; /* 0: the first one's */
        packet->flags |= i == 3 ? AV_PKT_FLAG_CORRUPT : i == 4 ? AV_PKT_FLAG_DISCARD : 0;
        if (i == 5) { /* two pictures */
            REQUIRE(av_grow_packet(packet, 14) >= 0);
            memcpy(packet->data + 14, packet->data, 14);
        } else if (i == 6) { /* none */
            packet->data[3] = 1;
        }
        take_packet(&scanned, packet);
        REQUIRE(is_certain(&scanned) == (i == 0 || i == 2));
        if (i == 2) { /* times of decoding rise past packets that have none */
            scanned.dts = 0;
            take(&scanned, PREDICTED, 2, 2);
            REQUIRE(!is_certain(&scanned));
        }
        gpume_scan_close(&scanned.scan);
    }
    AVCodecParameters *codec = avcodec_parameters_alloc();
    struct gpume_scan *scan = NULL;
    codec->codec_type = AVMEDIA_TYPE_VIDEO;
    codec->codec_id = AV_CODEC_ID_MPEG4;
    REQUIRE_EQUAL(gpume_scan_open(&scan, codec), GPUME_OK);
    REQUIRE(!scan);
    avcodec_parameters_free(&codec);
}

/* Packets and frames that wait */

static AVPacket *numbered_packet(uint64_t number)
{
    AVPacket *packet = av_packet_alloc();
    REQUIRE(av_new_packet(packet, (int)(number % 100)) >= 0);
    packet->pts = (int64_t)number;
    return packet;
}

/* However the packets come and go, those that are kept can be had, and no others take memory. */
static void check_backlog(void)
{
    struct gpume_backlog backlog = {0};
    uint64_t seed = 3, first = 0;
    for (uint64_t number = 0; number < 3000; number++) {
        AVPacket *packet = numbered_packet(number);
        REQUIRE_EQUAL(gpume_backlog_append(&backlog, packet), GPUME_OK);
        REQUIRE(!packet->data && backlog.end == number + 1);
        if (harness_random(&seed) % 50 == 0) {
            first += harness_random(&seed) % (number + 2 - first);
            gpume_backlog_drop(&backlog, first);
        }
        REQUIRE_EQUAL(backlog.first, first);
        uint64_t data = 0;
        for (uint64_t kept = first; kept <= number; kept++) {
            data += kept % 100;
        }
        REQUIRE(backlog.bytes >= data && (backlog.bytes > 0) == (first <= number));
        if (first <= number) {
            const uint64_t wanted = first + harness_random(&seed) % (number + 1 - first);
            REQUIRE_EQUAL(gpume_backlog_get(&backlog, wanted, packet), GPUME_OK);
            REQUIRE(packet->pts == (int64_t)wanted && packet->size == (int)(wanted % 100));
        }
        av_packet_free(&packet);
    }
    gpume_backlog_drop(&backlog, 1000000); /* no further than there are packets */
    REQUIRE(backlog.first == 3000 && backlog.end == 3000 && backlog.bytes == 0);
    gpume_backlog_finish(&backlog);
}

static void put(struct gpume_waiting *list, struct gpume_waiting_places *places, int64_t pts)
{
    AVFrame *frame = make_frame(AV_PIX_FMT_GRAY8, 16, 0);
    const struct gpume_damage damage = {.errors = (uint64_t)pts, .refused = 1, .frames = 2};
    frame->pts = pts;
    gpume_waiting_put(list, places, frame, &damage);
    REQUIRE(!frame->data[0]);
    av_frame_free(&frame);
}

static void require_next(
    struct gpume_waiting *list, struct gpume_waiting_places *places, int64_t pts)
{
    AVFrame *frame = av_frame_alloc();
    const struct gpume_damage damage = gpume_waiting_take(list, places, frame);
    REQUIRE(frame->pts == pts && frame->data[0]);
    REQUIRE(damage.errors == (uint64_t)pts && damage.refused == 1 && damage.frames == 2);
    av_frame_free(&frame);
}

static void check_waiting(void)
{
    struct gpume_waiting_places places = {0};
    struct gpume_waiting one = {0}, other = {0};
    REQUIRE_EQUAL(gpume_waiting_init(&places, 6), GPUME_OK);
    for (int round = 0; round < 3; round++) { /* places are used again */
        for (int64_t pts = 1; pts <= 6; pts++) {
            put(pts <= 2 ? &one : &other, &places, pts);
        }
        REQUIRE(one.count == 2 && other.count == 4 && places.free.count == 0);
        require_next(&other, &places, 3);
        gpume_waiting_join(&one, &other);
        REQUIRE(one.count == 5 && other.count == 0);
        gpume_waiting_join(&one, &other); /* nothing */
        require_next(&one, &places, 1);
        require_next(&one, &places, 2);
        require_next(&one, &places, 4);
        gpume_waiting_clear(&one, &places);
        REQUIRE(one.count == 0 && places.free.count == 6);
        put(&one, &places, 7);
        gpume_waiting_join(&other, &one); /* to an empty list */
        require_next(&other, &places, 7);
    }
    gpume_waiting_finish(&places);
}

/* Memory of frames */

static AVFrame *empty_frame(enum AVPixelFormat format, int width, int height)
{
    AVFrame *frame = av_frame_alloc();
    frame->format = (int)format;
    frame->width = width;
    frame->height = height;
    return frame;
}

/* Fills the planes as far as their rows reach. */
static void fill(const AVFrame *frame, int value)
{
    for (int plane = 0; plane < 3; plane++) {
        const int rows = plane == 0 ? frame->height : (frame->height + 1) / 2;
        memset(frame->data[plane], value + plane, (size_t)(rows * frame->linesize[plane]));
    }
}

static void require_filled(const AVFrame *frame, int value)
{
    unsigned different = 0;
    for (int plane = 0; plane < 3; plane++) {
        const int rows = plane == 0 ? frame->height : (frame->height + 1) / 2;
        for (int i = 0; i < rows * frame->linesize[plane]; i++) {
            different += frame->data[plane][i] != value + plane;
        }
    }
    REQUIRE_EQUAL(different, 0);
}

/* Frames share no byte, lie as vector code wants them, and outlive the owner. */
static void check_buffers(void)
{
    enum { COUNT = 40 }; /* more than one slab holds */
    struct gpume_buffers *buffers = NULL;
    AVCodecContext *codec = avcodec_alloc_context3(avcodec_find_decoder(AV_CODEC_ID_MPEG2VIDEO));
    AVFrame *frames[COUNT];
    codec->width = 1000;
    codec->height = 601;
    codec->pix_fmt = AV_PIX_FMT_YUV420P;
    REQUIRE(avcodec_open2(codec, codec->codec, NULL) >= 0);
    REQUIRE_EQUAL(gpume_buffers_open(&buffers), GPUME_OK);
    for (int i = 0; i < COUNT; i++) {
        frames[i] = empty_frame(AV_PIX_FMT_YUV420P, 1000, 601);
        REQUIRE_EQUAL(gpume_buffers_take(buffers, codec, frames[i]), GPUME_OK);
        for (int plane = 0; plane < 3; plane++) {
            REQUIRE(frames[i]->linesize[plane] >= (plane == 0 ? 1000 : 500));
            REQUIRE(frames[i]->linesize[plane] % 64 == 0);
            REQUIRE((uintptr_t)frames[i]->data[plane] % 64 == 0);
        }
        fill(frames[i], i);
    }
    AVFrame *other = empty_frame(AV_PIX_FMT_YUV420P, 2000, 601);
    REQUIRE_EQUAL(gpume_buffers_take(buffers, codec, other), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(gpume_buffers_get(buffers, codec, other, 0), 0); /* FFmpeg's own */
    REQUIRE(other->data[0]);
    av_frame_free(&other);
    uint8_t *freed = frames[COUNT - 1]->data[0];
    av_frame_free(&frames[COUNT - 1]);
    frames[COUNT - 1] = empty_frame(AV_PIX_FMT_YUV420P, 1000, 601);
    REQUIRE_EQUAL(gpume_buffers_take(buffers, codec, frames[COUNT - 1]), GPUME_OK);
    REQUIRE(frames[COUNT - 1]->data[0] == freed); /* memory is used again */
    fill(frames[COUNT - 1], COUNT - 1);
    gpume_buffers_close(&buffers);
    REQUIRE(!buffers);
    for (int i = 0; i < COUNT; i++) {
        require_filled(frames[i], i);
        av_frame_free(&frames[i]);
    }
    REQUIRE_EQUAL(gpume_buffers_open(&buffers), GPUME_OK);
    AVFrame *palette = empty_frame(AV_PIX_FMT_PAL8, 1000, 601);
    REQUIRE_EQUAL(gpume_buffers_take(buffers, codec, palette), GPUME_UNSUPPORTED);
    av_frame_free(&palette);
    gpume_buffers_close(&buffers);
    gpume_buffers_close(&buffers);
    avcodec_free_context(&codec);
}

/* Room for frames */

/* Segments that come first may fill more of the room, so that the earliest never waits for ever: it
 * has its own places, and the next one can always deliver what is compared. */
static void check_room(void)
{
    static struct gpume_segments_options options = {.division = {.decoders = 4}};
    static struct gpume_cutter cutter;
    cutter = (struct gpume_cutter){.options = &options, .head = 7, .last = UINT64_MAX, .room = 96};
    struct gpume_video_segment segment = {.number = 7};
    uint32_t full[5] = {0}; /* frames that wait when nothing more of this segment may */
    for (uint32_t ahead = 1; ahead < 5; ahead++) {
        segment.number = 7 + ahead;
        for (cutter.waiting = 0; gpume_cutter_has_room(&cutter, &segment); cutter.waiting++) {
        }
        full[ahead] = cutter.waiting;
    }
    REQUIRE(full[1] <= cutter.room && full[4] > 0);
    for (uint32_t ahead = 1; ahead < 4; ahead++) {
        REQUIRE(full[ahead] >= full[ahead + 1] + GPUME_SEGMENTS_OVERLAP);
    }
    segment.number = 7;
    cutter.waiting = 1000;
    REQUIRE(gpume_cutter_has_room(&cutter, &segment));
    segment.frames.count = 16;
    REQUIRE(!gpume_cutter_has_room(&cutter, &segment));
    cutter.waiting = 20; /* there is room beyond its own places */
    REQUIRE(gpume_cutter_has_room(&cutter, &segment));
    cutter.last = 7; /* alone, it needs no more than these */
    REQUIRE(!gpume_cutter_has_room(&cutter, &segment));
}

/* Packets are read ahead while memory for them lasts, and only until the next segment is known. */
static void check_reading_ahead(void)
{
    static struct gpume_segments_options options;
    static struct gpume_cutter cutter;
    cutter = (struct gpume_cutter){
        .options = &options, .packet_bytes = 1000, .taken = 1, .found = 1, .last = UINT64_MAX};
    cutter.backlog = (struct gpume_backlog){.end = 100, .bytes = 400};
    REQUIRE(gpume_cutter_read_ahead(&cutter));
    cutter.found = 2; /* a segment that is not known to its end */
    cutter.ring[1] = (struct gpume_video_segment){.number = 1, .first = 60};
    cutter.backlog.bytes = 1000;
    REQUIRE(gpume_cutter_read_ahead(&cutter));
    cutter.backlog.bytes = 1001;
    REQUIRE(!gpume_cutter_read_ahead(&cutter) && cutter.last == UINT64_MAX);
    cutter.backlog.bytes = 400;
    cutter.ring[1].closed = true;
    REQUIRE(!gpume_cutter_read_ahead(&cutter));
    cutter.ring[1].closed = false;
    cutter.reading = true;
    REQUIRE(!gpume_cutter_read_ahead(&cutter));
    cutter.reading = false;
    cutter.backlog.bytes = 2000; /* its own are 800 of the 500 that a segment may take */
    REQUIRE(!gpume_cutter_read_ahead(&cutter) && cutter.last == 0 && cutter.why != NULL);
    REQUIRE(!gpume_cutter_read_ahead(&cutter));
}

/* Where one decoder goes on alone can only come earlier. */
static void check_last(void)
{
    static struct gpume_cutter cutter;
    const char *first = "first", *second = "second", *third = "third";
    cutter = (struct gpume_cutter){.last = UINT64_MAX, .others = 2};
    pthread_cond_init(&cutter.work, NULL);
    pthread_cond_init(&cutter.frames, NULL);
    gpume_cutter_end_with(&cutter, 5, first);
    REQUIRE(cutter.last == 5 && cutter.why == first);
    gpume_cutter_end_with(&cutter, 6, second);
    REQUIRE(cutter.last == 5 && cutter.why == first);
    gpume_cutter_end_with(&cutter, 2, third);
    REQUIRE(cutter.last == 2 && cutter.why == third);
    gpume_cutter_lose_decoder(&cutter);
    REQUIRE(cutter.last == 2);
    gpume_cutter_lose_decoder(&cutter);
    REQUIRE(cutter.last == 0);
    pthread_cond_destroy(&cutter.work);
    pthread_cond_destroy(&cutter.frames);
}

/* How many decoders */

/* Frames that may be held, times their size, and the packets fit into the memory. */
static void check_plan(void)
{
    uint64_t seed = 11;
    unsigned divided = 0, reduced = 0;
    for (int i = 0; i < 2000; i++) {
        const uint32_t asked = 1 + harness_random(&seed) % 80;
        const uint64_t frame = harness_random(&seed) % 7000000;
        const uint64_t bytes = (uint64_t)harness_random(&seed) << harness_random(&seed) % 5;
        const uint32_t threads = harness_random(&seed) % 20;
        struct gpume_division division = {.decoders = asked, .bytes = bytes};
        gpume_segments_plan(&division, threads, frame);
        REQUIRE(division.decoders >= 1 && division.decoders <= asked && division.decoders <= 64);
        REQUIRE(division.bytes <= bytes);
        if (division.decoders == 1) {
            REQUIRE_EQUAL(division.bytes, 0);
            continue;
        }
        divided++;
        reduced += division.decoders < asked;
        REQUIRE(division.threads >= 1 && (threads == 0 || division.threads <= threads));
        REQUIRE(frame > 0 && division.frames >= 24 * division.decoders);
        REQUIRE((uint64_t)division.frames * frame + bytes / 8 <= division.bytes);
        /* all decoders but the first hold up to 16 references and what their threads work on */
        REQUIRE((division.frames + (division.decoders - 1) * (16 + division.threads)) * frame <
                division.bytes);
    }
    REQUIRE(divided > 500 && reduced > 100);
    struct gpume_division unknown = {.decoders = 4, .bytes = UINT64_MAX};
    gpume_segments_plan(&unknown, 0, 0);
    REQUIRE(unknown.decoders == 1 && unknown.bytes == 0);
    for (uint32_t threads = 0; threads < 20; threads++) {
        const uint32_t count = gpume_segments_decoders(threads);
        REQUIRE(count >= 1 && (threads == 0 || count <= threads));
        REQUIRE(threads == 0 || threads >= 12 || count == 1);
    }
}

int main(void)
{
    static const enum AVPixelFormat formats[] = {AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV422P10,
        AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_NV12, AV_PIX_FMT_GBRP,
        AV_PIX_FMT_RGB24, AV_PIX_FMT_PAL8};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        check_samples(formats[i]);
    }
    check_properties();
    check_beginnings();
    check_order();
    check_longest_wait();
    check_long_past();
    check_packets();
    check_backlog();
    check_waiting();
    check_buffers();
    check_room();
    check_reading_ahead();
    check_last();
    check_plan();
    return harness_verdict();
}
