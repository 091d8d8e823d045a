/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The planes of fractions of a frame: what lies between the samples of plane 0, by INTERPOLATION.
 * Plane 0 repeats the picture's edge samples outwards, and so do samples that lie beyond it.
 *
 * Grid: one invocation per quad of the padded frame, with HEVC's filter per GPUME_FRACTION_ROWS
 * quads one below the other; x = quad of a row, y = row or rows. No shared memory. Reads plane 0,
 * writes the others.
 *
 * A quad needs the samples from three to its left to four to its right, in the rows from three
 * above to four below. Rows come one after the other; sums run down the columns. HEVC's filter
 * across a row serves all rows of fractions that need that row: one row per invocation took 20 us
 * longer for a frame of 1920x1080 on an H200.
 */
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_control_flow_attributes : require
#include "general/general.glsl"

layout(constant_id = GPUME_SPEC_INTERPOLATION) const uint INTERPOLATION = 0;
layout(constant_id = GPUME_SPEC_BITS) const int BITS = 8;

layout(local_size_x = GPUME_GENERAL_LOCAL) in;
layout(push_constant) uniform Push { gpume_fractions_push pc; };

const int PEAK = (1 << BITS) - 1;
const int BEFORE = 3, TAPS = 8;
const uint QUARTERS = uint(4 / UNITS); /* in a unit */

/* By quarters; HEVC's. */
const int COEFFICIENTS[4][8] = {{0, 0, 0, 64, 0, 0, 0, 0}, {-1, 4, -10, 58, 17, -5, 1, 0},
    {-1, 4, -11, 40, 40, -11, 4, -1}, {0, 1, -5, 17, 58, -10, 4, -1}};
const int SIX[8] = {0, 1, -5, 20, 20, -5, 1, 0};

/* Sample i lies i - 4 to the right of the quad's first. */
int samples[12];

void load(Quads plane, int row, int quad)
{
    uint line = uint(clamp(row, 0, int(pc.rows) - 1)) * pc.stride;
    int last = int(pc.stride) - 1;
    [[unroll]] for (int i = 0; i < 3; i++) {
        int at = quad + i - 1;
        ivec4 s = unpack(plane.at[line + uint(clamp(at, 0, last))]);
        s = at < 0 ? s.xxxx : at > last ? s.wwww : s;
        [[unroll]] for (int j = 0; j < 4; j++) {
            samples[4 * i + j] = s[j];
        }
    }
}

/* Four neighbouring sums of eight samples of a row; the first begins three to the left. */
ivec4 across(int taps[8])
{
    ivec4 sum = ivec4(0);
    [[unroll]] for (int i = 0; i < TAPS; i++) {
        [[unroll]] for (int x = 0; x < 4; x++) {
            sum[x] += taps[i] * samples[x + i + 1];
        }
    }
    return sum;
}

ivec4 row_quad(int first)
{
    return ivec4(samples[first], samples[first + 1], samples[first + 2], samples[first + 3]);
}

ivec4 rounded(ivec4 sum, int shift)
{
    return clamp((sum + (1 << (shift - 1))) >> shift, ivec4(0), ivec4(PEAK));
}

uvec2 frame;
uint place;

/* fx, fy: in quarters. */
bool is_plane(uint fx, uint fy)
{
    return fx % QUARTERS == 0u && fy % QUARTERS == 0u && fx + fy > 0u;
}

void store(uint fx, uint fy, ivec4 value)
{
    if (is_plane(fx, fy)) {
        uint plane = fy / QUARTERS * uint(UNITS) + fx / QUARTERS;
        plane_of(frame, plane, pc.plane_quads).at[place] = pack(value);
    }
}

/* What a row of samples gives for the fractions in x, before the filter in y: 16 bits are enough,
 * since sums are at most 88 * 255 and at least -24 * 255, times 2^first_shift. */
struct Line {
    ivec2 sums[4]; /* by fraction in quarters, of samples 0 and 1, and 2 and 3 */
};

ivec2 pack_sums(ivec4 s) { return (s.xz & 0xffff) | s.yw << 16; }
ivec4 unpack_sums(ivec2 s) { return ivec4(s.x << 16 >> 16, s.x >> 16, s.y << 16 >> 16, s.y >> 16); }

