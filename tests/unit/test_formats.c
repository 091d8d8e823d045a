/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formats of vectors: the bytes written are those made by hand and can be read back, as grids and
 * as arrays of the library; each format refuses what it cannot hold and says where; and no
 * truncation and no changed byte does more than log a line. Works in its own folder below the
 * current one.
 */
#include "harness.h"
#include "logged.h"
#include "vectors/format.h"
#include "vectors/vectors.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 10x6 pixels in blocks of 8: two blocks, of 8x6 and of 2x6. The second frame has two references.
 */
enum { WIDTH = 10, HEIGHT = 6, BLOCK = 8, BLOCKS = 2, FIELDS = 3 };

static const struct gpume_vector vectors[FIELDS][BLOCKS] = {
    {{-2, 1}, {0, -3}}, {{511, -512}, {0, 0}}, {{5, 0}, {1, 1}}};
static const uint32_t costs[FIELDS][BLOCKS] = {{143, 7}, {4294967295u, 0}, {9, 10}};
static const uint32_t ranks[FIELDS][BLOCKS] = {{0, 1}, {0, 1}, {1, 0}};
static const uint64_t frames[FIELDS] = {1, 2, 2}, refs[FIELDS] = {0, 1, 3};

static const struct gpume_vectors_info grid = {
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_TIME,
    .width = WIDTH,
    .height = HEIGHT,
    .block_w = BLOCK,
    .block_h = BLOCK,
    .has_search = true,
    .bits = 8,
    .window_x = 512,
    .window_y = 512,
};

static struct gpume_vectors_field field_of(size_t i)
{
    static struct gpume_layer layers[FIELDS];
    static const struct gpume_layer *lists[FIELDS];
    static struct gpume_field results[FIELDS];
    layers[i] = (struct gpume_layer){.block_w = BLOCK,
        .block_h = BLOCK,
        .blocks_x = (WIDTH + BLOCK - 1) / BLOCK,
        .blocks_y = (HEIGHT + BLOCK - 1) / BLOCK,
        .vectors = vectors[i],
        .costs = costs[i],
        .ranks = ranks[i]};
    lists[i] = &layers[i];
    results[i] = (struct gpume_field){
        .ref = refs[i], .vector_units = 1, .layer_count = 1, .layers = &lists[i]};
    return (struct gpume_vectors_field){
        .frame = frames[i],
        .ref = refs[i],
        .time_us = (int64_t)(40000 * frames[i]),
        .columns = grid.columns,
        .count = BLOCKS,
        .width = WIDTH,
        .height = HEIGHT,
        .results = &results[i],
    };
}

static int write_fields(
    const struct gpume_vectors_format *format, const char *path, size_t first, size_t count)
{
    struct gpume_out_set set = {.overwrite = true};
    const struct gpume_vectors_output output = {
        .path = path, .format = format, .set = &set, .processors = 1, .log = counting_log};
    struct gpume_vectors_writer *writer = NULL;
    int status = gpume_vectors_writer_open(&writer, &output, &grid);
    for (size_t i = first; i < first + count && status == GPUME_OK; i++) {
        const struct gpume_vectors_field field = field_of(i);
        status = gpume_vectors_writer_field(writer, &field);
    }
    status = status == GPUME_OK ? gpume_vectors_writer_finish(writer) : status;
    gpume_vectors_writer_close(&writer);
    REQUIRE(writer == NULL);
    return status;
}

/* Reads a small file. */
static size_t load(const char *path, unsigned char *to, size_t room)
{
    FILE *file = fopen(path, "rb");
    size_t bytes = 0;
    REQUIRE(file != NULL);
    if (file) {
        bytes = fread(to, 1, room, file);
        REQUIRE(fgetc(file) == EOF);
        fclose(file);
    }
    return bytes;
}

struct golden {
    const char *format;
    const char *path;
    unsigned columns; /* that are read back */
    size_t bytes;
    unsigned char data[4096];
};

enum {
    CSV,
    JSONL,
    NPY,
    MVF,
    EXTRACT_MVS,
    GOLDENS, /* one file for all fields, down to here */
    HASH = GOLDENS,
    FLO,
    MV_EXTRACTOR,
    NPZ,
    ALL
};

static struct golden goldens[ALL] = {
    [CSV] = {"csv", "v.csv", GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK, 0, ""},
    [JSONL] = {"jsonl", "v.jsonl", GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK, 0,
        ""},
    [NPY] = {"npy", "v.npy", GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK, 0, ""},
    [MVF] = {"mvf", "v.mvf",
        GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_TIME, 0, ""},
    [EXTRACT_MVS] = {"extract_mvs", "mvs.csv", GPUME_VECTORS_REF, 0, ""},
    [HASH] = {"hash", "v.hash", 0, 0, ""},
    [FLO] = {"flo", "v.flo", 0, 0, ""},
    [MV_EXTRACTOR] = {"mv-extractor", "mvs-%d.npy", GPUME_VECTORS_REF, 0, ""},
    [NPZ] = {"npz", "v.npz", 0, 0, ""},
};

static void put(struct golden *golden, const void *data, size_t bytes)
{
    REQUIRE(golden->bytes + bytes <= sizeof golden->data);
    memcpy(golden->data + golden->bytes, data, bytes);
    golden->bytes += bytes;
}

#define PUT(golden, text) put(golden, text, sizeof(text) - 1)

/* A .npy header padded with blanks. */
static void put_npy_text(struct golden *golden, const char *text, size_t bytes)
{
    put(golden, text, strlen(text));
    for (size_t i = strlen(text); i < bytes - 1; i++) {
        PUT(golden, " ");
    }
    PUT(golden, "\n");
}

