/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors.h"

#include "filter.h"

static const char *const properties_set[] = {"GpumeVectors", "GpumeCosts", "GpumeRef", "GpumeCols",
    "GpumeRows", "GpumeBlock", "GpumeSubpel", "GpumeSadBefore", "GpumeSadAfter"};

static struct gpume_plane luma_of(const struct gpume_filter *filter, const VSFrame *frame)
{
    return (struct gpume_plane){.data = (void *)filter->vsapi->getReadPtr(frame, 0),
        .stride = filter->vsapi->getStride(frame, 0),
        .width = filter->params.width,
        .height = filter->params.height,
        .bits = filter->params.bits};
}

static void set_properties(const struct gpume_filter *filter, int reference,
    const struct gpume_field *field, VSMap *properties)
{
    const VSAPI *vsapi = filter->vsapi;
    const struct gpume_layer *layer = field->layers[0];
    const uint32_t blocks = layer->blocks_x * layer->blocks_y;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {{"GpumeRef", (uint64_t)reference}, {"GpumeCols", layer->blocks_x},
        {"GpumeRows", layer->blocks_y}, {"GpumeSubpel", field->vector_units},
        {"GpumeSadBefore", field->sums.sad_before}, {"GpumeSadAfter", field->sums.sad_after}};
    const int64_t block[2] = {layer->block_w, layer->block_h};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        vsapi->mapSetInt(properties, numbers[i].key, (int64_t)numbers[i].value, maReplace);
    }
    vsapi->mapSetIntArray(properties, "GpumeBlock", block, 2);
    vsapi->mapSetData(properties, "GpumeVectors", (const char *)layer->vectors,
        (int)(blocks * sizeof *layer->vectors), dtBinary, maReplace);
    vsapi->mapSetData(properties, "GpumeCosts", (const char *)layer->costs,
        (int)(blocks * sizeof *layer->costs), dtBinary, maReplace);
}

/* A frame without a reference has no properties, not even those of an earlier gpume.Vectors. */
static int attach(struct gpume_filter *filter, int n, const VSFrame *target,
    const VSFrame *reference, VSMap *properties)
{
    const struct gpume_field *field = NULL;
    for (size_t i = 0; i < sizeof properties_set / sizeof *properties_set; i++) {
        filter->vsapi->mapDeleteKey(properties, properties_set[i]);
    }
    if (!reference) {
        return GPUME_OK;
    }
    const struct gpume_pairs_frame from = {
        .name = (uint64_t)(n + filter->delta), .plane = luma_of(filter, reference)};
    const struct gpume_pairs_frame to = {.name = (uint64_t)n, .plane = luma_of(filter, target)};
    const int status = gpume_pairs_search(&filter->pairs, &to, &from, &field);
    if (status == GPUME_OK) {
        set_properties(filter, n + filter->delta, field, properties);
        gpume_field_release(&field);
    }
    return status;
}

static void read_arguments(struct gpume_filter *filter)
{
    struct gpume_params *params = &filter->params;
    uint32_t block[2], window[2];
    gpume_filter_pair(filter, "block", GPUME_BLOCK_MIN, GPUME_BLOCK_MAX, 8, block);
    gpume_filter_pair(filter, "window", 0, GPUME_WINDOW_MAX, 7, window);
    params->width = (uint32_t)filter->vi->width;
    params->height = (uint32_t)filter->vi->height;
    params->shape_count = 1;
    params->shapes[0] = (struct gpume_block_size){block[0], block[1]};
    params->window_x = window[0];
    params->window_y = window[1];
    params->subpel = (uint32_t)gpume_filter_int(filter, "subpel", 1, 4, 1);
    params->metric = (enum gpume_metric)gpume_filter_choice(
        filter, "metric", GPUME_FILTER_PARAM(metric)->choices);
    params->edge =
        (enum gpume_edge)gpume_filter_choice(filter, "edge", GPUME_FILTER_PARAM(edge)->choices);
    gpume_filter_price(filter);
}

void VS_CC gpume_vectors_create(
    const VSMap *in, VSMap *out, void *user, VSCore *core, const VSAPI *vsapi)
{
    (void)user;
    struct gpume_filter *filter = gpume_filter_begin(
        "Vectors", sizeof *filter, attach, "clip", "backward", in, out, core, vsapi);
    if (filter) {
        read_arguments(filter);
        gpume_filter_end(filter, 1, out);
    }
}
