/* SPDX-License-Identifier: BSD-2-Clause */
/* Warnings before a run starts, of what would surprise its user later. */
#ifndef GPUME_CLI_ESTIMATE_CAUTION_H
#define GPUME_CLI_ESTIMATE_CAUTION_H

#include "estimate/outputs.h"
#include "media/source.h"

/* Frames of two fields are searched as they are; a software driver took the place of a GPU that the
 * user did not name; the CSV file of vectors will be very large, as far as the input's length is
 * known. */
void gpume_caution(const struct gpume_source_info *input, const struct gpume_info *engine,
    const struct gpume_outputs *outputs, const struct gpume_run *run);

#endif
