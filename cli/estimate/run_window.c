/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/run_window.h"

#include "base/grid.h"

static uint64_t length(uint64_t first, uint64_t end)
{
    return end > first ? end - first : 0;
}

/* Distances that the search uses, rising. Returns how many. */
static uint32_t distances_of(const struct gpume_params *params, const uint32_t **distances)
{
    *distances = params->distance_count > 0 ? params->distances : &params->ref_distance;
    return params->distance_count > 0 ? params->distance_count : 1;
}

static uint64_t farthest(const struct gpume_params *params)
{
    const uint32_t *distances, count = distances_of(params, &distances);
    return distances[count - 1];
}

uint64_t gpume_run_window_ahead(const struct gpume_params *params)
{
    return params->direction == GPUME_DIRECTION_PAST ? 0 : farthest(params);
}

bool gpume_run_window_ends(const struct gpume_params *params, const struct gpume_field *field)
{
    const uint32_t *distances, count = distances_of(params, &distances);
    if (params->best_reference) {
        return true;
    }
    if (params->direction != GPUME_DIRECTION_PAST) {
        return field->ref == field->frame + distances[count - 1];
    }
    uint32_t past = 0;
    while (past < count && distances[past] <= field->frame) {
        past++;
    }
    return past == 0 || field->ref == field->frame - distances[past - 1];
}

struct gpume_run_window gpume_run_window_make(
    const struct gpume_estimate_options *options, const struct gpume_summary *done)
{
    const struct gpume_params *params = &options->params;
    const uint64_t back = params->direction == GPUME_DIRECTION_FUTURE ? 0 : farthest(params);
    const uint64_t ahead = gpume_run_window_ahead(params);
    const uint64_t target =
        done->targets > 0 ? done->last_field + 1 : gpume_estimate_first_target(options);
    const uint64_t left = length(done->targets, options->frames);
    struct gpume_run_window window = {.first_frame = length(back, target),
        .first_target = target,
        .target_count = left,
        .known = done->frames};
    if (options->frames > 0 && left == 0) { /* all frame pairs are complete; the outputs are not */
        window.first_target = UINT64_MAX;
        window.send = window.known - window.first_frame;
    } else if (options->frames > 0) {
        window.send = target + left + ahead - window.first_frame;
    }
    return window;
}

/* Targets from first to end - 1 that have a reference at this distance in an input of so many
 * frames. */
struct targets {
    uint64_t first, frames, end;
};

static uint64_t count_past(const struct targets *targets, uint64_t distance)
{
    return length(gpume_max_u64(targets->first, distance), targets->end);
}

static uint64_t count_future(const struct targets *targets, uint64_t distance)
{
    return length(targets->first, gpume_min_u64(targets->end, length(distance, targets->frames)));
}

/* Those that have either: all but some in the middle of an input shorter than two distances. */
static uint64_t count_either(const struct targets *targets, uint64_t distance)
{
    const uint64_t past = count_past(targets, distance), future = count_future(targets, distance);
    return gpume_min_u64(past + future, length(targets->first, targets->end));
}

uint64_t gpume_run_window_expect(const struct gpume_estimate_options *options, uint64_t known)
{
    const struct gpume_params *params = &options->params;
    const uint64_t first = gpume_estimate_first_target(options);
    const uint64_t frames = known > first ? known : options->frames > 0 ? UINT64_MAX : 0;
    const struct targets targets = {.first = first,
        .frames = frames,
        .end = gpume_min_u64(frames, options->frames ? first + options->frames : UINT64_MAX)};
    const bool past = params->direction != GPUME_DIRECTION_FUTURE && !options->compat_ffmpeg;
    const bool future = params->direction != GPUME_DIRECTION_PAST;
    const uint32_t *distances, count = distances_of(params, &distances);
    uint64_t fields = 0;
    if (params->best_reference) {
        const uint32_t nearest = distances[0];
        return past && future ? count_either(&targets, nearest)
               : past         ? count_past(&targets, nearest)
                              : count_future(&targets, nearest);
    }
    for (uint32_t i = 0; i < count; i++) {
        fields += past ? count_past(&targets, distances[i]) : 0;
        fields += future ? count_future(&targets, distances[i]) : 0;
    }
    return options->compat_ffmpeg ? 2 * fields : fields;
}

uint64_t gpume_run_window_least(const struct gpume_estimate_options *options)
{
    const uint64_t distance = options->params.ref_distance;
    const uint64_t start = gpume_estimate_first_target(options);
    const bool past_too = options->params.direction != GPUME_DIRECTION_FUTURE;
    /* With both directions the past reference comes first, unless no target has one. */
    const bool has_past = options->frames == 0 || start + options->frames > distance;
    const bool future = !past_too || options->compat_ffmpeg || !has_past;
    return 1 + (future ? start + distance : gpume_max_u64(start, distance));
}
