/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of large Y4M files, which also accepts small ones: header line, frames, a frame read
 * again. An input with an odd number of bytes is read as two stills.
 */
#include "fuzz.h"
#include "gpume/gpume.h"
#include "media/source_y4m.h"

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
    FUZZ_REQUIRE(header.width >= 1 && header.width <= UINT64_C(1) << 32);
    FUZZ_REQUIRE(header.height >= 1 && header.height <= UINT64_C(1) << 32);
    FUZZ_REQUIRE(header.bits == 0 || (header.bits >= 8 && header.bits <= 16));
    FUZZ_REQUIRE(header.rate_num > 0 && header.rate_den > 0);
    (void)gpume_y4m_is_large(&header);
    if (header.width * (header.height >> 8) < UINT64_C(1) << 32) {
        FUZZ_REQUIRE(gpume_y4m_frame_bytes(&header) >= gpume_y4m_luma_bytes(&header));
        FUZZ_REQUIRE(gpume_y4m_luma_bytes(&header) >= header.width * header.height);
    }
}

static void read_frames(struct gpume_source_y4m *source, const struct gpume_source_info *info)
{
    const bool held = (uint64_t)info->width * info->height <= PIXELS_HELD;
    struct gpume_plane plane = {.width = info->width, .height = info->height, .bits = info->bits};
    plane.stride = (ptrdiff_t)info->width * (info->bits > 8 ? 2 : 1);
    plane.data = held ? malloc((size_t)plane.stride * info->height) : NULL;
    for (uint64_t i = 0; i < FRAMES_READ; i++) {
        int64_t time_us = -1;
        const int status = gpume_source_y4m_read(source, plane.data ? &plane : NULL, &time_us);
        if (status != GPUME_OK) {
            FUZZ_REQUIRE(status == GPUME_EOF);
            break;
        }
        const uint64_t frame_bytes = gpume_y4m_frame_bytes(gpume_source_y4m_header(source, i));
        uint8_t *whole = frame_bytes <= 8 * PIXELS_HELD ? malloc(frame_bytes) : NULL;
        if (whole && plane.data) {
            FUZZ_REQUIRE(gpume_source_y4m_load(source, i, gpume_source_y4m_place(source), whole) ==
                         GPUME_OK);
            FUZZ_REQUIRE(plane.bits > 8 ||
                         memcmp(whole, plane.data, (size_t)plane.stride * info->height) == 0);
        }
        free(whole);
    }
    free(plane.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct gpume_source_y4m *source = NULL;
    struct gpume_source_info info;
    atomic_bool cancel = false;
    const char *path = fuzz_file(data, bytes);
    const struct gpume_source_options options = {
        .paths = {path, path},
        .path_count = 1 + bytes % 2,
        .stream = -1,
    };
    check_header(data, bytes);
    (void)gpume_source_y4m_wants(&options);
    const int status = gpume_source_y4m_open(&source, &options, &cancel, &info);
    if (status == GPUME_OK) {
        FUZZ_REQUIRE(info.width >= 1 && info.height >= 1 && info.bits >= 8 && info.bits <= 16);
        read_frames(source, &info);
        gpume_source_y4m_close(&source);
    } else {
        FUZZ_REQUIRE(!source);
    }
    return 0;
}
