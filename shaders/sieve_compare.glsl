/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The block of a workgroup of sieve.comp, its best candidate so far, and comparing a few candidates
 * in full. An invocation takes runs of eight neighbouring samples. 8-bit ones are compared as pairs
 * of half floats where there is such arithmetic, as in tile.comp: a sum that starts at 1024 takes
 * in four differences and stays below 2048, so that its low bits are the whole number.
 */
const uint NONE = 0xffffffffu;
const uint SHORT = 8u; /* candidates that are compared at a time, */
const uint SEEDS = 8u;  /* and of different classes */

const uint RUN = 8u, RUNS = BLOCK / RUN * BLOCK; /* of a block */
const uint SHARE = RUNS < LOCAL ? RUNS : LOCAL;  /* invocations that compare a candidate */
const uint AT_ONCE = LOCAL / SHARE;
const uint SUMMERS = LOCAL / SHORT; /* invocations that sum up what these have found */
const uint PARTIALS = SHARE + SUMMERS; /* with a gap, so that they do not meet in a bank */

shared uint best_cost, best_order;
shared uint short_list[SHORT]; /* candidates to compare, or NONE */
shared uint short_count;
shared uint costs_found[SHORT];
shared uint partials[SHORT * PARTIALS];
shared uint compared; /* candidates past the sixteenths */

uint z; /* field of the batch */
uint reference_quads, target_quads; /* to the frames, */
uint reference_sums, target_sums_first; /* and to their sums */
uvec2 position, size; /* of the block: samples that the picture's edge leaves */

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
    uint target_frame = target_frame_of(pc.pair, z);
    uint reference_frame = reference_frame_of(pc.pair, z);
    target_quads = target_frame * pc.pair.frame_quads;
    reference_quads = reference_frame * pc.pair.frame_quads;
    target_sums_first = target_frame * pc.sum_quads;
    reference_sums = reference_frame * pc.sum_quads;
    position = uvec2(gl_WorkGroupID.x, pc.row_first + gl_WorkGroupID.y) * BLOCK;
    size = min(uvec2(BLOCK), uvec2(pc.width, pc.height) - position);
}

/* Four samples from sample s of the first of two quads. */
QUAD shifted(QUAD left, QUAD right, uint s)
{
#ifdef GPUME_WIDE
    uvec3 w = s >= 2u ? uvec3(left.y, right) : uvec3(left, right.x);
    return (s & 1u) != 0u ? (w.xy >> 16) | (w.yz << 16) : w.xy;
#else
    return (left >> (8u * s)) | ((right << 1) << (31u - 8u * s));
#endif
}

#if defined(GPUME_HALF) && !defined(GPUME_WIDE)
#define RUN_WORDS f16vec2[4]
RUN_WORDS words_of(QUAD first, QUAD second)
{
    const uint MASK = 0x00ff00ffu, BIAS = 0x64006400u; /* 1024 + s, see samples.glsl */
    return RUN_WORDS(unpackFloat2x16((first & MASK) | BIAS),
        unpackFloat2x16((first >> 8 & MASK) | BIAS), unpackFloat2x16((second & MASK) | BIAS),
        unpackFloat2x16((second >> 8 & MASK) | BIAS));
}

uint difference(RUN_WORDS a, RUN_WORDS b)
{
    f16vec2 sum = f16vec2(1024.0hf);
    [[unroll]] for (uint i = 0u; i < 4u; i++) {
        sum += abs(a[i] - b[i]);
    }
    uint bits = packFloat2x16(sum) - 0x64006400u;
    return (bits & 0xffffu) + (bits >> 16);
}
#else
#define RUN_WORDS ivec4[2]
RUN_WORDS words_of(QUAD first, QUAD second) { return RUN_WORDS(unpack(first), unpack(second)); }

uint difference(RUN_WORDS a, RUN_WORDS b)
{
    ivec4 sum = abs(a[0] - b[0]) + abs(a[1] - b[1]);
    return uint(sum.x + sum.y + sum.z + sum.w);
}
#endif

/* What every invocation finds of the short list's candidates, into `partials`. */
void compare_runs(uint count)
{
    uint member = gl_LocalInvocationIndex % SHARE, slot = gl_LocalInvocationIndex / SHARE;
    uint block_quad = position.y * pc.pair.stride + position.x / 4u;
    uint zero_quad = uint(WINDOW_Y) * pc.pair.stride + uint(PAD_X) / 4u;
    for (uint run = member; run < RUNS; run += SHARE) {
        uint row = run / (BLOCK / RUN);
        uint quad = block_quad + row * pc.pair.stride + run % (BLOCK / RUN) * 2u;
        uint to = target_quads + zero_quad + quad;
        RUN_WORDS its = words_of(padded[to], padded[to + 1u]);
        for (uint c = slot; c < count; c += AT_ONCE) {
            uint candidate = short_list[c];
            if (candidate == NONE) {
                continue;
            }
            uint from = reference_quads + quad + row_of(candidate) * pc.pair.stride +
                        column_of(candidate) / 4u;
            QUAD left = padded[from], middle = padded[from + 1u], right = padded[from + 2u];
            uint shift = candidate & 3u;
            uint found = difference(
                its, words_of(shifted(left, middle, shift), shifted(middle, right, shift)));
            found = row < size.y ? found : 0u;
            uint at = c * PARTIALS + member;
            partials[at] = run < SHARE ? found : partials[at] + found;
        }
    }
}

/* Compares the first `count` of the short list, at most SHORT, NONE among them. */
void compare(uint count)
{
    uint lane = gl_LocalInvocationIndex, c = lane / SUMMERS, before = best_cost;
    if (lane < SHORT) {
        costs_found[lane] = 0u;
    }
    compare_runs(count);
    barrier();
    if (c < count && short_list[c] != NONE) {
        uint sum = 0u;
        [[unroll]] for (uint i = 0u; i < SHARE; i += SUMMERS) {
            sum += i + lane % SUMMERS < SHARE ? partials[c * PARTIALS + i + lane % SUMMERS] : 0u;
        }
        atomicAdd(costs_found[c], sum);
    }
    barrier();
    uint candidate = lane < count ? short_list[lane] : NONE, cost = NONE;
    if (candidate != NONE) {
        cost = costs_found[lane];
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
