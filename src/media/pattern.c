/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbered file names for the picture writers and, where libav's own search would miss the first
 * picture, for the reader. Pure text, apart from one look through a folder.
 */
#include "media/pattern.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_MAX 64 /* digits in %0Nd; more is a slip of the finger */

/* One conversion at text ("%..."): its length; width: -1 for %%, else of %d or %0Nd. 0: neither. */
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
    const char *slash = strrchr(path, '/');
    unsigned numbers = 0;
    for (const char *at = strchr(path, '%'); at; at = strchr(at, '%')) {
        int width = 0;
        size_t bytes = conversion(at, &width);
        if (bytes == 0 || (width >= 0 && slash && at < slash)) {
            return GPUME_PATTERN_WRONG;
        }
        numbers += width >= 0;
        at += bytes;
    }
    if (numbers > 1) {
        return GPUME_PATTERN_WRONG;
    }
    return numbers == 1 ? GPUME_PATTERN_NUMBERED : GPUME_PATTERN_PLAIN;
}

char *gpume_pattern_name(const char *path, uint64_t number)
{
    size_t room = strlen(path) + WIDTH_MAX + 24;
    char *name = malloc(room);
    size_t fill = 0;
    while (name && *path != '\0') {
        int width = -1;
        size_t bytes = *path == '%' ? conversion(path, &width) : 0;
        if (bytes > 0 && width >= 0) {
            fill += (size_t)snprintf(name + fill, room - fill, "%0*" PRIu64, width, number);
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

bool gpume_pattern_matches(const char *pattern, const char *name, uint64_t *number)
{
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
            name += digits;
        } else if (*name++ != *pattern) {
            return false;
        }
        pattern += bytes > 0 ? bytes : 1;
    }
    return *name == '\0';
}

bool gpume_pattern_find(const char *path, uint64_t *lowest)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t bytes = (size_t)(base - path);
    char *folder = malloc(bytes + 2);
    if (!folder) {
        return false;
    }
    memcpy(folder, bytes > 0 ? path : ".", bytes > 0 ? bytes : 1);
    folder[bytes > 0 ? bytes : 1] = '\0';
    char *plain = gpume_pattern_name(folder, 0); /* "%%" in the folder's name */
    DIR *dir = plain ? opendir(plain) : NULL;
    bool found = false;
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        uint64_t number = 0;
        if (gpume_pattern_matches(base, entry->d_name, &number) && (!found || number < *lowest)) {
            *lowest = number;
            found = true;
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
    free(plain);
    free(folder);
    return found;
}
