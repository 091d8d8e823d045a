/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The block that a workgroup of prune_wide.comp searches, its best candidate so far, and the full
 * comparison of a few candidates. An invocation compares runs of neighbouring samples, which it
 * reads from patches. Include after runs.glsl.
 */
const uint NONE = 0xffffffffu;
const uint SHORT = 16u; /* candidates that are compared at a time */
const uint SEEDS = 8u;  /* classes of groups that the first candidates come from */

const uint RUN = BLOCK_W % 16u == 0u ? 16u : 8u; /* neighbouring samples of a row */
const uint RUN_MAX = 16u;
const uint RUNS = BLOCK_W / RUN * BLOCK_H; /* of a block */
const uint SHARE = RUNS < LOCAL ? RUNS : LOCAL; /* invocations that compare a candidate */
const uint AT_ONCE = LOCAL / SHARE;
/* A candidate whose cost exceeds the best one already is not compared to the end. Measured: this
 * pays where an invocation has several runs. */
const bool LONG = RUNS >= 4u * SHARE;

shared uint best_cost, best_order;
shared uint short_list[SHORT]; /* candidates to compare, or NONE */
shared uint short_count;
shared uint costs_found[SHORT]; /* 0 between comparisons */
shared uint compared;           /* candidates past the sixteenths */

uint z; /* task */
uint reference_octets, target_octets; /* index of the frame's first octet, */
uint reference_sums, target_sums_first; /* and of its first sum */
uvec2 position, size; /* of the block, in samples; the visible size */
OCTET target_run[RUN_MAX / 8u];

/* A candidate: row (dy + WINDOW_Y, at most 1024) and column (dx + PAD_X, at most 1027). */
uint candidate_of(uint row, uint column) { return row << 16 | column; }
uint row_of(uint candidate) { return candidate >> 16; }
uint column_of(uint candidate) { return candidate & 0xffffu; }
uint zero_candidate() { return candidate_of(uint(WINDOW_Y), uint(PAD_X)); }
uint order_at(uint candidate)
{
    return order_of(int(column_of(candidate)) - PAD_X, int(row_of(candidate)) - WINDOW_Y);
}

void place()
{
    z = gl_WorkGroupID.z;
    uint target_frame = target_place(z);
    uint reference_frame = reference_place(z);
    uint octets = pc.patches * PATCH_ROWS;
    target_octets = target_frame * octets;
    reference_octets = reference_frame * octets;
    target_sums_first = target_frame * pc.sum_quads;
    reference_sums = reference_frame * pc.sum_quads;
    position = uvec2(gl_WorkGroupID.x, pc.row_first + gl_WorkGroupID.y) * BLOCK_SIZE;
    size = min(BLOCK_SIZE, uvec2(pc.layer.width, pc.layer.height) - position);
}

#ifdef GPUME_WIDE
QUAD first_quad(OCTET octet) { return octet.xy; }
QUAD second_quad(OCTET octet) { return octet.zw; }
#else
QUAD first_quad(OCTET octet) { return octet.x; }
QUAD second_quad(OCTET octet) { return octet.y; }
#endif

/* The SAD of a run and of the reference's from a row and a column on. */
uint run_difference(RUN_WORDS its[RUN_MAX / 8u], uint row, uint column)
{
    QUAD quads[RUN_MAX / 4u + 2u];
    uint from = reference_octets + patch_octet(row, column, pc.patch_stride);
    [[unroll]] for (uint i = 0u; i <= RUN / 8u; i++) {
        OCTET octet = patches[from + i * PATCH_ROWS];
        quads[2u * i] = first_quad(octet);
        quads[2u * i + 1u] = second_quad(octet);
    }
    bool odd = (column + PATCH_LEFT) / 4u % 2u != 0u;
    [[unroll]] for (uint i = 0u; i <= RUN / 4u; i++) {
        quads[i] = odd ? quads[i + 1u] : quads[i];
    }
    uint found = 0u, shift = column % 4u, up = lift_of(shift);
    [[unroll]] for (uint i = 0u; i < RUN / 4u; i += 2u) {
        QUAD first = shifted(quads[i], quads[i + 1u], shift, up);
        QUAD second = shifted(quads[i + 1u], quads[i + 2u], shift, up);
        found += difference(its[i / 2u], words_of(first, second));
    }
    return found;
}

/* Loads a run of the target. An invocation that has only one run loads it once. */
void load_run(uint run)
{
    uint row = position.y + min(run / (BLOCK_W / RUN), size.y - 1u) + WINDOW_Y;
    uint column = position.x + run % (BLOCK_W / RUN) * RUN + PAD_X;
    uint from = target_octets + patch_octet(row, column, pc.patch_stride);
    [[unroll]] for (uint i = 0u; i < RUN / 8u; i++) {
        target_run[i] = patches[from + i * PATCH_ROWS];
    }
}

/* Adds each invocation's share of the SADs of the short list's candidates to their costs. */
void compare_runs(uint count)
{
    uint member = gl_LocalInvocationIndex % SHARE, slot = gl_LocalInvocationIndex / SHARE;
    uint end = slot < AT_ONCE ? count : 0u; /* some invocations may have none */
    for (uint run = member; run < size.y * (BLOCK_W / RUN); run += SHARE) {
        uint x = position.x + run % (BLOCK_W / RUN) * RUN, y = position.y + run / (BLOCK_W / RUN);
        if (SHARE < RUNS) {
            load_run(run);
        }
        RUN_WORDS its[RUN_MAX / 8u];
        [[unroll]] for (uint i = 0u; i < RUN / 8u; i++) {
            its[i] = words_of(first_quad(target_run[i]), second_quad(target_run[i]));
        }
        for (uint c = slot; c < end; c += AT_ONCE) {
            uint candidate = short_list[c];
            if (candidate != NONE && (!LONG || costs_found[c] <= best_cost)) {
                uint found =
                    run_difference(its, y + row_of(candidate), x + column_of(candidate));
                atomicAdd(costs_found[c], found);
            }
        }
    }
}

/* Compares the first `count` of the short list, at most SHORT, NONE among them. */
void compare(uint count)
{
    uint lane = gl_LocalInvocationIndex, before = best_cost;
    compare_runs(count);
    barrier();
    uint candidate = lane < count ? short_list[lane] : NONE, cost = NONE;
    if (candidate != NONE) {
        cost = costs_found[lane];
        costs_found[lane] = 0u;
        atomicMin(best_cost, cost);
    }
    barrier();
    if (lane == 0u && best_cost < before) {
        best_order = NONE;
    }
    barrier();
    if (candidate != NONE && cost == best_cost) {
        atomicMin(best_order, order_at(candidate));
    }
    barrier();
}
