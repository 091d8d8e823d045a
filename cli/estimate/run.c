/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run, as a job (job.h): which frames it reads, and what becomes of them. It checks the
 * outputs, then opens the input, the context and the outputs. The source thread sends frames while
 * this one, the main thread, receives motion fields and passes them to the sinks. The outputs get
 * their names after the context has closed without an error; if anything fails before, incomplete
 * outputs are removed.
 */
#include "estimate/estimate.h"

#include "base/base.h"
#include "base/os.h"
#include "console.h"
#include "host.h"
#include "job.h"
#include "sinks/summary.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The source thread: reads frames from the input and sends them to the context. */
struct feed {
    struct gpume_source *source;
    gpume *ctx;
    uint64_t skip;  /* frames to read and drop first */
    uint64_t count; /* frames to send then; 0: to the end */
    uint64_t known; /* frames that the input must have, since an earlier run read them */

    pthread_t thread;
    atomic_uint_fast64_t sent; /* frames, with those that were skipped */

    /* Results, to be read after it was joined. */
    int status;         /* GPUME_OK: all frames were sent */
    bool source_failed; /* reading the input failed */
    bool is_short;      /* the input had `read` frames, fewer than `known`; not yet reported */
    uint64_t read;
    uint64_t decode_ns; /* time spent reading */
};

struct estimate {
    struct gpume_cli_job job;
    struct gpume_estimate_options *options;
    struct gpume_run_input input; /* its identity when it was opened */
    bool is_steady;               /* it did not change while it was being opened */
    struct gpume_run run;
    struct feed feed;
    double weights[GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX]; /* of a prefilter */
    char *graph;                                                         /* of --compat */
    struct gpume_predictor_source predictor;                             /* path NULL: none */
    struct gpume_summary summary;
    struct gpume_run_window window;
    struct gpume_summary before; /* of the runs that this one resumes */
    uint64_t start_ns;
    struct gpume_checkpoint checkpoint;
    bool interrupted;
};

/* --- which frames are read, and which of them are targets */

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

/* How many frames after its target a frame pair may need. */
static uint64_t frames_ahead(const struct gpume_params *params)
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
    const uint64_t ahead = frames_ahead(params);
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

/* Frames that the first frame pair needs. */
static uint64_t least_frames(const struct gpume_estimate_options *options)
{
    const uint64_t distance = options->params.ref_distance;
    const uint64_t start = gpume_estimate_first_target(options);
    const bool past_too = options->params.direction != GPUME_DIRECTION_FUTURE;
    /* With both directions the past reference comes first, unless no target has one. */
    const bool has_past = options->asked.frames == 0 || start + options->asked.frames > distance;
    const bool future = !past_too || options->asked.compat_ffmpeg || !has_past;
    return 1 + (future ? start + distance : gpume_max_u64(start, distance));
}

/* --- fields of interlaced video, which are the frames of the run */

/* A filter of FFmpeg makes two frames of half the height of each frame, in the order of their
 * times. So the fields of one parity are an even number of such frames apart. */
/* The filter takes even heights only. */
static const char separate[] = "crop=iw:2*floor(ih/2):0:0:exact=1,separatefields";

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

/* A field has half the lines of a frame, so its pixels are twice as high: makes *info say so.
 * Pixels of frames are square if nothing else is known. Warns that --fields divides progressive
 * frames, unless filters of --vf may have made others of them; not with -q. With the graph of above
 * among the options. */
