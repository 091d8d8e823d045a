/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/path.h"

#include "base/base.h"

#include "gpume/gpume.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- paths */

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

/* --- names as a terminal may see them */

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

/* --- numbered names */

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

/* --- names of outputs */

bool gpume_text_is_special(const char *path)
{
    struct stat info;
    return gpume_text_is_stdout(path) ||
           (stat(path, &info) == 0 &&
               (gpume_path_descriptor(path) >= 0 || S_ISCHR(info.st_mode) ||
                   S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || S_ISBLK(info.st_mode)));
}

int gpume_text_check_name(const char *path, const struct gpume_log *log)
{
    return strcmp(path, "-.nut") != 0
               ? GPUME_OK
               : gpume_log_fail(log, GPUME_INVALID,
                     "%s: stands for video on standard output; give - for standard output", path);
}

int gpume_text_refuse_existing(const char *path, bool series, const struct gpume_log *log)
{
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    if (series && gpume_pattern_is_numbered(path)) {
        (void)gpume_pattern_list(path, &numbers, &count); /* without memory: the pattern is named */
    }
    char *first = count > 0 ? gpume_pattern_name_pair(path, numbers[0]) : NULL;
    const int status = gpume_log_fail(log, GPUME_INVALID,
        "%s: exists already; replace %s with -y or write elsewhere", first ? first : path,
        first ? "such files" : "it");
    free(first);
    free(numbers);
    return status;
}

int gpume_text_refuse_folder(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log)
{
    int length = (int)strlen(path);
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    return stem ? gpume_log_fail(log, GPUME_INVALID,
                      "%s: is a folder; name a file, such as %.*s/%s%s", path, length, path, stem,
                      extension)
                : gpume_log_fail(log, GPUME_INVALID, "%s: is a folder; name a file", path);
}

int gpume_text_check_file(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log)
{
    struct stat info;
    const int status = gpume_text_check_name(path, log);
    return status == GPUME_OK && strcmp(path, "-") != 0 && stat(path, &info) == 0 &&
                   S_ISDIR(info.st_mode)
               ? gpume_text_refuse_folder(path, stem, extension, log)
               : status;
}

/* otherwise: what the name may be instead of one with the extension. */
static int check_extension(const char *path, const char *stem, const char *extension,
    const char *otherwise, const struct gpume_log *log)
{
    const size_t length = strlen(path), tail = strlen(extension);
    const int status = gpume_text_check_file(path, stem, extension, log);
    if (status != GPUME_OK || gpume_text_is_special(path) ||
        (length > tail && strcmp(path + length - tail, extension) == 0)) {
        return status;
    }
    return gpume_log_fail(
        log, GPUME_INVALID, "%s: the name must end in %s%s", path, extension, otherwise);
}

int gpume_text_check(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log)
{
    return check_extension(path, stem, extension, ", or be - for standard output", log);
}

int gpume_text_check_named(
    const char *path, const char *stem, const char *extension, const struct gpume_log *log)
{
    return check_extension(path, stem, extension, "", log);
}

bool gpume_text_is_stdout(const char *path)
{
    return gpume_path_descriptor(path) == STDOUT_FILENO;
}

/* Whether both patterns give the same names to large numbers. */
static bool is_alike(const char *a, const char *b)
{
    char *plain_a = gpume_pattern_plain(a), *plain_b = gpume_pattern_plain(b);
    const bool alike = plain_a && plain_b && strcmp(plain_a, plain_b) == 0;
    free(plain_a);
    free(plain_b);
    return alike;
}

bool gpume_text_is_of_series(const char *numbered, const char *path)
{
    const char *last = numbered + gpume_path_folder(numbered),
               *other = path + gpume_path_folder(path);
    struct gpume_pattern_numbers numbers;
    return gpume_pattern_is_numbered(numbered) &&
           (is_alike(last, other) || gpume_pattern_matches(last, other, &numbers));
}

bool gpume_text_exists(const char *path, bool series)
{
    struct stat info;
    uint64_t lowest;
    if (series && gpume_pattern_is_numbered(path)) {
        return gpume_pattern_find(path, &lowest);
    }
    char *name = series ? gpume_pattern_name(path, 0) : NULL;
    path = name ? name : path;
    const bool exists = gpume_path_descriptor(path) < 0 &&
                        (stat(path, &info) == 0 ? S_ISREG(info.st_mode) : lstat(path, &info) == 0);
    free(name);
    return exists;
}

bool gpume_text_can_continue(const char *path)
{
    struct stat info;
    return gpume_path_descriptor(path) < 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
}
