/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compresses texts, each to its own gzip member or zstd frame. A file of such members, one
 * after the other, is a file that gzip or zstd reads; it can be continued or joined at the end of
 * any member, and its bytes depend on no thread. They hold neither a time nor a name.
 */
#ifndef GPUME_FILES_PACK_H
#define GPUME_FILES_PACK_H

#include "files/byte_stream.h"
#include "files/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a file is compressed. */
enum gpume_packing { GPUME_PACKING_NONE, GPUME_PACKING_GZIP, GPUME_PACKING_ZSTD };

struct gpume_packer;

/* bytes_max: of a text. threads: as many pack at once without waiting. GPUME_NOMEM is not logged.
 */
int gpume_packer_create(
    struct gpume_packer **packer, enum gpume_packing packing, size_t bytes_max, uint32_t threads);

/* Most bytes of a member. */
size_t gpume_packer_bound(const struct gpume_packer *packer);

/* Threads for gpume_out_add that compress, on a machine with this number of processors (0: this
 * machine), beside a decoder and an engine. NULL: none. */
struct gpume_makers *gpume_packer_makers(uint32_t processors);

/* gpume_packer_make is a gpume_make_fn, whose opaque is this struct: it packs what another one
 * makes. */
struct gpume_packed {
    struct gpume_packer *packer;
    gpume_make_fn make;
    void *opaque;
};

size_t gpume_packer_make(void *packed, uint32_t item, char *at);

/* Whether a text was not packed, for want of memory. */
bool gpume_packer_failed(const struct gpume_packer *packer);

/* Sets *packer to NULL. NULL is fine. */
void gpume_packer_destroy(struct gpume_packer **packer);

/* Decompresses files of gzip and zstd, of one member or of many. One thread at a time. */

#define GPUME_UNPACK_HEAD_BYTES 4u

/* How a file that begins with these bytes is compressed. */
enum gpume_packing gpume_packing_of(const unsigned char *head, size_t bytes);

struct gpume_unpacker;

/* GPUME_NOMEM is not logged. */
int gpume_unpacker_create(struct gpume_unpacker **unpacker, enum gpume_packing packing);

/* Makes up to `room` bytes, *got, of those from *from to end, and moves *from behind those that it
 * has taken. Stops at the end of every member. GPUME_INVALID: they are damaged. GPUME_UNSUPPORTED:
 * they need more than 128 MiB, zstd's own limit. GPUME_NOMEM. None is logged. */
int gpume_unpack(struct gpume_unpacker *unpacker, const unsigned char **from,
    const unsigned char *end, unsigned char *to, size_t room, size_t *got);

/* Whether it is between two members, so that the file may end here. */
bool gpume_unpacker_is_between(const struct gpume_unpacker *unpacker);

/* Sets *unpacker to NULL. NULL is fine. */
void gpume_unpacker_destroy(struct gpume_unpacker **unpacker);

/* From the next byte on the stream delivers what they were before they were compressed, if they
 * are. GPUME_IO, GPUME_NOMEM. */
int gpume_unpack_stream(struct gpume_stream *stream, const struct gpume_log *log);

#endif