static void make_texts(void)
{
    PUT(&goldens[CSV], "frame,ref,x,y,w,h,dx,dy,cost,rank\n"
                       "1,0,0,0,8,6,-2,1,143,0\n"
                       "1,0,8,0,2,6,0,-3,7,1\n"
                       "2,1,0,0,8,6,511,-512,4294967295,0\n"
                       "2,1,8,0,2,6,0,0,0,1\n"
                       "2,3,0,0,8,6,5,0,9,1\n"
                       "2,3,8,0,2,6,1,1,10,0\n");
    PUT(&goldens[JSONL],
        "{\"frame\":1,\"ref\":0,\"x\":0,\"y\":0,\"w\":8,\"h\":6,\"dx\":-2,\"dy\":1,\"cost\":143,"
        "\"rank\":0}\n"
        "{\"frame\":1,\"ref\":0,\"x\":8,\"y\":0,\"w\":2,\"h\":6,\"dx\":0,\"dy\":-3,\"cost\":7,"
        "\"rank\":1}\n"
        "{\"frame\":2,\"ref\":1,\"x\":0,\"y\":0,\"w\":8,\"h\":6,\"dx\":511,\"dy\":-512,\"cost\":"
        "4294967295,\"rank\":0}\n"
        "{\"frame\":2,\"ref\":1,\"x\":8,\"y\":0,\"w\":2,\"h\":6,\"dx\":0,\"dy\":0,\"cost\":0,"
        "\"rank\":1}\n"
        "{\"frame\":2,\"ref\":3,\"x\":0,\"y\":0,\"w\":8,\"h\":6,\"dx\":5,\"dy\":0,\"cost\":9,"
        "\"rank\":1}\n"
        "{\"frame\":2,\"ref\":3,\"x\":8,\"y\":0,\"w\":2,\"h\":6,\"dx\":1,\"dy\":1,\"cost\":10,"
        "\"rank\":0}\n");
    /* Centres are (4,3) and (9,3). */
    PUT(&goldens[EXTRACT_MVS], "framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,motion_x,"
                               "motion_y,motion_scale\n"
                               "2,-1, 8, 6,   2,   4,   4,   3,0x0,  -2,   1,   1\n"
                               "2,-1, 2, 6,   9,   0,   9,   3,0x0,   0,  -3,   1\n"
                               "3,-1, 8, 6, 515,-509,   4,   3,0x0, 511,-512,   1\n"
                               "3,-1, 2, 6,   9,   3,   9,   3,0x0,   0,   0,   1\n"
                               "3, 1, 8, 6,   9,   3,   4,   3,0x0,   5,   0,   1\n"
                               "3, 1, 2, 6,  10,   4,   9,   3,0x0,   1,   1,   1\n");
    /* sha256sum of FEFF01008F000000 0000FDFF07000000 and so on. */
    PUT(&goldens[HASH],
        "#format: gpume field hashes\n#version: 1\n#hash: SHA256\n#size: 10x6\n#block: 8\n"
        "#bits: 8\n#window: 512x512\n#edge: extend\n#metric: sad\n#prefilter: none\n"
        "#frame,ref,blocks,hash\n"
        "1,0,2,304ed4be143294877b82683358ce04f887242277733cb516e86b0e37218ef4eb\n"
        "2,1,2,dc5a90348723e0350d04586dc45940071830ae131446470e247a812fbcb73e64\n"
        "2,3,2,199712f887442671b788e8eabf1b8ff0686225d93351f3091e8ff7c2bb8e2c79\n");
}

static void make_npy(void)
{
    struct golden *npy = &goldens[NPY], *dump = &goldens[MV_EXTRACTOR];
    PUT(npy, "\x93NUMPY\x01\x00\xF6\x00");
    put_npy_text(npy,
        "{'descr': [('frame', '<i8'), ('ref', '<i8'), ('x', '<i4'), ('y', '<i4'), ('w', '<i2'), "
        "('h', '<i2'), ('dx', '<i2'), ('dy', '<i2'), ('cost', '<u4'), ('rank', '<u4')], "
        "'fortran_order': False, 'shape': (6,), }",
        246);
#define ITEM(frame, ref, x, w, dx, dy, cost, rank)                                                 \
    PUT(npy, frame "\0\0\0\0\0\0\0" ref "\0\0\0\0\0\0\0" x "\0\0\0\0\0\0\0" w                      \
                   "\0\x06\0" dx dy cost rank "\0\0\0")
    ITEM("\x01", "\0", "\0", "\x08", "\xFE\xFF", "\x01\0", "\x8F\0\0\0", "\0");
    ITEM("\x01", "\0", "\x08", "\x02", "\0\0", "\xFD\xFF", "\x07\0\0\0", "\x01");
    ITEM("\x02", "\x01", "\0", "\x08", "\xFF\x01", "\x00\xFE", "\xFF\xFF\xFF\xFF", "\0");
    ITEM("\x02", "\x01", "\x08", "\x02", "\0\0", "\0\0", "\0\0\0\0", "\x01");
    ITEM("\x02", "\x03", "\0", "\x08", "\x05\0", "\0\0", "\x09\0\0\0", "\x01");
    ITEM("\x02", "\x03", "\x08", "\x02", "\x01\0", "\x01\0", "\x0A\0\0\0", "\0");
    /* The second frame's file. */
    PUT(dump, "\x93NUMPY\x01\x00\x76\x00");
    put_npy_text(dump, "{'descr': '<i4', 'fortran_order': False, 'shape': (4, 10), }", 118);
#define ROW(source, w, src_x, src_y, dst_x, dx, dy)                                                \
    PUT(dump, source w "\0\0\0\x06\0\0\0" src_x src_y dst_x "\0\0\0\x03\0\0\0" dx dy "\x01\0\0\0")
    ROW("\xFF\xFF\xFF\xFF", "\x08", "\x03\x02\0\0", "\x03\xFE\xFF\xFF", "\x04", "\xFF\x01\0\0",
        "\x00\xFE\xFF\xFF");
    ROW("\xFF\xFF\xFF\xFF", "\x02", "\x09\0\0\0", "\x03\0\0\0", "\x09", "\0\0\0\0", "\0\0\0\0");
    ROW("\x01\0\0\0", "\x08", "\x09\0\0\0", "\x03\0\0\0", "\x04", "\x05\0\0\0", "\0\0\0\0");
    ROW("\x01\0\0\0", "\x02", "\x0A\0\0\0", "\x04\0\0\0", "\x09", "\x01\0\0\0", "\x01\0\0\0");
}

static void make_binaries(void)
{
    struct golden *mvf = &goldens[MVF], *flo = &goldens[FLO];
    PUT(mvf, "GPUMEMVF\x01\0\0\0\x40\0\0\0\x0A\0\0\0\x06\0\0\0\x08\0\0\0\x0F\0\0\0\x0C\0\0\0"
             "\x08\0\0\0\x00\x02\0\0\x00\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
#define FIELD(frame, ref, time)                                                                    \
    PUT(mvf, "FIEL\x30\0\0\0\x18\0\0\0\0\0\0\0" frame "\0\0\0\0\0\0\0" ref "\0\0\0\0\0\0\0" time   \
             "\0\0\0\0\0\x02\0\0\0\x01\0\0\0")
    FIELD("\x01", "\0", "\x40\x9C\0");
    PUT(mvf, "\xFE\xFF\x01\0\x8F\0\0\0\0\0\0\0\0\0\xFD\xFF\x07\0\0\0\x01\0\0\0");
    FIELD("\x02", "\x01", "\x80\x38\x01");
    PUT(mvf, "\xFF\x01\x00\xFE\xFF\xFF\xFF\xFF\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0");
    FIELD("\x02", "\x03", "\x80\x38\x01");
    PUT(mvf, "\x05\0\0\0\x09\0\0\0\x01\0\0\0\x01\0\x01\0\x0A\0\0\0\0\0\0\0");
    /* The first frame's: -2 is C0000000, 1 is 3F800000, -3 is C0400000. */
    PUT(flo, "PIEH\x0A\0\0\0\x06\0\0\0");
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
        if (i % WIDTH < BLOCK) {
            PUT(flo, "\0\0\0\xC0\0\0\x80\x3F");
        } else {
            PUT(flo, "\0\0\0\0\0\0\x40\xC0");
        }
    }
}

