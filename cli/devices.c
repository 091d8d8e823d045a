/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints tables of the Vulkan devices and whether gpume can use them, the CPU, and the
 * implementations of the search; or all of it as JSON. Having no device is no error, since the CPU
 * engine always works.
 */
#include "base/names.h"
#include "base/status.h"
#include "commands.h"
#include "console.h"
#include "files/json.h"
#include "host.h"
#include "options/common.h"

#include <stdio.h>
#include <string.h>

/* More than any machine has; a warning says if some are not shown. */
#define DEVICES_MAX 64
#define SEARCHES_MAX 32 /* more than any build has */

/* Raise it by one when a key of the JSON object is removed or changes its meaning. */
#define FORMAT 1

#define GIB 1073741824.0

struct machine {
    char cpu[128];
    uint32_t processors;
    uint64_t memory_bytes; /* of the host; 0: unknown */
    bool cpu_automatic;    /* --backend auto takes the CPU engine */
    const struct gpume_device *devices;
    uint32_t device_count;
    const struct gpume_search_info *searches;
    uint32_t search_count;
};

/* Will gpume use the device, and if not, why? In a few words. */
static const char *use_of(const struct gpume_device *device)
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

static int widest(int width, const char *text)
{
    const int length = (int)strlen(text);
    return length > width ? length : width;
}

static void print_table(const struct machine *machine)
{
    char threads[32];
    const char *bold = gpume_console_bold(stdout), *plain = gpume_console_plain(stdout);
    snprintf(threads, sizeof(threads), "%u thread%s", (unsigned)machine->processors,
        machine->processors == 1 ? "" : "s");
    int name = widest((int)strlen("name"), machine->cpu);
    int driver = widest((int)strlen("driver"), threads);
    for (uint32_t i = 0; i < machine->device_count; i++) {
        name = widest(name, machine->devices[i].name);
        driver = widest(driver, machine->devices[i].driver);
    }
    printf("%sindex  %-*s  %-10s  %-*s  %10s  use%s\n", bold, name, "name", "type", driver,
        "driver", "memory", plain);
    for (uint32_t i = 0; i < machine->device_count; i++) {
        const struct gpume_device *device = &machine->devices[i];
        printf("%5u  %-*s  %-10s  %-*s  %6.1f GiB  %s\n", (unsigned)device->index, name,
            device->name, gpume_names_device_type[device->type], driver, device->driver,
            (double)device->memory_bytes / GIB, use_of(device));
    }
    printf("%5s  %-*s  %-10s  %-*s  %6.1f GiB  %s\n", "-", name, machine->cpu, "cpu", driver,
        threads, (double)machine->memory_bytes / GIB,
        machine->cpu_automatic ? "yes, taken by --backend auto" : "yes, with --backend cpu");
}

static void print_searches(const struct gpume_search_info *searches, uint32_t count)
{
    printf("\n%ssearch    backend  use                   what it is%s\n",
        gpume_console_bold(stdout), gpume_console_plain(stdout));
    for (uint32_t i = 0; i < count; i++) {
        const char *use = searches[i].automatic ? "yes (default)" : "yes";
        printf("%-8s  %-7s  %-20s  %s\n", searches[i].name,
            searches[i].backend == GPUME_BACKEND_CPU ? "cpu" : "vulkan",
            searches[i].available ? use : "not here", searches[i].summary);
    }
}

static void put_cpu(struct gpume_json *json, const struct machine *machine)
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
    gpume_json_text(json, "type", gpume_names_device_type[device->type]);
    gpume_json_text(json, "driver", device->driver);
    gpume_json_count(json, "memory_bytes", device->memory_bytes);
    gpume_json_truth(json, "usable", !device->unusable[0]);
    gpume_json_truth(json, "automatic", device->automatic);
    gpume_json_text(json, "use", use_of(device));
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

static int write_json(const struct machine *machine, const struct gpume_log *log)
{
    struct gpume_json json;
    GPUME_CHECK(gpume_json_start(&json, FORMAT, log));
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

static void look_at_host(struct machine *machine)
{
    gpume_host_cpu(machine->cpu);
    machine->processors = gpume_host_processors();
    machine->memory_bytes = gpume_host_memory();
    machine->cpu_automatic = true;
    for (uint32_t i = 0; i < machine->device_count; i++) {
        machine->cpu_automatic = machine->cpu_automatic && !machine->devices[i].automatic;
    }
}

static enum gpume_exit run(const void *opaque)
{
    const struct gpume_common_options *options = opaque;
    static struct gpume_device devices[DEVICES_MAX];
    static struct gpume_search_info searches[SEARCHES_MAX];
    uint32_t count = 0;
    const int status = gpume_list_devices(devices, DEVICES_MAX, &count);
    if (status != GPUME_OK) {
        gpume_console_error("devices cannot be listed: %s", gpume_status_text(status));
        return status == GPUME_DEVICE ? GPUME_EXIT_DEVICE : GPUME_EXIT_FAILED;
    }
    if (count > DEVICES_MAX) {
        gpume_console_warning(
            "%u devices; only the first %d are shown", (unsigned)count, DEVICES_MAX);
        count = DEVICES_MAX;
    }
    struct machine machine = {.devices = devices, .device_count = count, .searches = searches};
    if (gpume_list_searches(NULL, searches, SEARCHES_MAX, &count) == GPUME_OK) {
        machine.search_count = count < SEARCHES_MAX ? count : SEARCHES_MAX;
    }
    look_at_host(&machine);
    if (options->form == GPUME_FORM_JSON) {
        return write_json(&machine, &gpume_console) ? GPUME_EXIT_FAILED : GPUME_EXIT_DONE;
    }
    if (machine.device_count == 0) {
        printf("No Vulkan device.\n");
    }
    print_table(&machine);
    print_searches(searches, machine.search_count);
    return GPUME_EXIT_DONE;
}

static const struct gpume_option table[] = {
    {.heading = "Messages"},
    {GPUME_OPTION_JSON, .help = "print the tables as one JSON object"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST("show this help"),
};

const struct gpume_command gpume_devices_command = {
    .name = "devices",
    .summary = "list devices and search implementations",
    .usage = "devices [options]",
    .about = "Lists the Vulkan devices of this machine and its CPU, whether gpume can use them, "
             "and the implementations of the search.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_common_options),
    .operands = "none",
    .run = run,
};
