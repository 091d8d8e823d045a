/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of the fuzz targets. A target is a function FUZZ_TARGET: with GPUME_FUZZ
 * libFuzzer calls it, otherwise replay.c does, with the files of its corpus. It aborts if a promise
 * is broken; sanitizers detect the rest.
 */
#ifndef GPUME_TESTS_FUZZ_H
#define GPUME_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef FUZZ_FAILING /* failing.c calls the target */
#define FUZZ_TARGET fuzz_target
/* With failing.c: whether an allocation has failed for this input, */
bool fuzz_starved(void);
/* and that none fails, until it is called with false: what is done is the test's own. */
void fuzz_feed(bool always);
/* A target's own memory is always there. */
void *__real_malloc(size_t bytes);
char *__real_strdup(const char *text);
#define malloc __real_malloc
#define strdup __real_strdup
#else
#define FUZZ_TARGET LLVMFuzzerTestOneInput
static inline bool fuzz_starved(void)
{
    return false;
}
static inline void fuzz_feed(bool always)
{
    (void)always;
}
#endif

int FUZZ_TARGET(const uint8_t *data, size_t bytes);

/* A promise that holds where memory does not run out, */
#define FUZZ_REQUIRE(condition) FUZZ_ALWAYS((condition) || fuzz_starved())

/* and one that always does. */
#define FUZZ_ALWAYS(condition)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s is not so\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input, consumed from its beginning; zeros follow its end. */
struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

static inline void fuzz_take(struct fuzz_bytes *from, void *to, size_t bytes)
{
    const size_t taken = bytes < from->left ? bytes : from->left;
    memset(to, 0, bytes);
    if (taken > 0) {
        memcpy(to, from->at, taken);
        from->at += taken;
        from->left -= taken;
    }
}

static inline uint8_t fuzz_u8(struct fuzz_bytes *from)
{
    uint8_t value;
    fuzz_take(from, &value, sizeof value);
    return value;
}

static inline uint32_t fuzz_u32(struct fuzz_bytes *from)
{
    uint32_t value;
    fuzz_take(from, &value, sizeof value);
    return value;
}

static inline uint64_t fuzz_u64(struct fuzz_bytes *from)
{
    uint64_t value;
    fuzz_take(from, &value, sizeof value);
    return value;
}

static inline double fuzz_real(struct fuzz_bytes *from)
{
    double value;
    fuzz_take(from, &value, sizeof value);
    return value;
}

/* For most inputs a number from min to max, for the others any 32 bits. */
static inline uint32_t fuzz_about(struct fuzz_bytes *from, uint32_t min, uint32_t max)
{
    const uint8_t kind = fuzz_u8(from);
    const uint32_t value = fuzz_u32(from);
    return kind < 240 ? min + value % (max - min + 1) : value;
}

/* As fuzz_about, but for valid values above `quick`, which would take minutes: they become invalid.
 */
static inline uint32_t fuzz_small(
    struct fuzz_bytes *from, uint32_t min, uint32_t quick, uint32_t allowed)
{
    const uint32_t value = fuzz_about(from, min, quick);
    return value > quick && value <= allowed ? value + allowed : value;
}

/* The name of a regular file with these bytes, valid until the next call. */
static inline const char *fuzz_file(const uint8_t *data, size_t bytes)
{
    static int file = -1;
    static char path[32];
    if (file < 0) {
        file = memfd_create("fuzz", MFD_CLOEXEC);
        FUZZ_REQUIRE(file >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    FUZZ_REQUIRE(ftruncate(file, 0) == 0);
    FUZZ_REQUIRE(bytes == 0 || pwrite(file, data, bytes, 0) == (ssize_t)bytes);
    return path;
}

#endif
