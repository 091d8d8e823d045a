/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/standby.h"

#include "frame/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_BYTES 512u

struct gpume_standby {
    struct gpume_params params;
    struct gpume_prefilter prefilter;
    double *weights;
    const struct gpume_log *log;   /* the caller's */
    struct gpume_log log_of_first; /* the first engine's */
    bool armed;
    char reason[REASON_BYTES]; /* why opening failed, then why the last submission did */
};

static void pass_on(void *opaque, enum gpume_log_level level, const char *line)
{
    struct gpume_standby *standby = opaque;
    if (level == GPUME_LOG_ERROR) {
        level = GPUME_LOG_INFO;
        if (standby->armed || !standby->reason[0]) {
            snprintf(standby->reason, sizeof(standby->reason), "%s", line);
        }
    }
    gpume_log_write(standby->log, level, "%s", line);
}

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
    standby->log_of_first = (struct gpume_log){pass_on, standby};
    standby->params = *params;
    standby->params.backend = GPUME_BACKEND_CPU;
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

const struct gpume_log *gpume_standby_log(struct gpume_standby *standby)
{
    return &standby->log_of_first;
}

void gpume_standby_arm(struct gpume_standby *standby)
{
    standby->armed = true;
    standby->reason[0] = '\0';
}

void gpume_standby_report(const struct gpume_standby *standby)
{
    if (standby->reason[0]) {
        gpume_log_write(standby->log, GPUME_LOG_ERROR, "%s", standby->reason);
    }
}

int gpume_standby_open_engine(struct gpume_standby *standby, void **engine, struct gpume_plan *plan)
{
    return gpume_engine_cpu.open(engine, &standby->params, standby->log, plan);
}

void gpume_standby_announce(const struct gpume_standby *standby, uint64_t frame)
{
    const char *reason = standby->reason[0] ? standby->reason : "the GPU has failed";
    gpume_log_write(standby->log, GPUME_LOG_WARNING,
        "%.*s; going on with the CPU engine from frame %llu", (int)strcspn(reason, ";"), reason,
        (unsigned long long)frame);
}
