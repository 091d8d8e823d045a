/* SPDX-License-Identifier: BSD-2-Clause */
/* What the encoders' presets and tunings change of the options. */
#ifndef GPUME_ENCODE_PRESETS_H
#define GPUME_ENCODE_PRESETS_H

#include "encode/options.h"

/* From the fastest to the slowest, and all tunings of either encoder; each list ends with NULL. */
extern const char *const gpume_preset_names[];
extern const char *const gpume_tune_names[];

/* All options as one of gpume_preset_names has them. */
void gpume_encode_options_preset(
    struct gpume_encode_options *options, enum gpume_encoder encoder, uint32_t preset);

/* Changes them as one of gpume_tune_names does. False: the encoder has no such tuning. */
bool gpume_encode_options_tune(struct gpume_encode_options *options, uint32_t tune);

#endif
