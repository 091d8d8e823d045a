/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .npz: NumPy's archive of arrays, each a .npy file. Blocks are in arrays of their own shape,
 * frames x rows x columns. An array must stand in one piece, and the number of frames is known only
 * at the end; so every array grows in an unnamed temporary file and is copied then.
 */
#include "base/base.h"
#include "files/bytes.h"
#include "files/out.h"
#include "files/path.h"
#include "vectors/block_row.h"
#include "vectors/formats/npy.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* --- the archive: members one after the other, stored without compression, in the ZIP64 form, so
 * that neither a member nor the archive is limited to 4 GiB. Nothing is ever rewritten: the length
 * and the checksum of a member are known before its first byte. As the .ZIP File Format
 * Specification (APPNOTE.TXT) 6.3 says; section numbers are of it. */

#define ZIP_MEMBERS_MAX 24u
#define ZIP_NAME_BYTES 24u
#define VERSION 45u          /* 4.5: ZIP64 */
#define DATE 0x21u           /* 1980-01-01: the same bytes on every day */
#define ELSEWHERE UINT32_MAX /* the number is in the ZIP64 field */
#define ZIP64_FIELD 1u       /* its number */

struct zip_member {
    char name[ZIP_NAME_BYTES];
    uint32_t crc;
    uint64_t bytes, at; /* at: the position in the archive */
};

/* Starts as zero but for the output. */
struct zip {
    struct gpume_out *out;
    uint64_t at; /* bytes written */
    struct zip_member members[ZIP_MEMBERS_MAX];
    uint32_t count;
};

static int zip_write(struct zip *zip, const void *data, size_t bytes)
{
    zip->at += bytes;
    return gpume_out_write(zip->out, data, bytes);
}

/* What local (4.3.7) and central (4.3.12) headers have in common, from the version needed to the
 * length of the name; the ZIP64 field has `extra` bytes. */
static unsigned char *zip_put_common(
    unsigned char *at, const struct zip_member *member, uint16_t extra)
{
    at = gpume_le_put16(at, VERSION);
    at = gpume_le_put16(at, 0); /* flags */
    at = gpume_le_put16(at, 0); /* stored */
    at = gpume_le_put16(at, 0); /* time */
    at = gpume_le_put16(at, DATE);
    at = gpume_le_put32(at, member->crc);
    at = gpume_le_put32(at, ELSEWHERE);
    at = gpume_le_put32(at, ELSEWHERE);
    at = gpume_le_put16(at, (uint16_t)strlen(member->name));
    return gpume_le_put16(at, extra);
}

/* The ZIP64 field (4.5.3): both sizes; the central header's also has the position. */
static unsigned char *zip_put_sizes(
    unsigned char *at, const struct zip_member *member, uint16_t bytes)
{
    at = gpume_le_put16(at, ZIP64_FIELD);
    at = gpume_le_put16(at, bytes);
    at = gpume_le_put64(at, member->bytes);
    return gpume_le_put64(at, member->bytes);
}

static unsigned char *zip_put_name(unsigned char *at, const struct zip_member *member)
{
    const size_t length = strlen(member->name);
    memcpy(at, member->name, length);
    return at + length;
}

/* Begins a member; its bytes follow by zip_write, exactly as many as announced. */
static int zip_begin(struct zip *zip, const char *name, uint32_t crc, uint64_t bytes)
{
    unsigned char head[80];
    assert(zip->count < ZIP_MEMBERS_MAX && strlen(name) < ZIP_NAME_BYTES);
    struct zip_member *member = &zip->members[zip->count++];
    *member = (struct zip_member){.crc = crc, .bytes = bytes, .at = zip->at};
    memcpy(member->name, name, strlen(name));
    unsigned char *at = gpume_le_put32(head, 0x04034B50);
    at = zip_put_common(at, member, 4 + 16);
    at = zip_put_name(at, member);
    at = zip_put_sizes(at, member, 16);
    return zip_write(zip, head, (size_t)(at - head));
}

static int zip_write_central(struct zip *zip, const struct zip_member *member)
{
    unsigned char head[112];
    unsigned char *at = gpume_le_put32(head, 0x02014B50);
    at = gpume_le_put16(at, VERSION); /* made by */
    at = zip_put_common(at, member, 4 + 24);
    at = gpume_le_put16(at, 0); /* comment */
    at = gpume_le_put16(at, 0); /* disk */
    at = gpume_le_put16(at, 0); /* attributes */
    at = gpume_le_put32(at, 0);
    at = gpume_le_put32(at, ELSEWHERE); /* position */
    at = zip_put_name(at, member);
    at = zip_put_sizes(at, member, 24);
    at = gpume_le_put64(at, member->at);
    return zip_write(zip, head, (size_t)(at - head));
}

