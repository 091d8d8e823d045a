/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times every engine on the same frame pairs. For each content: make the frames; let the fastest
 * CPU search produce the expected results; have the plain search confirm them on as many rows as it
 * can search in the time given; then measure each engine and compare its results. The table is
 * printed at the end, so that no time is shown for a wrong result. Main thread only.
 */
#include "bench/bench.h"

#include "base/base.h"
#include "base/os.h"
#include "base/workers.h"
#include "bench/ceiling_shape.h"
#include "bench/timing.h"
#include "console.h"
#include "host.h"
#include "options/common.h"

#include "gpume/compute.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * --- The ceilings of the searches on the CPU, of which those for x86-64 have a loop, and on a
 * Vulkan device, by ceiling.comp for each type that holds samples.
 */

#define LONG_NS 20000000u /* starting a loop takes less than a hundredth of this */
#define CPU_ATTEMPTS 5    /* the fastest one counts: disturbances only slow a loop down */

#define ITERATIONS 256u /* enough to hide the start and the end of an invocation */

/* A run lasts LONG_NS, too. A GPU executes thousands of workgroups at a time: the last ones, which
 * leave part of it idle, must be few among all. */
#define GPU_ATTEMPTS                                                                               \
    4u /* the fastest one counts: clocks rise, disturbances only slow a run down                   \
        */

#define GROUPS_FIRST 2u       /* the number of workgroups is a power of 2 */
#define GROUPS_MAX (1u << 24) /* ends the search where a device's clock stands still */
#define GROUPS_X 32768u       /* every driver allows 65,535 per dimension */
#define GROWTH 8u             /* of the workgroups while a run is far too short */

_Static_assert(ITERATIONS <= 256, "see ceiling.comp");

/* --- the CPU */

typedef uint64_t (*loop_fn)(uint64_t rounds);

struct ceiling_run {
    loop_fn loop;
    uint64_t rounds;
    uint64_t *ns; /* processor time per thread: other programs may be using the machine */
};

#if defined(__x86_64__)
#include <immintrin.h>

#define SUMS 8 /* independent chains: more than the latencies of the instructions in cycles */

/* places: the register with the candidates' samples, of which the compiler must assume in every
 * step that they changed. differences: of one step. */
#define LOOP(isa, name, vector, prefix, zero, sad, differences)                                    \
    __attribute__((target(isa))) uint64_t gpume_bench_loop_##name(uint64_t rounds)                 \
    {                                                                                              \
        vector sums[SUMS], target = prefix##_set1_epi8(3), places = prefix##_set1_epi8(5);         \
        for (int i = 0; i < SUMS; i++) {                                                           \
            sums[i] = zero;                                                                        \
        }                                                                                          \
        for (uint64_t round = 0; round < rounds; round++) {                                        \
            for (int i = 0; i < SUMS; i++) {                                                       \
                __asm__ volatile("" : "+v"(places));                                               \
                sums[i] = prefix##_add_epi16(sums[i], sad);                                        \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < SUMS; i++) {                                                           \
            __asm__ volatile("" : : "v"(sums[i])); /* keeps the sums alive */                      \
        }                                                                                          \
        return rounds * SUMS * (differences);                                                      \
    }

/* Two lanes of eight places, or 32 places, with four samples each. */
LOOP("avx2", avx2, __m256i, _mm256, _mm256_setzero_si256(), _mm256_mpsadbw_epu8(places, target, 0),
    2 * 8 * 4)
LOOP("avx512bw", avx512, __m512i, _mm512, _mm512_setzero_si512(),
    _mm512_dbsad_epu8(target, places, 0x94), 32 * 4)

static loop_fn loop_of(const char *search)
{
    if (strcmp(search, "avx2") == 0 && __builtin_cpu_supports("avx2")) {
        return gpume_bench_loop_avx2;
    }
    return strcmp(search, "avx512") == 0 && __builtin_cpu_supports("avx512bw")
               ? gpume_bench_loop_avx512
               : NULL;
}
#else
static loop_fn loop_of(const char *search)
{
    (void)search;
    return NULL;
}
#endif

static void run_loop(void *opaque, uint32_t item)
{
    const struct ceiling_run *run = opaque;
    const uint64_t start = gpume_clock_thread_ns();
    (void)run->loop(run->rounds);
    run->ns[item] = gpume_clock_thread_ns() - start + 1; /* never 0 */
}

static double loops_per_second(struct gpume_workers *workers, struct ceiling_run *run)
{
    const uint32_t count = gpume_workers_count(workers);
    gpume_workers_run(workers, run_loop, run, count);
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += 1e9 / (double)run->ns[i];
    }
    return sum;
}

