/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a run has left and a later command reads: the first byte says which reader, the rest
 * is the file. What they give keeps the bounds of their headers.
 */
#include "fuzz.h"
#include "report/csv_reader.h"
#include "report/frames_reader.h"
#include "report/summary_reader.h"
#include "report/vectors_reader.h"

static const struct gpume_log silent;

static void read_vectors(const char *path)
{
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_read_field *field = NULL;
    uint64_t frame = 0;
    bool first = true;
    int status = gpume_vectors_reader_open(&reader, path, &silent);
    while (status == GPUME_OK) {
        status = gpume_vectors_reader_next(reader, &field);
        if (status != GPUME_OK || !field) {
            break;
        }
        FUZZ_REQUIRE(field->count >= 1 && (first || field->frame > frame));
        FUZZ_REQUIRE(field->width <= GPUME_READ_SIDE_MAX + GPUME_READ_BLOCK_MAX);
        for (size_t i = 0; i < field->count; i++) {
            const struct gpume_read_block *block = &field->blocks[i];
            FUZZ_REQUIRE(block->w >= 1 && block->h >= 1);
            FUZZ_REQUIRE(block->x + block->w <= field->width);
            FUZZ_REQUIRE(block->y + block->h <= field->height);
        }
        frame = field->frame;
        first = false;
    }
    gpume_vectors_reader_close(&reader);
}

static void read_frames(const char *path)
{
    struct gpume_frames_reader *reader = NULL;
    int status = gpume_frames_reader_open(&reader, path, &silent);
    for (uint64_t frame = 0; status == GPUME_OK && frame < 16; frame++) {
        struct gpume_read_figures figures;
        status = gpume_frames_reader_seek(reader, frame < 12 ? frame : frame << 40, &figures);
    }
    gpume_frames_reader_close(&reader);
}

static void read_summary(const char *path)
{
    static struct gpume_read_settings settings;
    memset(&settings, 0xa5, sizeof settings);
    gpume_read_settings(&settings, path);
    FUZZ_REQUIRE(settings.count <= GPUME_READ_SETTINGS_MAX);
    for (uint32_t i = 0; i < settings.count; i++) {
        FUZZ_REQUIRE(memchr(settings.items[i].name, 0, sizeof settings.items[i].name));
        FUZZ_REQUIRE(memchr(settings.items[i].value, 0, sizeof settings.items[i].value));
    }
    (void)gpume_read_settings_find(&settings, "engine device");
}

static void read_table(const char *path)
{
    static const struct gpume_csv_column columns[] = {{"a", false}, {"b", true}, {"c d", true}};
    struct gpume_csv_reader *reader = NULL;
    const char *cells[3];
    int status = gpume_csv_reader_open(&reader, path, columns, 3, &silent);
    while (status == GPUME_OK) {
        status = gpume_csv_reader_next(reader, cells);
        for (size_t i = 0; status == GPUME_OK && i < 3; i++) {
            int64_t value = 0;
            FUZZ_REQUIRE(strlen(cells[i]) <= 65536);
            if (gpume_csv_reader_int(reader, i, -1000, INT64_MAX, &value) == GPUME_OK) {
                FUZZ_REQUIRE(value >= -1000);
            }
        }
    }
    gpume_csv_reader_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static void (*const readers[])(const char *) = {
        read_vectors, read_frames, read_summary, read_table};
    if (bytes > 0) {
        readers[data[0] % 4](fuzz_file(data + 1, bytes - 1));
    }
    return 0;
}
