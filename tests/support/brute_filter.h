/* SPDX-License-Identifier: BSD-2-Clause */
/* A frame as the search sees it, by the words of gpume.h about params.prefilter alone. */
#ifndef GPUME_TESTS_BRUTE_FILTER_H
#define GPUME_TESTS_BRUTE_FILTER_H

#include "gpume/gpume.h"

/* A plane with memory of its own, for free(). */
struct gpume_plane brute_filter(
    const struct gpume_prefilter *filter, const struct gpume_plane *plane);

#endif
