/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full search of a tile of TILE_X x TILE_Y blocks from shared memory: finds for every block the
 * candidate with the smallest (cost, order). samples.glsl defines the variants.
 *
 * Grid: x and y count tiles, z = task. With FALLBACK only x is used, and every workgroup takes its
 * share of the blocks that pruning has listed. A workgroup loads the reference samples of COLUMNS
 * neighbouring dx and BAND chunks of CHUNK neighbouring dy at a time. An invocation processes
 * items: an item is one block at one dx and the CHUNK neighbouring dy of a chunk. The invocation
 * holds one unit of UNIT x UNIT target samples in registers at a time, loads each row of the
 * reference once, and compares it with the unit at every dy of the chunk. The host picks these
 * sizes (gpu/tune/choice.h) so that no invocation loops more than GPUME_ITERATIONS_MAX times.
 *
 * If the picture's edge cuts a block to a size that is not a whole number of units,
 * match_quads.comp searches that block instead.
 *
 * Shared memory: 16 bytes per quad of reference samples, 4 per word of target samples, 12 per
 * block. Access: reads target, reference and (FALLBACK) fallback, writes vectors and costs.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifdef GPUME_HALF
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif
#include "common/shared.h"
#include "common/common.glsl"
#include "common/task.glsl"
#include "search/search.glsl"

layout(constant_id = GPUME_SPEC_FALLBACK) const uint FALLBACK = 0;
layout(constant_id = GPUME_SPEC_LOCAL) const uint LOCAL = 128;
layout(constant_id = GPUME_SPEC_BITS) const uint BITS = 8;
layout(constant_id = GPUME_SPEC_KEY_BITS) const uint KEY_BITS = 8;
layout(constant_id = GPUME_SPEC_CHUNK) const uint CHUNK = 5;
layout(constant_id = GPUME_SPEC_UNIT) const uint UNIT = 8;
layout(constant_id = GPUME_SPEC_TILE_X) const uint TILE_X = 1;
layout(constant_id = GPUME_SPEC_TILE_Y) const uint TILE_Y = 1;
layout(constant_id = GPUME_SPEC_COLUMNS) const uint COLUMNS = 15;
layout(constant_id = GPUME_SPEC_BAND) const uint BAND = 1;

#include "search/samples.glsl"

layout(local_size_x_id = GPUME_SPEC_LOCAL) in;
layout(std430, binding = 0) readonly buffer Target { QUAD target[]; };
layout(std430, binding = 1) readonly buffer Reference { QUAD reference[]; };
layout(std430, binding = 2) writeonly buffer Vectors { uint vectors[]; };
layout(std430, binding = 3) writeonly buffer Costs { uint costs[]; };
layout(std430, binding = 4) readonly buffer Fallback { uint fallback[]; };
layout(push_constant) uniform Push { gpume_tile_push pc; };

const uint NONE = 0xffffffffu;
const uint SPAN_X = uint(2 * WINDOW_X + 1), SPAN_Y = uint(2 * WINDOW_Y + 1);
const uint CHUNKS = (SPAN_Y + CHUNK - 1u) / CHUNK;
const uint BLOCKS = TILE_X * TILE_Y;
const uint SKIP = uint(PAD_X - WINDOW_X); /* samples before the first dx: 0 to 3 */

/* Reference samples: word w of a row lies in plane w & 3. Each plane begins 8 banks (of 32) after
 * the one before it, so that neighbouring invocations, which read neighbouring words, do not
 * conflict. */
const uint QUADS = (TILE_X * BLOCK_W + COLUMNS + SKIP + 2u) / 4u;
const uint ROWS = TILE_Y * BLOCK_H + BAND * CHUNK - 1u;
const uint PLANE = (ROWS * QUADS + 23u) / 32u * 32u + 8u;

