/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model is that of the AV1 specification, 7.18.3: white noise goes through an autoregressive
 * filter that has 24 samples before the present one, and in chroma luma's grain in the same place,
 * too; what comes out is scaled by the intensity of luma. A. Norkin and N. Birkbeck, "Film Grain
 * Synthesis for AV1 Video Codec", DCC 2018, fit it to a video: the strength by intensity, then the
 * coefficients by least squares. Here the normal equations follow from the correlations of
 * samples, each by the strength at its intensity, so that all intensities count alike.
 *
 * Every sum has a fixed order.
 */
#include "grain/grain.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PLANES GPUME_GRAIN_PLANES
#define BINS GPUME_GRAIN_BINS
#define TERMS GPUME_GRAIN_CROSS
#define LAST GPUME_GRAIN_COEFFICIENTS

/* The standard deviation of the specification's Gaussian sequence of 12 bits, in steps of 8. */
#define WHITE (511.525 / 16)
#define PEAK 128.0          /* of the grain before it is scaled, in steps of 8 bits */
#define PEAK_TIMES 3.2      /* its standard deviation: then few samples are cut off */
#define ROUNDING (1.0 / 12) /* the variance of rounding to whole steps */
#define NEAR 10.0  /* blocks with which the strengths of neighbours weigh as much as those seen */
#define REACHED 64 /* sides of the square in which a filter's response is followed */
#define GAIN_MAX 16.0
#define ALIKE 1.5       /* ratio of variances .. */
#define ALIKE_LAGS 0.15 /* .. and difference of correlations within which grain is alike */

void gpume_grain_position(uint32_t index, int32_t *x, int32_t *y)
{
    const int32_t width = 2 * GPUME_GRAIN_LAG + 1;
    *x = (int32_t)index % width - GPUME_GRAIN_LAG;
    *y = (int32_t)index / width - GPUME_GRAIN_LAG;
}

/* Of the products at this distance, which are those at its opposite. */
static uint32_t lag_of(int32_t dx, int32_t dy)
{
    if (dy < 0 || (dy == 0 && dx < 0)) {
        dx = -dx;
        dy = -dy;
    }
    const int32_t width = 2 * GPUME_GRAIN_REACH + 1;
    return (uint32_t)(dy == 0 ? dx : dy * width + dx); /* -6 of row 1 follows 6 of row 0 */
}

static void add_bin(struct gpume_grain_bin *to, const struct gpume_grain_bin *from)
{
    for (uint32_t p = 0; p < PLANES; p++) {
        for (uint32_t k = 0; k < GPUME_GRAIN_LAGS; k++) {
            to->lags[p][k] += from->lags[p][k];
        }
    }
    for (uint32_t k = 0; k < TERMS; k++) {
        to->cross[0][k] += from->cross[0][k];
        to->cross[1][k] += from->cross[1][k];
    }
    to->sum += from->sum;
}

static void add_whole_bin(struct gpume_grain_bin *to, const struct gpume_grain_bin *from)
{
    to->blocks += from->blocks;
    to->light += from->light;
    add_bin(to, from);
}

void gpume_grain_sums_add(struct gpume_grain_sums *sums, const struct gpume_grain_sums *more)
{
    for (uint32_t i = 0; i < BINS; i++) {
        add_whole_bin(&sums->bins[i], &more->bins[i]);
    }
    add_whole_bin(&sums->lost, &more->lost);
    add_whole_bin(&sums->kept, &more->kept);
}

/* Adds to every bin what clean pictures kept, in proportion to what they lack of each plane. */
static void add_kept(struct gpume_grain_sums *sums)
{
    const struct gpume_grain_bin *lost = &sums->lost;
    for (uint32_t i = 0; i < BINS && lost->blocks > 0; i++) {
        struct gpume_grain_bin *bin = &sums->bins[i], more = sums->kept;
        double share[PLANES];
        for (uint32_t p = 0; p < PLANES; p++) {
            share[p] = lost->lags[p][0] > 0 ? fmax(bin->lags[p][0] / lost->lags[p][0], 0) : 0;
            for (uint32_t k = 0; k < GPUME_GRAIN_LAGS; k++) {
                more.lags[p][k] *= share[p];
            }
        }
        for (uint32_t k = 0; k < 2 * TERMS; k++) {
            more.cross[k / TERMS][k % TERMS] *= sqrt(share[0] * share[1 + k / TERMS]);
        }
        more.sum *= share[0];
        add_bin(bin, &more);
    }
}

