/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `gpume bench --sort` and `--reduce`: times one core and a device on the same numbers, compares
 * their results, and prints the table once all agree. Main thread only.
 *
 * The expected order of a sort comes from the CPU's radix sort of keys with their positions, and is
 * proven before use: if keys ascend, positions ascend among equal keys, and each key is the one at
 * its position, the result can only be the stable order of all keys. The bytes that a reduction
 * reads are related to those that copying an array moves in the same time.
 */
#include "bench/bench.h"

#include "base/base.h"
#include "base/os.h"
#include "bench/timing.h"
#include "console.h"

#include "gpume/compute.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- a trial of sorts */

/* Comparison functions for qsort. */
#define COMPARE(name, number, first, second)                                                       \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const number x = *(const number *)(first), y = *(const number *)(second);                  \
        return (x > y) - (x < y);                                                                  \
    }
COMPARE(rising_u32, uint32_t, a, b)
COMPARE(rising_i32, int32_t, a, b)
COMPARE(falling_u32, uint32_t, b, a)
COMPARE(falling_i32, int32_t, b, a)
COMPARE(rising_u64, uint64_t, a, b)

void gpume_sort_with_qsort(const struct gpume_sort_params *params, uint32_t *keys, uint64_t count)
{
    const struct gpume_segment whole = {0, (uint32_t)count};
    const struct gpume_segment *segments = params->segments ? params->segments : &whole;
    const uint32_t segment_count = params->segments ? params->segment_count : 1;
    int (*compare)(const void *, const void *) =
        params->type == GPUME_KEY_I32 ? (params->descending ? falling_i32 : rising_i32)
                                      : (params->descending ? falling_u32 : rising_u32);
    for (uint32_t i = 0; i < segment_count; i++) {
        if (segments[i].count > 0) {
            qsort(keys + segments[i].first, segments[i].count, sizeof *keys, compare);
        }
    }
}

static void sort_pairs_with_qsort(struct gpume_sort_trial *trial)
{
    for (uint64_t i = 0; i < trial->count; i++) {
        trial->work_wide[i] = (uint64_t)trial->work_keys[i] << 32 | trial->work_places[i];
    }
    qsort(trial->work_wide, trial->count, sizeof(*trial->work_wide), rising_u64);
    for (uint64_t i = 0; i < trial->count; i++) {
        trial->work_keys[i] = (uint32_t)(trial->work_wide[i] >> 32);
        trial->work_places[i] = (uint32_t)trial->work_wide[i];
    }
}

uint64_t gpume_sort_matches(const uint32_t *a, const uint32_t *b, uint64_t count)
{
    uint64_t matches = 0;
    for (uint64_t i = 0; i < count; i++) {
        matches += a[i] == b[i];
    }
    return matches;
}

static void refill(struct gpume_sort_trial *trial)
{
    memcpy(trial->work_keys, trial->keys, trial->count * sizeof(*trial->keys));
    for (uint64_t i = 0; trial->order && i < trial->count; i++) {
        trial->work_places[i] = (uint32_t)i;
    }
}

static int check_sorted(const struct gpume_sort_trial *trial, int status)
{
    if (status != GPUME_OK) {
        return gpume_refuse(
            status, "%s: %s: %s", trial->work, trial->method, gpume_status_text(status));
    }
    const size_t bytes = trial->count * sizeof(*trial->keys);
    return memcmp(trial->work_keys, trial->sorted, bytes) == 0 &&
                   (!trial->order || memcmp(trial->work_places, trial->order, bytes) == 0)
               ? GPUME_OK
               : gpume_refuse(GPUME_FORMAT, "%s: %s sorts %" PRIu64 " integers wrongly",
                     trial->work, trial->method, trial->count);
}

static int sort_on_host(void *opaque, double *us)
{
    struct gpume_sort_trial *trial = opaque;
    int status = GPUME_OK;
    refill(trial);
    const uint64_t start = gpume_clock_ns();
    if (trial->compute) {
        status = gpume_sort(trial->compute, &trial->params, trial->work_keys,
            trial->order ? trial->work_places : NULL, trial->count);
    } else if (trial->order) {
        sort_pairs_with_qsort(trial);
    } else {
        gpume_sort_with_qsort(&trial->params, trial->work_keys, trial->count);
    }
    *us = (double)(gpume_clock_ns() - start) / 1e3;
    return check_sorted(trial, status);
}

