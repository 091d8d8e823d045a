/* SPDX-License-Identifier: BSD-2-Clause */
/* Warnings before a run starts, of what would surprise its user later. */
#ifndef GPUME_CLI_ESTIMATE_CAUTION_H
#define GPUME_CLI_ESTIMATE_CAUTION_H

#include "job.h"
#include "media/source.h"

/* Warns that an interlaced input is searched in whole frames, that a software driver runs a search
 * although the user named no device, and that the CSV file of vectors will be very large, if the
 * input's length is known. */
void gpume_caution(const struct gpume_source_info *input, const struct gpume_info *engine,
    const struct gpume_cli_job *job, const struct gpume_run *run);

#endif
