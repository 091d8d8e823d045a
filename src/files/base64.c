/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/base64.h"

#include <nettle/base64.h>

#define PART_BYTES 3072u /* a multiple of 3: only the last part is padded */

void gpume_base64_write(struct gpume_out *out, const unsigned char *data, size_t count)
{
    char text[BASE64_ENCODE_RAW_LENGTH(PART_BYTES)];
    while (count > 0) {
        const size_t part = count < PART_BYTES ? count : PART_BYTES;
        base64_encode_raw(text, part, data);
        (void)gpume_out_write(out, text, BASE64_ENCODE_RAW_LENGTH(part));
        data += part;
        count -= part;
    }
}

void gpume_json_base64(
    struct gpume_json *json, const char *key, const unsigned char *data, size_t count)
{
    gpume_json_digits(json, key, "\"");
    gpume_base64_write(json->out, data, count);
    (void)gpume_out_text(json->out, "\"");
}
