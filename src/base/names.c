/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/names.h"

#include <inttypes.h>
#include <stdio.h>

const char *const gpume_names_backend[] = {"auto", "vulkan", "cpu", NULL};
const char *const gpume_names_device_type[] = {
    "other", "integrated", "discrete", "virtual", "software", NULL};
const char *const gpume_names_direction[] = {"past", "future", "both", NULL};
const char *const gpume_names_edge[] = {"extend", "inside", NULL};
const char *const gpume_names_interpolation[] = {"h264", "hevc", "bilinear", NULL};
const char *const gpume_names_metric[] = {"sad", "satd", "ssd", NULL};
const char *const gpume_names_subpel_search[] = {"refine", "full", NULL};

void gpume_shapes_text(const struct gpume_params *params, char text[GPUME_SHAPES_TEXT_BYTES])
{
    const struct gpume_block_size square = {params->block, params->block};
    const struct gpume_block_size *shapes = params->shape_count > 0 ? params->shapes : &square;
    char *at = text, *end = text + GPUME_SHAPES_TEXT_BYTES;
    for (uint32_t i = 0; i == 0 || i < params->shape_count; i++) {
        at += snprintf(at, (size_t)(end - at), "%s%" PRIu32, i > 0 ? "," : "", shapes[i].width);
        if (shapes[i].height != shapes[i].width) {
            at += snprintf(at, (size_t)(end - at), "x%" PRIu32, shapes[i].height);
        }
    }
}
