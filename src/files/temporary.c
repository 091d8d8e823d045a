/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/temporary.h"

#include "files/inputs.h"
#include "files/path.h"
#include "files/pattern.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPS_MAX 10000 /* attempts: a killed run may have had the same process number */

static const char mark[] = ".gpume-", tail[] = ".tmp";

char *gpume_temporary_name(const char *final, struct gpume_temporary id)
{
    char after[64];
    snprintf(after, sizeof after, "%s%" PRIu64 "-%" PRIu64 "%s", mark, id.pid, id.number, tail);
    return gpume_path_beside(final, ".", GPUME_TEMPORARY_SHOWN, after);
}

/* Whether the path still names the open file. */
static bool is_file(int fd, const char *path)
{
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && S_ISREG(open_file.st_mode) && lstat(path, &named) == 0 &&
           open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

/* Creates and locks a file. Another run that examines or removes temporaries may lock it first:
 * then EEXIST, so that another name is tried. */
static int create_one(const char *path)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd >= 0) {
        const bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (taken || !is_file(fd, path)) {
            if (taken && is_file(fd, path)) {
                (void)unlink(path);
            }
            (void)close(fd);
            errno = EEXIST;
            return -1;
        }
    }
    return fd;
}

int gpume_temporary_create(const char *final, struct gpume_temporary *id, char **name)
{
    int fd = -1;
    errno = EEXIST;
    *name = NULL;
    *id = (struct gpume_temporary){.pid = (uint64_t)getpid()};
    for (; fd < 0 && errno == EEXIST && id->number < TEMPS_MAX; id->number++) {
        char *path = gpume_temporary_name(final, *id);
        if (!path) {
            errno = ENOMEM;
            return -1;
        }
        fd = create_one(path);
        if (fd >= 0) {
            *name = path;
            return fd;
        }
        const int error = errno;
        free(path);
        errno = error;
    }
    return -1;
}

bool gpume_temporary_unused(const char *final, struct gpume_temporary *id)
{
    struct stat info;
    bool used = true;
    *id = (struct gpume_temporary){.pid = (uint64_t)getpid()};
    while (used && id->number < TEMPS_MAX) {
        char *path = gpume_temporary_name(final, *id);
        if (!path) {
            return false;
        }
        used = lstat(path, &info) == 0;
        id->number += used;
        free(path);
    }
    return true;
}

int gpume_temporary_adopt(const char *path)
{
    const int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int error = fd < 0 ? errno : 0;
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        error = errno;
    } else if (fd >= 0 && !is_file(fd, path)) {
        error = ENOENT;
    }
    if (error != 0 && fd >= 0) {
        (void)close(fd);
    }
    errno = error;
    return error == 0 ? fd : -1;
}

/* Removes ".gpume-PID-N.tmp" from a temporary's name; false: it is not one. */
static bool cut_mark(char *name)
{
    char *end = NULL;
    for (char *at = strstr(name, mark); at; at = strstr(at + 1, mark)) {
        end = at;
    }
    if (name[0] != '.' || !end) {
        return false;
    }
    const char *at = end + sizeof mark - 1;
    const size_t pid = strspn(at, "0123456789");
    const size_t number = at[pid] == '-' ? strspn(at + pid + 1, "0123456789") : 0;
    if (pid == 0 || number == 0 || strcmp(at + pid + 1 + number, tail) != 0) {
        return false;
    }
    *end = '\0';
    return true;
}

static bool is_stem(const void *opaque, const char *stem)
{
    char fitted[GPUME_PATH_FITTED_BYTES];
    gpume_path_fit(fitted, opaque, GPUME_TEMPORARY_SHOWN);
    return strcmp(stem, fitted) == 0;
}

/* Called for each temporary. True: the answer is known. own: its own name, or NULL. */
typedef bool (*visit_fn)(const char *path, const char *own);

static bool remove_dead(const char *path, const char *own)
{
    struct stat info;
    const int fd = gpume_temporary_adopt(path);
    (void)own;
    if (fd >= 0) {
        if (fstat(fd, &info) == 0 && !gpume_inputs_have(&info)) {
            (void)unlink(path);
        }
        (void)close(fd);
    }
    return false;
}

static bool is_rival(const char *path, const char *own)
{
    const int fd = strcmp(path, own) == 0 ? -1 : gpume_temporary_adopt(path);
    const bool living = strcmp(path, own) != 0 && fd < 0 && errno == EWOULDBLOCK;
    if (fd >= 0) {
        (void)close(fd);
    }
    return living;
}

/* Visits all that match. True: one visit was enough. */
static bool visit_folder(const char *path, gpume_temporary_match_fn match, const void *opaque,
    visit_fn visit, const char *own)
{
    const size_t folder = gpume_path_folder(path);
    bool enough = false;
    DIR *dir = gpume_path_open_folder(path);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        char stem[sizeof entry->d_name];
        snprintf(stem, sizeof stem, "%s", entry->d_name);
        if (cut_mark(stem) &&
            (match ? match(opaque, stem + 1) : is_stem(path + folder, stem + 1))) {
            char *name = gpume_path_join(path, folder, entry->d_name);
            enough = (name && visit(name, own)) || enough;
            free(name);
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
    return enough;
}

void gpume_temporary_clear(const char *path, gpume_temporary_match_fn match, const void *opaque)
{
    char *final = match ? NULL : gpume_path_resolve(path);
    (void)visit_folder(final ? final : path, match, opaque, remove_dead, NULL);
    free(final);
}

static bool is_of_pattern(const void *pattern, const char *name)
{
    struct gpume_pattern_numbers numbers;
    return gpume_pattern_matches(pattern, name, &numbers);
}

void gpume_temporary_clear_series(const char *path)
{
    char *series = gpume_pattern_series(path);
    if (series) {
        gpume_temporary_clear(series, is_of_pattern, path + gpume_path_folder(path));
        gpume_temporary_clear(series, NULL, NULL);
    }
    free(series);
}

bool gpume_temporary_has_rival(const char *final, const char *own)
{
    return visit_folder(final, NULL, NULL, is_rival, own);
}
