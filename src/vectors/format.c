/* SPDX-License-Identifier: BSD-2-Clause */
#include "vectors/format.h"

#include <string.h>
#include <strings.h>

#define ADDRESS(name) &gpume_vectors_##name,
static const struct gpume_vectors_format *const formats[] = {GPUME_VECTORS_FORMATS(ADDRESS)};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct gpume_vectors_format *gpume_vectors_format_at(size_t number)
{
    return number < FORMATS ? formats[number] : NULL;
}

const struct gpume_vectors_format *gpume_vectors_format_named(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

const struct gpume_vectors_format *gpume_vectors_format_of(const char *path)
{
    const size_t length = strlen(path);
    for (size_t i = 0; i < FORMATS; i++) {
        const char *extension = formats[i]->extension;
        const size_t tail = extension ? strlen(extension) : 0;
        if (extension && length > tail && strcasecmp(path + length - tail, extension) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

const struct gpume_vectors_format *gpume_vectors_format_probe(
    const unsigned char *head, size_t bytes)
{
    for (size_t i = 0; i < FORMATS; i++) {
        const char *begins = formats[i]->begins;
        const size_t length = begins ? strlen(begins) : 0;
        if (formats[i]->probe ? formats[i]->probe(head, bytes)
                              : begins && bytes >= length && memcmp(head, begins, length) == 0) {
            return formats[i];
        }
    }
    return &gpume_vectors_csv;
}

const char *gpume_vectors_format_excess(
    const struct gpume_vectors_format *format, const struct gpume_vectors_target *target)
{
    const uint32_t units = target->info->units;
    if (!target->field->blocks) {
        return NULL;
    }
    if (format->fixed_units && gpume_vectors_units(target->field, units) > units) {
        return "smaller fractions of a pixel than the frames before it";
    }
    return format->writer->excess ? format->writer->excess(target) : NULL;
}