/* The members of the .npz, as NumPy and zlib make them. */
static const struct {
    const char *name, *type, *shape, *data;
    uint8_t bytes;
    const char *crc; /* of header and data */
} members[] = {
    {"vectors", "<i2", "(3, 1, 2, 2)",
        "\xFE\xFF\x01\0\0\0\xFD\xFF\xFF\x01\x00\xFE\0\0\0\0\x05\0\0\0\x01\0\x01", 24,
        "\xAD\xE3\x7D\x9E"},
    {"costs", "<u4", "(3, 1, 2)", "\x8F\0\0\0\x07\0\0\0\xFF\xFF\xFF\xFF\0\0\0\0\x09\0\0\0\x0A\0\0",
        24, "\x32\x1D\x1B\xFA"},
    {"ranks", "<u4", "(3, 1, 2)", "\0\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0", 24,
        "\x50\x7D\x2D\xE4"},
    {"frames", "<i8", "(3,)", "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0", 24,
        "\x22\x91\xFF\x42"},
    {"refs", "<i8", "(3,)", "\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x03\0\0\0\0\0\0", 24,
        "\x69\x40\xB8\x26"},
    {"times", "<f8", "(3,)", /* 0.04, 0.08, 0.08 */
        "\x7B\x14\xAE\x47\xE1\x7A\xA4\x3F\x7B\x14\xAE\x47\xE1\x7A\xB4\x3F"
        "\x7B\x14\xAE\x47\xE1\x7A\xB4\x3F",
        24, "\x97\x74\x22\x3F"},
    {"block", "<i4", "(2,)", "\x08\0\0\0\x08\0\0", 8, "\x44\x02\x58\x5D"},
    {"size", "<i4", "(2,)", "\x0A\0\0\0\x06\0\0", 8, "\x0A\x72\xA2\xFF"},
    {"subpel", "<i4", "()", "\x01\0\0", 4, "\xD0\x72\xDA\x91"},
};
enum { MEMBERS = sizeof(members) / sizeof(members[0]), NPY_HEAD = 128 };

static void put_number(struct golden *golden, size_t number, size_t bytes)
{
    for (; bytes > 0; bytes--, number >>= 8) {
        const unsigned char byte = number & 0xFF;
        put(golden, &byte, 1);
    }
}

