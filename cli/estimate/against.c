/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames are read with their vectors and sent to the library, which searches each frame in those
 * that its blocks refer to. A frame is finished before the next one is begun.
 */
#include "estimate/against.h"

#include "base/status.h"
#include "coded/versus_table.h"
#include "console.h"
#include "estimate/outputs.h"
#include "files/text_file.h"
#include "host.h"
#include "library_log.h"
#include "options/checks.h"
#include "options/line.h"
#include "progress.h"
#include "signals.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WINDOW 32u    /* pixels, if none is given: twice as far as most encoders search */
#define PAIRS_MAX 16u /* of a frame: its references on both sides */

enum { BLOCKS, FRAMES, PAGE };

struct job {
    const struct gpume_estimate_options *options;
    struct gpume_outputs outputs;
    struct gpume_out_set set;
    struct gpume_out *files[GPUME_AGAINST_OUTPUTS];
    struct gpume_source *source;
    struct gpume_source_info info;
    struct gpume_params params;
    gpume *ctx;
    struct gpume_coded coded;
    struct gpume_versus versus;
    struct gpume_versus_rows rows;
    struct gpume_progress progress;
    uint64_t frames, predicted; /* read so far; of those not I */
};

/* --- options */

static int check_name(
    const char *path, const struct gpume_sink_shape *shape, const struct gpume_log *log)
{
    (void)shape;
    return gpume_text_check_file(path, "against", ".csv", log);
}

const struct gpume_sink_ops gpume_against_outputs[GPUME_AGAINST_OUTPUTS] = {
    [BLOCKS] = {.name = "against.csv", .check = check_name},
    [FRAMES] = {.name = "against_frames.csv", .check = check_name},
    [PAGE] = {.name = "against.html", .check = check_name},
};

int gpume_against_check(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    static const char *const foreign[] = {"block", "partition", "interpolation", "metric",
        "refine-metric", "ref-distance", "best-reference", "bidirectional", "candidates",
        "confidence", "direction", "compat", "prefilter", "start", "duration", "vf", "fields",
        "hwaccel", "vectors", "predicted", "residual", "residual-mode", "difference", "gain",
        "gamma", "overlay", "report", "report-dir", "report-pictures", "surface", "resume", "check",
        "decoders", "json", NULL};
    struct gpume_params *params = &options->params;
    if (gpume_check_foreign(line, foreign, "against-stream",
            "compares the blocks of a stream, whole, in files of its own") != GPUME_OK) {
        return GPUME_INVALID;
    }
    if (options->common.input_count == 2 || options->search.predictor.file) {
        return gpume_refuse(
            GPUME_INVALID, options->search.predictor.file
                               ? "--against-stream: needs --predictor zero or median, not a file"
                               : "--against-stream: needs one video, not two pictures");
    }
    if (gpume_line_has(line, "passes") &&
        options->search.predictor.kind != GPUME_PREDICTOR_MEDIAN) {
        return gpume_refuse(GPUME_INVALID, "--passes: needs --predictor median");
    }
    if (!gpume_line_has(line, "window")) {
        params->window_x = params->window_y = WINDOW;
    }
    params->subpel = gpume_line_has(line, "subpel") ? params->subpel : 0; /* as the stream has */
    return GPUME_OK;
}

/* --- opening */

static enum gpume_exit open_source(struct job *job)
{
    const struct gpume_estimate_options *options = job->options;
    struct gpume_source_options wanted =
        gpume_source_options_make(&options->common, &options->source, &options->params);
    wanted.motion = true;
    const int status = gpume_source_open_inputs(&job->source, &wanted, &job->info);
    job->coded.source = job->source;
    return gpume_source_exit(status);
}

/* H.264 has quarter pixels and filters of its own; the others have half pixels, as a rule, and
 * means of neighbouring samples. */
static void describe_search(struct job *job)
{
    const bool h264 = strcmp(job->info.codec, "h264") == 0;
    struct gpume_params *params = &job->params;
    *params = job->options->params;
    params->width = job->info.width;
    params->height = job->info.height;
    params->bits = job->info.bits;
    params->log = gpume_library_log;
    params->cache_dir = gpume_host_cache_folder();
    memcpy(params->shapes, gpume_coded_shapes, sizeof(gpume_coded_shapes));
    params->shape_count = GPUME_CODED_SHAPES;
    params->subpel = params->subpel > 0 ? params->subpel : h264 ? 4 : 2;
    params->interpolation = h264 ? GPUME_INTERPOLATION_H264 : GPUME_INTERPOLATION_BILINEAR;
    params->direction = GPUME_DIRECTION_MANUAL;
    params->ref_distance = GPUME_VERSUS_REACH;
    job->rows.bits = params->bits;
    job->rows.window_x = params->window_x;
    job->rows.window_y = params->window_y;
}

