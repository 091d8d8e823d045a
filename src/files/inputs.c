/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/inputs.h"

#include "base/grow.h"
#include "files/path.h"
#include "files/pattern.h"
#include "files/text_file.h"

#include "gpume/gpume.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct identity {
    uint64_t device, number;
};

/* Sorted when they are looked up: a million numbered pictures are added at once. */
static struct {
    pthread_mutex_t mutex;
    struct identity *files;
    size_t count, room;
    bool sorted;
} inputs = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int by_identity(const void *left, const void *right)
{
    const struct identity *a = left, *b = right;
    if (a->device != b->device) {
        return a->device < b->device ? -1 : 1;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Call with the mutex locked. */
static bool has(const struct identity *file)
{
    if (!inputs.sorted && inputs.count > 0) {
        qsort(inputs.files, inputs.count, sizeof *file, by_identity);
    }
    inputs.sorted = true;
    return inputs.count > 0 &&
           bsearch(file, inputs.files, inputs.count, sizeof *file, by_identity) != NULL;
}

static struct identity identity_of(const struct stat *info)
{
    return (struct identity){(uint64_t)info->st_dev, (uint64_t)info->st_ino};
}

bool gpume_inputs_have(const struct stat *info)
{
    const struct identity file = identity_of(info);
    if (!S_ISREG(info->st_mode)) {
        return false;
    }
    pthread_mutex_lock(&inputs.mutex);
    const bool found = has(&file);
    pthread_mutex_unlock(&inputs.mutex);
    return found;
}

bool gpume_inputs_have_name(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && gpume_inputs_have(&info);
}

/* several: one of many that are added at once, which need not be looked up. */
static int add(const struct stat *info, bool several)
{
    const struct identity file = identity_of(info);
    int status = GPUME_OK;
    if (!S_ISREG(info->st_mode)) {
        return GPUME_OK;
    }
    pthread_mutex_lock(&inputs.mutex);
    if (several || !has(&file)) {
        struct identity *larger =
            gpume_grow(inputs.files, inputs.count, &inputs.room, sizeof *larger);
        if (larger) {
            inputs.files = larger;
            inputs.files[inputs.count++] = file;
            inputs.sorted = false;
        }
        status = larger ? GPUME_OK : GPUME_NOMEM;
    }
    pthread_mutex_unlock(&inputs.mutex);
    return status;
}

static int add_descriptor(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? add(&info, false) : GPUME_OK;
}

/* The files of a folder that match the pattern; NULL: all. */
static int add_files(const char *folder, const char *pattern)
{
    int status = GPUME_OK;
    struct gpume_pattern_numbers numbers;
    DIR *dir = opendir(folder);
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry && status == GPUME_OK;
         entry = readdir(dir)) {
        struct stat info;
        if ((!pattern || gpume_pattern_matches(pattern, entry->d_name, &numbers)) &&
            fstatat(dirfd(dir), entry->d_name, &info, 0) == 0) {
            status = add(&info, true);
        }
    }
    if (dir) {
        (void)closedir(dir);
    }
    return status;
}

static int add_series(const char *path)
{
    char *name = gpume_pattern_name(path, 0); /* replaces "%%" in the folder's name */
    const size_t bytes = name ? gpume_path_folder(name) : 0;
    char *folder = name ? gpume_path_join(name, bytes, bytes > 0 ? "" : ".") : NULL;
    const int status = folder ? add_files(folder, path + gpume_path_folder(path)) : GPUME_NOMEM;
    free(folder);
    free(name);
    return status;
}

/* "concat:a|b", "crypto:a", "subfile,,start,0,end,9,,:a". */
static int add_wrapped(const char *names)
{
    int status = GPUME_OK;
    char *copy = strdup(names), *rest = NULL;
    struct stat info;
    for (char *name = copy ? strtok_r(copy, "|", &rest) : NULL; name && status == GPUME_OK;
         name = strtok_r(NULL, "|", &rest)) {
        status = stat(name, &info) == 0 ? add(&info, false) : GPUME_OK;
    }
    free(copy);
    return copy ? status : GPUME_NOMEM;
}

/* Other files in the folder may be replaced, such as the page of an older comparison. */
static int add_run(const char *folder)
{
    static const char *const names[] = {"vectors.csv", "frames.csv", "summary.json"};
    int status = GPUME_OK;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && status == GPUME_OK; i++) {
        struct stat info;
        char *path = gpume_path_in_folder(folder, names[i]);
        const bool exists = path && stat(path, &info) == 0;
        status = !path ? GPUME_NOMEM : exists ? add(&info, false) : GPUME_OK;
        free(path);
    }
    return status;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int gpume_inputs_add_all(const char *name)
{
    return is_folder(name) ? add_files(name, NULL) : gpume_inputs_add(name);
}

int gpume_inputs_add(const char *name)
{
    struct stat info;
    const char *path = gpume_path_of_input(name), *colon = strchr(name, ':');
    if (strcmp(name, "-") == 0 || strcmp(name, "pipe:") == 0 || strcmp(name, "pipe:0") == 0) {
        return add_descriptor(STDIN_FILENO);
    }
    if (stat(path, &info) == 0) {
        return S_ISDIR(info.st_mode) ? add_run(path) : add(&info, false);
    }
    if (gpume_pattern_is_numbered(path)) {
        return add_series(path);
    }
    return colon ? add_wrapped(colon + 1) : GPUME_OK;
}

int gpume_inputs_add_text(const char *text)
{
    return strcmp(text, "-") == 0 || is_folder(gpume_path_of_input(text)) ? GPUME_OK
                                                                          : gpume_inputs_add(text);
}

void gpume_inputs_forget(void)
{
    pthread_mutex_lock(&inputs.mutex);
    free(inputs.files);
    inputs.files = NULL;
    inputs.count = inputs.room = 0;
    pthread_mutex_unlock(&inputs.mutex);
}