/* From the version needed to the name: stored, of 1980-01-01, with sizes in the ZIP64 field. */
static void put_member(struct golden *npz, size_t i, size_t extra)
{
    PUT(npz, "\x2D\0\0\0\0\0\0\0\x21\0");
    put(npz, members[i].crc, 4);
    PUT(npz, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
    put_number(npz, strlen(members[i].name) + 4, 2);
    put_number(npz, extra, 2);
}

static void put_sizes(struct golden *npz, size_t i, size_t field)
{
    put(npz, members[i].name, strlen(members[i].name));
    PUT(npz, ".npy\x01\0");
    put_number(npz, field, 2);
    put_number(npz, NPY_HEAD + members[i].bytes, 8);
    put_number(npz, NPY_HEAD + members[i].bytes, 8);
}

/* The .ZIP File Format Specification, 4.3.7, 4.3.12, and from 4.3.14 to 4.3.16 */
static void make_npz(void)
{
    struct golden *npz = &goldens[NPZ];
    size_t at[MEMBERS], directory, end;
    char text[NPY_HEAD];
    for (size_t i = 0; i < MEMBERS; i++) {
        at[i] = npz->bytes;
        PUT(npz, "PK\x03\x04");
        put_member(npz, i, 20);
        put_sizes(npz, i, 16);
        PUT(npz, "\x93NUMPY\x01\x00\x76\x00");
        snprintf(text, sizeof(text), "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
            members[i].type, members[i].shape);
        put_npy_text(npz, text, 118);
        put(npz, members[i].data, members[i].bytes);
    }
    directory = npz->bytes;
    for (size_t i = 0; i < MEMBERS; i++) {
        PUT(npz, "PK\x01\x02\x2D\0");
        put_member(npz, i, 28);
        PUT(npz, "\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF");
        put_sizes(npz, i, 24);
        put_number(npz, at[i], 8);
    }
    end = npz->bytes;
    PUT(npz, "PK\x06\x06\x2C\0\0\0\0\0\0\0\x2D\0\x2D\0\0\0\0\0\0\0\0\0");
    put_number(npz, MEMBERS, 8);
    put_number(npz, MEMBERS, 8);
    put_number(npz, end - directory, 8);
    put_number(npz, directory, 8);
    PUT(npz, "PK\x06\x07\0\0\0\0");
    put_number(npz, end, 8);
    PUT(npz, "\x01\0\0\0PK\x05\x06\0\0\0\0");
    put_number(npz, MEMBERS, 2);
    put_number(npz, MEMBERS, 2);
    PUT(npz, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0");
}

static bool is_golden(const char *path, const struct golden *golden)
{
    unsigned char data[sizeof golden->data];
    const size_t bytes = load(path, data, sizeof data);
    return bytes == golden->bytes && memcmp(data, golden->data, bytes) == 0;
}

static void test_writers(void)
{
    logged.lines = 0;
    for (size_t i = 0; i <= HASH; i++) {
        const struct gpume_vectors_format *format = gpume_vectors_format_named(goldens[i].format);
        REQUIRE_EQUAL(write_fields(format, goldens[i].path, 0, FIELDS), GPUME_OK);
        REQUIRE(is_golden(goldens[i].path, &goldens[i]));
    }
    REQUIRE_EQUAL(write_fields(&gpume_vectors_flo, "v.flo", 0, 1), GPUME_OK);
    REQUIRE(is_golden("v.flo", &goldens[FLO]));
    REQUIRE_EQUAL(write_fields(&gpume_vectors_flo, "f%d-%02d.flo", 0, FIELDS), GPUME_OK);
    REQUIRE(is_golden("f1-00.flo", &goldens[FLO]));
    REQUIRE(access("f2-01.flo", F_OK) == 0 && access("f2-03.flo", F_OK) == 0);
    REQUIRE_EQUAL(write_fields(&gpume_vectors_mv_extractor, "mvs-%d.npy", 0, FIELDS), GPUME_OK);
    REQUIRE(is_golden("mvs-2.npy", &goldens[MV_EXTRACTOR]));
    REQUIRE(access("mvs-1.npy", F_OK) == 0);
    REQUIRE_EQUAL(write_fields(&gpume_vectors_npz, "v.npz", 0, FIELDS), GPUME_OK);
    REQUIRE(is_golden("v.npz", &goldens[NPZ]));
    REQUIRE_EQUAL(logged.lines, 0);
}

/* A name without a place for the number is refused, and no file is written. */
static void test_names(void)
{
    logged.lines = 0;
    REQUIRE_EQUAL(write_fields(&gpume_vectors_flo, "g%d.flo", 0, FIELDS), GPUME_UNSUPPORTED);
    REQUIRE(strstr(logged.last, "two %d"));
    REQUIRE(access("g2.flo", F_OK) != 0);
    REQUIRE_EQUAL(write_fields(&gpume_vectors_flo, "g.flo", 0, 2), GPUME_UNSUPPORTED);
    REQUIRE(strstr(logged.last, "put %d in the name"));
    REQUIRE(access("g.flo", F_OK) != 0);
    REQUIRE_EQUAL(
        write_fields(&gpume_vectors_mv_extractor, "g%d%d%d.npy", 0, 1), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(logged.lines, 3);
}

static void check_field(const struct gpume_vectors_field *field, size_t i, unsigned columns)
{
    REQUIRE_EQUAL(field->columns, columns);
    REQUIRE_EQUAL(field->frame, frames[i]);
    REQUIRE_EQUAL(field->ref, columns & GPUME_VECTORS_REF ? refs[i] : 0);
    REQUIRE_EQUAL(field->time_us, columns & GPUME_VECTORS_TIME ? 40000 * frames[i] : 0);
    REQUIRE_EQUAL(field->count, BLOCKS);
    REQUIRE(field->width == WIDTH && field->height == HEIGHT);
    for (size_t j = 0; j < BLOCKS && field->count == BLOCKS; j++) {
        const struct gpume_vectors_block *block = &field->blocks[j];
        REQUIRE(block->x == j * BLOCK && block->y == 0);
        REQUIRE(block->w == (j ? WIDTH - BLOCK : BLOCK) && block->h == HEIGHT);
        REQUIRE(block->dx == GPUME_VECTORS_UNITS * vectors[i][j].dx &&
                block->dy == GPUME_VECTORS_UNITS * vectors[i][j].dy);
        REQUIRE_EQUAL(block->cost, columns & GPUME_VECTORS_COST ? costs[i][j] : 0);
        REQUIRE_EQUAL(block->rank, columns & GPUME_VECTORS_RANK ? ranks[i][j] : 0);
    }
}

/* Compares all fields of a source with ours from `first` on. */
static void check_source(
    const struct gpume_vectors_source *source, size_t first, size_t count, unsigned columns)
{
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_vectors_field *field = NULL;
    logged.lines = 0;
    REQUIRE_EQUAL(gpume_vectors_reader_open(&reader, source), GPUME_OK);
    for (size_t i = first; reader && i < first + count; i++) {
        REQUIRE_EQUAL(gpume_vectors_reader_next(reader, &field), GPUME_OK);
        REQUIRE(field != NULL);
        if (!field) {
            break;
        }
        check_field(field, i, columns);
    }
    if (reader) {
        REQUIRE_EQUAL(gpume_vectors_reader_next(reader, &field), GPUME_OK);
        REQUIRE(field == NULL);
    }
    REQUIRE_EQUAL(logged.lines, 0);
    gpume_vectors_reader_close(&reader);
    REQUIRE(reader == NULL);
}

static void test_readers(void)
{
    for (size_t i = 0; i < GOLDENS; i++) {
        const struct golden *golden = &goldens[i];
        struct gpume_vectors_source source = {.path = golden->path, .log = counting_log};
        check_source(&source, 0, FIELDS, golden->columns);
        source.format = gpume_vectors_format_named(golden->format);
        check_source(&source, 0, FIELDS, golden->columns);
    }
    struct gpume_vectors_source source = {.path = "mvs-%d.npy", .log = counting_log};
    check_source(&source, 0, FIELDS, GPUME_VECTORS_REF);
    source =
        (struct gpume_vectors_source){.path = "f%d-%02d.flo", .block = BLOCK, .log = counting_log};
    check_source(&source, 0, FIELDS, GPUME_VECTORS_REF);
    source = (struct gpume_vectors_source){.path = "v.flo", .block = BLOCK, .log = counting_log};
    check_source(&source, 0, 1, 0);
}

/* The name of a pipe that holds these bytes, valid until the next call: files would take a minute.
 */
static const char *pipe_of(const void *data, size_t bytes)
{
    static int ends[2] = {-1, -1};
    static char name[32];
    (void)close(ends[0]);
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], data, bytes) == (ssize_t)bytes);
    (void)close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    return name;
}

/* Without a block size, every pixel of a .flo is a block, except pixels of unknown motion. */
static void test_pixels(void)
{
    unsigned char data[12 + 2 * 2 * 8] = "PIEH\x02\0\0\0\x02\0\0\0";
    static const unsigned char far[] = {0xF9, 0x02, 0x15, 0x50}; /* 1e10 */
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_vectors_field *field = NULL;
    memcpy(data + 12 + 8, far, sizeof far);
    memcpy(data + 12 + 8 + 4, far, sizeof far);
    const struct gpume_vectors_source source = {
        .path = pipe_of(data, sizeof data), .log = counting_log};
    REQUIRE_EQUAL(gpume_vectors_reader_open(&reader, &source), GPUME_OK);
    REQUIRE_EQUAL(reader ? gpume_vectors_reader_next(reader, &field) : 1, GPUME_OK);
    REQUIRE(field && field->count == 3 && field->blocks[1].x == 0 && field->blocks[1].y == 1);
    REQUIRE(field && field->blocks[0].w == 1 && field->blocks[0].h == 1);
    gpume_vectors_reader_close(&reader);
}

static unsigned fields_read; /* by the last read_bytes */

