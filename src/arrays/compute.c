/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/context.h"
#include "base/args.h"
#include "base/sized.h"
#include "base/status.h"

#include <stdlib.h>

int gpume_compute_params_fill(struct gpume_compute_params *params)
{
    static const struct gpume_compute_params defaults = {.backend = GPUME_BACKEND_AUTO};
    return params ? gpume_sized_write(params, &defaults, sizeof(defaults)) : GPUME_INVALID;
}

static int open_backend(struct gpume_compute *compute, const struct gpume_compute_params *params,
    const struct gpume_compute_ops *ops)
{
    int status = ops->open(&compute->state, params, compute->log);
    compute->ops = status == GPUME_OK ? ops : NULL;
    return status;
}

static int choose_backend(struct gpume_compute *compute, const struct gpume_compute_params *params)
{
    bool fixed = params->device || params->validate;
    if (params->backend == GPUME_BACKEND_CPU) {
        int checked = gpume_args_check_cpu(params->device, params->validate, compute->log);
        return checked ? checked : open_backend(compute, params, &gpume_compute_cpu);
    }
    int status = open_backend(compute, params, &gpume_compute_gpu);
    if (params->backend == GPUME_BACKEND_AUTO && !fixed && gpume_status_is_of_gpu(status)) {
        return open_backend(compute, params, &gpume_compute_cpu);
    }
    return status;
}

int gpume_compute_open(gpume_compute **out, const struct gpume_compute_params *params)
{
    if (!out || !params) {
        return GPUME_INVALID;
    }
    const struct gpume_log log = GPUME_SIZED_LOG(params);
    struct gpume_compute_params own;
    int status = gpume_sized_read(&own, sizeof(own), params, "gpume_compute_params", &log);
    status = status == GPUME_OK ? gpume_args_check(own.backend, &log) : status;
    if (status != GPUME_OK) {
        return status;
    }
    struct gpume_compute *compute = calloc(1, sizeof(*compute));
    if (!compute) {
        return gpume_log_nomem(&log, "a context");
    }
    gpume_locked_log_init(&compute->locked, log.fn, log.opaque);
    compute->log = &compute->locked.log;
    status = choose_backend(compute, &own);
    if (status != GPUME_OK) {
        gpume_compute_close(&compute);
        return status;
    }
    *out = compute;
    return GPUME_OK;
}

int gpume_compute_close(gpume_compute **out)
{
    if (!out || !*out) {
        return GPUME_OK;
    }
    struct gpume_compute *compute = *out;
    int status = compute->ops ? compute->ops->close(compute->state) : GPUME_OK;
    gpume_locked_log_finish(&compute->locked);
    free(compute);
    *out = NULL;
    return status;
}

int gpume_compute_info_fill(const gpume_compute *compute, struct gpume_compute_info *info)
{
    if (!compute || !info) {
        return GPUME_INVALID;
    }
    struct gpume_compute_info own = {0};
    compute->ops->get_info(compute->state, &own);
    return gpume_sized_write(info, &own, sizeof(own));
}

int gpume_compute_times_fill(const gpume_compute *compute, struct gpume_compute_times *times)
{
    if (!compute || !times) {
        return GPUME_INVALID;
    }
    return gpume_sized_write(times, &compute->times, sizeof(compute->times));
}
