/* SPDX-License-Identifier: BSD-2-Clause */
#include "video.h"

#include "console.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>

static enum gpume_exit make_plane(struct gpume_video *video)
{
    const struct gpume_source_info *info = &video->info;
    const size_t stride = (size_t)info->width * (info->bits > 8 ? 2 : 1);
    void *data = calloc(info->height, stride);
    if (!data) {
        return gpume_refuse(GPUME_EXIT_FAILED, "%s: out of memory for a frame of %zu MiB",
            info->label, (stride * info->height >> 20) + 1);
    }
    video->plane = (struct gpume_plane){
        .data = data,
        .stride = (ptrdiff_t)stride,
        .width = info->width,
        .height = info->height,
        .bits = info->bits,
    };
    return GPUME_EXIT_DONE;
}

enum gpume_exit gpume_video_open(struct gpume_video *video,
    const struct gpume_common_options *common, const struct gpume_source_choice *choice,
    const struct gpume_params *params)
{
    const struct gpume_source_options wanted = gpume_source_options_make(common, choice, params);
    const int status = gpume_source_open(&video->source, &wanted, &video->info);
    if (status != GPUME_OK) {
        return gpume_source_exit(status);
    }
    gpume_progress_init(&video->progress, common, video->info.frames);
    video->progress.unit = "frames";
    return make_plane(video);
}

static enum gpume_exit end_reading(int status)
{
    if (gpume_signals_caught()) {
        return gpume_refuse(GPUME_EXIT_FAILED, "interrupted; unfinished outputs were removed");
    }
    return status == GPUME_EOF ? GPUME_EXIT_DONE : gpume_source_exit(status);
}

enum gpume_exit gpume_video_read(
    struct gpume_video *video, uint64_t count, gpume_video_fn take, void *opaque)
{
    const uint64_t end = count > 0 ? video->frames + count : UINT64_MAX;
    int taken = GPUME_OK, status = GPUME_OK;
    gpume_signals_attach(NULL, video->source);
    while (video->frames < end && taken == GPUME_OK && !gpume_signals_caught()) {
        int64_t time_us = 0;
        status = gpume_source_read(video->source, &video->plane, &time_us);
        if (status != GPUME_OK) {
            break;
        }
        video->frames++;
        taken = take(opaque, &video->plane, time_us);
        gpume_progress_step(&video->progress, video->frames, (double)NAN);
    }
    gpume_signals_keep();
    gpume_progress_finish(&video->progress, video->frames);
    if (status == GPUME_OK) {
        gpume_source_warn(video->source); /* the end of the input was not reached */
    }
    return taken != GPUME_OK ? gpume_exit_of_engine(taken) : end_reading(status);
}

void gpume_video_close(struct gpume_video *video)
{
    gpume_source_close(&video->source);
    free(video->plane.data);
    video->plane.data = NULL;
}
