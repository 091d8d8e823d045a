/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * media: the reader reads back exactly what the picture writers wrote, at every depth; names; order
 * and scaling of two stills; filters; refusals in one line; Y4M read without FFmpeg, both small and
 * too large for FFmpeg. Works in its own folder below the current one.
 */
#include "files/out.h"
#include "files/path.h"
#include "harness.h"
#include "logged.h"
#include "media/decode.h"
#include "media/picture.h"
#include "media/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 37, HEIGHT = 23, FRAMES = 4 }; /* odd, to exercise rounding up */

static struct gpume_out_set outputs = {.overwrite = true};
static uint16_t storage[WIDTH * HEIGHT], readback[WIDTH * HEIGHT];

static struct gpume_plane plane_over(void *data, uint32_t bits)
{
    return (struct gpume_plane){
        .data = data,
        .stride = WIDTH * (bits > 8 ? 2 : 1),
        .width = WIDTH,
        .height = HEIGHT,
        .bits = bits,
    };
}

/* The same frame and depth always give the same picture. */
static void draw(uint32_t frame, uint32_t bits)
{
    uint64_t seed = 1 + frame * 977u + bits;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
        uint32_t value = harness_random(&seed) & ((1u << bits) - 1);
        if (bits > 8) {
            storage[i] = (uint16_t)value;
        } else {
            ((uint8_t *)storage)[i] = (uint8_t)value;
        }
    }
}

static const struct gpume_source_info rate_of_25 = {.rate_num = 25, .rate_den = 1};

static int write_all(const char *path, uint32_t bits, uint32_t count)
{
    const struct gpume_picture_options options = {
        .path = path,
        .width = WIDTH,
        .height = HEIGHT,
        .bits = bits,
        .video = &rate_of_25,
        .set = &outputs,
        .log = counting_log,
    };
    struct gpume_picture *picture = NULL;
    gpume_inputs_forget(); /* a run that writes what another has read */
    int status = gpume_picture_open(&picture, &options);
    for (uint32_t i = 0; i < count && status == GPUME_OK; i++) {
        draw(i, bits);
        const struct gpume_plane plane = plane_over(storage, bits);
        status = gpume_picture_write(picture, &plane, 7 + i, (int64_t)i * 40000);
    }
    if (status == GPUME_OK) {
        status = gpume_picture_finish(picture);
    }
    gpume_picture_close(&picture);
    return status;
}

static int open_source(struct gpume_source **source, const char *path, const char *second,
    const char *filter, struct gpume_source_info *info)
{
    const struct gpume_source_options options = {
        .paths = {path, second},
        .path_count = second ? 2 : 1,
        .filter = filter,
        .stream = -1,
        .threads = 2,
        .log = counting_log,
    };
    return gpume_source_open(source, &options, info);
}

/* Reads the file back: the same values, times 40 ms apart, exactly `frames` frames. */
static void read_all(const char *path, uint32_t bits, uint32_t count, uint32_t file_bits)
{
    struct gpume_source *source = NULL;
    struct gpume_source_info info = {0};
    REQUIRE_EQUAL(open_source(&source, path, NULL, NULL, &info), GPUME_OK);
    if (!source) {
        return;
    }
    REQUIRE_EQUAL(info.width, WIDTH);
    REQUIRE_EQUAL(info.height, HEIGHT);
    REQUIRE_EQUAL(info.bits, file_bits);
    const struct gpume_plane plane = plane_over(readback, info.bits);
    int64_t time_us = 0, first_us = 0;
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
        first_us = i == 0 ? time_us : first_us;
        REQUIRE_EQUAL(time_us - first_us, (int64_t)i * 40000);
        draw(i, bits);
        REQUIRE(memcmp(storage, readback, WIDTH * HEIGHT * (bits > 8 ? 2u : 1u)) == 0);
    }
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_EOF);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_EOF);
    gpume_source_close(&source);
}

