/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/still.h"

#include "media/encode.h"

#include <stdlib.h>

#include <libavcodec/packet.h>

struct gpume_still {
    struct gpume_encode encode;
    int64_t number; /* the encoder requires increasing times */
};

int gpume_still_open(struct gpume_still **still, const char *label, uint32_t width, uint32_t height,
    bool colour, bool lossless, const struct gpume_log *log)
{
    struct gpume_still *self = calloc(1, sizeof *self);
    if (!self) {
        return gpume_log_nomem(log, label);
    }
    const enum AVPixelFormat png = colour ? AV_PIX_FMT_RGB24 : AV_PIX_FMT_GRAY8;
    /* 472 is quality 4 of 1 (best) to 31: no visible block edges, at half the size of quality 2. */
    const struct gpume_encode_options options = {
        .label = label,
        .encoder = lossless ? "png" : "mjpeg",
        .settings = lossless ? NULL : "flags=+qscale:global_quality=472",
        .remedy = "write no HTML report, or one without pictures",
        .formats = {lossless ? png : AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_NONE},
        .width = width,
        .height = height,
        .colour = colour,
        .full_range = true,
        .threads = 1,
        .time_base = {1, 25},
        .rate = {25, 1},
        .log = *log,
    };
    const int status = gpume_encode_open(&self->encode, &options);
    if (status != GPUME_OK) {
        gpume_still_close(&self);
        return status;
    }
    *still = self;
    return GPUME_OK;
}

int gpume_still_encode(struct gpume_still *still, const struct gpume_plane *plane,
    const unsigned char **data, size_t *bytes)
{
    int status = gpume_encode_send(&still->encode, plane, still->number++);
    status = status ? status : gpume_encode_receive(&still->encode);
    if (status == GPUME_OK) {
        *data = still->encode.packet->data;
        *bytes = (size_t)still->encode.packet->size;
    }
    return status;
}

void gpume_still_close(struct gpume_still **still)
{
    if (*still) {
        gpume_encode_close(&(*still)->encode);
        free(*still);
        *still = NULL;
    }
}
