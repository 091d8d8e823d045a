/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a file of vectors, written by this program or another, field by field. It holds one field
 * in memory, or all fields of a frame in formats whose blocks may come in any order. An error in
 * the file is one line in the log, with the file and the position. One thread per reader.
 */
#ifndef GPUME_VECTORS_READER_H
#define GPUME_VECTORS_READER_H

#include "base/log.h"
#include "vectors/vectors.h"

struct gpume_vectors_format;
struct gpume_vectors_reader;

/* path: "-" is standard input; may be a pattern (files/path.h) in formats with one file per
 * frame or field. */
struct gpume_vectors_source {
    const char *path;
    const struct gpume_vectors_format *format; /* NULL: recognised by the first bytes */
    uint32_t block;      /* in formats with one vector per pixel: side of the blocks; 0: 1 */
    bool fine;           /* vectors of .flo files may have any fraction: see gpume_vectors_field */
    uint64_t memory_max; /* for blocks, sizeof(struct gpume_vectors_block) each; 0: no limit */
    struct gpume_log log;
};

/* GPUME_IO: cannot be read; GPUME_INVALID: not such a file, or without vectors; GPUME_NOMEM. */
int gpume_vectors_reader_open(
    struct gpume_vectors_reader **reader, const struct gpume_vectors_source *source);

/* The next field, as a list of blocks; NULL after the last. Fields come by rising frame. A frame
 * has one for each reference, or one whose blocks differ in their references. Blocks are at most
 * GPUME_READ_BLOCK_MAX wide and high and lie inside a picture whose sides are GPUME_READ_SIDE_MAX +
 * GPUME_READ_BLOCK_MAX. */
int gpume_vectors_reader_next(
    struct gpume_vectors_reader *reader, const struct gpume_vectors_field **field);

/* What the file states; with a grid only if it states one. Valid until the reader is closed. */
const struct gpume_vectors_info *gpume_vectors_reader_info(
    const struct gpume_vectors_reader *reader);

const struct gpume_vectors_format *gpume_vectors_reader_format(
    const struct gpume_vectors_reader *reader);

/* Sets *reader to NULL. NULL is fine. */
void gpume_vectors_reader_close(struct gpume_vectors_reader **reader);

#endif