static bool is_drawn(const struct gpume_plane *plane)
{
    const size_t row_bytes = WIDTH * (plane->bits > 8 ? 2u : 1u);
    bool same = true;
    for (size_t y = 0; y < HEIGHT; y++) {
        const char *row = (const char *)plane->data + (ptrdiff_t)y * plane->stride;
        same = same && memcmp((const char *)storage + y * row_bytes, row, row_bytes) == 0;
    }
    return same;
}

/* The same by views: 8 bits are read where the decoder has put them, upside down if so filtered. */
static void view_all(const char *path, uint32_t bits, uint32_t count, const char *filter)
{
    struct gpume_source *source = NULL;
    struct gpume_source_info info = {0};
    struct gpume_luma_view view = {.frame = NULL};
    int64_t time_us = 0;
    REQUIRE_EQUAL(open_source(&source, path, NULL, filter, &info), GPUME_OK);
    REQUIRE(gpume_luma_view_open(&view, &info));
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE_EQUAL(gpume_source_view(source, &view, &time_us), GPUME_OK);
        draw(i, bits);
        REQUIRE(is_drawn(&view.plane));
        REQUIRE_EQUAL(view.plane.data != view.memory.data, bits == 8);
    }
    REQUIRE_EQUAL(gpume_source_view(source, &view, &time_us), GPUME_EOF);
    gpume_source_close(&source);
    REQUIRE(is_drawn(&view.plane)); /* outlives the source */
    gpume_luma_view_close(&view);
}

static void test_round_trips(void)
{
    static const uint32_t depths[] = {8, 9, 10, 12, 14, 16};
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        uint32_t bits = depths[i];
        uint32_t named = bits == 14 ? 16 : bits; /* Y4M has no name for 14 bits */
        REQUIRE_EQUAL(write_all("v.y4m", bits, FRAMES), GPUME_OK);
        read_all("v.y4m", bits, FRAMES, named);
        view_all("v.y4m", bits, FRAMES, NULL);
        view_all("v.y4m", bits, FRAMES, "vflip,vflip");
        uint32_t still_bits = bits > 8 ? 16 : 8;
        REQUIRE_EQUAL(write_all("s%02d.png", bits, FRAMES), GPUME_OK);
        read_all("s%02d.png", bits, FRAMES, still_bits);
        REQUIRE_EQUAL(write_all("s%02d.pgm", bits, FRAMES), GPUME_OK);
        read_all("s%02d.pgm", bits, FRAMES, still_bits);
    }
    REQUIRE_EQUAL(write_all("v.mkv", 8, FRAMES), GPUME_OK);
    read_all("v.mkv", 8, FRAMES, 8);
    REQUIRE_EQUAL(write_all("v.mkv", 16, FRAMES), GPUME_OK);
    read_all("v.mkv", 16, FRAMES, 16);
    REQUIRE_EQUAL(write_all("s%02d.bmp", 10, 1), GPUME_INVALID);
    REQUIRE_EQUAL(logged.errors, 1);
}

