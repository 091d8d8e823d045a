/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/open_input.h"

#include "console.h"
#include "estimate/run_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A search on the CPU is slower than one decoder. */
#define LANES_MAX 64u /* more than a list of devices may have */

/* What search, or will search when they are needed. */
struct devices {
    uint32_t count, gpus, unopened;
};

static struct devices count_devices(gpume *ctx)
{
    struct gpume_lane_info lanes[LANES_MAX];
    struct devices devices = {0};
    if (gpume_list_lanes(ctx, lanes, LANES_MAX, &devices.count) == GPUME_OK) {
        for (uint32_t i = 0; i < devices.count && i < LANES_MAX; i++) {
            devices.gpus += strcmp(lanes[i].backend, "cpu") != 0;
            devices.unopened += lanes[i].unopened;
        }
    }
    return devices;
}

void gpume_divide_input(const struct gpume_estimate_options *options, gpume *ctx,
    const struct gpume_info *engine, struct gpume_source *source)
{
    const struct gpume_params *params = &options->params;
    const struct devices devices = count_devices(ctx);
    const uint64_t taken = engine->host_bytes + engine->device_bytes +
                           (devices.unopened > 0 /* their shares */
                                   ? params->memory_max / devices.count * devices.unopened
                                   : 0);
    const uint64_t left = params->memory_max > taken ? params->memory_max - taken : 0;
    (void)gpume_source_choice_divide(&options->source, params, source, options->frames,
        devices.gpus, params->memory_max > 0 ? left : UINT64_MAX);
}

enum gpume_exit gpume_refuse_short_input(const struct gpume_estimate_options *options,
    const struct gpume_source_info *info, uint64_t found)
{
    char start[32] = "", distance[32] = "", causes[96];
    const uint64_t needed = gpume_run_window_least(options);
    if (options->start > 0) {
        snprintf(start, sizeof(start), ", --start %" PRIu64, options->start);
    }
    if (options->params.ref_distance > 1) {
        snprintf(
            distance, sizeof(distance), ", --ref-distance %" PRIu32, options->params.ref_distance);
    }
    struct gpume_estimate_options past = *options;
    past.params.direction = GPUME_DIRECTION_PAST;
    past.compat_ffmpeg = false;
    const bool turned = gpume_run_window_least(&past) < needed;
    const bool future = options->params.direction == GPUME_DIRECTION_FUTURE;
    snprintf(causes, sizeof(causes), "%s%s%s", start, distance,
        !turned                  ? ""
        : options->compat_ffmpeg ? ", --compat ffmpeg"
        : future                 ? ", --direction future"
                                 : ", --direction both");
    return gpume_refuse_short_source(info, options->source.filter, found, needed, causes);
}
