/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/device.h"

#include "base/base.h"
#include "base/log.h"
#include "encode/costs.h"
#include "encode/decision.h"
#include "encode/shared.h"
#include "gpume/compute.h"

#include <stdlib.h>
#include <string.h>

#include "encode_intra.inc"
#include "encode_mean.inc"
#include "encode_refine.inc"
#include "encode_weigh.inc"

_Static_assert(GPUME_ENCODE_LIMIT == 4 * GPUME_HALF_WINDOW, "vectors are limited alike");
_Static_assert(GPUME_ENCODE_SHARES == GPUME_SHARES, "means are weighed alike");
_Static_assert(GPUME_ENCODE_KINDS == GPUME_JOB_KINDS, "there is a kernel for each kind");
_Static_assert(GPUME_ENCODE_BATCH == GPUME_WORK_JOBS, "a task is a job");
_Static_assert(sizeof(struct gpume_vector) == sizeof(uint32_t), "a word is a vector");

/* What is copied between host and device at a time: the array GPUME_ENCODE_BLOCKS. The words are
 * those of each kind of jobs in turn, one for each block, then more vectors that jobs begin with:
 * coarse ones of matches, and those of means in the future references. */
struct memory {
    struct gpume_encode_task tasks[GPUME_ENCODE_TASKS];
    uint32_t words[];
};

struct flight {
    gpume_batch *batch;
    gpume_array *array;
    struct memory *memory; /* the array's */
    const struct gpume_encode_work *work;
};

struct gpume_encode_device {
    struct gpume_log log;
    bool failed; /* later messages are not logged */
    gpume_compute *compute;
    gpume_program *programs[GPUME_JOB_KINDS];
    gpume_array *arrays[2];                      /* by binding */
    gpume_array *host;                           /* the planes of all frames */
    uint8_t *planes;                             /* the same */
    struct flight flights[GPUME_ENCODE_FLIGHTS]; /* in turns */
    uint64_t started, finished;
    struct gpume_encode_push push;
    uint32_t blocks, frames;
    uint32_t more[GPUME_JOB_KINDS]; /* vectors of a job beside the words of its blocks */
    size_t frame_bytes;
};

/* The invocations that share a block, by kind of job. */
static const uint32_t teams[GPUME_JOB_KINDS] = {
    GPUME_ENCODE_TEAM, GPUME_ENCODE_TEAM, GPUME_ENCODE_DUO, GPUME_ENCODE_DUO};

/* --- open, close */

/* The processor can do the work, so the device's errors are warnings. */
static void write_warning(void *opaque, enum gpume_log_level level, const char *line)
{
    const struct gpume_encode_device *d = opaque;
    if (!d->failed) {
        gpume_log_write(&d->log, level == GPUME_LOG_ERROR ? GPUME_LOG_WARNING : level, "%s", line);
    }
}

/* Workgroups along a row of blocks, if this many invocations share a block. */
static uint32_t groups_across(const struct gpume_encode_device *d, uint32_t team)
{
    return (uint32_t)gpume_div_up(d->push.blocks_x, GPUME_ENCODE_LOCAL / team);
}

static uint64_t memory_bytes(const struct gpume_encode_device *d)
{
    const struct memory *memory;
    uint64_t words = 0; /* of a job of each kind */
    for (uint32_t kind = 0; kind < GPUME_JOB_KINDS; kind++) {
        words += (uint64_t)d->blocks + d->more[kind];
    }
    return sizeof(*memory) + words * GPUME_ENCODE_BATCH * sizeof(memory->words[0]);
}

static int open_compute(
    struct gpume_encode_device *d, const struct gpume_blocks_params *params, bool *suits)
{
    struct gpume_compute_params own;
    struct gpume_compute_info info;
    gpume_compute_params_default(&own);
    own.backend = params->backend;
    own.device = params->device;
    own.cache_dir = params->cache_dir;
    own.log = write_warning;
    own.log_opaque = d;
    GPUME_CHECK(gpume_compute_open(&d->compute, &own));
    gpume_compute_get_info(d->compute, &info);
    const uint64_t most = gpume_min_u64(info.program_bytes_max, info.array_bytes_max);
    *suits = (uint64_t)d->frames * d->frame_bytes <= most && memory_bytes(d) <= most &&
             d->push.blocks_y <= info.groups_max[1] && info.groups_max[2] >= GPUME_ENCODE_BATCH &&
             groups_across(d, GPUME_ENCODE_TEAM) <= info.groups_max[0];
    return GPUME_OK;
}

