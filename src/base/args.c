/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/args.h"

int gpume_args_check(enum gpume_backend backend, const struct gpume_log *log)
{
    if ((unsigned)backend > GPUME_BACKEND_CPU) {
        return gpume_log_fail(log, GPUME_INVALID,
            "params.backend %u: must be one of enum gpume_backend", (unsigned)backend);
    }
    return GPUME_OK;
}

int gpume_args_check_cpu(const char *device, bool validate, const struct gpume_log *log)
{
    if (device) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "params.device %s: the CPU has no devices; leave it out or choose another "
            "params.backend",
            device);
    } else if (validate) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "params.validate: the CPU has nothing to validate; leave it out or choose another "
            "params.backend");
    }
    return device || validate ? GPUME_INVALID : GPUME_OK;
}
