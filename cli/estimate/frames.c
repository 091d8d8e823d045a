/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/frames.h"

#include "base/base.h"
#include "console.h"
#include "estimate/estimate.h"
#include "media/source.h"
#include "options/option.h"

#include <stdlib.h>
#include <string.h>

/* --- the window */

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
    const uint64_t left = length(done->targets, options->asked.frames);
    struct gpume_run_window window = {.first_frame = length(back, target),
        .first_target = target,
        .target_count = left,
        .known = done->frames};
    if (options->asked.frames > 0 &&
        left == 0) { /* all frame pairs are complete; the outputs are not */
        window.first_target = UINT64_MAX;
        window.send = window.known - window.first_frame;
    } else if (options->asked.frames > 0) {
        window.send = target + left + ahead - window.first_frame;
    }
    return window;
}

/* Targets from first to end - 1 that have a reference at this distance in an input of `frames`. */
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
    const uint64_t frames = known > first ? known : options->asked.frames > 0 ? UINT64_MAX : 0;
    const struct targets targets = {.first = first,
        .frames = frames,
        .end = gpume_min_u64(
            frames, options->asked.frames ? first + options->asked.frames : UINT64_MAX)};
    const bool past = params->direction != GPUME_DIRECTION_FUTURE && !options->asked.compat_ffmpeg;
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
    return options->asked.compat_ffmpeg ? 2 * fields : fields;
}

uint64_t gpume_run_window_least(const struct gpume_estimate_options *options)
{
    const uint64_t distance = options->params.ref_distance;
    const uint64_t start = gpume_estimate_first_target(options);
    const bool past_too = options->params.direction != GPUME_DIRECTION_FUTURE;
    /* With both directions the past reference comes first, unless no target has one. */
    const bool has_past = options->asked.frames == 0 || start + options->asked.frames > distance;
    const bool future = !past_too || options->asked.compat_ffmpeg || !has_past;
    return 1 + (future ? start + distance : gpume_max_u64(start, distance));
}

/* --- fields of interlaced video */

/* A filter of FFmpeg makes two frames of half the height of each frame, in the order of their
 * times. So the fields of one parity are an even number of such frames apart. */
/* The filter takes even heights only. */
static const char separate[] = "crop=iw:2*floor(ih/2):0:0:exact=1,separatefields";

const char *const gpume_fields_names[] = {"none", "same", "nearest", NULL};

/* The nearest field of the same parity is two fields away. */
int gpume_fields_count(enum gpume_fields fields, struct gpume_distance_list *list)
{
    if (fields != GPUME_FIELDS_SAME) {
        return GPUME_OK;
    }
    if (list->count == 0) {
        list->distances[list->count++] = 1;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        list->distances[i] *= 2;
        if (list->distances[i] > GPUME_DISTANCE_MAX) {
            return gpume_refuse(GPUME_INVALID,
                "--ref-distance: at most %d frames with --fields same", GPUME_DISTANCE_MAX / 2);
        }
    }
    return GPUME_OK;
}

int gpume_fields_check(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    if (options->fields == GPUME_FIELDS_NONE) {
        return GPUME_OK;
    }
    if (gpume_line_has(line, "compat")) {
        return gpume_refuse(
            GPUME_INVALID, "--compat: cannot be combined with --fields; leave one of them out");
    }
    if (options->common.input_count == 2) {
        return gpume_refuse(GPUME_INVALID, "--fields: needs one video, not two pictures");
    }
    return gpume_fields_count(options->fields, &options->search.distances);
}

char *gpume_fields_graph(const char *filter)
{
    const size_t length = filter ? strlen(filter) + 1 : 0;
    char *graph = malloc(length + sizeof(separate));
    if (!graph) {
        return NULL;
    }
    if (filter) {
        memcpy(graph, filter, length);
        graph[length - 1] = ',';
    }
    memcpy(graph + length, separate, sizeof(separate));
    return graph;
}

void gpume_fields_describe(
    const struct gpume_estimate_options *options, struct gpume_source_info *info)
{
    if (options->fields == GPUME_FIELDS_NONE) {
        return;
    }
    if (info->progressive && options->common.verbosity >= 0 &&
        strcmp(options->asked.source.filter, separate) == 0) {
        gpume_console_warning("%s: says that it is progressive, so the two fields of a frame are "
                              "of the same time; leave out --fields, or if it is interlaced, add "
                              "--vf setfield=tff or setfield=bff",
            info->label);
    }
    if (info->aspect_num == 0) {
        info->aspect_num = info->aspect_den = 1;
    }
    if (info->aspect_num % 2 == 0) {
        info->aspect_num /= 2;
    } else if (info->aspect_den <= INT32_MAX / 2) { /* as FFmpeg's numbers */
        info->aspect_den *= 2;
    }
}

/* --- times */

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
    options->asked.start = first;
    const uint64_t target = gpume_estimate_first_target(options);
    if (end <= target) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: no target frame lies within --duration; give a longer one", input);
    }
    options->asked.frames = end == GPUME_FIND_NONE ? options->asked.frames : end - target;
    return GPUME_EXIT_DONE;
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
        gpume_source_options_make(&options->common, &options->asked.source, &options->params);
    wanted.log = gpume_console_errors;
    const int status = gpume_find_frames(&wanted, times, frames, options->duration_us > 0 ? 2 : 1);
    return status == GPUME_OK ? set_range(options, frames[0], frames[1])
                              : gpume_source_exit(status);
}
