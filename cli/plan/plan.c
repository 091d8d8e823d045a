/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume plan: ranges of target frames for runs on several machines, which `gpume merge` joins. Main
 * thread only.
 */
#include "base/params.h"
#include "estimate/estimate.h"
#include "files/forms.h"
#include "job.h"
#include "media/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNKS_MAX 1000000

/* Which frames a range needs besides its targets. */
struct chunk_shape {
    uint64_t nearest;  /* the first target of a run without --start */
    uint64_t farthest; /* frames before a target that it is searched in */
};

static uint64_t apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* The target nearest to `ideal`, after `last`, whose farthest reference is a key frame, or 0.
 * *next: the first key frame to look at, which rises with `ideal`. */
static uint64_t nearest_start(const struct gpume_keyframes *keyframes, uint64_t farthest,
    uint64_t last, uint64_t ideal, size_t *next)
{
    uint64_t best = 0;
    for (size_t i = *next; i < keyframes->count; i++) {
        const uint64_t start = keyframes->at[i] + farthest;
        if (start >= keyframes->frames || (best > 0 && apart(start, ideal) > apart(best, ideal))) {
            break;
        }
        if (start > last && keyframes->at[i] > 0) {
            best = start;
            *next = i;
        }
    }
    return best;
}

/* The first targets of at most `wanted` ranges that cover the video once, rising; the first is
 * shape->nearest. The first frame that any other range needs is a key frame, the one nearest to
 * where equal ranges would begin. Returns their number, 0 if there is no target. */
static size_t make_chunks(const struct gpume_keyframes *keyframes, const struct chunk_shape *shape,
    size_t wanted, uint64_t *starts)
{
    const uint64_t targets =
        keyframes->frames > shape->nearest ? keyframes->frames - shape->nearest : 0;
    size_t count = 0, next = 0;
    if (targets == 0) {
        return 0;
    }
    starts[count++] = shape->nearest;
    for (size_t i = 1; i < wanted; i++) {
        /* Without the product, which could overflow. */
        const uint64_t ideal =
            shape->nearest + targets / wanted * i + targets % wanted * i / wanted;
        const uint64_t start =
            nearest_start(keyframes, shape->farthest, starts[count - 1], ideal, &next);
        if (start > 0) {
            starts[count++] = start;
        }
    }
    return count;
}

struct plan_options {
    struct gpume_common_options common;
    struct gpume_source_options source;
    uint32_t chunks; /* 0: not given */
    enum gpume_direction direction;
    struct gpume_distance_list distances;
    enum gpume_fields fields;
};

struct plan_job {
    struct gpume_cli_job job;
    const struct plan_options *options;
    struct gpume_keyframes keyframes;
    uint64_t *starts;
    size_t count;
};

struct range {
    uint64_t start, frames; /* frames: targets; GPUME_MISSING: all that remain */
};

static const struct gpume_column range_columns[] = {
    {GPUME_COLUMN("start", struct range, start)},
    {GPUME_COLUMN("frames", struct range, frames), .unknown = GPUME_IF_MISSING},
};
static const struct gpume_table range_table = {GPUME_TABLE(range_columns, struct range)};

/* A run begins with the first frame that has a reference, also if --start is 0. The last range has
 * all frames that the decoder delivers, however many. */
static struct range range_of(const struct plan_job *job, size_t i)
{
    return (struct range){.start = i > 0 ? job->starts[i] : 0,
        .frames = i + 1 < job->count ? job->starts[i + 1] - job->starts[i] : GPUME_MISSING};
}

static void print_ranges(const void *client)
{
    const struct plan_job *job = client;
    for (size_t i = 0; i < job->count; i++) {
        const struct range range = range_of(job, i);
        printf("--start %" PRIu64, range.start);
        if (range.frames != GPUME_MISSING) {
            printf(" --frames %" PRIu64, range.frames);
        }
        printf("\n");
    }
}

static void put_ranges_json(const void *client, struct gpume_json *json)
{
    const struct plan_job *job = client;
    gpume_json_begin(json, "input");
    gpume_json_text(json, "name", job->options->common.inputs[0]);
    gpume_json_count(json, "frames", job->keyframes.frames);
    gpume_json_count(json, "keyframes", job->keyframes.count);
    gpume_json_end(json);
    gpume_json_begin_list(json, "chunks");
    for (size_t i = 0; i < job->count; i++) {
        const struct range range = range_of(job, i);
        gpume_table_json(&range_table, NULL, &range, 1, json);
    }
    gpume_json_end_list(json);
}

static struct chunk_shape shape_of(const struct plan_options *options)
{
    struct gpume_params params;
    gpume_params_default(&params);
    gpume_distance_list_apply(&options->distances, &params);
    const uint64_t farthest = params.distance_count > 0
                                  ? params.distances[params.distance_count - 1]
                                  : params.ref_distance;
    return (struct chunk_shape){
        .nearest = options->direction == GPUME_DIRECTION_PAST ? params.ref_distance : 0,
        .farthest = options->direction == GPUME_DIRECTION_FUTURE ? 0 : farthest};
}

