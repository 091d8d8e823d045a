/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report as one HTML file: src/report/page with the run's figures, pictures and vectors in it.
 * Nothing of the user's becomes markup: it is all JSON or base 64, which the page's script reads.
 */
#ifndef GPUME_REPORT_PAGE_H
#define GPUME_REPORT_PAGE_H

#include "files/bytes.h"
#include "report/figures.h"
#include "report/gallery.h"
#include "report/picks.h"
#include "sinks/sink.h"

/* A page's size at most, unless the figures of all fields alone take more. */
#define GPUME_REPORT_PAGE_BYTES ((uint64_t)20000000)

struct gpume_report_page {
    const struct gpume_run *run;
    const struct gpume_bytes *fields; /* by gpume_report_page_pack */
    const struct gpume_report_histogram *histogram;
    const struct gpume_report_gallery *gallery;
    const struct gpume_report_picks *picks; /* NULL: no pictures */
};

/* Appends a field's figures; time_us is the last field's. */
void gpume_report_page_pack(struct gpume_bytes *fields, const struct gpume_report_figures *figures,
    const struct gpume_field *field, int64_t *time_us);

/* What is left for pictures in a page. */
uint64_t gpume_report_page_room(const struct gpume_bytes *fields);

/* The output's failure is sticky. */
void gpume_report_page_write(const struct gpume_report_page *page, struct gpume_out *out);

#endif
