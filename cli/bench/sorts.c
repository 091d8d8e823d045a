/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times every sorting method. The expected order comes from the CPU's radix sort of keys with their
 * positions, and is proven before use: if keys ascend, positions ascend among equal keys, and each
 * key is the one at its position, the result can only be the stable order of all keys.
 */
#include "base/status.h"
#include "bench/array_rows.h"
#include "bench/sort_trial.h"
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
    struct gpume_sort_trial trial;
    uint64_t made;                /* keys */
    uint32_t *keys;               /* the input */
    uint32_t *sorted, *places_of; /* the expected results */
};

static bool in_order(const struct sorting *s, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        const uint32_t place = s->places_of[i];
        if (place - first >= count || s->sorted[i] != s->keys[place]) {
            return false;
        }
        if (i > first && (s->sorted[i - 1] > s->sorted[i] ||
                             (s->sorted[i - 1] == s->sorted[i] && s->places_of[i - 1] >= place))) {
            return false;
        }
    }
    return true;
}

static int solve(struct sorting *s)
{
    const struct gpume_sort_params *params = &s->trial.params;
    const uint64_t count = s->trial.count;
    memcpy(s->sorted, s->keys, count * sizeof(*s->keys));
    for (uint64_t i = 0; i < count; i++) {
        s->places_of[i] = (uint32_t)i;
    }
    const int status = gpume_sort(s->places->cpu, params, s->sorted, s->places_of, count);
    /* All segments have the same length. */
    const uint64_t length = params->segments ? count / params->segment_count : count;
    for (uint64_t first = 0; status == GPUME_OK && first < count; first += length) {
        if (!in_order(s, first, length)) {
            return gpume_refuse(
                GPUME_FORMAT, "%s: the radix sort on the CPU sorts wrongly", s->trial.work);
        }
    }
    return status;
}

static int measure(struct sorting *s, struct gpume_bench_method *method)
{
    const bool device = method->compute == s->places->gpu;
    struct gpume_sort_trial *trial = &s->trial;
    double us = 0, host_us = 0;
    trial->method = method->name;
    trial->compute = method->qsort ? NULL : method->compute;
    trial->params.method = method->sort;
    gpume_bench_show(s->places, trial->work, method, trial->count);
    int status = device ? gpume_sort_trial_on_device(trial, &us) : GPUME_OK;
    status = status ? status : gpume_sort_trial_on_host(trial, &host_us);
    us = device ? us : host_us;
    struct gpume_bench_row *row =
        status ? NULL : gpume_bench_row(s->places, method, trial->work, trial->count, 32);
    if (row) {
        row->us = us;
        row->wall_us = device ? host_us : 0;
        row->per_second = (double)trial->count / us * 1e6;
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
    for (; s->made < count; s->made++) {
        s->keys[s->made] = gpume_bench_noise((uint32_t)s->made);
    }
    s->trial.count = count;
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
    s->trial.work = work;
    s->trial.order = pairs ? s->places_of : NULL;
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
    s->trial.work = "segments";
    s->trial.order = NULL;
    s->trial.params.segments = segments;
    s->trial.params.segment_count = SEGMENTS;
    return measure_count(s, methods, SEGMENTED);
}

int gpume_bench_sorts(struct gpume_bench_places *places)
{
    const size_t count = COUNT_MAX;
    uint32_t *memory = malloc(7 * count * sizeof(*memory)); /* touched only as far as it is used */
    struct sorting s = {.places = places, .trial = {.budget_ns = places->budget_ns}};
    int status;
    if (!memory) {
        return gpume_refuse(GPUME_NOMEM, "bench: out of memory; %zu MiB are needed",
            7 * count * sizeof(*memory) >> 20);
    }
    s.trial.work_wide = (uint64_t *)memory;
    s.trial.work_keys = memory + 2 * count;
    s.trial.work_places = memory + 3 * count;
    s.trial.keys = s.keys = memory + 4 * count;
    s.trial.sorted = s.sorted = memory + 5 * count;
    s.places_of = memory + 6 * count;
    gpume_sort_params_default(&s.trial.params);
    GPUME_TRY(measure_sizes(&s, "keys", false));
    GPUME_TRY(measure_sizes(&s, "pairs", true));
    status = measure_segments(&s);
fail:
    free(memory);
    return status;
}
