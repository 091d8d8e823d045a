/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/searches.h"

#include "base/log.h"
#include "base/status.h"
#include "encode/costs.h"
#include "encode/refine.h"

#include <stdlib.h>
#include <string.h>

struct gpume_searches {
    gpume *context;
    struct gpume_info info;
    const struct gpume_split *split;
};

static int open_context(struct gpume_searches *s, const struct gpume_searches_params *params)
{
    struct gpume_params search;
    gpume_params_default(&search);
    search.width = params->width;
    search.height = params->height;
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

int gpume_searches_open(
    struct gpume_searches **searches, const struct gpume_searches_params *params)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    struct gpume_searches *s = calloc(1, sizeof(*s));
    if (!s) {
        return gpume_log_nomem(&log, "the searches of the lookahead");
    }
    s->split = params->split;
    const int status = open_context(s, params);
    if (status != GPUME_OK) {
        free(s);
        return status;
    }
    *searches = s;
    return GPUME_OK;
}

const char *gpume_searches_engine(const struct gpume_searches *searches)
{
    return searches->info.device;
}

bool gpume_searches_on_gpu(const struct gpume_searches *searches)
{
    return strcmp(searches->info.backend, "vulkan") == 0;
}

struct refinement {
    const struct gpume_split *split;
    struct gpume_match *match;
};

static void refine_part(void *opaque, uint32_t part)
{
    const struct refinement *r = opaque;
    const struct gpume_match *match = r->match;
    const uint32_t end = gpume_split_row(r->split, part + 1);
    for (uint32_t y = gpume_split_row(r->split, part); y < end; y++) {
        const size_t first = (size_t)y * (match->target->width / GPUME_HALF_BLOCK);
        gpume_refine(
            match->target, match->reference, y, match->vectors + first, match->costs + first);
    }
}

/* Receives one field into the match that its request named. */
static int receive(struct gpume_searches *searches)
{
    const struct gpume_field *field = NULL;
    GPUME_CHECK(gpume_receive(searches->context, &field, 0));
    struct gpume_match *match = (struct gpume_match *)(uintptr_t)field->tag;
    const size_t blocks = (size_t)field->blocks_x * field->blocks_y;
    memcpy(match->vectors, field->vectors, blocks * sizeof(*match->vectors));
    struct refinement refinement = {searches->split, match};
    gpume_split_run(searches->split, refine_part, &refinement);
    match->ready = true;
    gpume_field_release(&field);
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

int gpume_searches_request(
    struct gpume_searches *searches, uint64_t target, uint64_t reference, struct gpume_match *match)
{
    const struct gpume_task task = {.size = sizeof(task),
        .target = target,
        .reference = reference,
        .tag = (uint64_t)(uintptr_t)match};
    int status;
    while ((status = gpume_search(searches->context, &task)) == GPUME_AGAIN) {
        GPUME_CHECK(receive(searches));
    }
    match->requested = status == GPUME_OK;
    return status;
}

int gpume_searches_wait(struct gpume_searches *searches, const struct gpume_match *match)
{
    while (!match->ready) {
        GPUME_CHECK(receive(searches));
    }
    return GPUME_OK;
}

void gpume_searches_close(struct gpume_searches **searches)
{
    if (*searches) {
        (void)gpume_close(&(*searches)->context);
        free(*searches);
        *searches = NULL;
    }
}
