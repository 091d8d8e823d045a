/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decision of model/plan.h for every root in every task, and a map of it: for each
 * smallest square the block that covers it. From the smallest squares up, an invocation decides
 * about a square; then each smallest square walks down from the root until a square is not divided
 * into quarters.
 *
 * J takes 64 bits, as two words. Every J is below 2^41: the differences of a root are below 2^32
 * however it is cut, and of lambda (R + P), below 2^26 for a block, there are at most 1024.
 *
 * Grid: x and y = root, z = task. Shared memory: 3 words for each of 341 squares, 4 KiB. Reads
 * costs and bits; writes chosen, where all is 0 before, and cells.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "common/shared.h"
#include "general/general.glsl"

layout(local_size_x = GPUME_TREE_LOCAL) in;
layout(push_constant) uniform Push { gpume_tree_push pc; };

const uint LEVELS_MAX = GPUME_TREE_LEVELS;
const uint WHOLE = 0u, ABOVE = 1u, BESIDE = 2u, QUARTERS = 3u;

/* Squares of all levels but the smallest: level after level, each in raster order. */
const uint SQUARES = ((1u << 2u * (LEVELS_MAX - 1u)) - 1u) / 3u;
shared uvec2 least[SQUARES]; /* J */
shared uint splits[SQUARES];

uint square_index(uint level, uvec2 square)
{
    return ((1u << 2u * level) - 1u) / 3u + (square.y << level) + square.x;
}

bool is_outside(uvec2 at)
{
    return at.x >= pc.width || at.y >= pc.height;
}

/* Pixels of a block of level `level` that stays whole or is one of two halves. */
uvec2 size_of(uint level, uint split)
{
    uint side = pc.side >> level;
    return uvec2(split == BESIDE ? side / 2u : side, split == ABOVE ? side / 2u : side);
}

uint block_at(uint level, uint split, uvec2 at)
{
    uvec2 size = size_of(level, split);
    uint blocks_x = (pc.width + size.x - 1u) / size.x;
    return pc.first[level * GPUME_TREE_SPLITS + split] + at.y / size.y * blocks_x + at.x / size.x;
}

/* 256 D + lambda R */
uvec2 price(uint level, uint split, uvec2 at)
{
    if (is_outside(at)) {
        return uvec2(0u);
    }
    uint block = block_at(level, split, at), z = gl_WorkGroupID.z;
    uint bits = words_of(General(pc.table).at.bits, z, KEPT * pc.field_blocks).at[block];
    uint cost = words_of(General(pc.table).at.costs, z, KEPT * pc.field_blocks).at[block];
    uint difference = cost - gpume_rate_cost(LAMBDA, bits);
    uvec2 sum = uvec2(difference << 8, difference >> 24);
    add_word(sum, LAMBDA * bits);
    return sum;
}

uvec2 price_halves(uint level, uint split, uvec2 at)
{
    uvec2 size = size_of(level, split);
    if (pc.first[level * GPUME_TREE_SPLITS + split] == NONE) {
        return uvec2(NONE);
    }
    uvec2 sum = price(level, split, at);
    add_sum(sum, price(level, split, at + size % (pc.side >> level)));
    add_word(sum, 3u * LAMBDA);
    return sum;
}

uvec2 price_quarters(uint level, uvec2 square, uvec2 at)
{
    uvec2 sum = uvec2(LAMBDA, 0u);
    for (uint i = 0u; i < 4u; i++) {
        uvec2 quarter = uvec2(i % 2u, i / 2u);
        add_sum(sum, level + 2u == pc.levels
                         ? price(level + 1u, WHOLE, at + quarter * (pc.side >> (level + 1u)))
                         : least[square_index(level + 1u, 2u * square + quarter)]);
    }
    return sum;
}

void keep_least(inout uvec2 best, inout uint best_split, uvec2 j, uint split)
{
    if (j.y < best.y || (j.y == best.y && j.x < best.x)) {
        best = j;
        best_split = split;
    }
}

void decide(uint level, uvec2 square, uvec2 at)
{
    uvec2 best = price(level, WHOLE, at);
    uint split = WHOLE;
    if (!is_outside(at)) {
        add_word(best, LAMBDA);
        keep_least(best, split, price_halves(level, ABOVE, at), ABOVE);
        keep_least(best, split, price_halves(level, BESIDE, at), BESIDE);
        keep_least(best, split, price_quarters(level, square, at), QUARTERS);
    }
    least[square_index(level, square)] = best;
    splits[square_index(level, square)] = split;
}

/* The chosen block that covers the smallest square at `at`, number `smallest` of the root. */
void map_cell(uvec2 smallest, uvec2 at)
{
    uint level = 0u, split = QUARTERS;
    for (; split == QUARTERS; level++) {
        split = level + 1u == pc.levels
                    ? WHOLE
                    : splits[square_index(level, smallest >> (pc.levels - 1u - level))];
    }
    level--;
    uint block = block_at(level, split, at);
    bool is_first = at % size_of(level, split) == uvec2(0u);
    if (is_first) {
        words_of(General(pc.table).at.chosen, gl_WorkGroupID.z, pc.field_blocks).at[block] = 1u;
    }
    uint side = pc.side >> (pc.levels - 1u);
    uvec2 cells = (uvec2(pc.width, pc.height) + side - 1u) / side, cell = at / side;
    words_of(General(pc.table).at.cells, gl_WorkGroupID.z, cells.x * cells.y)
        .at[cell.y * cells.x + cell.x] = block | (is_first ? GPUME_CELL_FIRST : 0u);
}

void main()
{
    uint roots_x = (pc.width + pc.side - 1u) / pc.side, root = group_index();
    uvec2 corner = uvec2(root % roots_x, root / roots_x) * pc.side;
    if (corner.y >= pc.height) { /* uniform: the workgroup's root */
        return;
    }
    for (uint level = pc.levels - 1u; level-- > 0u;) { /* uniform: by pc alone */
        for (uint i = gl_LocalInvocationIndex; i < 1u << 2u * level; i += GPUME_TREE_LOCAL) {
            uvec2 square = uvec2(i & ((1u << level) - 1u), i >> level);
            decide(level, square, corner + square * (pc.side >> level));
        }
        barrier();
    }
    uint last = pc.levels - 1u;
    for (uint i = gl_LocalInvocationIndex; i < 1u << 2u * last; i += GPUME_TREE_LOCAL) {
        uvec2 smallest = uvec2(i & ((1u << last) - 1u), i >> last);
        uvec2 at = corner + smallest * (pc.side >> last);
        if (!is_outside(at)) {
            map_cell(smallest, at);
        }
    }
}
