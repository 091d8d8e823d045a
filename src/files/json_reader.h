/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads JSON files that gpume has written. They may have been damaged or forged since. */
#ifndef GPUME_FILES_JSON_READER_H
#define GPUME_FILES_JSON_READER_H

#include "files/bytes.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

/* Larger files are refused; gpume writes a few thousand bytes, plus file names. */
#define GPUME_JSON_BYTES_MAX ((size_t)1024 * 1024)

/* Reads the rest of the file into *text, which starts as zero and is the caller's to finish, and
 * parses it into *document, for json_decref(). flags: of json_loadb(). GPUME_INVALID: it is not
 * exactly one JSON document, or too large. GPUME_IO: with errno. GPUME_NOMEM. Nothing is logged. */
int gpume_json_read(FILE *file, size_t flags, struct gpume_bytes *text, json_t **document);

#endif