/* The end of the central directory: as ZIP64 (4.3.14), where that lies (4.3.15), and the older form
 * (4.3.16), which refers to them. */
static int zip_write_end(struct zip *zip, uint64_t directory)
{
    const uint64_t end = zip->at;
    unsigned char tail[56 + 20 + 22];
    unsigned char *at = gpume_le_put32(tail, 0x06064B50);
    at = gpume_le_put64(at, 56 - 12); /* bytes that follow */
    at = gpume_le_put16(at, VERSION); /* made by */
    at = gpume_le_put16(at, VERSION);
    at = gpume_le_put32(at, 0); /* disks */
    at = gpume_le_put32(at, 0);
    at = gpume_le_put64(at, zip->count);
    at = gpume_le_put64(at, zip->count);
    at = gpume_le_put64(at, end - directory);
    at = gpume_le_put64(at, directory);
    at = gpume_le_put32(at, 0x07064B50);
    at = gpume_le_put32(at, 0);
    at = gpume_le_put64(at, end);
    at = gpume_le_put32(at, 1);
    at = gpume_le_put32(at, 0x06054B50);
    at = gpume_le_put32(at, 0); /* disks */
    at = gpume_le_put16(at, (uint16_t)zip->count);
    at = gpume_le_put16(at, (uint16_t)zip->count);
    at = gpume_le_put32(at, ELSEWHERE);
    at = gpume_le_put32(at, ELSEWHERE);
    at = gpume_le_put16(at, 0); /* comment */
    assert(at == tail + sizeof(tail));
    return zip_write(zip, tail, sizeof(tail));
}

/* Ends the archive with the list of its members. */
static int zip_finish(struct zip *zip)
{
    const uint64_t directory = zip->at;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < zip->count; i++) {
        GPUME_TRY(zip_write_central(zip, &zip->members[i]));
    }
    GPUME_TRY(zip_write_end(zip, directory));
fail:
    return status;
}

/* --- the arrays */

#define HEAD_BYTES 128u
#define ITEM_BYTES_MAX 8u /* of a block or of a frame */

/* Whether an array has one item per block, or one per frame. */
enum items { BLOCKS, FRAMES };

enum array {
    VECTORS,
    COSTS,
    RANKS,
    BITS,
    SECOND,
    TIES,
    TEXTURE,
    RETURNS,
    FRAME,
    REF,
    TIME,
    ARRAYS,
};

static const struct {
    const char *name;
    unsigned column; /* that it needs; 0: none */
    enum items of;
    const char *type, *fine; /* fine: where the run has fractions of a pixel */
} arrays[ARRAYS] = {
    [VECTORS] = {"vectors", 0, BLOCKS, "<i2", "<f4"},
    [COSTS] = {"costs", GPUME_VECTORS_COST, BLOCKS, "<u4", "<u4"},
    [RANKS] = {"ranks", GPUME_VECTORS_RANK, BLOCKS, "<u4", "<u4"},
    [BITS] = {"bits", GPUME_VECTORS_BITS, BLOCKS, "<u4", "<u4"},
    [SECOND] = {"second", GPUME_VECTORS_SECOND, BLOCKS, "<i8", "<i8"},
    [TIES] = {"ties", GPUME_VECTORS_TIES, BLOCKS, "<u4", "<u4"},
    [TEXTURE] = {"texture", GPUME_VECTORS_TEXTURE, BLOCKS, "<u4", "<u4"},
    [RETURNS] = {"returns", GPUME_VECTORS_RETURN, BLOCKS, "<i4", "<f4"},
    [FRAME] = {"frames", 0, FRAMES, "<i8", "<i8"},
    [REF] = {"refs", GPUME_VECTORS_REF, FRAMES, "<i8", "<i8"},
    [TIME] = {"times", GPUME_VECTORS_TIME, FRAMES, "<f8", "<f8"},
};

struct npz {
    FILE *files[ARRAYS]; /* NULL: the run has no such array, or no field came */
    uint32_t crcs[ARRAYS];
    uint64_t bytes[ARRAYS];
    uint64_t frames;
    struct zip zip;
};

