/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fifo.h"

#include "gpume/gpume.h"

#include <assert.h>
#include <stdlib.h>

int gpume_fifo_init(struct gpume_fifo *fifo, uint32_t capacity)
{
    void **items = calloc(capacity, sizeof(*items));
    if (!items) {
        return GPUME_NOMEM;
    }
    *fifo = (struct gpume_fifo){.items = items, .capacity = capacity};
    return GPUME_OK;
}

void gpume_fifo_finish(struct gpume_fifo *fifo)
{
    free(fifo->items);
    *fifo = (struct gpume_fifo){0};
}

void gpume_fifo_push(struct gpume_fifo *fifo, void *item)
{
    assert(fifo->count < fifo->capacity);
    fifo->items[(fifo->head + fifo->count) % fifo->capacity] = item;
    fifo->count++;
}

void *gpume_fifo_pop(struct gpume_fifo *fifo)
{
    if (fifo->count == 0) {
        return NULL;
    }
    void *item = fifo->items[fifo->head];
    fifo->head = (fifo->head + 1) % fifo->capacity;
    fifo->count--;
    return item;
}

void *gpume_fifo_at(const struct gpume_fifo *fifo, uint32_t index)
{
    assert(index < fifo->count);
    return fifo->items[(fifo->head + index) % fifo->capacity];
}