/* Target samples: block by block, unit by unit, row by row. */
const uint FOUR_QUADS = WORD_SAMPLES; /* quads in four words */
const uint FOURS = BLOCKS * BLOCK_W * BLOCK_H / (4u * FOUR_QUADS);
const uint UNIT_FOURS = UNIT * WORDS / 4u;
const uint RUN = RUN_SAMPLES / UNIT; /* neighbouring units that one sum can take in */

const uint ZERO_ROW = uint(WINDOW_Y) / CHUNK * CHUNK; /* where the chunk of dy = 0 begins */
const uint SHARE = LOCAL / BLOCKS; /* invocations per block, with two words */
const bool RAGGED = SPAN_Y % CHUNK != 0u; /* the last chunk holds fewer dy */

shared WORD reference_words[4u * PLANE];
shared FOUR_WORDS target_words[FOURS];
shared uint best[BLOCKS]; /* one word: cost << KEY_BITS | index; two words: index */
shared uint best_cost[BLOCKS];
shared uint zero_cost[BLOCKS]; /* of (0,0), which wins all ties; otherwise the lower index wins */
shared uint excess; /* 1 if a sample is above the maximum of its bit depth */

/* The same in every invocation. */
uint z;              /* task */
uint tile_x, tile_y; /* blocks */
uint target_base, reference_base; /* quads: where the tile's target and reference samples begin */
bool whole; /* the picture's edge cuts none of the tile's blocks */

WORD unit_words[UNIT * WORDS];
WORD row_words[WORDS];
SUM sums[CHUNK];
uint block_costs[CHUNK];

/* Bits above the sample depth. If a frame has such bits all the same, the sums may exceed their
 * limits (samples.glsl) and the keys theirs. */
#ifdef GPUME_WIDE
const uint EXCESS = ((0xffffu << BITS) & 0xffffu) * 0x10001u;
#define NOTE_EXCESS(quad)                                                                          \
    if ((((quad).x | (quad).y) & EXCESS) != 0u) {                                                  \
        excess = 1u;                                                                               \
    }
#else
#define NOTE_EXCESS(quad)
#endif

uvec2 block_at(uint b)
{
    return uvec2(tile_x + b % TILE_X, tile_y + b / TILE_X);
}

/* The size of the block within the picture; 0 if the block does not belong to this dispatch. */
uvec2 block_size(uint b)
{
    if (whole) {
        return BLOCK_SIZE;
    }
    uvec2 at = block_at(b) * BLOCK_SIZE, picture = uvec2(pc.layer.width, pc.layer.height);
    uvec2 size = min(BLOCK_SIZE, picture - min(at, picture));
    bool units = size.x % UNIT == 0u && size.y % UNIT == 0u && block_at(b).y < pc.row_end;
    return units && size.x > 0u ? size : uvec2(0u);
}

uint out_index(uint b)
{
    uvec2 at = block_at(b);
    return result_index(pc.layer, z, at.y * pc.layer.blocks_x + at.x);
}

/* The tile may extend beyond the picture's last blocks. The samples read there are ignored, but the
 * reads must stay in bounds. */
void load_target()
{
    const uint ROW = UNIT / 4u, ACROSS = BLOCK_W / UNIT, UNITS = ACROSS * (BLOCK_H / UNIT);
    uint last = uint(target.length()) - 1u;
    for (uint i = gl_LocalInvocationIndex; i < FOURS; i += LOCAL) {
        QUAD quads[2];
        [[unroll]] for (uint j = 0u; j < FOUR_QUADS; j++) {
            uint q = i * FOUR_QUADS + j, unit = q / (ROW * UNIT), b = unit / UNITS;
            uint x = b % TILE_X * BLOCK_W + unit % ACROSS * UNIT;
            uint y = b / TILE_X * BLOCK_H + unit % UNITS / ACROSS * UNIT + q / ROW % UNIT;
            quads[j] = target[min(target_base + y * pc.frames.stride + x / 4u + q % ROW, last)];
            NOTE_EXCESS(quads[j])
        }
        target_words[i] = four_words(quads[0], quads[FOUR_QUADS - 1u]);
    }
}

