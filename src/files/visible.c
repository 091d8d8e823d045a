/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/visible.h"

#include <stdbool.h>
#include <string.h>

/* Bytes of the UTF-8 character at the text, by its first byte; 1 if it is none. */
static size_t character(const unsigned char *text)
{
    const size_t bytes = text[0] >= 0xf0 && text[0] <= 0xf4  ? 4
                         : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                         : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                                                             : 1;
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80) { /* also the end of the text */
            return 1;
        }
    }
    return bytes;
}

size_t gpume_visible_control(const char *text, size_t *bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    *bytes = character(at);
    const unsigned char last = at[*bytes - 1];
    const bool c1 = last >= 0x80 && last < 0xa0;
    const bool control = (*bytes == 1 && (last < 0x20 || last == 0x7f || c1)) ||
                         (*bytes == 2 && at[0] == 0xc2 && c1);
    return control ? *bytes : 0;
}

void gpume_visible_clean(char *text)
{
    char *to = text;
    size_t bytes = 0;
    for (; *text; text += bytes) {
        if (gpume_visible_control(text, &bytes) > 0) {
            *to++ = '?';
        } else {
            memmove(to, text, bytes);
            to += bytes;
        }
    }
    *to = '\0';
}

void gpume_visible_put(const char *text, FILE *stream)
{
    size_t bytes = 0;
    for (; *text; text += bytes) {
        if (gpume_visible_control(text, &bytes) > 0) {
            putc('?', stream);
        } else {
            fwrite(text, 1, bytes, stream);
        }
    }
}
