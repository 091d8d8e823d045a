/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors.h"

#include "function.h"

static const char *const properties_set[] = {"GpumeVectors", "GpumeCosts", "GpumeRef", "GpumeCols",
    "GpumeRows", "GpumeBlock", "GpumeSubpel", "GpumeSadBefore", "GpumeSadAfter"};

static struct gpume_plane luma_of(const struct gpume_function *function, const VSFrame *frame)
{
    return (struct gpume_plane){.data = (void *)function->vsapi->getReadPtr(frame, 0),
        .stride = function->vsapi->getStride(frame, 0),
        .width = function->params.width,
        .height = function->params.height,
        .bits = function->params.bits};
}

static void set_properties(const struct gpume_function *function, int reference,
    const struct gpume_field *field, VSMap *properties)
{
    const VSAPI *vsapi = function->vsapi;
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
static int attach(struct gpume_function *function, int n, const VSFrame *target,
    const VSFrame *reference, VSMap *properties)
{
    const struct gpume_field *field = NULL;
    for (size_t i = 0; i < sizeof properties_set / sizeof *properties_set; i++) {
        function->vsapi->mapDeleteKey(properties, properties_set[i]);
    }
    if (!reference) {
        return GPUME_OK;
    }
    const struct gpume_pairs_frame from = {
        .name = (uint64_t)(n + function->delta), .plane = luma_of(function, reference)};
    const struct gpume_pairs_frame to = {.name = (uint64_t)n, .plane = luma_of(function, target)};
    const int status = gpume_pairs_search(&function->pairs, &to, &from, &field);
    if (status == GPUME_OK) {
        set_properties(function, n + function->delta, field, properties);
        gpume_field_release(&field);
    }
    return status;
}

static void read_arguments(struct gpume_function *function)
{
    struct gpume_params *params = &function->params;
    uint32_t block[2], window[2];
    gpume_function_pair(function, "block", GPUME_BLOCK_MIN, GPUME_BLOCK_MAX, 8, block);
    gpume_function_pair(function, "window", 0, GPUME_WINDOW_MAX, 7, window);
    params->width = (uint32_t)function->vi->width;
    params->height = (uint32_t)function->vi->height;
    params->shape_count = 1;
    params->shapes[0] = (struct gpume_block_size){block[0], block[1]};
    params->window_x = window[0];
    params->window_y = window[1];
    params->subpel = (uint32_t)gpume_function_int(function, "subpel", 1, 4, 1);
    params->metric = (enum gpume_metric)gpume_function_choice(
        function, "metric", GPUME_FUNCTION_PARAM(metric)->choices);
    params->edge = (enum gpume_edge)gpume_function_choice(
        function, "edge", GPUME_FUNCTION_PARAM(edge)->choices);
    gpume_function_price(function);
}

void VS_CC gpume_vectors_create(
    const VSMap *in, VSMap *out, void *user, VSCore *core, const VSAPI *vsapi)
{
    (void)user;
    struct gpume_function *function = gpume_function_begin(
        "Vectors", sizeof *function, attach, "clip", "backward", in, out, core, vsapi);
    if (function) {
        read_arguments(function);
        gpume_function_end(function, 1, out);
    }
}
