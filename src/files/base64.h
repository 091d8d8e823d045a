/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes in Base64, for pages and JSON. One thread. */
#ifndef GPUME_FILES_BASE64_H
#define GPUME_FILES_BASE64_H

#include "files/json.h"

/* Characters of count bytes. */
static inline uint64_t gpume_base64_length(uint64_t count)
{
    return (count + 2) / 3 * 4;
}

void gpume_base64_write(struct gpume_out *out, const unsigned char *data, size_t count);

/* As a string; json has an output. */
void gpume_json_base64(
    struct gpume_json *json, const char *key, const unsigned char *data, size_t count);

#endif
