/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gpume devices: tables of the Vulkan devices and whether gpume can use them, the CPU, and the
 * implementations of the search; or all of it as JSON. Having no device is no error, since the CPU
 * engine always works. Main thread only.
 */
#include "base/params.h"
#include "files/forms.h"
#include "host.h"
#include "job.h"

#include <stdio.h>

/* More than any machine has; a warning says if some are not shown. */
#define LISTED_MAX 64
#define SEARCHES_MAX 32 /* more than any build has */

#define GIB 1073741824.0

struct device_row {
    uint64_t index; /* GPUME_MISSING: the CPU */
    const char *name, *type, *driver, *use;
    uint64_t memory_bytes;
    double memory; /* GiB */
    bool usable, automatic;
};

static const struct gpume_column device_columns[] = {
    {GPUME_COLUMN("index", struct device_row, index), .title = "index",
        .unknown = GPUME_IF_MISSING},
    {GPUME_COLUMN("name", struct device_row, name), .title = "name"},
    {GPUME_COLUMN("type", struct device_row, type), .title = "type", .width = 10},
    {GPUME_COLUMN("driver", struct device_row, driver), .title = "driver"},
    {GPUME_COLUMN("memory_bytes", struct device_row, memory_bytes)},
    {GPUME_COLUMN(NULL, struct device_row, memory), .title = "memory", .width = 10, .shown = 1,
        .unit = " GiB"},
    {GPUME_COLUMN("usable", struct device_row, usable)},
    {GPUME_COLUMN("automatic", struct device_row, automatic)},
    {GPUME_COLUMN("use", struct device_row, use), .title = "use"},
};
static const struct gpume_table device_table = {GPUME_TABLE(device_columns, struct device_row)};

struct search_row {
    const char *name, *backend, *use, *summary;
    bool available, automatic;
};

static const struct gpume_column search_columns[] = {
    {GPUME_COLUMN("name", struct search_row, name), .title = "search", .width = 8},
    {GPUME_COLUMN("backend", struct search_row, backend), .title = "backend"},
    {GPUME_COLUMN("available", struct search_row, available)},
    {GPUME_COLUMN("automatic", struct search_row, automatic)},
    {GPUME_COLUMN(NULL, struct search_row, use), .title = "use", .width = 20},
    {GPUME_COLUMN("summary", struct search_row, summary), .title = "what it is"},
};
static const struct gpume_table search_table = {GPUME_TABLE(search_columns, struct search_row)};

/* What is listed: the devices, and after them the CPU. */
struct machine {
    char cpu[128], threads[32];
    uint32_t processors;
    uint64_t memory_bytes; /* of the host; 0: unknown */
    bool cpu_automatic;    /* --backend auto takes the CPU engine */
    struct device_row devices[LISTED_MAX + 1];
    uint32_t device_count;
    struct search_row searches[SEARCHES_MAX];
    uint32_t search_count;
};

/* Whether gpume uses the device, and if not, why: in a few words. */
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

static void put_devices_json(const void *client, struct gpume_json *json)
{
    const struct machine *machine = client;
    gpume_json_begin(json, "cpu");
    gpume_json_text(json, "name", machine->cpu);
    gpume_json_count(json, "processors", machine->processors);
    gpume_json_count_or_null(
        json, "memory_bytes", machine->memory_bytes > 0, machine->memory_bytes);
    gpume_json_truth(json, "automatic", machine->cpu_automatic);
    gpume_json_end(json);
    gpume_table_json(&device_table, "devices", machine->devices, machine->device_count, json);
    gpume_table_json(&search_table, "searches", machine->searches, machine->search_count, json);
}

/* --backend auto takes the CPU engine if it takes none of them. */
static void list_device_rows(
    struct machine *machine, const struct gpume_device *devices, uint32_t count)
{
    machine->cpu_automatic = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_device *device = &devices[i];
        machine->devices[machine->device_count++] = (struct device_row){.index = device->index,
            .name = device->name,
            .type = gpume_names_device_type[device->type],
            .driver = device->driver,
            .use = use_of(device),
            .memory_bytes = device->memory_bytes,
            .memory = (double)device->memory_bytes / GIB,
            .usable = !device->unusable[0],
            .automatic = device->automatic};
        machine->cpu_automatic = machine->cpu_automatic && !device->automatic;
    }
}