static bool read_bytes(
    const struct gpume_vectors_format *format, const void *data, size_t bytes, uint32_t block)
{
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_vectors_field *field = NULL;
    const struct gpume_vectors_source source = {
        .path = pipe_of(data, bytes), .format = format, .block = block, .log = counting_log};
    fields_read = 0;
    logged.lines = 0;
    logged.last[0] = '\0';
    int status = gpume_vectors_reader_open(&reader, &source);
    while (status == GPUME_OK) {
        status = gpume_vectors_reader_next(reader, &field);
        if (status != GPUME_OK || !field) {
            break;
        }
        fields_read++;
        REQUIRE(field->count > 0);
        for (size_t i = 0; i < field->count; i++) {
            REQUIRE(field->blocks[i].w >= 1 && field->blocks[i].w <= GPUME_READ_BLOCK_MAX);
            REQUIRE(field->blocks[i].x + field->blocks[i].w <= field->width);
            REQUIRE(field->blocks[i].y + field->blocks[i].h <= field->height);
        }
    }
    gpume_vectors_reader_close(&reader);
    REQUIRE_EQUAL(logged.lines, status == GPUME_OK ? 0 : 1);
    return status == GPUME_OK;
}

/* Every truncation and every changed byte of a file is read or refused with one message. */
static void test_damage(void)
{
    static unsigned char data[4096];
    for (size_t i = 0; i < ALL; i++) {
        const struct golden *golden = &goldens[i];
        const struct gpume_vectors_format *format = gpume_vectors_format_named(golden->format);
        if (!format->reader) {
            continue;
        }
        memcpy(data, golden->data, golden->bytes);
        REQUIRE(read_bytes(format, data, golden->bytes, BLOCK));
        unsigned whole = 0;
        for (size_t bytes = 0; bytes < golden->bytes; bytes++) {
            whole += read_bytes(format, data, bytes, BLOCK);
        }
        /* Some formats do not state their length, so a file may end after any row or field. */
        REQUIRE(whole <= (i == NPY || i == MV_EXTRACTOR || i == FLO ? 0 : 6));
        for (size_t at = 0; at < golden->bytes; at++) {
            static const unsigned char masks[] = {0x01, 0x80, 0xFF, 0x10};
            for (size_t m = 0; m < sizeof masks; m++) {
                data[at] ^= masks[m];
                (void)read_bytes(format, data, golden->bytes, BLOCK);
                (void)read_bytes(NULL, data, golden->bytes, 0);
                data[at] ^= masks[m];
            }
        }
    }
}

#define DATA(text) text, sizeof(text) - 1
#define NPY_TEXT(text) "\x93NUMPY\x01\x00\x76\x00" text
#define MVS                                                                                        \
    "framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,motion_x,motion_y,motion_scale\n"
#define JSON_ROW "\"x\":0,\"y\":0,\"w\":8,\"h\":8,\"dx\":0,\"dy\":0}\n"

/* Errors state the position. */
static void test_refusals(void)
{
    static const struct {
        const char *format, *data;
        size_t bytes;
        const char *says;
    } cases[] = {
        {"csv", DATA(""), "is empty"},
        {"csv", DATA("frame,x,y,w,h,dx\n"), "line 1: names no column 'dy'"},
        {"csv", DATA("frame,x,y,w,h,dx,dy\n1,0,0,8,8,0,40000\n"), "line 2: dy is '40000'"},
        {"csv", DATA("frame,x,y,w,h,dx,dy\n1,0,0,8,8,0,nan\n"), "line 2: dy is 'nan'"},
        {"csv", DATA("frame,ref,x,y,w,h,dx,dy\n2,3,0,0,8,8,0,0\n2,3,0,0,8,8,0,0\n"),
            "line 3: blocks are not in raster order"},
        {"jsonl", DATA("{\"frame\":1," JSON_ROW "{\"frame\":1}\n"), "line 2: has no key 'x'"},
        {"jsonl", DATA("{\"frame\":1," JSON_ROW "[]\n"), "line 2: is not a JSON object"},
        {"jsonl", DATA("{\"frame\":1.5," JSON_ROW), "line 1: frame is '1.5'"},
        {"jsonl", DATA("{\"frame\":NaN," JSON_ROW), "line 1: frame is 'NaN'"},
        {"jsonl", DATA("{\"frame\":1,\"z\":[1,{\"a\":\"]\"}],\"t\":" JSON_ROW),
            "line 1: is not a JSON"},
        {"jsonl", DATA("{\"frame\":1,}\n"), "line 1: is not a JSON object"},
        {"npy", DATA("PK"), "byte 2: ends here"},
        {"npy", DATA(NPY_TEXT("{'descr': '<f4', 'shape': (2,), 'fortran_order': False}")),
            "byte 65: ends here"},
        {"npy",
            DATA("\x93NUMPY\x01\x00\x38\x00{'descr': '<i4', 'fortran_order': False, 'shape': "
                 "(2,)} "),
            "has no member 'frame'"},
        {"npy", DATA("\x93NUMPY\x01\x00\x04\x00{}  "),
            "does not describe an array of little-endian numbers"},
        {"npy", DATA("\x93NUMPY\x09\x00\x04\x00{}  "), "version 9 of .npy"},
        {"npy", DATA("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF  "), "a header of 4294967295 bytes"},
        {"mv-extractor",
            DATA("\x93NUMPY\x01\x00\x3C\x00{'descr': '<i4', 'fortran_order': False, 'shape': (2, "
                 "9)}  "
                 "\n"),
            "does not consist of rows of ten"},
        {"extract_mvs", DATA(MVS "2,-1,8,8,4,4,4,4,0x0,1,0,8\n"),
            "line 2: motion_x 1 over motion_scale 8"},
        {"extract_mvs", DATA(MVS "2,-1,8,8,5,4,4,4,0x0,0,0,1\n"), "line 2: src_x 5 is not dst_x 4"},
        {"extract_mvs", DATA(MVS "2,0,8,8,4,4,4,4,0x0,0,0,1\n"), "line 2: source of frame 1"},
        {"extract_mvs", DATA(MVS "2,-1,8,8,4,4,3,4,0x0,1,0,1\n"), "line 2: dst_x 3 puts the block"},
        {"extract_mvs", DATA(MVS "2,-1,8,8,4,4,4,4,0x0,0,0,0\n"), "line 2: motion_scale is 0"},
        {"flo", DATA("PIEH\xFF\xFF\xFF\xFF\x01\0\0\0"), "-1x1 is not a picture"},
        {"flo", DATA("PIEH\x01\0\0\0\x01\0\0\0\0\0\xC0\x7F\0\0\0\0"),
            "pixel at (0,0) does not consist"},
        {"flo", DATA("PIEH\x01\0\0\0\x01\0\0\0\0\0\0\x3E\0\0\0\0"),
            "byte 20: the vector of the pixel"},
        {"flo", DATA("PIEH\x02\0\0\0\x01\0\0\0\0\0\x80\x3F\0\0\0\0\0\0\0\0\0\0\0\0"),
            "pixel at (1,0) has another vector"},
        {"flo", DATA("PIEH\x00\x00\x10\0\x00\x00\x10\0"), "byte 12: ends here"},
        {"mvf", DATA("GPUMEMVF\x02\0\0\0"), "byte 12: ends here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool read = read_bytes(
            gpume_vectors_format_named(cases[i].format), cases[i].data, cases[i].bytes, BLOCK);
        REQUIRE(!read);
        if (!strstr(logged.last, cases[i].says) || strncmp(logged.last, "/dev/fd/", 8) != 0) {
            fprintf(stderr, "case %zu says '%s', not '%s'\n", i, logged.last, cases[i].says);
            REQUIRE(strstr(logged.last, cases[i].says));
        }
    }
}