/* Loads the samples of the candidates that begin at (column, row) of the window. */
void load_reference(uint column, uint row)
{
    uint from = reference_base + row * pc.frames.stride + column / 4u;
    uint last = uint(reference.length()) - 1u;
    for (uint i = gl_LocalInvocationIndex; i < ROWS * QUADS; i += LOCAL) {
        uint at = from + i / QUADS * pc.frames.stride + i % QUADS;
        QUAD quad = reference[min(at, last)];
        NOTE_EXCESS(quad)
        WORD words[4];
        words_from(quad, reference[min(at + 1u, last)], words);
        reference_words[i] = words[0];
        reference_words[i + PLANE] = words[1];
        reference_words[i + 2u * PLANE] = words[2];
        reference_words[i + 3u * PLANE] = words[3];
    }
}

void load_unit(uint four)
{
    [[unroll]] for (uint i = 0u; i < UNIT_FOURS; i++) {
        FOUR_WORDS w = target_words[four + i];
        unit_words[4u * i] = word_of(w.x);
        unit_words[4u * i + 1u] = word_of(w.y);
        unit_words[4u * i + 2u] = word_of(w.z);
        unit_words[4u * i + 3u] = word_of(w.w);
    }
}

/* Adds the differences between row_words and row y of the unit to sum k. */
void add_row(uint k, uint y)
{
#ifdef GPUME_HALF
    f16vec2 few = f16vec2(1024.0hf) + abs(row_words[0] - unit_words[y * WORDS]);
    uint carried = 0u;
    [[unroll]] for (uint i = 1u; i < WORDS; i++) {
        if (i % FLUSH == 0u) {
            carried += packFloat2x16(few);
            few = f16vec2(1024.0hf);
        }
        few += abs(row_words[i] - unit_words[y * WORDS + i]);
    }
    sums[k] += packFloat2x16(few) + carried;
#else
    [[unroll]] for (uint i = 0u; i < WORDS; i++) {
        sums[k] += abs(row_words[i] - unit_words[y * WORDS + i]);
    }
#endif
}

/* Adds the unit's differences at all dy of the chunk. at: the indices of the first four samples of
 * the top row, each in its own plane. */
void add_unit(uvec4 at)
{
    [[unroll]] for (uint y = 0u; y < UNIT + CHUNK - 1u; y++) {
        [[unroll]] for (uint i = 0u; i < WORDS; i++) {
            uint sample_index = i * WORD_SAMPLES;
            row_words[i] = reference_words[at[sample_index % 4u] + y * QUADS + sample_index / 4u];
        }
        [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
            if (y >= k && y - k < UNIT) {
                add_row(k, y - k);
            }
        }
    }
}

void start_sums(uint units)
{
    [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
        sums[k] = sum_start(units * UNIT);
    }
}

void take_sums()
{
    [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
        block_costs[k] += sum_total(sums[k]);
    }
}

/* Adds the units of the row at y, from column x to `end`. first: the index of the block's first
 * words; at: see add_unit. */
void add_units(uint first, uvec4 at, uint y, uint x, uint end)
{
    for (; x < end; x += UNIT) {
        load_unit(first + (y / UNIT * (BLOCK_W / UNIT) + x / UNIT) * UNIT_FOURS);
        add_unit(at + y * QUADS + x / 4u);
    }
}

/* Computes the block's costs at all dy of the chunk: block_costs. */
void compare_block(uint b, uvec2 size, uvec4 at)
{
    uint first = b * (BLOCK_W * BLOCK_H / (4u * FOUR_QUADS));
    [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
        block_costs[k] = 0u;
    }
    if (BLOCK_W == UNIT && BLOCK_H == UNIT) {
        start_sums(1u);
        load_unit(first);
        add_unit(at);
        take_sums();
        return;
    }
    if (RUN_SAMPLES >= BLOCK_W * BLOCK_H) { /* one run */
        start_sums(size.x / UNIT * (size.y / UNIT));
        for (uint y = 0u; y < size.y; y += UNIT) {
            add_units(first, at, y, 0u, size.x);
        }
        take_sums();
        return;
    }
    for (uint y = 0u; y < size.y; y += UNIT) {
        for (uint run = 0u; run < size.x; run += RUN) {
            uint end = min(run + RUN, size.x);
            start_sums((end - run) / UNIT);
            add_units(first, at, y, run, end);
            take_sums();
        }
    }
}

