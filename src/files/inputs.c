/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/inputs.h"

#include "base/checksum.h"
#include "base/grow.h"
#include "files/path.h"
#include "files/pattern.h"

#include "gpume/gpume.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
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
        return fstat(STDIN_FILENO, &info) == 0 ? add(&info, false) : GPUME_OK;
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

/* --- contents */

/* A file of up to SAMPLES * SAMPLE_BYTES = 1 MiB is read as a whole; of a longer one, samples at
 * equal distances, the first and the last bytes among them. */
#define SAMPLES 16u
#define SAMPLE_BYTES ((size_t)64 * 1024)

/* Of a series, this many files are sampled; the sizes of all files count. */
#define FILES_MAX 16u

struct content {
    uint64_t bytes, sum;
    bool failed;
};

static void add_samples(struct content *content, int fd, uint64_t size)
{
    unsigned char *sample = malloc(SAMPLE_BYTES);
    const bool whole = size <= SAMPLES * SAMPLE_BYTES;
    const uint64_t last = whole ? 0 : size - SAMPLE_BYTES;
    content->failed = content->failed || !sample;
    for (uint64_t i = 0; i < SAMPLES && !content->failed; i++) {
        const uint64_t at = whole             ? i * SAMPLE_BYTES
                            : i + 1 < SAMPLES ? last / (SAMPLES - 1) * i
                                              : last;
        if (at >= size) {
            break;
        }
        const ssize_t got = pread(fd, sample, SAMPLE_BYTES, (off_t)at);
        content->failed = got <= 0;
        content->sum = gpume_checksum(content->sum, sample, got > 0 ? (size_t)got : 0);
    }
    free(sample);
}

static void add_file_content(struct content *content, const char *path, bool sampled)
{
    struct stat info;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const bool is_file = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    content->failed = content->failed || !is_file;
    if (is_file) {
        const uint64_t size = (uint64_t)info.st_size;
        content->bytes += size;
        content->sum = gpume_checksum(content->sum, &size, sizeof(size));
        if (sampled) {
            add_samples(content, fd, size);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void add_series_content(struct content *content, const char *pattern)
{
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    content->failed = gpume_pattern_list(pattern, &numbers, &count) != GPUME_OK || count == 0;
    const size_t step = count / FILES_MAX + 1;
    for (size_t i = 0; i < count && !content->failed; i++) {
        char *name = gpume_pattern_name(pattern, numbers[i].first);
        content->failed = !name;
        if (name) {
            add_file_content(content, name, i % step == 0);
        }
        free(name);
    }
    free(numbers);
}

static void put_content(const struct content *content, char text[GPUME_CONTENT_BYTES])
{
    text[0] = '\0';
    if (!content->failed) {
        snprintf(
            text, GPUME_CONTENT_BYTES, "%" PRIu64 "-%016" PRIx64, content->bytes, content->sum);
    }
}

void gpume_content_of_input(const char *path, char text[GPUME_CONTENT_BYTES])
{
    struct content content = {.sum = GPUME_CHECKSUM_BEGIN};
    const char *name = gpume_path_of_input(path);
    if (access(name, F_OK) != 0 && gpume_pattern_kind(name) == GPUME_PATTERN_NUMBERED) {
        add_series_content(&content, name);
    } else {
        add_file_content(&content, name, true);
    }
    put_content(&content, text);
}

void gpume_content_of_bytes(const void *data, size_t bytes, char text[GPUME_CONTENT_BYTES])
{
    const struct content content = {
        .bytes = bytes, .sum = gpume_checksum(GPUME_CHECKSUM_BEGIN, data, bytes)};
    put_content(&content, text);
}
