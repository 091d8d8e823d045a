/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the ranks of blocks, as gpume.h defines them, from their costs. One thread. */
#ifndef GPUME_VECTORS_RANK_H
#define GPUME_VECTORS_RANK_H

#include "base/log.h"
#include "vectors/vectors.h"

struct gpume_vectors_ranker;

int gpume_vectors_ranker_create(struct gpume_vectors_ranker **ranker, const struct gpume_log *log);

/* *ranked: a copy of the field, which has a list of blocks, with ranks; valid until the next call.
 * GPUME_NOMEM is logged. */
int gpume_vectors_ranker_apply(struct gpume_vectors_ranker *ranker,
    const struct gpume_vectors_field *field, const struct gpume_vectors_field **ranked);

/* Sets *ranker to NULL. NULL is fine. */
void gpume_vectors_ranker_destroy(struct gpume_vectors_ranker **ranker);

#endif
