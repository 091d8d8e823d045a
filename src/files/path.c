/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/path.h"

#include "base/checksum.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as many as Linux follows */
#define SUM_DIGITS 16

static const char protocol[] = "file:";

char *gpume_path_join(const char *folder, size_t folder_bytes, const char *name)
{
    size_t bytes = folder_bytes + strlen(name) + 1;
    char *path = malloc(bytes);
    if (path) {
        memcpy(path, folder, folder_bytes);
        memcpy(path + folder_bytes, name, bytes - folder_bytes);
    }
    return path;
}

size_t gpume_path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

char *gpume_path_last(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    size_t first = length;
    while (first > 0 && path[first - 1] != '/') {
        first--;
    }
    return strndup(path + first, length - first);
}

DIR *gpume_path_open_folder(const char *path)
{
    const size_t bytes = gpume_path_folder(path);
    char *folder = gpume_path_join(path, bytes, bytes > 0 ? "" : ".");
    DIR *dir = folder ? opendir(folder) : NULL;
    free(folder);
    return dir;
}

void gpume_path_fit(char fitted[GPUME_PATH_FITTED_BYTES], const char *name, size_t limit)
{
    const size_t length = strlen(name);
    assert(limit > SUM_DIGITS + 1 && limit < GPUME_PATH_FITTED_BYTES);
    if (length <= limit) {
        memcpy(fitted, name, length + 1);
    } else {
        snprintf(fitted, GPUME_PATH_FITTED_BYTES, "%.*s~%016" PRIx64, (int)(limit - SUM_DIGITS - 1),
            name, gpume_checksum(GPUME_CHECKSUM_BEGIN, name, length));
    }
}

char *gpume_path_beside(const char *path, const char *before, size_t limit, const char *after)
{
    char fitted[GPUME_PATH_FITTED_BYTES], name[2 * GPUME_PATH_FITTED_BYTES];
    const size_t folder = gpume_path_folder(path);
    gpume_path_fit(fitted, path + folder, limit);
    snprintf(name, sizeof name, "%s%s%s", before, fitted, after);
    return gpume_path_join(path, folder, name);
}

char *gpume_path_with_suffix(const char *path, const char *suffix)
{
    return gpume_path_beside(path, "", NAME_MAX - strlen(suffix), suffix);
}

char *gpume_path_resolve(const char *path)
{
    char *at = gpume_path_join("", 0, path);
    for (int links = 0; at && links < LINKS_MAX; links++) {
        char target[PATH_MAX];
        ssize_t bytes = readlink(at, target, sizeof target - 1);
        if (bytes < 0) {
            return at;
        }
        target[bytes] = '\0';
        char *next = gpume_path_join(at, target[0] == '/' ? 0 : gpume_path_folder(at), target);
        free(at);
        at = next;
    }
    if (at) {
        free(at);
        errno = ELOOP;
        return NULL;
    }
    errno = ENOMEM;
    return NULL;
}

bool gpume_path_is_one_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

const char *gpume_path_of_input(const char *path)
{
    struct stat info;
    const size_t bytes = sizeof protocol - 1;
    return strncmp(path, protocol, bytes) == 0 && stat(path, &info) != 0 ? path + bytes : path;
}

int gpume_path_descriptor(const char *path)
{
    static const char *const outputs[] = {"-", "-.nut", "/dev/stdout"};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (strcmp(path, outputs[i]) == 0) {
            return STDOUT_FILENO;
        }
    }
    if (strcmp(path, "/dev/stderr") == 0) {
        return STDERR_FILENO;
    }
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t bytes = strlen(folders[i]);
        if (strncmp(path, folders[i], bytes) == 0) {
            char *end = NULL;
            long fd = strtol(path + bytes, &end, 10);
            if (end != path + bytes && *end == '\0' && fd >= 0 && fd <= INT_MAX) {
                return (int)fd;
            }
        }
    }
    return -1;
}

char *gpume_path_in_folder(const char *folder, const char *name)
{
    const size_t length = strlen(folder), bytes = length + strlen(name) + 2;
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    char *path = malloc(bytes);
    if (path) {
        snprintf(path, bytes, "%s%s%s", folder, slash, name);
    }
    return path;
}

size_t gpume_visible_utf8(const unsigned char *text)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    if (text[0] < 0x80) {
        return 1;
    }
    for (size_t form = 0; form < 3; form++) {
        if ((text[0] & forms[form].mask) != forms[form].lead) {
            continue;
        }
        uint32_t code = text[0] & (unsigned char)~forms[form].mask;
        for (size_t i = 1; i <= form + 1; i++) {
            if ((text[i] & 0xc0) != 0x80) {
                return 0;
            }
            code = code << 6 | (text[i] & 0x3f);
        }
        const bool surrogate = code >= 0xd800 && code <= 0xdfff;
        return code >= forms[form].least && code <= 0x10ffff && !surrogate ? form + 2 : 0;
    }
    return 0;
}

size_t gpume_visible_control(const char *text, size_t *bytes)
{
    const unsigned char *at = (const unsigned char *)text;
    *bytes = gpume_visible_utf8(at);
    *bytes += *bytes == 0; /* a byte that is part of no character */
    const unsigned char last = at[*bytes - 1];
    const bool c1 = last >= 0x80 && last < 0xa0;
    const bool control = (*bytes == 1 && (last < 0x20 || last == 0x7f || c1)) ||
                         (*bytes == 2 && at[0] == 0xc2 && c1);
    return control ? *bytes : 0;
}

void gpume_visible_clean(char *text)
{
    char *to = text;
    size_t bytes = 0;
    for (; *text; text += bytes) {
        if (gpume_visible_control(text, &bytes) > 0) {
            *to++ = '?';
        } else {
            memmove(to, text, bytes);
            to += bytes;
        }
    }
    *to = '\0';
}

void gpume_visible_put(const char *text, FILE *stream)
{
    size_t bytes = 0;
    for (; *text; text += bytes) {
        if (gpume_visible_control(text, &bytes) > 0) {
            putc('?', stream);
        } else {
            fwrite(text, 1, bytes, stream);
        }
    }
}
