/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume luma: the frames of a video as the search sees them, as Y4M. What Y4M cannot say is in
 * comments, which its readers skip: the bits of a sample, and the times of frames. The Python
 * package reads video through this command. Main thread only.
 */
#include "commands.h"
#include "console.h"
#include "files/text_file.h"
#include "media/picture.h"
#include "video.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
    struct gpume_video video;
    uint8_t *row;
};

static enum gpume_exit write_head(void *opaque)
{
    struct job *job = opaque;
    const struct gpume_source_info *info = &job->video.info;
    char comment[32];
    const struct gpume_picture_options frames = {
        .width = info->width,
        .height = info->height,
        .bits = info->bits,
        .rate_num = info->rate_num,
        .rate_den = info->rate_den,
        .full_range = info->full_range,
    };
    snprintf(comment, sizeof(comment), " XBITS=%" PRIu32, info->bits);
    job->row = malloc((size_t)info->width * 2);
    if (!job->row) {
        return gpume_refuse(GPUME_EXIT_FAILED, "out of memory");
    }
    return gpume_exit_of_writer(gpume_y4m_write_head(job->video.out, &frames, comment));
}

static int write_frame(void *opaque, const struct gpume_plane *luma, int64_t time_us)
{
    struct job *job = opaque;
    char line[48];
    snprintf(line, sizeof(line), "FRAME XTIME_US=%" PRId64 "\n", time_us);
    const int status = gpume_out_text(job->video.out, line);
    return status ? status : gpume_y4m_write_luma(job->video.out, luma, job->row);
}

static enum gpume_exit finish(void *opaque)
{
    (void)opaque;
    return GPUME_EXIT_DONE;
}

static void conclude(const void *opaque)
{
    const struct job *job = opaque;
    if (!gpume_text_is_stdout(job->video.output) && job->video.options->common.verbosity >= 0) {
        printf("luma         %" PRIu64 " frame%s of %" PRIu32 "x%" PRIu32 ", %" PRIu32 " bits\n",
            job->video.frames, job->video.frames == 1 ? "" : "s", job->video.info.width,
            job->video.info.height, job->video.info.bits);
        gpume_console_print_written(job->video.output, stdout);
    }
}

static enum gpume_exit run(const void *options)
{
    static const struct gpume_video_work work = {write_head, write_frame, finish, conclude};
    struct job job = {.video = {.options = options}};
    const enum gpume_exit result = gpume_video_run(&job.video, &work, &job);
    gpume_video_close(&job.video);
    free(job.row);
    return result;
}

static void set_defaults(void *options)
{
    gpume_video_options_default(options);
}

static int check(void *opaque, const struct gpume_line *line)
{
    const struct gpume_video_options *options = opaque;
    if (!options->output && isatty(STDOUT_FILENO)) {
        return gpume_refuse(GPUME_INVALID,
            "frames are not for terminals: name a file with -o, or pipe them to a program");
    }
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
    {GPUME_OPTION_TIMEOUT, .help = "give up after this time (default: no limit)"},
    {.heading = "Output"},
    {GPUME_ROW_FILE("output", "FILE", OPTIONS, output), .letter = 'o',
        .help = "write to this file (default: standard output)"},
    {GPUME_OPTION_OVERWRITE, .help = "replace an existing output"},
    {.heading = "Messages"},
    GPUME_OPTIONS_MESSAGES("print no closing summary and no progress", "show this help"),
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
    .set_defaults = set_defaults,
    .check = check,
    .run = run,
};