static void test_names(void)
{
    static const struct {
        const char *path;
        bool single;
        int status;
    } cases[] = {
        {"a%d.png", false, GPUME_OK},
        {"a%04d.PGM", false, GPUME_OK},
        {"100%%%d.jpg", false, GPUME_OK},
        {"a.png", true, GPUME_OK},
        {"a.mkv", false, GPUME_OK},
        {"a.png", false, GPUME_INVALID},
        {"a%d%d.png", true, GPUME_INVALID},
        {"a%4d.png", false, GPUME_INVALID},
        {"a%s.png", true, GPUME_INVALID},
        {"f%d/a.png", true, GPUME_INVALID},
        {"a%d.mp4", false, GPUME_INVALID},
        {"a.tif", true, GPUME_INVALID},
        {"a", true, GPUME_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        logged.errors = 0;
        REQUIRE_EQUAL(
            gpume_picture_check_name(cases[i].path, cases[i].single, 0, false, &counting_log),
            cases[i].status);
        REQUIRE_EQUAL(logged.errors, cases[i].status != GPUME_OK);
    }
    REQUIRE(gpume_text_exists("s%02d.png", true) && gpume_text_exists("v.y4m", false));
    REQUIRE(!gpume_text_exists("t%02d.png", true) && !gpume_text_exists("s%03d.png", true));
    REQUIRE(!gpume_text_exists("w.y4m", false));
}

static void test_stills_and_filter(void)
{
    struct gpume_source *source = NULL;
    struct gpume_source_info info = {0};
    struct gpume_source_counts counts;
    int64_t time_us = -1;
    REQUIRE_EQUAL(write_all("s%02d.png", 16, 2), GPUME_OK);
    REQUIRE_EQUAL(write_all("t%d.png", 8, 2), GPUME_OK);
    logged.warnings = 0;
    REQUIRE_EQUAL(open_source(&source, "t8.png", "s07.png", NULL, &info), GPUME_OK);
    const struct gpume_plane plane = plane_over(readback, 8);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
    draw(1, 8);
    REQUIRE(memcmp(storage, readback, WIDTH * HEIGHT) == 0);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
    REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_EOF);
    gpume_source_get_counts(source, &counts);
    REQUIRE_EQUAL(counts.scaled, 1);
    REQUIRE_EQUAL(logged.warnings, 1);
    gpume_source_close(&source);
    REQUIRE_EQUAL(open_source(&source, "v.y4m", NULL, "crop=16:8:0:0,trim=end_frame=2", &info), 0);
    REQUIRE(info.width == 16 && info.height == 8);
    REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_OK);
    REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_OK);
    REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_EOF);
    gpume_source_close(&source);
    REQUIRE_EQUAL(open_source(&source, "v.y4m", NULL, NULL, &info), GPUME_OK);
    gpume_source_cancel(source);
    REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_CANCELLED);
    gpume_source_close(&source);
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    REQUIRE(file != NULL);
    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

static void test_refusals(void)
{
    static const struct {
        const char *path, *second, *filter;
        int status;
    } cases[] = {
        {"none.mp4", NULL, NULL, GPUME_IO},
        {"none:x.mp4", NULL, NULL, GPUME_IO},
        {".", NULL, NULL, GPUME_IO},
        {"z%d.png", NULL, NULL, GPUME_IO},
        {"empty.mp4", NULL, NULL, GPUME_FORMAT},
        {"text.txt", NULL, NULL, GPUME_FORMAT},
        {"t8.png", "none.png", NULL, GPUME_IO},
        {"v.y4m", NULL, "nosuchfilter", GPUME_INVALID},
        {"v.y4m", NULL, "crop=999", GPUME_INVALID},
        {"v.y4m", NULL, "select=0", GPUME_FORMAT},
    };
    put("empty.mp4", "");
    put("text.txt", "some text\nand more\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gpume_source *source = NULL;
        struct gpume_source_info info;
        logged.errors = 0;
        REQUIRE_EQUAL(open_source(&source, cases[i].path, cases[i].second, cases[i].filter, &info),
            cases[i].status);
        REQUIRE_EQUAL(logged.errors, 1);
        REQUIRE(source == NULL);
    }
}

/* --- Y4M without FFmpeg */

static int open_y4m(struct gpume_source **source, const char *path, const char *second,
    const char *filter, struct gpume_source_info *info)
{
    const struct gpume_source_options options = {
        .paths = {path, second},
        .path_count = second ? 2 : 1,
        .filter = filter,
        .stream = -1,
        .decoder = &gpume_decode_y4m,
        .log = counting_log,
    };
    *source = NULL;
    logged.errors = 0;
    logged.warnings = 0;
    return gpume_source_open(source, &options, info);
}

/* A sample that depends on frame and position; in deep formats every third one exceeds the peak. */
static unsigned y4m_sample(uint32_t frame, size_t i, uint32_t bits)
{
    unsigned value = (unsigned)(frame * 4099u + i * 257u + (i >> 3));
    unsigned peak = (1u << bits) - 1;
    return bits > 8 && i % 3 == 0 ? value & 0xffff : value & peak;
}

