/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/context.h"
#include "base/sized.h"
#include "base/status.h"

#define SORT_MAX (UINT64_C(1) << 30)

int gpume_sort_params_fill(struct gpume_sort_params *params)
{
    static const struct gpume_sort_params defaults = {.key_bits = 32};
    return params ? gpume_sized_write(params, &defaults, sizeof(defaults)) : GPUME_INVALID;
}

static bool can_sort(const struct gpume_sort_params *params, uint64_t count)
{
    if ((unsigned)params->type > GPUME_KEY_I32 || (unsigned)params->method > GPUME_SORT_BITONIC ||
        params->key_bits > 32 || count > SORT_MAX) {
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

/* The caller's parameters for `count` keys, checked and in the library's own form. */
static int read_params(const struct gpume_compute *compute, const struct gpume_sort_params *params,
    uint64_t count, struct gpume_sort_params *own)
{
    int status = gpume_sized_read(own, sizeof(*own), params, "gpume_sort_params", compute->log);
    if (status == GPUME_OK && !can_sort(own, count)) {
        status = GPUME_INVALID;
    }
    if (status == GPUME_OK && (own->key_bits == 0 || own->type == GPUME_KEY_I32)) {
        own->key_bits = 32;
    }
    return status;
}

static int sort(const struct gpume_sort_params *own, struct gpume_array *keys,
    struct gpume_array *payload, uint64_t count)
{
    struct gpume_compute *compute = keys->compute;
    if (count == 0 || (own->segments && own->segment_count == 0)) {
        return GPUME_OK;
    }
    return compute->ops->sort(compute->state, own, keys->memory, payload ? payload->memory : NULL,
        count, &compute->times.run_ns);
}

int gpume_array_sort(
    const struct gpume_sort_params *params, gpume_array *keys, gpume_array *payload, uint64_t count)
{
    if (!params || !keys) {
        return GPUME_INVALID;
    }
    struct gpume_sort_params own;
    GPUME_CHECK(read_params(keys->compute, params, count, &own));
    if (!gpume_array_holds(keys, 0, count * 4) ||
        (payload && (payload == keys || payload->compute != keys->compute ||
                        !gpume_array_holds(payload, 0, count * 4)))) {
        return GPUME_INVALID;
    }
    keys->compute->times = (struct gpume_compute_times){0};
    return sort(&own, keys, payload, count);
}

int gpume_sort(gpume_compute *compute, const struct gpume_sort_params *params, uint32_t *keys,
    uint32_t *payload, uint64_t count)
{
    if (!compute || !params || (!keys && count > 0) || (keys && keys == payload)) {
        return GPUME_INVALID;
    }
    struct gpume_sort_params own;
    struct gpume_array keys_array = {0}, payload_array = {0};
    int status = read_params(compute, params, count, &own);
    if (status != GPUME_OK) {
        return status;
    }
    compute->times = (struct gpume_compute_times){0};
    if (count == 0) {
        return GPUME_OK;
    }
    GPUME_TRY(gpume_array_borrow(compute, &keys_array, keys, count * 4));
    if (payload) {
        GPUME_TRY(gpume_array_borrow(compute, &payload_array, payload, count * 4));
    }
    GPUME_TRY(sort(&own, &keys_array, payload ? &payload_array : NULL, count));
    GPUME_TRY(gpume_array_fetch(&keys_array, keys));
    if (payload) {
        GPUME_TRY(gpume_array_fetch(&payload_array, payload));
    }
fail:
    gpume_array_give_back(&payload_array);
    gpume_array_give_back(&keys_array);
    return status;
}