static int create_programs(struct gpume_encode_device *d)
{
    static const struct {
        const uint32_t *words;
        size_t bytes;
    } kernels[GPUME_JOB_KINDS] = {{encode_intra, sizeof(encode_intra)},
        {encode_refine, sizeof(encode_refine)}, {encode_mean, sizeof(encode_mean)},
        {encode_weigh, sizeof(encode_weigh)}};
    for (uint32_t kind = 0; kind < GPUME_JOB_KINDS; kind++) {
        const struct gpume_program_params params = {.size = sizeof(params),
            .spirv = kernels[kind].words,
            .spirv_bytes = kernels[kind].bytes,
            .array_count = 2,
            .push_bytes = sizeof(d->push)};
        GPUME_CHECK(gpume_program_create(d->compute, &d->programs[kind], &params));
    }
    return GPUME_OK;
}

static int create_flight(struct gpume_encode_device *d, struct flight *flight)
{
    /* frames, tasks, words, kernels, results */
    const uint32_t steps = GPUME_ENCODE_BATCH + 2 + GPUME_JOB_KINDS + 1;
    void *memory = NULL;
    GPUME_CHECK(gpume_batch_create(d->compute, &flight->batch, steps));
    GPUME_CHECK(gpume_array_create_host(d->compute, &flight->array, memory_bytes(d), &memory));
    flight->memory = memory;
    return GPUME_OK;
}

static int create_all(struct gpume_encode_device *d)
{
    const uint64_t bytes = (uint64_t)d->frames * d->frame_bytes;
    void *planes = NULL;
    GPUME_CHECK(create_programs(d));
    GPUME_CHECK(gpume_array_create(d->compute, &d->arrays[GPUME_ENCODE_FRAMES], bytes));
    GPUME_CHECK(gpume_array_create(d->compute, &d->arrays[GPUME_ENCODE_BLOCKS], memory_bytes(d)));
    GPUME_CHECK(gpume_array_create_host(d->compute, &d->host, bytes, &planes));
    d->planes = planes;
    const struct gpume_half first = gpume_half_at(planes, d->push.blocks_x, d->push.blocks_y);
    d->push.stride = (uint32_t)first.stride;
    d->push.plane = (uint32_t)first.plane;
    for (uint32_t i = 0; i < GPUME_ENCODE_FLIGHTS; i++) {
        GPUME_CHECK(create_flight(d, &d->flights[i]));
    }
    return GPUME_OK;
}

int gpume_encode_device_open(
    struct gpume_encode_device **device, const struct gpume_blocks_params *params)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    struct gpume_encode_device *d = calloc(1, sizeof(*d));
    bool suits = false;
    *device = NULL;
    if (!d) {
        return gpume_log_nomem(&log, "the device of the lookahead");
    }
    d->log = log;
    d->push.blocks_x = params->blocks_x;
    d->push.blocks_y = params->blocks_y;
    d->blocks = params->blocks_x * params->blocks_y;
    d->more[GPUME_JOB_MATCH] = gpume_coarse_count(params->blocks_x, params->blocks_y);
    d->more[GPUME_JOB_MEAN] = d->blocks;
    d->frames = params->frames;
    d->frame_bytes = gpume_half_bytes(params->blocks_x, params->blocks_y);
    if (open_compute(d, params, &suits) || !suits || create_all(d)) {
        gpume_log_write(&log, GPUME_LOG_INFO, "the processor refines vectors");
        gpume_encode_device_close(&d);
    }
    *device = d;
    return GPUME_OK;
}

void gpume_encode_device_close(struct gpume_encode_device **device)
{
    struct gpume_encode_device *d = *device;
    if (!d) {
        return;
    }
    for (uint32_t i = 0; i < GPUME_ENCODE_FLIGHTS; i++) {
        gpume_batch_destroy(&d->flights[i].batch);
        gpume_array_destroy(&d->flights[i].array);
    }
    gpume_array_destroy(&d->host);
    gpume_array_destroy(&d->arrays[0]);
    gpume_array_destroy(&d->arrays[1]);
    for (uint32_t kind = 0; kind < GPUME_JOB_KINDS; kind++) {
        gpume_program_destroy(&d->programs[kind]);
    }
    (void)gpume_compute_close(&d->compute);
    free(d);
    *device = NULL;
}

uint8_t *gpume_encode_device_planes(const struct gpume_encode_device *device)
{
    return device->planes;
}

/* --- work */

/* Where the planes of a frame begin. */
static size_t slot_of(const struct gpume_encode_device *d, uint64_t frame)
{
    return (size_t)(frame % d->frames) * d->frame_bytes;
}

