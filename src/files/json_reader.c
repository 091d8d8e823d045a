/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/json_reader.h"

#include "gpume/gpume.h"

#include <stdlib.h>

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

void gpume_json_show(const json_t *value, char text[GPUME_JSON_SHOWN_BYTES])
{
    const size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9);
    char *whole = value ? json_dumps(value, flags) : NULL;
    snprintf(text, GPUME_JSON_SHOWN_BYTES, "%s", whole ? whole : "none");
    free(whole);
}

const char *gpume_json_difference(json_t *a, json_t *b,
    bool (*may_differ)(const void *opaque, const char *key), const void *opaque)
{
    json_t *const both[] = {a, b};
    const char *key;
    json_t *value;
    for (size_t i = 0; i < 2; i++) {
        json_object_foreach(both[i], key, value)
        {
            if (!json_equal(value, json_object_get(both[1 - i], key)) && !may_differ(opaque, key)) {
                return key;
            }
        }
    }
    return NULL;
}