/* Writes the header, then frames of luma and the given number of chroma bytes, all 'F'. */
static void put_y4m(const char *name, const char *header, uint32_t bits, size_t chroma)
{
    static const char *const lines[] = {"FRAME\n", "FRAME Ixyz XCOMMENT\n", "FRAME \n"};
    FILE *file = fopen(name, "wb");
    REQUIRE(file != NULL);
    if (!file) {
        return;
    }
    fputs(header, file);
    for (uint32_t frame = 0; frame < 3; frame++) {
        fputs(lines[frame], file);
        for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
            unsigned value = y4m_sample(frame, i, bits);
            putc((int)(value & 0xff), file);
            if (bits > 8) {
                putc((int)(value >> 8), file);
            }
        }
        for (size_t i = 0; i < chroma; i++) {
            putc('F', file);
        }
    }
    fclose(file);
}

static bool holds(const void *data, ptrdiff_t stride, uint32_t frame, uint32_t bits)
{
    const unsigned peak = (1u << bits) - 1;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++) {
        const uint8_t *row = (const uint8_t *)data + (ptrdiff_t)(i / WIDTH) * stride;
        unsigned want = y4m_sample(frame, i, bits);
        unsigned is = bits > 8 ? ((const uint16_t *)(const void *)row)[i % WIDTH] : row[i % WIDTH];
        if (is != (want < peak ? want : peak)) {
            return false;
        }
    }
    return true;
}

/* Three frames: into a dense plane, dropped, into a plane with gaps; times of 30000/1001. */
static void check_y4m(const char *path, const char *space, uint32_t bits)
{
    static uint16_t wide[(WIDTH + 5) * HEIGHT];
    struct gpume_source *source = NULL;
    struct gpume_source_info info = {0};
    struct gpume_source_counts counts;
    int64_t time_us = -1;
    int status = open_y4m(&source, path, NULL, NULL, &info);
    REQUIRE_EQUAL(status, GPUME_OK);
    if (status != GPUME_OK) {
        fprintf(stderr, "  with C%s\n", space);
        return;
    }
    REQUIRE(info.width == WIDTH && info.height == HEIGHT && info.bits == bits);
    REQUIRE(info.rate_num == 30000 && info.rate_den == 1001 && info.frames == 3);
    REQUIRE(strcmp(info.codec, "rawvideo") == 0);
    struct gpume_plane plane = plane_over(readback, bits);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
    REQUIRE_EQUAL(time_us, 0);
    REQUIRE(holds(plane.data, plane.stride, 0, bits));
    REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_OK);
    REQUIRE_EQUAL(time_us, 33367);
    memset(wide, 0x5a, sizeof wide);
    plane.data = wide;
    plane.stride = (WIDTH + 5) * (bits > 8 ? 2 : 1);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
    REQUIRE_EQUAL(time_us, 66733);
    REQUIRE(holds(plane.data, plane.stride, 2, bits));
    REQUIRE(((const uint8_t *)wide)[plane.stride - 1] == 0x5a);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_EOF);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_EOF);
    gpume_source_get_counts(source, &counts);
    REQUIRE(
        counts.delivered == 3 && counts.refused == 0 && logged.warnings == 0 && logged.errors == 0);
    gpume_source_close(&source);
}

