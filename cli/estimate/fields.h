/* SPDX-License-Identifier: BSD-2-Clause */
/* --fields: the frames of the run are the fields of an interlaced video. Main thread only. */
#ifndef GPUME_CLI_ESTIMATE_FIELDS_H
#define GPUME_CLI_ESTIMATE_FIELDS_H

#include "estimate/estimate.h"

struct gpume_line;

/* Do the options go together? Then --ref-distance counts what the choice says. GPUME_OK, or
 * GPUME_INVALID after one line. Before the parameters are derived from the options. */
int gpume_fields_check(struct gpume_estimate_options *options, const struct gpume_line *line);

/* The filter graph that also separates fields; the caller frees it. NULL: out of memory. */
char *gpume_fields_graph(const char *filter);

#endif