/* What products become in squared steps of 8 bits. */
static double unit_of(const struct gpume_grain_params *params)
{
    const int bits = params->bits < GPUME_GRAIN_BITS_MAX ? (int)params->bits : GPUME_GRAIN_BITS_MAX;
    return ldexp(1.0 / (GPUME_GRAIN_UNITS * GPUME_GRAIN_UNITS), 2 * (8 - bits));
}

static double rounding_of(const struct gpume_grain_params *params)
{
    return ROUNDING * unit_of(params) * GPUME_GRAIN_UNITS * GPUME_GRAIN_UNITS;
}

/* Pairs of samples at this distance in a block. */
static double pairs_of(
    const struct gpume_grain_params *params, uint32_t plane, int32_t dx, int32_t dy)
{
    const int32_t w = (int32_t)(GPUME_GRAIN_SIDE >> (plane > 0 ? params->shift_x : 0));
    const int32_t h = (int32_t)(GPUME_GRAIN_SIDE >> (plane > 0 ? params->shift_y : 0));
    return (double)((w - (dx < 0 ? -dx : dx)) * (h - (dy < 0 ? -dy : dy)));
}

/* --- strength by intensity */

struct strengths {
    bool any;
    double first, last;        /* intensities seen */
    double variance[BINS + 1]; /* at 0, 8, ... 256, in squared steps of 8 bits */
};

/* At an intensity: between its neighbours. */
static double variance_at(const struct strengths *strengths, double light)
{
    const double place = fmin(fmax(light, 0), 255.999) * BINS / 256;
    const uint32_t below = (uint32_t)place;
    return strengths->variance[below] +
           (place - below) * (strengths->variance[below + 1] - strengths->variance[below]);
}

/* Solves a x = b of n equations; a is symmetric and positive definite, else false. */
static bool solve(double *a, double *b, uint32_t n, uint32_t stride)
{
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            double sum = a[i * stride + k];
            for (uint32_t j = 0; j < k; j++) {
                sum -= a[i * stride + j] * a[k * stride + j];
            }
            if (i == k && !(sum > 0)) {
                return false;
            }
            a[i * stride + k] = i == k ? sqrt(sum) : sum / a[k * stride + k];
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < i; j++) {
            b[i] -= a[i * stride + j] * b[j];
        }
        b[i] /= a[i * stride + i];
    }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t j = i + 1; j < n; j++) {
            b[i] -= a[j * stride + i] * b[j];
        }
        b[i] /= a[i * stride + i];
    }
    return true;
}