/* Of all threads together. */
static double measure_cpu(loop_fn loop, uint32_t threads)
{
    struct gpume_workers *workers = NULL;
    if (!loop || gpume_workers_create(&workers, threads) != GPUME_OK) {
        return 0;
    }
    struct ceiling_run run = {loop, 1, calloc(gpume_workers_count(workers), sizeof(*run.ns))};
    double best = 0;
    for (int attempt = 0; run.ns && attempt < CPU_ATTEMPTS;) {
        const double rate = loops_per_second(workers, &run);
        if (run.ns[0] < LONG_NS) {
            run.rounds *= 2;
        } else {
            best = rate > best ? rate : best;
            attempt++;
        }
    }
    free(run.ns);
    gpume_workers_destroy(&workers);
    return best * (double)run.rounds * (double)loop(1);
}

/* --- a device */

#include "ceiling_float.inc"
#include "ceiling_half.inc"
#include "ceiling_int.inc"

static const struct ceiling_kind {
    const char *search;
    const uint32_t *spirv;
    size_t spirv_bytes;
    uint32_t word_samples;
} kinds[] = {
    {"quads", ceiling_int, sizeof(ceiling_int), 1},
    {"int", ceiling_int, sizeof(ceiling_int), 1},
    {"float", ceiling_float, sizeof(ceiling_float), 1},
    {"half", ceiling_half, sizeof(ceiling_half), 2},
};

/* The push constants of ceiling.comp. */
struct ceiling_push {
    uint32_t iterations, seed, impossible;
};

struct gpu_loop {
    gpume_compute *compute;
    gpume_array *results; /* never written */
    gpume_program *program;
    uint32_t groups;
};

static int open_loop(struct gpu_loop *loop, const char *device, const struct ceiling_kind *kind)
{
    const struct gpume_program_params program = {.size = sizeof(program),
        .spirv = kind->spirv,
        .spirv_bytes = kind->spirv_bytes,
        .array_count = 1,
        .push_bytes = sizeof(struct ceiling_push)};
    struct gpume_compute_params params;
    gpume_compute_params_default(&params);
    params.backend = GPUME_BACKEND_VULKAN;
    params.device = device;
    GPUME_CHECK(gpume_compute_open(&loop->compute, &params));
    GPUME_CHECK(
        gpume_array_create(loop->compute, &loop->results, GPUME_CEILING_LOCAL * sizeof(uint32_t)));
    return gpume_program_create(loop->compute, &loop->program, &program);
}

static int run_gpu(struct gpu_loop *loop, uint64_t *ns)
{
    const struct ceiling_push push = {.iterations = ITERATIONS, .seed = loop->groups};
    const uint32_t groups_x = loop->groups < GROUPS_X ? loop->groups : GROUPS_X;
    const uint32_t groups[3] = {groups_x, loop->groups / groups_x, 1};
    struct gpume_compute_times times;
    const int status = gpume_program_run(loop->program, &loop->results, &push, groups);
    gpume_compute_get_times(loop->compute, &times);
    *ns = times.run_ns + 1; /* never 0 */
    return status;
}

/* The fastest of the runs that are long enough, in nanoseconds. */
static int measure_runs(struct gpu_loop *loop, uint64_t *best_ns)
{
    uint64_t ns, best = UINT64_MAX, spent = 0;
    loop->groups = GROUPS_FIRST;
    GPUME_CHECK(run_gpu(loop, &ns)); /* drivers defer work to the first run_gpu */
    while (spent < GPU_ATTEMPTS * LONG_NS) {
        GPUME_CHECK(run_gpu(loop, &ns));
        if (best == UINT64_MAX && ns < LONG_NS && loop->groups < GROUPS_MAX) {
            loop->groups *= ns < LONG_NS / GROWTH ? GROWTH : 2;
        } else {
            best = ns < best ? ns : best;
            spent += ns > LONG_NS / GPU_ATTEMPTS ? ns : LONG_NS / GPU_ATTEMPTS;
        }
    }
    *best_ns = best;
    return GPUME_OK;
}

