/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/summary_reader.h"

#include "files/json_reader.h"
#include "gpume/gpume.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *key, *prefix;
} sections[] = {{"input", "input "}, {"parameters", "--"}, {"engine", "engine "}};
#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

/* Memory sizes are not settings. */
static bool is_size(const char *key)
{
    const size_t length = strlen(key);
    return length > 6 && strcmp(key + length - 6, "_bytes") == 0;
}

/* All numbers are read as reals, because totals may exceed 64 bits. These are written with decimals
 * even if they are whole. */
static bool has_decimals(const char *key)
{
    return strcmp(key, "frames_per_second") == 0 || strcmp(key, "gain") == 0 ||
           strcmp(key, "gamma") == 0;
}

static void add_value(struct gpume_read_setting *setting, const char *key, const json_t *value)
{
    const char *text = json_is_string(value)  ? json_string_value(value)
                       : json_is_true(value)  ? "true"
                       : json_is_false(value) ? "false"
                                              : "null";
    if (json_is_number(value)) {
        snprintf(setting->value, sizeof(setting->value), "%.*f", has_decimals(key) ? 6 : 0,
            json_number_value(value));
    } else {
        snprintf(setting->value, sizeof(setting->value), "%s", text);
    }
}

/* Members of an object inside it have its key in their prefix. */
static void add_section(struct gpume_read_settings *settings, const char *prefix, json_t *section)
{
    const char *key;
    json_t *value;
    json_object_foreach(section, key, value)
    {
        struct gpume_read_setting setting;
        if (json_is_object(value)) {
            snprintf(setting.name, sizeof(setting.name), "%s%s ", prefix, key);
            add_section(settings, setting.name, value);
        } else if (!is_size(key) && settings->count < GPUME_READ_SETTINGS_MAX) {
            snprintf(setting.name, sizeof(setting.name), "%s%s", prefix, key);
            add_value(&setting, key, value);
            settings->items[settings->count++] = setting;
        }
    }
}

/* False: a section is missing. */
static bool take(struct gpume_read_settings *settings, json_t *document)
{
    for (size_t s = 0; s < SECTIONS; s++) {
        json_t *section = json_object_get(document, sections[s].key);
        if (!json_is_object(section)) {
            return false;
        }
        add_section(settings, sections[s].prefix, section);
    }
    return true;
}

int gpume_read_settings(struct gpume_read_settings *settings, const char *path)
{
    struct gpume_bytes text = {0};
    json_t *document = NULL;
    FILE *file = fopen(path, "r");
    settings->count = 0;
    if (!file) {
        return GPUME_IO;
    }
    int status = gpume_json_read(file, JSON_DECODE_INT_AS_REAL, &text, &document);
    fclose(file);
    gpume_bytes_finish(&text);
    if (status == GPUME_OK && !take(settings, document)) {
        settings->count = 0;
        status = GPUME_INVALID;
    }
    json_decref(document);
    return status;
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