static bool has(const struct gpume_vectors_info *info, enum array i)
{
    return (info->columns & arrays[i].column) == arrays[i].column;
}

static int npz_refuse(const struct gpume_vectors_target *target)
{
    return gpume_log_fail(target->log, GPUME_IO, "a temporary file cannot be used: %s; %s",
        strerror(errno), gpume_remedy(errno, "make room in /tmp, or choose npy"));
}

static int append(const struct gpume_vectors_target *target, enum array i,
    const unsigned char *data, size_t bytes)
{
    struct npz *self = target->state;
    if (!self->files[i] && !(self->files[i] = tmpfile())) {
        return npz_refuse(target);
    }
    self->crcs[i] = (uint32_t)crc32_z(self->crcs[i], data, bytes);
    self->bytes[i] += bytes;
    return fwrite(data, 1, bytes, self->files[i]) == bytes ? GPUME_OK : npz_refuse(target);
}

/* Writes the item of a block; empty values are -1. */
static unsigned char *put_block(
    unsigned char *at, enum array i, const char *type, const struct gpume_vectors_block *block)
{
    switch (i) {
    case VECTORS:
        return gpume_npy_put_pixels(gpume_npy_put_pixels(at, type, block->dx), type, block->dy);
    case COSTS:
        return gpume_le_put32(at, block->cost);
    case RANKS:
        return gpume_le_put32(at, block->rank);
    case BITS:
        return gpume_le_put32(at, block->bits);
    case SECOND:
        return gpume_le_put64(at, block->second == GPUME_NONE ? UINT64_MAX : block->second);
    case TIES:
        return gpume_le_put32(at, block->ties);
    case TEXTURE:
        return gpume_le_put32(at, block->texture);
    default:
        return gpume_npy_put_pixels(at, type,
            block->returns == GPUME_NONE ? -GPUME_VECTORS_UNITS : (int64_t)block->returns);
    }
}

static const char *npz_type_of(const struct gpume_vectors_info *info, enum array i)
{
    return info->units > 1 ? arrays[i].fine : arrays[i].type;
}

/* Appends some blocks to every array. */
static int append_blocks(const struct gpume_vectors_target *target,
    const struct gpume_vectors_block *blocks, size_t count)
{
    unsigned char data[GPUME_VECTORS_PART * ITEM_BYTES_MAX];
    for (enum array i = 0; i < ARRAYS; i++) {
        unsigned char *at = data;
        if (arrays[i].of == FRAMES || !has(target->info, i)) {
            continue;
        }
        for (size_t j = 0; j < count; j++) {
            at = put_block(at, i, npz_type_of(target->info, i), &blocks[j]);
        }
        GPUME_CHECK(append(target, i, data, (size_t)(at - data)));
    }
    return GPUME_OK;
}

static int append_frame(const struct gpume_vectors_target *target)
{
    const double seconds = (double)target->field->time_us / 1e6;
    uint64_t values[ARRAYS] = {[FRAME] = target->field->frame, [REF] = target->field->ref};
    unsigned char data[8];
    memcpy(&values[TIME], &seconds, sizeof(seconds));
    for (enum array i = FRAME; i < ARRAYS; i++) {
        if (has(target->info, i)) {
            (void)gpume_le_put64(data, values[i]);
            GPUME_CHECK(append(target, i, data, sizeof(data)));
        }
    }
    return GPUME_OK;
}

static int npz_field(const struct gpume_vectors_target *target, struct gpume_out *out)
{
    struct npz *self = target->state;
    struct gpume_vectors_block room[GPUME_VECTORS_PART];
    const struct gpume_vectors_block *blocks;
    (void)out;
    for (size_t first = 0; first < target->field->count; first += GPUME_VECTORS_PART) {
        const size_t rest = target->field->count - first;
        const size_t part = rest < GPUME_VECTORS_PART ? rest : GPUME_VECTORS_PART;
        const size_t count =
            gpume_vectors_take(target->info, target->field, first, part, room, &blocks);
        GPUME_CHECK(append_blocks(target, blocks, count));
    }
    self->frames++;
    return append_frame(target);
}

/* Writes the header of a member's array and begins the member. */
static int begin(struct npz *self, const char *name, const char *type, const char *shape,
    uint32_t crc, uint64_t bytes)
{
    char head[HEAD_BYTES], member[ZIP_NAME_BYTES], quoted[8];
    snprintf(quoted, sizeof(quoted), "'%s'", type);
    snprintf(member, sizeof(member), "%s.npy", name);
    gpume_npy_head(head, sizeof(head), quoted, shape);
    crc =
        (uint32_t)crc32_combine(crc32_z(0, (const void *)head, sizeof(head)), crc, (z_off_t)bytes);
    GPUME_CHECK(zip_begin(&self->zip, member, crc, sizeof(head) + bytes));
    return zip_write(&self->zip, head, sizeof(head));
}