int gpume_sort_trial_on_host(struct gpume_sort_trial *trial, double *us)
{
    return gpume_bench_repeat(trial->budget_ns, sort_on_host, trial, us);
}

static int sort_on_device(void *opaque, double *us)
{
    struct gpume_sort_trial *trial = opaque;
    gpume_array *const *arrays = trial->arrays;
    const uint64_t bytes = trial->count * sizeof(*trial->keys);
    struct gpume_compute_times times;
    GPUME_CHECK(gpume_array_copy(arrays[2], 0, arrays[0], 0, bytes));
    GPUME_CHECK(trial->order ? gpume_array_copy(arrays[3], 0, arrays[1], 0, bytes) : GPUME_OK);
    GPUME_CHECK(gpume_array_sort(&trial->params, arrays[2], arrays[3], trial->count));
    gpume_compute_get_times(trial->compute, &times);
    *us = (double)times.run_ns / 1e3;
    return GPUME_OK;
}

int gpume_sort_trial_on_device(struct gpume_sort_trial *trial, double *us)
{
    uint32_t *const words[] = {trial->work_keys, trial->work_places};
    const uint64_t bytes = trial->count * sizeof(*trial->keys);
    const int kinds = trial->order ? 2 : 1;
    int status;
    refill(trial);
    for (int i = 0; i < kinds; i++) {
        GPUME_TRY(gpume_array_create(trial->compute, &trial->arrays[i], bytes));
        GPUME_TRY(gpume_array_create(trial->compute, &trial->arrays[2 + i], bytes));
        GPUME_TRY(gpume_array_write(trial->arrays[i], 0, words[i], bytes));
    }
    GPUME_TRY(gpume_bench_warm_up(trial->budget_ns, sort_on_device, trial));
    GPUME_TRY(gpume_bench_repeat(trial->budget_ns, sort_on_device, trial, us));
    for (int i = 0; i < kinds; i++) {
        GPUME_TRY(gpume_array_read(trial->arrays[2 + i], 0, words[i], bytes));
    }
fail:
    for (int i = 0; i < 4; i++) {
        gpume_array_destroy(&trial->arrays[i]);
    }
    return check_sorted(trial, status);
}

#define SLOW 8.0 /* a run may take this many times the budget of a row */

/* One way to do the work. */
struct array_method {
    gpume_compute *compute;
    struct gpume_compute_info info;
    const char *name;
    enum gpume_sort_method sort;
    bool qsort;
    bool slow; /* not measured at larger sizes: they would take too long */
};

struct array_places {
    struct gpume_bench bench;
    gpume_compute *cpu, *gpu; /* gpu NULL: none */
};

/* A hash: pseudorandom numbers from consecutive ones. */
static inline uint32_t noise_of(uint32_t i)
{
    uint32_t bits = i * 0x9E3779B1u + 0x7F4A7C15u;
    bits = (bits ^ (bits >> 15)) * 0x2C1B3C6Du;
    bits = (bits ^ (bits >> 12)) * 0x297A2D39u;
    return bits ^ (bits >> 15);
}

/* A new row; NULL if the table is full. */
static struct gpume_bench_row *add_array_row(struct array_places *places,
    const struct array_method *method, const char *work, uint64_t items, uint32_t bits)
{
    const bool cpu = method->compute == places->cpu;
    struct gpume_bench_row *row = gpume_bench_add_row(
        &places->bench, method->name, cpu, method->info.device, method->info.driver);
    if (row) {
        row->content = work;
        row->threads = cpu ? 1 : 0;
        row->items = items;
        row->item_bits = bits;
    }
    return row;
}

static void show_array(struct array_places *places, const char *work,
    const struct array_method *method, uint64_t items)
{
    gpume_bench_show(&places->bench, "%s: %s, %" PRIu64 ", %.50s", work, method->name, items,
        method->info.device);
}

