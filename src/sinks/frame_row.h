/* SPDX-License-Identifier: BSD-2-Clause */
/* A field's row of frames.csv, with which a row of the report begins, too. */
#ifndef GPUME_SINKS_FRAME_ROW_H
#define GPUME_SINKS_FRAME_ROW_H

#include "files/forms.h"
#include "gpume/gpume.h"

struct gpume_frame_row {
    uint64_t frame, ref, blocks, zero, sad_before, sad_after, sse_before, sse_after;
    int64_t time;
    double psnr_before, psnr_after;
    /* With GPUME_FRAME_BORDER: blocks whose vectors lead to the window's border. */
    uint64_t border;
    double border_share;
    /* With GPUME_FRAME_REPORT, of which gpume_frame_row_make fills in nothing. */
    double dx_mean, dy_mean, length_mean, length_max; /* pixels */
    uint32_t cost_max;
    bool cut;
};

/* Kinds of the table: bits. */
enum { GPUME_FRAME_BORDER = 1, GPUME_FRAME_REPORT = 2 };

/* The border comes with params->confidence. */
struct gpume_table gpume_frame_table(unsigned kind);

struct gpume_frame_row gpume_frame_row_make(
    const struct gpume_params *params, const struct gpume_field *field);

#endif
