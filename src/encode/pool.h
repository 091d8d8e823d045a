/* SPDX-License-Identifier: BSD-2-Clause */
/* Pieces of memory of one size, in lists; those that are given back are taken again. */
#ifndef GPUME_ENCODE_POOL_H
#define GPUME_ENCODE_POOL_H

#include <stddef.h>
#include <stdint.h>

/* The first member of what lies in a piece. */
struct gpume_link {
    struct gpume_link *next;
    uint64_t first, second; /* numbers by which it is found */
};

struct gpume_pool {
    size_t bytes; /* of a piece */
    struct gpume_link *free;
};

/* With undefined content. NULL: out of memory. */
struct gpume_link *gpume_pool_take(struct gpume_pool *pool);

/* Gives a list back, which is then empty. */
void gpume_pool_give(struct gpume_pool *pool, struct gpume_link **list);

/* Frees what has been given back. */
void gpume_pool_finish(struct gpume_pool *pool);

#endif
