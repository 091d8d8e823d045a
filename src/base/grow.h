/* SPDX-License-Identifier: BSD-2-Clause */
/* Arrays that grow by doubling. */
#ifndef GPUME_BASE_GROW_H
#define GPUME_BASE_GROW_H

#include <stdlib.h>

#define GPUME_GROW_FIRST ((size_t)64) /* items */

/* Makes room for one more item, of `bytes` bytes, after the first `count` ones. Returns the array,
 * which may have moved. NULL: out of memory; the array and its room are unchanged. */
static inline void *gpume_grow(void *items, size_t count, size_t *room, size_t bytes)
{
    if (count < *room) {
        return items;
    }
    const size_t more = *room > 0 ? 2 * *room : GPUME_GROW_FIRST;
    void *larger = realloc(items, more * bytes);
    *room = larger ? more : *room;
    return larger;
}

/* Makes room for this many items. Returns the array as gpume_grow does. */
static inline void *gpume_reserve(void *items, size_t count, size_t *room, size_t bytes)
{
    void *larger = count <= *room ? items : realloc(items, count * bytes);
    *room = larger && count > *room ? count : *room;
    return larger;
}

#endif
