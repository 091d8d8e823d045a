/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/standby.h"

#include "frame/engine.h"
#include "run/own_params.h"

#include <stdlib.h>

struct gpume_standby {
    struct gpume_own_params own;
    const struct gpume_log *log; /* the caller's */
};

int gpume_standby_create(
    struct gpume_standby **out, const struct gpume_params *params, const struct gpume_log *log)
{
    struct gpume_standby *standby = calloc(1, sizeof(*standby));
    if (!standby) {
        return gpume_log_nomem(log, "the standby engine");
    }
    standby->log = log;
    struct gpume_params on_cpu = *params;
    on_cpu.backend = GPUME_BACKEND_CPU;
    on_cpu.device = on_cpu.devices = on_cpu.cache_dir = NULL;
    on_cpu.memory_max = 0; /* comes on top of what was allowed for the first */
    if (gpume_own_params_init(&standby->own, &on_cpu) != GPUME_OK) {
        gpume_standby_destroy(&standby);
        return gpume_log_nomem(log, "the standby engine");
    }
    *out = standby;
    return GPUME_OK;
}

void gpume_standby_destroy(struct gpume_standby **standby)
{
    if (*standby) {
        gpume_own_params_finish(&(*standby)->own);
        free(*standby);
        *standby = NULL;
    }
}

int gpume_standby_open_engine(struct gpume_standby *standby, void **engine, struct gpume_plan *plan)
{
    return gpume_engine_cpu.open(engine, &standby->own.params, standby->log, plan);
}

void gpume_standby_announce(
    const struct gpume_standby *standby, const struct gpume_reason *reason, uint64_t frame)
{
    char text[GPUME_REASON_BYTES];
    gpume_reason_copy(reason, text);
    gpume_log_write(standby->log, GPUME_LOG_WARNING,
        "%s; going on with the CPU engine from frame %llu", text, (unsigned long long)frame);
}
