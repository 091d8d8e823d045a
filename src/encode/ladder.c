/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/ladder.h"

#include <math.h>

#define ERROR_LEAST 1e-4 /* as if frames that are the same differed by this much */
/* Of the error of an encode, the least part that is due to coding. */
#define CODING_LEAST 0.02

#define STEPS_PER_OCTAVE 64 /* of the bitrate: how finely crossings are looked for */
#define HALVINGS 30

double gpume_ladder_psnr(double error)
{
    return 10 * log10(255.0 * 255.0 / fmax(error, ERROR_LEAST));
}

/* --- the curve of a size */

/* A value at a CRF, from its logarithms at rising CRFs; beyond the ends as there. */
static double between(
    double crf, const struct gpume_ladder_encode *encodes, size_t count, const double *logs)
{
    size_t i = 0;
    while (i + 1 < count && encodes[i + 1].crf <= crf) {
        i++;
    }
    if (i + 1 >= count || crf <= encodes[i].crf) {
        return logs[i];
    }
    const double part = (crf - encodes[i].crf) / (encodes[i + 1].crf - encodes[i].crf);
    return logs[i] + part * (logs[i + 1] - logs[i]);
}

/* What the analysis expects, corrected by what was found of all clips. */
static struct gpume_ladder_encode correct_expected(
    const struct gpume_ladder_facts *facts, const struct gpume_ladder_encode *expected)
{
    struct gpume_ladder_encode encode = *expected;
    const struct gpume_ladder_model *model = facts->model;
    if (model) {
        const double o = facts->octaves, h = fmax(encode.crf - GPUME_LADDER_CRF_LOW, 0);
        const double rise = model->error_rise * h * h * fmax(1 - model->error_level * o, 0);
        encode.bitrate *= exp2(model->rate_own * h - (model->rate + model->rate_rise * h) * o);
        encode.error *= pow(10, (model->error + model->error_smaller * o + rise) / 10);
        encode.error *= 1 + model->carried * o;
    }
    return encode;
}

size_t gpume_ladder_fill(const struct gpume_ladder_facts *facts, struct gpume_ladder_point *points)
{
    double rates[GPUME_LADDER_ENCODES_MAX], errors[GPUME_LADDER_ENCODES_MAX];
    double expected_rates[GPUME_LADDER_ENCODES_MAX], expected_errors[GPUME_LADDER_ENCODES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < facts->expected_count; i++) {
        const struct gpume_ladder_encode encode = correct_expected(facts, &facts->expected[i]);
        expected_rates[i] = log2(encode.bitrate);
        expected_errors[i] = log2(fmax(encode.error, ERROR_LEAST));
    }
    for (size_t i = 0; i < facts->encode_count; i++) {
        const struct gpume_ladder_encode *encode = &facts->encodes[i];
        const double coding =
            fmax(encode->error - facts->scaling, fmax(CODING_LEAST * encode->error, ERROR_LEAST));
        rates[i] = log2(encode->bitrate) -
                   between(encode->crf, facts->expected, facts->expected_count, expected_rates);
        errors[i] = log2(coding) -
                    between(encode->crf, facts->expected, facts->expected_count, expected_errors);
    }
    for (size_t i = facts->expected_count; i-- > 0;) {
        const double crf = facts->expected[i].crf;
        double rate = expected_rates[i], error = expected_errors[i];
        if (facts->encode_count > 0) {
            rate += between(crf, facts->encodes, facts->encode_count, rates);
            error += between(crf, facts->encodes, facts->encode_count, errors);
        }
        if (count == 0 || exp2(rate) > points[count - 1].bitrate) {
            points[count++] = (struct gpume_ladder_point){
                crf, exp2(rate), gpume_ladder_psnr(facts->scaling + exp2(error))};
        }
    }
    return count;
}

/* --- curves beside each other */

static double coding_error(
    const struct gpume_ladder_curve *curve, const struct gpume_ladder_point *point)
{
    return fmax(255.0 * 255.0 / pow(10, point->psnr / 10) - curve->scaling, ERROR_LEAST);
}

bool gpume_ladder_at(
    const struct gpume_ladder_curve *curve, double bitrate, struct gpume_ladder_point *point)
{
    const struct gpume_ladder_point *points = curve->points;
    size_t i = 0;
    if (curve->count == 0 || bitrate < points[0].bitrate ||
        bitrate > points[curve->count - 1].bitrate) {
        return false;
    }
    while (i + 2 < curve->count && points[i + 1].bitrate < bitrate) {
        i++;
    }
    const struct gpume_ladder_point *low = &points[i], *high = low + (i + 1 < curve->count);
    const double octaves = log2(high->bitrate / low->bitrate);
    const double part = octaves > 0 ? log2(bitrate / low->bitrate) / octaves : 0;
    const double coding_low = log2(coding_error(curve, low));
    const double coding_high = log2(coding_error(curve, high));
    const double coding = exp2(coding_low + part * (coding_high - coding_low));
    *point = (struct gpume_ladder_point){
        .crf = low->crf + part * (high->crf - low->crf),
        .bitrate = bitrate,
        .psnr = gpume_ladder_psnr(curve->scaling + coding),
    };
    return true;
}

