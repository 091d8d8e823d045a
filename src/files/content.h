/* SPDX-License-Identifier: BSD-2-Clause */
/* A short text that tells the contents of two files apart, wherever they lie and whatever they are
 * called: sizes, and a checksum of samples of the bytes. Any thread. */
#ifndef GPUME_FILES_CONTENT_H
#define GPUME_FILES_CONTENT_H

#include <stddef.h>

#define GPUME_CONTENT_BYTES 48

/* path: a file, or the pattern of numbered files. "": it is neither, or cannot be read. */
void gpume_content_of_input(const char *path, char text[GPUME_CONTENT_BYTES]);

void gpume_content_of_bytes(const void *data, size_t bytes, char text[GPUME_CONTENT_BYTES]);

#endif
