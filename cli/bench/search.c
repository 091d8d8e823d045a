/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times every engine on the same frame pairs. For each content: make the frames; let the fastest
 * CPU search produce the expected results; have the plain search confirm them on as many rows as it
 * can search in the time given; then measure each engine and compare its results. The table is
 * printed at the end, so that no time is shown for a wrong result. Main thread only.
 */
#include "bench/bench.h"

#include "base/status.h"
#include "bench/setups.h"
#include "commit.h"
#include "console.h"
#include "host.h"
#include "library_log.h"

#include <stdio.h>
#include <string.h>

#define HEIGHTS_MAX 16u /* picture heights whose results are kept */
#define PARTS 4u        /* frame pairs that should at least fit into a row's time */

/* Expected results for the upper rows of the current clip. */
struct known_answers {
    struct gpume_params params;
    struct gpume_bench_answers answers;
};

struct search_job {
    const struct gpume_bench_options *options;
    struct gpume_params work;
    uint64_t budget_ns; /* for one row of the table */
    struct gpume_bench_clip clip;
    struct gpume_bench_setups setups;
    struct gpume_bench bench;
    struct known_answers known[HEIGHTS_MAX];
    uint32_t known_count;
    struct gpume_progress progress;
};

static void show(
    const struct search_job *job, const char *content, const char *search, const char *device)
{
    char line[128];
    snprintf(line, sizeof(line), "%s: %.30s, %.50s", content, search, device);
    if (job->progress.shown) {
        gpume_console_status(line, job->progress.rewrite);
    }
}

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

static void forget_answers(struct search_job *job)
{
    while (job->known_count > 0) {
        gpume_bench_answers_finish(&job->known[--job->known_count].answers);
    }
}

/* The fewest rows that were compared; 0: none yet. */
static void lower(uint32_t *rows, uint32_t compared)
{
    *rows = *rows == 0 || compared < *rows ? compared : *rows;
}

