/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume luma: the frames of a video as the search sees them, as Y4M. What Y4M cannot say is in
 * comments, which its readers skip: the bits of a sample, and the times of frames. The Python
 * package reads video through this command. Main thread only.
 */
#include "base/base.h"
#include "job.h"
#include "media/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct luma {
    struct gpume_cli_job job;
    uint8_t *row;
};

static enum gpume_exit write_head(void *client)
{
    struct luma *luma = client;
    const struct gpume_source_info *info = &luma->job.info;
    char comment[32];
    struct gpume_source_info video = *info;
    const struct gpume_picture_options frames = {
        .width = info->width,
        .height = info->height,
        .bits = info->bits,
        .video = &video,
    };
    video.aspect_num = 0; /* is not stated */
    snprintf(comment, sizeof(comment), " XBITS=%" PRIu32, info->bits);
    luma->row = malloc((size_t)info->width * 2);
    if (!luma->row) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    return gpume_exit_of_writer(gpume_y4m_write_head(luma->job.outputs[0].out, &frames, comment));
}

static int write_luma_frame(void *client, const struct gpume_plane *plane, int64_t time_us)
{
    struct luma *luma = client;
    struct gpume_out *out = luma->job.outputs[0].out;
    char line[48];
    snprintf(line, sizeof(line), "FRAME XTIME_US=%" PRId64 "\n", time_us);
    const int status = gpume_out_text(out, line);
    return status ? status : gpume_y4m_write_luma(out, plane, luma->row);
}

static enum gpume_exit conclude_luma(void *client, FILE *stream)
{
    const struct gpume_cli_job *job = &((const struct luma *)client)->job;
    if (stream) {
        fprintf(stream,
            "luma         %" PRIu64 " frame%s of %" PRIu32 "x%" PRIu32 ", %" PRIu32 " bits\n",
            job->frames, gpume_plural(job->frames), job->info.width, job->info.height,
            job->info.bits);
    }
    return GPUME_EXIT_DONE;
}

static enum gpume_exit run_luma(const void *options)
{
    static const struct gpume_job_work work = {
        .open = write_head, .take = write_luma_frame, .conclude = conclude_luma};
    struct luma luma = {.job = gpume_job_of(options)};
    const enum gpume_exit result = gpume_job_run(&luma.job, &work, &luma);
    gpume_job_close(&luma.job);
    free(luma.row);
    return result;
}

static int check_luma_options(void *opaque, const struct gpume_line *line)
{
    const struct gpume_video_options *options = opaque;
    if (!options->output && isatty(STDOUT_FILENO)) {
        return gpume_refuse(GPUME_INVALID,
            "a terminal cannot show frames; name a file with -o, or pipe them to a program");
    }
    GPUME_CHECK(gpume_name_check_kind(options->output, "Y4M", ".y4m"));
    return gpume_video_options_check(opaque, line);
}

#define OPTIONS struct gpume_video_options

static struct gpume_option table[] = {
    {.heading = "Input"},
    {GPUME_OPTION_VF(OPTIONS, source.filter)},
    {GPUME_OPTION_STREAM(OPTIONS, source.stream)},
    {GPUME_OPTION_HWACCEL(OPTIONS, source.hwaccel)},
    {GPUME_OPTION_DECODERS(OPTIONS, source.decoders)},
    {GPUME_OPTION_THREADS(OPTIONS, params.threads)},
    GPUME_OPTIONS_TRUST(OPTIONS, source),
    {GPUME_OPTION_VIDEO_FRAMES(OPTIONS, frames)},
    {GPUME_OPTION_TIMEOUT},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "FILE", OPTIONS, output), .letter = 'o',
        .help = "write to this file (default: standard output)"},
    {GPUME_OPTION_OVERWRITE, .help = "replace an existing output"},
    {.heading = "Messages"},
    GPUME_OPTIONS_MESSAGES("print no closing summary and no progress"),
};

const struct gpume_command gpume_luma_command = {
    .name = "luma",
    .summary = "write the frames of a video as the search sees them",
    .usage = "luma INPUT [-o FILE] [options]",
    .about = "Writes the luma of every frame as Y4M, with the bits of the input and the times of "
             "its frames: for programs that search or measure the same samples.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_video_options),
    GPUME_COMMAND_ONE_VIDEO,
    .catches_signals = true,
    .set_defaults = gpume_video_options_default,
    .check = check_luma_options,
    .run = run_luma,
};
