/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For LD_PRELOAD: makes C library calls fail (fault.h) that gpume's own code makes, in the program
 * or in libgpume. Calls from FFmpeg, cairo and drivers succeed: not all of these handle failures,
 * and that is not tested here. But libav functions that gpume calls to create something do fail.
 *
 * It also tracks all memory that gpume or libav has allocated, and threads; the report lists those
 * that were never freed or joined.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#define _GNU_SOURCE 1

#include "fault_calls.h"
#include "fault.h"
#include "fault_runs.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RANGES_MAX 64u
#define BLOCKS_MAX (1u << 16) /* table entries, a power of 2; runs here use two thousand */
#define EARLY_BYTES 4096u     /* for dlsym's own allocations, before the real functions are known */

enum owner { OTHERS, LIBAV, OURS };

struct range {
    uintptr_t first, end;
    enum owner owner;
};

struct block {
    const void *at; /* NULL: unused entry; GONE: removed entry */
    size_t bytes;
    const void *caller;
};

static const char gone;
#define GONE ((const void *)&gone)

static struct {
    struct fault_plan plan;
    struct range ranges[RANGES_MAX];
    unsigned range_count;
    atomic_int threads;
    atomic_bool ready;      /* address ranges are known */
    const void *failed_for; /* the caller of the first call that failed */
    long signal;            /* sent instead of a failure; 0: none */
    long term_at;           /* 0: never */
    atomic_bool is_terminated;
    long clock_s, write_ms;
    atomic_long clock_reads;
    pthread_mutex_t mutex; /* of blocks */
    struct block blocks[BLOCKS_MAX];
} state = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void *fault_next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* --- who made the call, and whether it fails */

static enum owner owner_of_name(const char *name)
{
    const char *file = strrchr(name, '/');
    file = file ? file + 1 : name;
    if (name[0] == '\0' || strncmp(file, "libgpume", 8) == 0) {
        return OURS;
    }
    static const char *const libav[] = {
        "libavutil.", "libavcodec.", "libavformat.", "libavfilter.", "libswscale."};
    for (size_t i = 0; i < sizeof libav / sizeof *libav; i++) {
        if (strncmp(file, libav[i], strlen(libav[i])) == 0) {
            return LIBAV;
        }
    }
    return OTHERS;
}

static int add_object(struct dl_phdr_info *info, size_t bytes, void *opaque)
{
    (void)bytes;
    (void)opaque;
    const enum owner owner = owner_of_name(info->dlpi_name);
    for (int i = 0; i < info->dlpi_phnum && owner != OTHERS; i++) {
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) &&
            state.range_count < RANGES_MAX) {
            const uintptr_t first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            state.ranges[state.range_count++] =
                (struct range){first, first + info->dlpi_phdr[i].p_memsz, owner};
        }
    }
    return 0;
}

static enum owner owner_of(const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    if (!atomic_load(&state.ready)) {
        return OTHERS;
    }
    for (unsigned i = 0; i < state.range_count; i++) {
        if (at >= state.ranges[i].first && at < state.ranges[i].end) {
            return state.ranges[i].owner;
        }
    }
    return OTHERS;
}

/* Sends the signal to the process. If a thread of the program waits for it, the thread has taken
 * it, and most likely acted on it, when this returns. */
