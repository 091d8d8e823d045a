/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times every sorting method. The expected order comes from the CPU's radix sort of keys with their
 * positions, and is proven before use: if keys ascend, positions ascend among equal keys, and each
 * key is the one at its position, the result can only be the stable order of all keys.
 */
#include "base/clock.h"
#include "base/status.h"
#include "bench/places.h"
#include "console.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_FIRST (1u << 16)
#define COUNT_MAX (1u << 26)
#define STEP 4u
#define SEGMENTED (1u << 22)
#define SEGMENTS 4096u
#define METHODS_MAX 5u

struct sorting {
    struct gpume_bench_places *places;
    const struct gpume_bench_method *method;
    struct gpume_sort_params params;
    const char *work;
    uint32_t count, made; /* keys to be sorted; keys made so far */
    bool pairs;
    uint32_t *master, *keys, *places_of; /* the input; copies to be sorted */
    uint32_t *sorted, *order;            /* the answers */
    uint64_t *wide;                      /* keys with their positions, for qsort */
    gpume_array *device_master, *device_order, *device_keys, *device_places;
};

static int by_key(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_key_and_place(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A hash: pseudorandom keys from consecutive numbers. */
static uint32_t key_of(uint32_t i)
{
    uint32_t bits = i * 0x9E3779B1u + 0x7F4A7C15u;
    bits = (bits ^ (bits >> 15)) * 0x2C1B3C6Du;
    bits = (bits ^ (bits >> 12)) * 0x297A2D39u;
    return bits ^ (bits >> 15);
}

static bool in_order(const struct sorting *s, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        const uint32_t place = s->order[i];
        if (place - first >= count || s->sorted[i] != s->master[place]) {
            return false;
        }
        if (i > first && (s->sorted[i - 1] > s->sorted[i] ||
                             (s->sorted[i - 1] == s->sorted[i] && s->order[i - 1] >= place))) {
            return false;
        }
    }
    return true;
}

static int wrong(const struct sorting *s, const char *method)
{
    return gpume_refuse(GPUME_FORMAT, "bench: %s of %u numbers: %s sorts them wrongly", s->work,
        (unsigned)s->count, method);
}

/* All have the same length. */
static uint32_t segments_of(const struct sorting *s)
{
    return s->params.segments ? s->params.segment_count : 1;
}

static int solve(struct sorting *s)
{
    memcpy(s->sorted, s->master, (size_t)s->count * 4);
    for (uint32_t i = 0; i < s->count; i++) {
        s->order[i] = i;
    }
    const int status = gpume_sort(s->places->cpu, &s->params, s->sorted, s->order, s->count);
    const uint32_t segments = segments_of(s), length = s->count / segments;
    for (uint32_t i = 0; status == GPUME_OK && i < segments; i++) {
        if (!in_order(s, i * length, length)) {
            return wrong(s, "the radix sort on the CPU");
        }
    }
    return status;
}

static bool is_answer(const struct sorting *s)
{
    const size_t bytes = (size_t)s->count * 4;
    return memcmp(s->keys, s->sorted, bytes) == 0 &&
           (!s->pairs || memcmp(s->places_of, s->order, bytes) == 0);
}

static void refill(struct sorting *s)
{
    memcpy(s->keys, s->master, (size_t)s->count * 4);
    for (uint32_t i = 0; s->pairs && i < s->count; i++) {
        s->places_of[i] = i;
    }
}

static void sort_by_qsort(struct sorting *s)
{
    const uint32_t segments = segments_of(s), length = s->count / segments;
    if (!s->pairs) {
        for (uint32_t i = 0; i < segments; i++) {
            qsort(s->keys + (size_t)i * length, length, 4, by_key);
        }
        return;
    }
    for (uint32_t i = 0; i < s->count; i++) {
        s->wide[i] = (uint64_t)s->keys[i] << 32 | s->places_of[i];
    }
    qsort(s->wide, s->count, 8, by_key_and_place);
    for (uint32_t i = 0; i < s->count; i++) {
        s->keys[i] = (uint32_t)(s->wide[i] >> 32);
        s->places_of[i] = (uint32_t)s->wide[i];
    }
}

/* Includes copies from and to host memory. */
static int sort_on_host(void *opaque, double *us)
{
    struct sorting *s = opaque;
    int status = GPUME_OK;
    refill(s);
    const uint64_t start = gpume_clock_ns();
    if (s->method->qsort) {
        sort_by_qsort(s);
    } else {
        status = gpume_sort(
            s->method->compute, &s->params, s->keys, s->pairs ? s->places_of : NULL, s->count);
    }
    *us = (double)(gpume_clock_ns() - start) / 1e3;
    return status != GPUME_OK || is_answer(s) ? status : wrong(s, s->method->name);
}

/* Without copies, by the device's timestamps. */
static int sort_on_device(void *opaque, double *us)
{
    struct sorting *s = opaque;
    const uint64_t bytes = (uint64_t)s->count * 4;
    struct gpume_compute_times times;
    int status;
    GPUME_TRY(gpume_array_copy(s->device_keys, 0, s->device_master, 0, bytes));
    GPUME_TRY(
        s->pairs ? gpume_array_copy(s->device_places, 0, s->device_order, 0, bytes) : GPUME_OK);
    GPUME_TRY(
        gpume_array_sort(&s->params, s->device_keys, s->pairs ? s->device_places : NULL, s->count));
    gpume_compute_get_times(s->method->compute, &times);
    *us = (double)times.run_ns / 1e3;
fail:
    return status;
}

static int make_arrays(struct sorting *s)
{
    gpume_array **const arrays[] = {
        &s->device_master, &s->device_order, &s->device_keys, &s->device_places};
    const uint64_t bytes = (uint64_t)s->count * 4;
    int status;
    for (int i = 0; i < 4; i++) {
        GPUME_TRY(gpume_array_create(s->method->compute, arrays[i], bytes));
    }
    GPUME_TRY(gpume_array_write(s->device_master, 0, s->master, bytes));
    for (uint32_t i = 0; i < s->count; i++) {
        s->places_of[i] = i;
    }
    status = gpume_array_write(s->device_order, 0, s->places_of, bytes);
fail:
    return status;
}

static int measure_on_device(struct sorting *s, double *us)
{
    const uint64_t bytes = (uint64_t)s->count * 4;
    int status;
    GPUME_TRY(make_arrays(s));
    GPUME_TRY(gpume_bench_warm_up(s->places->budget_ns, sort_on_device, s));
    GPUME_TRY(gpume_bench_repeat(s->places->budget_ns, sort_on_device, s, us));
    GPUME_TRY(gpume_array_read(s->device_keys, 0, s->keys, bytes));
    GPUME_TRY(s->pairs ? gpume_array_read(s->device_places, 0, s->places_of, bytes) : GPUME_OK);
    status = is_answer(s) ? GPUME_OK : wrong(s, s->method->name);
fail:
    gpume_array_destroy(&s->device_places);
    gpume_array_destroy(&s->device_keys);
    gpume_array_destroy(&s->device_order);
    gpume_array_destroy(&s->device_master);
    return status;
}

static int measure(struct sorting *s, struct gpume_bench_method *method)
{
    const bool device = method->compute == s->places->gpu;
    double us = 0, host_us = 0;
    s->method = method;
    s->params.method = method->sort;
    gpume_bench_show(s->places, s->work, method, s->count);
    int status = device ? measure_on_device(s, &us) : GPUME_OK;
    if (status == GPUME_OK) {
        status = gpume_bench_repeat(s->places->budget_ns, sort_on_host, s, &host_us);
    }
    us = device ? us : host_us;
    struct gpume_bench_row *row =
        status == GPUME_OK ? gpume_bench_row(s->places, method, s->work, s->count, 32) : NULL;
    if (row) {
        row->us = us;
        row->wall_us = device ? host_us : 0;
        row->per_second = s->count / us * 1e6;
    }
    method->slow = gpume_bench_too_slow(s->places, host_us, STEP);
    return status;
}

/* Speed relative to qsort on the same numbers. */
static void compare_rows(struct gpume_bench *bench, uint32_t first)
{
    const bool known = first < bench->count && strcmp(bench->rows[first].search, "qsort") == 0;
    for (uint32_t i = first; i < bench->count && known; i++) {
        bench->rows[i].over_core = bench->rows[first].us / bench->rows[i].us;
    }
}

static int measure_count(struct sorting *s, struct gpume_bench_method *methods, uint32_t count)
{
    const uint32_t first = s->places->bench.count;
    for (uint32_t i = s->made; i < count; i++) {
        s->master[i] = key_of(i);
    }
    s->made = count > s->made ? count : s->made;
    s->count = count;
    int status = solve(s);
    for (uint32_t i = 0; i < METHODS_MAX && status == GPUME_OK; i++) {
        if (methods[i].compute && !methods[i].slow) {
            status = measure(s, &methods[i]);
        }
    }
    compare_rows(&s->places->bench, first);
    return status;
}

/* qsort comes first: the others are compared with it. */
static void list_methods(
    const struct gpume_bench_places *places, struct gpume_bench_method methods[METHODS_MAX])
{
    const struct gpume_bench_method all[METHODS_MAX] = {
        {.compute = places->cpu, .name = "qsort", .qsort = true},
        {.compute = places->cpu, .name = "radix", .sort = GPUME_SORT_RADIX},
        {.compute = places->cpu, .name = "bitonic", .sort = GPUME_SORT_BITONIC},
        {.compute = places->gpu, .name = "radix", .sort = GPUME_SORT_RADIX},
        {.compute = places->gpu, .name = "bitonic", .sort = GPUME_SORT_BITONIC},
    };
    for (uint32_t i = 0; i < METHODS_MAX; i++) {
        methods[i] = all[i];
        if (methods[i].compute) {
            gpume_compute_get_info(methods[i].compute, &methods[i].info);
        }
    }
}

static int measure_sizes(struct sorting *s, const char *work, bool pairs)
{
    struct gpume_bench_method methods[METHODS_MAX];
    int status = GPUME_OK;
    list_methods(s->places, methods);
    s->work = work;
    s->pairs = pairs;
    for (uint32_t count = COUNT_FIRST; count <= COUNT_MAX && status == GPUME_OK; count *= STEP) {
        bool worth = false;
        for (uint32_t i = 0; i < METHODS_MAX; i++) {
            worth = worth || (methods[i].compute && !methods[i].slow);
        }
        status = worth ? measure_count(s, methods, count) : GPUME_OK;
    }
    return status;
}

static int measure_segments(struct sorting *s)
{
    static struct gpume_segment segments[SEGMENTS];
    struct gpume_bench_method methods[METHODS_MAX];
    list_methods(s->places, methods);
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        segments[i] = (struct gpume_segment){i * (SEGMENTED / SEGMENTS), SEGMENTED / SEGMENTS};
    }
    s->work = "segments";
    s->pairs = false;
    s->params.segments = segments;
    s->params.segment_count = SEGMENTS;
    return measure_count(s, methods, SEGMENTED);
}

int gpume_bench_sorts(struct gpume_bench_places *places)
{
    const size_t count = COUNT_MAX;
    uint32_t *memory = malloc(7 * count * sizeof(*memory)); /* touched only as far as it is used */
    struct sorting s = {.places = places, .wide = (uint64_t *)memory};
    uint32_t **const arrays[] = {&s.master, &s.keys, &s.places_of, &s.sorted, &s.order};
    int status;
    if (!memory) {
        return gpume_refuse(GPUME_NOMEM, "bench: out of memory; %zu MiB are needed",
            7 * count * sizeof(*memory) >> 20);
    }
    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
        *arrays[i] = memory + (2 + i) * count;
    }
    gpume_sort_params_default(&s.params);
    GPUME_TRY(measure_sizes(&s, "keys", false));
    GPUME_TRY(measure_sizes(&s, "pairs", true));
    status = measure_segments(&s);
fail:
    free(memory);
    return status;
}
