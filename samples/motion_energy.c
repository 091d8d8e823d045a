/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * motion_energy: how much moves in a video, over time, as a table.
 *
 *     motion_energy INPUT [BLOCK [WINDOW]]
 *
 * One row per frame from the second on: its time in seconds, the mean of dx^2 + dy^2 over the
 * picture's pixels (every pixel has the vector of its block), and the share of blocks that did not
 * move. A pan by 4 pixels a frame has the energy 16; a still scene has 0.
 *
 * This is the pattern for a program that decodes video itself and wants everything on one thread.
 * libav and gpume are driven in the same way, a pump with two ends, so the loops nest:
 *
 *     while libav gives a frame               avcodec_receive_frame, fed by av_read_frame
 *         while gpume's pool is empty         gpume_frame_acquire says GPUME_AGAIN
 *             take one field out              gpume_receive
 *         fill the frame, send it             gpume_send
 *     gpume_finish, then take out the rest    gpume_receive until GPUME_EOF
 *
 * Two things are worth copying from it:
 *
 * - gpume_frame_acquire hands out the memory that the engine itself reads from, so the decoder's
 *   luma is copied once, to where the GPU fetches it. (gpume_send_plane would copy it once more
 *   on the way.) Write each sample once and do not read back: the memory may be uncached.
 * - A field is received only when the pool is empty. gpume_receive waits for what is under way;
 *   calling it after every frame would be correct as well, but the engine would have one frame at
 *   a time to work on, and idle while the next one is decoded.
 *
 * Exit status: 0 done, 1 failed, 2 wrong usage.
 */
#include <gpume/gpume.h>

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libav's side: a file, one of its streams, and that stream's decoder. */
struct reader {
    AVFormatContext *format;
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame; /* the newest decoded frame */
    int stream;
};

/* gpume's side. The context is opened when the first frame tells the size. */
struct estimator {
    gpume *ctx;
    struct gpume_params params;
    enum AVPixelFormat format;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "motion_energy: %s: %s\n", what, why);
    return -1;
}

static int fail_libav(const char *what, int error)
{
    char why[AV_ERROR_MAX_STRING_SIZE] = "";
    av_strerror(error, why, sizeof why);
    return fail(what, why);
}

/* The library says what went wrong once, through the log; its callers need not repeat it. */
static void print_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "motion_energy: %s\n", line);
    }
}

