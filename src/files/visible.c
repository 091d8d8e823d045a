/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/visible.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t gpume_visible_utf8(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    if (text[0] < 0x80) {
        return 1;
    }
    for (size_t form = 0; form < 3; form++) {
        if ((text[0] & forms[form].mask) != forms[form].lead) {
            continue;
        }
        uint32_t code = text[0] & (unsigned char)~forms[form].mask;
        for (size_t i = 1; i <= form + 1; i++) {
            if ((text[i] & 0xc0) != 0x80) {
                return 0;
            }
            code = code << 6 | (text[i] & 0x3f);
        }
        const bool surrogate = code >= 0xd800 && code <= 0xdfff;
        return code >= forms[form].least && code <= 0x10ffff && !surrogate ? form + 2 : 0;
    }
    return 0;
}

size_t gpume_visible_control(const char *text, size_t *bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    *bytes = gpume_visible_utf8(at);
    *bytes += *bytes == 0; /* a byte that is part of no character */
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