/* A member with up to two numbers of the whole file. */
static int write_numbers(
    struct npz *self, const char *name, const char *shape, const uint32_t numbers[2], size_t count)
{
    unsigned char data[8];
    (void)gpume_le_put32(gpume_le_put32(data, numbers[0]), numbers[1]);
    const uint32_t crc = (uint32_t)crc32_z(0, data, 4 * count);
    GPUME_CHECK(begin(self, name, "<i4", shape, crc, 4 * count));
    return zip_write(&self->zip, data, 4 * count);
}

/* Copies a temporary file into the archive. */
static int pour(const struct gpume_vectors_target *target, FILE *file, uint64_t bytes)
{
    struct npz *self = target->state;
    unsigned char part[16384];
    if (fflush(file) != 0 || fseek(file, 0, SEEK_SET) != 0) {
        return npz_refuse(target);
    }
    while (bytes > 0) {
        const size_t wanted = bytes < sizeof(part) ? (size_t)bytes : sizeof(part);
        if (fread(part, 1, wanted, file) != wanted) {
            return npz_refuse(target);
        }
        GPUME_CHECK(zip_write(&self->zip, part, wanted));
        bytes -= wanted;
    }
    return GPUME_OK;
}

static int write_array(const struct gpume_vectors_target *target, enum array i)
{
    struct npz *self = target->state;
    const struct gpume_vectors_info *info = target->info;
    char shape[80];
    if (arrays[i].of == FRAMES) {
        snprintf(shape, sizeof(shape), "(%" PRIu64 ",)", self->frames);
    } else {
        snprintf(shape, sizeof(shape), "(%" PRIu64 ", %" PRIu32 ", %" PRIu32 "%s)", self->frames,
            gpume_vectors_blocks_y(info), gpume_vectors_blocks_x(info), i == VECTORS ? ", 2" : "");
    }
    GPUME_CHECK(
        begin(self, arrays[i].name, npz_type_of(info, i), shape, self->crcs[i], self->bytes[i]));
    return self->files[i] ? pour(target, self->files[i], self->bytes[i]) : GPUME_OK;
}

static int npz_finish(const struct gpume_vectors_target *target, struct gpume_out *out)
{
    struct npz *self = target->state;
    const struct gpume_vectors_info *info = target->info;
    self->zip.out = out;
    for (enum array i = 0; i < ARRAYS; i++) {
        GPUME_CHECK(has(info, i) ? write_array(target, i) : GPUME_OK);
    }
    GPUME_CHECK(
        write_numbers(self, "block", "(2,)", (const uint32_t[]){info->block_w, info->block_h}, 2));
    GPUME_CHECK(
        write_numbers(self, "size", "(2,)", (const uint32_t[]){info->width, info->height}, 2));
    GPUME_CHECK(write_numbers(self, "subpel", "()", (const uint32_t[]){info->units, 0}, 1));
    return zip_finish(&self->zip);
}

static void npz_close(const struct gpume_vectors_target *target)
{
    struct npz *self = target->state;
    for (enum array i = 0; i < ARRAYS; i++) {
        if (self->files[i]) {
            (void)fclose(self->files[i]);
        }
    }
}

static const struct gpume_vectors_writer_ops writer = {
    .state_bytes = sizeof(struct npz),
    .field = npz_field,
    .finish = npz_finish,
    .close = npz_close,
};

const struct gpume_vectors_format gpume_vectors_npz = {
    .name = "npz",
    .extension = ".npz",
    .columns = GPUME_VECTORS_REF | GPUME_VECTORS_COST | GPUME_VECTORS_RANK | GPUME_VECTORS_TIME |
               GPUME_VECTORS_BITS | GPUME_VECTORS_SECOND | GPUME_VECTORS_TIES |
               GPUME_VECTORS_TEXTURE | GPUME_VECTORS_RETURN,
    .needs_grid = true,
    .binary = true,
    .fixed_units = true,
    .at_end = true,
    .begins = "PK\x03\x04",
    .writer = &writer,
    .unread = "is an archive of arrays, which is only written; give a file of another format",
};
