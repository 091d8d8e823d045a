/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/times.h"

#include "console.h"
#include "media/timeline.h"

static bool has_times(const struct gpume_estimate_options *options)
{
    return options->start_at.is_time || options->duration_us > 0;
}

int gpume_estimate_check_times(const struct gpume_estimate_options *options)
{
    if (has_times(options) &&
        (options->common.input_count > 1 || !gpume_input_is_file(options->common.inputs[0]))) {
        return gpume_refuse(GPUME_INVALID,
            "--%s: a time needs one video file, which is read twice; give --start and --frames as "
            "numbers of frames",
            options->start_at.is_time ? "start" : "duration");
    }
    if (options->duration_us > 0 && !options->start_at.is_time && options->start_at.frame > 0) {
        return gpume_refuse(GPUME_INVALID,
            "--duration: needs a --start that is a time, too, or none; or give --frames");
    }
    return GPUME_OK;
}

/* The targets are the frames from first to end - 1. */
static enum gpume_exit set_range(
    struct gpume_estimate_options *options, uint64_t first, uint64_t end)
{
    const char *input = options->common.inputs[0];
    if (first == GPUME_FIND_NONE) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: ends before the time that --start names; give an earlier one", input);
    }
    options->start = first;
    const uint64_t target = gpume_estimate_first_target(options);
    if (end <= target) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: no target frame lies within --duration; give a longer one", input);
    }
    options->frames = end == GPUME_FIND_NONE ? options->frames : end - target;
    return GPUME_EXIT_DONE;
}

/* The run reads the input again and gives the same warnings. */
static void log_without_warnings(void *opaque, enum gpume_log_level level, const char *line)
{
    if (level != GPUME_LOG_WARNING) {
        gpume_console_log(opaque, level, line);
    }
}

/* A signal ends the program here: no output was begun. */
enum gpume_exit gpume_estimate_find_times(struct gpume_estimate_options *options)
{
    const int64_t begin = options->start_at.is_time ? options->start_at.us : 0;
    const int64_t times[2] = {begin, begin + options->duration_us};
    uint64_t frames[2] = {0, GPUME_FIND_NONE};
    if (!has_times(options)) {
        return GPUME_EXIT_DONE;
    }
    struct gpume_source_options wanted =
        gpume_source_options_make(&options->common, &options->source, &options->params);
    wanted.log = (struct gpume_log){.fn = log_without_warnings};
    const int status = gpume_find_frames(&wanted, times, frames, options->duration_us > 0 ? 2 : 1);
    return status == GPUME_OK ? set_range(options, frames[0], frames[1])
                              : gpume_source_exit(status);
}
