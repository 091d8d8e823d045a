/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base.h"
#include "coded/coded.h"
#include "console.h"
#include "estimate/estimate.h"
#include "host.h"
#include "job.h"
#include "options/common.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- --compat ffmpeg */

/* Minima of the filter's options mb_size and search_param. */
#define BLOCK_MIN 8u
#define WINDOW_MIN 4u

static int refuse_compat(const char *option, const char *why)
{
    return gpume_refuse(GPUME_INVALID,
        "--compat ffmpeg: cannot be combined with %s, because %s; leave one of them out", option,
        why);
}

/* Refuses what the filter's search does not have. */
static int check_compat_search(const struct gpume_params *params)
{
    const struct {
        const char *option;
        bool given;
    } unknown[] = {
        {"partition", params->partition},
        {"subpel", params->subpel > 1},
        {"metric", params->metric != GPUME_METRIC_SAD},
        {"lambda or --qp", params->rate},
        {"bidirectional", params->bidirectional},
        {"best-reference", params->best_reference},
        {"candidates", params->candidates > 1},
        {"confidence", params->confidence},
    };
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        if (unknown[i].given) {
            return gpume_refuse(GPUME_INVALID,
                "--compat ffmpeg: the filter finds one whole-pixel vector by SAD for each block; "
                "leave out --%s",
                unknown[i].option);
        }
    }
    return GPUME_OK;
}

int gpume_compat_apply(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    struct gpume_params *params = &options->params;
    if (options->common.input_count == 2) {
        return gpume_refuse(GPUME_INVALID,
            "--compat ffmpeg: the filter takes a video, not two pictures; give a "
            "pattern such as frame%%d.png, or leave it out");
    }
    if (check_compat_search(params) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (params->shape_count > 0) {
        return refuse_compat(
            "--block with rectangles or a list", "the filter's blocks are equal squares");
    }
    if (params->block < BLOCK_MIN) {
        return gpume_refuse(GPUME_INVALID,
            "--compat ffmpeg: the filter's blocks have a side of %u pixels or more; raise --block "
            "%" PRIu32,
            BLOCK_MIN, params->block);
    }
    if (params->window_x != params->window_y || params->window_x < WINDOW_MIN) {
        return gpume_refuse(GPUME_INVALID,
            "--compat ffmpeg: the filter's window is the same for both axes, %u or more; change "
            "--window %" PRIu32 "x%" PRIu32,
            WINDOW_MIN, params->window_x, params->window_y);
    }
    if (gpume_line_has(line, "edge") && params->edge != GPUME_EDGE_INSIDE) {
        return refuse_compat("--edge extend", "the filter never looks outside the picture");
    }
    if (gpume_line_has(line, "direction") && params->direction != GPUME_DIRECTION_BOTH) {
        return refuse_compat(
            params->direction == GPUME_DIRECTION_PAST ? "--direction past" : "--direction future",
            "the filter always looks both ways");
    }
    if (params->ref_distance != 1 || params->distance_count > 1) {
        return refuse_compat(
            "--ref-distance", "the filter's references are the neighbouring frames");
    }
    if (options->asked.prefilter.text) {
        return refuse_compat("--prefilter", "the filter searches unfiltered frames");
    }
    options->asked_block = params->block;
    for (params->block = BLOCK_MIN; params->block < options->asked_block;) {
        params->block *= 2; /* at most 128, like the option */
    }
    params->edge = GPUME_EDGE_INSIDE;
    params->direction = GPUME_DIRECTION_BOTH;
    return GPUME_OK;
}

/* A picture smaller than a block is not cropped; gpume_compat_check_input refuses it. */
char *gpume_compat_graph(const struct gpume_estimate_options *options)
{
    const unsigned block = options->params.block;
    const char *filter = options->asked.source.filter;
    const size_t bytes = (filter ? strlen(filter) : 0) + 256;
    char *graph = malloc(bytes);
    if (graph) {
        snprintf(graph, bytes,
            "%s%scrop=if(lt(iw\\,%u)\\,iw\\,trunc(iw/%u)*%u):if(lt(ih\\,%u)\\,ih\\,trunc(ih/"
            "%u)*%u):0:0",
            filter ? filter : "", filter ? "," : "", block, block, block, block, block, block);
    }
    return graph;
}

enum gpume_exit gpume_compat_check_input(
    const struct gpume_estimate_options *options, const struct gpume_source_info *info)
{
    const uint32_t block = options->params.block;
    if (info->bits != 8) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: has %" PRIu32 " bits per sample, but FFmpeg's mestimate takes 8; convert with "
            "--vf format=gray, or leave --compat out",
            info->label, info->bits);
    }
    if (info->converted) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: FFmpeg converts %s before mestimate sees it; choose the conversion with --vf "
            "format=gray or --vf format=yuv420p, or leave --compat out",
            info->label, info->pixel_format);
    }
    if (info->width % block != 0 || info->height % block != 0) {
        return gpume_refuse(GPUME_EXIT_INPUT,
            "%s: %" PRIu32 "x%" PRIu32 " pixels hold no whole block of %" PRIu32
            ", and FFmpeg's mestimate skips the others; give a smaller --block",
            info->label, info->width, info->height, block);
    }
    return GPUME_EXIT_DONE;
}

