/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/device.h"

#include "base/grid.h"
#include "base/log.h"
#include "base/status.h"
#include "encode/costs.h"
#include "encode/decision.h"
#include "encode/shared.h"
#include "gpume/compute.h"

#include <stdlib.h>
#include <string.h>

#include "encode_intra.inc"
#include "encode_mean.inc"
#include "encode_refine.inc"

_Static_assert(GPUME_ENCODE_LIMIT == 4 * GPUME_HALF_WINDOW, "vectors are limited alike");
_Static_assert(GPUME_ENCODE_SHARES == GPUME_SHARES, "means are weighed alike");
_Static_assert(sizeof(struct gpume_vector) == sizeof(uint32_t), "a word is a vector");

/* What is copied between host and device at a time: the array GPUME_ENCODE_BLOCKS. */
struct work {
    struct gpume_encode_task tasks[GPUME_ENCODE_BATCH];
    uint32_t blocks[];
};

struct gpume_encode_device {
    struct gpume_log log;
    gpume_compute *compute;
    gpume_program *intra, *refine, *mean;
    gpume_array *arrays[2]; /* by binding */
    struct work *work;
    struct gpume_encode_push push;
    uint32_t blocks, frames;
    size_t frame_bytes;
};

/* --- open, close */

/* The processor can do the work, so the device's errors are warnings. */
static void write_warning(void *opaque, enum gpume_log_level level, const char *line)
{
    const struct gpume_log *log = opaque;
    gpume_log_write(log, level == GPUME_LOG_ERROR ? GPUME_LOG_WARNING : level, "%s", line);
}

/* Workgroups along a row of blocks, if so many invocations share a block. */
static uint32_t groups_across(const struct gpume_encode_device *d, uint32_t team)
{
    return (uint32_t)gpume_div_up(d->push.blocks_x, GPUME_ENCODE_LOCAL / team);
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
    own.log_opaque = &d->log;
    GPUME_CHECK(gpume_compute_open(&d->compute, &own));
    gpume_compute_get_info(d->compute, &info);
    const uint64_t most = gpume_min_u64(info.program_bytes_max, info.array_bytes_max);
    *suits = (uint64_t)d->frames * d->frame_bytes <= most &&
             d->push.blocks_y <= info.groups_max[1] && info.groups_max[2] >= GPUME_ENCODE_BATCH &&
             groups_across(d, GPUME_ENCODE_TEAM) <= info.groups_max[0];
    return GPUME_OK;
}

static size_t work_bytes(const struct gpume_encode_device *d, uint32_t count)
{
    return sizeof(*d->work) + (size_t)count * d->blocks * sizeof(d->work->blocks[0]);
}

static int create_program(
    struct gpume_encode_device *d, gpume_program **program, const uint32_t *words, size_t bytes)
{
    const struct gpume_program_params params = {.size = sizeof(params),
        .spirv = words,
        .spirv_bytes = bytes,
        .array_count = 2,
        .push_bytes = sizeof(d->push)};
    return gpume_program_create(d->compute, program, &params);
}

static int create_all(struct gpume_encode_device *d)
{
    GPUME_CHECK(create_program(d, &d->intra, encode_intra, sizeof(encode_intra)));
    GPUME_CHECK(create_program(d, &d->refine, encode_refine, sizeof(encode_refine)));
    GPUME_CHECK(create_program(d, &d->mean, encode_mean, sizeof(encode_mean)));
    GPUME_CHECK(gpume_array_create(
        d->compute, &d->arrays[GPUME_ENCODE_FRAMES], (uint64_t)d->frames * d->frame_bytes));
    return gpume_array_create(
        d->compute, &d->arrays[GPUME_ENCODE_BLOCKS], work_bytes(d, 2 * GPUME_ENCODE_BATCH));
}

int gpume_encode_device_open(
    struct gpume_encode_device **device, const struct gpume_blocks_params *params)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    const struct gpume_half half = gpume_half_at(NULL, params->blocks_x, params->blocks_y);
    struct gpume_encode_device *d = calloc(1, sizeof(*d));
    bool suits = false;
    *device = NULL;
    if (!d) {
        return gpume_log_nomem(&log, "the device of the lookahead");
    }
    d->log = log;
    d->push = (struct gpume_encode_push){
        params->blocks_x, params->blocks_y, (uint32_t)half.stride, (uint32_t)half.plane};
    d->blocks = params->blocks_x * params->blocks_y;
    d->frames = params->frames;
    d->frame_bytes = gpume_half_bytes(params->blocks_x, params->blocks_y);
    d->work = malloc(work_bytes(d, 2 * GPUME_ENCODE_BATCH));
    if (!d->work) {
        gpume_encode_device_close(&d);
        return gpume_log_nomem(&log, "the device of the lookahead");
    }
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
    for (uint32_t i = 0; i < 2; i++) {
        gpume_array_destroy(&d->arrays[i]);
    }
    gpume_program_destroy(&d->mean);
    gpume_program_destroy(&d->refine);
    gpume_program_destroy(&d->intra);
    (void)gpume_compute_close(&d->compute);
    free(d->work);
    free(d);
    *device = NULL;
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

