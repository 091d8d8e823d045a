/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/searches.h"

#include "base/log.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

struct gpume_searches {
    gpume *context;
    struct gpume_info info;
    struct gpume_blocks *blocks;
    uint64_t pending; /* requests */
};

static int open_context(struct gpume_searches *s, const struct gpume_searches_params *params)
{
    struct gpume_params search;
    gpume_params_default(&search);
    search.width = params->blocks_x * GPUME_HALF_BLOCK;
    search.height = params->blocks_y * GPUME_HALF_BLOCK;
    search.block = GPUME_HALF_BLOCK;
    search.window_x = search.window_y = GPUME_HALF_WINDOW;
    search.metric = GPUME_METRIC_SAD;
    search.direction = GPUME_DIRECTION_MANUAL;
    search.ref_distance = params->frames - 1;
    search.backend = params->backend;
    search.device = params->device;
    search.threads = params->threads;
    search.cache_dir = params->cache_dir;
    search.log = params->log;
    search.log_opaque = params->log_opaque;
    GPUME_CHECK(gpume_open(&s->context, &search));
    gpume_get_info(s->context, &s->info);
    return GPUME_OK;
}

static int open_blocks(struct gpume_searches *s, const struct gpume_searches_params *params)
{
    const struct gpume_blocks_params blocks = {
        .split = params->split,
        .blocks_x = params->blocks_x,
        .blocks_y = params->blocks_y,
        .frames = params->frames,
        .gpu = gpume_searches_on_gpu(s),
        .backend = params->backend,
        .device = params->device,
        .cache_dir = params->cache_dir,
        .log = params->log,
        .log_opaque = params->log_opaque,
    };
    return gpume_blocks_open(&s->blocks, &blocks);
}

int gpume_searches_open(
    struct gpume_searches **searches, const struct gpume_searches_params *params)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    struct gpume_searches *s = calloc(1, sizeof(*s));
    if (!s) {
        return gpume_log_nomem(&log, "the searches of the lookahead");
    }
    int status;
    GPUME_TRY(open_context(s, params));
    GPUME_TRY(open_blocks(s, params));
    *searches = s;
    return GPUME_OK;
fail:
    gpume_searches_close(&s);
    return status;
}

struct gpume_blocks *gpume_searches_blocks(const struct gpume_searches *searches)
{
    return searches->blocks;
}

const char *gpume_searches_engine(const struct gpume_searches *searches)
{
    return searches->info.device;
}

bool gpume_searches_on_gpu(const struct gpume_searches *searches)
{
    return strcmp(searches->info.backend, "vulkan") == 0;
}

/* Receives one field into the match that its request named. */
static int receive(struct gpume_searches *searches)
{
    const struct gpume_field *field = NULL;
    GPUME_CHECK(gpume_receive(searches->context, &field, 0));
    struct gpume_match *match = (struct gpume_match *)(uintptr_t)field->tag;
    const size_t blocks = (size_t)field->blocks_x * field->blocks_y;
    memcpy(match->vectors, field->vectors, blocks * sizeof(*match->vectors));
    match->received = true;
    searches->pending--;
    gpume_field_release(&field);
    gpume_blocks_refine(searches->blocks, match);
    return GPUME_OK;
}

int gpume_searches_send(struct gpume_searches *searches, const struct gpume_half *half)
{
    const struct gpume_plane plane = {.data = half->samples,
        .stride = half->stride,
        .width = half->width,
        .height = half->height,
        .bits = 8};
    int status;
    while ((status = gpume_send_plane(searches->context, &plane, 0)) == GPUME_AGAIN) {
        GPUME_CHECK(receive(searches));
    }
    return status;
}

int gpume_searches_request(struct gpume_searches *searches, struct gpume_match *match)
{
    const struct gpume_task task = {.size = sizeof(task),
        .target = match->target_frame,
        .reference = match->reference_frame,
        .tag = (uint64_t)(uintptr_t)match};
    int status;
    while ((status = gpume_search(searches->context, &task)) == GPUME_AGAIN) {
        GPUME_CHECK(receive(searches));
    }
    match->requested = status == GPUME_OK;
    searches->pending += match->requested;
    return status;
}

int gpume_searches_drain(struct gpume_searches *searches, uint64_t pending)
{
    while (searches->pending > pending) {
        GPUME_CHECK(receive(searches));
    }
    return GPUME_OK;
}

int gpume_searches_wait(struct gpume_searches *searches, const struct gpume_match *match)
{
    while (!match->received) {
        GPUME_CHECK(receive(searches));
    }
    gpume_blocks_wait(searches->blocks, &match->ready);
    return GPUME_OK;
}

void gpume_searches_close(struct gpume_searches **searches)
{
    if (*searches) {
        (void)gpume_close(&(*searches)->context);
        gpume_blocks_close(&(*searches)->blocks);
        free(*searches);
        *searches = NULL;
    }
}
