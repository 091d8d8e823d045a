/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a block differs from its match, by METRIC or COST_METRIC. Include after general.glsl. Sums
 * are those that gpume_options_check has bounded by 2^32 - 1, and what leads to them: coefficients
 * of Hadamard transforms are at most 64 * 65535 < 2^22, and the absolute ones of a tile together at
 * most 64 * 2^22 = 2^28.
 */

/* A block and the frames it is compared in. */
struct Comparison {
    ivec2 at, size; /* of the block: its corner, and what is visible of it */
    ivec2 picture;
    uvec2 target, reference; /* plane 0 of frames */
    uint stride, plane_quads;
#ifdef GPUME_MEAN
    /* Predictions are the mean with this one: where it begins, and how far behind a quad. */
    Quads other;
    uint other_from, other_shift;
    uint more_bits; /* of its vector */
#endif
};

Comparison comparison_of(gpume_general_push push, gpume_general_pair pair, uint block)
{
    Comparison c;
    c.picture = ivec2(push.layer.width, push.layer.height);
    c.at = ivec2(block % push.layer.blocks_x, block / push.layer.blocks_x) * BLOCK_SIZE;
    c.size = min(BLOCK_SIZE, c.picture - c.at);
    c.target = pair.target;
    c.reference = pair.reference;
    c.stride = push.stride;
    c.plane_quads = push.plane_quads;
    return c;
}

/* Is v, in units, a candidate? */
bool allowed(Comparison c, ivec2 v)
{
    ivec2 low = c.at + (v >> UNITS_LOG2), high = c.at + c.size + (v + (UNITS - 1) >> UNITS_LOG2);
    return abs(v.x) <= WINDOW_X * UNITS && abs(v.y) <= WINDOW_Y * UNITS &&
           (INSIDE == 0u ||
               (all(greaterThanEqual(low, ivec2(0))) && all(lessThanEqual(high, c.picture))));
}

/* Four samples that begin `shift` samples after the first quad's start. */
#ifdef GPUME_WIDE
ivec4 shifted(QUAD first, QUAD second, uint shift)
{
    ivec4 a = unpack(first), b = unpack(second);
    ivec4 c = (shift & 1u) != 0u ? ivec4(a.yzw, b.x) : a;
    ivec2 d = (shift & 1u) != 0u ? b.yz : b.xy;
    return (shift & 2u) != 0u ? ivec4(c.zw, d) : c;
}
#else
QUAD shifted_quad(QUAD first, QUAD second, uint shift)
{
    return first >> 8u * shift | second << 1u << 31u - 8u * shift;
}

ivec4 shifted(QUAD first, QUAD second, uint shift)
{
    return unpack(shifted_quad(first, second, shift));
}
#endif

#ifdef GPUME_MEAN
/* offset: in quads, from the block's corner. */
ivec4 other_samples(Comparison c, uint offset)
{
    uint from = c.other_from + offset;
    return shifted(c.other.at[from], c.other.at[from + 1u], c.other_shift);
}
#endif

/* Differences of the four samples from p of the block on; 0 outside what is visible. Without
 * branches, so that the loads of several calls are under way together. */
ivec4 differences(Comparison c, Quads target, Quads match, uint to, uint from, uint shift, ivec2 p)
{
    uint offset = uint(min(p.y, c.size.y - 1)) * c.stride + uint(p.x) / 4u;
    ivec4 t = unpack(target.at[to + offset]);
    ivec4 r = shifted(match.at[from + offset], match.at[from + offset + 1u], shift);
#ifdef GPUME_MEAN
    r = (r + other_samples(c, offset) + 1) >> 1;
#endif
    int visible = p.y < c.size.y ? c.size.x - p.x : 0;
    return mix(ivec4(0), t - r, lessThan(ivec4(0, 1, 2, 3), ivec4(visible)));
}

/* Sums and differences of (x,y), (z,w), then of (x,z), (y,w). */
ivec4 hadamard4(ivec4 v)
{
    v = ivec4(v.x + v.y, v.x - v.y, v.z + v.w, v.z - v.w);
    return ivec4(v.xy + v.zw, v.xy - v.zw);
}

/* Of the samples of a quad: the start of a Hadamard transform, and how it ends. */
#ifdef GPUME_WIDE
#define PART ivec4

PART transformed(Comparison c, Quads target, Quads match, uint to, uint from, uint shift, ivec2 p)
{
    return hadamard4(differences(c, target, match, to, from, shift, p));
}

uint absolute_sum(PART a)
{
    a = abs(a);
    return uint(a.x + a.y + a.z + a.w);
}
#else
/* Words of low + 65536 * high, which are added and subtracted together: samples 0 and 2, 1 and 3.
 * The step between low and high comes last. Before it, coefficients are at most 32 * 255 < 2^15. */
#define PART ivec2

uvec2 in_halves(QUAD quad)
{
    return uvec2(quad, quad >> 8) & 0x00ff00ffu;
}

PART transformed(Comparison c, Quads target, Quads match, uint to, uint from, uint shift, ivec2 p)
{
    uint offset = uint(min(p.y, c.size.y - 1)) * c.stride + uint(p.x) / 4u;
    int visible = p.y < c.size.y ? clamp(c.size.x - p.x, 0, 4) : 0;
    uint mask = bitfieldExtract(0xffffffffu, 0, 8 * visible);
    uvec2 t = in_halves(target.at[to + offset] & mask);
    uvec2 r = in_halves(
        shifted_quad(match.at[from + offset], match.at[from + offset + 1u], shift) & mask);
#ifdef GPUME_MEAN
    uint other = c.other_from + offset;
    uvec2 b = in_halves(
        shifted_quad(c.other.at[other], c.other.at[other + 1u], c.other_shift) & mask);
    r = r + b + 0x00010001u >> 1 & 0x00ff00ffu; /* 0 outside what is visible */
#endif
    ivec2 d = ivec2(t) - ivec2(r);
    return ivec2(d.x + d.y, d.x - d.y);
}

