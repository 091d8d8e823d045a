/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report as one HTML file: the files of src/report/page, and the run's statistics, pictures and
 * vectors. User data is never markup: it is embedded as JSON or base 64, which the page's scripts
 * read.
 */
#ifndef GPUME_REPORT_PAGE_H
#define GPUME_REPORT_PAGE_H

#include "files/bytes.h"
#include "report/film.h"
#include "report/gallery.h"
#include "report/picks.h"
#include "report/statistics.h"
#include "sinks/sink.h"

/* The largest size of a page, unless the statistics of all fields alone take more. */
#define GPUME_REPORT_PAGE_BYTES ((uint64_t)20000000)

/* The largest size of what the page plays: some 150 frame pairs of 1080p in blocks of 16 x 16. */
#define GPUME_REPORT_FILM_BYTES ((uint64_t)8000000)

struct gpume_report_page {
    const struct gpume_run *run;
    const struct gpume_bytes *fields; /* by gpume_report_page_pack */
    const struct gpume_report_histogram *histogram;
    const struct gpume_report_gallery *gallery;
    /* NULL: no pictures. Fields that are in both are shown with the picks' pictures. */
    const struct gpume_report_picks *picks;
    const struct gpume_report_film *film;
    const struct gpume_report_encoder *files; /* NULL: no pictures in files beside the page */
};

/* Appends the statistics of a field. *time_us: the time of the previous one, which it replaces. */
void gpume_report_page_pack(struct gpume_bytes *fields,
    const struct gpume_report_statistics *statistics, const struct gpume_field *field,
    int64_t *time_us);

/* Bytes of the page that pictures may take. */
uint64_t gpume_report_page_room(const struct gpume_report_page *page);

/* gpume_out_finish reports failures. */
void gpume_report_page_write(const struct gpume_report_page *page, struct gpume_out *out);

#endif
