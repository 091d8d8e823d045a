/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file of vectors in any format that can be read, of this program or of another, a field at a
 * time. Memory is that of a field, or of a frame's where blocks come in any order. Whatever is
 * wrong with it is one line in the log with the file and the place. One thread a reader.
 */
#ifndef GPUME_VECTORS_READER_H
#define GPUME_VECTORS_READER_H

#include "base/log.h"
#include "vectors/vectors.h"

struct gpume_vectors_format;
struct gpume_vectors_reader;

/* Where vectors come from. path: "-" is standard input; of formats with a file a field also a
 * pattern (files/pattern.h). With data, path is a name for messages. */
struct gpume_vectors_source {
    const char *path;
    const void *data; /* NULL: the file; else its bytes, which outlive the reader */
    size_t bytes;
    const struct gpume_vectors_format *format; /* NULL: as its first bytes tell */
    uint32_t block; /* side of the blocks that are made of formats with a vector a pixel; 0: 1 */
    uint64_t memory_max; /* bytes that blocks in memory may take, 24 each; 0: any */
    struct gpume_log log;
};

/* GPUME_IO: cannot be read; GPUME_INVALID: no such file, or one without vectors; GPUME_NOMEM. */
int gpume_vectors_reader_open(
    struct gpume_vectors_reader **reader, const struct gpume_vectors_source *source);

/* The next field: of a higher frame than the last, or of the same and with a higher reference.
 * NULL after the last. Its blocks are given one by one, w and h not above GPUME_READ_BLOCK_MAX,
 * inside a picture of GPUME_READ_SIDE_MAX + GPUME_READ_BLOCK_MAX a side. */
int gpume_vectors_reader_next(
    struct gpume_vectors_reader *reader, const struct gpume_vectors_field **field);

/* What the file itself says; a grid only where it states one. Until the reader is closed. */
const struct gpume_vectors_info *gpume_vectors_reader_info(
    const struct gpume_vectors_reader *reader);

const struct gpume_vectors_format *gpume_vectors_reader_format(
    const struct gpume_vectors_reader *reader);

/* Sets *reader to NULL. NULL is fine. */
void gpume_vectors_reader_close(struct gpume_vectors_reader **reader);

#endif
