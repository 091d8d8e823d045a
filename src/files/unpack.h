/* SPDX-License-Identifier: BSD-2-Clause */
/* Decompresses files of gzip and zstd, of one member or of many. One thread at a time. */
#ifndef GPUME_FILES_UNPACK_H
#define GPUME_FILES_UNPACK_H

#include "files/byte_stream.h"
#include "files/packing.h"

#include <stdbool.h>
#include <stddef.h>

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

/* Is it between two members, so that the file may end here? */
bool gpume_unpacker_is_between(const struct gpume_unpacker *unpacker);

/* Sets *unpacker to NULL. NULL is fine. */
void gpume_unpacker_destroy(struct gpume_unpacker **unpacker);

/* From the next byte on the stream delivers what they were before they were compressed, if they
 * are. GPUME_IO, GPUME_NOMEM. */
int gpume_unpack_stream(struct gpume_stream *stream, const struct gpume_log *log);

#endif