static void send(int number)
{
    sigset_t pending;
    (void)syscall(SYS_kill, getpid(), number);
    for (int i = 0; i < 1000 && sigpending(&pending) == 0 && sigismember(&pending, number); i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

bool fault_call_falls(const void *caller, const char *kind, const char *function, int error)
{
    if (owner_of(caller) != OURS) {
        return false;
    }
    const bool falls = fault_falls(&state.plan, kind, function);
    if (state.term_at > 0 && atomic_load(&state.plan.counted) == (unsigned long)state.term_at &&
        !atomic_exchange(&state.is_terminated, true)) {
        send(SIGTERM);
    }
    if (!falls) {
        return false;
    }
    if (state.signal != 0) {
        send((int)state.signal);
        return false;
    }
    if (!state.failed_for) {
        state.failed_for = caller;
    }
    errno = error;
    return true;
}

/* --- memory */

static size_t place_of(const void *at)
{
    return (size_t)(((uintptr_t)at >> 4) * 0x9E3779B97F4A7C15ull >> 40) & (BLOCKS_MAX - 1);
}

static void *keep(void *at, size_t bytes, const void *caller)
{
    if (!at || owner_of(caller) == OTHERS) {
        return at;
    }
    pthread_mutex_lock(&state.mutex);
    size_t place = place_of(at);
    while (state.blocks[place].at && state.blocks[place].at != GONE) {
        place = (place + 1) & (BLOCKS_MAX - 1);
    }
    state.blocks[place] = (struct block){at, bytes, caller};
    pthread_mutex_unlock(&state.mutex);
    return at;
}

static void drop(const void *at)
{
    if (!at || !atomic_load(&state.ready)) {
        return;
    }
    pthread_mutex_lock(&state.mutex);
    for (size_t place = place_of(at); state.blocks[place].at;
         place = (place + 1) & (BLOCKS_MAX - 1)) {
        if (state.blocks[place].at == at) {
            state.blocks[place].at = GONE;
            break;
        }
    }
    pthread_mutex_unlock(&state.mutex);
}

static union {
    max_align_t align;
    char bytes[EARLY_BYTES];
} early;
static size_t early_used;

static bool is_early(const void *at)
{
    return (const char *)at >= early.bytes && (const char *)at < early.bytes + EARLY_BYTES;
}

static void *early_calloc(size_t bytes)
{
    void *at = early.bytes + early_used;
    early_used += (bytes + 15) / 16 * 16;
    return early_used <= EARLY_BYTES ? at : NULL;
}

SHOWN void *malloc(size_t bytes)
{
    REAL(void *, malloc, size_t)
    return fault_call_falls(CALLER, "memory", "malloc", ENOMEM) ? NULL
                                                                : keep(real(bytes), bytes, CALLER);
}

SHOWN void *calloc(size_t count, size_t bytes)
{
    static void *(*real)(size_t, size_t);
    static volatile bool looking; /* dlsym is declared as calling nothing here */
    if (looking) {
        return early_calloc(count * bytes);
    }
    if (!real) {
        looking = true;
        *(void **)&real = fault_next("calloc");
        looking = false;
    }
    return fault_call_falls(CALLER, "memory", "calloc", ENOMEM)
               ? NULL
               : keep(real(count, bytes), count * bytes, CALLER);
}

SHOWN void *realloc(void *at, size_t bytes)
{
    REAL(void *, realloc, void *, size_t)
    if (fault_call_falls(CALLER, "memory", "realloc", ENOMEM)) {
        return NULL;
    }
    void *moved = real(at, bytes);
    if (moved || bytes == 0) {
        drop(at); /* late, but no other thread can own that address yet */
    }
    return keep(moved, bytes, CALLER);
}

SHOWN int posix_memalign(void **at, size_t alignment, size_t bytes)
{
    REAL(int, posix_memalign, void **, size_t, size_t)
    if (fault_call_falls(CALLER, "memory", "posix_memalign", ENOMEM)) {
        return ENOMEM;
    }
    const int error = real(at, alignment, bytes);
    if (error == 0) {
        (void)keep(*at, bytes, CALLER);
    }
    return error;
}

SHOWN void *aligned_alloc(size_t alignment, size_t bytes)
{
    REAL(void *, aligned_alloc, size_t, size_t)
    return fault_call_falls(CALLER, "memory", "aligned_alloc", ENOMEM)
               ? NULL
               : keep(real(alignment, bytes), bytes, CALLER);
}

SHOWN char *strdup(const char *text)
{
    REAL(char *, strdup, const char *)
    return fault_call_falls(CALLER, "memory", "strdup", ENOMEM)
               ? NULL
               : keep(real(text), strlen(text) + 1, CALLER);
}

SHOWN char *strndup(const char *text, size_t bytes)
{
    REAL(char *, strndup, const char *, size_t)
    return fault_call_falls(CALLER, "memory", "strndup", ENOMEM)
               ? NULL
               : keep(real(text, bytes), bytes, CALLER);
}

SHOWN void free(void *at)
{
    static void (*real)(void *);
    static volatile bool looking;
    if (looking) {
        return; /* the text of an earlier error, which dlsym frees */
    }
    if (!real) {
        looking = true;
        *(void **)&real = fault_next("free");
        looking = false;
    }
    drop(at);
    if (!is_early(at)) {
        real(at);
    }
}

/* --- threads */

SHOWN int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*main)(void *), void *opaque)
{
    REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *)
    if (fault_call_falls(CALLER, "thread", "pthread_create", EAGAIN) ||
        (owner_of(CALLER) == LIBAV && getenv("GPUME_FAULT_LIBAV_THREADS"))) {
        return EAGAIN;
    }
    const int error = real(thread, attributes, main, opaque);
    if (error == 0 && owner_of(CALLER) == OURS) {
        atomic_fetch_add(&state.threads, 1);
    }
    return error;
}

