/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes fields of vectors to one file in any format, or to one file per frame. On machines with
 * many processors a few threads of the writer format the rows of several fields at once; this does
 * not change the output. All
 * calls for one writer come from one thread. Errors are logged, in one line.
 */
#ifndef GPUME_VECTORS_WRITER_H
#define GPUME_VECTORS_WRITER_H

#include "base/log.h"
#include "files/out.h"
#include "vectors/vectors.h"

struct gpume_vectors_format;
struct gpume_vectors_writer;

struct gpume_vectors_output {
    const char *path; /* see files/out.h; may be a pattern in formats with one file per frame */
    const struct gpume_vectors_format *format;
    struct gpume_out_set *set; /* of the run; outlives the writer */
    uint32_t processors;       /* that the run may use; 0: all */
    struct gpume_log log;
};

/* info: what all fields share; columns that the format lacks are ignored. GPUME_INVALID: the format
 * needs more than is known. GPUME_UNSUPPORTED: unsuitable name. */
int gpume_vectors_writer_open(struct gpume_vectors_writer **writer,
    const struct gpume_vectors_output *output, const struct gpume_vectors_info *info);

/* Fields come by rising frame and, within a frame, one for each reference. A field with `release`
 * is released in any case, perhaps after the call; errors may be returned by a later one.
 * GPUME_INVALID: the format cannot hold this field. GPUME_UNSUPPORTED: the name does not tell its
 * file from another's.
 */
int gpume_vectors_writer_field(
    struct gpume_vectors_writer *writer, const struct gpume_vectors_field *field);

/* Returns when all fields that it has got are released. */
int gpume_vectors_writer_wait(struct gpume_vectors_writer *writer);

/* All fields of the current frame have come: completes its file if each frame has its own. */
int gpume_vectors_writer_settle(struct gpume_vectors_writer *writer);

/* Completes the output: on GPUME_OK all files have their final names. */
int gpume_vectors_writer_finish(struct gpume_vectors_writer *writer);

/* Removes an unfinished file. Sets *writer to NULL. NULL is fine. */
void gpume_vectors_writer_close(struct gpume_vectors_writer **writer);

#endif
