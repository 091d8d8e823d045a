/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all pages have in common: one HTML file of assets (src/report/page), which loads nothing, a
 * security policy, and data, which is never markup. One thread.
 */
#ifndef GPUME_REPORT_SHELL_H
#define GPUME_REPORT_SHELL_H

#include "files/forms.h"

/* A file of src/report/page; cmake/embed.cmake generates the constants of each page. */
struct gpume_report_asset {
    const unsigned char *data;
    size_t bytes;
    const char *sha256; /* hexadecimal */
};

struct gpume_report_assets {
    struct gpume_report_asset html;    /* from the title on */
    struct gpume_report_asset licence; /* of the chart library */
    /* Each ends with an entry whose data is NULL. */
    const struct gpume_report_asset *styles, *scripts;
};

/* --report; gpume compare, methods, filter, ladder and --against-stream. */
extern const struct gpume_report_assets gpume_report_assets_run, gpume_report_assets_compared,
    gpume_report_assets_methods, gpume_report_assets_filter, gpume_report_assets_ladder,
    gpume_report_assets_versus;

struct gpume_report_shell {
    const struct gpume_report_assets *assets;
    bool in_folder; /* the page may load the scripts beside it */
    /* Writes what stands for a mark of the page's file, "<!--gpume:MARK-->": "data", and others
     * that are its own. */
    void (*put)(struct gpume_out *out, const char *mark, const void *opaque);
    const void *opaque;
};

/* gpume_out_finish reports failures. */
void gpume_report_shell_write(const struct gpume_report_shell *shell, struct gpume_out *out);

/* The last part of a path, which may end in slashes, as text: pages name no folders. */
void gpume_report_put_name(struct gpume_out *out, const char *path);

/* The colours of --overlay, with which pages draw. */
void gpume_report_put_colours(struct gpume_json *json);

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
