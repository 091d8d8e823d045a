/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/args.h"

#include <inttypes.h>
#include <stdio.h>

int gpume_args_check_number(
    const struct gpume_param *param, uint64_t value, const struct gpume_log *log)
{
    char text[24];
    if (value >= param->least && value <= param->most) {
        return GPUME_OK;
    }
    snprintf(text, sizeof(text), "%" PRIu64, value);
    if (!param->choices) {
        return gpume_log_refuse(log, GPUME_INVALID, gpume_about(param, text),
            "must be from %" PRIu64 " to %" PRIu64, param->least, param->most);
    }
    return gpume_log_refuse(log, GPUME_INVALID, gpume_about(param, text),
        "must be from 0 (%s) to %" PRIu64 " (%s)", param->choices[0], param->most,
        param->choices[param->most]);
}

int gpume_args_check(enum gpume_backend backend, const struct gpume_log *log)
{
    return gpume_args_check_number(GPUME_PARAM(backend), (unsigned)backend, log);
}

int gpume_args_check_cpu(const char *device, bool validate, const struct gpume_log *log)
{
    const char *has = device     ? "the CPU has no devices; leave it out or choose another"
                      : validate ? "the CPU has nothing to validate; leave it out or choose another"
                                 : NULL;
    return has ? gpume_log_refuse(log, GPUME_INVALID,
                     gpume_about_two(device ? GPUME_PARAM(device) : GPUME_PARAM(validate), device,
                         GPUME_PARAM(backend), NULL),
                     "%s", has)
               : GPUME_OK;
}
