/* SPDX-License-Identifier: BSD-2-Clause */
#include "gpu/tune/sieving.h"

#include <stdlib.h>
#include <string.h>

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

static int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Adds the frame to the list if its sums are not there yet. */
static void list_frame(struct gpume_sieving *sieving, const struct gpume_plan *plan,
    uint64_t sequence, uint32_t *list, uint32_t *count)
{
    uint32_t place = gpume_work_place(plan, sequence);
    if (sieving->boxed[place] != sequence + 1) {
        sieving->boxed[place] = sequence + 1;
        list[(*count)++] = place;
    }
}

/* Sums of the tasks' frames that have none yet, by rising place so that memory is read in order. */
static void record_boxes(struct gpume_sieving *sieving, const struct gpume_kernels *kernels,
    const struct gpume_work *work)
{
    struct gpume_task_table *table = work->slot->uniforms.mapped;
    uint32_t list[2 * GPUME_TASKS_MAX], count = 0;
    for (uint32_t i = 0; i < work->task_count; i++) {
        list_frame(sieving, work->plan, work->tasks[i].target, list, &count);
        list_frame(sieving, work->plan, work->tasks[i].reference, list, &count);
    }
    qsort(list, count, sizeof(*list), by_place);
    memcpy(table->sum_frames, list, count * sizeof(*list));
    if (count > 0) {
        gpume_k_boxes_record(work, &kernels->boxes, count);
    }
}

static void record_sieve(struct gpume_sieving *sieving, const struct gpume_kernels *kernels,
    const struct gpume_work *work)
{
    gpume_k_sieve_clear(work);
    gpume_barrier_clear_to_kernel(work->slot);
    record_boxes(sieving, kernels, work);
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
    bool sieved = sieving->possible && wanted(sieving, work->task_count);
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
