/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/engines.h"

#include "base/args.h"
#include "base/parallel.h"
#include "base/status.h"
#include "run/devices.h"
#include "run/standby.h"

#include <stdlib.h>

/* Opens an engine. reason: what it logs to; NULL: `log`. */
static int open_into(const struct gpume_params *params, struct gpume_reason *reason,
    const struct gpume_log *log, struct gpume_pipeline_engine *engine, struct gpume_plan *plan)
{
    const bool on_cpu = params->backend == GPUME_BACKEND_CPU;
    log = reason ? &reason->log : log;
    *engine = (struct gpume_pipeline_engine){
        .ops = on_cpu ? &gpume_engine_cpu : &gpume_engine_gpu, .plan = plan, .reason = reason};
    int status = engine->ops->open(&engine->opaque, params, log, plan);
    if (status == GPUME_AGAIN) {
        struct gpume_params smaller = *params;
        smaller.no_elimination = true;
        status = engine->ops->open(&engine->opaque, &smaller, log, plan);
    }
    if (status == GPUME_OK && reason) {
        gpume_reason_arm(reason);
    }
    return status;
}

/* Opens one more engine. */
static int open_engine(
    const struct gpume_params *params, struct gpume_reason *reason, struct gpume_engines *engines)
{
    struct gpume_pipeline_parts *parts = &engines->parts;
    const uint32_t index = parts->engine_count;
    const int status =
        open_into(params, reason, parts->log, &parts->engines[index], &engines->plans[index]);
    parts->engine_count += status == GPUME_OK;
    return status;
}

/* Closes what has been opened. */
static void drop_engines(struct gpume_engines *engines)
{
    for (uint32_t i = 0; i < engines->parts.engine_count; i++) {
        struct gpume_pipeline_engine *engine = &engines->parts.engines[i];
        engine->ops->close(&engine->opaque);
        free(engine->reason);
    }
    gpume_standby_destroy(&engines->parts.standby);
    engines->parts.engine_count = 0;
}

/* NULL: no memory, which is logged. */
static struct gpume_reason *create_reason(const struct gpume_log *log)
{
    struct gpume_reason *reason = calloc(1, sizeof(*reason));
    if (reason) {
        gpume_reason_init(reason, log);
    } else {
        (void)gpume_log_nomem(log, "a context");
    }
    return reason;
}

/* An engine whose failure need not be the end. GPUME_OK with *why set: it has failed in a way that
 * is the GPU's own. */
static int try_engine(const struct gpume_params *params, struct gpume_engines *engines, int *why)
{
    struct gpume_reason *reason = create_reason(engines->parts.log);
    *why = GPUME_OK;
    if (!reason) {
        return GPUME_NOMEM;
    }
    const int status = open_engine(params, reason, engines);
    const bool of_gpu = gpume_status_is_of_gpu(status);
    if (status != GPUME_OK) {
        if (!of_gpu) {
            gpume_reason_report(reason);
        }
        free(reason);
    }
    *why = of_gpu ? status : GPUME_OK;
    return of_gpu ? GPUME_OK : status;
}

static int open_on_cpu(const struct gpume_params *params, struct gpume_engines *engines)
{
    struct gpume_params on_cpu = *params;
    on_cpu.backend = GPUME_BACKEND_CPU;
    on_cpu.devices = NULL;
    return open_engine(&on_cpu, NULL, engines);
}

/* auto: a GPU that is not there, cannot hold the job or fails is no reason to fail. */
static int open_one(const struct gpume_params *params, struct gpume_engines *engines)
{
    int why;
    if (params->backend == GPUME_BACKEND_CPU) {
        const int checked =
            gpume_args_check_cpu(params->device, params->validate, engines->parts.log);
        return checked ? checked : open_engine(params, NULL, engines);
    }
    if (!gpume_plan_stands_by(params)) {
        return open_engine(params, NULL, engines);
    }
    int status = gpume_standby_create(&engines->parts.standby, params, engines->parts.log);
    status = status == GPUME_OK ? try_engine(params, engines, &why) : status;
    if (status == GPUME_OK && why != GPUME_OK) {
        gpume_standby_destroy(&engines->parts.standby);
        status = open_on_cpu(params, engines);
    }
    return status;
}

/* The parameters of one engine of a list. */
static struct gpume_params params_of_one(
    const struct gpume_params *params, const struct gpume_device_list *list, uint32_t index)
{
    struct gpume_params one = *params;
    const bool on_cpu = list->devices[index][0] == '\0';
    one.device = on_cpu ? NULL : list->devices[index];
    one.backend = on_cpu ? GPUME_BACKEND_CPU : params->backend;
    one.memory_max = params->memory_max / list->count;
    one.memory_max += params->memory_max > 0 && one.memory_max == 0;
    return one;
}