/* --- --from-stream */

static const struct gpume_mode from_stream = {
    .option = "from-stream",
    .does = "writes vectors without a search",
    .takes = (const char *const[]){"block", "stream", "allow-network", "allow-files", "max-pixels",
        "threads", "vectors", "format", "overlay", "overlay-style", "overlay-key", "arrow-length",
        "arrow-spacing", "arrow-width", "min-length", "flow-max", "dim", "scale", "report",
        "overwrite", NULL},
};

int gpume_from_stream_check(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    const struct gpume_shape_list *shapes = &options->search.shapes;
    if (gpume_check_mode(line, &from_stream) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (options->common.input_count == 2) {
        return gpume_refuse(GPUME_INVALID, "--from-stream: needs one video, not two pictures");
    }
    if (!options->vectors && !options->files[GPUME_SINK_overlay] && !options->report) {
        return gpume_refuse(
            GPUME_INVALID, "--from-stream: needs --vectors FILE, --overlay FILE or --report FILE");
    }
    if (shapes->count > 1 || shapes->shapes[0].width != shapes->shapes[0].height) {
        return gpume_refuse(GPUME_INVALID, "--block: must be one side with --from-stream");
    }
    options->side = shapes->shapes[0].width;
    if (options->asked.look.style != GPUME_OVERLAY_ARROWS &&
        options->asked.look.style != GPUME_OVERLAY_FLOW) {
        return gpume_refuse(
            GPUME_INVALID, "--overlay-style: must be arrows or flow with --from-stream");
    }
    return gpume_check_look(&options->asked.look, line);
}

/*
 * --- Frames are read with their vectors and sent to the library, which searches each frame in
 * those that its blocks refer to. A frame is finished before the next one is begun.
 */

#define WINDOW 32u    /* pixels, if none is given: twice as far as most encoders search */
#define PAIRS_MAX 16u /* of a frame: its references on both sides */

enum { BLOCKS, FRAMES, PAGE, OUTPUTS };

struct against {
    struct gpume_cli_job job;
    const struct gpume_estimate_options *options;
    struct gpume_params params;
    struct gpume_coded coded;
    struct gpume_versus versus;
    struct gpume_versus_rows rows;
    uint64_t predicted; /* frames read so far that are not I */
    /* Which blocks need the search in each reference of a frame; see struct gpume_task. */
    unsigned char *wanted[PAIRS_MAX];
    size_t firsts[GPUME_CODED_SHAPES + 1]; /* of each shape in it; the last: bytes */
};

/* --- options */

/* Tables of blocks and of frames, and the page. */
static const struct gpume_sink_ops against_outputs[] = {
    [BLOCKS] = {.name = "against.csv", .stem = "against", .ending = ".csv"},
    [FRAMES] = {.name = "against_frames.csv", .stem = "against", .ending = ".csv"},
    [PAGE] = {.name = "against.html", .stem = "against", .ending = ".html"},
};

static const struct gpume_mode against_stream = {
    .option = "against-stream",
    .does = "compares whole blocks of a stream and writes its own files",
    .takes = (const char *const[]){"window", "edge", "subpel", "subpel-search", "lambda", "qp",
        "predictor", "passes", "frames", "stream", "allow-network", "allow-files", "max-pixels",
        "max-memory", "output", "overwrite", "backend", "device", "threads", "search",
        "no-elimination", "validate", NULL},
};

int gpume_against_check(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    struct gpume_params *params = &options->params;
    if (gpume_check_mode(line, &against_stream) != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (options->common.input_count == 2 || options->asked.predictor.file) {
        return gpume_refuse(
            GPUME_INVALID, options->asked.predictor.file
                               ? "--against-stream: needs --predictor zero or median, not a file"
                               : "--against-stream: needs one video, not two pictures");
    }
    if (gpume_line_has(line, "passes") && options->asked.predictor.kind != GPUME_PREDICTOR_MEDIAN) {
        return gpume_refuse(GPUME_INVALID, "--passes: needs --predictor median");
    }
    if (!gpume_line_has(line, "window")) {
        params->window_x = params->window_y = WINDOW;
    }
    params->subpel = gpume_line_has(line, "subpel") ? params->subpel : 0; /* as the stream has */
    return GPUME_OK;
}

/* --- opening */

static enum gpume_exit plan_against(void *client)
{
    struct against *against = client;
    struct gpume_cli_job *job = &against->job;
    job->wanted.motion = true;
    job->leaves_partial = true;
    int status = gpume_estimate_name_folder(job, against->options);
    for (size_t i = 0; i < OUTPUTS && status == GPUME_OK; i++) {
        status = gpume_job_add_standard(job, &against_outputs[i], against_outputs[i].name);
    }
    return status == GPUME_INVALID ? GPUME_EXIT_USAGE : gpume_exit_of_writer(status);
}

/* H.264 has quarter pixels and its own filters; the others have half pixels, as a rule, and
 * means of neighbouring samples. */
static void describe_against_search(struct against *against)
{
    const bool h264 = strcmp(against->job.info.codec, "h264") == 0;
    struct gpume_params *params = &against->params;
    *params = against->options->params;
    params->width = against->job.info.width;
    params->height = against->job.info.height;
    params->bits = against->job.info.bits;
    params->log = gpume_library_log;
    params->cache_dir = gpume_host_cache_folder();
    memcpy(params->shapes, gpume_coded_shapes, sizeof(gpume_coded_shapes));
    params->shape_count = GPUME_CODED_SHAPES;
    params->subpel = params->subpel > 0 ? params->subpel : h264 ? 4 : 2;
    params->interpolation = h264 ? GPUME_INTERPOLATION_H264 : GPUME_INTERPOLATION_BILINEAR;
    params->direction = GPUME_DIRECTION_MANUAL;
    params->ref_distance = GPUME_VERSUS_REACH;
    against->rows.bits = params->bits;
    against->rows.window_x = params->window_x;
    against->rows.window_y = params->window_y;
}

/* Blocks of a shape in a row of them. */
static size_t across(const struct against *against, size_t shape)
{
    return (against->params.width - 1) / gpume_coded_shapes[shape].width + 1;
}

static int allocate_wanted(struct against *against)
{
    bool made = true;
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        const size_t rows = (against->params.height - 1) / gpume_coded_shapes[i].height + 1;
        against->firsts[i + 1] = against->firsts[i] + rows * across(against, i);
    }
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        against->wanted[i] = malloc(against->firsts[GPUME_CODED_SHAPES]);
        made = made && against->wanted[i];
    }
    return made ? GPUME_OK
                : gpume_refuse(GPUME_NOMEM, "%s: out of memory", against->job.info.label);
}