/* Least squares: the variances seen, and a line that bends little. */
static void find_strengths(const struct gpume_grain_params *params,
    const struct gpume_grain_sums *sums, uint32_t plane, struct strengths *strengths)
{
    enum { N = BINS + 1 };
    double a[N * N] = {0}, b[N] = {0};
    const double unit = unit_of(params), pairs = pairs_of(params, plane, 0, 0);
    *strengths = (struct strengths){0};
    for (uint32_t i = 0; i < BINS; i++) {
        const struct gpume_grain_bin *bin = &sums->bins[i];
        if (bin->blocks <= 0) {
            continue;
        }
        const double light = bin->light / bin->blocks, place = light * BINS / 256 - i;
        const double seen =
            bin->lags[plane][0] * unit / (pairs * bin->blocks) - rounding_of(params);
        a[i * N + i] += bin->blocks * (1 - place) * (1 - place);
        a[i * N + i + 1] += bin->blocks * place * (1 - place);
        a[(i + 1) * N + i] += bin->blocks * place * (1 - place);
        a[(i + 1) * N + i + 1] += bin->blocks * place * place;
        b[i] += bin->blocks * (1 - place) * seen;
        b[i + 1] += bin->blocks * place * seen;
        strengths->first = strengths->any ? strengths->first : light;
        strengths->last = light;
        strengths->any = true;
    }
    for (uint32_t i = 0; i < BINS; i++) { /* steps: small, so that what was not seen is level */
        const double weight = NEAR / 10;
        a[i * N + i] += weight;
        a[(i + 1) * N + i + 1] += weight;
        a[i * N + i + 1] -= weight;
        a[(i + 1) * N + i] -= weight;
    }
    for (uint32_t i = 1; i < BINS; i++) { /* bends */
        static const double bend[3] = {1, -2, 1};
        for (uint32_t k = 0; k < 9; k++) {
            a[(i - 1 + k / 3) * N + i - 1 + k % 3] += NEAR * bend[k / 3] * bend[k % 3];
        }
    }
    strengths->any = strengths->any && solve(a, b, N, N);
    for (uint32_t i = 0; i < N && strengths->any; i++) {
        strengths->variance[i] = fmax(b[i], 0);
    }
}

/* --- correlations */

struct correlations {
    double lags[PLANES][GPUME_GRAIN_LAGS]; /* of samples at unit strength */
    double cross[2][TERMS];                /* of luma's mean at a sample of chroma, and chroma */
    double mean;                           /* square of that mean */
};

static void find_correlations(const struct gpume_grain_params *params,
    const struct gpume_grain_sums *sums, const struct strengths strengths[PLANES],
    struct correlations *found)
{
    const double unit = unit_of(params), rounding = rounding_of(params);
    const double parts = (double)(1u << (params->shift_x + params->shift_y));
    memset(found, 0, sizeof *found);
    for (uint32_t p = 0; p < (params->chroma ? PLANES : 1); p++) {
        double weights = 0, shared = 0, greatest = 0;
        for (uint32_t i = 0; i <= BINS; i++) {
            greatest = fmax(greatest, strengths[p].variance[i]);
        }
        for (uint32_t i = 0; i < BINS; i++) {
            const struct gpume_grain_bin *bin = &sums->bins[i];
            const double light = bin->blocks > 0 ? bin->light / bin->blocks : 0;
            const double own = variance_at(&strengths[p], light);
            const double luma = variance_at(&strengths[0], light);
            if (bin->blocks <= 0 || own <= greatest / 64) {
                continue;
            }
            /* Where grain is weak against rounding, less is known. */
            const double weight = own / (own + rounding);
            weights += weight * bin->blocks;
            for (uint32_t k = 0; k < GPUME_GRAIN_LAGS; k++) {
                found->lags[p][k] += weight * bin->lags[p][k] * unit / own;
            }
            found->lags[p][0] -= weight * bin->blocks * pairs_of(params, p, 0, 0) * rounding / own;
            if (p == 0 || luma <= greatest / 64) {
                continue;
            }
            shared += weight * bin->blocks;
            for (uint32_t k = 0; k < TERMS; k++) {
                found->cross[p - 1][k] +=
                    weight * bin->cross[p - 1][k] * unit / (parts * sqrt(own * luma));
            }
            found->mean +=
                p > 1 ? 0
                      : weight *
                            (bin->sum * unit / (parts * parts) -
                                bin->blocks * pairs_of(params, p, 0, 0) * rounding / parts) /
                            luma;
        }
        uint32_t lag = 0;
        for (int32_t dy = 0; dy <= GPUME_GRAIN_LAG && weights > 0; dy++) {
            for (int32_t dx = dy == 0 ? 0 : -GPUME_GRAIN_REACH; dx <= GPUME_GRAIN_REACH; dx++) {
                found->lags[p][lag++] /= weights * pairs_of(params, p, dx, dy);
            }
        }
        for (uint32_t k = 0; k < TERMS && shared > 0 && p > 0; k++) {
            int32_t dx, dy;
            gpume_grain_position(k, &dx, &dy);
            found->cross[p - 1][k] /= shared * pairs_of(params, p, dx, dy);
        }
        found->mean /= p == 1 && shared > 0 ? shared * pairs_of(params, p, 0, 0) : 1;
    }
}