static void describe_fields(
    const struct gpume_estimate_options *options, struct gpume_source_info *info)
{
    if (options->fields == GPUME_FIELDS_NONE) {
        return;
    }
    if (info->progressive && options->common.verbosity >= 0 &&
        strcmp(options->asked.source.filter, separate) == 0) {
        gpume_console_warning(
            "%s: is marked as progressive, so both fields of a frame show the same moment; leave "
            "out --fields, or if it is interlaced, add --vf setfield=tff or setfield=bff",
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

/* --- before the first frame */

static const char *input_name(const struct gpume_estimate_options *options)
{
    return options->common.inputs[options->common.input_count - 1];
}

static const char *reference_name(const struct gpume_estimate_options *options)
{
    return options->common.input_count == 2 ? options->common.inputs[0] : NULL;
}

static void look_at_input(
    struct gpume_run_input *input, const struct gpume_estimate_options *options)
{
    gpume_run_input_look(
        input, input_name(options), reference_name(options), options->asked.predictor.file);
}

/* What is wrong with the outputs or a kernel ends the run before any work. With validation the
 * drivers are loaded again anyway, and a search that is named is often one of the CPU engine.
 * libavformat does not say which file it opens, so the identity of the file of that name is taken
 * before and after. */
static enum gpume_exit plan_run(void *client)
{
    struct estimate *estimate = client;
    struct gpume_cli_job *job = &estimate->job;
    const struct gpume_estimate_options *options = estimate->options;
    const enum gpume_exit result = gpume_estimate_plan(job, options);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    if (gpume_prefilter_option_read(&estimate->options->asked.prefilter, estimate->weights) !=
        GPUME_OK) {
        return GPUME_EXIT_INPUT;
    }
    if (options->asked.compat_ffmpeg) {
        estimate->graph = gpume_compat_graph(options);
        if (!estimate->graph) {
            return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
        }
        job->wanted.filter = estimate->graph;
    }
    for (size_t i = 0; i < job->output_count; i++) {
        job->wanted.colour = job->wanted.colour || job->outputs[i].ops->want_colour;
    }
    job->wanted.colour_first = gpume_estimate_first_target(options);
    job->loads_drivers = options->params.backend != GPUME_BACKEND_CPU &&
                         !options->params.validate && !options->params.search;
    look_at_input(&estimate->input, options);
    return GPUME_EXIT_DONE;
}

static int take_source_colour(void *source, uint64_t frame, struct gpume_plane *rgb)
{
    return gpume_source_take_colour(source, frame, rgb);
}

static void describe_run(struct estimate *estimate)
{
    const struct gpume_estimate_options *options = estimate->options;
    const struct gpume_cli_job *job = &estimate->job;
    struct gpume_params params = options->params;
    params.width = job->info.width;
    params.height = job->info.height;
    params.bits = job->info.bits;
    params.log = gpume_library_log;
    params.cache_dir = gpume_host_cache_folder();
    params.prefilter = options->asked.prefilter.text ? &options->asked.prefilter.filter : NULL;
    for (size_t i = 0; i < job->output_count; i++) {
        const struct gpume_sink_ops *ops = job->outputs[i].ops;
        params.want_predicted = params.want_predicted || ops->want_predicted;
        params.want_frames = params.want_frames || ops->want_frames;
        params.want_returns = params.want_returns || (ops->want_returns && !params.best_reference);
    }
    estimate->run = (struct gpume_run){
        .asked = &options->asked,
        .input = input_name(options),
        .reference = reference_name(options),
        .params = params,
        .expected = gpume_run_window_expect(
            options, options->common.input_count == 2 ? 2 : job->info.frames),
        .set = &estimate->job.set,
        .summary = &estimate->summary,
        .log = gpume_console,
        .video = &job->info,
        .colours = {take_source_colour, job->source},
        .format = job->shape.format,
        .fields_last = !options->asked.compat_ffmpeg, /* whose first one is of the command's own */
    };
    estimate->summary = (struct gpume_summary){.run = &estimate->run};
}

/* With --resume, prepares to go on after the last frame pair that the outputs hold. */
static enum gpume_exit open_checkpoint(struct estimate *estimate)
{
    const enum gpume_exit result = gpume_checkpoint_open(&estimate->checkpoint, &estimate->job,
        &estimate->summary, estimate->is_steady ? &estimate->input : NULL,
        gpume_prefilter_option_sum(&estimate->options->asked.prefilter));
    estimate->before = estimate->summary;
    estimate->window = gpume_run_window_make(estimate->options, &estimate->before);
    estimate->run.params.first_frame = estimate->window.first_frame;
    estimate->run.params.first_target = estimate->window.first_target;
    estimate->run.params.target_count = estimate->window.target_count;
    return result;
}

static enum gpume_exit check_depth(const struct estimate *estimate)
{
    const struct gpume_params *params = &estimate->run.params;
    if (params->subpel > 1 && params->interpolation == GPUME_INTERPOLATION_HEVC &&
        params->bits > 12) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "%s: has %" PRIu32 " bits per sample, but --interpolation hevc supports at most 12; "
            "use h264 or bilinear",
            estimate->job.info.label, params->bits);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit prepare_run(void *client)
{
    struct estimate *estimate = client;
    struct gpume_source_info *info = &estimate->job.info;
    const struct gpume_estimate_options *options = estimate->options;
    struct gpume_run_input after;
    look_at_input(&after, options);
    estimate->is_steady = gpume_run_input_is_same(&estimate->input, &after);
    describe_fields(options, info);
    enum gpume_exit result =
        options->asked.compat_ffmpeg ? gpume_compat_check_input(options, info) : GPUME_EXIT_DONE;
    if (result == GPUME_EXIT_DONE) {
        describe_run(estimate);
        result = check_depth(estimate);
    }
    const char *predictor = options->asked.predictor.file;
    if (result == GPUME_EXIT_DONE && predictor) {
        result = gpume_exit_of_reader(
            gpume_predictor_open(&estimate->predictor, predictor, &estimate->run.params));
    }
    result = result ? result : open_checkpoint(estimate);
    result = result ? result : gpume_job_open_engine(&estimate->job, &estimate->run.params);
    if (result == GPUME_EXIT_DONE && options->asked.compat_ffmpeg &&
        options->asked_block != estimate->run.params.block) {
        gpume_console_warning("--block %" PRIu32 ": --compat ffmpeg makes it %" PRIu32
                              ", the next power of two, as mestimate does",
            options->asked_block, estimate->run.params.block);
    }
    return result;
}

#define CSV_BYTES 35u  /* of a row at 1080p with blocks of 8 */
#define SMALL_BYTES 8u /* as .mvf, or compressed */
#define LARGE_BYTES 10e9
#define PAIRS_MOST 100000000u /* of a year at 3 frames per second; some containers lie */

static void warn_of_interlaced(const struct gpume_source_info *input)
{
    if (input->interlaced) {
        gpume_console_warning(
            "%s: is interlaced, and whole frames of two fields are searched; "
            "--vf yadif makes progressive ones, and --fields same searches field by field",
            input->label);
    }
}

static void warn_of_driver(const struct gpume_params *params, const struct gpume_info *info)
{
    if (params->backend != GPUME_BACKEND_AUTO || params->device ||
        strcmp(info->backend, "vulkan") != 0 ||
        gpume_host_device_type(info->device) != GPUME_DEVICE_SOFTWARE) {
        return;
    }
    gpume_console_warning("no GPU found: %s%s runs on the software driver %s, far slower than the "
                          "CPU engine; leave it out, or add --backend vulkan if you want this",
        params->search ? "--search " : "--validate", params->search ? params->search : "",
        info->device);
}

/* Of a frame pair, in all shapes. */
static double count_pair_blocks(const struct gpume_params *params)
{
    const struct gpume_block_size square = {params->block, params->block};
    const uint32_t count = params->shape_count > 0 ? params->shape_count : 1;
    double blocks = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_block_size *size =
            params->shape_count > 0 ? &params->shapes[i] : &square;
        const uint32_t across = (params->width + size->width - 1) / size->width;
        blocks += (double)across * ((params->height + size->height - 1) / size->height);
    }
    return blocks * (params->candidates > 1 ? params->candidates : 1);
}

static void warn_of_size(const struct gpume_cli_job *job, const struct gpume_run *run)
{
    const double rows = (double)run->expected * count_pair_blocks(&run->params);
    for (size_t i = 0; i < job->output_count && run->expected < PAIRS_MOST; i++) {
        const struct gpume_job_output *output = &job->outputs[i];
        const bool is_csv = output->ops == &gpume_sink_vectors_csv ||
                            (job->shape.format == &gpume_vectors_csv &&
                                output->ops == gpume_sink_vectors(&gpume_vectors_csv));
        if (is_csv && strcmp(output->path, "-") != 0 && rows * CSV_BYTES >= LARGE_BYTES) {
            gpume_console_warning("%s: will take about %.0f GB for %" PRIu64
                                  " frame pair%s; as .csv.zst, or vectors and costs alone as .mvf, "
                                  "about %.0f GB",
                output->path, rows * CSV_BYTES / 1e9, run->expected, gpume_plural(run->expected),
                rows * SMALL_BYTES / 1e9);
            return;
        }
    }
}

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

/* What --max-memory leaves is for decoders. engine: its memory is planned by now. */
static void divide_input(const struct gpume_cli_job *job, const struct gpume_info *engine)
{
    const uint64_t most = job->params->memory_max;
    const struct devices devices = count_devices(job->ctx);
    const uint64_t taken =
        engine->host_bytes + engine->device_bytes +
        (devices.unopened > 0 ? most / devices.count * devices.unopened : 0); /* their shares */
    const uint64_t left = most > taken ? most - taken : 0;
    (void)gpume_source_share(
        &job->wanted, job->source, job->frames_max, devices.gpus, most > 0 ? left : UINT64_MAX);
}

static enum gpume_exit open_sinks(void *client)
{
    struct estimate *estimate = client;
    struct gpume_cli_job *job = &estimate->job;
    struct gpume_info info;
    estimate->start_ns = gpume_clock_ns();
    gpume_get_info(job->ctx, &info);
    gpume_summary_set_engine(&estimate->summary, &info);
    gpume_console_info("%s: %s; search %s; %.1f MiB of host memory, %.1f MiB of device memory",
        info.backend, info.device, info.search, (double)info.host_bytes / 1048576,
        (double)info.device_bytes / 1048576);
    divide_input(job, &info);
    warn_of_interlaced(&job->info);
    if (gpume_estimate_draws(estimate->options) && !estimate->options->asked.source.filter) {
        gpume_source_warn_of_rotation(&job->info, "the output's pictures are not");
    }
    warn_of_driver(&estimate->run.params, &info);
    warn_of_size(job, &estimate->run);
    const enum gpume_exit made = gpume_job_make_folder(job);
    if (made != GPUME_EXIT_DONE) {
        return made;
    }
    if (gpume_checkpoint_take_back(&estimate->checkpoint) != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    for (size_t i = 0; i < job->output_count; i++) {
        const struct gpume_job_output *output = &job->outputs[i];
        const int status =
            gpume_sink_open(&job->sinks[i], output->ops, output->path, &estimate->run);
        if (status != GPUME_OK) {
            /* Such as a format that cannot hold the input's bit depth, or a file in use. */
            return status == GPUME_INVALID || status == GPUME_AGAIN ? GPUME_EXIT_USAGE
                                                                    : GPUME_EXIT_FAILED;
        }
    }
    gpume_checkpoint_clear(&estimate->checkpoint); /* our own are locked */
    return GPUME_EXIT_DONE;
}

/* --- frames in: the source thread */

/* Counts what reading took since `before`, and checks its result. */
static int note_read(struct feed *feed, int status, uint64_t before)
{
    struct gpume_source_counts counts;
    gpume_source_get_counts(feed->source, &counts);
    feed->decode_ns += gpume_clock_ns() - before;
    feed->read = counts.delivered;
    if (status == GPUME_EOF && feed->read < feed->known) {
        feed->is_short = true;
        status = GPUME_INVALID;
    }
    feed->source_failed = status != GPUME_OK && status != GPUME_EOF && status != GPUME_CANCELLED;
    return status;
}

static int send_frame(struct feed *feed)
{
    gpume_frame *frame = NULL;
    struct gpume_plane plane;
    int64_t time_us = 0;
    int status = gpume_frame_acquire(feed->ctx, &frame, &plane, GPUME_WAIT);
    if (status != GPUME_OK) {
        return status;
    }
    const uint64_t before = gpume_clock_ns();
    status = note_read(feed, gpume_source_read(feed->source, &plane, &time_us), before);
    if (status != GPUME_OK) {
        gpume_frame_release(&frame);
        return status;
    }
    status = gpume_send(feed->ctx, &frame, time_us);
    feed->sent += status == GPUME_OK;
    return status;
}

static int send_all(struct feed *feed)
{
    int status = GPUME_OK;
    if (feed->skip > 0) {
        const uint64_t before = gpume_clock_ns();
        status = note_read(feed, gpume_source_skip(feed->source, feed->skip), before);
        feed->sent = feed->read;
    }
    for (uint64_t i = 0; (feed->count == 0 || i < feed->count) && status == GPUME_OK; i++) {
        status = send_frame(feed);
    }
    if (status == GPUME_OK) {
        gpume_source_warn(feed->source); /* the end of the input was not reached */
    }
    /* A cancelled input has ended, too. */
    return status == GPUME_OK || status == GPUME_EOF || status == GPUME_CANCELLED
               ? gpume_finish(feed->ctx)
               : status;
}

static void *feed_main(void *opaque)
{
    struct feed *feed = opaque;
    feed->status = send_all(feed);
    if (feed->status != GPUME_OK) {
        gpume_cancel(feed->ctx);
    }
    return NULL;
}

/* --- fields out, one target frame at a time */

/* The caller sets the first five members; the others are zero. */
struct target_stream {
    bool both;   /* frames have one past and one future reference, each with its own field */
    bool compat; /* --compat ffmpeg: frame 0 is compared with itself, and the last frame omitted */
    int (*deliver)(void *opaque, const struct gpume_field *field);
    /* False: the run was interrupted before all references of the target had been sent. */
    bool (*is_whole)(void *opaque, uint64_t target);
    void *opaque;

    bool ended;                     /* further fields are dropped */
    const struct gpume_field *past; /* waits for the field with the future reference */
    struct gpume_vector *vectors;   /* of frame 0 compared with itself */
    uint32_t *costs, *ranks;
};

/* Delivers the motion field of the first frame compared with itself. */
static int deliver_itself(struct target_stream *stream, const struct gpume_field *future)
{
    const uint32_t blocks = future->blocks_x * future->blocks_y;
    stream->vectors = calloc(blocks, sizeof(*stream->vectors));
    stream->costs = calloc(blocks, sizeof(*stream->costs));
    stream->ranks = calloc(blocks, sizeof(*stream->ranks));
    if (!stream->vectors || !stream->costs || !stream->ranks) {
        return gpume_refuse(
            GPUME_NOMEM, "out of memory for a frame pair of %" PRIu32 " blocks", blocks);
    }
    for (uint32_t i = 0; i < blocks; i++) {
        stream->ranks[i] = i; /* equal costs in raster order */
    }
    const struct gpume_layer layer = {
        .block_w = future->layers[0]->block_w,
        .block_h = future->layers[0]->block_h,
        .blocks_x = future->blocks_x,
        .blocks_y = future->blocks_y,
        .vectors = stream->vectors,
        .costs = stream->costs,
        .ranks = stream->ranks,
    };
    const struct gpume_layer *const layers[] = {&layer};
    const struct gpume_field itself = {
        .layer_count = 1,
        .layers = layers,
        .vector_units = future->vector_units,
        .frame = future->frame,
        .ref = future->frame,
        .time_us = future->time_us,
        .blocks_x = future->blocks_x,
        .blocks_y = future->blocks_y,
        .vectors = stream->vectors,
        .costs = stream->costs,
        .ranks = stream->ranks,
        .sums = {.zero = blocks},
    };
    return stream->deliver(stream->opaque, &itself);
}

/* The last frames have no future reference, so nothing follows a waiting field; after an
 * interruption something would have. */
static int end_target(struct target_stream *stream)
{
    int status = GPUME_OK;
    if (stream->past && !stream->compat && !gpume_signals_caught()) {
        status = stream->deliver(stream->opaque, stream->past);
    }
    gpume_field_release(&stream->past);
    return status;
}

/* Delivers both fields of a frame, or its only one. */
static int deliver_pair(struct target_stream *stream, const struct gpume_field *future)
{
    int status = GPUME_OK;
    if (stream->past) {
        status = stream->deliver(stream->opaque, stream->past);
    } else if (stream->compat && future->frame == 0) {
        status = deliver_itself(stream, future);
    }
    gpume_field_release(&stream->past);
    return status == GPUME_OK ? stream->deliver(stream->opaque, future) : status;
}

/* Takes ownership of a field and delivers the fields of a complete frame. */
static int take_target_field(struct target_stream *stream, const struct gpume_field *field)
{
    int status = GPUME_OK;
    stream->ended = stream->ended || !stream->is_whole(stream->opaque, field->frame);
    if (stream->ended) {
        gpume_field_release(&field);
        return GPUME_OK;
    }
    if (stream->both && field->ref < field->frame) {
        status = end_target(stream);
        stream->past = field;
        return status;
    }
    status = deliver_pair(stream, field);
    gpume_field_release(&field);
    return status;
}

/* Adds the times of this run to those of the runs that it resumes. */
static void sum_times(struct estimate *estimate)
{
    struct gpume_stats stats;
    gpume_get_stats(estimate->job.ctx, &stats);
    gpume_summary_set_stats(&estimate->summary, &estimate->before, &stats);
    estimate->summary.whole_ns = estimate->before.whole_ns + gpume_clock_ns() - estimate->start_ns;
}

/* Passes a motion field to every sink. */
static int deliver(void *opaque, const struct gpume_field *field)
{
    struct estimate *estimate = opaque;
    const uint64_t pixels = (uint64_t)estimate->job.info.width * estimate->job.info.height;
    const uint64_t before = gpume_clock_ns();
    int status = GPUME_OK;
    for (size_t i = 0; i < estimate->job.output_count && status == GPUME_OK; i++) {
        status = estimate->job.sinks[i]->ops->field(estimate->job.sinks[i], field);
    }
    gpume_summary_add(&estimate->summary, field);
    if (status == GPUME_OK && gpume_run_window_ends(&estimate->run.params, field) &&
        gpume_checkpoint_is_due(&estimate->checkpoint)) {
        sum_times(estimate);
        status = gpume_checkpoint_save(&estimate->checkpoint);
    }
    estimate->summary.write_ns += gpume_clock_ns() - before;
    gpume_progress_step(&estimate->job.progress, estimate->summary.all.fields,
        gpume_psnr(estimate->job.info.bits, pixels, field->sums.sse_after));
    return status;
}

static bool is_whole(void *opaque, uint64_t target)
{
    struct estimate *estimate = opaque;
    return !gpume_signals_caught() ||
           target + frames_ahead(&estimate->run.params) < estimate->feed.sent;
}

static int receive_all(struct estimate *estimate)
{
    const struct gpume_params *params = &estimate->run.params;
    const bool several = params->distance_count > 1 && !params->best_reference;
    int status = GPUME_OK;
    struct target_stream stream = {
        .both = params->direction == GPUME_DIRECTION_BOTH && !params->best_reference && !several,
        .compat = estimate->options->asked.compat_ffmpeg,
        .deliver = deliver,
        .is_whole = is_whole,
        .opaque = estimate,
    };
    while (status == GPUME_OK) {
        const struct gpume_field *field = NULL;
        status = gpume_receive(estimate->job.ctx, &field, GPUME_WAIT);
        if (status == GPUME_OK) {
            status = take_target_field(&stream, field);
        }
        if (status == GPUME_OK && gpume_signals_overdue()) {
            status = GPUME_CANCELLED;
            estimate->checkpoint.possible &= !several; /* maybe in the middle of a target */
        }
    }
    if (status == GPUME_EOF) {
        const int ended = end_target(&stream);
        status = ended == GPUME_OK ? GPUME_EOF : ended;
    }
    gpume_field_release(&stream.past);
    free(stream.vectors);
    free(stream.costs);
    free(stream.ranks);
    const int let_go = gpume_sinks_let_go(estimate->job.sinks, estimate->job.output_count);
    return status == GPUME_EOF && let_go != GPUME_OK ? let_go : status;
}

static enum gpume_exit refuse_short_input(const struct gpume_estimate_options *options,
    const struct gpume_source_info *info, uint64_t found)
{
    char start[32] = "", distance[32] = "", causes[96];
    const uint64_t needed = least_frames(options);
    if (options->asked.start > 0) {
        snprintf(start, sizeof(start), ", --start %" PRIu64, options->asked.start);
    }
    if (options->params.ref_distance > 1) {
        snprintf(
            distance, sizeof(distance), ", --ref-distance %" PRIu32, options->params.ref_distance);
    }
    struct gpume_estimate_options past = *options;
    past.params.direction = GPUME_DIRECTION_PAST;
    past.asked.compat_ffmpeg = false;
    const bool turned = least_frames(&past) < needed;
    const bool future = options->params.direction == GPUME_DIRECTION_FUTURE;
    snprintf(causes, sizeof(causes), "%s%s%s", start, distance,
        !turned                        ? ""
        : options->asked.compat_ffmpeg ? ", --compat ffmpeg"
        : future                       ? ", --direction future"
                                       : ", --direction both");
    return gpume_refuse_short_source(info, options->asked.source.filter, found, needed, causes);
}

/* Runs both threads, from the first frame to the last motion field. */
static enum gpume_exit transfer(void *client)
{
    struct estimate *estimate = client;
    const struct gpume_estimate_options *options = estimate->options;
    estimate->feed = (struct feed){
        .source = estimate->job.source,
        .ctx = estimate->job.ctx,
        .skip = estimate->window.first_frame,
        .count = estimate->window.send,
        .known = estimate->window.known,
    };
    gpume_progress_init(&estimate->job.progress, &options->common, estimate->run.expected);
    const uint64_t known = estimate->job.info.frames, skip = estimate->window.first_frame;
    const uint64_t most = estimate->window.send, rest = known > skip ? known - skip : 0;
    (void)gpume_expect(estimate->job.ctx, most > 0 && (rest == 0 || most < rest) ? most : rest);
    struct feed *feed = &estimate->feed;
    if (pthread_create(&feed->thread, NULL, feed_main, feed) != 0) {
        (void)gpume_log_no_thread(&gpume_console);
        return GPUME_EXIT_FAILED;
    }
    const int status = receive_all(estimate);
    if (status != GPUME_EOF) {
        gpume_cancel(estimate->job.ctx);
        gpume_source_cancel(estimate->job.source);
    }
    pthread_join(feed->thread, NULL);
    gpume_progress_finish(&estimate->job.progress, estimate->summary.all.fields);

    struct gpume_source_counts counts = {0};
    gpume_source_get_counts(estimate->job.source, &counts);
    estimate->summary.delivered = counts.delivered;
    estimate->summary.refused = counts.refused;
    estimate->summary.scaled = counts.scaled;
    struct gpume_info info; /* again, since another engine may have taken over */
    gpume_get_info(estimate->job.ctx, &info);
    gpume_summary_set_engine(&estimate->summary, &info);
    gpume_summary_set_lanes(&estimate->summary, estimate->job.ctx);
    sum_times(estimate);
    estimate->summary.decode_ns = estimate->before.decode_ns + estimate->feed.decode_ns;
    estimate->interrupted = gpume_signals_caught() && !estimate->feed.source_failed &&
                            (status == GPUME_EOF || status == GPUME_CANCELLED);
    if (estimate->interrupted) {
        return GPUME_EXIT_FAILED;
    }
    if (estimate->feed.source_failed) {
        return estimate->feed.status == GPUME_NOMEM ? GPUME_EXIT_FAILED : GPUME_EXIT_INPUT;
    }
    if (estimate->predictor.failed) {
        return GPUME_EXIT_INPUT;
    }
    if (status != GPUME_EOF || estimate->feed.status != GPUME_OK) {
        return GPUME_EXIT_FAILED;
    }
    if (estimate->summary.all.fields == 0) {
        return refuse_short_input(options, &estimate->job.info, counts.delivered);
    }
    if (estimate->summary.targets < options->asked.frames) {
        gpume_console_warning("--frames %" PRIu64 ": the input ends after %" PRIu64,
            options->asked.frames, estimate->summary.targets);
    }
    return GPUME_EXIT_DONE;
}

/* --- the end */

/* Completes all outputs before any of them gets its name, so that a full disk leaves none. */
static enum gpume_exit finish_outputs(struct estimate *estimate, bool partial)
{
    uint64_t before = gpume_clock_ns();
    int status;
    GPUME_TRY(gpume_checkpoint_begin_end(&estimate->checkpoint, partial));
    for (size_t i = 0; i < estimate->job.output_count; i++) {
        /* Before each: report and summary, which contain these times, come last. */
        const uint64_t now = gpume_clock_ns();
        estimate->summary.write_ns += now - before;
        estimate->summary.whole_ns = estimate->before.whole_ns + now - estimate->start_ns;
        before = now;
        GPUME_TRY(estimate->job.sinks[i]->ops->finish(estimate->job.sinks[i]));
    }
    GPUME_TRY(gpume_out_set_name(&estimate->job.set, &estimate->run.log));
    GPUME_TRY(gpume_checkpoint_end(&estimate->checkpoint, partial));
fail:
    return status == GPUME_OK ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

static enum gpume_exit complete_run(void *client)
{
    return finish_outputs(client, false);
}

/* Gives the outputs of an interrupted run the names of partial results. */
static enum gpume_exit leave_partial(struct estimate *estimate)
{
    const uint64_t fields = estimate->summary.all.fields;
    if (fields == 0) {
        return gpume_refuse(GPUME_EXIT_FAILED,
            "interrupted before the first frame pair was done; unfinished outputs were removed");
    }
    if (finish_outputs(estimate, true) != GPUME_EXIT_DONE) {
        return GPUME_EXIT_FAILED;
    }
    char left[160];
    const bool is_stdout = estimate->job.output_count == 1 && estimate->job.to_stdout;
    snprintf(left, sizeof(left), "%s of %" PRIu64 " frame pair%s %s%s",
        is_stdout ? "the output" : "the results", fields, gpume_plural(fields),
        is_stdout ? "is complete" : "are in files that end in .partial",
        is_stdout || !estimate->checkpoint.possible ? "" : "; --resume continues after them");
    gpume_signals_set_left(left);
    gpume_signals_say_interrupted();
    return GPUME_EXIT_FAILED;
}

/* --resume with an input that is certainly another: all outputs stay under their names. */
static enum gpume_exit refuse_input(struct estimate *estimate)
{
    gpume_console_error(
        "--resume: %s ends after %" PRIu64 " frame%s, but %" PRIu64
        " of it were read before; give the same video, or start anew without --resume",
        estimate->job.info.label, estimate->feed.read, gpume_plural(estimate->feed.read),
        estimate->window.known);
    return gpume_checkpoint_give_back(&estimate->checkpoint) == GPUME_OK ? GPUME_EXIT_INPUT
                                                                         : GPUME_EXIT_FAILED;
}

static enum gpume_exit abandon(void *client, enum gpume_exit result)
{
    struct estimate *estimate = client;
    return estimate->interrupted     ? leave_partial(estimate)
           : estimate->feed.is_short ? refuse_input(estimate)
                                     : result;
}

static enum gpume_exit conclude_run(void *client, FILE *stream)
{
    const struct estimate *estimate = client;
    const struct gpume_estimate_options *options = estimate->options;
    const struct gpume_summary *summary = &estimate->summary;
    const int verbosity = options->common.verbosity;
    char line[128];
    gpume_summary_check_line(summary, line, sizeof(line));
    if (verbosity > 0) {
        char busy[256];
        gpume_summary_busy_line(summary, busy, sizeof(busy));
        gpume_console_info("%s", busy);
    }
    if (options->common.form == GPUME_FORM_JSON) {
        if (gpume_summary_print_json(summary) != GPUME_OK) {
            return GPUME_EXIT_FAILED;
        }
    } else if (stream) {
        gpume_summary_print(summary, verbosity > 0, stream);
    } else if (options->params.check && verbosity == 0 && summary->matched == summary->checked) {
        fprintf(stderr, "%s\n", line);
    }
    if (summary->matched != summary->checked) {
        return gpume_refuse(GPUME_EXIT_MISMATCH, "--check: %s: the results of %s (%s) are wrong",
            line, summary->backend, summary->device);
    }
    return GPUME_EXIT_DONE;
}

enum gpume_exit gpume_estimate_run(struct gpume_estimate_options *options)
{
    static const struct gpume_job_work work = {
        .plan = plan_run,
        .prepare = prepare_run,
        .open = open_sinks,
        .run = transfer,
        .complete = complete_run,
        .conclude = conclude_run,
        .abandon = abandon,
    };
    struct estimate estimate = {.options = options,
        .job = {.common = &options->common,
            .choice = &options->asked.source,
            .params = &options->params,
            .frames_max = options->asked.frames}};
    const enum gpume_exit result = gpume_job_run(&estimate.job, &work, &estimate);
    gpume_checkpoint_finish(&estimate.checkpoint);
    gpume_job_close(&estimate.job);
    gpume_predictor_close(&estimate.predictor);
    free(estimate.graph);
    return result;
}
