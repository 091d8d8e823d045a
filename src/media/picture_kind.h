/* SPDX-License-Identifier: BSD-2-Clause */
/* The picture formats, and the writers that gpume_picture_open chooses from. */
#ifndef GPUME_MEDIA_PICTURE_KIND_H
#define GPUME_MEDIA_PICTURE_KIND_H

#include "media/picture.h"

#include <stddef.h>

enum gpume_picture_kind {
    GPUME_PICTURE_NONE,
    GPUME_PICTURE_PNG,
    GPUME_PICTURE_PGM, /* gray only */
    GPUME_PICTURE_PPM, /* colours only */
    GPUME_PICTURE_BMP,
    GPUME_PICTURE_JPG,
    GPUME_PICTURE_Y4M,
    GPUME_PICTURE_MKV,
    GPUME_PICTURE_NUT,
    GPUME_PICTURE_MP4,
};

enum gpume_picture_kind gpume_picture_kind(const char *path);

static inline bool gpume_picture_is_still(enum gpume_picture_kind kind)
{
    return kind >= GPUME_PICTURE_PNG && kind <= GPUME_PICTURE_JPG;
}

/* The head of every writer's picture. */
struct gpume_picture {
    const struct gpume_picture_writer *writer;
    struct gpume_picture_options options;
};

/* A writer for some of the formats. open gets a zeroed picture with its head filled in; close
 * follows, also after a failure, and frees what the picture refers to. All failures are logged. */
struct gpume_picture_writer {
    size_t bytes; /* of the writer's picture */
    int (*open)(struct gpume_picture *picture);
    int (*write)(struct gpume_picture *picture, const struct gpume_plane *plane, uint64_t index,
        int64_t time_us);
    int (*finish)(struct gpume_picture *picture); /* NULL: nothing to do */
    void (*close)(struct gpume_picture *picture);
};

extern const struct gpume_picture_writer gpume_picture_video;
extern const struct gpume_picture_writer gpume_picture_y4m;

#endif
