/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast this system takes one large file from several threads, which bounds how fast any program
 * writes vectors.csv: write(2) by one thread, as src/files/writer.c does it; pwrite(2) to places of
 * their own by 1, 2, 4, ... threads, while the file grows and where its space has been set aside; a
 * mapped file; and, for comparison, one file per thread.
 *
 *     bench_files [FOLDER [MIB [THREADS]]]     /dev/shm, 256 MiB, at most 8 threads
 *
 * Prints one line for each, the best of five rounds: the rate, and the processor time of all
 * threads per GB. Setting space aside counts. The files have no names, so nothing is left behind.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PART_BYTES = 512 * 1024 }; /* a buffer of src/files/out.c */
enum { THREADS_MAX = 64, ROUNDS = 5 };

struct file {
    int fd;
    char *map;
    atomic_uint *next; /* part to be written, of all threads */
    uint32_t parts;
    const struct way *way;
};

struct way {
    const char *name;
    bool (*put)(const struct file *file, const char *part, uint32_t number);
    bool aside;    /* space is set aside first */
    bool mapped;   /* and mapped */
    bool separate; /* one file per thread */
    bool alone;    /* one thread only */
};

static bool put_next(const struct file *file, const char *part, uint32_t number)
{
    (void)number;
    return write(file->fd, part, PART_BYTES) == PART_BYTES;
}

static bool put_at(const struct file *file, const char *part, uint32_t number)
{
    return pwrite(file->fd, part, PART_BYTES, (off_t)number * PART_BYTES) == PART_BYTES;
}

static bool put_mapped(const struct file *file, const char *part, uint32_t number)
{
    memcpy(file->map + (size_t)number * PART_BYTES, part, PART_BYTES);
    return true;
}

static const struct way ways[] = {
    {.name = "write", .put = put_next, .alone = true},
    {.name = "pwrite, growing", .put = put_at},
    {.name = "pwrite, set aside", .put = put_at, .aside = true},
    {.name = "mapped, set aside", .put = put_mapped, .aside = true, .mapped = true},
    {.name = "one file each", .put = put_next, .separate = true},
};

/* Returns NULL if a part was not written. */
static void *write_parts(void *opaque)
{
    struct file *file = opaque;
    char *part = malloc(PART_BYTES);
    bool good = part;
    if (good) {
        memset(part, 'a', PART_BYTES);
    }
    for (uint32_t i; good && (i = atomic_fetch_add(file->next, 1)) < file->parts;) {
        good = file->way->put(file, part, i);
    }
    free(part);
    return good ? file : NULL;
}

/* Opens a new file without a name. */
static bool open_file(struct file *file, const char *folder)
{
    const size_t bytes = (size_t)file->parts * PART_BYTES;
    char name[4096];
    snprintf(name, sizeof(name), "%s/bench_files.XXXXXX", folder);
    file->map = MAP_FAILED;
    file->fd = mkstemp(name);
    if (file->fd < 0 || unlink(name) != 0) {
        return false;
    }
    if (file->way->aside && posix_fallocate(file->fd, 0, (off_t)bytes) != 0) {
        return false;
    }
    if (file->way->mapped) {
        file->map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    }
    return !file->way->mapped || file->map != MAP_FAILED;
}

static void close_file(struct file *file)
{
    if (file->map != MAP_FAILED) {
        (void)munmap(file->map, (size_t)file->parts * PART_BYTES);
    }
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
}

/* All threads write their parts. */
static bool write_all(struct file *files, const struct way *way, uint32_t threads)
{
    pthread_t ids[THREADS_MAX];
    bool good = true;
    uint32_t started = 0;
    while (good && started < threads) {
        struct file *file = &files[way->separate ? started : 0];
        good = pthread_create(&ids[started], NULL, write_parts, file) == 0;
        started += good;
    }
    for (uint32_t i = 0; i < started; i++) {
        void *done = NULL;
        good = pthread_join(ids[i], &done) == 0 && done && good;
    }
    return good;
}

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What one round took. */
struct round {
    double wall, cpu;
};

static bool take_round(const struct way *way, uint32_t threads, const char *folder, uint32_t parts,
    struct round *round)
{
    struct file files[THREADS_MAX];
    atomic_uint next = 0;
    bool good = true;
    const uint32_t count = way->separate ? threads : 1;
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    uint32_t opened = 0;
    while (good && opened < count) {
        files[opened] = (struct file){.next = &next, .parts = parts, .way = way};
        good = open_file(&files[opened++], folder);
    }
    good = good && write_all(files, way, threads);
    round->wall = seconds(CLOCK_MONOTONIC) - wall;
    round->cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    for (uint32_t i = 0; i < opened; i++) {
        close_file(&files[i]);
    }
    return good;
}

static bool measure(const struct way *way, uint32_t threads, const char *folder, uint32_t parts)
{
    struct round best = {0};
    const double gb = (double)parts * PART_BYTES / 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        struct round round;
        if (!take_round(way, threads, folder, parts, &round)) {
            fprintf(stderr, "%s: %s: cannot be written\n", folder, way->name);
            return false;
        }
        best = i == 0 || round.wall < best.wall ? round : best;
    }
    printf("%-18s %2u threads %6.2f GB/s %6.3f s of CPU per GB\n", way->name, threads,
        gb / best.wall, best.cpu / gb);
    return true;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "/dev/shm";
    const uint32_t mib = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 256;
    const uint32_t wanted = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 8;
    const uint32_t most = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    bool good = true;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        for (uint32_t threads = 1; good && threads <= (ways[i].alone ? 1 : most); threads *= 2) {
            good = measure(&ways[i], threads, folder, mib * (1024 * 1024 / PART_BYTES));
        }
    }
    return !good;
}