static enum gpume_exit open_search(void *client)
{
    struct against *against = client;
    struct gpume_cli_job *job = &against->job;
    describe_against_search(against);
    const enum gpume_exit result = gpume_job_open_engine(job, &against->params);
    int status = result ? GPUME_OK : allocate_wanted(against);
    if (result == GPUME_EXIT_DONE && status == GPUME_OK) {
        status = gpume_versus_init(&against->versus, &job->info, &against->params);
    }
    return result ? result : gpume_exit_of_engine(status);
}

static enum gpume_exit open_files(void *client)
{
    struct against *against = client;
    enum gpume_exit result = gpume_job_make_folder(&against->job);
    for (size_t i = 0; i < OUTPUTS && result == GPUME_EXIT_DONE; i++) {
        result = gpume_job_open_output(&against->job, i);
    }
    if (result == GPUME_EXIT_DONE) {
        gpume_versus_write_head(against->job.outputs[BLOCKS].out);
    }
    return result;
}

/* --- frames */

/* Reads a frame into the planes that are measured, and sends a copy to the library. */
static int read_measured_frame(void *opaque, int64_t *time_us)
{
    struct against *against = opaque;
    const struct gpume_plane *plane = gpume_versus_plane(&against->versus, against->coded.received);
    gpume_frame *frame = NULL;
    struct gpume_plane upload;
    int status;
    GPUME_TRY(gpume_source_read(against->job.source, plane, time_us));
    GPUME_TRY(gpume_frame_acquire(against->job.ctx, &frame, &upload, GPUME_WAIT));
    gpume_plane_copy(&upload, plane);
    GPUME_TRY(gpume_send(against->job.ctx, &frame, *time_us));
fail:
    return status;
}

