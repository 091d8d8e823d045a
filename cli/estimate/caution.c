/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/caution.h"

#include "console.h"
#include "host.h"
#include "vectors/format.h"

#include <inttypes.h>
#include <string.h>

#define CSV_BYTES 35u  /* of a row at 1080p with blocks of 8 */
#define SMALL_BYTES 8u /* as .mvf, or compressed */
#define LARGE_BYTES 10e9
#define PAIRS_MOST 100000000u /* of a year at 3 frames per second; some containers lie */

static void warn_of_fields(const struct gpume_source_info *input)
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
static double blocks_of(const struct gpume_params *params)
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
    const double rows = (double)run->expected * blocks_of(&run->params);
    for (size_t i = 0; i < job->output_count && run->expected < PAIRS_MOST; i++) {
        const struct gpume_job_output *output = &job->outputs[i];
        const bool is_csv = output->ops == &gpume_sink_vectors_csv ||
                            (job->shape.format == &gpume_vectors_csv &&
                                output->ops == gpume_sink_vectors(&gpume_vectors_csv));
        if (is_csv && strcmp(output->path, "-") != 0 && rows * CSV_BYTES >= LARGE_BYTES) {
            gpume_console_warning("%s: will take about %.0f GB for %" PRIu64
                                  " frame pairs; as .csv.zst, or vectors and costs alone as .mvf, "
                                  "about %.0f GB",
                output->path, rows * CSV_BYTES / 1e9, run->expected, rows * SMALL_BYTES / 1e9);
            return;
        }
    }
}

void gpume_caution(const struct gpume_source_info *input, const struct gpume_info *engine,
    const struct gpume_cli_job *job, const struct gpume_run *run)
{
    warn_of_fields(input);
    warn_of_driver(&run->params, engine);
    warn_of_size(job, run);
}
