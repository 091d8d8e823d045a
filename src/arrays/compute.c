/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/context.h"
#include "base/args.h"
#include "base/reserved.h"
#include "base/status.h"

#include <stdlib.h>

void gpume_compute_params_default(struct gpume_compute_params *params)
{
    if (params) {
        *params = (struct gpume_compute_params){0};
    }
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
    const struct gpume_log log = {params->log, params->log_opaque};
    int status = gpume_args_check(params->backend, &log);
    if (status == GPUME_OK && !GPUME_RESERVED_IS_ZERO(params)) {
        gpume_log_write(&log, GPUME_LOG_ERROR,
            "struct gpume_compute_params: reserved bytes are not zero: begin with "
            "gpume_compute_params_default, or install the library that the program was compiled "
            "for");
        status = GPUME_INVALID;
    }
    if (status != GPUME_OK) {
        return status;
    }
    struct gpume_compute *compute = calloc(1, sizeof(*compute));
    if (!compute) {
        return gpume_log_nomem(&log, "a context");
    }
    gpume_locked_log_init(&compute->locked, params->log, params->log_opaque);
    compute->log = &compute->locked.log;
    status = choose_backend(compute, params);
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

void gpume_compute_get_info(const gpume_compute *compute, struct gpume_compute_info *info)
{
    *info = (struct gpume_compute_info){0};
    compute->ops->get_info(compute->state, info);
}

void gpume_compute_get_times(const gpume_compute *compute, struct gpume_compute_times *times)
{
    *times = compute->times;
}
