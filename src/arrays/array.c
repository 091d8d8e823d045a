/* SPDX-License-Identifier: BSD-2-Clause */
#include "arrays/context.h"
#include "base/clock.h"

#include <stdlib.h>

static int create_array(struct gpume_compute *compute, struct gpume_array *array, uint64_t bytes)
{
    *array = (struct gpume_array){.compute = compute, .bytes = bytes};
    return compute->ops->create(compute->state, bytes, &array->memory);
}

static void destroy_memory(struct gpume_array *array)
{
    if (array->memory) {
        array->compute->ops->destroy(array->compute->state, array->memory);
    }
}

/* mapped: NULL for an array that the host does not reach. */
static int create_handle(
    struct gpume_compute *compute, struct gpume_array **out, uint64_t bytes, void **mapped)
{
    struct gpume_array *array = malloc(sizeof(*array));
    if (!array) {
        return gpume_log_nomem(compute->log, "an array");
    }
    *array = (struct gpume_array){.compute = compute, .bytes = bytes};
    int status = mapped ? compute->ops->create_host(compute->state, bytes, &array->memory, mapped)
                        : compute->ops->create(compute->state, bytes, &array->memory);
    if (status != GPUME_OK) {
        free(array);
        return status;
    }
    *out = array;
    return GPUME_OK;
}

int gpume_array_create(gpume_compute *compute, gpume_array **out, uint64_t bytes)
{
    return compute && out ? create_handle(compute, out, bytes, NULL) : GPUME_INVALID;
}

int gpume_array_create_host(
    gpume_compute *compute, gpume_array **out, uint64_t bytes, void **memory)
{
    return compute && out && memory ? create_handle(compute, out, bytes, memory) : GPUME_INVALID;
}

void gpume_array_destroy(gpume_array **array)
{
    if (array && *array) {
        destroy_memory(*array);
        free(*array);
        *array = NULL;
    }
}

bool gpume_array_holds(const struct gpume_array *array, uint64_t offset, uint64_t bytes)
{
    return offset <= array->bytes && bytes <= array->bytes - offset;
}

/* Adds to the times, because one call may transfer several arrays. */
static int move_in(struct gpume_array *array, uint64_t offset, const void *data, uint64_t bytes)
{
    struct gpume_compute *compute = array->compute;
    uint64_t start = gpume_clock_ns();
    int status = bytes > 0 ? compute->ops->write(compute->state, array->memory, offset, data, bytes)
                           : GPUME_OK;
    compute->times.to_device_ns += gpume_clock_ns() - start;
    return status;
}

static int move_out(const struct gpume_array *array, uint64_t offset, void *data, uint64_t bytes)
{
    struct gpume_compute *compute = array->compute;
    uint64_t start = gpume_clock_ns();
    int status = bytes > 0 ? compute->ops->read(compute->state, array->memory, offset, data, bytes)
                           : GPUME_OK;
    compute->times.from_device_ns += gpume_clock_ns() - start;
    return status;
}

int gpume_array_write(gpume_array *array, uint64_t offset, const void *data, uint64_t bytes)
{
    if (!array || (!data && bytes > 0) || !gpume_array_holds(array, offset, bytes)) {
        return GPUME_INVALID;
    }
    array->compute->times = (struct gpume_compute_times){0};
    return move_in(array, offset, data, bytes);
}

int gpume_array_read(const gpume_array *array, uint64_t offset, void *data, uint64_t bytes)
{
    if (!array || (!data && bytes > 0) || !gpume_array_holds(array, offset, bytes)) {
        return GPUME_INVALID;
    }
    array->compute->times = (struct gpume_compute_times){0};
    return move_out(array, offset, data, bytes);
}

bool gpume_array_can_copy(const struct gpume_array *to, uint64_t to_offset,
    const struct gpume_array *from, uint64_t from_offset, uint64_t bytes)
{
    return to && from && to->compute == from->compute && gpume_array_holds(to, to_offset, bytes) &&
           gpume_array_holds(from, from_offset, bytes) &&
           (to_offset | from_offset | bytes) % 4 == 0 &&
           (to != from || to_offset >= from_offset + bytes || from_offset >= to_offset + bytes);
}

int gpume_array_copy(gpume_array *to, uint64_t to_offset, const gpume_array *from,
    uint64_t from_offset, uint64_t bytes)
{
    if (!gpume_array_can_copy(to, to_offset, from, from_offset, bytes)) {
        return GPUME_INVALID;
    }
    struct gpume_compute *compute = to->compute;
    compute->times = (struct gpume_compute_times){0};
    return bytes == 0 ? GPUME_OK
                      : compute->ops->copy(compute->state, to->memory, to_offset, from->memory,
                            from_offset, bytes, &compute->times.run_ns);
}

int gpume_array_borrow(
    struct gpume_compute *compute, struct gpume_array *array, void *data, uint64_t bytes)
{
    if (compute->ops->on_host) {
        *array = (struct gpume_array){.compute = compute, .memory = data, .bytes = bytes};
        return GPUME_OK;
    }
    int status = create_array(compute, array, bytes);
    return status == GPUME_OK ? move_in(array, 0, data, bytes) : status;
}

void gpume_array_give_back(struct gpume_array *array)
{
    if (array->compute && !array->compute->ops->on_host) {
        destroy_memory(array);
    }
}

int gpume_array_fetch(const struct gpume_array *array, void *data)
{
    return array->compute->ops->on_host ? GPUME_OK : move_out(array, 0, data, array->bytes);
}
