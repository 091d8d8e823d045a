/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A filter of FFmpeg makes two frames of half the height of each frame, in the order of their
 * times. So the fields of one parity are an even number of such frames apart.
 */
#include "estimate/fields.h"

#include "console.h"
#include "estimate/estimate.h"
#include "options/option.h"

#include <stdlib.h>
#include <string.h>

/* The filter takes even heights only. */
static const char separate[] = "crop=iw:2*floor(ih/2):0:0:exact=1,separatefields";

const char *const gpume_fields_names[] = {"none", "same", "nearest", NULL};

/* The nearest field of the same parity is two fields away. */
int gpume_fields_count(enum gpume_fields fields, struct gpume_distance_list *list)
{
    if (fields != GPUME_FIELDS_SAME) {
        return GPUME_OK;
    }
    if (list->count == 0) {
        list->distances[list->count++] = 1;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        list->distances[i] *= 2;
        if (list->distances[i] > GPUME_DISTANCE_MAX) {
            return gpume_refuse(GPUME_INVALID,
                "--ref-distance: at most %d frames with --fields same", GPUME_DISTANCE_MAX / 2);
        }
    }
    return GPUME_OK;
}

int gpume_fields_check(struct gpume_estimate_options *options, const struct gpume_line *line)
{
    if (options->fields == GPUME_FIELDS_NONE) {
        return GPUME_OK;
    }
    if (gpume_line_has(line, "compat")) {
        return gpume_refuse(
            GPUME_INVALID, "--compat: cannot be combined with --fields; leave one of them out");
    }
    if (options->common.input_count == 2) {
        return gpume_refuse(GPUME_INVALID, "--fields: needs one video, not two pictures");
    }
    return gpume_fields_count(options->fields, &options->search.distances);
}

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

void gpume_fields_stretch(enum gpume_fields fields, struct gpume_source_info *info)
{
    if (fields == GPUME_FIELDS_NONE) {
        return;
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

void gpume_fields_caution(
    const struct gpume_estimate_options *options, const struct gpume_source_info *input)
{
    if (options->fields != GPUME_FIELDS_NONE && input->progressive &&
        options->common.verbosity >= 0 && strcmp(options->source.filter, separate) == 0) {
        gpume_console_warning("%s: says that it is progressive, so the two fields of a frame are "
                              "of the same time; leave out --fields, or if it is interlaced, add "
                              "--vf setfield=tff or setfield=bff",
            input->label);
    }
}
