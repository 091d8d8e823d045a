/* SPDX-License-Identifier: BSD-2-Clause */
#include "estimate/prefilter.h"

#include "base/checksum.h"
#include "console.h"
#include "files/remedy.h"
#include "options/types.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 4096 /* of a kernel's file: enough for 31 numbers of a hundred characters */
#define BLANKS " \t\r\n"

/* What follows "NAME:", or NULL. */
static const char *after(const char *text, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == ':' ? text + length + 1 : NULL;
}

static bool parse_side(const char *text, double max, struct gpume_prefilter *filter)
{
    double side;
    if (strchr(text, '.') || !gpume_parse_real(text, '\0', 3, max, &side)) {
        return false;
    }
    filter->width = filter->height = (uint32_t)side;
    return filter->width % 2 == 1;
}

static bool parse_filter(const struct gpume_option *row, const char *text, void *field)
{
    struct gpume_prefilter_option *out = field;
    struct gpume_prefilter_option option = {
        .text = text, .filter = {.size = sizeof(struct gpume_prefilter)}};
    struct gpume_prefilter *filter = &option.filter;
    const char *rest;
    bool good = false;
    (void)row;
    if (strcmp(text, "none") == 0) {
        *out = (struct gpume_prefilter_option){0};
        return true;
    }
    if ((rest = after(text, "gauss"))) {
        filter->kind = GPUME_PREFILTER_GAUSS;
        good = gpume_parse_real(rest, '\0', 0.3, 16, &filter->sigma);
    } else if ((rest = after(text, "box"))) {
        filter->kind = GPUME_PREFILTER_BOX;
        good = parse_side(rest, GPUME_PREFILTER_SIDE_MAX, filter);
    } else if ((rest = after(text, "median"))) {
        filter->kind = GPUME_PREFILTER_MEDIAN;
        good = parse_side(rest, 5, filter);
    } else if ((rest = after(text, "bilateral"))) {
        filter->kind = GPUME_PREFILTER_BILATERAL;
        rest = gpume_parse_real(rest, ',', 0.3, 5, &filter->sigma);
        good = rest && gpume_parse_real(rest + 1, '\0', 0.1, 1000, &filter->range);
    } else if ((rest = after(text, "kernel"))) {
        filter->kind = GPUME_PREFILTER_KERNEL;
        option.file = rest;
        good = rest[0] != '\0';
    }
    if (good) {
        *out = option;
    }
    return good;
}

static void describe_filter(const struct gpume_option *row, char *text, size_t bytes)
{
    (void)row;
    snprintf(text, bytes,
        "gauss:S (0.3 to 16), box:N (odd, 3 to 31), median:3, median:5, bilateral:S,R (0.3 to 5, "
        "0.1 to 1000) or kernel:FILE");
}

static void filter_words(const struct gpume_option *row, char *text, size_t bytes)
{
    (void)row;
    snprintf(text, bytes, "gauss: box: median:3 median:5 bilateral: kernel:");
}

const struct gpume_option_type gpume_type_prefilter = {
    sizeof(struct gpume_prefilter_option), parse_filter, describe_filter, filter_words};

/* The state of reading a kernel's file. */
struct kernel_reader {
    const char *path;
    unsigned line; /* from 1 */
    uint32_t width, height, count;
    double *weights;
};

/* Parses one number at *at and moves *at past it. */
static int take_weight(struct kernel_reader *reader, char **at)
{
    const size_t length = strcspn(*at, "," BLANKS);
    const bool plain = strspn(*at, "0123456789.+-eE") == length && length > 0;
    char *end = *at;
    const double weight = plain ? strtod(*at, &end) : 0;
    if (!plain || end != *at + length) {
        return gpume_refuse(GPUME_FORMAT,
            "%s:%u: '%.*s' is not a number; write a kernel as rows such as 0 -1.5 0", reader->path,
            reader->line, length > 40 ? 40 : (int)length, *at);
    }
    if (weight != 0 && !(fabs(weight) >= 1e-9 && fabs(weight) <= 1e9)) {
        return gpume_refuse(GPUME_FORMAT,
            "%s:%u: %.*s: a weight must be 0, or have a magnitude from 1e-9 to 1e9", reader->path,
            reader->line, length > 40 ? 40 : (int)length, *at);
    }
    if (reader->count == GPUME_PREFILTER_SIDE_MAX || reader->height == GPUME_PREFILTER_SIDE_MAX) {
        return gpume_refuse(GPUME_FORMAT,
            "%s:%u: a kernel has at most %d numbers per row and %d rows; use a smaller one",
            reader->path, reader->line, GPUME_PREFILTER_SIDE_MAX, GPUME_PREFILTER_SIDE_MAX);
    }
    reader->weights[reader->height * GPUME_PREFILTER_SIDE_MAX + reader->count++] = weight;
    *at += length;
    return GPUME_OK;
}