/* FFmpeg reports the same depth, pixel format, range and rate, and returns the same samples. */
static void compare_y4m(const char *path)
{
    struct gpume_source *own = NULL;
    struct gpume_source *lavf = NULL;
    struct gpume_source_info a = {0}, b = {0};
    int64_t own_us = -1, lavf_us = -2;
    REQUIRE_EQUAL(open_y4m(&own, path, NULL, NULL, &a), GPUME_OK);
    REQUIRE_EQUAL(open_source(&lavf, path, NULL, NULL, &b), GPUME_OK);
    if (own && lavf) {
        REQUIRE(a.bits == b.bits && a.full_range == b.full_range);
        REQUIRE(a.rate_num == b.rate_num && a.rate_den == b.rate_den);
        REQUIRE(strcmp(a.pixel_format, b.pixel_format) == 0 && strcmp(a.codec, b.codec) == 0);
        const struct gpume_plane from = plane_over(readback, a.bits);
        const struct gpume_plane to = plane_over(storage, b.bits);
        for (uint32_t i = 0; i < 3; i++) {
            REQUIRE_EQUAL(gpume_source_read(own, &from, &own_us), GPUME_OK);
            REQUIRE_EQUAL(gpume_source_read(lavf, &to, &lavf_us), GPUME_OK);
            REQUIRE_EQUAL(own_us, lavf_us);
            REQUIRE(memcmp(storage, readback, WIDTH * HEIGHT * (a.bits > 8 ? 2u : 1u)) == 0);
        }
    }
    gpume_source_close(&own);
    gpume_source_close(&lavf);
}

static void test_y4m_spaces(void)
{
    enum { HALF = (WIDTH + 1) / 2, QUARTER = (WIDTH + 3) / 4, LOW = (HEIGHT + 1) / 2 };
    static const struct {
        const char *space;
        uint32_t bits;
        size_t chroma; /* samples */
        bool lavf;     /* FFmpeg 5.1 supports it, too */
    } cases[] = {
        {" Cmono", 8, 0, true},
        {" Cmono XCOLORRANGE=LIMITED", 8, 0, true},
        {" Cmono9", 9, 0, true},
        {" Cmono10", 10, 0, true},
        {" Cmono12", 12, 0, true},
        {" Cmono14", 14, 0, false},
        {" Cmono16", 16, 0, true},
        {"", 8, 2 * HALF * LOW, true},
        {" C420", 8, 2 * HALF * LOW, true},
        {" C420jpeg XCOLORRANGE=FULL", 8, 2 * HALF * LOW, true},
        {" C420mpeg2", 8, 2 * HALF * LOW, true},
        {" C420paldv", 8, 2 * HALF * LOW, true},
        {" C420p10 XYSCSS=420P10", 10, 2 * HALF * LOW, true},
        {" C420p16", 16, 2 * HALF * LOW, true},
        {" C422", 8, 2 * HALF * HEIGHT, true},
        {" C422p12", 12, 2 * HALF * HEIGHT, true},
        {" C444", 8, 2 * WIDTH * HEIGHT, true},
        {" C444p9", 9, 2 * WIDTH * HEIGHT, true},
        {" C444p14", 14, 2 * WIDTH * HEIGHT, true},
        {" C444alpha", 8, 3 * WIDTH * HEIGHT, true},
        {" C411", 8, 2 * QUARTER * HEIGHT, true},
        {" XYSCSS=444", 8, 2 * WIDTH * HEIGHT, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char header[128];
        snprintf(header, sizeof header, "YUV4MPEG2 W%d H%d F60000:2002 Ip A1:1%s\n", WIDTH, HEIGHT,
            cases[i].space);
        put_y4m("own.y4m", header, cases[i].bits, cases[i].chroma * (cases[i].bits > 8 ? 2 : 1));
        check_y4m("own.y4m", cases[i].space, cases[i].bits);
        if (cases[i].lavf) {
            compare_y4m("own.y4m");
        }
    }
}

/* FFmpeg returns the same from a file that is cut in its third frame. */
static void compare_damage(const char *path)
{
    struct gpume_source *lavf = NULL;
    struct gpume_source_info info;
    struct gpume_source_counts counts;
    int64_t time_us = 0;
    logged.warnings = logged.errors = 0;
    REQUIRE_EQUAL(open_source(&lavf, path, NULL, NULL, &info), GPUME_OK);
    for (uint32_t i = 0; lavf && i < 4; i++) {
        REQUIRE_EQUAL(gpume_source_read(lavf, NULL, &time_us), i < 2 ? GPUME_OK : GPUME_EOF);
    }
    if (lavf) {
        gpume_source_get_counts(lavf, &counts);
        REQUIRE(counts.delivered == 2 && counts.refused == 1 && logged.warnings == 1 &&
                logged.errors == 0);
    }
    gpume_source_close(&lavf);
}

/* The file ends within its last frame: in luma, in chroma, in the FRAME line, or in junk. */
static void test_y4m_damage(void)
{
    static const int cut[] = {1, 300, 1200, 1283, 1285};
    enum { FRAME_BYTES = WIDTH * HEIGHT + 2 * ((WIDTH + 1) / 2) * ((HEIGHT + 1) / 2) };
    struct gpume_source_info info;
    struct gpume_source_counts counts;
    for (size_t i = 0; i <= sizeof cut / sizeof cut[0]; i++) {
        struct gpume_source *source = NULL;
        int64_t time_us = 0;
        put_y4m("own.y4m", "YUV4MPEG2 W37 H23 C420\n", 8, FRAME_BYTES - WIDTH * HEIGHT);
        FILE *file = fopen("own.y4m", "r+b");
        REQUIRE(file != NULL && fseek(file, 0, SEEK_END) == 0);
        long end = file ? ftell(file) : 0;
        if (file && i == sizeof cut / sizeof cut[0]) {
            REQUIRE(fseek(file, -FRAME_BYTES - 7, SEEK_END) == 0 && fputs("FRAMED ", file) >= 0);
        }
        if (file) {
            fclose(file);
        }
        if (i < sizeof cut / sizeof cut[0]) {
            REQUIRE(truncate("own.y4m", end - cut[i]) == 0);
        }
        REQUIRE_EQUAL(open_y4m(&source, "own.y4m", NULL, NULL, &info), GPUME_OK);
        REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_OK);
        REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_OK);
        REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_EOF);
        REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_EOF);
        gpume_source_get_counts(source, &counts);
        REQUIRE(counts.delivered == 2 && counts.refused == 1 && logged.warnings == 1 &&
                logged.errors == 0);
        REQUIRE_EQUAL(time_us, 40000);
        gpume_source_close(&source);
        if (i < sizeof cut / sizeof cut[0]) { /* FFmpeg accepts FRAMED for FRAME */
            compare_damage("own.y4m");
        }
    }
}