static int reader_open(struct reader *reader, const char *path)
{
    int error = avformat_open_input(&reader->format, path, NULL, NULL);
    if (error >= 0) {
        error = avformat_find_stream_info(reader->format, NULL);
    }
    if (error < 0) {
        return fail_libav(path, error);
    }
    const AVCodec *decoder = NULL;
    reader->stream = av_find_best_stream(reader->format, AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
    if (reader->stream < 0) {
        return fail(path, "no video in it that this libav can decode");
    }
    const AVStream *stream = reader->format->streams[reader->stream];
    reader->codec = avcodec_alloc_context3(decoder);
    reader->packet = av_packet_alloc();
    reader->frame = av_frame_alloc();
    if (!reader->codec || !reader->packet || !reader->frame) {
        return fail(path, "out of memory");
    }
    reader->codec->pkt_timebase = stream->time_base;
    error = avcodec_parameters_to_context(reader->codec, stream->codecpar);
    if (error >= 0) {
        error = avcodec_open2(reader->codec, decoder, NULL);
    }
    return error < 0 ? fail_libav(path, error) : 0;
}

static void reader_close(struct reader *reader)
{
    av_frame_free(&reader->frame);
    av_packet_free(&reader->packet);
    avcodec_free_context(&reader->codec);
    avformat_close_input(&reader->format);
}

/* Gives the decoder its next packet, or tells it that none will come. */
static int reader_feed(struct reader *reader)
{
    int error = 0;
    do {
        av_packet_unref(reader->packet);
        error = av_read_frame(reader->format, reader->packet);
    } while (error >= 0 && reader->packet->stream_index != reader->stream);
    if (error == AVERROR_EOF) {
        return avcodec_send_packet(reader->codec, NULL);
    }
    if (error < 0) {
        return error;
    }
    error = avcodec_send_packet(reader->codec, reader->packet);
    /* A damaged packet costs its frame, not the run. */
    return error == AVERROR_INVALIDDATA ? 0 : error;
}

/* 1: reader->frame is the next frame; 0: there is none left; negative: failed. */
static int reader_next(struct reader *reader)
{
    int error = avcodec_receive_frame(reader->codec, reader->frame);
    while (error == AVERROR(EAGAIN) || error == AVERROR_INVALIDDATA) {
        if (error == AVERROR(EAGAIN)) {
            const int fed = reader_feed(reader);
            if (fed < 0) {
                return fail_libav("reading", fed);
            }
        }
        error = avcodec_receive_frame(reader->codec, reader->frame);
    }
    if (error == AVERROR_EOF) {
        return 0;
    }
    return error < 0 ? fail_libav("decoding", error) : 1;
}

static int64_t reader_time_us(const struct reader *reader)
{
    const int64_t pts = reader->frame->best_effort_timestamp;
    const AVRational unit = reader->format->streams[reader->stream]->time_base;
    const AVRational microsecond = {1, 1000000};
    return pts == AV_NOPTS_VALUE ? 0 : av_rescale_q(pts, unit, microsecond);
}

/* The depth of formats whose first plane is luma and nothing else, as gpume takes it: one byte a
 * sample or two in native order. 0: another layout; a real program would convert it. */
static uint32_t luma_bits(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *pixel = av_pix_fmt_desc_get(format);
    const uint64_t others = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                            AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT;
    if (!pixel || (pixel->flags & others)) {
        return 0;
    }
    const AVComponentDescriptor *luma = &pixel->comp[0];
    const int bytes = luma->depth > 8 ? 2 : 1;
    const uint16_t probe = 1;
    const bool little = *(const uint8_t *)&probe == 1;
    const bool swapped = bytes == 2 && little == ((pixel->flags & AV_PIX_FMT_FLAG_BE) != 0);
    const bool plain = luma->plane == 0 && luma->offset == 0 && luma->shift == 0;
    return plain && !swapped && luma->step == bytes && luma->depth >= 8 ? (uint32_t)luma->depth : 0;
}

static int estimator_open(struct estimator *estimator, const AVFrame *frame)
{
    struct gpume_params *params = &estimator->params;
    estimator->format = (enum AVPixelFormat)frame->format;
    params->width = (uint32_t)frame->width;
    params->height = (uint32_t)frame->height;
    params->bits = luma_bits(estimator->format);
    if (params->bits == 0) {
        return fail("this pixel format has no plain luma plane; convert the video",
            av_get_pix_fmt_name(estimator->format));
    }
    return gpume_open(&estimator->ctx, params) == GPUME_OK ? 0 : -1;
}

/* Copies the decoder's luma to where the engine reads it. Damaged files may hold samples beyond
 * their depth in the two-byte formats; the library wants none, so they are cut off here. */
static void fill(const struct gpume_plane *plane, const AVFrame *frame)
{
    const uint32_t peak = (1u << plane->bits) - 1;
    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *to = (uint8_t *)plane->data + (ptrdiff_t)y * plane->stride;
        const uint8_t *from = frame->data[0] + (ptrdiff_t)y * frame->linesize[0];
        if (plane->bits == 8) {
            memcpy(to, from, plane->width);
            continue;
        }
        for (uint32_t x = 0; x < plane->width; x++) {
            const uint32_t sample = ((const uint16_t *)(const void *)from)[x];
            ((uint16_t *)(void *)to)[x] = (uint16_t)(sample < peak ? sample : peak);
        }
    }
}

/* Blocks at the right and bottom edges may be cut: each counts by the pixels that show. */
static double energy(const struct gpume_field *field, const struct gpume_params *params)
{
    double sum = 0;
    for (uint32_t y = 0; y < field->blocks_y; y++) {
        const uint32_t below = params->height - y * params->block;
        const uint32_t height = below < params->block ? below : params->block;
        for (uint32_t x = 0; x < field->blocks_x; x++) {
            const uint32_t right = params->width - x * params->block;
            const uint32_t width = right < params->block ? right : params->block;
            const struct gpume_vector vector = field->vectors[y * field->blocks_x + x];
            sum += (double)(vector.dx * vector.dx + vector.dy * vector.dy) * width * height;
        }
    }
    return sum / ((double)params->width * params->height);
}