static double measure_kind(const char *device, const struct ceiling_kind *kind)
{
    struct gpu_loop loop = {0};
    uint64_t ns = 0;
    double per_second = 0;
    int status;
    GPUME_TRY(open_loop(&loop, device, kind));
    GPUME_TRY(measure_runs(&loop, &ns));
    per_second = (double)kind->word_samples * loop.groups * GPUME_CEILING_LOCAL * ITERATIONS *
                 GPUME_CEILING_FIXED * GPUME_CEILING_MOVING * 1e9 / (double)ns;
fail:
    gpume_program_destroy(&loop.program);
    gpume_array_destroy(&loop.results);
    (void)gpume_compute_close(&loop.compute);
    return per_second;
}

static double measure_device(const char *search, const char *device)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(kinds[i].search, search) == 0) {
            return measure_kind(device, &kinds[i]);
        }
    }
    return 0;
}

double gpume_bench_ceiling(
    const struct gpume_search_info *search, const char *device, uint32_t threads)
{
    if (!search->available) {
        return 0;
    }
    return search->backend == GPUME_BACKEND_CPU ? measure_cpu(loop_of(search->name), threads)
                                                : measure_device(search->name, device);
}

#define HEIGHTS_MAX 16u /* picture heights whose results are kept */
#define PARTS 4u        /* frame pairs that should at least fit into a row's time */
#define DEVICES_MAX 16u
#define SEARCHES_MAX 32u
#define LIST_BYTES 4096u

/* --- what to measure */

#define SETUPS_MAX 64u

struct bench_one {
    const char *engine;         /* "cpu", "vulkan", "ffmpeg", "several" */
    struct gpume_params params; /* of the work, with engine, search, threads and elimination */
    struct gpume_bench_setup setup;
    double ceiling; /* differences per second; 0: unknown */
};

struct bench_setups {
    struct bench_one ones[SETUPS_MAX];
    uint32_t count;
    /* The CPU engine's fastest search without elimination, on all threads: it supplies the expected
     * results. */
    struct gpume_params reference;
};

struct finder {
    struct bench_setups *setups;
    const struct gpume_bench_options *options;
    const struct gpume_params *work;
    struct gpume_bench *bench;
    struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t search_count;
};

/* Adds a note to be printed above the table; drops it if there are too many. */
__attribute__((format(printf, 2, 3))) static void add_note(
    struct gpume_bench *bench, const char *format, ...)
{
    if (bench->note_count < GPUME_BENCH_NOTES_MAX) {
        char *note = bench->notes[bench->note_count++];
        va_list args;
        va_start(args, format);
        vsnprintf(note, sizeof(bench->notes[0]), format, args);
        va_end(args);
    }
}

static int list_searches(struct finder *finder, const char *device)
{
    const int status =
        gpume_list_searches(device, finder->searches, SEARCHES_MAX, &finder->search_count);
    if (finder->search_count > SEARCHES_MAX) {
        finder->search_count = SEARCHES_MAX;
    }
    return status;
}

/* Whether the same search is measured under another name. */
static bool has_setup(const struct bench_setups *setups, const struct gpume_params *params,
    const struct gpume_bench_setup *setup)
{
    for (uint32_t i = 0; i < setups->count; i++) {
        const struct bench_one *one = &setups->ones[i];
        const char *device = one->params.device ? one->params.device : "";
        if (strcmp(one->setup.search, setup->search) == 0 &&
            strcmp(device, params->device ? params->device : "") == 0 &&
            one->params.backend == params->backend && one->params.threads == params->threads &&
            one->params.no_elimination == params->no_elimination) {
            return true;
        }
    }
    return false;
}

/* Skips elimination where the engine does not use it, and a search that does not support these
 * blocks, window or bits unless --search names it. */