static enum gpume_exit open_search(struct job *job)
{
    describe_search(job);
    if (gpume_library_check(&job->params) != GPUME_OK) {
        return GPUME_EXIT_USAGE;
    }
    int status = gpume_open(&job->ctx, &job->params);
    if (status == GPUME_OK) {
        gpume_console_forget_error();
        status = gpume_versus_init(&job->versus, &job->info, &job->params);
    } else if (status == GPUME_INVALID) {
        gpume_console_error_about(job->info.label);
    }
    return gpume_exit_of_engine(status);
}

static enum gpume_exit open_files(struct job *job)
{
    const enum gpume_exit made = gpume_outputs_make_folder(&job->outputs);
    int status = GPUME_OK;
    job->set = (struct gpume_out_set){
        .overwrite = job->options->common.overwrite, .own = true, .alone = true, .together = true};
    for (size_t i = 0; i < GPUME_AGAINST_OUTPUTS && !made && status == GPUME_OK; i++) {
        status = gpume_out_open_in(
            &job->files[i], &job->set, job->outputs.items[i].path, &gpume_console);
    }
    if (!made && status == GPUME_OK) {
        gpume_versus_write_head(job->files[BLOCKS]);
    }
    return made ? made : gpume_exit_of_writer(status);
}

/* --- frames */

/* from: without gaps between its rows. */
static void copy_plane(const struct gpume_plane *to, const struct gpume_plane *from)
{
    for (uint32_t y = 0; y < to->height; y++) {
        memcpy((char *)to->data + y * to->stride, (const char *)from->data + y * from->stride,
            (size_t)from->stride);
    }
}

