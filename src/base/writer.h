/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers written to a descriptor, in order, by a thread of its own, while the caller fills the
 * next. One caller at a time.
 */
#ifndef GPUME_BASE_WRITER_H
#define GPUME_BASE_WRITER_H

#include <stddef.h>

struct gpume_writer;

/* Writes all of it, on the calling thread. 0, or the errno that stopped it. */
int gpume_write_all(int fd, const unsigned char *data, size_t bytes);

/* NULL if there is no memory or thread to be had; nothing is lost then. The descriptor stays the
 * caller's and outlives the writer. *buffer: the first to fill, of so many bytes. */
struct gpume_writer *gpume_writer_open(int fd, size_t bytes, unsigned char **buffer);

/* Takes the buffer with so many bytes in it and gives another; waits while all are on their way.
 * Returns 0, or the errno that stopped the thread: nothing is written after that. */
int gpume_writer_swap(struct gpume_writer *writer, unsigned char **buffer, size_t bytes);

/* Waits until all is written; as above. */
int gpume_writer_drain(struct gpume_writer *writer);

/* Drops what is not yet written; sets *writer to NULL. */
void gpume_writer_close(struct gpume_writer **writer);

#endif
