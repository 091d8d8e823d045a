/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hard thresholds in a sliding transform: "Within a picture" of gpume-filter(1), by its names.
 *
 * Columns are transformed once for all windows that begin in a row, and what these give back is
 * added up in columns before it is transformed back. Everything lies in cells of 2x2 samples, or in
 * pairs of columns, because windows begin at every other one: neighbouring invocations then use
 * neighbouring words.
 *
 * Grid: one workgroup per tile of 56x34 samples; x, y = tile. It takes four rows of windows at a
 * time, of which an invocation has, in each row, one k of one window. Shared memory:
 * GPUME_TEMPORAL_TILE_BYTES. Reads means and the state, writes the result.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "temporal/shared.h"
#include "temporal/temporal.glsl"

layout(local_size_x = GPUME_TEMPORAL_GATHER) in;

layout(std430, binding = 0) readonly buffer State { gpume_temporal_state state; };
layout(std430, binding = 1) writeonly buffer Result { QUAD result[]; };
layout(std430, binding = 2) readonly buffer Means { uint means[]; };

const int MARGIN = 6;     /* samples on each side of a tile that its windows reach */
const uint SIDE = 8u;     /* of a window */
const uint REACH = 4u;    /* cells of it */
const uint TAKEN = 4u;    /* rows of windows at a time */
const uint ACROSS = 32u;  /* windows of a row, of which one is not needed */
const uint DOWN = 20u;    /* rows of windows */
const uint PAIRS = 35u;   /* of columns that they have, */
const uint CELLS = 23u;   /* and of rows */
const uint INNER = 28u;   /* pairs of columns of the tile */
const uint QUADS = 14u;   /* of a row of the tile */
const uint KEPT_BITS = 8u;

/* x: even columns in low halves, odd ones in high halves. */
shared int samples[2u * CELLS * PAIRS];
/* T, and, in the lowest 8 bits, how many coefficients are kept. */
shared uint windows[DOWN * ACROSS];
/* Of the rows of windows that are taken: A, then the sums of O B; by row, k, odd columns, pair.
 * Before that: W of cells. */
shared int columns[TAKEN * SIDE * 2u * PAIRS];
/* P; by row, odd columns, pair. */
shared int sums[GPUME_TEMPORAL_TILE_H * 2u * INNER];

/* The rows of H, of samples or columns; v becomes what the transform says of them. */
void turn(inout int v[8])
{
    int s0 = v[0] + v[7], s1 = v[1] + v[6], s2 = v[2] + v[5], s3 = v[3] + v[4];
    int d0 = v[0] - v[7], d1 = v[1] - v[6], d2 = v[2] - v[5], d3 = v[3] - v[4];
    v[0] = (s0 + s3) + (s1 + s2) << 3;
    v[4] = (s0 + s3) - (s1 + s2) << 3;
    v[2] = 10 * (s0 - s3) + 4 * (s1 - s2);
    v[6] = 4 * (s0 - s3) - 10 * (s1 - s2);
    v[1] = 10 * d0 + 9 * d1 + 6 * d2 + 2 * d3;
    v[3] = 9 * d0 - 2 * d1 - 10 * d2 - 6 * d3;
    v[5] = 6 * d0 - 10 * d1 + 2 * d2 + 9 * d3;
    v[7] = 2 * d0 - 6 * d1 + 9 * d2 - 10 * d3;
}

/* The columns of H. */
void turn_back(inout int v[8])
{
    int p = v[0] + v[4] << 3, q = v[0] - v[4] << 3;
    int r = 10 * v[2] + 4 * v[6], s = 4 * v[2] - 10 * v[6];
    int d0 = 10 * v[1] + 9 * v[3] + 6 * v[5] + 2 * v[7];
    int d1 = 9 * v[1] - 2 * v[3] - 10 * v[5] - 6 * v[7];
    int d2 = 6 * v[1] - 10 * v[3] + 2 * v[5] + 9 * v[7];
    int d3 = 2 * v[1] - 6 * v[3] + 9 * v[5] - 10 * v[7];
    v[0] = p + r + d0;
    v[7] = p + r - d0;
    v[1] = q + s + d1;
    v[6] = q + s - d1;
    v[2] = q - s + d2;
    v[5] = q - s - d2;
    v[3] = p - r + d3;
    v[4] = p - r - d3;
}

/* N */
int levelled(uint k, int v)
{
    return k % 4u == 0u ? v : v + ((k % 2u == 0u ? 53 : 81) * v >> 9);
}

