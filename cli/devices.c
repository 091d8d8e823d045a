/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plain tables: the Vulkan devices present and what gpume makes of each, and the implementations of
 * the search. No device is no failure: the CPU engine is always there.
 */
#include "devices.h"

#include "console.h"

#include <stdio.h>
#include <string.h>

/* More than any machine has; further ones are left out with a warning. */
#define DEVICES_MAX 64
#define SEARCHES_MAX 32 /* likewise: implementations of the search */

static const char *const types[] = {
    [GPUME_DEVICE_OTHER] = "other",
    [GPUME_DEVICE_INTEGRATED] = "integrated",
    [GPUME_DEVICE_DISCRETE] = "discrete",
    [GPUME_DEVICE_VIRTUAL] = "virtual",
    [GPUME_DEVICE_SOFTWARE] = "software",
};

static int widest(int width, const char *text)
{
    const int length = (int)strlen(text);
    return length > width ? length : width;
}

/* Is one of them what --backend auto takes? */
static bool print_table(const struct gpume_device *devices, uint32_t count)
{
    int name = (int)strlen("name"), driver = (int)strlen("driver");
    for (uint32_t i = 0; i < count; i++) {
        name = widest(name, devices[i].name);
        driver = widest(driver, devices[i].driver);
    }
    printf(
        "index  %-*s  %-10s  %-*s  %10s  use\n", name, "name", "type", driver, "driver", "memory");
    bool automatic = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_device *device = &devices[i];
        const char *use = "yes";
        automatic = automatic || device->automatic;
        if (device->unusable[0]) {
            use = device->unusable;
        } else if (device->automatic) {
            use = "yes, taken by --backend auto";
        } else if (device->type == GPUME_DEVICE_SOFTWARE || device->type == GPUME_DEVICE_OTHER) {
            use = "only with --backend vulkan";
        }
        printf("%5u  %-*s  %-10s  %-*s  %6.1f GiB  %s\n", (unsigned)device->index, name,
            device->name, types[device->type], driver, device->driver,
            (double)device->memory_bytes / 1073741824.0, use);
    }
    return automatic;
}

static void print_searches(const struct gpume_search_info *searches, uint32_t count)
{
    printf("\nsearch    backend  use                   what it is\n");
    for (uint32_t i = 0; i < count; i++) {
        const char *use = searches[i].automatic ? "yes, taken by itself" : "yes";
        printf("%-8s  %-7s  %-20s  %s\n", searches[i].name,
            searches[i].backend == GPUME_BACKEND_CPU ? "cpu" : "vulkan",
            searches[i].available ? use : "not here", searches[i].summary);
    }
}

enum gpume_exit gpume_devices_print(void)
{
    static struct gpume_device devices[DEVICES_MAX];
    uint32_t count = 0;
    const int status = gpume_list_devices(devices, DEVICES_MAX, &count);
    if (status != GPUME_OK) {
        gpume_console_error("devices cannot be listed: %s", gpume_status_text(status));
        return status == GPUME_DEVICE ? GPUME_EXIT_DEVICE : GPUME_EXIT_FAILED;
    }
    if (count > DEVICES_MAX) {
        gpume_console_warning("%u devices; the first %d are shown", (unsigned)count, DEVICES_MAX);
        count = DEVICES_MAX;
    }
    if (count == 0) {
        printf("No Vulkan device.\n");
    }
    if (count == 0 || !print_table(devices, count)) {
        printf("--backend auto takes the CPU engine.\n");
    }
    static struct gpume_search_info searches[SEARCHES_MAX];
    if (gpume_list_searches(NULL, searches, SEARCHES_MAX, &count) == GPUME_OK) {
        print_searches(searches, count < SEARCHES_MAX ? count : SEARCHES_MAX);
    }
    return GPUME_EXIT_DONE;
}
