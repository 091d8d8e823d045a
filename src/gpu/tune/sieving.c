/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/sieving.h"

#include <stdlib.h>

int gpume_sieving_create(const struct gpume_gpu *gpu, const struct gpume_plan *plan, bool possible,
    struct gpume_sieving *sieving)
{
    sieving->possible = possible;
    sieving->boxed = calloc(plan->ring, sizeof(*sieving->boxed));
    return sieving->boxed ? GPUME_OK : gpume_log_nomem(gpu->log, "the sieve");
}

void gpume_sieving_destroy(struct gpume_sieving *sieving)
{
    free(sieving->boxed);
    sieving->boxed = NULL;
}

/* Sums of those of `count` frames from `first` on that have none yet. */
static void record_boxes(struct gpume_sieving *sieving, const struct gpume_kernels *kernels,
    const struct gpume_work *work, uint64_t first, uint32_t count)
{
    uint64_t end = first + count, ring = work->plan->ring;
    for (uint64_t from = first; from < end;) {
        uint64_t to = from;
        for (; to < end && sieving->boxed[to % ring] != to + 1; to++) {
            sieving->boxed[to % ring] = to + 1;
        }
        if (to > from) {
            gpume_k_boxes_record(work, &kernels->boxes, from, (uint32_t)(to - from));
        }
        from = to > from ? to : to + 1;
    }
}

static void record_sieve(struct gpume_sieving *sieving, const struct gpume_kernels *kernels,
    const struct gpume_work *work)
{
    gpume_k_sieve_clear(work);
    gpume_barrier_clear_to_kernel(work->slot);
    for (uint32_t i = 0; i < 2; i++) {
        const struct gpume_run *run = &work->runs[i];
        record_boxes(sieving, kernels, work, run->first.reference, run->count);
        record_boxes(sieving, kernels, work, run->first.target, run->count);
    }
    gpume_barrier_kernel_to_kernel(work->slot);
    gpume_k_sieve_record(work, &kernels->sieve);
    gpume_barrier_kernel_to_kernel(work->slot);
}

static bool wanted(struct gpume_sieving *sieving, uint32_t fields)
{
    return sieving->forced ? sieving->submissions++ % 3 < 2
                           : gpume_sieve_switch_next(&sieving->decide, fields);
}

void gpume_sieving_record(struct gpume_sieving *sieving, const struct gpume_kernels *kernels,
    const struct gpume_work *work, uint32_t slot)
{
    bool sieved = sieving->possible && wanted(sieving, work->field_count);
    sieving->sieved[slot] = sieved;
    if (sieved) {
        record_sieve(sieving, kernels, work);
    }
    gpume_k_match_record(work, sieved ? &kernels->left : &kernels->match);
}

void gpume_sieving_measured(
    struct gpume_sieving *sieving, uint32_t slot, uint64_t ns, uint32_t fields)
{
    gpume_sieve_switch_measured(&sieving->decide, sieving->sieved[slot], ns, fields);
}

static uint64_t count_at(const uint32_t *words, uint32_t which)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < GPUME_COUNT_SLOTS; i++, words += GPUME_COUNT_WORDS) {
        sum += words[2 * which] | (uint64_t)words[2 * which + 1] << 32;
    }
    return sum;
}

void gpume_sieving_count(const struct gpume_sieving *sieving, uint32_t slot, const uint32_t *words,
    uint64_t candidates, struct gpume_stats *stats)
{
    bool sieved = sieving->sieved[slot];
    stats->fields++;
    stats->candidates += candidates;
    stats->past_blocks += sieved ? count_at(words, GPUME_COUNT_PAST_BLOCKS) : candidates;
    stats->past_parts += sieved ? count_at(words, GPUME_COUNT_PAST_PARTS) : candidates;
}
