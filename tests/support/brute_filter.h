/* SPDX-License-Identifier: BSD-2-Clause */
/* The frame that the search sees, computed from what gpume.h says about params.prefilter alone. */
#ifndef GPUME_TESTS_BRUTE_FILTER_H
#define GPUME_TESTS_BRUTE_FILTER_H

#include "gpume/gpume.h"

/* A plane whose data the caller frees with free(). */
struct gpume_plane brute_filter(
    const struct gpume_prefilter *filter, const struct gpume_plane *plane);

#endif
