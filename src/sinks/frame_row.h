/* SPDX-License-Identifier: BSD-2-Clause */
/* A field's row of frames.csv, with which a row of the report's table begins, too. */
#ifndef GPUME_SINKS_FRAME_ROW_H
#define GPUME_SINKS_FRAME_ROW_H

#include "gpume/gpume.h"

#define GPUME_FRAME_COLUMNS                                                                        \
    "frame,ref,time,blocks,zero,sad_before,sad_after,sse_before,sse_after,psnr_before,psnr_after"

#define GPUME_FRAME_ROW_BYTES 512

/* Writes the row without line end. */
void gpume_frame_row(char row[GPUME_FRAME_ROW_BYTES], const struct gpume_params *params,
    const struct gpume_field *field);

#endif
