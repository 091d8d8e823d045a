/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/pool.h"

#include <stdlib.h>

struct gpume_link *gpume_pool_take(struct gpume_pool *pool)
{
    struct gpume_link *link = pool->free;
    if (!link) {
        return malloc(pool->bytes);
    }
    pool->free = link->next;
    return link;
}

void gpume_pool_give(struct gpume_pool *pool, struct gpume_link **list)
{
    while (*list) {
        struct gpume_link *link = *list;
        *list = link->next;
        link->next = pool->free;
        pool->free = link;
    }
}

void gpume_pool_finish(struct gpume_pool *pool)
{
    while (pool->free) {
        struct gpume_link *link = pool->free;
        pool->free = link->next;
        free(link);
    }
}
