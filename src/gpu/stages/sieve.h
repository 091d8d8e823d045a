/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both forms of the sieve share, and the one for small windows (sift.comp), to which k_sieve.c
 * hands over.
 */
#ifndef GPUME_GPU_STAGES_SIEVE_H
#define GPUME_GPU_STAGES_SIEVE_H

#include "gpu/stages/stages.h"

/* Specialisation constants: the plan's, and how the sieve is cut to it. */
void gpume_k_sieve_constants(const struct gpume_plan *plan, uint32_t *constants);

/* Half float arithmetic, for bounds and for 8-bit samples? */
bool gpume_k_sieve_half(const struct gpume_gpu *gpu);

/* Blocks that one dispatch may take. */
uint32_t gpume_k_sieve_blocks(const struct gpume_plan *plan);

#define GPUME_K_SIEVE_RESULTS 4u

/* What the kernels leave behind, as they bind it: vectors, costs, blocks left over, counts. */
void gpume_k_sieve_results(
    const struct gpume_work *work, struct gpume_view views[GPUME_K_SIEVE_RESULTS]);

int gpume_k_sift_create(
    struct gpume_gpu *gpu, const struct gpume_plan *plan, struct gpume_kernel *kernel);
void gpume_k_sift_record(const struct gpume_work *work, const struct gpume_kernel *kernel);

#endif