/* |low + high| + |low - high| = 2 max(|low|, |high|) */
uint absolute_sum(PART a)
{
    ivec2 low = a << 16 >> 16, most = max(abs(low), abs(a - low >> 16));
    return 2u * uint(most.x + most.y);
}
#endif

const uint TILE = 8u - uint((BLOCK_W | BLOCK_H) & 4);
const uint TILE_QUADS = TILE / 4u;

/* Of the tile at p. */
uint tile_sum(Comparison c, Quads target, Quads match, uint to, uint from, uint shift, ivec2 p)
{
    PART d[TILE * TILE_QUADS];
    [[unroll]] for (uint y = 0u; y < TILE; y++) {
        PART a = transformed(c, target, match, to, from, shift, p + ivec2(0, y));
        if (TILE_QUADS == 2u) {
            PART b = transformed(c, target, match, to, from, shift, p + ivec2(4, y));
            d[y * TILE_QUADS] = a + b;
            d[y * TILE_QUADS + TILE_QUADS - 1u] = a - b;
        } else {
            d[y] = a;
        }
    }
    [[unroll]] for (uint half_count = 1u; half_count < TILE; half_count *= 2u) {
        [[unroll]] for (uint i = 0u; i < TILE * TILE_QUADS; i++) {
            uint row = i / TILE_QUADS, other = i + half_count * TILE_QUADS;
            if ((row & half_count) == 0u) {
                PART a = d[i], b = d[other];
                d[i] = a + b;
                d[other] = a - b;
            }
        }
    }
    uint s = 0u;
    [[unroll]] for (uint i = 0u; i < TILE * TILE_QUADS; i++) {
        s += absolute_sum(d[i]);
    }
    return TILE == 8u ? (s + 2u) >> 2 : (s + 1u) >> 1;
}

#ifdef GPUME_MEAN
/* Makes the match in `frame` with vector v the other one, whose vector has so many bits. */
void set_other(inout Comparison c, uvec2 frame, ivec2 v, uint bits)
{
    ivec2 fraction = v & (UNITS - 1);
    ivec2 place = c.at + ivec2(PAD_X, WINDOW_Y) + (v >> UNITS_LOG2);
    c.other = plane_of(frame, uint(fraction.y * UNITS + fraction.x), c.plane_quads);
    c.other_from = uint(place.y) * c.stride + uint(place.x) / 4u;
    c.other_shift = uint(place.x) % 4u;
    c.more_bits = bits;
}
#endif

/* Quads of a row whose loads are under way together: the largest of 1, 2 and 4 that divides it. */
const int TOGETHER = ((BLOCK_W | 16) & -(BLOCK_W | 16)) / 4;

/* The share `part` of `parts` in D of candidate v by a metric: the shares of all parts add up to
 * it. Where one passes `most`, the rest of it is left out. */
uint difference_part(uint metric, Comparison c, ivec2 v, uint part, uint parts, uint most)
{
    ivec2 fraction = v & (UNITS - 1), corner = c.at + ivec2(PAD_X, WINDOW_Y);
    ivec2 place = corner + (v >> UNITS_LOG2);
    Quads target = Quads(c.target);
    Quads match = plane_of(c.reference, uint(fraction.y * UNITS + fraction.x), c.plane_quads);
    uint to = uint(corner.y) * c.stride + uint(corner.x) / 4u, sum = 0u;
    uint from = uint(place.y) * c.stride + uint(place.x) / 4u, shift = uint(place.x) % 4u;
    if (metric == GPUME_SPEC_METRIC_SATD) {
        uint across = uint(c.size.x + int(TILE) - 1) / TILE;
        uint tiles = across * (uint(c.size.y + int(TILE) - 1) / TILE);
        for (uint i = part; i < tiles && sum <= most; i += parts) {
            ivec2 p = ivec2(i % across, i / across) * int(TILE);
            sum += tile_sum(c, target, match, to, from, shift, p);
        }
        return sum;
    }
    for (int y = int(part); y < c.size.y && sum <= most; y += int(parts)) {
        for (int x = 0; x < c.size.x; x += 4 * TOGETHER) {
            [[unroll]] for (int i = 0; i < TOGETHER; i++) {
                ivec2 p = ivec2(x + 4 * i, y);
                ivec4 d = differences(c, target, match, to, from, shift, p);
                uvec4 u = uvec4(metric == GPUME_SPEC_METRIC_SSD ? d * d : abs(d));
                sum += u.x + u.y + u.z + u.w;
            }
        }
    }
    return sum;
}

/* What the bits of v cost. */
uint price_of(Comparison c, ivec2 v, uint predictor)
{
    uint bits = bits_of(v, predictor);
#ifdef GPUME_MEAN
    bits += c.more_bits;
#endif
    return RATE != 0u ? gpume_rate_cost(LAMBDA, bits) : 0u;
}

/* The cost of v as a result. */
uint cost_of(Comparison c, ivec2 v, uint predictor)
{
    return difference_part(COST_METRIC, c, v, 0u, 1u, NONE) + price_of(c, v, predictor);
}
