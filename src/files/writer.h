/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers written to a descriptor by a thread of its own while callers fill the next. They are
 * numbered from 0, are claimed and committed once each, by any thread, and are written in order.
 */
#ifndef GPUME_FILES_WRITER_H
#define GPUME_FILES_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct gpume_writer;

/* Writes all of it, on the calling thread. 0, or the errno that stopped it. */
int gpume_write_all(int fd, const unsigned char *data, size_t bytes);

/* NULL if there is no memory or thread to be had; nothing is lost then. The descriptor stays the
 * caller's and outlives the writer. bytes: of each buffer. */
struct gpume_writer *gpume_writer_open(int fd, size_t bytes);

/* The buffer of that number, to be filled; waits while its memory holds an earlier one, so every
 * number before it must have been claimed. Returns 0, or the errno that stopped the thread: nothing
 * is written after that. */
int gpume_writer_claim(struct gpume_writer *writer, uint64_t number, unsigned char **buffer);

/* So many bytes in it are to be written; it is the writer's from now on. */
void gpume_writer_commit(struct gpume_writer *writer, uint64_t number, size_t bytes);

/* Waits until all before number `end` are written; as claim. */
int gpume_writer_drain(struct gpume_writer *writer, uint64_t end);

/* Drops what is not yet written; sets *writer to NULL. */
void gpume_writer_close(struct gpume_writer **writer);

#endif