double gpume_ladder_bitrate_at(const struct gpume_ladder_curve *curve, double crf)
{
    size_t i = 0; /* CRFs fall */
    while (i + 1 < curve->count && curve->points[i + 1].crf >= crf) {
        i++;
    }
    const struct gpume_ladder_point *low = &curve->points[i], *high = low + 1;
    if (i + 1 == curve->count || crf >= low->crf) {
        return low->bitrate;
    }
    return low->bitrate *
           pow(high->bitrate / low->bitrate, (low->crf - crf) / (low->crf - high->crf));
}

/* How much better the first one is, in dB. NAN: one of them does not go there. */
static double advantage(
    const struct gpume_ladder_curve *a, const struct gpume_ladder_curve *b, double bitrate)
{
    struct gpume_ladder_point of_a, of_b;
    return gpume_ladder_at(a, bitrate, &of_a) && gpume_ladder_at(b, bitrate, &of_b)
               ? of_a.psnr - of_b.psnr
               : (double)NAN;
}

/* Between two bitrates, at the first of which the first curve is worse, and at the second not. */
static double refine_crossing(const struct gpume_ladder_curve *larger,
    const struct gpume_ladder_curve *smaller, double low, double high)
{
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = sqrt(low * high);
        if (advantage(larger, smaller, middle) < 0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return sqrt(low * high);
}

enum gpume_ladder_meeting gpume_ladder_meet(const struct gpume_ladder_curve *larger,
    const struct gpume_ladder_curve *smaller, double *bitrate)
{
    *bitrate = 0;
    if (larger->count == 0 || smaller->count == 0) {
        return GPUME_LADDER_APART;
    }
    const double from = fmax(larger->points[0].bitrate, smaller->points[0].bitrate);
    const double to = fmin(
        larger->points[larger->count - 1].bitrate, smaller->points[smaller->count - 1].bitrate);
    const double octaves = to > from ? log2(to / from) : 0;
    const size_t steps = (size_t)ceil(octaves * STEPS_PER_OCTAVE);
    double before = 0; /* the next higher bitrate that was looked at, where the first is better */
    for (size_t i = steps + 1; i-- > 0 && from <= to;) {
        const double at = i == 0       ? from
                          : i == steps ? to
                                       : from * exp2(octaves * (double)i / (double)steps);
        if (advantage(larger, smaller, at) < 0) {
            *bitrate = before > 0 ? refine_crossing(larger, smaller, at, before) : to;
            return before > 0 ? GPUME_LADDER_CROSS : GPUME_LADDER_SMALLER;
        }
        before = at;
    }
    *bitrate = from;
    return from <= to ? GPUME_LADDER_LARGER : GPUME_LADDER_APART;
}

size_t gpume_ladder_best(const struct gpume_ladder_curve *curves, size_t count, double bitrate)
{
    struct gpume_ladder_point point;
    size_t best = count;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_ladder_point *end = curves[i].points + curves[i].count;
        if (curves[i].count > 0 && end[-1].bitrate < bitrate) {
            most = fmax(most, end[-1].psnr); /* to be had for less */
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (gpume_ladder_at(&curves[i], bitrate, &point) && point.psnr > most) {
            best = i;
            most = point.psnr;
        }
    }
    return best;
}

/* Brings two bitrates with other best curves close to where `best`, that of the lower, ends. */
static void refine_change(
    const struct gpume_ladder_curve *curves, size_t count, size_t best, double *low, double *high)
{
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = sqrt(*low * *high);
        if (gpume_ladder_best(curves, count, middle) == best) {
            *low = middle;
        } else {
            *high = middle;
        }
    }
}

size_t gpume_ladder_stretches(const struct gpume_ladder_curve *curves, size_t count,
    struct gpume_ladder_stretch *stretches, size_t most)
{
    double low = INFINITY, high = 0;
    size_t found = 0, last = count;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_ladder_curve *curve = &curves[i];
        low = curve->count > 0 ? fmin(low, curve->points[0].bitrate) : low;
        high = curve->count > 0 ? fmax(high, curve->points[curve->count - 1].bitrate) : high;
    }
    const double octaves = high > low ? log2(high / low) : 0;
    const size_t steps = (size_t)ceil(octaves * STEPS_PER_OCTAVE) + 1;
    double before = low;
    for (size_t i = 0; i <= steps && high > 0; i++) {
        const double at = i < steps ? low * exp2((double)i * octaves / (double)steps) : high;
        const size_t best = gpume_ladder_best(curves, count, at);
        while (best != last) { /* there may be several changes before it */
            double from = i > 0 ? at : low;
            if (i > 0) {
                refine_change(curves, count, last, &before, &from);
            }
            if (last < count) {
                stretches[found <= most ? found - 1 : most - 1].to = before;
            }
            last = gpume_ladder_best(curves, count, from);
            if (last < count && found++ < most) {
                stretches[found - 1] = (struct gpume_ladder_stretch){last, from, at};
            }
            before = from;
        }
        if (best < count && found <= most) {
            stretches[found - 1].to = at;
        }
        before = at;
    }
    return found;
}
