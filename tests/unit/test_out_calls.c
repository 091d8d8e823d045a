/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * files/out as the kernel sees it: an output that is to be on the disk gets its name after all of
 * its bytes have been written and synchronized, and then its folder is synchronized, once for a set
 * of outputs. The calls are recorded here, in their order, as one letter each: w(rite) to the
 * temporary, f(sync) of it, r(ename) of it, d: fsync of a folder. Works in its own folder below the
 * current one.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "files/out.h"
#include "harness.h"
#include "logged.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char calls[64];
static struct stat temporary; /* the file whose calls count */
static int folder_error;      /* of fsync */

static void record(char call)
{
    const size_t used = strlen(calls);
    if (used + 1 < sizeof calls) {
        calls[used] = call;
    }
}

static bool is_temporary(const struct stat *info)
{
    return temporary.st_ino != 0 && info->st_dev == temporary.st_dev &&
           info->st_ino == temporary.st_ino;
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    REQUIRE(found != NULL);
    return found;
}

/* In place of the C library's. POSIX allows the conversion of an object's address to a function's.
 */
ssize_t write(int fd, const void *data, size_t bytes)
{
    ssize_t (*real)(int, const void *, size_t);
    struct stat info;
    *(void **)&real = next("write");
    if (fstat(fd, &info) == 0 && is_temporary(&info)) {
        record('w');
    }
    return real(fd, data, bytes);
}

int fsync(int fd)
{
    int (*real)(int);
    struct stat info;
    *(void **)&real = next("fsync");
    if (fstat(fd, &info) == 0 && is_temporary(&info)) {
        record('f');
    }
    if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        record('d');
        errno = folder_error;
        return folder_error == 0 ? real(fd) : -1;
    }
    return real(fd);
}

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *);
    struct stat info;
    *(void **)&real = next("rename");
    if (lstat(from, &info) == 0 && is_temporary(&info)) {
        record('r');
    }
    return real(from, to);
}

/* Writes an output of two buffers; in a set after others, in this folder and in another. Returns
 * what naming them does. */
static int write_output(struct gpume_out_set *set)
{
    static const char *const names[] = {"b", "sub/c", "./d", "sub/e"};
    struct gpume_out *others[4] = {NULL};
    for (size_t i = 0; i < 4 && set->together; i++) {
        REQUIRE_EQUAL(gpume_out_open_in(&others[i], set, names[i], &counting_log), GPUME_OK);
        REQUIRE_EQUAL(gpume_out_finish(others[i]), GPUME_OK);
    }
    static char data[GPUME_OUT_ITEM_BYTES];
    struct gpume_out *out = NULL;
    memset(calls, 0, sizeof calls);
    REQUIRE_EQUAL(gpume_out_open_in(&out, set, "a", &counting_log), GPUME_OK);
    REQUIRE(stat(gpume_out_place(out), &temporary) == 0);
    REQUIRE_EQUAL(gpume_out_write(out, data, sizeof data), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_write(out, "tail", 4), GPUME_OK);
    int status = gpume_out_finish(out);
    if (set->together) {
        REQUIRE_EQUAL(status, GPUME_OK);
        status = gpume_out_set_name(set, &counting_log);
    }
    gpume_out_close(&out);
    for (size_t i = 0; i < 4; i++) {
        gpume_out_close(&others[i]);
    }
    temporary.st_ino = 0;
    return status;
}

int main(void)
{
    char folder[] = "test_out_calls.XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        return 1;
    }
    REQUIRE(mkdir("sub", 0700) == 0);
    struct gpume_out_set set = {.overwrite = true, .sync = true};
    REQUIRE_EQUAL(write_output(&set), GPUME_OK);
    REQUIRE(strcmp(calls, "wwfrd") == 0);
    set.together = true;
    REQUIRE_EQUAL(write_output(&set), GPUME_OK);
    REQUIRE(strcmp(calls, "wwfrddd") == 0); /* of "", "sub/" and "./" */
    folder_error = EINVAL;                  /* some file systems cannot */
    REQUIRE_EQUAL(write_output(&set), GPUME_OK);
    REQUIRE_EQUAL(logged.lines, 0);
    REQUIRE(unlink("a") == 0);
    folder_error = EIO;
    REQUIRE_EQUAL(write_output(&set), GPUME_IO);
    REQUIRE_EQUAL(logged.lines, 1);
    REQUIRE(access("a", F_OK) != 0); /* no output of the set has its name */
    folder_error = 0;
    set = (struct gpume_out_set){.overwrite = true}; /* others need not wait for the disk */
    REQUIRE_EQUAL(write_output(&set), GPUME_OK);
    REQUIRE(strcmp(calls, "wwr") == 0);
    REQUIRE(unlink("a") == 0 && rmdir("sub") == 0 && chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