static int add_setup(struct finder *finder, const struct gpume_params *params, double ceiling)
{
    struct bench_setups *setups = finder->setups;
    struct gpume_bench_setup setup = {0};
    struct gpume_params quiet = *params;
    quiet.log = NULL;
    int status = gpume_bench_look(&quiet, &setup);
    if (status == GPUME_UNSUPPORTED && params->search && !finder->options->params.search) {
        if (params->no_elimination) { /* note it once */
            add_note(finder->bench,
                "%s is not measured: it does not support %u bits with block %u and window %ux%u",
                params->search, (unsigned)params->bits, (unsigned)params->block,
                (unsigned)params->window_x, (unsigned)params->window_y);
        }
        return GPUME_OK;
    }
    if (status != GPUME_OK) {
        status = gpume_bench_look(params, &setup); /* again, to log the reason */
    }
    if (status != GPUME_OK || (!params->no_elimination && !setup.eliminates) ||
        has_setup(setups, params, &setup)) {
        return status;
    }
    if (setups->count == SETUPS_MAX) {
        add_note(finder->bench, "only the first %u setups are measured", (unsigned)SETUPS_MAX);
        return GPUME_OK;
    }
    setups->ones[setups->count++] = (struct bench_one){
        .engine = params->devices                        ? "several"
                  : params->backend == GPUME_BACKEND_CPU ? "cpu"
                                                         : "vulkan",
        .params = *params,
        .setup = setup,
        .ceiling = ceiling,
    };
    return GPUME_OK;
}

static void add_ffmpeg(struct finder *finder)
{
    struct gpume_params params = finder->setups->reference;
    const char *obstacle = gpume_bench_ffmpeg_params(&params);
    if (obstacle) {
        add_note(finder->bench, "FFmpeg's mestimate is not measured: %s", obstacle);
        return;
    }
    finder->setups->ones[finder->setups->count++] = (struct bench_one){
        .engine = "ffmpeg",
        .params = params,
        .setup = {.device = "FFmpeg"},
    };
}

/* The highest ceiling of the searches that run on a device. */
static double find_ceiling(const struct finder *finder, const struct gpume_params *on)
{
    double best = 0;
    for (uint32_t i = 0; i < finder->search_count && on->bits == 8; i++) {
        if (finder->searches[i].backend == on->backend) {
            const double value = gpume_bench_ceiling(&finder->searches[i], on->device, on->threads);
            best = value > best ? value : best;
        }
    }
    return best;
}

/* Adds the searches that run on a device or a number of threads, without elimination first. */
static int add_searches(struct finder *finder, const struct gpume_params *on, double ceiling)
{
    const struct gpume_params *asked = &finder->options->params;
    const bool core = on->backend == GPUME_BACKEND_CPU && on->threads == 1;
    for (uint32_t i = 0; i < finder->search_count; i++) {
        const struct gpume_search_info *search = &finder->searches[i];
        const bool wanted =
            (asked->backend == GPUME_BACKEND_AUTO || asked->backend == search->backend) &&
            (!asked->search || strcmp(asked->search, search->name) == 0);
        for (int full = 1; full >= 0; full--) {
            /* The fastest search on one core is the base of all comparisons. */
            const bool base = core && search->automatic && full;
            if (search->backend != on->backend || !search->available || !(base || wanted)) {
                continue;
            }
            struct gpume_params params = *on;
            params.search = search->name;
            params.no_elimination = full;
            GPUME_CHECK(add_setup(finder, &params, ceiling));
        }
    }
    return GPUME_OK;
}

static int add_cpu(struct finder *finder, uint32_t threads)
{
    struct gpume_params on = *finder->work;
    on.backend = GPUME_BACKEND_CPU;
    on.threads = 1;
    /* On a busy machine several threads may be slower than one on a free core. */
    const double one = find_ceiling(finder, &on);
    on.threads = threads;
    const double all = threads > 1 ? find_ceiling(finder, &on) : 0;
    return add_searches(finder, &on, all > one ? all : one);
}

static int add_device(struct finder *finder, const char *device)
{
    struct gpume_params on = *finder->work;
    on.backend = GPUME_BACKEND_VULKAN;
    on.device = device;
    const int status = list_searches(finder, device);
    return status ? status : add_searches(finder, &on, find_ceiling(finder, &on));
}

