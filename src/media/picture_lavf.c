/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dispatches to the picture writers, and writes numbered stills: one encoder that stays open, and
 * one checked output per picture.
 */
#include "base/status.h"
#include "files/out.h"
#include "files/pattern.h"
#include "media/encode.h"
#include "media/picture_kind.h"

#include <stdlib.h>

#include <libavcodec/packet.h>

struct still {
    struct gpume_picture picture;
    struct gpume_encode encode;
    struct gpume_out *claim; /* on the names of numbered pictures; NULL: none */
    struct gpume_out *out;   /* a single picture; NULL: numbered pictures */
};

/* Indexed by enum gpume_picture_kind. 236 is quality 2, the best of most JPEG encoders. */
static const struct {
    const char *encoder, *settings;
    enum AVPixelFormat format, deep_format, colour_format;
} stills[] = {
    [GPUME_PICTURE_PNG] = {"png", NULL, AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_RGB24},
    [GPUME_PICTURE_PGM] = {"pgm", NULL, AV_PIX_FMT_GRAY8, AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_NONE},
    [GPUME_PICTURE_PPM] = {"ppm", NULL, AV_PIX_FMT_NONE, AV_PIX_FMT_NONE, AV_PIX_FMT_RGB24},
    [GPUME_PICTURE_BMP] = {"bmp", NULL, AV_PIX_FMT_GRAY8, AV_PIX_FMT_NONE, AV_PIX_FMT_BGR24},
    [GPUME_PICTURE_JPG] = {"mjpeg", "flags=+qscale:global_quality=236", AV_PIX_FMT_YUVJ420P,
        AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ444P}, /* thin lines need chroma at every pixel */
};

static void still_close(struct gpume_picture *picture)
{
    struct still *still = (struct still *)picture;
    gpume_out_close(&still->out);
    gpume_out_close(&still->claim);
    gpume_encode_close(&still->encode);
}

/* A single picture is completed with the run's other outputs, numbered ones one by one. */
static int open_file(struct still *still)
{
    const struct gpume_picture_options *options = &still->picture.options;
    if (gpume_pattern_kind(options->path) != GPUME_PATTERN_PLAIN) {
        return gpume_out_open_claim(&still->claim, options->set, options->path, &options->log);
    }
    char *name = gpume_pattern_name(options->path, 0); /* "%%" is a percent sign */
    const int status = name ? gpume_out_open_in(&still->out, options->set, name, &options->log)
                            : gpume_log_nomem(&options->log, options->path);
    free(name);
    return status;
}

static int still_open(struct gpume_picture *picture)
{
    struct still *still = (struct still *)picture;
    const struct gpume_picture_options *options = &picture->options;
    enum gpume_picture_kind kind = gpume_picture_kind(options->path);
    enum AVPixelFormat gray = options->bits > 8 ? stills[kind].deep_format : stills[kind].format;
    const struct gpume_encode_options encoding = {
        .label = options->path,
        .encoder = stills[kind].encoder,
        .settings = stills[kind].settings,
        .remedy = options->colour ? "choose another of .png .ppm .bmp .jpg"
                                  : "choose another of .png .pgm .bmp .jpg",
        .formats = {options->colour ? stills[kind].colour_format : gray, AV_PIX_FMT_NONE},
        .colour = options->colour,
        .width = options->width,
        .height = options->height,
        .full_range = true, /* these formats support no other range */
        .threads = 1,       /* frame threads would delay the output */
        .time_base = {1, 25},
        .rate = {25, 1},
        .log = options->log,
    };
    int status = open_file(still);
    return status ? status : gpume_encode_open(&still->encode, &encoding);
}

static int put(struct gpume_out *out, const AVPacket *packet)
{
    const int status = gpume_out_write(out, packet->data, (size_t)packet->size);
    return status == GPUME_OK ? gpume_out_finish(out) : status;
}

static int save(struct still *still, uint64_t index)
{
    int status = GPUME_OK;
    const struct gpume_picture_options *options = &still->picture.options;
    struct gpume_out *out = NULL;
    if (still->out) {
        return put(still->out, still->encode.packet);
    }
    char *name = gpume_pattern_name(options->path, index);
    if (!name) {
        return gpume_log_nomem(&options->log, options->path);
    }
    GPUME_TRY(gpume_out_open_one(&out, options->set, name, &options->log));
    GPUME_TRY(put(out, still->encode.packet));
fail:
    gpume_out_close(&out);
    free(name);
    return status;
}

static int still_write(
    struct gpume_picture *picture, const struct gpume_plane *plane, uint64_t index, int64_t time_us)
{
    (void)time_us;
    struct still *still = (struct still *)picture;
    int status = gpume_encode_send(&still->encode, plane, (int64_t)(index & INT64_MAX));
    if (status == GPUME_OK) {
        status = gpume_encode_receive(&still->encode);
    }
    return status == GPUME_OK ? save(still, index) : status;
}

static const struct gpume_picture_writer still_writer = {
    .bytes = sizeof(struct still),
    .open = still_open,
    .write = still_write,
    .close = still_close,
};

static const struct gpume_picture_writer *choose_writer(const char *path)
{
    enum gpume_picture_kind kind = gpume_picture_kind(path);
    if (gpume_picture_is_still(kind)) {
        return &still_writer;
    }
    return kind == GPUME_PICTURE_Y4M ? &gpume_picture_y4m : &gpume_picture_video;
}

int gpume_picture_open(struct gpume_picture **result, const struct gpume_picture_options *options)
{
    /* The caller has checked whether one still is enough. */
    int status = gpume_picture_check_name(
        options->path, true, options->bits, options->colour, &options->log);
    if (status != GPUME_OK) {
        return status;
    }
    const struct gpume_picture_writer *writer = choose_writer(options->path);
    struct gpume_picture *picture = calloc(1, writer->bytes);
    if (!picture) {
        return gpume_log_nomem(&options->log, options->path);
    }
    *picture = (struct gpume_picture){writer, *options};
    if (options->aspect_num == 0 || options->aspect_num == options->aspect_den) { /* not stated */
        picture->options.aspect_num = picture->options.aspect_den = 0;
    }
    status = writer->open(picture);
    if (status != GPUME_OK) {
        gpume_picture_close(&picture);
    }
    *result = picture;
    return status;
}

int gpume_picture_write(
    struct gpume_picture *picture, const struct gpume_plane *plane, uint64_t index, int64_t time_us)
{
    return picture->writer->write(picture, plane, index, time_us);
}

int gpume_picture_finish(struct gpume_picture *picture)
{
    return picture->writer->finish ? picture->writer->finish(picture) : GPUME_OK;
}

void gpume_picture_close(struct gpume_picture **picture)
{
    if (*picture) {
        (*picture)->writer->close(*picture);
        free(*picture);
        *picture = NULL;
    }
}