static enum gpume_exit cut_into_ranges(struct plan_job *job)
{
    const struct plan_options *options = job->options;
    const char *name = options->common.inputs[0];
    const struct chunk_shape shape = shape_of(options);
    job->starts = malloc(options->chunks * sizeof(*job->starts));
    if (!job->starts) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    job->count = make_chunks(&job->keyframes, &shape, options->chunks, job->starts);
    if (job->count == 0) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: has %" PRIu64 " %s%s, too few for a frame pair%s; give a longer video", name,
            job->keyframes.frames, options->fields == GPUME_FIELDS_NONE ? "frame" : "field",
            gpume_plural(job->keyframes.frames),
            options->distances.count > 0 ? " with this --ref-distance" : "");
    }
    if (job->count < options->chunks && options->common.verbosity >= 0) {
        gpume_console_warning("--chunks %" PRIu32 ": %s has key frames for only %zu range%s",
            options->chunks, name, job->count, gpume_plural(job->count));
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit find_ranges(void *client)
{
    struct plan_job *job = client;
    const struct plan_options *options = job->options;
    const struct gpume_params params = {0};
    const struct gpume_source_options source =
        gpume_source_options_make(&options->common, &options->source, &params);
    int status = gpume_source_check_inputs(&source);
    status = status ? status : gpume_keyframes_find(&job->keyframes, &source);
    if (status != GPUME_OK) {
        return gpume_source_exit(status);
    }
    if (options->fields != GPUME_FIELDS_NONE) { /* a frame is two fields, which the runs count */
        job->keyframes.frames *= 2;
        for (size_t i = 0; i < job->keyframes.count; i++) {
            job->keyframes.at[i] *= 2;
        }
    }
    return cut_into_ranges(job);
}

static enum gpume_exit run_plan(const void *opaque)
{
    static const struct gpume_job_work work = {
        .run = find_ranges, .print = print_ranges, .put_json = put_ranges_json, .format = 1};
    const struct plan_options *options = opaque;
    struct plan_job plan = {.options = options, .job.common = &options->common};
    const enum gpume_exit result = gpume_job_run(&plan.job, &work, &plan);
    gpume_job_close(&plan.job);
    free(plan.keyframes.at);
    free(plan.starts);
    return result;
}

#define OPTIONS struct plan_options

static const char *const formats[] = {
    [GPUME_FORM_TABLE] = "lines", [GPUME_FORM_JSON] = "json", NULL};

static struct gpume_option table[] = {
    {.heading = "Plan"},
    {GPUME_ROW_NUMBER("chunks", OPTIONS, chunks, 1, CHUNKS_MAX),
        .help = "number of ranges; fewer if the video has too few key frames"},
    {GPUME_ROW_CHOICE("direction", "past|future|both", OPTIONS, direction, gpume_names_direction),
        .help = "as for the runs (default past)"},
    {GPUME_ROW("ref-distance", "LIST", distances, OPTIONS, distances),
        .help = "as for the runs (default 1)"},
    {GPUME_ROW_CHOICE("fields", "none|same|nearest", OPTIONS, fields, gpume_fields_names),
        .help = "as for the runs, which then count fields (default none)"},
    {GPUME_ROW_CHOICE("format", "lines|json", OPTIONS, common.form, formats),
        .help = "lines (the options of one run per line, for a shell) or json (default lines)"},
    {.heading = "Input"},
    {GPUME_OPTION_STREAM(OPTIONS, source.stream)},
    GPUME_OPTIONS_TRUST(OPTIONS, source),
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Messages"},
    {GPUME_OPTION_QUIET, .help = "do not say that there are fewer ranges than asked for"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST,
};

static void set_plan_defaults(void *opaque)
{
    struct plan_options *options = opaque;
    options->source.stream = -1;
}

static int check_plan(void *opaque, const struct gpume_line *line)
{
    struct plan_options *options = opaque;
    (void)line;
    if (options->chunks == 0) {
        return gpume_refuse(
            GPUME_INVALID, "--chunks N is missing: into how many ranges is the video cut?");
    }
    return gpume_fields_count(options->fields, &options->distances);
}

const struct gpume_command gpume_plan_command = {
    .name = "plan",
    .summary = "cut a video into ranges for runs on several machines",
    .usage = "plan INPUT --chunks N [options]",
    .about = "Prints ranges of frames that cover a video once and begin where seeking is cheap: a "
             "range's first reference is a key frame. Each line has the options --start and "
             "--frames of one run; 'gpume merge' joins what the runs write.",
    GPUME_COMMAND_OPTIONS(table, struct plan_options),
    GPUME_COMMAND_ONE_VIDEO,
    .set_defaults = set_plan_defaults,
    .check = check_plan,
    .run = run_plan,
};
