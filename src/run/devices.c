/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/devices.h"

#include "base/status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRESENT_MAX 64u /* devices of a machine that are looked at */

struct present {
    struct gpume_device devices[PRESENT_MAX];
    uint32_t count;
};

static bool is_hardware(const struct gpume_device *device)
{
    return !device->unusable[0] &&
           (device->type == GPUME_DEVICE_INTEGRATED || device->type == GPUME_DEVICE_DISCRETE ||
               device->type == GPUME_DEVICE_VIRTUAL);
}

static bool contains(const char *text, const char *part, size_t length)
{
    for (; strlen(text) >= length; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i])) {
            i++;
        }
        if (i == length) {
            return true;
        }
    }
    return false;
}

/* The device of this index, or the best one with this part in its name; NULL: there is none. */
static const struct gpume_device *find(
    const struct present *present, const char *entry, size_t length)
{
    const struct gpume_device *found = NULL;
    char *end;
    const unsigned long index = strtoul(entry, &end, 10);
    if (isdigit((unsigned char)entry[0]) && end == entry + length) {
        return index < present->count ? &present->devices[index] : NULL;
    }
    for (uint32_t i = 0; i < present->count; i++) {
        const struct gpume_device *device = &present->devices[i];
        if (contains(device->name, entry, length) &&
            (!found || (is_hardware(device) && !is_hardware(found)))) {
            found = device;
        }
    }
    return found;
}

static int add(struct gpume_device_list *list, const char *device, const char *name,
    const struct gpume_log *log)
{
    if (list->count == GPUME_DEVICES_MAX) {
        return gpume_log_refuse(log, GPUME_INVALID, gpume_about(GPUME_PARAM(devices), NULL),
            "more than %u devices; name fewer", GPUME_DEVICES_MAX);
    }
    snprintf(list->names[list->count], sizeof(*list->names), "%s", name);
    snprintf(list->devices[list->count++], sizeof(*list->devices), "%s", device);
    return GPUME_OK;
}

static int add_device(
    struct gpume_device_list *list, const struct gpume_device *device, const struct gpume_log *log)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", device->index);
    return add(list, text, device->name, log);
}

static bool is_word(const char *entry, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(entry, word, length) == 0;
}

static int add_all(
    struct gpume_device_list *list, const struct present *present, const struct gpume_log *log)
{
    int status = GPUME_OK;
    for (uint32_t i = 0; status == GPUME_OK && i < present->count; i++) {
        if (is_hardware(&present->devices[i])) {
            status = add_device(list, &present->devices[i], log);
        }
    }
    return status;
}

static int add_entry(struct gpume_device_list *list, const struct present *present,
    const char *entry, size_t length, const struct gpume_log *log)
{
    if (is_word(entry, length, "all")) {
        return add_all(list, present, log);
    }
    if (is_word(entry, length, "cpu")) {
        return add(list, "", "cpu", log);
    }
    const struct gpume_device *device = find(present, entry, length);
    if (!device) {
        char name[256];
        snprintf(name, sizeof(name), "%.*s", (int)length, entry);
        return gpume_log_refuse(log, GPUME_DEVICE, gpume_about(GPUME_PARAM(devices), name),
            "no such device among %u Vulkan devices", present->count);
    }
    if (device->unusable[0]) {
        return gpume_log_refuse(log, GPUME_DEVICE, gpume_about(GPUME_PARAM(devices), device->name),
            "%s; leave it out", device->unusable);
    }
    return add_device(list, device, log);
}

/* To the comma after the entry, or to the end. */
static size_t length_of(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length] && text[length + 1] == ' ') {
        length += 1 + strcspn(text + length + 1, ",");
    }
    return length;
}

int gpume_devices_resolve(
    const char *text, const struct gpume_log *log, struct gpume_device_list *list)
{
    struct present present;
    *list = (struct gpume_device_list){.all = strcmp(text, "all") == 0};
    int status = gpume_list_devices(present.devices, PRESENT_MAX, &present.count);
    if (status != GPUME_OK) {
        return gpume_log_refuse(
            log, status, gpume_about(GPUME_PARAM(devices), NULL), "the devices cannot be listed");
    }
    present.count = present.count < PRESENT_MAX ? present.count : PRESENT_MAX;
    for (bool more = true; status == GPUME_OK && more;) {
        const size_t length = length_of(text);
        status = add_entry(list, &present, text, length, log);
        more = text[length] == ',';
        text += length + more;
    }
    if (status == GPUME_OK && list->count == 0 && !list->all) {
        status = gpume_log_refuse(
            log, GPUME_DEVICE, gpume_about(GPUME_PARAM(devices), NULL), "there is no hardware GPU");
    }
    return status;
}