SHOWN int pthread_join(pthread_t thread, void **result)
{
    REAL(int, pthread_join, pthread_t, void **)
    const int error = real(thread, result);
    if (error == 0 && owner_of(CALLER) == OURS) {
        atomic_fetch_sub(&state.threads, 1);
    }
    return error;
}

/* --- files */

#define OPEN(name)                                                                                 \
    SHOWN int name(const char *path, int flags, ...)                                               \
    {                                                                                              \
        REAL(int, name, const char *, int, ...)                                                    \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;              \
        va_end(args);                                                                              \
        if (fault_call_falls(CALLER, "open", #name, flags & O_CREAT ? ENOSPC : EMFILE)) {          \
            return -1;                                                                             \
        }                                                                                          \
        return real(path, flags, mode);                                                            \
    }
OPEN(open)
OPEN(open64)

MAY_FAIL(FILE *, fopen, "open", EMFILE, NULL, (const char *path, const char *mode), (path, mode),
    const char *, const char *)
MAY_FAIL(FILE *, fopen64, "open", EMFILE, NULL, (const char *path, const char *mode), (path, mode),
    const char *, const char *)
MAY_FAIL(
    FILE *, fdopen, "open", ENOMEM, NULL, (int fd, const char *mode), (fd, mode), int, const char *)
MAY_FAIL(DIR *, opendir, "open", EMFILE, NULL, (const char *path), (path), const char *)
MAY_FAIL(int, dup, "open", EMFILE, -1, (int fd), (fd), int)
MAY_FAIL(int, pipe2, "open", EMFILE, -1, (int ends[2], int flags), (ends, flags), int *, int)
MAY_FAIL(int, posix_spawnp, "thread", EAGAIN, EAGAIN,
    (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
        const posix_spawnattr_t *attributes, char *const argv[], char *const environment[]),
    (pid, file, actions, attributes, argv, environment), pid_t *, const char *,
    const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *)
MAY_FAIL(int, mkdir, "open", ENOSPC, -1, (const char *path, mode_t mode), (path, mode),
    const char *, mode_t)
MAY_FAIL(ssize_t, read, "read", EIO, -1, (int fd, void *data, size_t bytes), (fd, data, bytes), int,
    void *, size_t)
MAY_FAIL(ssize_t, pread, "read", EIO, -1, (int fd, void *data, size_t bytes, off_t at),
    (fd, data, bytes, at), int, void *, size_t, off_t)
MAY_FAIL(ssize_t, pread64, "read", EIO, -1, (int fd, void *data, size_t bytes, off64_t at),
    (fd, data, bytes, at), int, void *, size_t, off64_t)

SHOWN ssize_t write(int fd, const void *data, size_t bytes)
{
    REAL(ssize_t, write, int, const void *, size_t)
    if (state.write_ms > 0 && owner_of(CALLER) == OURS) {
        (void)nanosleep(
            &(struct timespec){state.write_ms / 1000, state.write_ms % 1000 * 1000000}, NULL);
    }
    /* Standard error takes everything: tests judge the line that is written there. */
    const bool falls = fd != STDERR_FILENO && fault_call_falls(CALLER, "write", "write", ENOSPC);
    return falls ? -1 : real(fd, data, bytes);
}

MAY_FAIL(
    off_t, lseek, "write", EIO, -1, (int fd, off_t at, int from), (fd, at, from), int, off_t, int)
MAY_FAIL(off64_t, lseek64, "write", EIO, -1, (int fd, off64_t at, int from), (fd, at, from), int,
    off64_t, int)
MAY_FAIL(int, fsync, "write", EIO, -1, (int fd), (fd), int)
MAY_FAIL(int, fdatasync, "write", EIO, -1, (int fd), (fd), int)
MAY_FAIL(int, ftruncate64, "write", ENOSPC, -1, (int fd, off64_t bytes), (fd, bytes), int, off64_t)
MAY_FAIL(int, fflush, "write", ENOSPC, EOF, (FILE * stream), (stream), FILE *)
MAY_FAIL(int, rename, "name", EIO, -1, (const char *from, const char *to), (from, to), const char *,
    const char *)
MAY_FAIL(int, link, "name", EIO, -1, (const char *from, const char *to), (from, to), const char *,
    const char *)

/* A file that gpume fails to remove stays, which is not gpume's fault. */
SHOWN int unlink(const char *path)
{
    REAL(int, unlink, const char *)
    const bool counted = state.signal != 0 || state.term_at > 0;
    return counted && fault_call_falls(CALLER, "name", "unlink", EIO) ? -1 : real(path);
}

/* close() frees the descriptor even if it fails. */
SHOWN int close(int fd)
{
    REAL(int, close, int)
    const bool fails = fault_call_falls(CALLER, "write", "close", EIO);
    const int result = real(fd);
    if (fails) {
        errno = EIO;
    }
    return fails ? -1 : result;
}

/* --- time */

SHOWN int clock_gettime(clockid_t clock, struct timespec *now)
{
    REAL(int, clock_gettime, clockid_t, struct timespec *)
    const int result = real(clock, now);
    if (result == 0 && clock == CLOCK_MONOTONIC && state.clock_s > 0 && owner_of(CALLER) == OURS) {
        now->tv_sec += state.clock_s * (atomic_fetch_add(&state.clock_reads, 1) + 1);
    }
    return result;
}

/* --- start and end of the process */

static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    fault_runs();
    (void)unsetenv("LD_PRELOAD"); /* calls of programs that gpume starts are not counted */
    fault_plan_init(&state.plan, getenv("GPUME_FAULT_AT"), getenv("GPUME_FAULT_KIND"));
    state.signal = number_of("GPUME_FAULT_SIGNAL");
    state.term_at = number_of("GPUME_FAULT_TERM_AT");
    state.clock_s = number_of("GPUME_FAULT_CLOCK_S");
    state.write_ms = number_of("GPUME_FAULT_WRITE_MS");
    dl_iterate_phdr(add_object, NULL);
    atomic_store(&state.ready, true);
}