static int add_devices(struct finder *finder)
{
    static struct gpume_device devices[DEVICES_MAX];
    static char indexes[DEVICES_MAX][16]; /* live as long as the setups, which point to them */
    uint32_t count = 0;
    int status = gpume_list_devices(devices, DEVICES_MAX, &count);
    for (uint32_t i = 0; status == GPUME_OK && i < count && i < DEVICES_MAX; i++) {
        const bool hardware = devices[i].type != GPUME_DEVICE_SOFTWARE;
        if (devices[i].unusable[0]) {
            add_note(finder->bench, "%.100s is not measured: it %s", devices[i].name,
                devices[i].unusable);
        } else if (hardware || finder->options->params.backend == GPUME_BACKEND_VULKAN) {
            snprintf(indexes[i], sizeof(indexes[i]), "%u", (unsigned)devices[i].index);
            status = add_device(finder, indexes[i]);
        } else {
            add_note(finder->bench,
                "%.100s is a software driver and not measured; use --backend vulkan",
                devices[i].name);
        }
    }
    return status;
}

static struct gpume_params all_of(const struct finder *finder, const char *list)
{
    struct gpume_params together = *finder->work;
    together.backend = finder->options->params.backend;
    together.search = finder->options->params.search;
    together.devices = list;
    return together;
}

/* Refuses a device that this machine does not have, and what is no list of devices. */
static int check_devices(struct finder *finder)
{
    const struct gpume_params *asked = &finder->options->params;
    if (asked->devices) {
        struct gpume_bench_setup setup = {0};
        const struct gpume_params together = all_of(finder, asked->devices);
        return gpume_bench_look(&together, &setup);
    }
    return asked->device ? list_searches(finder, asked->device) : GPUME_OK;
}

/* Each device of the list alone, then all of them together, as in a run: it chooses the searches.
 */
static int add_list(struct finder *finder, const char *list)
{
    static char names[LIST_BYTES]; /* live as long as the setups, which point to them */
    char *rest = names;
    int status;
    struct gpume_bench_setup setup = {0};
    struct gpume_params together = all_of(finder, list);
    GPUME_TRY(gpume_bench_look(&together, &setup));
    snprintf(names, sizeof(names), "%s", list);
    for (char *name = gpume_next_device(&rest); name; name = gpume_next_device(&rest)) {
        const bool is_cpu = strcmp(name, "cpu") == 0; /* which is measured in any case */
        GPUME_TRY(strcmp(name, "all") == 0 ? add_devices(finder)
                  : is_cpu                 ? GPUME_OK
                                           : add_device(finder, name));
    }
    for (int full = 1; full >= 0 && setup.engines > 1; full--) {
        together.no_elimination = full;
        GPUME_TRY(add_setup(finder, &together, 0));
    }
    if (setup.engines < 2) {
        add_note(finder->bench, "--device %.60s: is only one engine on this machine: %.100s", list,
            setup.device);
    }
fail:
    return status;
}

/* Lists what to measure on this machine: FFmpeg's mestimate; every search of the CPU engine on one
 * thread and on all, and every variant on every Vulkan device, each with and without elimination,
 * as far as --backend, --device and --search select them; and the devices of a list together. work:
 * size, depth and search parameters. Adds notes about setups that are not measured. */