/* --- coefficients */

/* From the correlations of a plane at unit strength. Returns the variance of the white noise that
 * remains. */
static double find_coefficients(
    const struct correlations *found, uint32_t plane, double coefficients[TERMS])
{
    const double *lags = found->lags[plane];
    const bool with_luma = plane > 0 && found->mean > 0.01;
    const uint32_t n = with_luma ? TERMS : LAST;
    bool solved = false;
    memset(coefficients, 0, sizeof *coefficients * TERMS);
    if (!(lags[0] > 0)) {
        return 1;
    }
    for (double more = 0.0001; more < 1 && !solved; more *= 4) {
        double a[TERMS * TERMS] = {0}, wanted[TERMS] = {0};
        for (uint32_t i = 0; i < n; i++) {
            int32_t x, y, other_x, other_y;
            gpume_grain_position(i, &x, &y);
            wanted[i] = i < LAST ? lags[lag_of(x, y)] : found->cross[plane - 1][LAST];
            for (uint32_t k = 0; k <= i; k++) {
                gpume_grain_position(k, &other_x, &other_y);
                a[i * TERMS + k] = i < LAST   ? lags[lag_of(x - other_x, y - other_y)]
                                   : k < LAST ? found->cross[plane - 1][k]
                                              : found->mean;
            }
            a[i * TERMS + i] *= 1 + more;
        }
        memcpy(coefficients, wanted, sizeof *coefficients * TERMS);
        solved = solve(a, coefficients, n, TERMS);
        double remains = lags[0];
        for (uint32_t i = 0; i < n && solved; i++) {
            remains -= coefficients[i] * wanted[i];
        }
        if (solved && remains > lags[0] / (GAIN_MAX * GAIN_MAX)) {
            return remains;
        }
        solved = false;
    }
    memset(coefficients, 0, sizeof *coefficients * TERMS);
    return lags[0];
}

/* Follows the filter over a square of what is added to it. Returns the sum of squares. */
static double follow(const double *coefficients, double *square)
{
    double sum = 0;
    for (int32_t y = 0; y < REACHED; y++) {
        for (int32_t x = 0; x < REACHED; x++) {
            double value = square[y * REACHED + x];
            for (uint32_t i = 0; i < LAST; i++) {
                int32_t dx, dy;
                gpume_grain_position(i, &dx, &dy);
                if (y + dy >= 0 && x + dx >= 0 && x + dx < REACHED) {
                    value += coefficients[i] * square[(y + dy) * REACHED + x + dx];
                }
            }
            square[y * REACHED + x] = value;
            sum += value * value;
        }
    }
    return sum;
}

/* The variance of what a filter makes of white noise of variance 1. Of chroma, luma's grain counts
 * as far as it comes in. */
static double find_gain(
    const struct gpume_grain_params *params, uint32_t plane, double coefficients[PLANES][TERMS])
{
    double square[REACHED * REACHED] = {[REACHED / 2] = 1};
    double gain = follow(coefficients[plane], square);
    const uint32_t sx = params->shift_x, sy = params->shift_y;
    const double part = coefficients[plane][LAST] / (1 << (sx + sy));
    for (uint32_t phase = 0; plane > 0 && phase < 1u << (sx + sy); phase++) {
        double luma[REACHED * REACHED] = {0};
        const uint32_t x0 = phase & ((1u << sx) - 1), y0 = phase >> sx;
        luma[y0 * REACHED + REACHED / 2 + x0] = 1;
        follow(coefficients[0], luma);
        memset(square, 0, sizeof square);
        for (uint32_t i = 0; i < REACHED * REACHED; i++) {
            const uint32_t x = (i % REACHED >> sx) + (sx > 0 ? REACHED / 4 : 0);
            square[(i / REACHED >> sy) * REACHED + x] += luma[i] * part;
        }
        gain += follow(coefficients[plane], square);
    }
    return gain;
}

