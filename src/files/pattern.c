/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/pattern.h"

#include "base/grow.h"
#include "files/path.h"

#include "gpume/gpume.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_MAX 64 /* digits in %0Nd; more is a typing error */

/* The length of the conversion at text, or 0 if there is none. width: of %d or %0Nd; -1: it is %%.
 */
static size_t conversion(const char *text, int *width)
{
    if (text[1] == '%') {
        *width = -1;
        return 2;
    }
    size_t at = 1;
    int digits = 0;
    if (text[at] == '0') {
        while (text[at] >= '0' && text[at] <= '9' && digits <= WIDTH_MAX) {
            digits = digits * 10 + (text[at] - '0');
            at++;
        }
    }
    *width = digits;
    return text[at] == 'd' && digits <= WIDTH_MAX ? at + 1 : 0;
}

enum gpume_pattern_kind gpume_pattern_kind(const char *path)
{
    const char *slash = strrchr(path, '/'), *first_end = NULL;
    unsigned numbers = 0;
    for (const char *at = strchr(path, '%'); at; at = strchr(at, '%')) {
        int width = 0;
        size_t bytes = conversion(at, &width);
        if (bytes == 0 || (width >= 0 && slash && at < slash)) {
            return GPUME_PATTERN_WRONG;
        }
        /* Without anything but digits between two numbers, 1 and 11 look like 11 and 1. */
        if (width >= 0 && first_end && first_end + strspn(first_end, "0123456789") >= at) {
            return GPUME_PATTERN_WRONG;
        }
        numbers += width >= 0;
        at += bytes;
        first_end = width >= 0 ? at : first_end;
    }
    static const enum gpume_pattern_kind kinds[] = {
        GPUME_PATTERN_PLAIN, GPUME_PATTERN_NUMBERED, GPUME_PATTERN_PAIR};
    return numbers > 2 ? GPUME_PATTERN_WRONG : kinds[numbers];
}

bool gpume_pattern_is_numbered(const char *path)
{
    const enum gpume_pattern_kind kind = gpume_pattern_kind(path);
    return kind == GPUME_PATTERN_NUMBERED || kind == GPUME_PATTERN_PAIR;
}

char *gpume_pattern_name(const char *path, uint64_t number)
{
    return gpume_pattern_name_pair(path, (struct gpume_pattern_numbers){number, 0});
}

char *gpume_pattern_name_pair(const char *path, struct gpume_pattern_numbers numbers)
{
    size_t room = strlen(path) + 2 * (WIDTH_MAX + 24);
    char *name = malloc(room);
    size_t fill = 0;
    uint64_t number = numbers.first;
    while (name && *path != '\0') {
        int width = -1;
        size_t bytes = *path == '%' ? conversion(path, &width) : 0;
        if (bytes > 0 && width >= 0) {
            fill += (size_t)snprintf(name + fill, room - fill, "%0*" PRIu64, width, number);
            number = numbers.second;
        } else {
            name[fill++] = *path; /* also the one percent sign of "%%" */
        }
        path += bytes > 0 ? bytes : 1;
    }
    if (name) {
        name[fill] = '\0';
    }
    return name;
}

char *gpume_pattern_plain(const char *path)
{
    char *copy = strdup(path);
    for (char *at = copy; at && (at = strchr(at, '%')) != NULL; at++) {
        char *end = at + 1 + strspn(at + 1, "0123456789");
        if (*end == 'd') {
            memmove(at + 1, end, strlen(end) + 1);
        } else if (at[1] == '%') {
            at++;
        }
    }
    return copy;
}

char *gpume_pattern_series(const char *path)
{
    char *plain = gpume_pattern_plain(path);
    char *name =
        plain ? gpume_pattern_name(path, 0) : NULL; /* replaces "%%" in the folder's name */
    char *series =
        name ? gpume_path_join(name, gpume_path_folder(name), plain + gpume_path_folder(plain))
             : NULL;
    free(name);
    free(plain);
    return series;
}

bool gpume_pattern_matches(
    const char *pattern, const char *name, struct gpume_pattern_numbers *numbers)
{
    uint64_t *number = &numbers->first;
    numbers->second = 0;
    while (*pattern != '\0') {
        int width = -1;
        size_t bytes = *pattern == '%' ? conversion(pattern, &width) : 0;
        if (bytes > 0 && width >= 0) {
            size_t digits = strspn(name, "0123456789");
            if (digits == 0 || digits < (size_t)width || digits > 19 + (size_t)width ||
                (name[0] == '0' && digits > 1 && digits > (size_t)width)) {
                return false;
            }
            *number = strtoull(name, NULL, 10);
            number = &numbers->second;
            name += digits;
        } else if (*name++ != *pattern) {
            return false;
        }
        pattern += bytes > 0 ? bytes : 1;
    }
    return *name == '\0';
}

static int by_numbers(const void *left, const void *right)
{
    const struct gpume_pattern_numbers *a = left, *b = right;
    if (a->first != b->first) {
        return a->first < b->first ? -1 : 1;
    }
    return a->second < b->second ? -1 : a->second > b->second;
}

bool gpume_pattern_find_input(const char *input, uint64_t *lowest)
{
    return gpume_pattern_kind(input) == GPUME_PATTERN_NUMBERED &&
           gpume_pattern_find(gpume_path_of_input(input), lowest);
}

int gpume_pattern_list(const char *path, struct gpume_pattern_numbers **numbers, size_t *count)
{
    const char *base = path + gpume_path_folder(path);
    struct gpume_pattern_numbers *found = NULL, one;
    size_t filled = 0, room = 0;
    char *series = gpume_pattern_series(path);
    DIR *dir = series ? gpume_path_open_folder(series) : NULL;
    free(series);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        if (!gpume_pattern_matches(base, entry->d_name, &one)) {
            continue;
        }
        struct gpume_pattern_numbers *larger = gpume_grow(found, filled, &room, sizeof(*found));
        if (!larger) {
            free(found);
            (void)closedir(dir);
            return GPUME_NOMEM;
        }
        found = larger;
        found[filled++] = one;
    }
    if (dir) {
        (void)closedir(dir);
    }
    if (filled > 0) {
        qsort(found, filled, sizeof(*found), by_numbers);
    }
    *numbers = found;
    *count = filled;
    return GPUME_OK;
}

bool gpume_pattern_find(const char *path, uint64_t *lowest)
{
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    const bool found = gpume_pattern_list(path, &numbers, &count) == GPUME_OK && count > 0;
    if (found) {
        *lowest = numbers[0].first;
    }
    free(numbers);
    return found;
}
