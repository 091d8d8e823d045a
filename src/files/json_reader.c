/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/json_reader.h"

#include "gpume/gpume.h"

int gpume_json_read(FILE *file, size_t flags, struct gpume_bytes *text, json_t **document)
{
    unsigned char chunk[4096];
    json_error_t error = {0};
    size_t count = sizeof chunk;
    while (count == sizeof chunk && text->count <= GPUME_JSON_BYTES_MAX) {
        count = fread(chunk, 1, sizeof chunk, file);
        gpume_bytes_put(text, chunk, count);
    }
    if (ferror(file) || text->failed) {
        return text->failed ? GPUME_NOMEM : GPUME_IO;
    }
    if (text->count > GPUME_JSON_BYTES_MAX) {
        return GPUME_INVALID;
    }
    *document =
        json_loadb((const char *)text->data, text->count, JSON_REJECT_DUPLICATES | flags, &error);
    return *document                                             ? GPUME_OK
           : json_error_code(&error) == json_error_out_of_memory ? GPUME_NOMEM
                                                                 : GPUME_INVALID;
}