/* The smallest and the largest index along an axis that the edge mode allows. */
uvec2 allowed_range(uint at, uint size, uint picture, int window)
{
    if (INSIDE == 0u) {
        return uvec2(0u, 2 * window);
    }
    return uvec2(max(-int(at), -window) + window, min(int(picture - at - size), window) + window);
}

/* Offers the candidates of a chunk, whose costs are in block_costs, to the block. */
void offer(uint b, uint column, uint row, uvec2 rows)
{
    uint key = NONE;
    [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
        if ((INSIDE == 0u && !RAGGED) || (row + k >= rows.x && row + k <= rows.y)) {
            key = min(key, (block_costs[k] << KEY_BITS) + k * SPAN_X);
        }
    }
    if (key != NONE) {
        key += row * SPAN_X + column;
        if (key < best[b]) { /* a stale value costs no more than a needless atomic */
            atomicMin(best[b], key);
        }
    }
}

/* The same with two words: keeps the best candidate of the invocation. */
void keep(uint column, uint row, uvec2 rows, inout uint least_cost, inout uint least_index)
{
    [[unroll]] for (uint k = 0u; k < CHUNK; k++) {
        uint index = (row + k) * SPAN_X + column;
        if (row + k >= rows.x && row + k <= rows.y &&
            wins(block_costs[k], index, least_cost, least_index)) {
            least_cost = block_costs[k];
            least_index = index;
        }
    }
}

/* Compares all candidates whose reference samples are loaded. With two words, an invocation
 * compares candidates of one block only, since it keeps the best of them itself. */
void compare_loaded(
    uint column_first, uint chunk_first, inout uint least_cost, inout uint least_index)
{
    const uint TOGETHER = KEY_BITS > 0u ? BLOCKS : 1u, STEP = KEY_BITS > 0u ? LOCAL : SHARE;
    uint items = TOGETHER * COLUMNS * min(BAND, CHUNKS - chunk_first);
    for (uint i = gl_LocalInvocationIndex % STEP; i < items; i += STEP) {
        uint x = i % COLUMNS, chunk = i / (COLUMNS * TOGETHER);
        uint b = KEY_BITS > 0u ? i / COLUMNS % BLOCKS : gl_LocalInvocationIndex / SHARE;
        uint column = column_first + x, row = (chunk_first + chunk) * CHUNK;
        uvec2 at = block_at(b) * BLOCK_SIZE, size = block_size(b);
        uvec2 across = allowed_range(at.x, size.x, pc.layer.width, WINDOW_X);
        if (size.y == 0u || column < across.x || column > across.y) {
            continue;
        }
        uvec4 s = (b % TILE_X) * BLOCK_W + x + SKIP + uvec4(0u, 1u, 2u, 3u);
        uvec4 words = (s & 3u) * PLANE + (s >> 2);
        words += ((b / TILE_X) * BLOCK_H + chunk * CHUNK) * QUADS;
        compare_block(b, size, words);
        if (column == uint(WINDOW_X) && row == ZERO_ROW) {
            zero_cost[b] = block_costs[uint(WINDOW_Y) - ZERO_ROW];
        }
        uvec2 rows = allowed_range(at.y, size.y, pc.layer.height, WINDOW_Y);
        if (KEY_BITS > 0u) {
            offer(b, column, row, rows);
        } else {
            keep(column, row, rows, least_cost, least_index);
        }
    }
}

/* Clears the results. */
void start_blocks()
{
    for (uint b = gl_LocalInvocationIndex; b < BLOCKS; b += LOCAL) {
        best[b] = best_cost[b] = NONE;
    }
}