/* Whether a work `times` as large would take too long. */
static bool is_too_slow(const struct array_places *places, double us, double times)
{
    return us * 1e3 * times > SLOW * (double)places->bench.budget_ns;
}

/* --- reductions */

#define BYTES_FIRST (UINT64_C(1) << 20)
#define BYTES_MAX (UINT64_C(1) << 30)
#define REDUCE_STEP 32u
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
    struct array_places *places;
    struct array_method *method;
    const struct reduction_work *work;
    gpume_array *data, *copy;
    uint64_t bytes, results[BINS];
};

struct reduction_answer {
    uint64_t results[BINS];
    double us;
};

static int run_reduction(struct reducing *r)
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
    const int status = run_reduction(r);
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
static int measure_reduction(struct reducing *r, double copy_us, struct reduction_answer *answer)
{
    struct array_places *places = r->places;
    const bool first = r->method->compute == places->cpu;
    const uint64_t count = r->bytes >> r->work->element;
    double us;
    memset(r->results, 0, sizeof(r->results));
    show_array(places, r->work->name, r->method, count);
    int status = gpume_bench_warm_up(places->bench.budget_ns, reduce_once, r);
    status = status ? status : gpume_bench_repeat(places->bench.budget_ns, reduce_once, r, &us);
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
        add_array_row(places, r->method, r->work->name, count, 8u << r->work->element);
    if (row) {
        row->us = us;
        row->per_second = (double)count / us * 1e6;
        row->share = copy_us / (2 * us); /* copying reads and writes */
        row->over_core = answer->us / us;
    }
    r->method->slow = r->method->slow || is_too_slow(places, us, REDUCE_STEP);
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
    GPUME_TRY(gpume_bench_warm_up(r->places->bench.budget_ns, copy_once, r));
    GPUME_TRY(gpume_bench_repeat(r->places->bench.budget_ns, copy_once, r, &copy_us));
    for (size_t i = 0; i < WORKS; i++) {
        r->work = &works[i];
        GPUME_TRY(measure_reduction(r, copy_us, &answers[i]));
    }
fail:
    gpume_array_destroy(&r->copy);
    gpume_array_destroy(&r->data);
    return status;
}