/* The frames that the blocks refer to, each once. */
static size_t list_references(const struct gpume_versus_frame *frame, uint64_t refs[PAIRS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < 2 * frame->count; i++) {
        const uint64_t ref = frame->blocks[i / 2].candidates[i % 2];
        size_t k = 0;
        while (k < count && refs[k] != ref) {
            k++;
        }
        if (k == count && ref != GPUME_VERSUS_NONE && count < PAIRS_MAX) {
            refs[count++] = ref;
        }
    }
    return count;
}

/* The blocks that are taken to refer to the frame. */
static unsigned char *want_blocks(const struct against *against, size_t index, uint64_t ref)
{
    const struct gpume_versus_frame *frame = &against->versus.frame;
    unsigned char *wanted = against->wanted[index];
    memset(wanted, 0, against->firsts[GPUME_CODED_SHAPES]);
    for (size_t i = 0; i < frame->count; i++) {
        const struct gpume_versus_block *block = &frame->blocks[i];
        const struct gpume_block_size *shape = &gpume_coded_shapes[block->shape];
        if (block->candidates[0] == ref || block->candidates[1] == ref) {
            wanted[against->firsts[block->shape] +
                   block->place.y / shape->height * across(against, block->shape) +
                   block->place.x / shape->width] = 1;
        }
    }
    return wanted;
}

static int search_references(struct against *against)
{
    uint64_t refs[PAIRS_MAX];
    const struct gpume_versus_frame *frame = &against->versus.frame;
    const size_t count = list_references(frame, refs);
    int status = GPUME_OK;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_task task = {.size = sizeof(task),
            .target = frame->frame,
            .reference = refs[i],
            .wanted = want_blocks(against, i, refs[i])};
        GPUME_TRY(gpume_search(against->job.ctx, &task));
    }
    for (size_t i = 0; i < count; i++) {
        const struct gpume_field *field = NULL;
        GPUME_TRY(gpume_receive(against->job.ctx, &field, GPUME_WAIT));
        gpume_versus_take(&against->versus, field);
        gpume_field_release(&field);
    }
fail:
    return status;
}

static enum gpume_exit compare_frame(struct against *against, const struct gpume_coded_frame *coded)
{
    int status;
    if (coded->units > against->params.subpel) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "%s: its vectors count in 1/%" PRIu32
            " pixel; search them, too, with --subpel %" PRIu32,
            against->job.info.label, coded->units, coded->units);
    }
    against->rows.interlaced += coded->interlaced;
    GPUME_TRY(gpume_versus_begin(&against->versus, &against->coded, coded));
    GPUME_TRY(search_references(against));
    gpume_versus_end(&against->versus);
    gpume_versus_write_blocks(against->job.outputs[BLOCKS].out, &against->versus.frame);
    GPUME_TRY(gpume_versus_rows_add(&against->rows, &against->versus));
fail:
    return gpume_exit_of_engine(status);
}

static enum gpume_exit compare_coded_frame(
    void *client, const struct gpume_coded_frame *frame, bool *enough)
{
    struct against *against = client;
    const uint64_t most = against->options->asked.frames;
    against->predicted += frame->type != 'I';
    if (frame->count == 0) {
        return against->rows.count == 0 && against->predicted >= GPUME_CODED_SILENT
                   ? gpume_coded_refuse(&against->job.info, against->job.frames, against->predicted)
                   : GPUME_EXIT_DONE;
    }
    const enum gpume_exit result = compare_frame(against, frame);
    *enough = most > 0 && against->rows.count >= most;
    return result;
}

