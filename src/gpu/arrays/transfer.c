/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/arrays/transfer.h"

#include "base/grid.h"
#include "base/status.h"

#include <string.h>

#define PIECE_BYTES (8u << 20) /* large enough that a submission costs nothing beside it */

int gpume_transfer_create(
    struct gpume_gpu *gpu, struct gpume_timeline *timeline, struct gpume_transfer *transfer)
{
    transfer->timeline = timeline;
    for (uint32_t i = 0; i < GPUME_TRANSFER_LANES; i++) {
        GPUME_CHECK(gpume_slot_create(gpu, 0, 0, &transfer->lanes[i].slot));
        GPUME_CHECK(gpume_buffer_create(
            gpu, GPUME_BUFFER_STAGING, PIECE_BYTES, &transfer->lanes[i].staging));
    }
    return GPUME_OK;
}

void gpume_transfer_destroy(struct gpume_gpu *gpu, struct gpume_transfer *transfer)
{
    for (uint32_t i = 0; i < GPUME_TRANSFER_LANES; i++) {
        gpume_slot_destroy(&transfer->lanes[i].slot);
        gpume_buffer_destroy(gpu, &transfer->lanes[i].staging);
    }
}

/* Waits until the lane is free; what it was reading is then with the caller. */
static int free_lane(struct gpume_transfer *transfer, uint32_t i)
{
    uint64_t ignored[GPUME_ROW_COUNT] = {0};
    if (!transfer->lanes[i].busy) {
        return GPUME_OK;
    }
    transfer->lanes[i].busy = false;
    int status = gpume_slot_wait(&transfer->lanes[i].slot, transfer->timeline, ignored);
    if (status == GPUME_OK && transfer->lanes[i].sink) {
        memcpy(transfer->lanes[i].sink, transfer->lanes[i].staging.mapped,
            (size_t)transfer->lanes[i].bytes);
    }
    return status;
}

static int start(struct gpume_transfer *transfer, uint32_t i, const struct gpume_view *from,
    const struct gpume_view *to, void *sink)
{
    struct gpume_slot *slot = &transfer->lanes[i].slot;
    gpume_slot_begin(slot);
    gpume_barrier_all(slot);
    gpume_slot_copy_view(slot, from, to);
    if (sink) {
        gpume_barrier_copy_to_host(slot);
    }
    int status = gpume_slot_submit(slot, transfer->timeline);
    transfer->lanes[i].busy = status == GPUME_OK;
    transfer->lanes[i].sink = sink;
    transfer->lanes[i].bytes = from->bytes;
    return status;
}

/* The lanes in turn; one of data and sink is NULL. */
static int move(struct gpume_transfer *transfer, const struct gpume_buffer *buffer, uint64_t offset,
    const char *data, char *sink, uint64_t bytes)
{
    int status = GPUME_OK;
    uint32_t lane = 0;
    for (uint64_t done = 0; done < bytes && status == GPUME_OK; lane ^= 1) {
        uint64_t piece = gpume_min_u64(bytes - done, PIECE_BYTES);
        struct gpume_view part = {buffer->buffer, offset + done, piece};
        struct gpume_view staging = {transfer->lanes[lane].staging.buffer, 0, piece};
        status = free_lane(transfer, lane);
        if (status == GPUME_OK && data) {
            memcpy(transfer->lanes[lane].staging.mapped, data + done, (size_t)piece);
        }
        if (status == GPUME_OK) {
            status = start(transfer, lane, data ? &staging : &part, data ? &part : &staging,
                sink ? sink + done : NULL);
        }
        done += piece;
    }
    for (uint32_t i = 0; i < GPUME_TRANSFER_LANES; i++, lane ^= 1) {
        int freed = free_lane(transfer, lane);
        status = status == GPUME_OK ? freed : status;
    }
    return status;
}

int gpume_transfer_write(struct gpume_transfer *transfer, const struct gpume_buffer *to,
    uint64_t offset, const void *data, uint64_t bytes)
{
    return move(transfer, to, offset, data, NULL, bytes);
}

int gpume_transfer_read(struct gpume_transfer *transfer, const struct gpume_buffer *from,
    uint64_t offset, void *data, uint64_t bytes)
{
    return move(transfer, from, offset, NULL, data, bytes);
}
