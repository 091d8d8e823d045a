/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pages of commands that need no script: one file, whose pictures are in it and which loads
 * nothing. A failure to write is sticky in the output. Main thread only.
 */
#ifndef GPUME_CLI_HTML_H
#define GPUME_CLI_HTML_H

#include "files/html.h"

/* What a page is. The strings are markup. */
struct gpume_html_page {
    const char *title;
    const char *kind;  /* above the heading */
    const char *style; /* rules beside those of all pages */
};

/* Begins the page; its heading is the file's name in a path. The introduction follows. */
void gpume_html_begin(struct gpume_out *out, const struct gpume_html_page *page, const char *path);

/* The end of the introduction, and of the page. */
void gpume_html_body(struct gpume_out *out);
void gpume_html_end(struct gpume_out *out);

#endif