/* Rounds the coefficients to those of the table, and weakens a filter that would not come to rest.
 * Returns its gain. */
static double round_coefficients(const struct gpume_grain_params *params, uint32_t plane,
    double coefficients[PLANES][TERMS], struct gpume_grain_table *table)
{
    const double scale = (double)(1u << table->ar_coeff_shift);
    for (;;) {
        double rounded[PLANES][TERMS];
        memcpy(rounded[0], coefficients[0], sizeof rounded[0]);
        for (uint32_t i = 0; i < TERMS; i++) {
            const double whole = fmin(fmax(floor(coefficients[plane][i] * scale + 0.5), -128), 127);
            table->coefficients[plane][i] = (int8_t)whole;
            rounded[plane][i] = whole / scale;
        }
        const double gain = find_gain(params, plane, rounded);
        if (gain <= GAIN_MAX * GAIN_MAX) {
            memcpy(coefficients[plane], rounded[plane], sizeof rounded[plane]);
            return gain;
        }
        for (uint32_t i = 0; i < TERMS; i++) {
            coefficients[plane][i] *= 0.95;
        }
    }
}

/* --- the table */

static void find_ar_shift(double coefficients[PLANES][TERMS], struct gpume_grain_table *table)
{
    double greatest = 0, least = 0;
    for (uint32_t p = 0; p < PLANES; p++) {
        for (uint32_t i = 0; i < TERMS; i++) {
            greatest = fmax(greatest, coefficients[p][i]);
            least = fmin(least, coefficients[p][i]);
        }
    }
    table->ar_coeff_shift = 9;
    while (table->ar_coeff_shift > 6 && (greatest * (1u << table->ar_coeff_shift) > 127.49 ||
                                            least * (1u << table->ar_coeff_shift) < -128.49)) {
        table->ar_coeff_shift--;
    }
}

struct curve {
    uint32_t count;
    double at[BINS + 3], scaling[BINS + 3];
};

static double curve_at(const struct curve *curve, uint32_t without, double at)
{
    uint32_t before = without == 0 ? 1 : 0;
    for (uint32_t i = before; i < curve->count && curve->at[i] <= at; i++) {
        before = i == without ? before : i;
    }
    uint32_t after = before + 1 == without ? before + 2 : before + 1;
    if (after >= curve->count || curve->at[before] >= at) {
        return curve->scaling[before];
    }
    const double part = (at - curve->at[before]) / (curve->at[after] - curve->at[before]);
    return curve->scaling[before] + part * (curve->scaling[after] - curve->scaling[before]);
}

/* What leaving out a point changes: the area between the lines, as far as its neighbours. */
static double loss_without(const struct curve *curve, uint32_t point)
{
    double loss = 0;
    for (double at = curve->at[point - 1]; at <= curve->at[point + 1]; at += 1) {
        loss += fabs(curve_at(curve, point, at) - curve_at(curve, curve->count, at));
    }
    return loss;
}

/* Leaves out points that change least: those that change nothing much, and those that are too
 * many. */
static void thin_out(struct curve *curve, uint32_t most)
{
    while (curve->count > 2) {
        uint32_t best = 0;
        double least = 0;
        for (uint32_t i = 1; i + 1 < curve->count; i++) {
            const double loss = loss_without(curve, i);
            if (best == 0 || loss < least) {
                best = i;
                least = loss;
            }
        }
        if (curve->count <= most && least > 0.01 * curve->scaling[best] * 16) {
            return;
        }
        curve->count--;
        memmove(&curve->at[best], &curve->at[best + 1], (curve->count - best) * sizeof(double));
        memmove(&curve->scaling[best], &curve->scaling[best + 1],
            (curve->count - best) * sizeof(double));
    }
}

