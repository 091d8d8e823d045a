/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value of --prefilter. The command line is parsed first; the file of kernel:FILE is read when
 * the run begins.
 */
#ifndef GPUME_CLI_ESTIMATE_PREFILTER_H
#define GPUME_CLI_ESTIMATE_PREFILTER_H

#include "gpume/gpume.h"
#include "options/option.h"

/* Strings point into argv. */
struct gpume_prefilter_option {
    const char *text; /* as given; NULL: none */
    const char *file; /* a kernel to be read; NULL: not a kernel */
    struct gpume_prefilter filter;
};

/* Stores a struct gpume_prefilter_option. */
extern const struct gpume_option_type gpume_type_prefilter;

/* Reads the kernel's file, if there is one, into option->filter, which then points to weights.
 * GPUME_OK, or GPUME_FORMAT after one line through gpume_console_error. */
int gpume_prefilter_option_read(struct gpume_prefilter_option *option,
    double weights[GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX]);

/* A checksum (FNV-1a) of weights read from a file, to recognize them; 0: none were read. */
uint64_t gpume_prefilter_option_sum(const struct gpume_prefilter_option *option);

#endif
