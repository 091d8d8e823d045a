/* SPDX-License-Identifier: BSD-2-Clause */
/* As the .ZIP File Format Specification (APPNOTE.TXT) 6.3 says; section numbers are of it. */
#include "files/zip.h"

#include "base/status.h"
#include "files/little_endian.h"

#include <gpume/gpume.h>

#include <assert.h>
#include <string.h>
#include <zlib.h>

#define VERSION 45u          /* 4.5: ZIP64 */
#define DATE 0x21u           /* 1980-01-01: the same bytes on every day */
#define ELSEWHERE UINT32_MAX /* the number is in the ZIP64 field */
#define ZIP64_FIELD 1u       /* its number */

uint32_t gpume_crc32(uint32_t crc, const void *data, size_t bytes)
{
    return (uint32_t)crc32_z(crc, data, bytes);
}

uint32_t gpume_crc32_join(uint32_t first, uint32_t second, uint64_t bytes)
{
    return (uint32_t)crc32_combine(first, second, (z_off_t)bytes);
}

int gpume_zip_write(struct gpume_zip *zip, const void *data, size_t bytes)
{
    zip->at += bytes;
    return gpume_out_write(zip->out, data, bytes);
}

/* What local (4.3.7) and central (4.3.12) headers have in common, from the version needed to the
 * length of the name; the ZIP64 field has `extra` bytes. */
static unsigned char *put_common(
    unsigned char *at, const struct gpume_zip_member *member, uint16_t extra)
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
static unsigned char *put_sizes(
    unsigned char *at, const struct gpume_zip_member *member, uint16_t bytes)
{
    at = gpume_le_put16(at, ZIP64_FIELD);
    at = gpume_le_put16(at, bytes);
    at = gpume_le_put64(at, member->bytes);
    return gpume_le_put64(at, member->bytes);
}

static unsigned char *put_name(unsigned char *at, const struct gpume_zip_member *member)
{
    const size_t length = strlen(member->name);
    memcpy(at, member->name, length);
    return at + length;
}

int gpume_zip_begin(struct gpume_zip *zip, const char *name, uint32_t crc, uint64_t bytes)
{
    unsigned char head[80];
    assert(zip->count < GPUME_ZIP_MEMBERS_MAX && strlen(name) < GPUME_ZIP_NAME_BYTES);
    struct gpume_zip_member *member = &zip->members[zip->count++];
    *member = (struct gpume_zip_member){.crc = crc, .bytes = bytes, .at = zip->at};
    memcpy(member->name, name, strlen(name));
    unsigned char *at = gpume_le_put32(head, 0x04034B50);
    at = put_common(at, member, 4 + 16);
    at = put_name(at, member);
    at = put_sizes(at, member, 16);
    return gpume_zip_write(zip, head, (size_t)(at - head));
}

static int write_central(struct gpume_zip *zip, const struct gpume_zip_member *member)
{
    unsigned char head[112];
    unsigned char *at = gpume_le_put32(head, 0x02014B50);
    at = gpume_le_put16(at, VERSION); /* made by */
    at = put_common(at, member, 4 + 24);
    at = gpume_le_put16(at, 0); /* comment */
    at = gpume_le_put16(at, 0); /* disk */
    at = gpume_le_put16(at, 0); /* attributes */
    at = gpume_le_put32(at, 0);
    at = gpume_le_put32(at, ELSEWHERE); /* position */
    at = put_name(at, member);
    at = put_sizes(at, member, 24);
    at = gpume_le_put64(at, member->at);
    return gpume_zip_write(zip, head, (size_t)(at - head));
}

/* The end of the central directory: as ZIP64 (4.3.14), where that lies (4.3.15), and the older form
 * (4.3.16), which refers to them. */
static int write_end(struct gpume_zip *zip, uint64_t directory)
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
    return gpume_zip_write(zip, tail, sizeof(tail));
}

int gpume_zip_finish(struct gpume_zip *zip)
{
    const uint64_t directory = zip->at;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < zip->count; i++) {
        GPUME_TRY(write_central(zip, &zip->members[i]));
    }
    GPUME_TRY(write_end(zip, directory));
fail:
    return status;
}
