/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of src/report/page as constants, which cmake/embed.cmake generates.
 */
#ifndef GPUME_REPORT_ASSETS_H
#define GPUME_REPORT_ASSETS_H

#include <stddef.h>

struct gpume_report_asset {
    const unsigned char *data;
    size_t bytes;
    const char *sha256; /* hexadecimal */
};

extern const struct gpume_report_asset gpume_report_html;
extern const struct gpume_report_asset gpume_report_licence; /* of the chart library */

/* Each ends with an entry whose data is NULL. */
extern const struct gpume_report_asset gpume_report_styles[];
extern const struct gpume_report_asset gpume_report_scripts[];

#endif
