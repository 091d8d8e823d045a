/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the motion vectors that a coded video holds, to a file or drawn on its frames: gpume
 * vectors, and gpume INPUT --from-stream. Main thread only. */
#ifndef GPUME_CLI_CODED_VECTORS_H
#define GPUME_CLI_CODED_VECTORS_H

#include "sinks/sink.h"
#include "source_options.h"

struct gpume_vectors_format;

struct gpume_coded_options {
    struct gpume_common_options common;
    struct gpume_params params; /* only threads and memory_max are used */
    struct gpume_source_options source;
    uint64_t frames;                       /* at most; 0: all */
    const char *output, *overlay, *report; /* all NULL: standard output */
    uint32_t report_pictures;              /* most frames with all pictures in a report */
    const struct gpume_vectors_format *format;
    uint32_t block; /* side of squares; 0: blocks as coded */
    struct gpume_overlay_look look;
};

enum gpume_exit gpume_coded_write(const struct gpume_coded_options *options);

#endif
