/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of a run or of another program: the first byte selects the reader, the rest is the file;
 * for vectors a second byte selects the format to convert to. What readers return must respect the
 * bounds of their headers, and every writer must accept it.
 */
#include "compare/comparison.h"
#include "files/byte_stream.h"
#include "fuzz.h"
#include "vectors/format.h"
#include "vectors/vectors.h"

#define FORMATS_MAX 16u /* vectors: first bytes below; others select other readers */
#define FLOW 31u

static const struct gpume_log silent;

/* frame, ref: of the last block before the field. References come in any order. */
static void check_field(const struct gpume_vectors_field *field, uint64_t frame, uint64_t ref)
{
    const uint32_t side = GPUME_READ_SIDE_MAX + GPUME_READ_BLOCK_MAX;
    FUZZ_ALWAYS(field->count >= 1 && field->blocks);
    FUZZ_ALWAYS(field->frame > frame || (field->frame == frame && field->ref != ref));
    FUZZ_ALWAYS(field->width <= side && field->height <= side);
    for (size_t i = 0; i < field->count; i++) {
        const struct gpume_vectors_block *block = &field->blocks[i];
        FUZZ_ALWAYS(block->w >= 1 && block->h >= 1);
        FUZZ_ALWAYS(block->w <= GPUME_READ_BLOCK_MAX && block->h <= GPUME_READ_BLOCK_MAX);
        FUZZ_ALWAYS(block->x + block->w <= field->width);
        FUZZ_ALWAYS(block->y + block->h <= field->height);
    }
}

static int open_writer(struct gpume_vectors_writer **writer,
    const struct gpume_vectors_reader *reader, const struct gpume_vectors_field *first, size_t to)
{
    struct gpume_vectors_info info = *gpume_vectors_reader_info(reader);
    size_t formats = 0;
    while (gpume_vectors_format_at(formats)) {
        formats++;
    }
    const struct gpume_vectors_output output = {
        .path = "/dev/null", .format = gpume_vectors_format_at(to % formats), .processors = 1};
    if (info.block_w == 0) {
        gpume_vectors_find_grid(first, &info);
    }
    return gpume_vectors_writer_open(writer, &output, &info);
}

static void read_vectors(const struct gpume_vectors_source *source, size_t to)
{
    struct gpume_vectors_reader *reader = NULL;
    struct gpume_vectors_writer *writer = NULL;
    const struct gpume_vectors_field *field = NULL;
    uint64_t frame = 0, ref = 0;
    int status = gpume_vectors_reader_open(&reader, source);
    int written = GPUME_INVALID;
    for (size_t i = 0; status == GPUME_OK; i++) {
        status = gpume_vectors_reader_next(reader, &field);
        if (status != GPUME_OK || !field) {
            break;
        }
        if (i > 0) {
            check_field(field, frame, ref);
        } else {
            written = open_writer(&writer, reader, field, to);
        }
        frame = field->frame;
        ref = field->blocks[field->count - 1].ref;
        written = written == GPUME_OK ? gpume_vectors_writer_field(writer, field) : written;
    }
    if (written == GPUME_OK) {
        (void)gpume_vectors_writer_finish(writer);
    }
    gpume_vectors_writer_close(&writer);
    gpume_vectors_reader_close(&reader);
}

static void read_frames(const uint8_t *data, size_t bytes)
{
    struct gpume_frames_reader *reader = NULL;
    int status = gpume_frames_reader_open(&reader, fuzz_file(data, bytes), &silent);
    for (uint64_t frame = 0; status == GPUME_OK && frame < 16; frame++) {
        struct gpume_read_statistics statistics;
        const uint64_t ref = frame + frame % 2;
        status = gpume_frames_reader_seek(
            reader, frame < 12 ? frame : frame << 40, frame % 3 ? &ref : NULL, &statistics);
    }
    gpume_frames_reader_close(&reader);
}