static int take_line(struct kernel_reader *reader, char *line)
{
    line[strcspn(line, "#")] = '\0';
    char *at = line + strspn(line, BLANKS);
    reader->count = 0;
    while (*at) {
        const int status = take_weight(reader, &at);
        if (status != GPUME_OK) {
            return status;
        }
        at += strspn(at, BLANKS);
        if (*at == ',') { /* and a number behind it */
            at += 1 + strspn(at + 1, BLANKS);
            if (!*at || *at == ',') {
                return gpume_refuse(GPUME_FORMAT,
                    "%s:%u: a number is missing next to a comma; write 0", reader->path,
                    reader->line);
            }
        }
    }
    if (reader->count == 0) {
        return GPUME_OK;
    }
    if (reader->height > 0 && reader->count != reader->width) {
        return gpume_refuse(GPUME_FORMAT,
            "%s:%u: has %u number%s, but the rows above have %u; pad with 0", reader->path,
            reader->line, reader->count, reader->count == 1 ? "" : "s", reader->width);
    }
    reader->width = reader->count;
    reader->height++;
    return GPUME_OK;
}

static int take_lines(struct kernel_reader *reader, FILE *file)
{
    char line[LINE_BYTES];
    while (fgets(line, sizeof(line), file)) {
        reader->line++;
        if (!strchr(line, '\n') && !feof(file)) {
            return gpume_refuse(GPUME_FORMAT,
                "%s:%u: the line is too long or not text; a kernel consists of rows of numbers",
                reader->path, reader->line);
        }
        const int status = take_line(reader, line);
        if (status != GPUME_OK) {
            return status;
        }
    }
    if (ferror(file)) {
        return gpume_refuse(GPUME_FORMAT,
            "%s: cannot be read: %s; --prefilter kernel: needs a text file", reader->path,
            strerror(errno));
    }
    return GPUME_OK;
}

/* Checks the kernel as a whole. */
static int check_kernel(const struct kernel_reader *reader)
{
    bool any = false;
    for (uint32_t i = 0; i < GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX; i++) {
        any = any || reader->weights[i] != 0;
    }
    if (reader->height == 0) {
        return gpume_refuse(GPUME_FORMAT,
            "%s: contains no numbers; write a kernel as rows such as 0 -1.5 0", reader->path);
    }
    if (reader->width % 2 == 0 || reader->height % 2 == 0) {
        return gpume_refuse(GPUME_FORMAT,
            "%s: has %u row%s of %u numbers, but both must be odd so that there is a center; add a "
            "%s of 0",
            reader->path, reader->height, reader->height == 1 ? "" : "s", reader->width,
            reader->width % 2 == 0 ? "column" : "row");
    }
    if (!any) {
        return gpume_refuse(
            GPUME_FORMAT, "%s: all numbers are 0; at least one must differ", reader->path);
    }
    return GPUME_OK;
}

int gpume_prefilter_option_read(struct gpume_prefilter_option *option,
    double weights[GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX])
{
    struct kernel_reader reader = {.path = option->file, .weights = weights};
    if (!option->file) {
        return GPUME_OK;
    }
    FILE *file = fopen(option->file, "r");
    if (!file) {
        return gpume_refuse(GPUME_FORMAT, "%s: cannot be opened: %s; %s", option->file,
            strerror(errno), gpume_remedy(errno, "check --prefilter kernel:FILE"));
    }
    memset(weights, 0, sizeof(double) * GPUME_PREFILTER_SIDE_MAX * GPUME_PREFILTER_SIDE_MAX);
    int status = take_lines(&reader, file);
    fclose(file);
    status = status == GPUME_OK ? check_kernel(&reader) : status;
    if (status == GPUME_OK) {
        for (uint32_t row = 1; row < reader.height; row++) { /* close the gaps */
            memmove(weights + row * reader.width, weights + row * GPUME_PREFILTER_SIDE_MAX,
                reader.width * sizeof(*weights));
        }
        option->filter.width = reader.width;
        option->filter.height = reader.height;
        option->filter.weights = weights;
    }
    return status;
}

uint64_t gpume_prefilter_option_sum(const struct gpume_prefilter_option *option)
{
    const struct gpume_prefilter *filter = &option->filter;
    if (!option->text || filter->kind != GPUME_PREFILTER_KERNEL) {
        return 0;
    }
    return gpume_checksum(GPUME_CHECKSUM_BEGIN, filter->weights,
        (size_t)filter->width * filter->height * sizeof(double));
}