static void test_y4m_headers(void)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"", GPUME_FORMAT},
        {"YUV4MPEG2", GPUME_FORMAT},
        {"YUV4MPEG2 W37 H23 Cmono", GPUME_FORMAT},
        {"YUV4MPEG W37 H23\nFRAME\n", GPUME_FORMAT},
        {"YUV4MPEG2 W37\nFRAME\n", GPUME_FORMAT},
        {"YUV4MPEG2 W0 H23\nFRAME\n", GPUME_FORMAT},
        {"YUV4MPEG2 W-3 H23\nFRAME\n", GPUME_FORMAT},
        {"YUV4MPEG2 W3x H23\nFRAME\n", GPUME_FORMAT},
        {"YUV4MPEG2 W2 H1 Cmono8\nFRAME\nab", GPUME_FORMAT},
        {"YUV4MPEG2 W2 H1 Cmono11\nFRAME\nabcd", GPUME_FORMAT},
        {"YUV4MPEG2 W2 H1 C420p\nFRAME\nabcd", GPUME_FORMAT},
        {"YUV4MPEG2 W2 H1 C\nFRAME\nabcd", GPUME_FORMAT},
        {"YUV4MPEG2 W2 H1 Cmono\n", GPUME_FORMAT},
        {"YUV4MPEG2 W2 H1 Cmono\nFRAME", GPUME_FORMAT},
        {"YUV4MPEG2 W2 H1 Cmono\nFRAME\na", GPUME_FORMAT},
        {"YUV4MPEG2 W2 H1 Cmono\nframe\nab", GPUME_FORMAT},
        {"YUV4MPEG2 W2 H1 Cmono\nFRA\nab", GPUME_FORMAT},
        {"YUV4MPEG2 W23171 H23171 Cmono\nFRAME\n", GPUME_UNSUPPORTED},
        {"YUV4MPEG2 W4294967297 H1 Cmono\nFRAME\n", GPUME_UNSUPPORTED},
        {"YUV4MPEG2 W99999999999999999999 H99999999999999999999\n", GPUME_UNSUPPORTED},
        {"YUV4MPEG2 W20000 H20000 Cmono16\nFRAME\n", GPUME_FORMAT},
        {"YUV4MPEG2  W2  H1 F0:0 Im A128:117 Cmono  Xanything\nFRAME\nab", GPUME_OK},
        {"YUV4MPEG2 W2 H1 F25 Cmono\nFRAME\nab", GPUME_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gpume_source *source = NULL;
        struct gpume_source_info info = {0};
        put("own.y4m", cases[i].text);
        int status = open_y4m(&source, "own.y4m", NULL, NULL, &info);
        REQUIRE_EQUAL(status, cases[i].status);
        REQUIRE_EQUAL(logged.errors, status != GPUME_OK);
        REQUIRE(status != GPUME_OK || (info.rate_num == 25 && info.rate_den == 1));
        gpume_source_close(&source);
    }
    struct gpume_source *source = NULL;
    struct gpume_source_info info;
    REQUIRE_EQUAL(open_y4m(&source, ".", NULL, NULL, &info), GPUME_IO);
    REQUIRE_EQUAL(open_y4m(&source, "none.y4m", NULL, NULL, &info), GPUME_IO);
    static const struct {
        uint64_t width, height;
        bool large;
    } sizes[] = {{16255, 16255, false}, {16256, 16256, true}, {16384, 16384, true}, {1, 1, false},
        {1, 2080768, true}, {1, 2080767, false}, {UINT64_C(1) << 32, 1, true}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const struct gpume_y4m_header header = {.width = sizes[i].width, .height = sizes[i].height};
        REQUIRE_EQUAL(gpume_y4m_is_large(&header), sizes[i].large);
    }
}

