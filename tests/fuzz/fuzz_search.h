/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters of the general search for fuzz targets, and what every field of it promises. */
#ifndef GPUME_TESTS_FUZZ_SEARCH_H
#define GPUME_TESTS_FUZZ_SEARCH_H

#include "fuzz.h"
#include "gpume/gpume.h"

/* Predictors that depend on the frame pair alone; opaque of fuzz_predict. */
struct fuzz_predictor {
    uint32_t blocks; /* set after gpume_open */
    uint32_t seed;
    uint64_t fails_at; /* a target frame, for which fuzz_predict returns GPUME_IO */
};

int fuzz_predict(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors);

/* Mostly valid parameters. quick: every valid one is searched in milliseconds. */
void fuzz_take_search(struct fuzz_bytes *from, struct gpume_params *params, bool quick);

uint32_t fuzz_count_blocks(const struct gpume_params *params);

void fuzz_check_search(const struct gpume_params *params, const struct gpume_field *field);

#endif
