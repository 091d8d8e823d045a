/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/plan.h"

#include "base/base.h"

#include <math.h>
#include <string.h>

#define WEIGHT_SUM 65536 /* of GAUSS in one axis; of BILATERAL in both, at most */
#define LIKENESS_MAX 32768.0
#define SIGMA_MIN 0.3 /* below, the weight of the centre would take all but a few of 2^16 */
#define MAGNITUDE_MAX 1e9
#define MAGNITUDE_MIN 1e-9

static int refuse_real(
    const struct gpume_log *log, const char *name, double value, const char *allowed)
{
    return gpume_log_fail(log, GPUME_INVALID, "%s %g: must be %s", name, value, allowed);
}

static int refuse_side(const struct gpume_log *log, const char *name,
    const struct gpume_prefilter *f, const char *must)
{
    return gpume_log_fail(
        log, GPUME_INVALID, "%s of %ux%u pixels: must be %s", name, f->width, f->height, must);
}

static bool odd_side(uint32_t side, uint32_t least)
{
    return side >= least && side <= GPUME_PREFILTER_SIDE_MAX && side % 2 == 1;
}

static int check_weights(const struct gpume_prefilter *f, const struct gpume_log *log)
{
    bool any = false;
    if (!f->weights) {
        return gpume_log_fail(log, GPUME_INVALID, "filter kernel: its weights are missing");
    }
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        double magnitude = fabs(f->weights[i]);
        if (magnitude == 0) {
            continue;
        }
        if (!(magnitude >= MAGNITUDE_MIN && magnitude <= MAGNITUDE_MAX)) { /* nor not a number */
            return refuse_real(
                log, "filter weight", f->weights[i], "0 or of a magnitude from 1e-9 to 1e9");
        }
        any = true;
    }
    return any ? GPUME_OK : refuse_real(log, "filter weights, all", 0, "something else somewhere");
}

static int check(const struct gpume_prefilter *f, const struct gpume_log *log)
{
    switch (f->kind) {
    case GPUME_PREFILTER_GAUSS:
        return f->sigma >= SIGMA_MIN && f->sigma <= 16
                   ? GPUME_OK
                   : refuse_real(log, "filter gauss", f->sigma, "from 0.3 to 16");
    case GPUME_PREFILTER_BOX:
        return odd_side(f->width, 3) && f->width == f->height
                   ? GPUME_OK
                   : refuse_side(log, "filter box", f, "square, its side odd, from 3 to 31");
    case GPUME_PREFILTER_MEDIAN:
        return (f->width == 3 || f->width == 5) && f->width == f->height
                   ? GPUME_OK
                   : refuse_side(log, "filter median", f, "3x3 or 5x5");
    case GPUME_PREFILTER_BILATERAL:
        if (!(f->sigma >= SIGMA_MIN && f->sigma <= 5)) {
            return refuse_real(log, "filter bilateral", f->sigma, "from 0.3 to 5");
        }
        return f->range >= 0.1 && f->range <= 1000
                   ? GPUME_OK
                   : refuse_real(log, "filter bilateral, range", f->range, "from 0.1 to 1000");
    case GPUME_PREFILTER_KERNEL:
        return odd_side(f->width, 1) && odd_side(f->height, 1)
                   ? check_weights(f, log)
                   : refuse_side(log, "filter kernel", f, "odd in width and height, up to 31");
    }
    return gpume_log_fail(log, GPUME_INVALID, "filter %u: must be one of enum gpume_prefilter_kind",
        (unsigned)f->kind);
}

static int32_t nearest(double value)
{
    return (int32_t)round(value); /* callers stay below 2^31 */
}

static double bell(double sigma, double i, double j)
{
    return exp(-(i * i + j * j) / (2 * sigma * sigma));
}

static void make_gauss(double sigma, uint32_t bits, struct gpume_prefilter_tables *t)
{
    uint32_t radius = (uint32_t)ceil(3 * sigma);
    double total = 1;
    int32_t centre = WEIGHT_SUM;
    for (uint32_t i = 1; i <= radius; i++) {
        total += 2 * bell(sigma, i, 0);
    }
    for (uint32_t i = 1; i <= radius; i++) {
        int32_t weight = nearest(WEIGHT_SUM * bell(sigma, i, 0) / total);
        t->weights[radius - i] = t->weights[radius + i] = weight;
        centre -= 2 * weight; /* what rounding leaves goes here */
    }
    t->weights[radius] = centre;
    t->radius_x = t->radius_y = radius;
    t->shift = bits;
    t->divisor = 1u << (32 - bits);
}