/* What the engines of a list are opened from and into, side by side. */
struct opening {
    const struct gpume_params *params;
    const struct gpume_device_list *list;
    struct gpume_engines *engines;
    struct gpume_reason *reasons[GPUME_DEVICES_MAX];
    int statuses[GPUME_DEVICES_MAX];
};

static void open_one_of(void *opaque, uint32_t index)
{
    struct opening *opening = opaque;
    struct gpume_engines *engines = opening->engines;
    const struct gpume_params one = params_of_one(opening->params, opening->list, index);
    opening->statuses[index] = opening->reasons[index]
                                   ? open_into(&one, opening->reasons[index], engines->parts.log,
                                         &engines->parts.engines[index], &engines->plans[index])
                                   : GPUME_NOMEM;
}

/* Moves the engines that are open to the beginning of the list. *why: a failure of a GPU, if there
 * was one. The others are the end. */
static int gather(struct opening *opening, int *why)
{
    struct gpume_engines *engines = opening->engines;
    struct gpume_pipeline_parts *parts = &engines->parts;
    int status = GPUME_OK;
    for (uint32_t i = 0; i < opening->list->count; i++) {
        const int of_one = opening->statuses[i];
        if (of_one == GPUME_OK) {
            const uint32_t to = parts->engine_count++;
            engines->plans[to] = engines->plans[i];
            parts->engines[to] = parts->engines[i];
            parts->engines[to].plan = &engines->plans[to];
            continue;
        }
        if (gpume_status_is_of_gpu(of_one)) {
            const char *device = opening->list->devices[i];
            gpume_log_write(parts->log, GPUME_LOG_WARNING,
                "device %s of params.devices cannot be used; going on without it",
                device[0] ? device : "cpu");
            *why = of_one;
        } else if (status == GPUME_OK) {
            if (opening->reasons[i]) {
                gpume_reason_report(opening->reasons[i]);
            }
            status = of_one;
        }
        free(opening->reasons[i]);
    }
    return status;
}

/* Every device of the list that can be opened. */
static int open_listed(const struct gpume_params *params, const struct gpume_device_list *list,
    struct gpume_engines *engines)
{
    const struct gpume_log *log = engines->parts.log;
    struct opening opening = {.params = params, .list = list, .engines = engines};
    int status = GPUME_OK, why = GPUME_OK;
    if (gpume_plan_stands_by(params)) {
        GPUME_TRY(gpume_standby_create(&engines->parts.standby, params, log));
    }
    for (uint32_t i = 0; i < list->count; i++) {
        opening.reasons[i] = create_reason(log);
    }
    gpume_parallel(open_one_of, &opening, list->count);
    GPUME_TRY(gather(&opening, &why));
    if (engines->parts.engine_count == 0) {
        gpume_standby_destroy(&engines->parts.standby);
        return params->backend == GPUME_BACKEND_AUTO
                   ? open_on_cpu(params, engines)
                   : gpume_log_fail(
                         log, why, "params.devices %s: none of them can be used", params->devices);
    }
fail:
    return status;
}

/* A list that comes down to one device is that device. */
static int open_list(const struct gpume_params *params, struct gpume_engines *engines)
{
    const struct gpume_log *log = engines->parts.log;
    struct gpume_device_list list;
    struct gpume_params one = *params;
    if (params->device || params->backend == GPUME_BACKEND_CPU) {
        return gpume_log_fail(log, GPUME_INVALID,
            "params.devices %s: not together with %s; leave one of them out", params->devices,
            params->device ? "params.device" : "params.backend GPUME_BACKEND_CPU");
    }
    const int status = gpume_devices_resolve(params->devices, log, &list);
    if (status != GPUME_OK) {
        return status;
    }
    if (list.count > 1) {
        return open_listed(params, &list, engines);
    }
    if (!list.all) {
        one = params_of_one(params, &list, 0);
    }
    one.devices = NULL;
    return open_one(&one, engines);
}

int gpume_engines_open(
    struct gpume_engines *engines, const struct gpume_params *params, const struct gpume_log *log)
{
    engines->parts.log = log;
    const int status = (params->devices ? open_list : open_one)(params, engines);
    if (status != GPUME_OK) {
        drop_engines(engines);
    }
    return status;
}
