/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Padding: copies a plane of the picture's size into a padded frame of a surface and repeats its
 * edge samples outwards (upload.comp). What stages that make a surface share.
 */
#ifndef GPUME_GPU_STAGES_PAD_H
#define GPUME_GPU_STAGES_PAD_H

#include "gpu/stages/stage.h"

int gpume_pad_create(const struct gpume_stage_setup *setup, struct gpume_kernel *kernel);

/* Calls of gpume_slot_bind per frame. */
uint32_t gpume_pad_binds(const struct gpume_plan *plan);

void gpume_pad_record(const struct gpume_work *work, const struct gpume_kernel *kernel,
    const struct gpume_buffer *plane, enum gpume_surface surface, uint64_t sequence);

#endif