static void test_y4m_stills(void)
{
    struct gpume_source *source = NULL;
    struct gpume_source_info info = {0};
    int64_t time_us = -1;
    put("own.y4m", "YUV4MPEG2 W2 H2 Cmono F50:1\nFRAME\nabcdFRAME\nefgh");
    put("two.y4m", "YUV4MPEG2 W2 H2 C420\nFRAME\nijkluvFRAME\n");
    REQUIRE_EQUAL(open_y4m(&source, "own.y4m", "two.y4m", NULL, &info), GPUME_INVALID);
    REQUIRE_EQUAL(open_y4m(&source, "two.y4m", "own.y4m", NULL, &info), GPUME_INVALID);
    put("own.y4m", "YUV4MPEG2 W2 H2 Cmono F50:1\nFRAME\nabcd");
    REQUIRE_EQUAL(open_y4m(&source, "own.y4m", "two.y4m", NULL, &info), GPUME_OK);
    REQUIRE(info.rate_num == 25 && info.frames == 2);
    char luma[4];
    const struct gpume_plane plane = {luma, 2, 2, 2, 8};
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
    REQUIRE(memcmp(luma, "abcd", 4) == 0 && time_us == 0);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
    REQUIRE(memcmp(luma, "ijkl", 4) == 0 && time_us == 40000);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_EOF);
    REQUIRE_EQUAL(logged.warnings, 0);
    gpume_source_close(&source);
    put("two.y4m", "YUV4MPEG2 W2 H1 Cmono\nFRAME\nij");
    REQUIRE_EQUAL(open_y4m(&source, "own.y4m", "two.y4m", NULL, &info), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(logged.errors, 1);
    REQUIRE_EQUAL(open_y4m(&source, "own.y4m", NULL, "scale=2:2", &info), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(logged.errors, 1);
    REQUIRE_EQUAL(open_y4m(&source, "own.y4m", NULL, NULL, &info), GPUME_OK);
    gpume_source_cancel(source);
    REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_CANCELLED);
    gpume_source_close(&source);
    REQUIRE(unlink("two.y4m") == 0);
}

