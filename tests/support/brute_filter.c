/* SPDX-License-Identifier: BSD-2-Clause */
#include "brute_filter.h"

#include "synth.h"

#include <math.h>
#include <stdlib.h>

struct job {
    const struct gpume_prefilter *filter;
    const struct gpume_plane *plane;
    int64_t rx, ry; /* how far i and j go */
    int64_t *w;     /* by i and j, or by i alone */
    int64_t divisor;
};

static int64_t within(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

static int64_t v(const struct job *job, int64_t x, int64_t y)
{
    const struct gpume_plane *p = job->plane;
    int64_t value =
        synth_sample(p, within(x, 0, (int64_t)p->width - 1), within(y, 0, (int64_t)p->height - 1));
    return within(value, 0, (1 << p->bits) - 1);
}

static double bell(double sigma, double squared)
{
    return exp(-squared / (2 * sigma * sigma));
}

static int64_t gauss(const struct job *job, int64_t x, int64_t y)
{
    int64_t bits = job->plane->bits, rows = 0;
    for (int64_t i = -job->rx; i <= job->rx; i++) {
        int64_t columns = 0;
        for (int64_t j = -job->ry; j <= job->ry; j++) {
            columns += job->w[j + job->ry] * v(job, x + i, y + j);
        }
        columns = (columns + ((int64_t)1 << (bits - 1))) / ((int64_t)1 << bits);
        rows += job->w[i + job->rx] * columns;
    }
    return (rows + ((int64_t)1 << (31 - bits))) / ((int64_t)1 << (32 - bits));
}

static void gauss_weights(struct job *job)
{
    double all = 0;
    int64_t others = 0;
    for (int64_t i = -job->rx; i <= job->rx; i++) {
        all += bell(job->filter->sigma, (double)(i * i));
    }
    for (int64_t i = -job->rx; i <= job->rx; i++) {
        job->w[i + job->rx] = llround(65536 * bell(job->filter->sigma, (double)(i * i)) / all);
        others += i ? job->w[i + job->rx] : 0;
    }
    job->w[job->rx] = 65536 - others;
}

static int64_t box(const struct job *job, int64_t x, int64_t y)
{
    int64_t sum = 0, n = (2 * job->rx + 1) * (2 * job->ry + 1);
    for (int64_t j = -job->ry; j <= job->ry; j++) {
        for (int64_t i = -job->rx; i <= job->rx; i++) {
            sum += v(job, x + i, y + j);
        }
    }
    return (sum + n / 2) / n;
}

/* The median: fewer than half of the samples are smaller, and fewer than half are greater. */
static int64_t median(const struct job *job, int64_t x, int64_t y)
{
    int64_t n = (2 * job->rx + 1) * (2 * job->ry + 1), side = 2 * job->rx + 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t candidate = v(job, x + k % side - job->rx, y + k / side - job->ry);
        int64_t less = 0, greater = 0;
        for (int64_t m = 0; m < n; m++) {
            int64_t other = v(job, x + m % side - job->rx, y + m / side - job->ry);
            less += other < candidate;
            greater += other > candidate;
        }
        if (less <= n / 2 && greater <= n / 2) {
            return candidate;
        }
    }
    return -1;
}

static int64_t place(const struct job *job, int64_t i, int64_t j)
{
    return (j + job->ry) * (2 * job->rx + 1) + i + job->rx;
}

static void bilateral_weights(struct job *job)
{
    double all = 0;
    for (int64_t j = -job->ry; j <= job->ry; j++) {
        for (int64_t i = -job->rx; i <= job->rx; i++) {
            all += bell(job->filter->sigma, (double)(i * i + j * j));
        }
    }
    for (int64_t j = -job->ry; j <= job->ry; j++) {
        for (int64_t i = -job->rx; i <= job->rx; i++) {
            double g = bell(job->filter->sigma, (double)(i * i + j * j));
            job->w[place(job, i, j)] = (int64_t)floor(65536 * g / all);
        }
    }
}