/* Impossible headers of .mvf are refused; the longer headers of a later version are read. */
static void test_mvf_heads(void)
{
    static const struct {
        size_t at;
        unsigned char value;
        const char *says;
    } cases[] = {{8, 4, "version 4"}, {8, 0, "version 0"}, {8, 2, "impossible"},
        {8, 3, "impossible"}, {12, 63, "impossible"}, {16, 0, "impossible"}, {24, 0, "impossible"},
        {32, 11, "impossible"}, {32, 16, "does not fit"}, {57, 5, "impossible"},
        {64, 'f', "no header of a motion"}, {68, 47, "does not fit"}, {72, 25, "does not fit"},
        {104, 3, "does not fit"}, {108, 2, "does not fit"}, {87, 2, "does not fit"}};
    struct golden *mvf = &goldens[MVF];
    unsigned char data[512];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(data, mvf->data, mvf->bytes);
        data[cases[i].at] = cases[i].value;
        REQUIRE(!read_bytes(NULL, data, mvf->bytes, 0));
        if (!strstr(logged.last, cases[i].says)) {
            fprintf(stderr, "case %zu says '%s', not '%s'\n", i, logged.last, cases[i].says);
            REQUIRE(strstr(logged.last, cases[i].says));
        }
    }
    memcpy(data, mvf->data, 64);
    memset(data + 64, 0xAA, 8);
    memcpy(data + 72, mvf->data + 64, mvf->bytes - 64);
    data[12] = 72;
    const struct gpume_vectors_source source = {
        .path = pipe_of(data, mvf->bytes + 8), .log = counting_log};
    check_source(&source, 0, FIELDS, mvf->columns);
}

/* Two candidates of a block of 8x4 at (32,16), with every member of version 3, and the same in CSV.
 */
#define PLACE "\x20\x00\x00\x01\x00\x07\x0C\x00"
static const char list[] =
    "GPUMEMVF\x03\0\0\0\x40\0\0\0\x28\0\0\0\x14\0\0\0\0\0\0\0\xF7\x3F\0\0\x44\0\0\0"
    "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0\x04\0"
    "\0\0"
    "FIEL\x30\0\0\0\x88\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\x02\0\0\0\x01\0\0\0"
    "\xF7\xFF\x02\0\x8F\0\0\0\x01\0\0\0" PLACE "\x02\0\0\0\0\0\0\0\x10\0\x04\0\x05\0\0\0"
    "\x04\0\0\0\0\0\0\0\xFF\xFF\0\0\0\0\0\0\xFF\xFF\xFF\xFF\x02\0\0\0\x64\0\0\0\x03\0\0\0"
    "\0\0\0\0\x96\0\0\0\x01\0\0\0" PLACE "\x01\0\0\0\0\0\0\0\x10\0\x04\0\x01\0\0\0"
    "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0\x01\0\0\0\x96\0\0\0\0\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF";
static const char list_csv[] =
    "frame,ref,x,y,w,h,dx,dy,cost,rank,shape,bits,ref2,dx2,dy2,candidate,second,ties,texture,"
    "return\n"
    "3,2,32,16,8,4,-2.25,0.5,143,1,16x4,5,4,-0.25,0,0,,2,100,0.75\n"
    "3,1,32,16,8,4,0,0,150,1,16x4,1,,,,1,150,0,0,\n";
#define LIST_BYTES (sizeof list - 1)

/* What the data, in any format, become in another one. */
static bool becomes(const struct gpume_vectors_format *format, const char *data, size_t bytes,
    const char *wanted, size_t wanted_bytes)
{
    static const struct gpume_vectors_info none;
    struct gpume_out_set set = {.overwrite = true};
    struct gpume_vectors_writer *writer = NULL;
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_vectors_field *field = NULL;
    const struct gpume_vectors_source source = {.path = pipe_of(data, bytes), .log = counting_log};
    REQUIRE_EQUAL(gpume_vectors_reader_open(&reader, &source), GPUME_OK);
    REQUIRE_EQUAL(reader ? gpume_vectors_reader_next(reader, &field) : 1, GPUME_OK);
    struct gpume_vectors_info info = reader ? *gpume_vectors_reader_info(reader) : none;
    info.width = 40;
    info.height = 20;
    info.units = 4;
    info.joined = true;
    const struct gpume_vectors_output output = {
        .path = "list", .format = format, .set = &set, .log = counting_log};
    REQUIRE_EQUAL(gpume_vectors_writer_open(&writer, &output, &info), GPUME_OK);
    REQUIRE_EQUAL(writer && field ? gpume_vectors_writer_field(writer, field) : 1, GPUME_OK);
    REQUIRE_EQUAL(writer ? gpume_vectors_writer_finish(writer) : 1, GPUME_OK);
    gpume_vectors_writer_close(&writer);
    gpume_vectors_reader_close(&reader);
    unsigned char got[1024];
    const size_t got_bytes = load("list", got, sizeof got);
    REQUIRE(unlink("list") == 0);
    return got_bytes == wanted_bytes && memcmp(got, wanted, got_bytes) == 0;
}

