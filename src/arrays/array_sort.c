/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/context.h"
#include "base/reserved.h"
#include "base/status.h"

#define SORT_MAX (UINT64_C(1) << 30)

void gpume_sort_params_default(struct gpume_sort_params *params)
{
    if (params) {
        *params = (struct gpume_sort_params){.key_bits = 32};
    }
}

static bool can_sort(const struct gpume_sort_params *params, uint64_t count)
{
    if ((unsigned)params->type > GPUME_KEY_I32 || (unsigned)params->method > GPUME_SORT_BITONIC ||
        params->key_bits > 32 || count > SORT_MAX || !GPUME_RESERVED_IS_ZERO(params)) {
        return false;
    }
    for (uint32_t i = 0; params->segments && i < params->segment_count; i++) {
        const struct gpume_segment *segment = &params->segments[i];
        if (segment->first > count || segment->count > count - segment->first) {
            return false;
        }
    }
    return true;
}

static int sort(const struct gpume_sort_params *params, struct gpume_array *keys,
    struct gpume_array *payload, uint64_t count)
{
    struct gpume_compute *compute = keys->compute;
    struct gpume_sort_params resolved = *params;
    bool all_bits = resolved.key_bits == 0 || resolved.type == GPUME_KEY_I32;
    resolved.key_bits = all_bits ? 32 : resolved.key_bits;
    if (count == 0 || (resolved.segments && resolved.segment_count == 0)) {
        return GPUME_OK;
    }
    return compute->ops->sort(compute->state, &resolved, keys->memory,
        payload ? payload->memory : NULL, count, &compute->times.run_ns);
}

int gpume_array_sort(
    const struct gpume_sort_params *params, gpume_array *keys, gpume_array *payload, uint64_t count)
{
    if (!params || !keys || !can_sort(params, count) || !gpume_array_holds(keys, 0, count * 4) ||
        (payload && (payload == keys || payload->compute != keys->compute ||
                        !gpume_array_holds(payload, 0, count * 4)))) {
        return GPUME_INVALID;
    }
    keys->compute->times = (struct gpume_compute_times){0};
    return sort(params, keys, payload, count);
}

int gpume_sort(gpume_compute *compute, const struct gpume_sort_params *params, uint32_t *keys,
    uint32_t *payload, uint64_t count)
{
    if (!compute || !params || (!keys && count > 0) || !can_sort(params, count) ||
        (keys && keys == payload)) {
        return GPUME_INVALID;
    }
    struct gpume_array keys_array = {0}, payload_array = {0};
    int status = GPUME_OK;
    compute->times = (struct gpume_compute_times){0};
    if (count == 0) {
        return GPUME_OK;
    }
    GPUME_TRY(gpume_array_borrow(compute, &keys_array, keys, count * 4));
    if (payload) {
        GPUME_TRY(gpume_array_borrow(compute, &payload_array, payload, count * 4));
    }
    GPUME_TRY(sort(params, &keys_array, payload ? &payload_array : NULL, count));
    GPUME_TRY(gpume_array_fetch(&keys_array, keys));
    if (payload) {
        GPUME_TRY(gpume_array_fetch(&payload_array, payload));
    }
fail:
    gpume_array_give_back(&payload_array);
    gpume_array_give_back(&keys_array);
    return status;
}