/* Reduces the invocations' best candidates of each block b to best and best_cost. The whole
 * workgroup must call this. */
void reduce_words(uint b, uint least_cost, uint least_index)
{
    atomicMin(best_cost[b], least_cost);
    barrier();
    if (least_cost == best_cost[b]) {
        atomicMin(best[b], least_index);
    }
}

#ifdef GPUME_WIDE
#include "search/match_excess.glsl"
#endif

void store(uint b, bool two_words)
{
    uint cost = two_words ? best_cost[b] : best[b] >> KEY_BITS;
    uint index = two_words ? best[b] : best[b] & ((1u << KEY_BITS) - 1u);
    uint at = out_index(b);
    vectors[at] = vector_of(cost == zero_cost[b] ? 0u : index + 1u);
    costs[at] = cost;
}

/* Compares all candidates, one load of the reference after the other. */
void compare_all(inout uint least_cost, inout uint least_index)
{
    for (uint column = 0u; column < SPAN_X; column += COLUMNS) {
        for (uint chunk = 0u; chunk < CHUNKS; chunk += BAND) {
            if (column + chunk > 0u) { /* uniform: as both loops are */
                barrier(); /* the previous load is read no more */
            }
            load_reference(column, chunk * CHUNK);
            barrier();
            compare_loaded(column, chunk, least_cost, least_index);
        }
    }
}

/* Searches the tile at tile_x, tile_y for task z. */
void search_tile()
{
    uint lane = gl_LocalInvocationIndex;
    whole = (tile_x + TILE_X) * BLOCK_W <= pc.layer.width &&
            (tile_y + TILE_Y) * BLOCK_H <= pc.layer.height &&
            tile_y + TILE_Y <= pc.row_end;
    reference_base = reference_of(pc.frames, z) +
                     tile_y * BLOCK_H * pc.frames.stride + tile_x * BLOCK_W / 4u;
    target_base = target_of(pc.frames, z) +
                  (tile_y * BLOCK_H + uint(WINDOW_Y)) * pc.frames.stride +
                  (tile_x * BLOCK_W + uint(PAD_X)) / 4u;
    start_blocks();
#ifdef GPUME_WIDE
    if (lane == 0u) {
        excess = 0u;
    }
    barrier();
#endif
    load_target(); /* no barrier before load_reference: both may overlap */
    uint least_cost = NONE, least_index = NONE;
    compare_all(least_cost, least_index);
    bool two_words = KEY_BITS == 0u;
    if (two_words) { /* uniform: KEY_BITS */
        reduce_words(lane / SHARE, least_cost, least_index);
    }
    barrier();
#ifdef GPUME_WIDE
    if (excess != 0u) { /* uniform: written before the barrier */
        compare_excess();
        two_words = true;
    }
#endif
    for (uint b = lane; b < BLOCKS; b += LOCAL) {
        if (block_size(b).y > 0u) {
            store(b, two_words);
        }
    }
}

void main()
{
    if (FALLBACK == 0u) {
        uint tile = pc.tile_first + gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
        z = gl_WorkGroupID.z;
        tile_x = tile % pc.tiles_x * TILE_X;
        tile_y = pc.row_first + tile / pc.tiles_x * TILE_Y;
        if (tile < pc.tile_end) { /* uniform: the workgroup's tile */
            search_tile();
        }
        return;
    }
    uint count = fallback[pc.fallback_list];
    /* uniform: no invocation writes the list */
    for (uint i = gl_WorkGroupID.x; i < count; i += gl_NumWorkGroups.x) {
        uint entry = fallback[pc.fallback_list + 1u + i], block = entry % pc.layer.blocks;
        z = entry / pc.layer.blocks;
        tile_x = block % pc.layer.blocks_x / TILE_X * TILE_X;
        tile_y = block / pc.layer.blocks_x / TILE_Y * TILE_Y;
        barrier(); /* the previous tile's results have been read */
        search_tile();
    }
}