/* Confirms the expected results with the plain search, on the rows that it has time for. */
static int check_plain(struct search_job *job, const char *content)
{
    struct gpume_params params = job->setups.reference;
    params.search = "plain";
    show(job, content, "checking with plain", "cpu");
    const struct gpume_bench_answers *answers = NULL;
    GPUME_CHECK(gpume_bench_fit(&job->clip, &params, gpume_bench_block_rows(&params),
        job->budget_ns / gpume_bench_cycle(&job->clip), gpume_bench_once));
    GPUME_CHECK(find_answers(job, &params, &answers));
    GPUME_CHECK(gpume_bench_compare(&job->clip, &params, answers));
    lower(&job->bench.plain_rows, params.height);
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

static int measure_one(
    struct search_job *job, const char *content, const struct gpume_bench_one *one)
{
    struct gpume_bench *bench = &job->bench;
    struct gpume_params params = one->params;
    const bool cpu = params.backend == GPUME_BACKEND_CPU;
    const char *search = one->setup.search[0] ? one->setup.search : params.search;
    show(job, content, search, one->setup.device);
    /* At least two rows of blocks per thread. */
    const uint32_t block = gpume_bench_block_rows(&params);
    const uint32_t rows = cpu ? block * (params.threads > 1 ? 2 * params.threads : 1) : block;
    const struct gpume_bench_answers *answers = NULL;
    struct gpume_bench_time time = {0}; /* what mestimate does not know */
    GPUME_CHECK(gpume_bench_fit(&job->clip, &params, rows, job->budget_ns / PARTS, one->once));
    GPUME_CHECK(find_answers(job, &params, &answers));
    GPUME_CHECK(one->measure(&job->clip, &params, answers, job->budget_ns, &time));
    time.search_ns = params.devices ? 0 : time.search_ns; /* the sum over devices: of no use */
    struct gpume_bench_row *row = &bench->rows[bench->count++]; /* for all setups, two contents */
    *row = (struct gpume_bench_row){
        .content = content,
        .engine = one->engine,
        .threads = cpu ? params.threads : 0,
        .elimination = !params.no_elimination,
        .ceiling = one->ceiling,
    };
    snprintf(row->search, sizeof(row->search), "%s", search);
    snprintf(row->device, sizeof(row->device), "%s", cpu ? bench->cpu : one->setup.device);
    snprintf(row->driver, sizeof(row->driver), "%s", one->setup.driver);
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
            lower(&bench->mestimate_rows, row->rows);
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
    forget_answers(job);
    return gpume_exit_of_engine(status);
}

/* What does not depend on the content of the frames. */
static enum gpume_exit prepare(
    struct search_job *job, uint32_t width, uint32_t height, uint32_t bits)
{
    struct gpume_bench *bench = &job->bench;
    job->work.width = width;
    job->work.height = height;
    job->work.bits = bits;
    bench->params = job->work;
    bench->blocks = gpume_bench_blocks(&job->work);
    bench->candidates = (2ull * job->work.window_x + 1) * (2ull * job->work.window_y + 1);
    bench->differences = gpume_bench_differences(&job->work);
    return gpume_bench_setups_find(&job->setups, job->options, &job->work, bench);
}

static enum gpume_exit measure_generated(struct search_job *job, uint32_t frames)
{
    static const char *const names[] = {"noise", "motion"};
    const struct gpume_params *asked = &job->options->params;
    const uint32_t width = asked->width ? asked->width : 1920;
    const uint32_t height = asked->height ? asked->height : 1080;
    enum gpume_exit result = prepare(job, width, height, asked->bits);
    for (int i = 0; i < 2 && result == GPUME_EXIT_DONE; i++) {
        const enum gpume_bench_content content = (enum gpume_bench_content)i;
        result = gpume_bench_clip_make(&job->clip, content, width, height, asked->bits, frames)
                     ? GPUME_EXIT_FAILED
                     : measure_clip(job, names[i]);
        gpume_bench_clip_free(&job->clip);
    }
    return result;
}

static enum gpume_exit measure_input(struct search_job *job, uint32_t frames)
{
    enum gpume_exit result = gpume_bench_clip_read(&job->clip, job->options, frames);
    if (result == GPUME_EXIT_DONE) {
        const struct gpume_plane *plane = &job->clip.planes[0];
        job->bench.input = job->options->common.inputs[job->options->common.input_count - 1];
        job->bench.fields = gpume_bench_cycle(&job->clip);
        result = prepare(job, plane->width, plane->height, plane->bits);
        if (result == GPUME_EXIT_INPUT) { /* its size */
            gpume_console_error_about(job->clip.label);
        }
    }
    result = result ? result : measure_clip(job, "input");
    gpume_bench_clip_free(&job->clip);
    return result;
}

enum gpume_exit gpume_bench_search(const struct gpume_bench_options *options)
{
    static struct search_job job; /* large */
    job = (struct search_job){.options = options,
        .work = options->params,
        .budget_ns = (uint64_t)(options->seconds * 1e9),
        .bench = {.commit = GPUME_COMMIT}};
    job.work.backend = GPUME_BACKEND_AUTO;
    job.work.device = job.work.devices = NULL;
    job.work.search = NULL;
    job.work.log = gpume_library_log;
    job.work.cache_dir = gpume_host_cache_folder();
    const uint32_t frames = options->frames ? options->frames + 1 : 4;
    job.bench.fields = 2 * (frames - 1);
    gpume_host_cpu(job.bench.cpu);
    job.bench.processors = gpume_host_processors();
    gpume_progress_init(&job.progress, &options->common, 0);
    const enum gpume_exit result = options->common.input_count > 0
                                       ? measure_input(&job, frames)
                                       : measure_generated(&job, frames);
    gpume_console_status(NULL, true);
    return result ? result
                  : gpume_exit_of_engine(gpume_bench_write(&job.bench, options->common.form));
}