static enum gpume_exit find_setups(struct bench_setups *setups,
    const struct gpume_bench_options *options, const struct gpume_params *work,
    struct gpume_bench *bench)
{
    static struct finder finder; /* static: the setups point to its names */
    finder = (struct finder){.setups = setups, .options = options, .work = work, .bench = bench};
    const struct gpume_params *asked = &options->params;
    const uint32_t threads = asked->threads ? asked->threads : gpume_host_processors();
    setups->reference = *work;
    setups->reference.backend = GPUME_BACKEND_CPU;
    setups->reference.threads = threads;
    setups->reference.no_elimination = true;
    add_ffmpeg(&finder);
    int status = check_devices(&finder); /* before anything is measured */
    status = status ? status : list_searches(&finder, NULL);
    status = status ? status : add_cpu(&finder, 1);
    if (status == GPUME_OK && threads > 1) {
        status = add_cpu(&finder, threads);
    }
    if (status == GPUME_OK && asked->backend != GPUME_BACKEND_CPU) {
        status = asked->devices  ? add_list(&finder, asked->devices)
                 : asked->device ? add_device(&finder, asked->device)
                                 : add_devices(&finder);
    }
    if (asked->device && status == GPUME_DEVICE) {
        gpume_console_error(
            "--device %s: no such device; 'gpume devices' lists them", asked->device);
    }
    if (status != GPUME_OK) {
        return gpume_exit_of_engine(status);
    }
    const struct bench_one *last =
        &setups->ones[setups->count - 1]; /* one CPU core is always measured */
    if (asked->backend == GPUME_BACKEND_VULKAN && last->params.backend != GPUME_BACKEND_VULKAN) {
        return gpume_refuse(GPUME_EXIT_DEVICE,
            "--backend vulkan: no device supports this search; 'gpume devices' lists the devices");
    }
    return GPUME_EXIT_DONE;
}

/* --- measuring */

/* Expected results for the upper rows of the current clip. */
struct known_answers {
    struct gpume_params params;
    struct gpume_bench_answers answers;
};

struct search_job {
    struct gpume_bench bench;
    struct gpume_bench_clip clip;
    struct bench_setups setups;
    struct known_answers known[HEIGHTS_MAX];
    uint32_t known_count;
};

/* Results of the reference search for this size and edge mode; searched once and kept. */
static int find_answers(struct search_job *job, const struct gpume_params *params,
    const struct gpume_bench_answers **answers)
{
    for (uint32_t i = 0; i < job->known_count; i++) {
        const struct gpume_params *p = &job->known[i].params;
        if (p->width == params->width && p->height == params->height && p->edge == params->edge) {
            *answers = &job->known[i].answers;
            return GPUME_OK;
        }
    }
    if (job->known_count == HEIGHTS_MAX) {
        gpume_bench_answers_finish(&job->known[--job->known_count].answers);
    }
    struct known_answers *known = &job->known[job->known_count];
    known->params = job->setups.reference;
    known->params.width = params->width;
    known->params.height = params->height;
    known->params.edge = params->edge;
    int status;
    GPUME_TRY(gpume_bench_solve(&job->clip, &known->params, &known->answers));
    job->known_count++;
    *answers = &known->answers;
    return GPUME_OK;
fail:
    gpume_bench_answers_finish(&known->answers);
    return status;
}

/* The fewest rows that were compared; 0: none yet. */
static void lower_rows(uint32_t *rows, uint32_t compared)
{
    *rows = *rows == 0 || compared < *rows ? compared : *rows;
}

/* Confirms the expected results with the plain search, on the rows that it has time for. */
static int check_plain(struct search_job *job, const char *content)
{
    struct gpume_params params = job->setups.reference;
    params.search = "plain";
    gpume_bench_show(&job->bench, "%s: checking with plain, cpu", content);
    const struct gpume_bench_answers *answers = NULL;
    GPUME_CHECK(gpume_bench_fit(&job->clip, &params, gpume_bench_block_rows(&params),
        job->bench.budget_ns / gpume_bench_cycle(&job->clip)));
    GPUME_CHECK(find_answers(job, &params, &answers));
    GPUME_CHECK(gpume_bench_compare(&job->clip, &params, answers));
    lower_rows(&job->bench.plain_rows, params.height);
    return GPUME_OK;
}

/* Scales times to the whole picture, assuming that rows that were not searched take as long. A
 * device without timestamps is charged the wall time. */
static void fill_times(struct gpume_bench_row *row, const struct gpume_params *measured,
    const struct gpume_params *whole, const struct gpume_bench_time *time)
{
    const double differences = gpume_bench_differences(measured);
    const double search_ns = time->search_ns > 0 ? time->search_ns : time->wall_ns;
    const double scale = gpume_bench_differences(whole) / differences;
    row->rows = measured->height;
    row->whole = measured->height == whole->height;
    row->eliminated = time->eliminated;
    row->us = search_ns / 1e3 * scale;
    row->wall_us = time->wall_ns / 1e3 * scale;
    row->per_second = differences / search_ns * 1e9;
    row->share = row->ceiling > 0 ? row->per_second / row->ceiling : 0;
}