static void make_bilateral(
    const struct gpume_prefilter *f, uint32_t bits, struct gpume_prefilter_tables *t)
{
    int32_t radius = (int32_t)ceil(3 * f->sigma);
    double total = 0;
    for (int32_t j = -radius; j <= radius; j++) {
        for (int32_t i = -radius; i <= radius; i++) {
            total += bell(f->sigma, i, j);
        }
    }
    int32_t *weight = t->weights;
    for (int32_t j = -radius; j <= radius; j++) {
        for (int32_t i = -radius; i <= radius; i++) { /* rounded down: no more than WEIGHT_SUM */
            *weight++ = (int32_t)(WEIGHT_SUM * bell(f->sigma, i, j) / total);
        }
    }
    t->radius_x = t->radius_y = (uint32_t)radius;
    uint32_t kept = gpume_min_u32(bits, 10);
    t->shift = bits - kept;
    for (uint32_t i = 0; i < 1u << kept; i++) {
        double d = (double)i / (1u << (kept - 8)) / f->range;
        t->likeness[i] = nearest(LIKENESS_MAX * exp(-d * d / 2));
    }
}

/* weights * 2^k rounded; the sum of their magnitudes. */
static double scale(const struct gpume_prefilter *f, int k, int32_t *weights)
{
    double magnitudes = 0;
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        weights[i] = nearest(ldexp(f->weights[i], k));
        magnitudes += fabs((double)weights[i]);
    }
    return magnitudes;
}

/*
 * 32 bits hold every sum: with M = 2^(31-bits) the magnitudes come to M - 1 at most and half of the
 * divisor to M / 2, so |sum| <= (M - 1) (2^bits - 1) + M / 2 < M 2^bits = 2^31.
 */
static int make_kernel(const struct gpume_prefilter *f, uint32_t bits, const struct gpume_log *log,
    struct gpume_prefilter_tables *t)
{
    double sum = 0, magnitudes = 0, limit = ldexp(1, 31 - (int)bits);
    int64_t whole = 0;
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        sum += f->weights[i];
        magnitudes += fabs(f->weights[i]);
    }
    int exponent, k;
    (void)frexp(magnitudes, &exponent); /* 2^(exponent-1) <= magnitudes < 2^exponent */
    k = 31 - (int)bits - exponent;
    while (scale(f, k, t->weights) >= limit) {
        k--;
    }
    for (uint32_t i = 0; i < f->width * f->height; i++) {
        whole += t->weights[i];
    }
    whole = sum < 0 ? -whole : whole;
    bool none = fabs(sum) < magnitudes / 1000 || whole <= 0;
    if (none && k < 0) {
        return refuse_real(log, "filter weights of sum 0, their magnitudes together", magnitudes,
            "less than 2^(31 - bits)");
    }
    if (none && k > 31 - (int)bits) {
        k = 31 - (int)bits;
        scale(f, k, t->weights);
    }
    t->radius_x = f->width / 2;
    t->radius_y = f->height / 2;
    t->divisor = none ? 1u << k : (uint32_t)whole;
    for (uint32_t i = 0; !none && sum < 0 && i < f->width * f->height; i++) {
        t->weights[i] = -t->weights[i];
    }
    return GPUME_OK;
}

int gpume_prefilter_make(const struct gpume_prefilter *f, uint32_t bits,
    const struct gpume_log *log, struct gpume_prefilter_tables *tables)
{
    int status = check(f, log);
    if (status != GPUME_OK) {
        return status;
    }
    memset(tables, 0, sizeof(*tables));
    tables->kind = f->kind;
    tables->peak = (1u << bits) - 1;
    switch (f->kind) {
    case GPUME_PREFILTER_GAUSS:
        make_gauss(f->sigma, bits, tables);
        break;
    case GPUME_PREFILTER_BOX:
        tables->radius_x = tables->radius_y = f->width / 2;
        for (uint32_t i = 0; i < f->width; i++) {
            tables->weights[i] = 1;
        }
        tables->divisor = f->width * f->width;
        break;
    case GPUME_PREFILTER_MEDIAN:
        tables->radius_x = tables->radius_y = f->width / 2;
        break;
    case GPUME_PREFILTER_BILATERAL:
        make_bilateral(f, bits, tables);
        break;
    case GPUME_PREFILTER_KERNEL:
        status = make_kernel(f, bits, log, tables);
        break;
    }
    return status;
}