static int measure_bytes(struct reducing *r, struct array_method methods[2])
{
    static struct reduction_answer answers[WORKS];
    uint32_t *noise = malloc((size_t)r->bytes);
    int status = GPUME_OK;
    if (!noise) {
        return gpume_refuse(GPUME_NOMEM, "bench: out of memory; --run_reduction needs 3 GiB");
    }
    for (uint64_t i = 0; i < r->bytes / sizeof(*noise); i++) {
        noise[i] = noise_of((uint32_t)i);
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

static int measure_reductions(struct array_places *places)
{
    struct array_method methods[2] = {
        {.compute = places->cpu, .name = "loop"}, {.compute = places->gpu, .name = "kernel"}};
    struct reducing r = {.places = places};
    int status = GPUME_OK;
    for (int i = 0; i < 2; i++) {
        methods[i].slow = !methods[i].compute;
        if (methods[i].compute) {
            gpume_compute_get_info(methods[i].compute, &methods[i].info);
        }
    }
    for (r.bytes = BYTES_FIRST; r.bytes <= BYTES_MAX && status == GPUME_OK;
         r.bytes *= REDUCE_STEP) {
        if (!methods[0].slow || !methods[1].slow) {
            status = measure_bytes(&r, methods);
        }
    }
    return status;
}

/* --- sorts */

#define COUNT_FIRST (1u << 16)
#define COUNT_MAX (1u << 26)
#define SORT_STEP 4u
#define SEGMENTED (1u << 22)
#define SEGMENTS 4096u
#define METHODS_MAX 5u

struct sorting {
    struct array_places *places;
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

static int sort_as_expected(struct sorting *s)
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

static int measure_method(struct sorting *s, struct array_method *method)
{
    const bool device = method->compute == s->places->gpu;
    struct gpume_sort_trial *trial = &s->trial;
    double us = 0, host_us = 0;
    trial->method = method->name;
    trial->compute = method->qsort ? NULL : method->compute;
    trial->params.method = method->sort;
    show_array(s->places, trial->work, method, trial->count);
    int status = device ? gpume_sort_trial_on_device(trial, &us) : GPUME_OK;
    status = status ? status : gpume_sort_trial_on_host(trial, &host_us);
    us = device ? us : host_us;
    struct gpume_bench_row *row =
        status ? NULL : add_array_row(s->places, method, trial->work, trial->count, 32);
    if (row) {
        row->us = us;
        row->wall_us = device ? host_us : 0;
        row->per_second = (double)trial->count / us * 1e6;
    }
    method->slow = is_too_slow(s->places, host_us, SORT_STEP);
    return status;
}

static int measure_count(struct sorting *s, struct array_method *methods, uint32_t count)
{
    struct gpume_bench *bench = &s->places->bench;
    const uint32_t first = bench->count;
    for (; s->made < count; s->made++) {
        s->keys[s->made] = noise_of((uint32_t)s->made);
    }
    s->trial.count = count;
    int status = sort_as_expected(s);
    for (uint32_t i = 0; i < METHODS_MAX && status == GPUME_OK; i++) {
        if (methods[i].compute && !methods[i].slow) {
            status = measure_method(s, &methods[i]);
        }
    }
    const bool known = first < bench->count && strcmp(bench->rows[first].search, "qsort") == 0;
    for (uint32_t i = first; i < bench->count && known; i++) {
        bench->rows[i].over_core = bench->rows[first].us / bench->rows[i].us;
    }
    return status;
}

/* qsort comes first: the others are compared with it. */
static void list_methods(
    const struct array_places *places, struct array_method methods[METHODS_MAX])
{
    const struct array_method all[METHODS_MAX] = {
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
    struct array_method methods[METHODS_MAX];
    int status = GPUME_OK;
    list_methods(s->places, methods);
    s->trial.work = work;
    s->trial.order = pairs ? s->places_of : NULL;
    for (uint32_t count = COUNT_FIRST; count <= COUNT_MAX && status == GPUME_OK;
         count *= SORT_STEP) {
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
    struct array_method methods[METHODS_MAX];
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

static int measure_sorts(struct array_places *places)
{
    const size_t count = COUNT_MAX;
    uint32_t *memory = malloc(7 * count * sizeof(*memory)); /* touched only as far as it is used */
    struct sorting s = {.places = places, .trial = {.budget_ns = places->bench.budget_ns}};
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

/* --- the whole run */

static int open_places(struct array_places *places)
{
    const struct gpume_params *asked = &places->bench.options->params;
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.log = gpume_library_log;
    params.backend = GPUME_BACKEND_CPU;
    int status = gpume_compute_open(&places->cpu, &params);
    if (status != GPUME_OK || asked->backend == GPUME_BACKEND_CPU) {
        return status;
    }
    params.backend = asked->backend;
    params.device = asked->device;
    params.cache_dir = gpume_host_cache_folder();
    status = gpume_compute_open(&places->gpu, &params);
    if (status == GPUME_OK) {
        struct gpume_compute_info info;
        gpume_compute_get_info(places->gpu, &info);
        if (strcmp(info.backend, "cpu") == 0) { /* auto found no hardware */
            status = gpume_compute_close(&places->gpu);
        }
    }
    return status;
}

static enum gpume_exit measure_arrays(void *client)
{
    struct array_places *places = client;
    const struct gpume_bench_options *options = places->bench.options;
    gpume_progress_init(&places->bench.job.progress, &options->common, 0);
    int status = open_places(places);
    status = status || !options->sort ? status : measure_sorts(places);
    status = status || !options->reduce ? status : measure_reductions(places);
    gpume_console_status(NULL, true);
    gpume_compute_close(&places->gpu);
    gpume_compute_close(&places->cpu);
    return gpume_exit_of_engine(status);
}

enum gpume_exit gpume_bench_arrays(const struct gpume_bench_options *options)
{
    static const struct gpume_job_work work = {.run = measure_arrays};
    static struct array_places places = {.bench.arrays = true}; /* large */
    return gpume_bench_run(&places.bench, options, &work);
}