/* Takes one field out of the library, if there is one, and prints its row. */
static int receive(struct estimator *estimator)
{
    const struct gpume_field *field = NULL;
    const int status = gpume_receive(estimator->ctx, &field, 0);
    if (status == GPUME_OK) {
        const double blocks = (double)field->blocks_x * field->blocks_y;
        printf("%.6f,%.4f,%.4f\n", (double)field->time_us / 1e6, energy(field, &estimator->params),
            (double)field->sums.zero / blocks);
        gpume_field_release(&field);
    }
    return status;
}

static int estimator_send(struct estimator *estimator, const AVFrame *frame, int64_t time_us)
{
    if (!estimator->ctx && estimator_open(estimator, frame) < 0) {
        return -1;
    }
    if ((uint32_t)frame->width != estimator->params.width ||
        (uint32_t)frame->height != estimator->params.height ||
        frame->format != (int)estimator->format) {
        return fail("the video changes its size or format", "not handled by this sample");
    }
    gpume_frame *pooled = NULL;
    struct gpume_plane plane;
    int status = gpume_frame_acquire(estimator->ctx, &pooled, &plane, 0);
    while (status == GPUME_AGAIN) { /* not an error: the pool is empty until a field comes out */
        status = receive(estimator);
        if (status == GPUME_OK) {
            status = gpume_frame_acquire(estimator->ctx, &pooled, &plane, 0);
        }
    }
    if (status == GPUME_OK) {
        fill(&plane, frame);
        status = gpume_send(estimator->ctx, &pooled, time_us); /* pooled is NULL from here on */
    }
    return status == GPUME_OK ? 0 : fail("estimating", gpume_status_text(status));
}

/* The fields that are still inside, up to the end. */
static int estimator_drain(struct estimator *estimator)
{
    int status = gpume_finish(estimator->ctx);
    while (status == GPUME_OK) {
        status = receive(estimator);
    }
    return status == GPUME_EOF ? 0 : fail("estimating", gpume_status_text(status));
}

static int run(struct reader *reader, struct estimator *estimator)
{
    printf("time,energy,zero_share\n");
    int got = reader_next(reader);
    while (got > 0) {
        const int sent = estimator_send(estimator, reader->frame, reader_time_us(reader));
        got = sent < 0 ? sent : reader_next(reader);
    }
    if (got == 0 && estimator->ctx) {
        got = estimator_drain(estimator);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return fail("standard output", "cannot be written");
    }
    return got;
}

static bool parse(const char *text, uint32_t *value)
{
    char *end = NULL;
    const unsigned long number = strtoul(text, &end, 10);
    *value = (uint32_t)number;
    return end != text && *end == '\0' && number <= GPUME_WINDOW_MAX;
}

int main(int argc, char **argv)
{
    struct reader reader = {0};
    struct estimator estimator = {0};
    gpume_params_default(&estimator.params);
    estimator.params.log = print_log;
    bool usable = argc >= 2 && argc <= 4;
    if (usable && argc > 2) {
        usable = parse(argv[2], &estimator.params.block);
    }
    if (usable && argc > 3) {
        usable = parse(argv[3], &estimator.params.window_x);
        estimator.params.window_y = estimator.params.window_x;
    }
    if (!usable) {
        fprintf(stderr, "usage: motion_energy INPUT [BLOCK [WINDOW]]\n");
        return 2;
    }
    /* A header and a library of different versions would disagree about the structs. */
    if (gpume_api_version() != GPUME_API_VERSION) {
        fail("libgpume", "another version than this program was built for");
        return 1;
    }
    int result = reader_open(&reader, argv[1]);
    if (result == 0) {
        result = run(&reader, &estimator);
    }
    const int closed = gpume_close(&estimator.ctx); /* the first failure of the run, if any */
    reader_close(&reader);
    return result < 0 || closed != GPUME_OK ? 1 : 0;
}
