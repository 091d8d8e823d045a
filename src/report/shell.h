/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all pages have in common: one HTML file of assets, a security policy, and data, which is
 * never markup. One thread.
 */
#ifndef GPUME_REPORT_SHELL_H
#define GPUME_REPORT_SHELL_H

#include "files/json.h"
#include "report/assets.h"

struct gpume_report_shell {
    const struct gpume_report_assets *assets;
    bool in_folder; /* the page may load the scripts beside it */
    /* Writes the elements with the page's data. */
    void (*put_data)(struct gpume_json *json, const void *opaque);
    const void *opaque;
};

/* gpume_out_finish reports failures. */
void gpume_report_shell_write(const struct gpume_report_shell *shell, struct gpume_out *out);

/* For put_data: text; bytes in base 64; and the colours of --overlay, with which pages draw. */
void gpume_report_put_text(struct gpume_json *json, const char *text);
void gpume_report_put_base64(struct gpume_json *json, const unsigned char *data, size_t count);
void gpume_report_put_colours(struct gpume_json *json);

#endif
