/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/csv.h"

#include <stdio.h>
#include <string.h>

void gpume_csv_put(struct gpume_out *out, const char *text)
{
    (void)gpume_out_write(out, text, strlen(text));
}

void gpume_csv_text(struct gpume_out *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    gpume_csv_put(out, quoted ? "\"" : "");
    for (; *text; text++) {
        (void)gpume_out_write(out, text, 1);
        if (*text == '"') {
            gpume_csv_put(out, "\"");
        }
    }
    gpume_csv_put(out, quoted ? "\"," : ",");
}

void gpume_csv_real(struct gpume_out *out, double value, int decimals)
{
    char text[64] = "";
    if (value > 0) {
        snprintf(text, sizeof(text), "%.*f", decimals, value);
    }
    gpume_csv_text(out, text);
}
