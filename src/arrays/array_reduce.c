/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/context.h"
#include "base/status.h"

static int reduce(
    const struct gpume_array *array, const struct gpume_reduction *what, uint64_t *results)
{
    uint32_t element_bytes = gpume_element_bytes(what->element);
    if ((unsigned)what->element > GPUME_ELEMENT_U32 || what->count > GPUME_REDUCE_MAX ||
        what->first > array->bytes / element_bytes ||
        what->count > array->bytes / element_bytes - what->first) {
        return GPUME_INVALID;
    }
    struct gpume_compute *compute = array->compute;
    return compute->ops->reduce(
        compute->state, what, array->memory, results, &compute->times.run_ns);
}

static int reduce_array(
    const struct gpume_array *array, const struct gpume_reduction *what, uint64_t *results)
{
    if (!array) {
        return GPUME_INVALID;
    }
    array->compute->times = (struct gpume_compute_times){0};
    return reduce(array, what, results);
}

static int reduce_host(struct gpume_compute *compute, const struct gpume_reduction *what,
    const void *data, uint64_t *results)
{
    if (!compute || (!data && what->count > 0) || what->count > GPUME_REDUCE_MAX) {
        return GPUME_INVALID;
    }
    struct gpume_array array = {0};
    int status;
    compute->times = (struct gpume_compute_times){0};
    /* Reductions only read the array, so const may be cast away. */
    GPUME_TRY(gpume_array_borrow(compute, &array, (void *)(uintptr_t)data,
        what->count * gpume_element_bytes(what->element)));
    GPUME_TRY(reduce(&array, what, results));
fail:
    gpume_array_give_back(&array);
    return status;
}

static bool can_count(uint32_t shift, uint32_t bin_count, const uint64_t *bins)
{
    return bins && shift <= 31 && bin_count >= 1 && bin_count <= GPUME_HISTOGRAM_MAX;
}

#define REDUCTION(what, ...)                                                                       \
    &(struct gpume_reduction)                                                                      \
    {                                                                                              \
        .kind = (what), .element = element, __VA_ARGS__                                            \
    }

int gpume_array_sum(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, uint64_t *sum)
{
    return !sum ? GPUME_INVALID
                : reduce_array(
                      array, REDUCTION(GPUME_REDUCE_SUM, .first = first, .count = count), sum);
}

int gpume_sum(gpume_compute *compute, enum gpume_element element, const void *data, uint64_t count,
    uint64_t *sum)
{
    return !sum ? GPUME_INVALID
                : reduce_host(compute, REDUCTION(GPUME_REDUCE_SUM, .count = count), data, sum);
}

static int take_minimum(int status, const uint64_t results[2], struct gpume_minimum *minimum)
{
    if (status == GPUME_OK) {
        *minimum = (struct gpume_minimum){.index = results[1], .value = (uint32_t)results[0]};
    }
    return status;
}

int gpume_array_minimum(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, struct gpume_minimum *minimum)
{
    uint64_t results[2];
    return !minimum || count == 0
               ? GPUME_INVALID
               : take_minimum(
                     reduce_array(array,
                         REDUCTION(GPUME_REDUCE_MINIMUM, .first = first, .count = count), results),
                     results, minimum);
}

int gpume_minimum(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, struct gpume_minimum *minimum)
{
    uint64_t results[2];
    return !minimum || count == 0
               ? GPUME_INVALID
               : take_minimum(reduce_host(compute, REDUCTION(GPUME_REDUCE_MINIMUM, .count = count),
                                  data, results),
                     results, minimum);
}

int gpume_array_histogram(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins)
{
    return !can_count(shift, bin_count, bins)
               ? GPUME_INVALID
               : reduce_array(array,
                     REDUCTION(GPUME_REDUCE_HISTOGRAM, .first = first, .count = count,
                         .shift = shift, .bin_count = bin_count),
                     bins);
}

int gpume_histogram(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins)
{
    return !can_count(shift, bin_count, bins)
               ? GPUME_INVALID
               : reduce_host(compute,
                     REDUCTION(GPUME_REDUCE_HISTOGRAM, .count = count, .shift = shift,
                         .bin_count = bin_count),
                     data, bins);
}
