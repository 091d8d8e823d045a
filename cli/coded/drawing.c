/* SPDX-License-Identifier: BSD-2-Clause */
#include "coded/drawing.h"

#include "base/status.h"
#include "console.h"

#include <stdlib.h>

/* Longer vectors are drawn as long as this, in pixels: most are short, and arrows and colours are
 * told apart by the length in relation to the longest. */
#define LONGEST 32

static int make_layer(struct gpume_drawing *drawing, size_t i)
{
    const struct gpume_params *params = &drawing->run.params;
    const uint32_t across = (params->width - 1) / gpume_coded_shapes[i].width + 1;
    const uint32_t down = (params->height - 1) / gpume_coded_shapes[i].height + 1;
    const size_t count = (size_t)across * down;
    drawing->vectors[i] = calloc(count, sizeof(*drawing->vectors[i]));
    drawing->refs[i] = calloc(count, sizeof(*drawing->refs[i]));
    if (i == GPUME_CODED_SHAPES - 1) { /* the layer that has most */
        drawing->costs = calloc(count, sizeof(*drawing->costs));
        drawing->parts = calloc(count, sizeof(*drawing->parts));
    }
    drawing->layers[i] = (struct gpume_layer){
        .block_w = gpume_coded_shapes[i].width,
        .block_h = gpume_coded_shapes[i].height,
        .blocks_x = across,
        .blocks_y = down,
        .vectors = drawing->vectors[i],
        .refs = drawing->refs[i],
    };
    return drawing->vectors[i] && drawing->refs[i] ? GPUME_OK : GPUME_NOMEM;
}

static int make_fields(struct gpume_drawing *drawing)
{
    int status = GPUME_OK;
    for (size_t i = 0; i < GPUME_CODED_SHAPES && status == GPUME_OK; i++) {
        status = make_layer(drawing, i);
    }
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        drawing->layers[i].costs = drawing->layers[i].ranks = drawing->costs;
    }
    return status == GPUME_OK && drawing->costs && drawing->parts
               ? GPUME_OK
               : gpume_refuse(GPUME_NOMEM, "%s: out of memory", drawing->path);
}

static int take_colour(void *source, uint64_t frame, struct gpume_plane *rgb)
{
    const int status = gpume_source_take_colour(source, frame, rgb);
    return status == GPUME_UNSUPPORTED ? GPUME_INVALID : status; /* it is the input */
}

static int make_luma(struct gpume_drawing *drawing, const struct gpume_source_info *info)
{
    drawing->luma = gpume_source_plane(info);
    return drawing->luma.data ? GPUME_OK
                              : gpume_refuse(GPUME_NOMEM, "%s: out of memory", drawing->path);
}

int gpume_drawing_open(struct gpume_drawing *drawing, struct gpume_source *source,
    const struct gpume_source_info *info, struct gpume_out_set *set)
{
    int status;
    struct gpume_params params = {.width = info->width,
        .height = info->height,
        .bits = info->bits,
        .window_x = LONGEST,
        .window_y = LONGEST,
        .subpel = GPUME_VECTORS_UNITS,
        .shape_count = GPUME_CODED_SHAPES,
        .partition = true};
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        params.shapes[i] = gpume_coded_shapes[i];
    }
    drawing->source = source;
    drawing->run = (struct gpume_run){
        .input = info->label,
        .params = params,
        .block_w = gpume_coded_shapes[0].width,
        .block_h = gpume_coded_shapes[0].height,
        .video = info,
        .look = drawing->look,
        .take_colour = take_colour,
        .colours = source,
        .set = set,
        .log = gpume_console,
    };
    GPUME_TRY(make_luma(drawing, info));
    GPUME_TRY(make_fields(drawing));
    GPUME_TRY(gpume_sink_open(&drawing->sink, &gpume_sink_overlay, drawing->path, &drawing->run));
fail:
    return status;
}

int gpume_drawing_read(void *opaque, int64_t *time_us)
{
    struct gpume_drawing *drawing = opaque;
    return gpume_source_read(drawing->source, &drawing->luma, time_us);
}

static int16_t shorten(int32_t value)
{
    const int32_t most = LONGEST * GPUME_VECTORS_UNITS;
    return (int16_t)(value < -most ? -most : value > most ? most : value);
}

/* False: it is no block of any layer, or not visible. */
static bool place_block(struct gpume_drawing *drawing, const struct gpume_vectors_block *block,
    uint64_t frame, struct gpume_part *part)
{
    const struct gpume_params *params = &drawing->run.params;
    const uint32_t shape = gpume_coded_shape(block);
    if (shape == GPUME_CODED_SHAPES || block->x >= params->width || block->y >= params->height) {
        return false;
    }
    const uint32_t at = block->y / block->h * drawing->layers[shape].blocks_x + block->x / block->w;
    drawing->vectors[shape][at] = (struct gpume_vector){shorten(block->dx), shorten(block->dy)};
    drawing->refs[shape][at] = block->ref > frame;
    *part = (struct gpume_part){.layer = shape, .block = at};
    return true;
}

int gpume_drawing_frame(struct gpume_drawing *drawing, const struct gpume_coded_frame *frame)
{
    const uint64_t refs[2] = {frame->frame > 0 ? frame->frame - 1 : 0, frame->frame + 1};
    const struct gpume_layer none = {.block_w = 16, .block_h = 16};
    const struct gpume_layer *layers[GPUME_CODED_SHAPES];
    uint32_t count = 0;
    for (size_t i = 0; i < frame->count; i++) {
        struct gpume_part *part = &drawing->parts[count];
        count += place_block(drawing, &frame->blocks[i], frame->frame, part);
    }
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        layers[i] = count > 0 ? &drawing->layers[i] : &none;
    }
    const struct gpume_field field = {
        .frame = frame->frame,
        .ref = refs[0],
        .time_us = frame->time_us,
        .vector_units = GPUME_VECTORS_UNITS,
        .layer_count = GPUME_CODED_SHAPES,
        .layers = layers,
        .ref_count = 2,
        .refs = refs,
        .part_count = count,
        .parts = drawing->parts,
    };
    return drawing->sink->ops->field(drawing->sink, &field);
}

int gpume_drawing_finish(struct gpume_drawing *drawing)
{
    return drawing->sink->ops->finish(drawing->sink);
}

void gpume_drawing_close(struct gpume_drawing *drawing)
{
    gpume_sink_close(&drawing->sink);
    for (size_t i = 0; i < GPUME_CODED_SHAPES; i++) {
        free(drawing->vectors[i]);
        free(drawing->refs[i]);
    }
    free(drawing->costs);
    free(drawing->parts);
    free(drawing->luma.data);
}