/* Standard deviations at the intensities seen, one per bin, and at both ends. */
static struct curve find_curve(const struct strengths *strengths)
{
    struct curve curve = {0};
    const double first = floor(strengths->first), last = ceil(strengths->last);
    for (uint32_t i = 0; i <= BINS + 2; i++) {
        const double at = i == 0 ? first : i == BINS + 2 ? last : fmin((i - 1) * 8.0, 255);
        if (i == 0 || i == BINS + 2 ? curve.count == 0 || at > curve.at[curve.count - 1]
                                    : at > first && at < last) {
            curve.at[curve.count] = fmin(at, 255);
            curve.scaling[curve.count++] = sqrt(variance_at(strengths, at));
        }
    }
    return curve;
}

/* deviations: of each plane's grain before it is scaled, in steps of 8 bits. */
static void find_scaling(const struct strengths strengths[PLANES], const double deviations[PLANES],
    struct gpume_grain_table *table)
{
    struct curve curves[PLANES] = {{0}};
    double greatest = 0;
    for (uint32_t p = 0; p < PLANES; p++) {
        if (!strengths[p].any) {
            continue;
        }
        curves[p] = find_curve(&strengths[p]);
        thin_out(&curves[p], p == 0 ? GPUME_GRAIN_LUMA_POINTS : GPUME_GRAIN_CHROMA_POINTS);
        for (uint32_t i = 0; i < curves[p].count; i++) {
            curves[p].scaling[i] /= deviations[p];
            greatest = fmax(greatest, curves[p].scaling[i]);
        }
    }
    table->scaling_shift = 11;
    while (table->scaling_shift > 8 && greatest * (1u << table->scaling_shift) > 255.49) {
        table->scaling_shift--;
    }
    for (uint32_t p = 0; p < PLANES; p++) {
        bool any = false;
        for (uint32_t i = 0; i < curves[p].count; i++) {
            const double scaling = curves[p].scaling[i] * (1u << table->scaling_shift);
            table->at[p][i] = (uint8_t)curves[p].at[i];
            table->scaling[p][i] = (uint8_t)fmin(floor(scaling + 0.5), 255);
            any = any || table->scaling[p][i] > 0;
        }
        table->points[p] = any ? curves[p].count : 0;
    }
}

void gpume_grain_solve(const struct gpume_grain_params *params, const struct gpume_grain_sums *seen,
    struct gpume_grain_segment *segment)
{
    struct gpume_grain_sums all = *seen;
    const struct gpume_grain_sums *sums = &all;
    struct strengths strengths[PLANES] = {{0}};
    struct correlations found;
    struct gpume_grain_table *table = &segment->table;
    double coefficients[PLANES][TERMS] = {{0}}, remains[PLANES] = {1, 1, 1};
    double deviations[PLANES] = {WHITE, WHITE, WHITE};
    const uint32_t planes = params->chroma ? PLANES : 1;
    memset(table, 0, sizeof *table);
    add_kept(&all);
    for (uint32_t p = 0; p < planes; p++) {
        find_strengths(params, sums, p, &strengths[p]);
    }
    find_correlations(params, sums, strengths, &found);
    for (uint32_t p = 0; p < planes; p++) {
        remains[p] = find_coefficients(&found, p, coefficients[p]);
        /* From luma's grain at unit strength to that of the table, before both are scaled. */
        coefficients[p][LAST] *= p > 0 ? sqrt(remains[0] / remains[p]) : 0;
    }
    find_ar_shift(coefficients, table);
    double greatest = 0;
    for (uint32_t p = 0; p < planes; p++) {
        deviations[p] = WHITE * sqrt(round_coefficients(params, p, coefficients, table));
        greatest = fmax(greatest, deviations[p]);
    }
    while (table->grain_scale_shift < 3 &&
           ldexp(greatest, -(int)table->grain_scale_shift) > PEAK / PEAK_TIMES) {
        table->grain_scale_shift++;
    }
    for (uint32_t p = 0; p < planes; p++) {
        deviations[p] = ldexp(deviations[p], -(int)table->grain_scale_shift);
    }
    find_scaling(strengths, deviations, table);
    double blocks = 0, variance = 0;
    for (uint32_t i = 0; i < BINS; i++) {
        const struct gpume_grain_bin *bin = &sums->bins[i];
        blocks += bin->blocks;
        variance += bin->blocks > 0
                        ? bin->blocks * variance_at(&strengths[0], bin->light / bin->blocks)
                        : 0;
    }
    segment->blocks = (uint64_t)blocks;
    segment->deviation = blocks > 0 ? sqrt(variance / blocks) : 0;
}

