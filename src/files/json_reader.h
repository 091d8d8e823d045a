/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads JSON files that gpume has written, and compares them. They may have been damaged or forged
 * since. */
#ifndef GPUME_FILES_JSON_READER_H
#define GPUME_FILES_JSON_READER_H

#include "files/bytes.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Larger files are refused; gpume writes a few thousand bytes, plus file names. */
#define GPUME_JSON_BYTES_MAX ((size_t)1024 * 1024)

/* Reads the rest of the file into *text, which starts as zero and is the caller's to finish, and
 * parses it into *document, for json_decref(). flags: of json_loadb(). GPUME_INVALID: it is not
 * exactly one JSON document, or too large. GPUME_IO: with errno. GPUME_NOMEM. Nothing is logged. */
int gpume_json_read(FILE *file, size_t flags, struct gpume_bytes *text, json_t **document);

#define GPUME_JSON_SHOWN_BYTES 121

/* The value as one line for a message, cut to what fits; NULL is "none". */
void gpume_json_show(const json_t *value, char text[GPUME_JSON_SHOWN_BYTES]);

/* The key of the first member that two objects do not share, of those that may not differ; NULL:
 * there is none. Members of a come first. */
const char *gpume_json_difference(json_t *a, json_t *b,
    bool (*may_differ)(const void *opaque, const char *key), const void *opaque);

#endif
