/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times reductions on one core and on the device, compares their results, and relates the bytes
 * that a reduction reads to those that copying an array moves in the same time.
 */
#include "base/status.h"
#include "bench/array_rows.h"
#include "console.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_FIRST (UINT64_C(1) << 20)
#define BYTES_MAX (UINT64_C(1) << 30)
#define STEP 32u
#define BINS 256u

static const struct reduction_work {
    const char *name;
    enum gpume_element element;
    uint32_t shift;
    enum { SUM, MINIMUM, HISTOGRAM } kind;
} works[] = {
    {"sum", GPUME_ELEMENT_U32, 0, SUM},
    {"sum", GPUME_ELEMENT_U8, 0, SUM},
    {"minimum", GPUME_ELEMENT_U32, 0, MINIMUM},
    {"histogram", GPUME_ELEMENT_U8, 0, HISTOGRAM},
    {"histogram", GPUME_ELEMENT_U32, 24, HISTOGRAM},
};
#define WORKS (sizeof(works) / sizeof(*works))

struct reducing {
    struct gpume_bench_places *places;
    struct gpume_bench_method *method;
    const struct reduction_work *work;
    gpume_array *data, *copy;
    uint64_t bytes, results[BINS];
};

struct reduction_answer {
    uint64_t results[BINS];
    double us;
};

static int reduce(struct reducing *r)
{
    const uint64_t count = r->bytes >> r->work->element;
    struct gpume_minimum minimum = {0};
    int status;
    switch (r->work->kind) {
    case SUM:
        return gpume_array_sum(r->data, r->work->element, 0, count, r->results);
    case MINIMUM:
        status = gpume_array_minimum(r->data, r->work->element, 0, count, &minimum);
        r->results[0] = minimum.value;
        r->results[1] = minimum.index;
        return status;
    case HISTOGRAM:
        break;
    }
    return gpume_array_histogram(
        r->data, r->work->element, 0, count, r->work->shift, BINS, r->results);
}

static int reduce_once(void *opaque, double *us)
{
    struct reducing *r = opaque;
    struct gpume_compute_times times;
    const int status = reduce(r);
    gpume_compute_get_times(r->method->compute, &times);
    *us = (double)times.run_ns / 1e3;
    return status;
}

static int copy_once(void *opaque, double *us)
{
    struct reducing *r = opaque;
    struct gpume_compute_times times;
    const int status = gpume_array_copy(r->copy, 0, r->data, 0, r->bytes);
    gpume_compute_get_times(r->method->compute, &times);
    *us = (double)times.run_ns / 1e3;
    return status;
}

/* The CPU measures first: its results are the answers, and its time the base of comparisons. */
static int measure(struct reducing *r, double copy_us, struct reduction_answer *answer)
{
    struct gpume_bench_places *places = r->places;
    const bool first = r->method->compute == places->cpu;
    const uint64_t count = r->bytes >> r->work->element;
    double us;
    memset(r->results, 0, sizeof(r->results));
    gpume_bench_show(places, r->work->name, r->method, count);
    int status = gpume_bench_warm_up(places->budget_ns, reduce_once, r);
    status = status ? status : gpume_bench_repeat(places->budget_ns, reduce_once, r, &us);
    if (status != GPUME_OK) {
        return status;
    }
    if (first) {
        memcpy(answer->results, r->results, sizeof(r->results));
        answer->us = us;
    } else if (memcmp(answer->results, r->results, sizeof(r->results)) != 0) {
        return gpume_refuse(
            GPUME_FORMAT, "bench: %s: the device and the CPU disagree", r->work->name);
    }
    struct gpume_bench_row *row =
        gpume_bench_row(places, r->method, r->work->name, count, 8u << r->work->element);
    if (row) {
        row->us = us;
        row->per_second = (double)count / us * 1e6;
        row->share = copy_us / (2 * us); /* copying reads and writes */
        row->over_core = answer->us / us;
    }
    r->method->slow = r->method->slow || gpume_bench_too_slow(places, us, STEP);
    return GPUME_OK;
}

static int measure_place(
    struct reducing *r, const void *noise, struct reduction_answer answers[WORKS])
{
    double copy_us = 0;
    gpume_compute *compute = r->method->compute;
    int status;
    GPUME_TRY(gpume_array_create(compute, &r->data, r->bytes));
    GPUME_TRY(gpume_array_create(compute, &r->copy, r->bytes));
    GPUME_TRY(gpume_array_write(r->data, 0, noise, r->bytes));
    GPUME_TRY(gpume_bench_warm_up(r->places->budget_ns, copy_once, r));
    GPUME_TRY(gpume_bench_repeat(r->places->budget_ns, copy_once, r, &copy_us));
    for (size_t i = 0; i < WORKS; i++) {
        r->work = &works[i];
        GPUME_TRY(measure(r, copy_us, &answers[i]));
    }
fail:
    gpume_array_destroy(&r->copy);
    gpume_array_destroy(&r->data);
    return status;
}

static int measure_size(struct reducing *r, struct gpume_bench_method methods[2])
{
    static struct reduction_answer answers[WORKS];
    uint32_t *noise = malloc((size_t)r->bytes);
    int status = GPUME_OK;
    if (!noise) {
        return gpume_refuse(GPUME_NOMEM, "bench: out of memory; --reduce needs 3 GiB");
    }
    for (uint64_t i = 0; i < r->bytes / sizeof(*noise); i++) {
        noise[i] = gpume_bench_noise((uint32_t)i);
    }
    for (int i = 0; i < 2 && status == GPUME_OK; i++) {
        r->method = &methods[i];
        if (i == 0 || (methods[i].compute && !methods[i].slow)) {
            status = measure_place(r, noise, answers);
        }
    }
    free(noise);
    return status;
}

int gpume_bench_reductions(struct gpume_bench_places *places)
{
    struct gpume_bench_method methods[2] = {
        {.compute = places->cpu, .name = "loop"}, {.compute = places->gpu, .name = "kernel"}};
    struct reducing r = {.places = places};
    int status = GPUME_OK;
    for (int i = 0; i < 2; i++) {
        methods[i].slow = !methods[i].compute;
        if (methods[i].compute) {
            gpume_compute_get_info(methods[i].compute, &methods[i].info);
        }
    }
    for (r.bytes = BYTES_FIRST; r.bytes <= BYTES_MAX && status == GPUME_OK; r.bytes *= STEP) {
        if (!methods[0].slow || !methods[1].slow) {
            status = measure_size(&r, methods);
        }
    }
    return status;
}
