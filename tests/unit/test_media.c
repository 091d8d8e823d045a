/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * media: what the picture writers write, the reader reads back, value for value, at every depth;
 * names; the order and the scaling of two stills; filters; refusals in one line. Works in a folder
 * of its own under the current one.
 */
#include "harness.h"
#include "media/picture.h"
#include "media/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 37, HEIGHT = 23, FRAMES = 4 }; /* odd, so that rounding up shows */

static unsigned errors, warnings;

static void count_line(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    (void)line;
    errors += level == GPUME_LOG_ERROR;
    warnings += level == GPUME_LOG_WARNING;
}

static const struct gpume_log target = {count_line, NULL};
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

/* The same picture again for the same frame and depth. */
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

static int write_all(const char *path, uint32_t bits, uint32_t count)
{
    const struct gpume_picture_options options = {
        .path = path,
        .width = WIDTH,
        .height = HEIGHT,
        .bits = bits,
        .rate_num = 25,
        .rate_den = 1,
        .overwrite = true,
        .log = target,
    };
    struct gpume_picture *picture = NULL;
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
        .log = target,
    };
    return gpume_source_open(source, &options, info);
}

/* Reads the file back: same values, times 40 ms apart, exactly so many frames. */
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

static void test_round_trips(void)
{
    static const uint32_t depths[] = {8, 9, 10, 12, 14, 16};
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        uint32_t bits = depths[i];
        uint32_t named = bits == 14 ? 16 : bits; /* y4m has no name for 14 */
        REQUIRE_EQUAL(write_all("v.y4m", bits, FRAMES), GPUME_OK);
        read_all("v.y4m", bits, FRAMES, named);
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
    REQUIRE_EQUAL(errors, 1);
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
        errors = 0;
        REQUIRE_EQUAL(
            gpume_picture_check_name(cases[i].path, cases[i].single, 0, &target), cases[i].status);
        REQUIRE_EQUAL(errors, cases[i].status != GPUME_OK);
    }
    REQUIRE(gpume_picture_exists("s%02d.png") && gpume_picture_exists("v.y4m"));
    REQUIRE(!gpume_picture_exists("t%02d.png") && !gpume_picture_exists("s%03d.png"));
    REQUIRE(!gpume_picture_exists("w.y4m"));
}

static void test_stills_and_filter(void)
{
    struct gpume_source *source = NULL;
    struct gpume_source_info info = {0};
    struct gpume_source_counts counts;
    int64_t time_us = -1;
    REQUIRE_EQUAL(write_all("s%02d.png", 16, 2), GPUME_OK);
    REQUIRE_EQUAL(write_all("t%d.png", 8, 2), GPUME_OK);
    warnings = 0;
    REQUIRE_EQUAL(open_source(&source, "t8.png", "s07.png", NULL, &info), GPUME_OK);
    const struct gpume_plane plane = plane_over(readback, 8);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
    draw(1, 8);
    REQUIRE(memcmp(storage, readback, WIDTH * HEIGHT) == 0);
    REQUIRE_EQUAL(gpume_source_read(source, &plane, &time_us), GPUME_OK);
    REQUIRE_EQUAL(gpume_source_read(source, NULL, &time_us), GPUME_EOF);
    gpume_source_get_counts(source, &counts);
    REQUIRE_EQUAL(counts.scaled, 1);
    REQUIRE_EQUAL(warnings, 1);
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
        {"v.y4m", NULL, "select=0", GPUME_INVALID},
    };
    put("empty.mp4", "");
    put("text.txt", "some text\nand more\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gpume_source *source = NULL;
        struct gpume_source_info info;
        errors = 0;
        REQUIRE_EQUAL(open_source(&source, cases[i].path, cases[i].second, cases[i].filter, &info),
            cases[i].status);
        REQUIRE_EQUAL(errors, 1);
        REQUIRE(source == NULL);
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
    /* Nothing temporary is left, or the folder would not go. */
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
    clean(folder);
    return harness_verdict();
}
