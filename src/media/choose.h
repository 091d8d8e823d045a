/* SPDX-License-Identifier: BSD-2-Clause */
/* Which decoder reads an input, and who moves its samples. */
#ifndef GPUME_MEDIA_CHOOSE_H
#define GPUME_MEDIA_CHOOSE_H

#include "media/decode.h"
#include "media/source.h"

/* options->decoder, if there is one. */
const struct gpume_decoder *gpume_choose_decoder(const struct gpume_source_options *options);

/* Threads beside those that decode, with the caller's. */
uint32_t gpume_choose_copy_threads(const struct gpume_source_options *options);

#endif