/* 16384x16384, which FFmpeg refuses, through gpume_source_open; the file is sparse. */
static void test_y4m_large(void)
{
    enum { SIDE = 16384 };
    static const char head[] = "YUV4MPEG2 W16384 H16384 F25:1 Cmono\nFRAME\n";
    const size_t bytes = (size_t)SIDE * SIDE;
    struct gpume_source *source = NULL;
    struct gpume_source_info info = {0};
    struct gpume_source_counts counts;
    int64_t time_us = -1;
    put("own.y4m", head);
    REQUIRE(truncate("own.y4m", (off_t)(strlen(head) + bytes - 1)) == 0);
    FILE *file = fopen("own.y4m", "ab");
    REQUIRE(file && fputs("zFRAME\nrest", file) >= 0 && fclose(file) == 0);
    logged.errors = logged.warnings = 0;
    REQUIRE_EQUAL(open_source(&source, "own.y4m", NULL, "crop=16:16", &info), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(logged.errors, 1);
    REQUIRE_EQUAL(open_source(&source, "own.y4m", NULL, NULL, &info), GPUME_OK);
    uint8_t *luma = malloc(bytes);
    REQUIRE(luma && source);
    if (luma && source) {
        const struct gpume_plane plane = {luma, SIDE, SIDE, SIDE, 8};
        luma[0] = 1;
        REQUIRE(info.width == SIDE && info.height == SIDE && info.bits == 8 && info.frames == 1);
        REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
        REQUIRE(luma[0] == 0 && luma[bytes / 2] == 0 && luma[bytes - 2] == 0);
        REQUIRE_EQUAL(luma[bytes - 1], 'z');
        REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_EOF);
        gpume_source_get_counts(source, &counts);
        REQUIRE(counts.delivered == 1 && counts.refused == 1 && logged.warnings == 1);
    }
    free(luma);
    gpume_source_close(&source);
    REQUIRE(unlink("own.y4m") == 0);
}

/* Pictures that FFmpeg cannot write are refused at opening, with one line; .y4m does not need
 * FFmpeg. */
static void test_large_pictures(void)
{
    static const char *const paths[] = {
        "l%d.png", "l%d.pgm", "l%d.bmp", "l%d.jpg", "l.mkv", "l.mp4", "l.y4m"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const struct gpume_picture_options options = {
            .path = paths[i],
            .width = 16384,
            .height = 16384,
            .bits = 8,
            .video = &rate_of_25,
            .set = &outputs,
            .log = counting_log,
        };
        struct gpume_picture *picture = NULL;
        bool fits = i + 1 == sizeof paths / sizeof paths[0];
        logged.errors = 0;
        REQUIRE_EQUAL(gpume_picture_open(&picture, &options), fits ? GPUME_OK : GPUME_UNSUPPORTED);
        REQUIRE_EQUAL(logged.errors, !fits);
        gpume_picture_close(&picture);
    }
}

static void clean(const char *folder)
{
    static const char *const made[] = {
        "v.y4m", "v.mkv", "t7.png", "t8.png", "empty.mp4", "text.txt"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        REQUIRE(unlink(made[i]) == 0);
    }
    for (unsigned i = 7; i < 7 + FRAMES; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%02u.png", i);
        REQUIRE(unlink(name) == 0);
        snprintf(name, sizeof name, "s%02u.pgm", i);
        REQUIRE(unlink(name) == 0);
    }
    /* Fails if temporary files remain in the folder. */
    REQUIRE(chdir("..") == 0 && rmdir(folder) == 0);
}

int main(void)
{
    char folder[] = "test_media.XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        return 1;
    }
    test_round_trips();
    test_names();
    test_stills_and_filter();
    test_refusals();
    test_y4m_spaces();
    test_y4m_damage();
    test_y4m_headers();
    test_y4m_stills();
    test_y4m_large();
    test_large_pictures();
    clean(folder);
    return harness_verdict();
}