/* H.265 8.5.3.3.3.1, of GPUME_FRACTION_ROWS rows. */
void make_hevc(Quads plane, int first, int quad)
{
    const int first_shift = BITS - 8, second_shift = 6, shift = 14 - BITS; /* bits are at most 12 */
    Line lines[TAPS];
    for (int row = first + 1 - TAPS; row < min(first + GPUME_FRACTION_ROWS, int(pc.rows)); row++) {
        [[unroll]] for (int y = 0; y < TAPS - 1; y++) {
            lines[y] = lines[y + 1];
        }
        load(plane, row + TAPS - 1 - BEFORE, quad);
        [[unroll]] for (uint fx = 0u; fx < 4u; fx++) {
            if (fx % QUARTERS == 0u) {
                lines[TAPS - 1].sums[fx] = pack_sums(
                    fx == 0u ? row_quad(4) : across(COEFFICIENTS[fx]) >> first_shift);
            }
        }
        if (row < first) {
            continue;
        }
        place = uint(row) * pc.stride + uint(quad);
        [[unroll]] for (uint fx = 0u; fx < 4u; fx++) {
            if (fx % QUARTERS != 0u) {
                continue;
            }
            store(fx, 0u, rounded(unpack_sums(lines[BEFORE].sums[fx]), shift));
            /* At most 112 * 88 * 4095 < 2^26. */
            ivec4 sums[3] = ivec4[3](ivec4(0), ivec4(0), ivec4(0));
            [[unroll]] for (int y = 0; y < TAPS; y++) {
                ivec4 value = unpack_sums(lines[y].sums[fx]);
                [[unroll]] for (uint i = 0u; i < 3u; i++) {
                    sums[i] += COEFFICIENTS[i + 1u][y] * value;
                }
            }
            [[unroll]] for (uint i = 0u; i < 3u; i++) {
                int shift_down = fx == 0u ? first_shift : second_shift;
                store(fx, i + 1u, rounded(sums[i] >> shift_down, shift));
            }
        }
    }
}

ivec4 mean(ivec4 a, ivec4 b) { return a + b + 1 >> 1; }

/* H.264 8.4.2.2.1, by its names. */
void make_h264(Quads plane, int row, int quad)
{
    ivec4 h = ivec4(0), j = ivec4(0); /* j: at most 52 * 52 * 65535 < 2^28 */
    ivec4 G = ivec4(0), H = ivec4(0), M = ivec4(0), b = ivec4(0), s = ivec4(0), m;
    int next = 0; /* h, one further to the right */
    [[unroll]] for (int y = 1; y < TAPS - 1; y++) {
        load(plane, row + y - BEFORE, quad);
        ivec4 half_row = across(SIX);
        h += SIX[y] * row_quad(4);
        next += SIX[y] * samples[8];
        j += SIX[y] * half_row;
        if (y == BEFORE) {
            G = row_quad(4);
            H = row_quad(5);
            b = rounded(half_row, 5);
        }
        if (y == BEFORE + 1) {
            M = row_quad(4);
            s = rounded(half_row, 5);
        }
    }
    m = rounded(ivec4(h.yzw, next), 5);
    h = rounded(h, 5);
    j = rounded(j, 10);
    store(1u, 0u, mean(G, b));
    store(2u, 0u, b);
    store(3u, 0u, mean(b, H));
    store(0u, 1u, mean(G, h));
    store(1u, 1u, mean(b, h));
    store(2u, 1u, mean(b, j));
    store(3u, 1u, mean(b, m));
    store(0u, 2u, h);
    store(1u, 2u, mean(h, j));
    store(2u, 2u, j);
    store(3u, 2u, mean(j, m));
    store(0u, 3u, mean(h, M));
    store(1u, 3u, mean(h, s));
    store(2u, 3u, mean(j, s));
    store(3u, 3u, mean(s, m));
}

void make_bilinear(Quads plane, int row, int quad)
{
    load(plane, row, quad);
    ivec4 a = row_quad(4), b = row_quad(5);
    load(plane, row + 1, quad);
    ivec4 c = row_quad(4), d = row_quad(5);
    [[unroll]] for (uint i = 1u; i < 16u; i++) {
        int fx = int(i % 4u), fy = int(i / 4u);
        ivec4 above = (4 - fx) * a + fx * b, below = (4 - fx) * c + fx * d;
        store(i % 4u, i / 4u, (4 - fy) * above + fy * below + 8 >> 4);
    }
}

void main()
{
    uint each = INTERPOLATION == GPUME_SPEC_INTERPOLATION_HEVC ? GPUME_FRACTION_ROWS : 1u;
    uint quad = gl_GlobalInvocationID.x, row = pc.row + gl_GlobalInvocationID.y * each;
    if (quad >= pc.stride || row >= pc.rows) {
        return;
    }
    frame = pc.frame;
    place = row * pc.stride + quad;
    Quads plane = Quads(frame);
    if (INTERPOLATION == GPUME_SPEC_INTERPOLATION_HEVC) {
        make_hevc(plane, int(row), int(quad));
    } else if (INTERPOLATION == GPUME_SPEC_INTERPOLATION_H264) {
        make_h264(plane, int(row), int(quad));
    } else {
        make_bilinear(plane, int(row), int(quad));
    }
}
