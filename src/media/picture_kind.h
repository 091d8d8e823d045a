/* SPDX-License-Identifier: BSD-2-Clause */
/* The picture formats, and the writers that gpume_picture_open chooses from. */
#ifndef GPUME_MEDIA_PICTURE_KIND_H
#define GPUME_MEDIA_PICTURE_KIND_H

#include "media/picture.h"

enum gpume_picture_kind {
    GPUME_PICTURE_NONE,
    GPUME_PICTURE_PNG,
    GPUME_PICTURE_PGM, /* gray only */
    GPUME_PICTURE_PPM, /* colours only */
    GPUME_PICTURE_BMP,
    GPUME_PICTURE_JPG,
    GPUME_PICTURE_Y4M,
    GPUME_PICTURE_MKV,
    GPUME_PICTURE_MP4,
};

enum gpume_picture_kind gpume_picture_kind(const char *path);

static inline bool gpume_picture_is_still(enum gpume_picture_kind kind)
{
    return kind >= GPUME_PICTURE_PNG && kind <= GPUME_PICTURE_JPG;
}

/* A writer for some of the formats: open creates *state, which close frees (NULL is fine). All
 * failures are logged. The options stay valid and unchanged until close. */
struct gpume_picture_writer {
    int (*open)(void **state, const struct gpume_picture_options *options);
    int (*write)(void *state, const struct gpume_plane *plane, uint64_t index, int64_t time_us);
    int (*finish)(void *state);
    void (*close)(void *state);
};

extern const struct gpume_picture_writer gpume_picture_still;
extern const struct gpume_picture_writer gpume_picture_video;
extern const struct gpume_picture_writer gpume_picture_y4m;

#endif
