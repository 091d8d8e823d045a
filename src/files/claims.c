/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files may not be replaced or removed: the inputs of this process, and temporaries of runs
 * that live. */
#include "files/out.h"

#include "base/base.h"
#include "files/path.h"

#include "gpume/gpume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the inputs of this process */

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

/* --- temporaries */

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

/* --- what earlier runs have left */

/* For free(); NULL without memory. */
static char *partial_name(const char *path)
{
    char *final = gpume_path_resolve(path);
    char *partial = final ? gpume_path_with_suffix(final, GPUME_OUT_PARTIAL) : NULL;
    free(final);
    return partial;
}

int gpume_text_check_partial(const char *path, const struct gpume_log *log)
{
    struct stat info;
    char *partial = gpume_text_is_special(path) ? NULL : partial_name(path);
    bool blocked = partial && lstat(partial, &info) == 0 && S_ISDIR(info.st_mode);
    if (blocked) {
        gpume_log_write(log, GPUME_LOG_ERROR,
            "%s: is a folder, but an interrupted run leaves its results under this name; move it "
            "away or choose another name",
            partial);
    } else if (partial && gpume_inputs_have_name(partial)) {
        blocked = true;
        gpume_log_write(log, GPUME_LOG_ERROR,
            "%s: is the input, but an interrupted run leaves its results under this name; give the "
            "output another name",
            partial);
    }
    free(partial);
    return blocked ? GPUME_INVALID : GPUME_OK;
}

void gpume_text_remove_partial(const char *path)
{
    char *partial = partial_name(path);
    if (partial && !gpume_inputs_have_name(partial)) {
        (void)unlink(partial);
    }
    free(partial);
}

void gpume_text_clear(const char *path, bool series)
{
    if (series) {
        gpume_temporary_clear_series(path);
    } else if (gpume_text_can_continue(path)) {
        gpume_temporary_clear(path, NULL, NULL);
    }
}
