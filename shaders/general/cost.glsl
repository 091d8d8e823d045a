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
    uint plane_quads;
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
    c.plane_quads = push.plane_quads;
    return c;
}

/* Whether v, in units, is a candidate. */
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

/* A part of a block, in memory: the quads that its first rows begin in. `whole`: all of it is
 * visible, so that rows lie at distances that are known when the kernel is compiled. */
struct Cell {
    Quads target, match;
    uint shift;    /* samples of the match's first quad before it */
    ivec2 visible; /* columns and rows */
#ifdef GPUME_MEAN
    Quads other;
    uint other_shift;
#endif
};

/* To quad x of row y; of a row that is not visible, to the last one that is. */
uint offset_of(Cell cell, bool whole, uint x, uint y)
{
    return (whole ? y : min(y, uint(cell.visible.y) - 1u)) * STRIDE + x;
}

int visible_of(Cell cell, bool whole, uint x, uint y)
{
    return whole ? 4 : y < uint(cell.visible.y) ? clamp(cell.visible.x - 4 * int(x), 0, 4) : 0;
}

/* Differences of the samples of quad x of row y; 0 outside what is visible. Without branches, so
 * that the loads of several calls are under way together. */
ivec4 differences(Cell cell, bool whole, uint x, uint y)
{
    uint i = offset_of(cell, whole, x, y);
    ivec4 t = unpack(cell.target.at[i]);
    ivec4 r = shifted(cell.match.at[i], cell.match.at[i + 1u], cell.shift);
#ifdef GPUME_MEAN
    ivec4 b = shifted(cell.other.at[i], cell.other.at[i + 1u], cell.other_shift);
    r = (r + b + 1) >> 1;
#endif
    int visible = visible_of(cell, whole, x, y);
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

PART transformed(Cell cell, bool whole, uint x, uint y)
{
    return hadamard4(differences(cell, whole, x, y));
}

uint absolute_sum(PART a)
{
    a = abs(a);
    return uint(a.x + a.y + a.z + a.w);
}
#else
/* Words of low + 65536 * high, which are added and subtracted together: samples 0 and 2, 1 and 3.
 */
uvec2 in_halves(QUAD quad)
{
    return uvec2(quad, quad >> 8) & 0x00ff00ffu;
}

/* Of quad x of row y of the target and of the match; 0 outside what is visible. */
void load_halves(Cell cell, bool whole, uint x, uint y, out uvec2 t, out uvec2 r)
{
    uint i = offset_of(cell, whole, x, y);
    uint mask = bitfieldExtract(0xffffffffu, 0, 8 * visible_of(cell, whole, x, y));
    t = in_halves(cell.target.at[i] & mask);
    r = in_halves(shifted_quad(cell.match.at[i], cell.match.at[i + 1u], cell.shift) & mask);
#ifdef GPUME_MEAN
    uvec2 b =
        in_halves(shifted_quad(cell.other.at[i], cell.other.at[i + 1u], cell.other_shift) & mask);
    r = r + b + 0x00010001u >> 1 & 0x00ff00ffu; /* 0 outside what is visible */
#endif
}

/* The step between low and high comes last. Before it, coefficients are at most 32 * 255 < 2^15. */
#define PART ivec2

PART transformed(Cell cell, bool whole, uint x, uint y)
{
    uvec2 t, r;
    load_halves(cell, whole, x, y, t, r);
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

uint tile_sum(Cell cell, bool whole)
{
    PART d[TILE * TILE_QUADS];
    [[unroll]] for (uint y = 0u; y < TILE; y++) {
        PART a = transformed(cell, whole, 0u, y);
        if (TILE_QUADS == 2u) {
            PART b = transformed(cell, whole, 1u, y);
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
/* Makes the match in `frame` with vector v the other one, whose vector has that many bits. */
void set_other(inout Comparison c, uvec2 frame, ivec2 v, uint bits)
{
    ivec2 fraction = v & (UNITS - 1);
    ivec2 place = c.at + ivec2(PAD_X, WINDOW_Y) + (v >> UNITS_LOG2);
    c.other = plane_of(frame, uint(fraction.y * UNITS + fraction.x), c.plane_quads);
    c.other_from = uint(place.y) * STRIDE + uint(place.x) / 4u;
    c.other_shift = uint(place.x) % 4u;
    c.more_bits = bits;
}
#endif

/* A block is compared by cells: tiles, or a quad in each of several rows. */
const uint CELL_ROWS = 8u - uint(BLOCK_H & 4);

/* Sums of absolute or squared differences. The loads of the rows are under way together. */
uint quads_sum(bool squared, Cell cell, bool whole)
{
    uint sum = 0u;
    [[unroll]] for (uint y = 0u; y < CELL_ROWS; y++) {
        ivec4 d = differences(cell, whole, 0u, y);
        uvec4 u = uvec4(squared ? d * d : abs(d));
        sum += u.x + u.y + u.z + u.w;
    }
    return sum;
}

#ifdef GPUME_WIDE
uint absolute_quads_sum(Cell cell, bool whole)
{
    return quads_sum(false, cell, whole);
}
#else
#ifdef GPUME_HALF
/* A sum of half floats that starts at 1024 takes in four differences of samples and stays below
 * 2048, so that its low bits are the whole number. Samples are 1024 + s: see search/samples.glsl.
 */
uint difference_of_rows(uvec2 t[2], uvec2 r[2])
{
    const uint BIAS = 0x64006400u;
    f16vec2 sum = f16vec2(1024.0hf);
    [[unroll]] for (uint i = 0u; i < 2u; i++) {
        uvec2 a = t[i] | BIAS, b = r[i] | BIAS;
        sum += abs(unpackFloat2x16(a.x) - unpackFloat2x16(b.x));
        sum += abs(unpackFloat2x16(a.y) - unpackFloat2x16(b.y));
    }
    return packFloat2x16(sum) - BIAS;
}
#else
/* Of 256 + t - r, bit 8 says whether t >= r, and where it is not, |t - r| is 1 more than the
 * inverted lower bits. */
uint difference_of_rows(uvec2 t[2], uvec2 r[2])
{
    uint sum = 0u;
    [[unroll]] for (uint i = 0u; i < 2u; i++) {
        uvec2 d = t[i] + 0x01000100u - r[i], below = ~(d >> 8) & 0x00010001u;
        d = (d ^ below * 255u) & 0x00ff00ffu;
        sum += d.x + below.x + d.y + below.y;
    }
    return sum;
}
#endif

/* In halves, each of which is at most 8 * 2 * 255 < 2^16. */
uint absolute_quads_sum(Cell cell, bool whole)
{
    uint sum = 0u;
    [[unroll]] for (uint y = 0u; y < CELL_ROWS; y += 2u) {
        uvec2 t[2], r[2];
        load_halves(cell, whole, 0u, y, t[0], r[0]);
        load_halves(cell, whole, 0u, y + 1u, t[1], r[1]);
        sum += difference_of_rows(t, r);
    }
    return (sum & 0xffffu) + (sum >> 16);
}
#endif

uvec2 cell_size(uint metric)
{
    return metric == GPUME_SPEC_METRIC_SATD ? uvec2(TILE) : uvec2(4u, CELL_ROWS);
}

/* Of a block that no edge cuts, across and down. */
uvec2 cells_of(uint metric)
{
    uvec2 size = cell_size(metric);
    return uvec2(uint(BLOCK_W) / size.x, uint(BLOCK_H) / size.y); /* see places.glsl */
}

Quads quads_from(Quads plane, uint index)
{
    return Quads(element(uvec2(plane), index, QUAD_ALIGN));
}

/* Of candidate v: the cell that begins p from the block's corner. */
Cell cell_at(Comparison c, ivec2 v, ivec2 p)
{
    ivec2 fraction = v & (UNITS - 1), corner = c.at + ivec2(PAD_X, WINDOW_Y) + p;
    ivec2 place = corner + (v >> UNITS_LOG2);
    Quads match = plane_of(c.reference, uint(fraction.y * UNITS + fraction.x), c.plane_quads);
    Cell cell;
    cell.target = quads_from(Quads(c.target), uint(corner.y) * STRIDE + uint(corner.x) / 4u);
    cell.match = quads_from(match, uint(place.y) * STRIDE + uint(place.x) / 4u);
    cell.shift = uint(place.x) % 4u;
    cell.visible = c.size - p;
#ifdef GPUME_MEAN
    cell.other = quads_from(c.other, c.other_from + uint(p.y) * STRIDE + uint(p.x) / 4u);
    cell.other_shift = c.other_shift;
#endif
    return cell;
}

uint sum_of(uint metric, Cell cell, bool whole)
{
    if (metric == GPUME_SPEC_METRIC_SATD) {
        return tile_sum(cell, whole);
    }
    return metric == GPUME_SPEC_METRIC_SAD ? absolute_quads_sum(cell, whole)
                                           : quads_sum(true, cell, whole);
}

/* The share of a cell in D of candidate v. */
uint cell_sum(uint metric, Comparison c, ivec2 v, uvec2 cell)
{
    ivec2 p = ivec2(cell * cell_size(metric));
    if (c.size == BLOCK_SIZE) {
        return sum_of(metric, cell_at(c, v, p), true);
    }
    return all(lessThan(p, c.size)) ? sum_of(metric, cell_at(c, v, p), false) : 0u;
}

/* The share `part` of `parts` in D of candidate v by a metric: the shares of all parts add up to
 * it. */
uint difference_part(uint metric, Comparison c, ivec2 v, uint part, uint parts)
{
    uvec2 cells = cells_of(metric);
    uint sum = 0u;
    for (uint i = part; i < cells.x * cells.y; i += parts) {
        sum += cell_sum(metric, c, v, uvec2(i % cells.x, i / cells.x));
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
    return difference_part(COST_METRIC, c, v, 0u, 1u) + price_of(c, v, predictor);
}