/* Where its first sample lies. */
static uint32_t place_of(const struct gpume_encode_device *d, uint64_t frame)
{
    return (uint32_t)(slot_of(d, frame) + GPUME_HALF_MARGIN * (d->push.stride + 1));
}

/* Where the words of the first job of this kind begin: those of each job before it. */
static size_t first_word(
    const struct gpume_encode_device *d, const struct flight *flight, uint32_t kind)
{
    size_t jobs = 0;
    for (uint32_t before = 0; before < kind; before++) {
        jobs += flight->work->counts[before];
    }
    return jobs * d->blocks;
}

/* Index of the first of this kind's further vectors, which lie behind all words (struct memory). */
static size_t first_more(
    const struct gpume_encode_device *d, const struct flight *flight, uint32_t kind)
{
    size_t word = first_word(d, flight, GPUME_JOB_KINDS);
    for (uint32_t before = 0; before < kind; before++) {
        word += (size_t)flight->work->counts[before] * d->more[before];
    }
    return word;
}

/* --- what jobs need */

static struct gpume_encode_task task_of_match(
    const struct gpume_encode_device *d, const struct gpume_match *match)
{
    return (struct gpume_encode_task){
        .target = place_of(d, match->target_frame), .past = place_of(d, match->reference_frame)};
}

static void put_vectors(uint32_t *words, const struct gpume_vector *vectors, uint32_t count)
{
    memcpy(words, vectors, count * sizeof(*words));
}

/* The task of a job, and the vectors that it begins with: in the words of its blocks, or more. */
static struct gpume_encode_task put_job(const struct gpume_encode_device *d,
    enum gpume_block_job_kind kind, const struct gpume_block_job *job, uint32_t *words,
    uint32_t *more)
{
    struct gpume_encode_task task = {0};
    if (kind == GPUME_JOB_INTRA) {
        task.target = place_of(d, ((const struct gpume_intra *)job)->frame);
    } else if (kind == GPUME_JOB_MATCH) {
        const struct gpume_match *match = (const struct gpume_match *)job;
        task = task_of_match(d, match);
        put_vectors(more, match->coarse, d->more[kind]);
    } else if (kind == GPUME_JOB_MEAN) {
        const struct gpume_mean *mean = (const struct gpume_mean *)job;
        task = task_of_match(d, mean->past);
        task.future = place_of(d, mean->future->reference_frame);
        task.past_share = mean->past_share;
        put_vectors(words, mean->past->vectors, d->blocks);
        put_vectors(more, mean->future->vectors, d->more[kind]);
    } else {
        const struct gpume_weighing *weighing = (const struct gpume_weighing *)job;
        const struct gpume_weight *w = &weighing->weight;
        task = task_of_match(d, weighing->plain);
        task.weight = (uint32_t)GPUME_ENCODE_WEIGHT(w->denominator, w->scale, w->offset);
        put_vectors(words, weighing->plain->vectors, d->blocks);
    }
    return task;
}

static void put_work(const struct gpume_encode_device *d, const struct flight *flight)
{
    const struct gpume_encode_work *work = flight->work;
    uint32_t *words = flight->memory->words;
    uint32_t *more = words + first_more(d, flight, 0);
    for (uint32_t kind = 0; kind < GPUME_JOB_KINDS; kind++) {
        for (uint32_t i = 0; i < work->counts[kind]; i++, words += d->blocks) {
            flight->memory->tasks[kind * GPUME_ENCODE_BATCH + i] =
                put_job(d, (enum gpume_block_job_kind)kind, work->jobs[kind][i], words, more);
            more += d->more[kind];
        }
    }
}

/* --- steps */

static int copy_frames(struct gpume_encode_device *d, const struct flight *flight)
{
    for (uint32_t i = 0; i < flight->work->counts[GPUME_JOB_INTRA]; i++) {
        const struct gpume_intra *intra =
            (const struct gpume_intra *)flight->work->jobs[GPUME_JOB_INTRA][i];
        const size_t slot = slot_of(d, intra->frame);
        GPUME_CHECK(gpume_batch_copy(
            flight->batch, d->arrays[GPUME_ENCODE_FRAMES], slot, d->host, slot, d->frame_bytes));
    }
    return GPUME_OK;
}

/* Copies words up to `end`. To the device, those of intra costs and matches are left out, as the
 * kernels read nothing from them; back to the host, all are copied. */
static int copy_words(
    const struct gpume_encode_device *d, const struct flight *flight, bool back, size_t end)
{
    const size_t first = back ? 0 : first_word(d, flight, GPUME_JOB_MEAN);
    const size_t from = sizeof(*flight->memory) + first * sizeof(uint32_t);
    const size_t bytes = sizeof(*flight->memory) + end * sizeof(uint32_t) - from;
    gpume_array *device = d->arrays[GPUME_ENCODE_BLOCKS], *host = flight->array;
    return gpume_batch_copy(
        flight->batch, back ? host : device, from, back ? device : host, from, bytes);
}