/* Reads a frame into the planes that are measured, and sends a copy to the library. */
static int read_frame(void *opaque, int64_t *time_us)
{
    struct job *job = opaque;
    const struct gpume_plane *plane = gpume_versus_plane(&job->versus, job->coded.received);
    gpume_frame *frame = NULL;
    struct gpume_plane upload;
    int status;
    GPUME_TRY(gpume_source_read(job->source, plane, time_us));
    GPUME_TRY(gpume_frame_acquire(job->ctx, &frame, &upload, GPUME_WAIT));
    copy_plane(&upload, plane);
    GPUME_TRY(gpume_send(job->ctx, &frame, *time_us));
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

static int search(struct job *job)
{
    uint64_t refs[PAIRS_MAX];
    const struct gpume_versus_frame *frame = &job->versus.frame;
    const size_t count = list_references(frame, refs);
    int status = GPUME_OK;
    for (size_t i = 0; i < count; i++) {
        const struct gpume_task task = {
            .size = sizeof(task), .target = frame->frame, .reference = refs[i]};
        GPUME_TRY(gpume_search(job->ctx, &task));
    }
    for (size_t i = 0; i < count; i++) {
        const struct gpume_field *field = NULL;
        GPUME_TRY(gpume_receive(job->ctx, &field, GPUME_WAIT));
        gpume_versus_take(&job->versus, field);
        gpume_field_release(&field);
    }
fail:
    return status;
}

static enum gpume_exit compare(struct job *job, const struct gpume_coded_frame *coded)
{
    int status;
    if (coded->units > job->params.subpel) {
        return gpume_refuse(GPUME_EXIT_USAGE,
            "%s: its vectors count in 1/%" PRIu32
            " pixel; search them, too, with --subpel %" PRIu32,
            job->info.label, coded->units, coded->units);
    }
    job->rows.interlaced += coded->interlaced;
    GPUME_TRY(gpume_versus_begin(&job->versus, &job->coded, coded));
    GPUME_TRY(search(job));
    gpume_versus_end(&job->versus);
    gpume_versus_write_blocks(job->files[BLOCKS], &job->versus.frame);
    GPUME_TRY(gpume_versus_rows_add(&job->rows, &job->versus.frame));
fail:
    return gpume_exit_of_engine(status);
}

static enum gpume_exit take_frame(struct job *job, const struct gpume_coded_frame *frame)
{
    job->frames++;
    job->predicted += frame->type != 'I';
    gpume_progress_step(&job->progress, job->frames, (double)NAN);
    if (frame->count == 0) {
        return job->rows.count == 0 && job->predicted >= GPUME_CODED_SILENT
                   ? gpume_coded_refuse(&job->info, job->frames, job->predicted)
                   : GPUME_EXIT_DONE;
    }
    return compare(job, frame);
}

static enum gpume_exit compare_all(struct job *job)
{
    const uint64_t most = job->options->frames > 0 ? job->options->frames : UINT64_MAX;
    const struct gpume_coded_frame *frame = NULL;
    enum gpume_exit result = GPUME_EXIT_DONE;
    job->coded.read = read_frame;
    job->coded.opaque = job;
    int status = gpume_coded_next(&job->coded, &frame);
    while (status == GPUME_OK && result == GPUME_EXIT_DONE && frame) {
        result = take_frame(job, frame);
        if (result != GPUME_EXIT_DONE || job->rows.count >= most) {
            break;
        }
        status = gpume_coded_next(&job->coded, &frame);
    }
    gpume_progress_finish(&job->progress, job->frames);
    if (gpume_signals_caught()) {
        gpume_signals_say_interrupted();
        return GPUME_EXIT_FAILED;
    }
    result = result ? result : gpume_source_exit(status);
    return result || job->rows.count > 0
               ? result
               : gpume_coded_refuse(&job->info, job->frames, job->predicted);
}

/* --- the end */

static enum gpume_exit finish_files(struct job *job)
{
    const struct gpume_versus_run run = {
        .input = job->options->common.inputs[0], .codec = job->info.codec, .params = &job->params};
    int status = GPUME_OK;
    gpume_versus_write_frames(job->files[FRAMES], &job->rows);
    gpume_versus_write_page(job->files[PAGE], &job->rows, &run);
    for (size_t i = 0; i < GPUME_AGAINST_OUTPUTS && status == GPUME_OK; i++) {
        status = gpume_out_finish(job->files[i]);
    }
    status = status ? status : gpume_out_set_name(&job->set, &gpume_console);
    return status == GPUME_OK ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

static void print_summary(const struct job *job)
{
    const struct gpume_versus_sums *all = &job->rows.all;
    const double blocks = all->blocks > 0 ? (double)all->blocks : 1;
    const double pixels = all->pixels > 0 ? (double)all->pixels : 1;
    char gain[32];
    printf("compared     %" PRIu64 " blocks of %zu frames", all->blocks, job->rows.count);
    if (job->rows.left_out > 0) {
        printf("; %" PRIu64 " left out", job->rows.left_out);
    }
    gpume_versus_say_gain(all, gain, sizeof(gain));
    printf("\nSAD          %.3f per pixel as coded, %.3f with the best vectors: %s\n",
        (double)all->match[0].sad / pixels, (double)all->match[1].sad / pixels, gain);
    printf("PSNR         %.2f dB as coded, %.2f dB with the best vectors\n",
        gpume_versus_psnr(job->rows.bits, all, 0), gpume_versus_psnr(job->rows.bits, all, 1));
    printf("vector bits  %.2f per block as coded, %.2f with the best vectors\n",
        (double)all->bits[0] / blocks, (double)all->bits[1] / blocks);
    for (size_t i = 0; i < GPUME_AGAINST_OUTPUTS; i++) {
        gpume_console_print_written(job->outputs.items[i].path, stdout);
    }
}

static enum gpume_exit conclude(const struct job *job)
{
    const uint64_t blocks = job->rows.all.blocks;
    gpume_coded_warn_interlaced(&job->info, job->rows.interlaced);
    if (job->rows.outside > 0) {
        gpume_console_warning("%s: %" PRIu64 " of its %" PRIu64 " blocks have vectors that lead "
                              "out of the window; a wider --window may find better ones for them",
            job->info.label, job->rows.outside, blocks);
    } else if (100 * job->rows.at_border > blocks) {
        gpume_console_warning("%.1f %% of the best vectors touch the border of the window; a wider "
                              "--window may find better ones",
            100 * (double)job->rows.at_border / (double)blocks);
    }
    if (job->options->common.verbosity >= 0) {
        print_summary(job);
    }
    return gpume_console_flush_output("the summary") ? GPUME_EXIT_DONE : GPUME_EXIT_FAILED;
}

static enum gpume_exit work(struct job *job)
{
    enum gpume_exit result = gpume_outputs_init(&job->outputs, job->options);
    result = result ? result : open_source(job);
    result = result ? result : open_search(job);
    if (result != GPUME_EXIT_DONE) {
        return result;
    }
    gpume_signals_attach(job->ctx, job->source);
    gpume_progress_init(&job->progress, &job->options->common, job->info.frames);
    job->progress.unit = "frames";
    result = open_files(job);
    result = result ? result : compare_all(job);
    gpume_signals_detach();
    if (gpume_close(&job->ctx) != GPUME_OK && result == GPUME_EXIT_DONE) {
        result = GPUME_EXIT_FAILED;
    }
    result = result ? result : finish_files(job);
    return result ? result : conclude(job);
}

enum gpume_exit gpume_against_run(const struct gpume_estimate_options *options)
{
    struct job job = {.options = options};
    const enum gpume_exit result = work(&job);
    for (size_t i = 0; i < GPUME_AGAINST_OUTPUTS; i++) {
        gpume_out_close(&job.files[i]);
    }
    gpume_outputs_remove_folder(&job.outputs);
    gpume_close(&job.ctx);
    gpume_coded_finish(&job.coded);
    gpume_source_close(&job.source);
    gpume_versus_finish(&job.versus);
    gpume_versus_rows_finish(&job.rows);
    gpume_outputs_finish(&job.outputs);
    return result;
}
