/* SPDX-License-Identifier: BSD-2-Clause */
#include "sinks/machine.h"

#include "files/json.h"

const char *gpume_device_use(const struct gpume_device *device)
{
    if (device->unusable[0]) {
        return device->unusable;
    }
    if (device->automatic) {
        return "yes, taken by --backend auto";
    }
    if (device->type == GPUME_DEVICE_SOFTWARE || device->type == GPUME_DEVICE_OTHER) {
        return "only with --backend vulkan";
    }
    return "yes, with --device";
}

const char *gpume_device_type(const struct gpume_device *device)
{
    static const char *const types[] = {
        [GPUME_DEVICE_OTHER] = "other",
        [GPUME_DEVICE_INTEGRATED] = "integrated",
        [GPUME_DEVICE_DISCRETE] = "discrete",
        [GPUME_DEVICE_VIRTUAL] = "virtual",
        [GPUME_DEVICE_SOFTWARE] = "software",
    };
    return types[device->type];
}

static void put_cpu(struct gpume_json *json, const struct gpume_machine *machine)
{
    gpume_json_begin(json, "cpu");
    gpume_json_text(json, "name", machine->cpu);
    gpume_json_count(json, "processors", machine->processors);
    gpume_json_count_or_null(
        json, "memory_bytes", machine->memory_bytes > 0, machine->memory_bytes);
    gpume_json_truth(json, "automatic", machine->cpu_automatic);
    gpume_json_end(json);
}

static void put_device(struct gpume_json *json, const struct gpume_device *device)
{
    gpume_json_begin(json, NULL);
    gpume_json_count(json, "index", device->index);
    gpume_json_text(json, "name", device->name);
    gpume_json_text(json, "type", gpume_device_type(device));
    gpume_json_text(json, "driver", device->driver);
    gpume_json_count(json, "memory_bytes", device->memory_bytes);
    gpume_json_truth(json, "usable", !device->unusable[0]);
    gpume_json_truth(json, "automatic", device->automatic);
    gpume_json_text(json, "use", gpume_device_use(device));
    gpume_json_end(json);
}

static void put_search(struct gpume_json *json, const struct gpume_search_info *search)
{
    gpume_json_begin(json, NULL);
    gpume_json_text(json, "name", search->name);
    gpume_json_text(json, "backend", search->backend == GPUME_BACKEND_CPU ? "cpu" : "vulkan");
    gpume_json_truth(json, "available", search->available);
    gpume_json_truth(json, "automatic", search->automatic);
    gpume_json_text(json, "summary", search->summary);
    gpume_json_end(json);
}

int gpume_machine_write_json(const struct gpume_machine *machine, const struct gpume_log *log)
{
    struct gpume_json json;
    const int status = gpume_json_start(&json, GPUME_MACHINE_FORMAT, log);
    if (status != GPUME_OK) {
        return status;
    }
    put_cpu(&json, machine);
    gpume_json_begin_list(&json, "devices");
    for (uint32_t i = 0; i < machine->device_count; i++) {
        put_device(&json, &machine->devices[i]);
    }
    gpume_json_end_list(&json);
    gpume_json_begin_list(&json, "searches");
    for (uint32_t i = 0; i < machine->search_count; i++) {
        put_search(&json, &machine->searches[i]);
    }
    gpume_json_end_list(&json);
    return gpume_json_finish(&json);
}