static void read_summary(const uint8_t *data, size_t bytes)
{
    static struct gpume_read_settings settings;
    memset(&settings, 0xa5, sizeof settings);
    gpume_read_settings(&settings, fuzz_file(data, bytes));
    FUZZ_REQUIRE(settings.count <= GPUME_READ_SETTINGS_MAX);
    for (uint32_t i = 0; i < settings.count; i++) {
        FUZZ_REQUIRE(memchr(settings.items[i].name, 0, sizeof settings.items[i].name));
        FUZZ_REQUIRE(memchr(settings.items[i].value, 0, sizeof settings.items[i].value));
    }
    (void)gpume_read_settings_find(&settings, "engine device");
}

/* True flow of a field of two blocks. */
static void read_flow(const uint8_t *data, size_t bytes)
{
    static const struct gpume_vectors_block blocks[] = {
        {.w = 8, .h = 8, .dx = 4}, {.x = 8, .w = 8, .h = 8, .dy = -INT16_MAX}};
    const struct gpume_vectors_field field = {
        .width = 16, .height = 8, .count = 2, .blocks = blocks};
    const char *const names[2] = {"run", fuzz_file(data, bytes)};
    struct gpume_flow flow;
    struct gpume_flow_errors errors;
    if (gpume_flow_read(&flow, &field, names, &silent) == GPUME_OK &&
        gpume_flow_measure(&errors, &flow, &field, names[0], &silent) == GPUME_OK) {
        FUZZ_REQUIRE(errors.pixels <= 128 && errors.pixels <= errors.known);
        FUZZ_REQUIRE(errors.above[2] <= errors.above[1] && errors.above[1] <= errors.above[0]);
        FUZZ_REQUIRE(errors.distance_sum <= errors.distance_max * (double)errors.pixels + 1e-6);
    }
    gpume_flow_finish(&flow);
}

static void read_table(const uint8_t *data, size_t bytes)
{
    static const struct gpume_csv_column columns[] = {{"a", false}, {"b", true}, {"c d", true}};
    struct gpume_csv_reader reader;
    struct gpume_stream *stream = NULL;
    int status = gpume_stream_open(&stream, fuzz_file(data, bytes), &silent);
    status = status ? status : gpume_csv_reader_init(&reader, stream, columns, 3);
    while (status == GPUME_OK) {
        status = gpume_csv_reader_next(&reader);
        for (size_t i = 0; status == GPUME_OK && i < 3; i++) {
            int64_t value = 0;
            FUZZ_REQUIRE(strlen(reader.cells[i]) <= GPUME_STREAM_LINE_BYTES);
            if (gpume_csv_reader_int(&reader, i, -1000, INT64_MAX, &value) == GPUME_OK) {
                FUZZ_REQUIRE(value >= -1000);
            }
        }
    }
    gpume_stream_close(&stream);
}

int FUZZ_TARGET(const uint8_t *data, size_t bytes)
{
    struct fuzz_bytes from = {data, bytes};
    const uint8_t kind = fuzz_u8(&from);
    if (kind % 32 == FLOW) {
        read_flow(from.at, from.left);
        return 0;
    }
    if (kind % 32 >= FORMATS_MAX) {
        static void (*const readers[])(const uint8_t *, size_t) = {
            read_frames, read_summary, read_table};
        readers[kind % 32 % 3](from.at, from.left);
        return 0;
    }
    const uint8_t to = fuzz_u8(&from);
    const struct gpume_vectors_source source = {
        .path = fuzz_file(from.at, from.left),
        /* Most formats are recognised by their first bytes. */
        .format = kind & 128 ? gpume_vectors_format_at(kind % FORMATS_MAX) : NULL,
        .block = kind & 64 ? 4 * (1u + to % 32) : 0,
    };
    if (from.left > 0 && (!source.format || source.format->reader)) {
        read_vectors(&source, to);
    }
    return 0;
}
