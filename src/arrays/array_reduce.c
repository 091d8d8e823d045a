/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/context.h"
#include "base/status.h"

static bool is_valid(const struct gpume_reduction *what, const uint64_t *results)
{
    return results && (unsigned)what->element <= GPUME_ELEMENT_U32 &&
           what->count <= GPUME_REDUCE_MAX &&
           (what->kind != GPUME_REDUCE_MINIMUM || what->count > 0) &&
           (what->kind != GPUME_REDUCE_HISTOGRAM || (what->shift <= 31 && what->bin_count >= 1 &&
                                                        what->bin_count <= GPUME_HISTOGRAM_MAX));
}

static int reduce_array(
    const struct gpume_array *array, const struct gpume_reduction *what, uint64_t *results)
{
    if (!array || !is_valid(what, results)) {
        return GPUME_INVALID;
    }
    const uint64_t elements = array->bytes / gpume_element_bytes(what->element);
    if (what->first > elements || what->count > elements - what->first) {
        return GPUME_INVALID;
    }
    struct gpume_compute *compute = array->compute;
    compute->times = (struct gpume_compute_times){0};
    return compute->ops->reduce(
        compute->state, what, array->memory, results, &compute->times.run_ns);
}

static int reduce_host(struct gpume_compute *compute, const struct gpume_reduction *what,
    const void *data, uint64_t *results)
{
    if (!compute || (!data && what->count > 0) || !is_valid(what, results)) {
        return GPUME_INVALID;
    }
    struct gpume_array array = {0};
    int status;
    compute->times = (struct gpume_compute_times){0};
    /* Reductions only read the array, so const may be cast away. */
    GPUME_TRY(gpume_array_borrow(compute, &array, (void *)(uintptr_t)data,
        what->count * gpume_element_bytes(what->element)));
    const uint64_t moved_ns = compute->times.to_device_ns;
    status = reduce_array(&array, what, results);
    compute->times.to_device_ns = moved_ns;
fail:
    gpume_array_give_back(&array);
    return status;
}

static int take_minimum(int status, const uint64_t results[2], struct gpume_minimum *minimum)
{
    if (status == GPUME_OK) {
        *minimum = (struct gpume_minimum){.index = results[1], .value = (uint32_t)results[0]};
    }
    return status;
}

#define REDUCTION(what, ...)                                                                       \
    &(struct gpume_reduction)                                                                      \
    {                                                                                              \
        .kind = (what), .element = element, .count = count, __VA_ARGS__                            \
    }

int gpume_array_sum(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, uint64_t *sum)
{
    return reduce_array(array, REDUCTION(GPUME_REDUCE_SUM, .first = first), sum);
}

int gpume_sum(gpume_compute *compute, enum gpume_element element, const void *data, uint64_t count,
    uint64_t *sum)
{
    return reduce_host(compute, REDUCTION(GPUME_REDUCE_SUM, .first = 0), data, sum);
}

int gpume_array_minimum(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, struct gpume_minimum *minimum)
{
    uint64_t results[2];
    const int status = reduce_array(
        array, REDUCTION(GPUME_REDUCE_MINIMUM, .first = first), minimum ? results : NULL);
    return take_minimum(status, results, minimum);
}

int gpume_minimum(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, struct gpume_minimum *minimum)
{
    uint64_t results[2];
    const int status = reduce_host(
        compute, REDUCTION(GPUME_REDUCE_MINIMUM, .first = 0), data, minimum ? results : NULL);
    return take_minimum(status, results, minimum);
}

int gpume_array_histogram(const gpume_array *array, enum gpume_element element, uint64_t first,
    uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins)
{
    return reduce_array(array,
        REDUCTION(GPUME_REDUCE_HISTOGRAM, .first = first, .shift = shift, .bin_count = bin_count),
        bins);
}

int gpume_histogram(gpume_compute *compute, enum gpume_element element, const void *data,
    uint64_t count, uint32_t shift, uint32_t bin_count, uint64_t *bins)
{
    return reduce_host(compute,
        REDUCTION(GPUME_REDUCE_HISTOGRAM, .shift = shift, .bin_count = bin_count), data, bins);
}
