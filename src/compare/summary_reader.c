/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/summary_reader.h"

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 1024
#define LINES_MAX 1000 /* of summary.json, which has a tenth of it */

static const struct {
    const char *begins, *prefix;
} sections[] = {
    {"  \"input\": {", "input "},
    {"  \"parameters\": {", "--"},
    {"  \"engine\": {", "engine "},
};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* Memory is no choice of the user's. */
static bool is_size(const char *key, size_t length)
{
    return length > 6 && strncmp(key + length - 6, "_bytes", 6) == 0;
}

/* "    "key": value," */
static void take_line(struct gpume_read_settings *settings, const char *prefix, const char *line)
{
    const char *key = strncmp(line, "    \"", 5) == 0 ? line + 5 : NULL;
    const char *stop = key ? strstr(key, "\": ") : NULL;
    if (!stop || is_size(key, (size_t)(stop - key)) || settings->count == GPUME_READ_SETTINGS_MAX) {
        return;
    }
    const char *value = stop + 3;
    size_t length = strcspn(value, "\r\n");
    length -= length > 0 && value[length - 1] == ',';
    if (length > 1 && value[0] == '"' && value[length - 1] == '"') {
        value++;
        length -= 2;
    }
    struct gpume_read_setting *setting = &settings->items[settings->count++];
    snprintf(setting->name, sizeof(setting->name), "%s%.*s", prefix, (int)(stop - key), key);
    snprintf(setting->value, sizeof(setting->value), "%.*s", (int)length, value);
}

/* What has been seen of a file. */
struct seen {
    const char *prefix; /* of the section that the line is in */
    unsigned sections;  /* a bit each */
    bool begun, ended;  /* the object around all */
};

static void see_line(struct seen *seen, struct gpume_read_settings *settings, const char *line)
{
    seen->ended = seen->begun && strncmp(line, "}", 1) == 0;
    seen->begun = seen->begun || strncmp(line, "{", 1) == 0;
    for (size_t s = 0; s < SECTIONS; s++) {
        if (strncmp(line, sections[s].begins, strlen(sections[s].begins)) == 0) {
            seen->prefix = sections[s].prefix;
            seen->sections |= 1u << s;
        }
    }
    if (strncmp(line, "  }", 3) == 0) {
        seen->prefix = NULL;
    }
    if (seen->prefix) {
        take_line(settings, seen->prefix, line);
    }
}

int gpume_read_settings(struct gpume_read_settings *settings, const char *path)
{
    char line[LINE_BYTES];
    struct seen seen = {0};
    FILE *file = fopen(path, "r");
    settings->count = 0;
    if (!file) {
        return GPUME_IO;
    }
    for (unsigned i = 0; i < LINES_MAX && fgets(line, sizeof(line), file); i++) {
        see_line(&seen, settings, line);
    }
    const bool failed = ferror(file);
    fclose(file);
    const bool whole = seen.ended && seen.sections == (1u << SECTIONS) - 1;
    if (failed || !whole) {
        settings->count = 0;
    }
    return failed ? GPUME_IO : whole ? GPUME_OK : GPUME_INVALID;
}

const char *gpume_read_settings_find(const struct gpume_read_settings *settings, const char *name)
{
    for (uint32_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->items[i].name, name) == 0) {
            return settings->items[i].value;
        }
    }
    return NULL;
}
