/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that writes buffers to a descriptor while callers fill the next ones. Buffers are
 * numbered from 0, are claimed and committed once each, by any thread, and are written in order.
 */
#ifndef GPUME_FILES_WRITER_H
#define GPUME_FILES_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct gpume_writer;

/* Writes all bytes on the calling thread. Returns 0 or an errno. */
int gpume_write_all(int fd, const unsigned char *data, size_t bytes);

/* NULL without memory or a thread. The descriptor stays the caller's and must outlive the writer.
 * bytes: of each buffer. */
struct gpume_writer *gpume_writer_open(int fd, size_t bytes);

/* Waits for the memory of the buffer with that number; all earlier numbers must have been claimed.
 * Returns 0, or the errno of a failed write, after which nothing is written. */
int gpume_writer_claim(struct gpume_writer *writer, uint64_t number, unsigned char **buffer);

/* Hands the buffer, with so many bytes, to the writer. */
void gpume_writer_commit(struct gpume_writer *writer, uint64_t number, size_t bytes);

/* Waits until all buffers before number `end` are written. Returns as claim does. */
int gpume_writer_drain(struct gpume_writer *writer, uint64_t end);

/* Discards buffers that are not yet written. Sets *writer to NULL. */
void gpume_writer_close(struct gpume_writer **writer);

#endif