static int run_kernels(struct gpume_encode_device *d, const struct flight *flight)
{
    struct gpume_encode_push push = d->push;
    for (uint32_t kind = 0; kind < GPUME_JOB_KINDS; kind++) {
        const uint32_t groups[] = {
            groups_across(d, teams[kind]), push.blocks_y, flight->work->counts[kind]};
        push.task = kind * GPUME_ENCODE_BATCH;
        push.word = (uint32_t)first_word(d, flight, kind);
        push.more = (uint32_t)first_more(d, flight, kind);
        GPUME_CHECK(gpume_batch_run(flight->batch, d->programs[kind], d->arrays, &push, groups));
    }
    return GPUME_OK;
}

static int submit(struct gpume_encode_device *d, const struct flight *flight)
{
    GPUME_CHECK(copy_frames(d, flight));
    GPUME_CHECK(gpume_batch_copy(flight->batch, d->arrays[GPUME_ENCODE_BLOCKS], 0, flight->array, 0,
        sizeof(*flight->memory)));
    GPUME_CHECK(copy_words(d, flight, false, first_more(d, flight, GPUME_JOB_KINDS)));
    GPUME_CHECK(run_kernels(d, flight));
    GPUME_CHECK(copy_words(d, flight, true, first_word(d, flight, GPUME_JOB_KINDS)));
    return gpume_batch_submit(flight->batch);
}

int gpume_encode_device_start(
    struct gpume_encode_device *device, const struct gpume_encode_work *work)
{
    struct flight *flight = &device->flights[device->started++ % GPUME_ENCODE_FLIGHTS];
    flight->work = work;
    put_work(device, flight);
    const int status = submit(device, flight);
    device->failed = status != GPUME_OK;
    return status;
}

/* --- results */

/* Takes the words that the kernels have packed apart (shaders/encode). */
static void take_job(enum gpume_block_job_kind kind, struct gpume_block_job *job,
    const uint32_t *words, uint32_t blocks)
{
    if (kind == GPUME_JOB_INTRA) {
        struct gpume_intra *intra = (struct gpume_intra *)job;
        for (uint32_t i = 0; i < blocks; i++) {
            intra->costs[i] = gpume_intra_cost(words[i]);
        }
    } else if (kind == GPUME_JOB_MATCH) {
        struct gpume_match *match = (struct gpume_match *)job;
        for (uint32_t i = 0; i < blocks; i++) {
            const struct gpume_vector vector = {
                (int16_t)((int32_t)(words[i] & 0xff) - GPUME_ENCODE_LIMIT),
                (int16_t)((int32_t)(words[i] >> 8 & 0xff) - GPUME_ENCODE_LIMIT)};
            match->vectors[i] = vector;
            match->costs[i] = gpume_match_cost(words[i] >> 17, vector);
        }
    } else if (kind == GPUME_JOB_MEAN) {
        struct gpume_mean *mean = (struct gpume_mean *)job;
        for (uint32_t i = 0; i < blocks; i++) {
            mean->both[i] = gpume_mean_cost(words[i] & 0x7fff, (words[i] & 0x8000) != 0);
            mean->still[i] = gpume_mean_cost(words[i] >> 16, false);
        }
    } else {
        struct gpume_weighing *weighing = (struct gpume_weighing *)job;
        for (uint32_t i = 0; i < blocks; i++) {
            weighing->still[i] = gpume_match_cost(words[i] & 0xffff, (struct gpume_vector){0, 0});
            weighing->moved[i] = gpume_match_cost(words[i] >> 16, weighing->plain->vectors[i]);
        }
        weighing->found = true;
    }
}

int gpume_encode_device_finish(struct gpume_encode_device *device)
{
    const struct flight *flight = &device->flights[device->finished++ % GPUME_ENCODE_FLIGHTS];
    const struct gpume_encode_work *work = flight->work;
    const uint32_t *words = flight->memory->words;
    const int status = gpume_batch_wait(flight->batch);
    if (status != GPUME_OK) {
        device->failed = true;
        return status;
    }
    for (uint32_t kind = 0; kind < GPUME_JOB_KINDS; kind++) {
        for (uint32_t i = 0; i < work->counts[kind]; i++, words += device->blocks) {
            take_job((enum gpume_block_job_kind)kind, work->jobs[kind][i], words, device->blocks);
        }
    }
    return GPUME_OK;
}
