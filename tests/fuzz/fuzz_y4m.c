/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of large Y4M files, which also accepts small ones: header line, frames, their colours.
 * An input with an odd number of bytes is read as two stills.
 */
#include "fuzz.h"
#include "gpume/gpume.h"
#include "media/decode.h"
#include "media/source.h"

#define PIXELS_HELD ((uint64_t)1 << 20) /* larger frames are skipped */
#define FRAMES_READ 6u

/* If the size is bounded, a header's numbers fit 64 bits and are consistent. */
static void check_header(const uint8_t *data, size_t bytes)
{
    char line[1025];
    struct gpume_y4m_header header;
    const uint8_t *end = bytes > 0 ? memchr(data, '\n', bytes) : NULL;
    const size_t length = end ? (size_t)(end - data) : bytes;
    if (length >= sizeof line) {
        return;
    }
    memcpy(line, data, length);
    line[length] = '\0';
    if (!gpume_y4m_parse(line, &header)) {
        return;
    }
    FUZZ_REQUIRE(header.width >= 1 && header.width <= UINT64_C(1) << 60);
    FUZZ_REQUIRE(header.height >= 1 && header.height <= UINT64_C(1) << 60);
    FUZZ_REQUIRE(header.bits == 0 || (header.bits >= 8 && header.bits <= 16));
    FUZZ_REQUIRE(header.rate.num > 0 && header.rate.den > 0);
    (void)gpume_y4m_is_large(&header);
}

static void read_frames(struct gpume_source *source, const struct gpume_source_info *info)
{
    const bool held = (uint64_t)info->width * info->height <= PIXELS_HELD;
    struct gpume_plane plane = {.width = info->width, .height = info->height, .bits = info->bits};
    plane.stride = (ptrdiff_t)info->width * (info->bits > 8 ? 2 : 1);
    plane.data = held ? malloc((size_t)plane.stride * info->height) : NULL;
    for (uint64_t i = 0; i < FRAMES_READ; i++) {
        int64_t time_us = -1;
        struct gpume_plane rgb;
        const int status = gpume_source_read(source, plane.data ? &plane : NULL, &time_us);
        if (status != GPUME_OK) {
            FUZZ_REQUIRE(status == GPUME_EOF || status == GPUME_FORMAT); /* FORMAT: two stills */
            break;
        }
        if (plane.data && gpume_source_take_colour(source, i, &rgb) == GPUME_OK) {
            FUZZ_REQUIRE(rgb.width == info->width && rgb.height == info->height);
        }
    }
    free(plane.data);
}

int FUZZ_TARGET(const uint8_t *data, size_t bytes)
{
    struct gpume_source *source = NULL;
    struct gpume_source_info info;
    const char *path = fuzz_file(data, bytes);
    const struct gpume_source_options options = {
        .paths = {path, path},
        .path_count = 1 + bytes % 2,
        .stream = -1,
        .decoder = &gpume_decode_y4m,
        .colour = true,
    };
    check_header(data, bytes);
    (void)gpume_decode_y4m_needs(path);
    const int status = gpume_source_open(&source, &options, &info);
    if (status == GPUME_OK) {
        FUZZ_REQUIRE(info.width >= 1 && info.height >= 1 && info.bits >= 8 && info.bits <= 16);
        read_frames(source, &info);
        gpume_source_close(&source);
    } else {
        FUZZ_ALWAYS(!source);
    }
    return 0;
}
