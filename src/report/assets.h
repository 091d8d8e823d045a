/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of src/report/page as constants, which cmake/embed.cmake generates for each page.
 */
#ifndef GPUME_REPORT_ASSETS_H
#define GPUME_REPORT_ASSETS_H

#include <stddef.h>

struct gpume_report_asset {
    const unsigned char *data;
    size_t bytes;
    const char *sha256; /* hexadecimal */
};

struct gpume_report_assets {
    struct gpume_report_asset html;
    struct gpume_report_asset licence; /* of the chart library */
    /* Each ends with an entry whose data is NULL. */
    const struct gpume_report_asset *styles, *scripts;
};

extern const struct gpume_report_assets gpume_report_assets_run;      /* --report */
extern const struct gpume_report_assets gpume_report_assets_compared; /* gpume compare --report */

#endif