static int64_t bilateral(const struct job *job, int64_t x, int64_t y)
{
    int64_t sum = 0, all = 0, bits = job->plane->bits;
    for (int64_t j = -job->ry; j <= job->ry; j++) {
        for (int64_t i = -job->rx; i <= job->rx; i++) {
            int64_t apart = llabs(v(job, x + i, y + j) - v(job, x, y));
            double d = (double)apart / (double)(1 << (bits - 8));
            d = bits > 10 ? floor(4 * d) / 4 : d;
            double range = job->filter->range;
            int64_t l = llround(32768 * exp(-(d * d) / (2 * range * range)));
            int64_t a = job->w[place(job, i, j)] * l / 256;
            sum += a * v(job, x + i, y + j);
            all += a;
        }
    }
    return (sum + all / 2) / all;
}

static void kernel_weights(struct job *job)
{
    int64_t n = (int64_t)job->filter->width * job->filter->height, whole, bits = job->plane->bits;
    double sum = 0, magnitudes = 0, limit = (double)(1 << (31 - bits));
    for (int64_t i = 0; i < n; i++) {
        sum += job->filter->weights[i];
        magnitudes += fabs(job->filter->weights[i]);
    }
    for (int64_t k = 100;; k--) {
        double scaled = 0;
        whole = 0;
        for (int64_t i = 0; i < n; i++) {
            double w = round(job->filter->weights[i] * pow(2, (double)k));
            scaled += fabs(w);
            job->w[i] = scaled < limit ? (int64_t)w : 0;
            whole += job->w[i];
        }
        if (magnitudes * pow(2, (double)k) >= limit || scaled >= limit) {
            continue;
        }
        job->divisor = llabs(whole);
        bool zero = fabs(sum) < magnitudes / 1000 || (sum < 0 ? whole >= 0 : whole <= 0);
        if (zero && k > 31 - bits) {
            continue;
        }
        job->divisor = zero ? (int64_t)1 << k : llabs(whole);
        for (int64_t i = 0; !zero && sum < 0 && i < n; i++) {
            job->w[i] = -job->w[i];
        }
        return;
    }
}

static int64_t kernel(const struct job *job, int64_t x, int64_t y)
{
    int64_t sum = job->divisor / 2;
    for (int64_t j = -job->ry; j <= job->ry; j++) {
        for (int64_t i = -job->rx; i <= job->rx; i++) {
            sum += job->w[place(job, i, j)] * v(job, x + i, y + j);
        }
    }
    return within(sum < 0 ? 0 : sum / job->divisor, 0, (1 << job->plane->bits) - 1);
}

static int64_t filtered(const struct job *job, int64_t x, int64_t y)
{
    switch (job->filter->kind) {
    case GPUME_PREFILTER_GAUSS:
        return gauss(job, x, y);
    case GPUME_PREFILTER_BOX:
        return box(job, x, y);
    case GPUME_PREFILTER_MEDIAN:
        return median(job, x, y);
    case GPUME_PREFILTER_BILATERAL:
        return bilateral(job, x, y);
    default:
        return kernel(job, x, y);
    }
}

static void prepare(struct job *job)
{
    const struct gpume_prefilter *filter = job->filter;
    bool round_one =
        filter->kind == GPUME_PREFILTER_GAUSS || filter->kind == GPUME_PREFILTER_BILATERAL;
    job->rx = round_one ? (int64_t)ceil(3 * filter->sigma) : filter->width / 2;
    job->ry = round_one ? job->rx : filter->height / 2;
    job->w = calloc((size_t)((2 * job->rx + 1) * (2 * job->ry + 1)), sizeof(*job->w));
    if (filter->kind == GPUME_PREFILTER_GAUSS) {
        gauss_weights(job);
    } else if (filter->kind == GPUME_PREFILTER_BILATERAL) {
        bilateral_weights(job);
    } else if (filter->kind == GPUME_PREFILTER_KERNEL) {
        kernel_weights(job);
    }
}

struct gpume_plane brute_filter(
    const struct gpume_prefilter *filter, const struct gpume_plane *plane)
{
    struct job job = {.filter = filter, .plane = plane};
    struct gpume_plane out = synth_plane(plane->width, plane->height, plane->bits);
    prepare(&job);
    for (int64_t y = 0; y < plane->height; y++) {
        for (int64_t x = 0; x < plane->width; x++) {
            void *row = (uint8_t *)out.data + y * out.stride;
            if (plane->bits > 8) {
                ((uint16_t *)row)[x] = (uint16_t)filtered(&job, x, y);
            } else {
                ((uint8_t *)row)[x] = (uint8_t)filtered(&job, x, y);
            }
        }
    }
    free(job.w);
    return out;
}
