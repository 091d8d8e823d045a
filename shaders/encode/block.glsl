/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocks of 8x8 samples of half planes, their SAD and SATD. Include after encode/shared.h.
 *
 * Samples 0 to 3 of a row are the bytes of one word, 4 to 7 those of another. For the transforms of
 * 4x4, columns x and x + 4 are one number, a + 65536 b, of which sums and differences are taken as
 * if they were two: coefficients before the last step are at most 8 * 255 in magnitude, so that
 * both can be told apart again.
 */

layout(std430, binding = GPUME_ENCODE_FRAMES) readonly buffer Frames { uint samples[]; };
layout(std430, binding = GPUME_ENCODE_BLOCKS) buffer Blocks {
    gpume_encode_task tasks[GPUME_ENCODE_TASKS];
    uint blocks[];
};
layout(push_constant) uniform Push { gpume_encode_push pc; };

/* The task of this workgroup, and the place of a block among the words of its kernel. */
gpume_encode_task own_task()
{
    return tasks[pc.task + gl_WorkGroupID.z];
}

uint own_block(uvec2 at)
{
    return (gl_WorkGroupID.z * pc.blocks_y + at.y) * pc.blocks_x + at.x;
}

/* Eight samples from any place on. */
uvec2 load_row(uint place)
{
    uint word = place / 4u, shift = 8u * (place & 3u);
    uvec3 words = uvec3(samples[word], samples[word + 1u], samples[word + 2u]);
    return words.xy >> shift | words.yz << 1u << 31u - shift;
}

/* A row of the block at this place. */
uvec2 load_block_row(uint place, uint y)
{
    uint word = (place + y * pc.stride) / 4u;
    return uvec2(samples[word], samples[word + 1u]);
}

uint load_sample(uint place)
{
    return samples[place / 4u] >> 8u * (place & 3u) & 0xffu;
}

/* Where a place in half samples lies, relative to `from` in the first plane. */
uint place_of(uint from, ivec2 half_samples)
{
    ivec2 whole = half_samples >> 1, plane = half_samples & 1;
    return from + uint(2 * plane.y + plane.x) * pc.plane + uint(whole.y * int(pc.stride) + whole.x);
}

/* The two places whose mean is the match of the block at `reference` by v, in quarter pixels. */
uvec2 match_of(uint reference, ivec2 v)
{
    ivec2 upper_left = v >> 1;
    return uvec2(place_of(reference, upper_left), place_of(reference, upper_left + (v & 1)));
}

/* A row of it: (a + b + 1) >> 1 of each byte. */
uvec2 load_match_row(uvec2 match, uint y)
{
    uvec2 a = load_row(match.x + y * pc.stride), b = load_row(match.y + y * pc.stride);
    return (a | b) - ((a ^ b) >> 1u & 0x7f7f7f7fu);
}

/* A vector in a word of BLOCKS: dx in the low and dy in the high 16 bits. */
ivec2 unpack_vector(uint word)
{
    return ivec2(bitfieldExtract(int(word), 0, 16), int(word) >> 16);
}

/* Columns x and x + 4 as one number. */
int column_pair(uvec2 row, uint x)
{
    uvec2 both = row >> 8u * x & 0xffu;
    return int(both.x | both.y << 16u);
}

/* Both numbers of a pair, without signs. */
uvec2 magnitudes(int both)
{
    int low = bitfieldExtract(both, 0, 16);
    return uvec2(abs(ivec2(low, (both - low) >> 16)));
}

/* Of differences that are numbered as for satd_of. */
uint sad_of(int d[32])
{
    uvec2 sums = uvec2(0u);
    [[unroll]] for (uint i = 0u; i < 32u; i++) {
        sums += magnitudes(d[i]);
    }
    return sums.x + sums.y;
}

/* Of differences: number 4 y + x is pair x of row y. satd.h bounds it. */
uint satd_of(int d[32])
{
    [[unroll]] for (uint step = 1u; step < 8u; step *= 2u) {
        [[unroll]] for (uint i = 0u; i < 32u; i++) {
            if ((i & step) == 0u) {
                int a = d[i], b = d[i + step];
                d[i] = a + b;
                d[i + step] = a - b;
            }
        }
    }
    uvec2 sums = uvec2(0u); /* (|a + b| + |a - b|) / 2 = max(|a|, |b|) */
    [[unroll]] for (uint i = 0u; i < 32u; i++) {
        if ((i & 8u) == 0u) {
            sums += max(magnitudes(d[i]), magnitudes(d[i + 8u]));
        }
    }
    return sums.x + sums.y;
}
