/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/sieve.h"

#include "base/grid.h"
#include "shared.h"

#define SUM_MAX 2047u  /* half floats hold these, their differences and small sums of them */
#define CHAIN_MAX 9u   /* bounds in registers; 16 at most, see sieve.comp */
#define TEAM_MAX 528u  /* invocations that share a block */
#define LOCAL 144u     /* invocations of a workgroup where a team is smaller */
#define TILE_X_MAX 16u /* what four bits tell apart */
#define COMPARE_ITERATIONS (GPUME_ITERATIONS_MAX / 2) /* of an invocation; bounds need the rest */

static uint32_t shift_for(uint32_t side, uint32_t bits)
{
    uint64_t largest = (uint64_t)side * side * ((1u << bits) - 1);
    uint32_t shift = 0;
    while (largest >> shift > SUM_MAX) {
        shift++;
    }
    return shift;
}

/* So that no invocation loops for too long: comparing one candidate takes the workgroup
 * block * block / 4 iterations, of all its invocations together. */
static uint32_t give_up(const struct gpume_plan *plan, const struct gpume_sieve_shape *shape)
{
    uint32_t iterations = plan->params.block * plan->params.block / 4;
    uint64_t affordable = (uint64_t)COMPARE_ITERATIONS * shape->local / iterations / shape->tile_x;
    /* Measured: one block that takes long is waited for. */
    uint64_t worth = plan->candidates / (plan->params.block > 16 ? 32 : 16) + 16;
    return (uint32_t)gpume_min_u64(worth, affordable - gpume_min_u64(affordable, 2 * shape->list));
}

struct gpume_sieve_shape gpume_sieve_shape_make(const struct gpume_plan *plan, uint32_t invocations)
{
    uint32_t rows = 2 * plan->params.window_y + 1, half = plan->params.block / 2;
    uint64_t quads_max = gpume_min_u64(invocations, TEAM_MAX) / half;
    uint64_t parts = gpume_div_up(plan->dx_quads, quads_max);
    uint32_t quads = (uint32_t)gpume_div_up(plan->dx_quads, parts);
    struct gpume_sieve_shape shape = {
        .team = quads * half,
        .columns = 4 * quads,
        .chain = (uint32_t)gpume_min_u64(gpume_div_up(rows, half), CHAIN_MAX),
        .list =
            half > 8 ? 256 : 128, /* long lists leave less room on a core, short ones take rounds */
        .quarter_shift = shift_for(half, plan->params.bits),
        .sixteenth_shift = shift_for(half / 2, plan->params.bits),
    };
    uint64_t local = gpume_min_u64(invocations, LOCAL);
    shape.tile_x = shape.team < local ? (uint32_t)gpume_min_u64(local / shape.team, TILE_X_MAX) : 1;
    shape.local = shape.tile_x * shape.team;
    shape.give_up = give_up(plan, &shape);
    return shape;
}

/* Longer where a probe costs more, so that probes stay a small share. */
static uint64_t probe_period(const struct gpume_sieve_switch *sieve)
{
    return GPUME_SIEVE_PROBE * (sieve->field_ns[1] / sieve->field_ns[0] + 1);
}

bool gpume_sieve_switch_next(struct gpume_sieve_switch *sieve)
{
    if (sieve->field_ns[1] == 0) {
        return true;
    }
    if (sieve->field_ns[0] == 0) {
        return false;
    }
    if (sieve->sieving || ++sieve->since_probe >= probe_period(sieve)) {
        sieve->since_probe = 0;
        return true;
    }
    return false;
}

void gpume_sieve_switch_measured(
    struct gpume_sieve_switch *sieve, bool sieved, uint64_t ns, uint32_t fields)
{
    if (ns > 0 && fields > 0) {
        sieve->field_ns[sieved] = ns / fields + 1;
        sieve->sieving = sieve->field_ns[0] == 0 || sieve->field_ns[1] < sieve->field_ns[0];
    }
}