static enum gpume_exit compare_all(void *client)
{
    struct against *against = client;
    struct gpume_cli_job *job = &against->job;
    const uint64_t most = against->options->asked.frames;
    if (most > 0 && (job->progress.total == 0 || most < job->progress.total)) {
        job->progress.total = most + 1; /* the first frame has no vectors */
    }
    against->coded.read = read_measured_frame;
    against->coded.opaque = against;
    const enum gpume_exit result =
        gpume_coded_run(&against->coded, job, compare_coded_frame, against);
    return result || against->rows.count > 0
               ? result
               : gpume_coded_refuse(&job->info, job->frames, against->predicted);
}

/* --- the end */

static enum gpume_exit complete_against(void *client)
{
    struct against *against = client;
    struct gpume_cli_job *job = &against->job;
    const struct gpume_versus_run run = {
        .input = job->common->inputs[0], .codec = job->info.codec, .params = &against->params};
    gpume_versus_write_frames(job->outputs[FRAMES].out, &against->rows);
    const int status = gpume_versus_write_page(
        job->outputs[PAGE].out, job->outputs[PAGE].path, &against->rows, &run);
    return status == GPUME_OK ? gpume_job_complete(job) : gpume_exit_of_writer(status);
}

static void print_summary(const struct against *against, FILE *stream)
{
    const struct gpume_versus_sums *all = &against->rows.all;
    const double blocks = all->blocks > 0 ? (double)all->blocks : 1;
    const double pixels = all->pixels > 0 ? (double)all->pixels : 1;
    char gain[32];
    fprintf(stream, "compared     %" PRIu64 " block%s of %zu frame%s", all->blocks,
        gpume_plural(all->blocks), against->rows.count, gpume_plural(against->rows.count));
    if (against->rows.left_out > 0) {
        fprintf(stream, "; %" PRIu64 " left out", against->rows.left_out);
    }
    gpume_versus_say_gain(all, gain, sizeof(gain));
    fprintf(stream, "\nSAD          %.3f per pixel as coded, %.3f with the best vectors: %s\n",
        (double)all->match[0].sad / pixels, (double)all->match[1].sad / pixels, gain);
    fprintf(stream, "PSNR         %.2f dB as coded, %.2f dB with the best vectors\n",
        gpume_versus_psnr(against->rows.bits, all, 0),
        gpume_versus_psnr(against->rows.bits, all, 1));
    fprintf(stream, "vector bits  %.2f per block as coded, %.2f with the best vectors\n",
        (double)all->bits[0] / blocks, (double)all->bits[1] / blocks);
}

static enum gpume_exit conclude_against(void *client, FILE *stream)
{
    const struct against *against = client;
    const struct gpume_cli_job *job = &against->job;
    const uint64_t blocks = against->rows.all.blocks;
    gpume_coded_warn_interlaced(&job->info, against->rows.interlaced);
    if (against->rows.outside > 0) {
        gpume_console_warning("%s: %" PRIu64 " of its %" PRIu64 " block%s with vectors that lead "
                              "out of the window; a wider --window may find better ones for them",
            job->info.label, against->rows.outside, blocks, gpume_plural(blocks));
    } else if (100 * against->rows.at_border > blocks) {
        gpume_console_warning("%.1f %% of the best vectors touch the border of the window; a wider "
                              "--window may find better ones",
            100 * (double)against->rows.at_border / (double)blocks);
    }
    if (stream) {
        print_summary(against, stream);
    }
    return GPUME_EXIT_DONE;
}

enum gpume_exit gpume_against_run(const struct gpume_estimate_options *options)
{
    static const struct gpume_job_work work = {
        .plan = plan_against,
        .prepare = open_search,
        .open = open_files,
        .run = compare_all,
        .complete = complete_against,
        .conclude = conclude_against,
    };
    struct against against = {.options = options,
        .job = {.common = &options->common,
            .choice = &options->asked.source,
            .params = &options->params,
            .set = {.own = true, .alone = true, .together = true}}};
    const enum gpume_exit result = gpume_job_run(&against.job, &work, &against);
    gpume_job_close(&against.job);
    gpume_coded_finish(&against.coded);
    gpume_versus_finish(&against.versus);
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        free(against.wanted[i]);
    }
    gpume_versus_rows_finish(&against.rows);
    return result;
}