/* A list of blocks in .mvf: its bytes, what is refused, and two fields that only it tells apart. */
static void test_mvf_lists(void)
{
    static const struct {
        size_t at;
        unsigned char value;
        const char *says;
    } cases[] = {{8, 2, "impossible"}, {24, 8, "impossible"}, {29, 0x7F, "impossible"},
        {32, 67, "impossible"}, {56, 8, "impossible"}, {60, 3, "impossible"},
        {104, 1, "does not fit"}, {108, 2, "does not fit"}, {131, 0x1C, "out of range"},
        {139, 0x7F, "out of range"}, {141, 5, "out of range"}, {143, 5, "out of range"},
        {155, 0x7F, "out of range"}, {227, 1, "out of range"}, {179, 4, "out of range"}};
    const struct gpume_vectors_format *mvf = &gpume_vectors_mvf, *csv = &gpume_vectors_csv;
    char data[2 * sizeof list];
    REQUIRE(becomes(csv, list, LIST_BYTES, list_csv, sizeof list_csv - 1));
    REQUIRE(becomes(mvf, list_csv, sizeof list_csv - 1, list, LIST_BYTES));
    REQUIRE(becomes(mvf, list, LIST_BYTES, list, LIST_BYTES));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(data, list, LIST_BYTES);
        data[cases[i].at] = (char)cases[i].value;
        const bool refused = !read_bytes(NULL, data, LIST_BYTES, 0);
        if (!refused || !strstr(logged.last, cases[i].says)) {
            fprintf(stderr, "list %zu says '%s', not '%s'\n", i, logged.last, cases[i].says);
            REQUIRE(refused && strstr(logged.last, cases[i].says));
        }
    }
    for (size_t bytes = 0; bytes < LIST_BYTES; bytes++) {
        REQUIRE(!read_bytes(mvf, list, bytes, 0));
    }
    memcpy(data, list, LIST_BYTES);
    memcpy(data + LIST_BYTES, list + 64, LIST_BYTES - 64);
    data[LIST_BYTES + 64] = 0x40; /* the second field begins below the first */
    REQUIRE(read_bytes(mvf, data, 2 * LIST_BYTES - 64, 0));
    REQUIRE_EQUAL(fields_read, 2);
}

/* Blocks that are no squares come back from every format that needs a grid and can be read. */
static void check_rectangles(
    const struct gpume_vectors_field *field, const struct gpume_vectors_info *info)
{
    struct gpume_out_set set = {.overwrite = true};
    struct gpume_vectors_info known = *info;
    struct gpume_vectors_writer *writer = NULL;
    const struct gpume_vectors_output output = {
        .path = "rectangles", .format = &gpume_vectors_mvf, .set = &set, .log = counting_log};
    REQUIRE_EQUAL(gpume_vectors_writer_open(&writer, &output, &known), GPUME_OK);
    REQUIRE_EQUAL(writer ? gpume_vectors_writer_field(writer, field) : 1, GPUME_OK);
    REQUIRE_EQUAL(writer ? gpume_vectors_writer_finish(writer) : 1, GPUME_OK);
    gpume_vectors_writer_close(&writer);
    struct gpume_vectors_reader *reader = NULL;
    const struct gpume_vectors_field *got = NULL;
    const struct gpume_vectors_source source = {.path = "rectangles", .log = counting_log};
    REQUIRE_EQUAL(gpume_vectors_reader_open(&reader, &source), GPUME_OK);
    REQUIRE(reader && gpume_vectors_reader_info(reader)->block_h == info->block_h);
    REQUIRE_EQUAL(reader ? gpume_vectors_reader_next(reader, &got) : 1, GPUME_OK);
    REQUIRE(got && gpume_vectors_on_grid(info, got));
    gpume_vectors_reader_close(&reader);
    REQUIRE(unlink("rectangles") == 0);
}

static void test_grid(void)
{
    struct gpume_vectors_block room[BLOCKS];
    struct gpume_vectors_field field = field_of(0);
    struct gpume_vectors_info info = {0};
    REQUIRE_EQUAL(gpume_vectors_take(&grid, &field, 0, BLOCKS, room, &field.blocks), BLOCKS);
    REQUIRE(field.blocks == room);
    gpume_vectors_find_grid(&field, &info);
    REQUIRE(info.width == WIDTH && info.height == HEIGHT && info.block_w == BLOCK &&
            info.block_h == BLOCK);
    room[1].x = 7;
    REQUIRE(!gpume_vectors_on_grid(&grid, &field));
    gpume_vectors_find_grid(&field, &info);
    REQUIRE(info.block_w == 0 && info.block_h == 0);
    /* A rectangle of 8x6: twice the first block. */
    room[1] = room[0];
    room[1].x = 8;
    field.width = 16;
    gpume_vectors_find_grid(&field, &info);
    REQUIRE(info.block_w == 8 && info.block_h == 8); /* a square that the edge cuts would do */
    field.height = 12;
    gpume_vectors_find_grid(&field, &info);
    REQUIRE(info.block_w == 0);
    room[1] = room[0];
    room[1].y = 6;
    field.width = 8;
    gpume_vectors_find_grid(&field, &info);
    REQUIRE(info.block_w == 8 && info.block_h == 6);
    check_rectangles(&field, &info);
    /* Of a larger grid, from the middle of a row on. */
    static const struct gpume_vectors_info large = {
        .width = 13, .height = 9, .block_w = 4, .block_h = 4};
    static const struct gpume_vector twelve[12] = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0},
        {0, 0}, {9, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    struct gpume_vectors_block some[6];
    const struct gpume_layer layer = {
        .block_w = 4, .block_h = 4, .blocks_x = 4, .blocks_y = 3, .vectors = twelve};
    const struct gpume_layer *const layers[] = {&layer};
    const struct gpume_field results = {.vector_units = 1, .layer_count = 1, .layers = layers};
    const struct gpume_vectors_block *rows = NULL;
    field = (struct gpume_vectors_field){.count = 12, .results = &results};
    REQUIRE(gpume_vectors_take(&large, &field, 3, 6, some, &rows) == 6 && rows == some);
    REQUIRE(some[0].x == 12 && some[0].y == 0 && some[0].w == 1 && some[0].h == 4);
    REQUIRE(some[4].x == 12 && some[4].y == 4 && some[4].dx == 9 * GPUME_VECTORS_UNITS);
    REQUIRE(some[5].x == 0 && some[5].y == 8 && some[5].w == 4 && some[5].h == 1);
}

/* Data that a format needs but the fields lack. */
static void test_needs(void)
{
    struct gpume_vectors_info info = grid;
    struct gpume_vectors_writer *writer = NULL;
    struct gpume_vectors_output output = {
        .path = "needs", .format = &gpume_vectors_hash, .log = counting_log};
    logged.lines = 0;
    info.columns &= ~(unsigned)GPUME_VECTORS_COST;
    REQUIRE_EQUAL(gpume_vectors_writer_open(&writer, &output, &info), GPUME_INVALID);
    REQUIRE(strstr(logged.last, "needs the costs"));
    info.block_w = info.block_h = 0;
    info.columns = grid.columns;
    output.format = &gpume_vectors_npz;
    REQUIRE_EQUAL(gpume_vectors_writer_open(&writer, &output, &info), GPUME_INVALID);
    REQUIRE(strstr(logged.last, "blocks of one size"));
    REQUIRE(logged.lines == 2 && !writer && access("needs", F_OK) != 0);
    /* Columns that are not known are left out, and stay so on the way back. */
    info = grid;
    info.columns = 0;
    output.path = "bare";
    static const struct gpume_vectors_format *const formats[] = {
        &gpume_vectors_csv, &gpume_vectors_jsonl, &gpume_vectors_npy, &gpume_vectors_mvf};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        output.format = formats[i];
        REQUIRE_EQUAL(gpume_vectors_writer_open(&writer, &output, &info), GPUME_OK);
        const struct gpume_vectors_field field = field_of(0);
        REQUIRE_EQUAL(writer ? gpume_vectors_writer_field(writer, &field) : 1, GPUME_OK);
        REQUIRE_EQUAL(writer ? gpume_vectors_writer_finish(writer) : 1, GPUME_OK);
        gpume_vectors_writer_close(&writer);
        const struct gpume_vectors_source source = {.path = "bare", .log = counting_log};
        check_source(&source, 0, 1, 0);
        REQUIRE(unlink("bare") == 0);
    }
}

