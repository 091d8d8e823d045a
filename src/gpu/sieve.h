/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the sieve is cut to a plan, and whether it pays for the fields at hand. Pure arithmetic; it
 * decides about time alone.
 */
#ifndef GPUME_GPU_SIEVE_H
#define GPUME_GPU_SIEVE_H

#include "motion/plan.h"

struct gpume_sieve_shape {
    uint32_t columns; /* of a part of the window, a multiple of 4 */
    uint32_t chain;   /* dy, half a block apart, that an invocation bounds in one go */
    uint32_t team;    /* invocations that share a block */
    uint32_t tile_x;  /* blocks of a workgroup */
    uint32_t local;   /* invocations of a workgroup: tile_x * team */
    uint32_t list;    /* pairs of candidates that can wait in a workgroup */
    uint32_t give_up; /* candidates of a block to compare before it is left over */
    uint32_t quarter_shift, sixteenth_shift; /* low bits cut off sums: 11 are kept */
};

/* Blocks of these sizes alone: their sixteenths begin with a pair of samples, quarters with a quad.
 */
static inline bool gpume_sieve_takes(uint32_t block)
{
    return block % 8 == 0;
}

/* For a device that takes so many invocations a workgroup, at least 128. */
struct gpume_sieve_shape gpume_sieve_shape_make(
    const struct gpume_plan *plan, uint32_t invocations);

/*
 * With or without the sieve, submission by submission. What the full search takes does not depend
 * on the pictures: it is measured once. What the sieve takes does: it is measured whenever it is
 * used, and where it is not, every GPUME_SIEVE_PROBE submissions or, where it is much slower, as
 * much less often.
 */
#define GPUME_SIEVE_PROBE 16u

struct gpume_sieve_switch {
    bool sieving;
    uint64_t field_ns[2]; /* a field without and with the sieve, as measured last; 0: never */
    uint32_t since_probe; /* submissions */
};

/* For the next submission: sieve it? */
bool gpume_sieve_switch_next(struct gpume_sieve_switch *sieve);

/* A submission has taken so long; ns 0: the device cannot tell. */
void gpume_sieve_switch_measured(
    struct gpume_sieve_switch *sieve, bool sieved, uint64_t ns, uint32_t fields);

#endif
