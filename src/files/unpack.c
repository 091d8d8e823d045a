/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/unpack.h"

#include "base/status.h"
#include "gpume/gpume.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define WINDOW_BITS 15 /* any */
#define GZIP_HEADER 16 /* added to them */

struct gpume_unpacker {
    bool between; /* two members */
    ZSTD_DCtx *zstd;
    bool has_gzip;
    z_stream gzip;
};

enum gpume_packing gpume_packing_of(const unsigned char *head, size_t bytes)
{
    if (bytes < GPUME_UNPACK_HEAD_BYTES) {
        return GPUME_PACKING_NONE;
    }
    const bool gzip = head[0] == 0x1f && head[1] == 0x8b && head[2] == Z_DEFLATED;
    const bool frame = head[0] == 0x28 && head[1] == 0xb5 && head[2] == 0x2f && head[3] == 0xfd;
    const bool skipped =
        (head[0] & 0xf0) == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18;
    return gzip ? GPUME_PACKING_GZIP : frame || skipped ? GPUME_PACKING_ZSTD : GPUME_PACKING_NONE;
}

int gpume_unpacker_create(struct gpume_unpacker **unpacker, enum gpume_packing packing)
{
    struct gpume_unpacker *self = calloc(1, sizeof(*self));
    bool done = false;
    if (self && packing == GPUME_PACKING_GZIP) {
        done = self->has_gzip = inflateInit2(&self->gzip, WINDOW_BITS + GZIP_HEADER) == Z_OK;
    } else if (self) {
        self->zstd = ZSTD_createDCtx();
        done = self->zstd;
    }
    if (!done) {
        gpume_unpacker_destroy(&self);
        return GPUME_NOMEM;
    }
    self->between = true;
    *unpacker = self;
    return GPUME_OK;
}

static uInt at_most_uint(size_t bytes)
{
    return bytes < UINT_MAX ? (uInt)bytes : UINT_MAX;
}

static int unpack_gzip(struct gpume_unpacker *self, const unsigned char **from,
    const unsigned char *end, unsigned char *to, size_t room, size_t *got)
{
    z_stream *gzip = &self->gzip;
    if (self->between && inflateReset(gzip) != Z_OK) {
        return GPUME_NOMEM;
    }
    gzip->next_in = (z_const Bytef *)*from;
    gzip->avail_in = at_most_uint((size_t)(end - *from));
    gzip->next_out = to;
    gzip->avail_out = at_most_uint(room);
    const int result = inflate(gzip, Z_NO_FLUSH);
    *from = gzip->next_in;
    *got = (size_t)(gzip->next_out - to);
    self->between = result == Z_STREAM_END;
    return result == Z_MEM_ERROR                                               ? GPUME_NOMEM
           : result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR ? GPUME_OK
                                                                               : GPUME_INVALID;
}

static int unpack_zstd(struct gpume_unpacker *self, const unsigned char **from,
    const unsigned char *end, unsigned char *to, size_t room, size_t *got)
{
    ZSTD_inBuffer in = {*from, (size_t)(end - *from), 0};
    ZSTD_outBuffer out = {to, room, 0};
    const size_t result = ZSTD_decompressStream(self->zstd, &out, &in);
    *from += in.pos;
    *got = out.pos;
    self->between = result == 0;
    const ZSTD_ErrorCode error = ZSTD_getErrorCode(result);
    return error == ZSTD_error_no_error                        ? GPUME_OK
           : error == ZSTD_error_memory_allocation             ? GPUME_NOMEM
           : error == ZSTD_error_frameParameter_windowTooLarge ? GPUME_UNSUPPORTED
                                                               : GPUME_INVALID;
}

int gpume_unpack(struct gpume_unpacker *unpacker, const unsigned char **from,
    const unsigned char *end, unsigned char *to, size_t room, size_t *got)
{
    *got = 0;
    if (unpacker->between && *from == end) {
        return GPUME_OK;
    }
    return (unpacker->has_gzip ? unpack_gzip : unpack_zstd)(unpacker, from, end, to, room, got);
}

bool gpume_unpacker_is_between(const struct gpume_unpacker *unpacker)
{
    return unpacker->between;
}

void gpume_unpacker_destroy(struct gpume_unpacker **unpacker)
{
    struct gpume_unpacker *self = *unpacker;
    if (self) {
        if (self->has_gzip) {
            (void)inflateEnd(&self->gzip);
        }
        ZSTD_freeDCtx(self->zstd);
        free(self);
        *unpacker = NULL;
    }
}

static int layer_make(void *opaque, const unsigned char **from, const unsigned char *end,
    unsigned char *to, size_t room, size_t *got, bool *whole)
{
    struct gpume_unpacker *unpacker = opaque;
    const int status = gpume_unpack(unpacker, from, end, to, room, got);
    *whole = unpacker->between;
    return status;
}

static void layer_close(void *opaque)
{
    struct gpume_unpacker *unpacker = opaque;
    gpume_unpacker_destroy(&unpacker);
}

int gpume_unpack_stream(struct gpume_stream *stream, const struct gpume_log *log)
{
    const unsigned char *head;
    size_t bytes;
    struct gpume_unpacker *unpacker = NULL;
    GPUME_CHECK(gpume_stream_peek(stream, GPUME_UNPACK_HEAD_BYTES, &head, &bytes));
    const enum gpume_packing packing = gpume_packing_of(head, bytes);
    if (packing == GPUME_PACKING_NONE) {
        return GPUME_OK;
    }
    if (gpume_unpacker_create(&unpacker, packing) != GPUME_OK) {
        return gpume_log_nomem(log, "decompression");
    }
    return gpume_stream_add(stream, (struct gpume_stream_layer){layer_make, layer_close, unpacker});
}