static int measure_one(struct search_job *job, const char *content, const struct bench_one *one)
{
    struct gpume_bench *bench = &job->bench;
    struct gpume_params params = one->params;
    const bool cpu = params.backend == GPUME_BACKEND_CPU;
    const char *search = one->setup.search[0] ? one->setup.search : params.search;
    gpume_bench_show(bench, "%s: %.30s, %.50s", content, search, one->setup.device);
    /* At least two rows of blocks per thread. */
    const uint32_t block = gpume_bench_block_rows(&params);
    const uint32_t rows = cpu ? block * (params.threads > 1 ? 2 * params.threads : 1) : block;
    const struct gpume_bench_answers *answers = NULL;
    struct gpume_bench_time time = {0}; /* what mestimate does not know */
    GPUME_CHECK(gpume_bench_fit(&job->clip, &params, rows, bench->budget_ns / PARTS));
    GPUME_CHECK(find_answers(job, &params, &answers));
    GPUME_CHECK(gpume_bench_measure(&job->clip, &params, answers, bench->budget_ns, &time));
    time.search_ns = params.devices ? 0 : time.search_ns; /* the sum over devices: of no use */
    struct gpume_bench_row *row = /* there are enough for all setups of two contents */
        gpume_bench_add_row(bench, search, cpu, one->setup.device, one->setup.driver);
    row->content = content;
    row->engine = one->engine;
    row->threads = cpu ? params.threads : 0;
    row->elimination = !params.no_elimination;
    row->ceiling = one->ceiling;
    fill_times(row, &params, &one->params, &time);
    return GPUME_OK;
}

/* Speed relative to the fastest search on one core without elimination, and to mestimate. Compares
 * differences per second, since mestimate searches slightly less of the picture. */
static void compare_rows(struct gpume_bench *bench, uint32_t first)
{
    double core = 0, mestimate = 0;
    for (uint32_t i = first; i < bench->count; i++) {
        const struct gpume_bench_row *row = &bench->rows[i];
        const double rate = row->per_second;
        if (strcmp(row->engine, "ffmpeg") == 0) {
            mestimate = rate;
            lower_rows(&bench->mestimate_rows, row->rows);
        } else if (row->threads == 1 && !row->elimination && rate > core) {
            core = rate;
        }
    }
    for (uint32_t i = first; i < bench->count; i++) {
        struct gpume_bench_row *row = &bench->rows[i];
        row->over_core = core > 0 ? row->per_second / core : 0;
        row->over_mestimate = mestimate > 0 ? row->per_second / mestimate : 0;
    }
}

static enum gpume_exit measure_clip(struct search_job *job, const char *content)
{
    const uint32_t first = job->bench.count;
    int status;
    GPUME_TRY(check_plain(job, content));
    for (uint32_t i = 0; i < job->setups.count; i++) {
        GPUME_TRY(measure_one(job, content, &job->setups.ones[i]));
    }
    compare_rows(&job->bench, first);
fail:
    while (job->known_count > 0) {
        gpume_bench_answers_finish(&job->known[--job->known_count].answers);
    }
    return gpume_exit_of_engine(status);
}

/* What does not depend on the content of the frames. */
static enum gpume_exit prepare_work(
    struct search_job *job, uint32_t width, uint32_t height, uint32_t bits)
{
    struct gpume_bench *bench = &job->bench;
    struct gpume_params *work = &bench->params;
    *work = bench->options->params;
    work->backend = GPUME_BACKEND_AUTO;
    work->device = work->devices = work->search = NULL;
    work->log = gpume_library_log;
    work->cache_dir = gpume_host_cache_folder();
    work->width = width;
    work->height = height;
    work->bits = bits;
    bench->blocks = gpume_bench_blocks(work);
    bench->candidates = (2ull * work->window_x + 1) * (2ull * work->window_y + 1);
    bench->differences = gpume_bench_differences(work);
    gpume_progress_init(&bench->job.progress, &bench->options->common, 0);
    gpume_bench_show(bench, "finding the engines, and the rates that they can reach");
    return find_setups(&job->setups, bench->options, work, bench);
}

