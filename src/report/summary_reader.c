/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/summary_reader.h"

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

void gpume_read_settings(struct gpume_read_settings *settings, const char *path)
{
    char line[LINE_BYTES];
    const char *prefix = NULL; /* of the section that the line is in */
    FILE *file = fopen(path, "r");
    settings->count = 0;
    for (unsigned i = 0; file && i < LINES_MAX && fgets(line, sizeof(line), file); i++) {
        for (size_t s = 0; s < sizeof(sections) / sizeof(sections[0]); s++) {
            if (strncmp(line, sections[s].begins, strlen(sections[s].begins)) == 0) {
                prefix = sections[s].prefix;
            }
        }
        if (strncmp(line, "  }", 3) == 0) {
            prefix = NULL;
        }
        if (prefix) {
            take_line(settings, prefix, line);
        }
    }
    if (file) {
        fclose(file);
    }
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
