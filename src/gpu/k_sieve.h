/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What both forms of the sieve share.
 */
#ifndef GPUME_GPU_K_SIEVE_H
#define GPUME_GPU_K_SIEVE_H

#include "gpu/k.h"

/* Specialisation constants: the plan's, and how the sieve is cut to it. */
void gpume_k_sieve_constants(const struct gpume_plan *plan, uint32_t *constants);

/* Bounds by half float arithmetic? */
bool gpume_k_sieve_half(const struct gpume_gpu *gpu);

/* Counts of a submission's fields, as the kernels bind them. */
struct gpume_view gpume_k_sieve_counts(const struct gpume_work *work);

#endif
