/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/target_stream.h"

#include "console.h"
#include "signals.h"

#include <inttypes.h>
#include <stdlib.h>

/* Delivers the motion field of the first frame compared with itself. */
static int deliver_itself(struct gpume_target_stream *stream, const struct gpume_field *future)
{
    const uint32_t blocks = future->blocks_x * future->blocks_y;
    stream->vectors = calloc(blocks, sizeof(*stream->vectors));
    stream->costs = calloc(blocks, sizeof(*stream->costs));
    stream->ranks = calloc(blocks, sizeof(*stream->ranks));
    if (!stream->vectors || !stream->costs || !stream->ranks) {
        return gpume_refuse(
            GPUME_NOMEM, "out of memory for a frame pair of %" PRIu32 " blocks", blocks);
    }
    for (uint32_t i = 0; i < blocks; i++) {
        stream->ranks[i] = i; /* equal costs in raster order */
    }
    const struct gpume_layer layer = {
        .block_w = future->layers[0]->block_w,
        .block_h = future->layers[0]->block_h,
        .blocks_x = future->blocks_x,
        .blocks_y = future->blocks_y,
        .vectors = stream->vectors,
        .costs = stream->costs,
        .ranks = stream->ranks,
    };
    const struct gpume_layer *const layers[] = {&layer};
    const struct gpume_field itself = {
        .layer_count = 1,
        .layers = layers,
        .vector_units = future->vector_units,
        .frame = future->frame,
        .ref = future->frame,
        .time_us = future->time_us,
        .blocks_x = future->blocks_x,
        .blocks_y = future->blocks_y,
        .vectors = stream->vectors,
        .costs = stream->costs,
        .ranks = stream->ranks,
        .sums = {.zero = blocks},
    };
    return stream->deliver(stream->opaque, &itself);
}

/* The last frames have no future reference, so nothing follows a waiting field; after an
 * interruption something would have. */
int gpume_target_stream_end(struct gpume_target_stream *stream)
{
    int status = GPUME_OK;
    if (stream->past && !stream->compat && !gpume_signals_caught()) {
        status = stream->deliver(stream->opaque, stream->past);
    }
    gpume_field_release(&stream->past);
    return status;
}

/* Delivers both fields of a frame, or its only one. */
static int deliver_pair(struct gpume_target_stream *stream, const struct gpume_field *future)
{
    int status = GPUME_OK;
    if (stream->past) {
        status = stream->deliver(stream->opaque, stream->past);
    } else if (stream->compat && future->frame == 0) {
        status = deliver_itself(stream, future);
    }
    gpume_field_release(&stream->past);
    return status == GPUME_OK ? stream->deliver(stream->opaque, future) : status;
}

int gpume_target_stream_take(struct gpume_target_stream *stream, const struct gpume_field *field)
{
    int status = GPUME_OK;
    stream->ended = stream->ended || !stream->is_whole(stream->opaque, field->frame);
    if (stream->ended) {
        gpume_field_release(&field);
        return GPUME_OK;
    }
    if (stream->both && field->ref < field->frame) {
        status = gpume_target_stream_end(stream);
        stream->past = field;
        return status;
    }
    status = deliver_pair(stream, field);
    gpume_field_release(&field);
    return status;
}

void gpume_target_stream_finish(struct gpume_target_stream *stream)
{
    gpume_field_release(&stream->past);
    free(stream->vectors);
    free(stream->costs);
    free(stream->ranks);
    *stream = (struct gpume_target_stream){0};
}
