/* SPDX-License-Identifier: BSD-2-Clause */
/* All memory of an engine, which is freed together. */
#include "cpu/cpu.h"

void *gpume_allocate(struct gpume_allocations *memory, uint64_t count, uint64_t size)
{
    if (memory->failed) {
        return NULL;
    }
    memory->failed = true;                     /* until all is well */
    if (size > 0 && count > SIZE_MAX / size) { /* 32-bit hosts */
        return NULL;
    }
    memory->bytes += count * size;
    if (memory->count == memory->room) {
        const size_t room = 2 * memory->room + 64;
        void **blocks = realloc(memory->blocks, room * sizeof(*blocks));
        if (!blocks) {
            return NULL;
        }
        memory->blocks = blocks;
        memory->room = room;
    }
    void *block = calloc((size_t)count, (size_t)size);
    memory->blocks[memory->count++] = block;
    memory->failed = !block;
    return block;
}

void gpume_free_all(struct gpume_allocations *memory)
{
    for (size_t i = 0; i < memory->count; i++) {
        free(memory->blocks[i]);
    }
    free(memory->blocks);
}
