/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/rank.h"

#include <stdlib.h>
#include <string.h>

struct gpume_vectors_ranker {
    struct gpume_log log;
    struct gpume_vectors_field field;
    struct gpume_vectors_block *blocks;
    uint64_t *keys; /* 2^32 - 1 - cost, then the index: sorted, they are in order of rank */
    size_t capacity;
};

int gpume_vectors_ranker_create(struct gpume_vectors_ranker **ranker, const struct gpume_log *log)
{
    struct gpume_vectors_ranker *self = calloc(1, sizeof(*self));
    if (!self) {
        return gpume_log_nomem(log, "ranks of blocks");
    }
    self->log = *log;
    *ranker = self;
    return GPUME_OK;
}

static int reserve(struct gpume_vectors_ranker *ranker, size_t count)
{
    if (count <= ranker->capacity) {
        return GPUME_OK;
    }
    free(ranker->blocks);
    free(ranker->keys);
    ranker->capacity = 0;
    ranker->blocks = malloc(count * sizeof(*ranker->blocks));
    ranker->keys = malloc(count * sizeof(*ranker->keys));
    if (!ranker->blocks || !ranker->keys) {
        return gpume_log_nomem(&ranker->log, "ranks of blocks");
    }
    ranker->capacity = count;
    return GPUME_OK;
}

static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

int gpume_vectors_ranker_apply(struct gpume_vectors_ranker *ranker,
    const struct gpume_vectors_field *field, const struct gpume_vectors_field **ranked)
{
    const size_t count = field->count; /* at most GPUME_READ_BLOCKS_MAX: below 2^32 */
    const int status = reserve(ranker, count);
    if (status != GPUME_OK) {
        return status;
    }
    memcpy(ranker->blocks, field->blocks, count * sizeof(*ranker->blocks));
    for (size_t i = 0; i < count; i++) {
        ranker->keys[i] = (uint64_t)(UINT32_MAX - field->blocks[i].cost) << 32 | i;
    }
    qsort(ranker->keys, count, sizeof(*ranker->keys), by_value);
    for (size_t i = 0; i < count; i++) {
        ranker->blocks[ranker->keys[i] & UINT32_MAX].rank = (uint32_t)i;
    }
    ranker->field = *field;
    ranker->field.columns |= GPUME_VECTORS_RANK;
    ranker->field.blocks = ranker->blocks;
    *ranked = &ranker->field;
    return GPUME_OK;
}

void gpume_vectors_ranker_destroy(struct gpume_vectors_ranker **ranker)
{
    struct gpume_vectors_ranker *self = *ranker;
    if (self) {
        free(self->blocks);
        free(self->keys);
        free(self);
        *ranker = NULL;
    }
}