/* isqrt */
uint root_of(uint n)
{
    uint root = 0u;
    [[unroll]] for (int i = 15; i >= 0; i--) {
        uint next = root | 1u << i; /* below 2^16 */
        root = next * next <= n ? next : root;
    }
    return root;
}

/* O, of a window that keeps this many. */
uint weight_of(uint kept)
{
    return 64u >> findMSB(2u * kept - 1u);
}

/* Where `columns` has the first pair of a k in one of the rows of windows that are taken. */
uint line_of(uint row, uint k, uint odd)
{
    return ((row * SIDE + k) * 2u + odd) * PAIRS;
}

uint mirrored(int place, uint count)
{
    int n = int(count), turned = place < n ? place : 2 * n - 1 - place;
    return uint(clamp(place < 0 ? -1 - place : turned, 0, n - 1));
}

/* x and W of the samples of the tile's windows. */
void load_tile(uint lane)
{
    ivec2 origin = ivec2(gl_WorkGroupID.xy) * ivec2(GPUME_TEMPORAL_TILE_W, GPUME_TEMPORAL_TILE_H);
    for (uint i = lane; i < CELLS * PAIRS; i += GPUME_TEMPORAL_GATHER) {
        uvec2 cell = uvec2(i % PAIRS, i / PAIRS);
        ivec2 at = origin - MARGIN + 2 * ivec2(cell);
        uvec2 x = uvec2(mirrored(at.x, pc.width), mirrored(at.x + 1, pc.width));
        uint weight = 0u;
        [[unroll]] for (uint j = 0u; j < 2u; j++) {
            uint line = mirrored(at.y + int(j), pc.height) * 4u * pc.stride;
            uint even = means[line + x.x], odd = means[line + x.y];
            weight += (even >> 16u) + (odd >> 16u);
            /* From 0 to 65535 to -32768 to 32767. */
            samples[(2u * cell.y + j) * PAIRS + cell.x] =
                int((even & 0xffffu | odd << 16u) ^ 0x80008000u);
        }
        columns[i] = int(weight);
    }
}

/* T */
void find_limits(uint lane, gpume_temporal_curve curve)
{
    uint shift = min(pc.bits, 10u) - 1u, most = 64u * curve.strength;
    uint noise = 295u * pc.spatial * root_of(256u * curve.variance) >> shift; /* t */
    for (uint i = lane; i < DOWN * ACROSS; i += GPUME_TEMPORAL_GATHER) {
        uint first = i / ACROSS * PAIRS + i % ACROSS, m = 0u;
        [[unroll]] for (uint j = 0u; j < REACH * REACH; j++) {
            m += uint(columns[first + j / REACH * PAIRS + j % REACH]);
        }
        uint q = (1u << 18u) / (m >> 12u), g = q + (most * (4096u - q) >> 12u);
        windows[i] = (noise * root_of(q * g >> 2u) >> 11u) << KEPT_BITS; /* below 2^29 */
    }
}

/* A of a pair of columns; the samples of the first row are given. */
void analyse_columns(uint row, uint pair, uint first)
{
    int even[8], odd[8];
    [[unroll]] for (uint i = 0u; i < SIDE; i++) {
        int both = samples[first + i * PAIRS];
        even[i] = bitfieldExtract(both, 0, 16);
        odd[i] = both >> 16;
    }
    turn(even);
    turn(odd);
    [[unroll]] for (uint k = 0u; k < SIDE; k++) {
        columns[line_of(row, k, 0u) + pair] = even[k] + 8 >> 4;
        columns[line_of(row, k, 1u) + pair] = odd[k] + 8 >> 4;
    }
}

/* B of one k of a window, by j; and notes what is kept. */
void filter_window(uint row, uint k, uint across, uint window, int limit, out int v[8])
{
    uint line = line_of(row, k, 0u) + across;
    [[unroll]] for (uint j = 0u; j < SIDE; j++) {
        v[j] = columns[line + j % 2u * PAIRS + j / 2u];
    }
    turn(v);
    uint kept = 0u;
    [[unroll]] for (uint l = 0u; l < SIDE; l++) {
        bool keeps = abs(v[l]) > limit || (l == 0u && k == 0u);
        kept += keeps ? 1u : 0u;
        v[l] = keeps ? levelled(l, v[l]) : 0;
    }
    turn_back(v);
    [[unroll]] for (uint j = 0u; j < SIDE; j++) {
        v[j] = v[j] + 32 >> 6;
    }
    atomicAdd(windows[window], kept);
}

