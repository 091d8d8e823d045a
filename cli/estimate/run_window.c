/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/run_window.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t length(uint64_t first, uint64_t end)
{
    return end > first ? end - first : 0;
}

/* Frames that the completed frame pairs needed. Only the last targets of an input lack a future
 * reference, so targets that have one come first. */
static uint64_t frames_taken(const struct gpume_summary *done, uint64_t ahead)
{
    const bool has_ahead = done->last_field - done->first_field < done->directions[1].fields;
    return done->targets == 0 ? 0 : done->last_field + 1 + (has_ahead ? ahead : 0);
}

struct gpume_run_window gpume_run_window_make(
    const struct gpume_estimate_options *options, const struct gpume_summary *done)
{
    const enum gpume_direction direction = options->params.direction;
    const uint64_t distance = options->params.ref_distance;
    const uint64_t back = direction == GPUME_DIRECTION_FUTURE ? 0 : distance;
    const uint64_t ahead = direction == GPUME_DIRECTION_PAST ? 0 : distance;
    const uint64_t target =
        done->targets > 0 ? done->last_field + 1 : gpume_estimate_first_target(options);
    const uint64_t left = length(done->targets, options->frames);
    struct gpume_run_window window = {.first_frame = length(back, target),
        .first_target = target,
        .target_count = left,
        .known = frames_taken(done, ahead)};
    if (options->frames > 0 && left == 0) { /* all frame pairs are complete; the outputs are not */
        window.first_target = UINT64_MAX;
        window.send = window.known - window.first_frame;
    } else if (options->frames > 0) {
        window.send = target + left + ahead - window.first_frame;
    }
    return window;
}

uint64_t gpume_run_window_expect(const struct gpume_estimate_options *options, uint64_t known)
{
    const uint64_t first = gpume_estimate_first_target(options);
    const uint64_t distance = options->params.ref_distance;
    const uint64_t frames = known > first ? known : options->frames > 0 ? UINT64_MAX : 0;
    const uint64_t end = least(frames, options->frames ? first + options->frames : UINT64_MAX);
    const uint64_t past = length(first > distance ? first : distance, end);
    const uint64_t future = length(first, least(end, frames > distance ? frames - distance : 0));
    switch (options->params.direction) {
    case GPUME_DIRECTION_PAST:
        return past;
    case GPUME_DIRECTION_FUTURE:
        return future;
    default:
        return options->compat_ffmpeg ? 2 * future : past + future;
    }
}

uint64_t gpume_run_window_least(const struct gpume_estimate_options *options)
{
    const uint64_t distance = options->params.ref_distance;
    const uint64_t start = gpume_estimate_first_target(options);
    const bool past_too = options->params.direction != GPUME_DIRECTION_FUTURE;
    /* With both directions the past reference comes first, unless no target has one. */
    const bool has_past = options->frames == 0 || start + options->frames > distance;
    const bool future = !past_too || options->compat_ffmpeg || !has_past;
    return 1 + (future ? start + distance : start > distance ? start : distance);
}
