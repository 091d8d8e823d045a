/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/standby.h"

#include "frame/engine.h"

#include <stdlib.h>
#include <string.h>

struct gpume_standby {
    struct gpume_params params;
    struct gpume_prefilter prefilter;
    double *weights;
    const struct gpume_log *log; /* the caller's */
};

static int copy_prefilter(struct gpume_standby *standby, const struct gpume_prefilter *prefilter)
{
    standby->prefilter = *prefilter;
    standby->params.prefilter = &standby->prefilter;
    if (prefilter->kind != GPUME_PREFILTER_KERNEL || !prefilter->weights ||
        prefilter->width > GPUME_PREFILTER_SIDE_MAX ||
        prefilter->height > GPUME_PREFILTER_SIDE_MAX) { /* the first engine refuses it */
        return GPUME_OK;
    }
    const size_t bytes = (size_t)prefilter->width * prefilter->height * sizeof(double);
    standby->weights = malloc(bytes > 0 ? bytes : 1);
    if (!standby->weights) {
        return GPUME_NOMEM;
    }
    memcpy(standby->weights, prefilter->weights, bytes);
    standby->prefilter.weights = standby->weights;
    return GPUME_OK;
}

int gpume_standby_create(
    struct gpume_standby **out, const struct gpume_params *params, const struct gpume_log *log)
{
    struct gpume_standby *standby = calloc(1, sizeof(*standby));
    if (!standby) {
        return gpume_log_nomem(log, "the standby engine");
    }
    standby->log = log;
    standby->params = *params;
    standby->params.backend = GPUME_BACKEND_CPU;
    standby->params.device = standby->params.devices = NULL;
    standby->params.cache_dir = NULL;
    standby->params.memory_max = 0; /* comes on top of what was allowed for the first */
    if (params->prefilter && copy_prefilter(standby, params->prefilter) != GPUME_OK) {
        gpume_standby_destroy(&standby);
        return gpume_log_nomem(log, "the standby engine");
    }
    *out = standby;
    return GPUME_OK;
}

void gpume_standby_destroy(struct gpume_standby **standby)
{
    if (*standby) {
        free((*standby)->weights);
        free(*standby);
        *standby = NULL;
    }
}

int gpume_standby_open_engine(struct gpume_standby *standby, void **engine, struct gpume_plan *plan)
{
    return gpume_engine_cpu.open(engine, &standby->params, standby->log, plan);
}

void gpume_standby_announce(
    const struct gpume_standby *standby, const struct gpume_reason *reason, uint64_t frame)
{
    char text[GPUME_REASON_BYTES];
    gpume_reason_copy(reason, text);
    gpume_log_write(standby->log, GPUME_LOG_WARNING,
        "%s; going on with the CPU engine from frame %llu", text, (unsigned long long)frame);
}