/* The costliest block, and of two equal ones the first. */
static void test_ranks(void)
{
    static const struct gpume_vectors_block blocks[] = {
        {.cost = 5}, {.cost = 9}, {.cost = 5}, {.cost = 0}, {.cost = UINT32_MAX}};
    static const uint32_t wanted[] = {2, 1, 3, 4, 0};
    const struct gpume_vectors_field field = {.count = 5, .blocks = blocks}, *ranked = NULL;
    struct gpume_vectors_ranker *ranker = NULL;
    REQUIRE_EQUAL(gpume_vectors_ranker_create(&ranker, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_vectors_ranker_apply(ranker, &field, &ranked), GPUME_OK);
    for (size_t i = 0; ranked && i < 5; i++) {
        REQUIRE_EQUAL(ranked->blocks[i].rank, wanted[i]);
    }
    gpume_vectors_ranker_destroy(&ranker);
}

static void remove_all(void)
{
    DIR *dir = opendir(".");
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        /* Hidden files belong to unfinished outputs: there must be none. */
        REQUIRE(entry->d_name[0] != '.' || strspn(entry->d_name, ".") == strlen(entry->d_name));
        (void)unlink(entry->d_name);
    }
    closedir(dir);
}

/* Fields that are lent until they are released, each with its own memory, which is spoiled then.
 */
enum { LENT = 40, LENT_X = 96, LENT_Y = 64, LENT_BLOCKS = LENT_X * LENT_Y };

struct lent {
    struct gpume_field field; /* first: `release` gets its address */
    struct gpume_layer layer;
    const struct gpume_layer *list;
    struct gpume_vector vectors[LENT_BLOCKS];
    uint32_t costs[LENT_BLOCKS], ranks[LENT_BLOCKS];
    atomic_uint released;
};

static struct lent lent[LENT];

static void lend(uint32_t number)
{
    struct lent *one = &lent[number];
    uint64_t state = number + 1;
    for (uint32_t i = 0; i < LENT_BLOCKS; i++) {
        one->vectors[i] = (struct gpume_vector){(int16_t)(harness_random(&state) % 65 - 32),
            (int16_t)(harness_random(&state) % 65 - 32)};
        one->costs[i] = harness_random(&state) >> (i % 30);
        one->ranks[i] = i * 5 % LENT_BLOCKS;
    }
    one->layer = (struct gpume_layer){.block_w = BLOCK,
        .block_h = BLOCK,
        .blocks_x = LENT_X,
        .blocks_y = LENT_Y,
        .vectors = one->vectors,
        .costs = one->costs,
        .ranks = one->ranks};
    one->list = &one->layer;
    one->field = (struct gpume_field){
        .ref = number, .vector_units = 1, .layer_count = 1, .layers = &one->list};
    atomic_store(&one->released, 0);
}

static void take_back(const struct gpume_field **field)
{
    struct lent *one = &lent[(*field)->ref];
    memset(one->vectors, 0x55, sizeof(one->vectors));
    memset(one->costs, 0x55, sizeof(one->costs));
    memset(one->ranks, 0x55, sizeof(one->ranks));
    atomic_fetch_add(&one->released, 1);
    *field = NULL;
}

static void write_lent(
    const struct gpume_vectors_format *format, const char *path, uint32_t processors)
{
    struct gpume_out_set set = {.overwrite = true};
    const struct gpume_vectors_output output = {
        .path = path, .format = format, .set = &set, .processors = processors, .log = counting_log};
    struct gpume_vectors_info info = grid;
    struct gpume_vectors_writer *writer = NULL;
    info.width = LENT_X * BLOCK;
    info.height = LENT_Y * BLOCK;
    REQUIRE_EQUAL(gpume_vectors_writer_open(&writer, &output, &info), GPUME_OK);
    for (uint32_t i = 0; writer && i < LENT; i++) {
        lend(i);
        const struct gpume_vectors_field field = {.frame = i + 1,
            .ref = i,
            .time_us = 40000 * (int64_t)i,
            .columns = info.columns,
            .count = LENT_BLOCKS,
            .width = info.width,
            .height = info.height,
            .results = &lent[i].field,
            .release = take_back};
        REQUIRE_EQUAL(gpume_vectors_writer_field(writer, &field), GPUME_OK);
    }
    REQUIRE(writer && gpume_vectors_writer_wait(writer) == GPUME_OK);
    for (uint32_t i = 0; i < LENT; i++) {
        REQUIRE_EQUAL(atomic_load(&lent[i].released), 1);
    }
    REQUIRE(writer && gpume_vectors_writer_finish(writer) == GPUME_OK);
    gpume_vectors_writer_close(&writer);
}

static bool are_same(const char *a, const char *b)
{
    FILE *files[] = {fopen(a, "rb"), fopen(b, "rb")};
    int left = 0, right = 0;
    REQUIRE(files[0] != NULL && files[1] != NULL);
    while (files[0] && files[1] && left == right && left != EOF) {
        left = fgetc(files[0]);
        right = fgetc(files[1]);
    }
    for (size_t i = 0; i < 2; i++) {
        if (files[i]) {
            fclose(files[i]);
        }
    }
    return left == EOF && right == EOF;
}

/* In every format one thread and many write the same bytes, and each field is released once. */
static void test_lent(void)
{
    const struct gpume_vectors_format *format;
    for (size_t i = 0; (format = gpume_vectors_format_at(i)) != NULL; i++) {
        if (!format->numbered) {
            write_lent(format, "by one", 1);
            write_lent(format, "by many", 64);
            REQUIRE(are_same("by one", "by many"));
        }
    }
}

int main(void)
{
    char folder[] = "test_formats.XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        return 1;
    }
    make_texts();
    make_npy();
    make_binaries();
    make_npz();
    test_writers();
    test_names();
    test_readers();
    test_pixels();
    test_damage();
    test_refusals();
    test_mvf_heads();
    test_mvf_lists();
    test_grid();
    test_needs();
    test_ranks();
    test_lent();
    remove_all();
    REQUIRE(chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
