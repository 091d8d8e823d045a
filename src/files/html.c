/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/html.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void gpume_html_put(struct gpume_out *out, const char *markup)
{
    (void)gpume_out_text(out, markup);
}

void gpume_html_print(struct gpume_out *out, const char *format, ...)
{
    char line[GPUME_HTML_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    gpume_html_put(out, line);
}

void gpume_html_escaped(struct gpume_out *out, const char *text)
{
    char entity[8];
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (strchr("<>&\"'", c)) {
            snprintf(entity, sizeof(entity), "&#%u;", c);
        } else {
            snprintf(entity, sizeof(entity), "%c", c < 0x20 || c == 0x7f ? '?' : c);
        }
        gpume_html_put(out, entity);
    }
}
