/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/sieve.h"

#include "base/grid.h"
#include "shared.h"

#define LOCAL 128u  /* invocations of a workgroup, unless one block needs more */
#define TEAM_MIN 8u /* fewer read too little of a row of sums at once */
#define TEAM_MAX 256u
#define QUADS_PER_LANE 18u /* of candidates, about: what a team is made for */
#define WORTH 32u          /* of its candidates, what a block may have compared */
#define COMPARE_ITERATIONS                                                                         \
    (GPUME_ITERATIONS_MAX / 2) /* of an invocation; scanning needs the rest */

static uint32_t shift_to_16_bits(uint32_t side, uint32_t bits)
{
    uint64_t largest = (uint64_t)side * side * ((1u << bits) - 1);
    uint32_t shift = 0;
    while (largest >> shift > UINT16_MAX) {
        shift++;
    }
    return shift;
}

static uint32_t team_for(uint32_t quads)
{
    uint32_t team = TEAM_MIN;
    while (team < TEAM_MAX && team * QUADS_PER_LANE < quads) {
        team *= 2;
    }
    return team;
}

/* So that no invocation loops for too long: comparing one candidate takes the workgroup
 * block * block / 4 iterations, of all its invocations together. */
static uint32_t give_up(const struct gpume_plan *plan, const struct gpume_sieve_shape *shape)
{
    uint32_t iterations = plan->params.block * plan->params.block / 4;
    uint64_t affordable = (uint64_t)COMPARE_ITERATIONS * shape->local / iterations / shape->tile_x;
    uint64_t worth = plan->candidates / WORTH + 16;
    return (uint32_t)gpume_min_u64(
        worth, affordable - gpume_min_u64(affordable, shape->short_list));
}

struct gpume_sieve_shape gpume_sieve_shape_make(const struct gpume_plan *plan)
{
    uint32_t rows = 2 * plan->params.window_y + 1, block = plan->params.block;
    struct gpume_sieve_shape shape = {
        .team = team_for(plan->dx_quads * rows),
        .seed_step = rows > 64 ? 8 : 4,
        .box_shift = shift_to_16_bits(block, plan->params.bits),
        .part_shift = shift_to_16_bits(block / 2, plan->params.bits),
    };
    shape.local = shape.team > LOCAL ? shape.team : LOCAL;
    shape.tile_x = shape.local / shape.team; /* at most 16 */
    shape.list = 6 * shape.local;
    shape.short_list = 3 * shape.local / 4; /* holds 4 seeds a block: 4 * 16 */
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