/* Adds O B of one k. */
void add_window(uint row, uint k, uint across, uint window, int b[8])
{
    uint line = line_of(row, k, 0u) + across;
    int weight = int(weight_of(windows[window] & 0xffu));
    [[unroll]] for (uint j = 0u; j < SIDE; j++) {
        atomicAdd(columns[line + j % 2u * PAIRS + j / 2u], weight * b[j]);
    }
}

/* Adds F of a column; first: row of the tile, or one above it. */
void add_column(uint row, uint odd, uint pair, int first)
{
    int v[8];
    [[unroll]] for (uint k = 0u; k < SIDE; k++) {
        v[k] = levelled(k, columns[line_of(row, k, odd) + pair + uint(MARGIN) / 2u] + 64 >> 7);
    }
    turn_back(v);
    [[unroll]] for (int i = 0; i < int(SIDE); i++) {
        if (uint(first + i) < GPUME_TEMPORAL_TILE_H) {
            atomicAdd(sums[(uint(first + i) * 2u + odd) * INNER + pair], v[i] + 1 >> 1);
        }
    }
}

/* What TAKEN rows of windows from one on give. */
void filter_rows(uint lane, uint first)
{
    uint k = lane / ACROSS, across = lane % ACROSS;
    int given[TAKEN][8], limits[TAKEN]; /* B, T */
    /* Before the barrier: after it, others add to what the windows keep. */
    [[unroll]] for (uint row = 0u; row < TAKEN; row++) {
        limits[row] = int(windows[(first + row) * ACROSS + across] >> KEPT_BITS);
    }
    if (lane < TAKEN * PAIRS) {
        uint row = lane / PAIRS, pair = lane % PAIRS;
        analyse_columns(row, pair, 2u * (first + row) * PAIRS + pair);
    }
    barrier();
    [[unroll]] for (uint row = 0u; row < TAKEN; row++) {
        filter_window(
            row, k, across, (first + row) * ACROSS + across, limits[row], given[row]);
    }
    barrier();
    for (uint i = lane; i < TAKEN * SIDE * 2u * PAIRS; i += GPUME_TEMPORAL_GATHER) {
        columns[i] = 0;
    }
    barrier();
    [[unroll]] for (uint row = 0u; row < TAKEN; row++) {
        add_window(row, k, across, (first + row) * ACROSS + across, given[row]);
    }
    barrier();
    if (lane < TAKEN * 2u * INNER) {
        uint row = lane / (2u * INNER), odd = lane / INNER % 2u;
        add_column(row, odd, lane % INNER, int(2u * (first + row)) - MARGIN);
    }
    barrier();
}

/* Four samples of a row of the tile. */
ivec4 samples_of(uint quad, uint row)
{
    uint shift = 16u - pc.bits;
    ivec4 found;
    [[unroll]] for (uint i = 0u; i < 2u; i++) {
        uint pair = 2u * quad + i, all = 0u; /* Q */
        [[unroll]] for (uint j = 0u; j < REACH * REACH; j++) {
            uint window = (row / 2u + j / REACH) * ACROSS + pair + j % REACH;
            all += weight_of(windows[window] & 0xffu);
        }
        [[unroll]] for (uint odd = 0u; odd < 2u; odd++) {
            int sum = sums[(row * 2u + odd) * INNER + pair];
            sum += int((all << 15u) + (all << shift >> 1u));
            found[2u * i + odd] = int(min(uint(max(sum, 0)) / (all << shift), uint(peak())));
        }
    }
    return found;
}

void main()
{
    uint lane = gl_LocalInvocationIndex;
    gpume_temporal_curve curve = state.curves[pc.plane];
    if (curve.scale == 0) { /* uniform: all read the same; `result` is the picture */
        return;
    }
    load_tile(lane);
    for (uint i = lane; i < GPUME_TEMPORAL_TILE_H * 2u * INNER; i += GPUME_TEMPORAL_GATHER) {
        sums[i] = 0;
    }
    barrier();
    find_limits(lane, curve);
    barrier();
    for (uint first = 0u; first < DOWN; first += TAKEN) {
        filter_rows(lane, first);
    }
    for (uint i = lane; i < GPUME_TEMPORAL_TILE_H * QUADS; i += GPUME_TEMPORAL_GATHER) {
        uvec2 at = uvec2(gl_WorkGroupID.x * QUADS + i % QUADS,
            gl_WorkGroupID.y * GPUME_TEMPORAL_TILE_H + i / QUADS);
        if (at.x < pc.stride && at.y < pc.height) {
            result[at.y * pc.stride + at.x] = pack(samples_of(i % QUADS, i / QUADS));
        }
    }
}
