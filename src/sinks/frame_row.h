/* SPDX-License-Identifier: BSD-2-Clause */
/* A field's row of frames.csv, with which a row of the report's table begins, too. */
#ifndef GPUME_SINKS_FRAME_ROW_H
#define GPUME_SINKS_FRAME_ROW_H

#include "gpume/gpume.h"

/* Names of the columns; those of the window's border come with params->confidence. */
const char *gpume_frame_columns(const struct gpume_params *params);

#define GPUME_FRAME_ROW_BYTES 512

/* Writes the row without line end. */
void gpume_frame_row(char row[GPUME_FRAME_ROW_BYTES], const struct gpume_params *params,
    const struct gpume_field *field);

#endif
