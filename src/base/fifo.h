/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring of pointers with a capacity fixed at the start. Not thread-safe: its owner's lock guards
 * it. The owner sizes it for everything that can exist, so pushing cannot fail.
 */
#ifndef GPUME_BASE_FIFO_H
#define GPUME_BASE_FIFO_H

#include <stdint.h>

struct gpume_fifo {
    void **items;
    uint32_t capacity, head, count;
};

/* GPUME_NOMEM on failure. */
int gpume_fifo_init(struct gpume_fifo *fifo, uint32_t capacity);

void gpume_fifo_finish(struct gpume_fifo *fifo);

void gpume_fifo_push(struct gpume_fifo *fifo, void *item);

/* NULL when empty. */
void *gpume_fifo_pop(struct gpume_fifo *fifo);

/* The item that `index` calls of pop would come before; index < count. */
void *gpume_fifo_at(const struct gpume_fifo *fifo, uint32_t index);

#endif