/* --- segments that are alike */

/* Of luma: the mean of a bin's products at a distance, at unit strength if that of 0 is divided
 * by. */
static double mean_lag(const struct gpume_grain_params *params, const struct gpume_grain_bin *bin,
    int32_t dx, int32_t dy)
{
    return bin->lags[0][lag_of(dx, dy)] / (bin->blocks * pairs_of(params, 0, dx, dy));
}

bool gpume_grain_is_alike(const struct gpume_grain_params *params, const struct gpume_grain_sums *a,
    const struct gpume_grain_sums *b)
{
    double weights = 0, ratio = 0, along = 0, down = 0;
    for (uint32_t i = 0; i < BINS; i++) {
        const struct gpume_grain_bin *x = &a->bins[i], *y = &b->bins[i];
        const double weight = fmin(x->blocks, y->blocks);
        if (weight <= 0) {
            continue;
        }
        const double rounding = rounding_of(params) / unit_of(params);
        const double own = fmax(mean_lag(params, x, 0, 0), rounding);
        const double other = fmax(mean_lag(params, y, 0, 0), rounding);
        weights += weight;
        ratio += weight * other / own;
        along += weight * (mean_lag(params, y, 1, 0) / other - mean_lag(params, x, 1, 0) / own);
        down += weight * (mean_lag(params, y, 0, 1) / other - mean_lag(params, x, 0, 1) / own);
    }
    return weights <= 0 ||
           (ratio / weights < ALIKE && ratio / weights > 1 / ALIKE &&
               fabs(along / weights) < ALIKE_LAGS && fabs(down / weights) < ALIKE_LAGS);
}

/* --- text */

void gpume_grain_text(const struct gpume_grain_table *table, int64_t start, int64_t end,
    uint32_t seed, char text[GPUME_GRAIN_TEXT_BYTES])
{
    static const char *const names[PLANES] = {"Y", "Cb", "Cr"};
    size_t at = 0;
#define PUT(...)                                                                                   \
    at += (size_t)snprintf(                                                                        \
        text + at, at < GPUME_GRAIN_TEXT_BYTES ? GPUME_GRAIN_TEXT_BYTES - at : 0, __VA_ARGS__)
    PUT("E %lld %lld 1 %u 1\n", (long long)start, (long long)end, seed);
    /* Overlapping blocks; chroma's strength by luma alone: 64 times luma over 64. */
    PUT("\tp %d %u %u %u 0 1 128 192 256 128 192 256\n", GPUME_GRAIN_LAG, table->ar_coeff_shift,
        table->grain_scale_shift, table->scaling_shift);
    for (uint32_t p = 0; p < PLANES; p++) {
        PUT("\ts%s %u ", names[p], table->points[p]);
        for (uint32_t i = 0; i < table->points[p]; i++) {
            PUT(" %u %u", table->at[p][i], table->scaling[p][i]);
        }
        PUT("\n");
    }
    for (uint32_t p = 0; p < PLANES; p++) {
        PUT("\tc%s", names[p]);
        for (uint32_t i = 0; i < GPUME_GRAIN_COEFFICIENTS + (p > 0 ? 1 : 0); i++) {
            PUT(" %d", table->coefficients[p][i]);
        }
        PUT("\n");
    }
#undef PUT
}
