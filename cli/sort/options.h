/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume sort`: integers from a file or standard input, sorted on the GPU or the CPU. read.c and
 * parse.c read them, sort.c sorts them, integers.c writes them, and time.c serves --time.
 */
#ifndef GPUME_CLI_SORT_OPTIONS_H
#define GPUME_CLI_SORT_OPTIONS_H

#include "options/common.h"

/* The form of input and output. */
enum gpume_sort_form { GPUME_SORT_TEXT, GPUME_SORT_U32, GPUME_SORT_I32 };

struct gpume_sort_options {
    struct gpume_common_options common;
    struct gpume_params params; /* only backend, device, validate, check and memory_max are used */
    const char *output;         /* NULL: standard output */
    bool descending, time;
    enum gpume_sort_form binary;
};

#endif
