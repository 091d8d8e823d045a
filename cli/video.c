/* SPDX-License-Identifier: BSD-2-Clause */
#include "video.h"

#include "console.h"
#include "files/text_file.h"
#include "options/checks.h"

void gpume_video_options_default(void *opaque)
{
    struct gpume_video_options *options = opaque;
    gpume_params_default(&options->params);
    options->source.stream = -1;
}

int gpume_video_options_check(void *opaque, const struct gpume_line *line)
{
    const struct gpume_video_options *options = opaque;
    (void)line;
    const int status =
        options->output ? gpume_text_check_name(options->output, &gpume_console) : GPUME_OK;
    return status ? status : gpume_check_engine(&options->params);
}
