/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of vectors into a file of any format, or a file a frame. Where processors abound, a few
 * threads of its own share the rows of a field; the bytes are those of one. All calls of a writer
 * come from one thread. Whatever fails has been logged, in one line.
 */
#ifndef GPUME_VECTORS_WRITER_H
#define GPUME_VECTORS_WRITER_H

#include "base/log.h"
#include "files/out_set.h"
#include "vectors/vectors.h"

struct gpume_vectors_format;
struct gpume_vectors_writer;

struct gpume_vectors_target {
    const char *path; /* as files/out.h; of formats with a file a frame also a pattern */
    const struct gpume_vectors_format *format;
    struct gpume_out_set *set; /* of the run; outlives the writer */
    uint32_t processors;       /* to reckon with; 0: all of the machine */
    struct gpume_log log;
};

/* info: what is known of all fields; of it the writer takes the columns that the format holds.
 * GPUME_INVALID: the format needs what is not known. GPUME_UNSUPPORTED: the name. */
int gpume_vectors_writer_open(struct gpume_vectors_writer **writer,
    const struct gpume_vectors_target *target, const struct gpume_vectors_info *info);

/* Fields come by rising frame, those of a frame by rising reference. GPUME_INVALID: the format
 * has no place for this one. GPUME_UNSUPPORTED: the name has none. */
int gpume_vectors_writer_field(
    struct gpume_vectors_writer *writer, const struct gpume_vectors_field *field);

/* No more fields of a frame come: of files by number, the last one is whole and has its name. */
int gpume_vectors_writer_settle(struct gpume_vectors_writer *writer);

/* What was written has its names on GPUME_OK; files of earlier frames have theirs before. */
int gpume_vectors_writer_finish(struct gpume_vectors_writer *writer);

/* An unfinished file is removed. Sets *writer to NULL. NULL is fine. */
void gpume_vectors_writer_close(struct gpume_vectors_writer **writer);

#endif
