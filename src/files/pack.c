/* SPDX-License-Identifier: BSD-2-Clause */
/* Each thread that packs takes a slot: the memory of a text, and a compressor. */
#include "files/pack.h"

#include "base/base.h"
#include "gpume/gpume.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* Where time rises faster than files shrink: on rows of vectors.csv, level 6 of gzip saves 6 % in
 * twice the time, level 7 of zstd 8 % in ten times the time. */
#define GZIP_LEVEL 4
#define ZSTD_LEVEL 3

#define WINDOW_BITS 15 /* the largest; for unpacking, any */
#define GZIP_HEADER 16 /* added to them */
#define MEMORY_LEVEL 8 /* zlib's default */
#define THREADS_MAX 8u /* half as many as a large output has buffers (writer.c) */

struct slot {
    bool busy;
    char *text;
    z_stream gzip;
    bool has_gzip; /* deflateInit2 has succeeded */
    ZSTD_CCtx *zstd;
};

/* A library that compresses. */
struct codec {
    int (*open)(struct slot *slot);
    size_t (*bound)(struct slot *slot, size_t bytes);

    /* Compresses the slot's text; at most `room` bytes. 0: out of memory. */
    size_t (*pack)(struct slot *slot, size_t bytes, char *at, size_t room);
};

struct gpume_packer {
    const struct codec *codec;
    size_t bytes_max, bound;
    atomic_bool failed;
    pthread_mutex_t mutex;
    pthread_cond_t released; /* a slot is free again */
    uint32_t count;
    struct slot slots[];
};

static int gzip_open(struct slot *slot)
{
    slot->has_gzip = deflateInit2(&slot->gzip, GZIP_LEVEL, Z_DEFLATED, WINDOW_BITS + GZIP_HEADER,
                         MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    return slot->has_gzip ? GPUME_OK : GPUME_NOMEM;
}

static size_t gzip_bound(struct slot *slot, size_t bytes)
{
    return deflateBound(&slot->gzip, (uLong)bytes);
}

static size_t gzip_pack(struct slot *slot, size_t bytes, char *at, size_t room)
{
    z_stream *gzip = &slot->gzip;
    gzip->next_in = (Bytef *)slot->text;
    gzip->avail_in = (uInt)bytes;
    gzip->next_out = (Bytef *)at;
    gzip->avail_out = (uInt)room;
    const bool done = deflateReset(gzip) == Z_OK && deflate(gzip, Z_FINISH) == Z_STREAM_END;
    return done ? room - gzip->avail_out : 0;
}

static int zstd_open(struct slot *slot)
{
    slot->zstd = ZSTD_createCCtx();
    const bool done =
        slot->zstd &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(slot->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(slot->zstd, ZSTD_c_checksumFlag, 1));
    return done ? GPUME_OK : GPUME_NOMEM;
}

static size_t zstd_bound(struct slot *slot, size_t bytes)
{
    (void)slot;
    return ZSTD_compressBound(bytes);
}

static size_t zstd_pack(struct slot *slot, size_t bytes, char *at, size_t room)
{
    const size_t packed = ZSTD_compress2(slot->zstd, at, room, slot->text, bytes);
    return ZSTD_isError(packed) ? 0 : packed;
}

static const struct codec codecs[] = {
    [GPUME_PACKING_GZIP] = {gzip_open, gzip_bound, gzip_pack},
    [GPUME_PACKING_ZSTD] = {zstd_open, zstd_bound, zstd_pack},
};

static int open_slot(struct gpume_packer *packer, struct slot *slot)
{
    int status = GPUME_NOMEM;
    slot->text = malloc(packer->bytes_max);
    GPUME_TRY(slot->text ? GPUME_OK : GPUME_NOMEM);
    GPUME_TRY(packer->codec->open(slot));
fail:
    return status;
}

int gpume_packer_create(
    struct gpume_packer **result, enum gpume_packing packing, size_t bytes_max, uint32_t threads)
{
    int status = GPUME_NOMEM;
    struct gpume_packer *self = calloc(1, sizeof(*self) + threads * sizeof(self->slots[0]));
    assert(threads > 0 && packing != GPUME_PACKING_NONE);
    if (!self) {
        return GPUME_NOMEM;
    }
    self->codec = &codecs[packing];
    self->bytes_max = bytes_max;
    self->count = threads;
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->released, NULL);
    for (uint32_t i = 0; i < threads; i++) {
        GPUME_TRY(open_slot(self, &self->slots[i]));
    }
    self->bound = self->codec->bound(&self->slots[0], bytes_max);
    *result = self;
    return GPUME_OK;
fail:
    gpume_packer_destroy(&self);
    return status;
}

size_t gpume_packer_bound(const struct gpume_packer *packer)
{
    return packer->bound;
}

struct gpume_makers *gpume_packer_makers(uint32_t processors)
{
    const long online = processors ? (long)processors : sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t count = online < 1 ? 0 : (uint32_t)online / 2;
    return count > 1 ? gpume_makers_open(gpume_min_u32(count, THREADS_MAX)) : NULL;
}

static struct slot *take_slot(struct gpume_packer *packer)
{
    struct slot *slot = NULL;
    pthread_mutex_lock(&packer->mutex);
    while (!slot) {
        for (uint32_t i = 0; i < packer->count && !slot; i++) {
            slot = packer->slots[i].busy ? NULL : &packer->slots[i];
        }
        if (!slot) {
            pthread_cond_wait(&packer->released, &packer->mutex);
        }
    }
    slot->busy = true;
    pthread_mutex_unlock(&packer->mutex);
    return slot;
}

size_t gpume_packer_make(void *opaque, uint32_t item, char *at)
{
    const struct gpume_packed *packed = opaque;
    struct gpume_packer *packer = packed->packer;
    struct slot *slot = take_slot(packer);
    const size_t text = packed->make(packed->opaque, item, slot->text);
    assert(text <= packer->bytes_max);
    const size_t bytes = packer->codec->pack(slot, text, at, packer->bound);
    pthread_mutex_lock(&packer->mutex);
    slot->busy = false;
    pthread_cond_signal(&packer->released);
    pthread_mutex_unlock(&packer->mutex);
    if (bytes == 0) {
        atomic_store(&packer->failed, true);
    }
    return bytes;
}

bool gpume_packer_failed(const struct gpume_packer *packer)
{
    return atomic_load(&packer->failed);
}

void gpume_packer_destroy(struct gpume_packer **packer)
{
    struct gpume_packer *self = *packer;
    if (!self) {
        return;
    }
    for (uint32_t i = 0; i < self->count; i++) {
        struct slot *slot = &self->slots[i];
        if (slot->has_gzip) {
            (void)deflateEnd(&slot->gzip);
        }
        ZSTD_freeCCtx(slot->zstd);
        free(slot->text);
    }
    pthread_cond_destroy(&self->released);
    pthread_mutex_destroy(&self->mutex);
    free(self);
    *packer = NULL;
}

/* --- unpacking */

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