static void say(int fd, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    const int bytes = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    (void)!syscall(SYS_write, fd, line, (size_t)(bytes < 0 ? 0 : bytes));
}

/* Prints the caller in the form that addr2line accepts. */
static void say_caller(int fd, const char *format, const char *what, const void *caller)
{
    Dl_info info;
    say(fd, format, what);
    if (dladdr(caller, &info) != 0) {
        const char *file = strrchr(info.dli_fname, '/');
        say(fd, ", %s+0x%lx", file ? file + 1 : info.dli_fname,
            (unsigned long)((uintptr_t)caller - (uintptr_t)info.dli_fbase));
    }
    say(fd, "\n");
}

__attribute__((destructor)) static void end(void)
{
    const char *report = getenv("GPUME_FAULT_REPORT");
    const int fd = report ? (int)syscall(SYS_openat, AT_FDCWD, report,
                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                          : -1;
    if (fd < 0) {
        return;
    }
    if (state.plan.failed) {
        say_caller(fd, "failed %s", state.plan.failed, state.failed_for);
    }
    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        const struct block *block = &state.blocks[i];
        char bytes[32];
        if (block->at && block->at != GONE) {
            snprintf(bytes, sizeof bytes, "%zu", block->bytes);
            say_caller(fd, "left %s bytes", bytes, block->caller);
        }
    }
    if (atomic_load(&state.threads) != 0) {
        say(fd, "left %d threads\n", atomic_load(&state.threads));
    }
    say(fd, "counted %llu\n", (unsigned long long)atomic_load(&state.plan.counted));
    (void)syscall(SYS_close, fd);
}