int gpume_encode_device_write(
    struct gpume_encode_device *device, uint64_t frame, const struct gpume_half *half)
{
    const uint8_t *first = half->samples - GPUME_HALF_MARGIN * (half->stride + 1);
    return gpume_array_write(
        device->arrays[GPUME_ENCODE_FRAMES], slot_of(device, frame), first, device->frame_bytes);
}

/* A kernel's share of the work: it works on `count` tasks, reads `read` words of each block and
 * writes one. */
struct launch {
    gpume_program *program;
    uint32_t team, count, read;
};

/* Runs it on what device->work has; then that has the results. */
static int run(struct gpume_encode_device *d, const struct launch *launch)
{
    const uint32_t groups[] = {groups_across(d, launch->team), d->push.blocks_y, launch->count};
    gpume_array *array = d->arrays[GPUME_ENCODE_BLOCKS];
    GPUME_CHECK(gpume_array_write(array, 0, d->work, work_bytes(d, launch->read * launch->count)));
    GPUME_CHECK(gpume_program_run(launch->program, d->arrays, &d->push, groups));
    return gpume_array_read(
        array, sizeof(*d->work), d->work->blocks, work_bytes(d, launch->count) - sizeof(*d->work));
}

int gpume_encode_device_predict(
    struct gpume_encode_device *device, struct gpume_intra *const *frames, uint32_t count)
{
    struct work *work = device->work;
    const uint32_t *satd = work->blocks;
    for (uint32_t i = 0; i < count; i++) {
        work->tasks[i].target = place_of(device, frames[i]->frame);
    }
    GPUME_CHECK(run(device, &(struct launch){device->intra, GPUME_ENCODE_TEAM, count, 0}));
    for (uint32_t i = 0; i < count; i++, satd += device->blocks) {
        for (uint32_t j = 0; j < device->blocks; j++) {
            frames[i]->costs[j] = (uint16_t)(satd[j] + GPUME_PENALTY_ANY + GPUME_PENALTY_INTRA);
        }
    }
    return GPUME_OK;
}

static void put_vectors(
    struct gpume_encode_device *d, uint32_t place, const struct gpume_match *match)
{
    memcpy(d->work->blocks + (size_t)place * d->blocks, match->vectors,
        d->blocks * sizeof(d->work->blocks[0]));
}

/* Takes ranks of refine.comp apart. */
static void take_match(struct gpume_match *match, const uint32_t *ranks, uint32_t blocks)
{
    for (uint32_t i = 0; i < blocks; i++) {
        const struct gpume_vector vector = {
            (int16_t)((int32_t)(ranks[i] & 0xff) - GPUME_ENCODE_LIMIT),
            (int16_t)((int32_t)(ranks[i] >> 8 & 0xff) - GPUME_ENCODE_LIMIT)};
        match->vectors[i] = vector;
        match->costs[i] = gpume_match_cost(ranks[i] >> 17, vector);
    }
}

int gpume_encode_device_refine(
    struct gpume_encode_device *device, struct gpume_match *const *matches, uint32_t count)
{
    struct work *work = device->work;
    for (uint32_t i = 0; i < count; i++) {
        work->tasks[i].target = place_of(device, matches[i]->target_frame);
        work->tasks[i].past = place_of(device, matches[i]->reference_frame);
        put_vectors(device, i, matches[i]);
    }
    GPUME_CHECK(run(device, &(struct launch){device->refine, GPUME_ENCODE_TEAM, count, 1}));
    for (uint32_t i = 0; i < count; i++) {
        take_match(matches[i], work->blocks + (size_t)i * device->blocks, device->blocks);
    }
    return GPUME_OK;
}

/* Takes results of mean.comp apart. */
static void take_mean(const struct gpume_mean *mean, const uint32_t *found, uint32_t blocks)
{
    for (uint32_t i = 0; i < blocks; i++) {
        const uint32_t moves = found[i] & 0x8000 ? GPUME_PENALTY_BOTH : 0;
        mean->both[i] = (uint16_t)((found[i] & 0x7fff) + GPUME_PENALTY_ANY + moves);
        mean->still[i] = (uint16_t)((found[i] >> 16) + GPUME_PENALTY_ANY);
    }
}

int gpume_encode_device_mean(
    struct gpume_encode_device *device, struct gpume_mean *const *means, uint32_t count)
{
    struct work *work = device->work;
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_match *past = means[i]->past, *future = means[i]->future;
        work->tasks[i] = (struct gpume_encode_task){.target = place_of(device, past->target_frame),
            .past = place_of(device, past->reference_frame),
            .future = place_of(device, future->reference_frame),
            .past_share = means[i]->past_share};
        put_vectors(device, i, past);
        put_vectors(device, count + i, future);
    }
    GPUME_CHECK(run(device, &(struct launch){device->mean, GPUME_ENCODE_DUO, count, 2}));
    for (uint32_t i = 0; i < count; i++) {
        take_mean(means[i], work->blocks + (size_t)i * device->blocks, device->blocks);
    }
    return GPUME_OK;
}