/* The frames alone have to fit into the machine's memory; engines take rows of them as fit. */
static enum gpume_exit check_generated(
    uint32_t width, uint32_t height, uint32_t bits, uint32_t frames)
{
    const uint64_t bytes = (uint64_t)width * height * (bits > 8 ? 2 : 1) * frames;
    const uint64_t allowed = gpume_host_memory_allowed();
    const double gib = 1073741824.0;
    return allowed > 0 && bytes > allowed
               ? gpume_refuse(GPUME_EXIT_USAGE,
                     "--size %ux%u: %u generated frames take %.1f GiB, and there are %.1f GiB of "
                     "memory; give a smaller size or fewer --frames",
                     (unsigned)width, (unsigned)height, (unsigned)frames, (double)bytes / gib,
                     (double)allowed / gib)
               : GPUME_EXIT_DONE;
}

static enum gpume_exit measure_generated(void *client)
{
    static const char *const names[] = {"noise", "motion"};
    struct search_job *job = client;
    const struct gpume_params *asked = &job->bench.options->params;
    const uint32_t width = asked->width ? asked->width : 1920;
    const uint32_t height = asked->height ? asked->height : 1080;
    const uint32_t frames = (uint32_t)job->bench.job.frames_max;
    enum gpume_exit result = check_generated(width, height, asked->bits, frames);
    result = result ? result : prepare_work(job, width, height, asked->bits);
    job->bench.fields = 2 * (frames - 1);
    for (int i = 0; i < 2 && result == GPUME_EXIT_DONE; i++) {
        const enum gpume_bench_content content = (enum gpume_bench_content)i;
        gpume_bench_show(&job->bench, "%s: making %u frames", names[i], (unsigned)frames);
        result = gpume_bench_clip_make(&job->clip, content, width, height, asked->bits, frames)
                     ? GPUME_EXIT_FAILED
                     : measure_clip(job, names[i]);
        gpume_bench_clip_free(&job->clip);
    }
    gpume_console_status(NULL, true);
    return result;
}

static int take_input_frame(void *client, const struct gpume_plane *luma, int64_t time_us)
{
    struct gpume_bench_clip *clip = &((struct search_job *)client)->clip;
    (void)time_us;
    GPUME_CHECK(gpume_bench_clip_add(clip, luma->width, luma->height, luma->bits));
    gpume_plane_copy(&clip->planes[clip->count - 1], luma);
    return GPUME_OK;
}

static enum gpume_exit measure_input(void *client)
{
    struct search_job *job = client;
    struct gpume_bench *bench = &job->bench;
    const struct gpume_source_info *info = &bench->job.info;
    const struct gpume_bench_options *options = bench->options;
    if (job->clip.count < 2) {
        return gpume_refuse_short_source(info, options->source.filter, job->clip.count, 2, "");
    }
    gpume_source_close(&bench->job.source); /* its decoders would work beside what is measured */
    bench->input = options->common.inputs[options->common.input_count - 1];
    bench->fields = gpume_bench_cycle(&job->clip);
    enum gpume_exit result = prepare_work(job, info->width, info->height, info->bits);
    if (result == GPUME_EXIT_INPUT) { /* its size */
        gpume_console_error_about(info->label);
    }
    result = result ? result : measure_clip(job, "input");
    gpume_console_status(NULL, true);
    return result;
}

enum gpume_exit gpume_bench_search(const struct gpume_bench_options *options)
{
    static const struct gpume_job_work generated = {.run = measure_generated},
                                       read = {.take = take_input_frame, .finish = measure_input};
    static struct search_job job; /* large */
    const bool input = options->common.input_count > 0;
    job.bench.job.choice = input ? &options->source : NULL;
    job.bench.job.params = &options->params;
    job.bench.job.frames_max = options->frames ? options->frames + 1 : 4;
    const enum gpume_exit result = gpume_bench_run(&job.bench, options, input ? &read : &generated);
    gpume_bench_clip_free(&job.clip);
    return result;
}
