/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base/out: a file gets its name only when complete; refusals are one line; links and permissions
 * survive; a full device and a closed pipe are reported. Works in its own folder below the current
 * one.
 */
#include "files/out.h"
#include "harness.h"
#include "logged.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes text under the name; returns the first failure. */
static int put(const char *name, const char *text, bool overwrite)
{
    struct gpume_out *out = NULL;
    int status = gpume_out_open(&out, name, overwrite, &counting_log);
    if (status == GPUME_OK) {
        status = gpume_out_write(out, text, strlen(text));
    }
    if (status == GPUME_OK) {
        status = gpume_out_finish(out);
    }
    gpume_out_close(&out);
    REQUIRE(out == NULL);
    return status;
}

static bool holds(const char *name, const char *text)
{
    char data[64] = "";
    FILE *file = fopen(name, "rb");
    size_t bytes = file ? fread(data, 1, sizeof data - 1, file) : 0;
    if (file) {
        fclose(file);
    }
    return file && bytes == strlen(text) && memcmp(data, text, bytes) == 0;
}

static void test_whole_or_nothing(void)
{
    struct gpume_out *out = NULL;
    REQUIRE_EQUAL(gpume_out_open(&out, "a", false, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_write(out, "hello", 5), GPUME_OK);
    REQUIRE(access("a", F_OK) != 0);
    gpume_out_close(&out); /* abandoned */
    REQUIRE(access("a", F_OK) != 0);
    REQUIRE_EQUAL(put("a", "hello", false), GPUME_OK);
    REQUIRE(holds("a", "hello"));
    REQUIRE_EQUAL(logged.lines, 0);
    REQUIRE_EQUAL(put("a", "again", false), GPUME_INVALID);
    REQUIRE_EQUAL(logged.lines, 1);
    REQUIRE(holds("a", "hello"));
    REQUIRE_EQUAL(put("a", "again", true), GPUME_OK);
    REQUIRE(holds("a", "again"));
}

static void test_late_rival(void)
{
    struct gpume_out *out = NULL;
    REQUIRE_EQUAL(gpume_out_open(&out, "rival", false, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(put("rival", "first", false), GPUME_OK);
    logged.lines = 0;
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_IO);
    REQUIRE_EQUAL(logged.lines, 1);
    gpume_out_close(&out);
    REQUIRE(holds("rival", "first"));
}

static void test_links_and_modes(void)
{
    struct stat st;
    REQUIRE(chmod("a", 0640) == 0 && symlink("a", "link") == 0 && symlink("new", "dangling") == 0);
    REQUIRE_EQUAL(put("link", "through", true), GPUME_OK);
    REQUIRE(holds("a", "through"));
    REQUIRE(lstat("link", &st) == 0 && S_ISLNK(st.st_mode));
    REQUIRE(stat("a", &st) == 0 && (st.st_mode & 0777) == 0640);
    REQUIRE_EQUAL(put("dangling", "made", false), GPUME_INVALID);
    REQUIRE(lstat("new", &st) != 0);
    REQUIRE_EQUAL(put("dangling", "made", true), GPUME_OK);
    REQUIRE(holds("new", "made"));
}

static void test_refusals(void)
{
    static const struct {
        const char *name;
        int status;
    } cases[] = {{"", GPUME_INVALID}, {".", GPUME_INVALID}, {"none/x", GPUME_IO}, {"a/x", GPUME_IO},
        {"folder/", GPUME_INVALID}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        logged.lines = 0;
        REQUIRE_EQUAL(put(cases[i].name, "x", true), cases[i].status);
        REQUIRE_EQUAL(logged.lines, 1);
    }
}

static void test_seek(void)
{
    struct gpume_out *out = NULL;
    REQUIRE_EQUAL(gpume_out_open(&out, "seek", false, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_write(out, "123456", 6), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_seek(out, 2), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_write(out, "ab", 2), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(holds("seek", "12ab56"));
}

static void test_large(void)
{
    enum { CHUNK = 70001, COUNT = 20 };
    char *data = malloc(CHUNK);
    struct gpume_out *out = NULL;
    struct stat st;
    REQUIRE(data != NULL);
    if (!data) {
        return;
    }
    memset(data, 'x', CHUNK);
    REQUIRE_EQUAL(gpume_out_open(&out, "large", false, &counting_log), GPUME_OK);
    for (int i = 0; i < COUNT; i++) {
        REQUIRE_EQUAL(gpume_out_write(out, data, CHUNK), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(stat("large", &st) == 0 && st.st_size == (off_t)CHUNK * COUNT);
    free(data);
}

/* By a background thread: every byte in order, also around a seek. */
static void test_behind(void)
{
    enum { PIECE = 999983, COUNT = 30 };
    uint32_t *data = malloc((size_t)PIECE * sizeof *data);
    struct gpume_out *out = NULL;
    const uint32_t one = 1;
    uint32_t next = 0, wrong = 0, word = 0;
    REQUIRE_EQUAL(gpume_out_open(&out, "behind", false, &counting_log), GPUME_OK);
    if (!data || !out) {
        return;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t words = i % 2 ? PIECE : i + 1; /* larger and smaller than its buffers */
        for (uint32_t j = 0; j < words; j++) {
            data[j] = next++;
        }
        REQUIRE_EQUAL(gpume_out_write(out, data, words * sizeof *data), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_out_seek(out, 4), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_write(out, &one, sizeof one), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    FILE *file = fopen("behind", "rb");
    for (uint32_t i = 0; file && fread(&word, sizeof word, 1, file) == 1; i++) {
        wrong += word != i;
        next -= word == i;
    }
    REQUIRE(file && wrong == 0 && next == 0);
    if (file) {
        fclose(file);
    }
    free(data);
}

/* The disk fills after the thread has begun: reported once, and no file stays. */
static void test_behind_full(void)
{
    static const char data[100000];
    struct gpume_out *out = NULL;
    struct rlimit limit;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    const struct rlimit small = {12000000, limit.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    for (int closed_early = 0; closed_early < 2; closed_early++) {
        int status = GPUME_OK;
        logged.lines = 0;
        REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
        REQUIRE_EQUAL(gpume_out_open(&out, "toolarge", false, &counting_log), GPUME_OK);
        for (int i = 0; i < 1000 && status == GPUME_OK; i++) {
            status = gpume_out_write(out, data, sizeof data);
        }
        REQUIRE_EQUAL(status, GPUME_IO);
        if (!closed_early) {
            REQUIRE_EQUAL(gpume_out_finish(out), GPUME_IO);
        }
        gpume_out_close(&out);
        REQUIRE_EQUAL(logged.lines, 1);
        REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        REQUIRE(access("toolarge", F_OK) != 0);
    }
}

static void test_pipe_and_full(void)
{
    int ends[2];
    REQUIRE(mkfifo("pipe", 0600) == 0);
    ends[0] = open("pipe", O_RDONLY | O_NONBLOCK);
    struct gpume_out *out = NULL;
    REQUIRE_EQUAL(gpume_out_open(&out, "pipe", false, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_seek(out, 0), GPUME_UNSUPPORTED);
    REQUIRE_EQUAL(gpume_out_write(out, "x", 1), GPUME_OK);
    close(ends[0]);
    logged.lines = 0;
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_IO);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_IO);
    REQUIRE_EQUAL(logged.lines, 1);
    gpume_out_close(&out);
    if (access("/dev/full", W_OK) == 0) {
        REQUIRE_EQUAL(put("/dev/full", "x", false), GPUME_IO);
        REQUIRE_EQUAL(logged.lines, 2);
    }
}

int main(void)
{
    char folder[] = "test_out.XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("folder", 0700) != 0) {
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    test_whole_or_nothing();
    test_late_rival();
    test_links_and_modes();
    test_refusals();
    test_seek();
    test_large();
    test_behind();
    test_behind_full();
    test_pipe_and_full();
    static const char *const made[] = {
        "a", "rival", "link", "dangling", "new", "seek", "large", "behind", "pipe"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        REQUIRE(unlink(made[i]) == 0);
    }
    /* Fails if temporary files remain in the folder. */
    REQUIRE(rmdir("folder") == 0 && chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
