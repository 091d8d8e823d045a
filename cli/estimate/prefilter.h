/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value of --prefilter: its words when the command line is read, the file of kernel:FILE when
 * the run begins.
 */
#ifndef GPUME_CLI_ESTIMATE_PREFILTER_H
#define GPUME_CLI_ESTIMATE_PREFILTER_H

#include "gpume/gpume.h"
#include "options/option.h"

#include <stdbool.h>

/* Strings point into argv. */
struct gpume_prefilter_option {
    const char *text; /* as given; NULL: none */
    const char *file; /* of a kernel, still to be read; NULL: another kind */
    struct gpume_prefilter filter;
};

/* Stores a struct gpume_prefilter_option. */
extern const struct gpume_option_type gpume_type_prefilter;

/* Completes option.filter, which weights outlives. GPUME_OK, or GPUME_FORMAT after one line through
 * gpume_console_error. */
int gpume_prefilter_option_read(struct gpume_prefilter_option *option,
    double weights[GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX]);

/* A sum over the weights that came out of a file (FNV-1a), to know them again; 0: none did. */
uint64_t gpume_prefilter_option_sum(const struct gpume_prefilter_option *option);

#endif
