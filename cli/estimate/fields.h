/* SPDX-License-Identifier: BSD-2-Clause */
/* --fields: the frames of the run are the fields of an interlaced video. Main thread only. */
#ifndef GPUME_CLI_ESTIMATE_FIELDS_H
#define GPUME_CLI_ESTIMATE_FIELDS_H

#include "options/types.h"

struct gpume_estimate_options;
struct gpume_line;
struct gpume_source_info;

/* What a field of an interlaced video is searched in. */
enum gpume_fields {
    GPUME_FIELDS_NONE,    /* whole frames are searched */
    GPUME_FIELDS_SAME,    /* fields of the same parity */
    GPUME_FIELDS_NEAREST, /* the fields nearest in time */
};

/* Their names as values of an option. */
extern const char *const gpume_fields_names[];

/* Makes the distances count fields. GPUME_INVALID after one line: one is too long. */
int gpume_fields_count(enum gpume_fields fields, struct gpume_distance_list *list);

/* Do the options go together? Then --ref-distance counts what the choice says. GPUME_OK, or
 * GPUME_INVALID after one line. Before the parameters are derived from the options. */
int gpume_fields_check(struct gpume_estimate_options *options, const struct gpume_line *line);

/* The filter graph that also separates fields; the caller frees it. NULL: out of memory. */
char *gpume_fields_graph(const char *filter);

/* A field has half the lines of a frame, so its pixels are twice as high: makes *info say so.
 * Pixels of frames are square if nothing else is known. */
void gpume_fields_stretch(enum gpume_fields fields, struct gpume_source_info *info);

/* Warns that --fields divides progressive frames, unless filters of --vf may have made others of
 * them; not with -q. With the graph of above among the options. */
void gpume_fields_caution(
    const struct gpume_estimate_options *options, const struct gpume_source_info *input);

#endif
