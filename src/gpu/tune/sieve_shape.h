/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the sieve is cut to a plan, and whether it pays for the fields at hand. Pure arithmetic; it
 * decides about time alone.
 */
#ifndef GPUME_GPU_TUNE_SIEVE_SHAPE_H
#define GPUME_GPU_TUNE_SIEVE_SHAPE_H

#include "model/plan.h"

struct gpume_sieve_shape {
    bool sifts;     /* an invocation searches a block (sift.comp), else a workgroup (sieve.comp) */
    uint32_t local; /* invocations of a workgroup */
    uint32_t part;  /* rows of groups of candidates that it takes at a time; sifts: 0 */
    uint32_t list;  /* quads of candidates that can wait, short: shared memory; sifts: 0 */
    uint32_t give_up; /* candidates of a block to compare, or to list, before it is left over */
    uint32_t quarter_shift, sixteenth_shift; /* low bits cut off sums: 11 are kept */
};

/* Workgroups along an axis that every device takes; and a block's place in 16 bits in sift.comp. */
#define GPUME_SIEVE_BLOCKS_MAX 65535u

/* Blocks of these sizes alone: their sixteenths begin with a pair of samples, quarters with a quad.
 */
static inline bool gpume_sieve_takes(const struct gpume_plan *plan)
{
    return plan->params.block % 8 == 0 && plan->layers[0].blocks_x <= GPUME_SIEVE_BLOCKS_MAX &&
           plan->layers[0].blocks_y <= GPUME_SIEVE_BLOCKS_MAX;
}

/* Does an invocation search a block, and not a workgroup? */
bool gpume_sieve_sifts(const struct gpume_plan *plan);

/* Candidates of a block from which something was gained where it was measured: on an NVIDIA H200,
 * and on a processor that takes the part of a GPU. There gpume_sieve_switch goes by what it
 * measures. */
uint64_t gpume_sieve_candidates_min(const struct gpume_plan *plan, bool processor);

struct gpume_sieve_shape gpume_sieve_shape_make(const struct gpume_plan *plan);

/*
 * With or without the sieve, submission by submission. What is used is measured all the time, the
 * other one every GPUME_SIEVE_PROBE submissions or, where it is much slower, as much less often.
 * The full search does not depend on the pictures, only on the device's clock: it is probed every
 * GPUME_SIEVE_PROBE_FULL. Both for submissions of about the same size, as fields share what one
 * costs whatever it holds, and the sieve's costs more: where frames come slowly submissions are
 * small. The sieve is tried once at first, and until both times are known the full search is used:
 * the sieve can take eight times as long, and several submissions are under way. A device that
 * cannot tell the time uses the sieve.
 */
#define GPUME_SIEVE_PROBE 16u
#define GPUME_SIEVE_PROBE_FULL 128u
#define GPUME_SIEVE_SIZES 8u /* by the bits of the number of fields */
_Static_assert(GPUME_BATCH_MAX < 1u << (GPUME_SIEVE_SIZES - 1), "a size for every submission");

struct gpume_sieve_size {
    bool sieving;         /* what is used */
    bool tried;           /* with the sieve */
    uint64_t field_ns[2]; /* a field without and with it, as measured last; 0: never */
    uint32_t since_probe; /* submissions of this size */
};

struct gpume_sieve_switch {
    struct gpume_sieve_size sizes[GPUME_SIEVE_SIZES];
};

/* For the next submission, of so many fields (at most GPUME_BATCH_MAX): sieve it? */
bool gpume_sieve_switch_next(struct gpume_sieve_switch *sieve, uint32_t fields);

/* A submission of so many fields has taken so long; ns 0: the device cannot tell, or not of this
 * one. */
void gpume_sieve_switch_measured(
    struct gpume_sieve_switch *sieve, bool sieved, uint64_t ns, uint32_t fields);

#endif
