/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of a run: a page (.html), or its data for programs (.json, .csv). */
#ifndef GPUME_REPORT_REPORT_H
#define GPUME_REPORT_REPORT_H

#include "sinks/sink.h"

/* The sink for the form that the extension of the name says. Its check refuses other names. */
const struct gpume_sink_ops *gpume_sink_report(const char *path);

/* A folder with a page, index.html, and the pictures of all fields. The path is that of the page.
 */
extern const struct gpume_sink_ops gpume_sink_report_folder;

#endif
