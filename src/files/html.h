/* SPDX-License-Identifier: BSD-2-Clause */
/* Markup in an output, whose failures are sticky. One thread. */
#ifndef GPUME_FILES_HTML_H
#define GPUME_FILES_HTML_H

#include "files/out.h"

void gpume_html_put(struct gpume_out *out, const char *markup);

/* At most GPUME_HTML_BYTES, or it is cut. */
#define GPUME_HTML_BYTES 2048u
void gpume_html_print(struct gpume_out *out, const char *format, ...) GPUME_PRINTF(2, 3);

/* Text from outside, such as a name; bytes that are not printable become '?'. */
void gpume_html_escaped(struct gpume_out *out, const char *text);

#endif