static void add_host(struct machine *machine)
{
    gpume_host_cpu(machine->cpu);
    machine->processors = gpume_host_processors();
    machine->memory_bytes = gpume_host_memory();
    snprintf(machine->threads, sizeof(machine->threads), "%u thread%s",
        (unsigned)machine->processors, gpume_plural(machine->processors));
    machine->devices[machine->device_count] = (struct device_row){.index = GPUME_MISSING,
        .name = machine->cpu,
        .type = "cpu",
        .driver = machine->threads,
        .memory = (double)machine->memory_bytes / GIB,
        .use = machine->cpu_automatic ? "yes, taken by --backend auto" : "yes, with --backend cpu"};
}

static void list_search_rows(
    struct machine *machine, const struct gpume_search_info *searches, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < SEARCHES_MAX; i++) {
        const struct gpume_search_info *search = &searches[i];
        machine->searches[machine->search_count++] = (struct search_row){.name = search->name,
            .backend = search->backend == GPUME_BACKEND_CPU ? "cpu" : "vulkan",
            .use = !search->available  ? "not here"
                   : search->automatic ? "yes (default)"
                                       : "yes",
            .summary = search->summary,
            .available = search->available,
            .automatic = search->automatic};
    }
}

static enum gpume_exit list_machine(void *client)
{
    static struct gpume_device devices[LISTED_MAX];
    static struct gpume_search_info searches[SEARCHES_MAX];
    struct machine *machine = client;
    uint32_t count = 0;
    const int status = gpume_list_devices(devices, LISTED_MAX, &count);
    if (status != GPUME_OK) {
        gpume_console_error("devices cannot be listed: %s", gpume_status_text(status));
        return status == GPUME_DEVICE ? GPUME_EXIT_DEVICE : GPUME_EXIT_FAILED;
    }
    if (count > LISTED_MAX) {
        gpume_console_warning(
            "%u devices; only the first %d are shown", (unsigned)count, LISTED_MAX);
        count = LISTED_MAX;
    }
    list_device_rows(machine, devices, count);
    add_host(machine);
    if (gpume_list_searches(NULL, searches, SEARCHES_MAX, &count) == GPUME_OK) {
        list_search_rows(machine, searches, count);
    }
    return GPUME_EXIT_DONE;
}

static void print_devices(const void *client)
{
    const struct machine *machine = client;
    const char *bold = gpume_console_bold(stdout), *plain = gpume_console_plain(stdout);
    if (machine->device_count == 0) {
        printf("No Vulkan device.\n");
    }
    gpume_table_print(
        &device_table, machine->devices, machine->device_count + 1, stdout, bold, plain);
    printf("\n");
    gpume_table_print(&search_table, machine->searches, machine->search_count, stdout, bold, plain);
}

static enum gpume_exit run_devices(const void *options)
{
    static const struct gpume_job_work work = {
        .run = list_machine, .print = print_devices, .put_json = put_devices_json, .format = 1};
    static struct machine machine; /* large */
    struct gpume_cli_job job = {.common = options};
    const enum gpume_exit result = gpume_job_run(&job, &work, &machine);
    gpume_job_close(&job);
    return result;
}

static struct gpume_option table[] = {
    {.heading = "Messages"},
    {GPUME_OPTION_JSON, .help = "print the tables as one JSON object"},
    {GPUME_OPTION_VERBOSE},
    GPUME_OPTIONS_LAST,
};

const struct gpume_command gpume_devices_command = {
    .name = "devices",
    .summary = "list devices and search implementations",
    .usage = "devices [options]",
    .about = "Lists the Vulkan devices of this machine and its CPU, whether gpume can use them, "
             "and the implementations of the search.",
    GPUME_COMMAND_OPTIONS(table, struct gpume_common_options),
    .operands = "none",
    .run = run_devices,
};
