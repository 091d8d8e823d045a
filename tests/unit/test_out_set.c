/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base/out_set and base/temporary: partial names, temporaries that are kept and continued, also
 * beyond 4 GiB, and which temporaries are removed. Works in its own folder below the current one.
 */
#include "files/out.h"
#include "files/path.h"
#include "harness.h"
#include "logged.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BEYOND UINT64_C(5368709120) /* 5 GiB */

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

static bool is_there(const char *name)
{
    struct stat info;
    return lstat(name, &info) == 0;
}

static void touch(const char *name)
{
    FILE *file = fopen(name, "w");
    REQUIRE(file && fclose(file) == 0);
}

/* Opens "a" in the set, writes the text, and returns the temporary's name. */
static struct gpume_out_mark begin(
    struct gpume_out **out, struct gpume_out_set *set, const char *text)
{
    struct gpume_out_mark mark = {.path = "a"};
    REQUIRE_EQUAL(gpume_out_open_in(out, set, "a", &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_write(*out, text, strlen(text)), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_set_mark(set, &mark), GPUME_OK);
    return mark;
}

static bool moved;
static const char *reason;

static int look(const struct gpume_out_mark *mark)
{
    return gpume_out_set_look(mark, &moved, &reason);
}

static void test_partial(void)
{
    struct gpume_out_set set = {0};
    struct gpume_out *out = NULL;
    struct gpume_out_mark other = {.path = "b"};
    struct gpume_out_mark mark = begin(&out, &set, "hello");
    REQUIRE_EQUAL(mark.bytes, 5);
    REQUIRE_EQUAL(mark.id.pid, (uint64_t)getpid());
    REQUIRE_EQUAL(gpume_out_set_mark(&set, &other), GPUME_EOF);
    REQUIRE(!gpume_out_is_continued(out));
    set.partial = set.sync = true;
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(!is_there("a") && holds("a.partial", "hello"));
    REQUIRE_EQUAL(gpume_out_set_mark(&set, &mark), GPUME_EOF);

    /* Continued under a temporary name, truncated after "hel". */
    struct gpume_out_set again = {.marks = &mark, .mark_count = 1};
    REQUIRE_EQUAL(gpume_out_set_unused("a", &mark.id), GPUME_OK);
    mark.bytes = 3;
    REQUIRE_EQUAL(look(&mark), GPUME_EOF);
    mark.other = GPUME_OUT_PARTIAL;
    REQUIRE(look(&mark) == GPUME_OK && moved);
    REQUIRE_EQUAL(gpume_out_set_take_back(&mark, &counting_log), GPUME_OK);
    REQUIRE(!is_there("a.partial") && look(&mark) == GPUME_OK && !moved);
    REQUIRE_EQUAL(gpume_out_set_give_back(&mark, &counting_log), GPUME_OK);
    REQUIRE(holds("a.partial", "hello") && look(&mark) == GPUME_OK && moved);
    REQUIRE_EQUAL(gpume_out_set_take_back(&mark, &counting_log), GPUME_OK);
    const struct gpume_out_mark now = begin(&out, &again, "icopter");
    REQUIRE(gpume_out_is_continued(out));
    REQUIRE_EQUAL(now.bytes, 10);
    REQUIRE(!is_there("a.partial"));
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(holds("a", "helicopter"));
    REQUIRE(unlink("a") == 0);
}

/* Killed while outputs were renamed: this one has its name already. */
static void test_ending(void)
{
    struct gpume_out_set set = {0};
    struct gpume_out *out = NULL;
    struct gpume_out_mark mark = begin(&out, &set, "hello");
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    struct gpume_out_set again = {.overwrite = true, .marks = &mark, .mark_count = 1};
    REQUIRE_EQUAL(look(&mark), GPUME_EOF);
    mark.other = "";
    REQUIRE(look(&mark) == GPUME_OK && moved);
    REQUIRE_EQUAL(gpume_out_set_unused("a", &mark.id), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_set_take_back(&mark, &counting_log), GPUME_OK);
    (void)begin(&out, &again, "!");
    REQUIRE(gpume_out_is_continued(out) && !is_there("a"));
    REQUIRE_EQUAL(gpume_out_continued_bytes(out), 5);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(holds("a", "hello!"));
    REQUIRE(unlink("a") == 0);
}

/* Killed between link() and unlink(): a file with two names becomes a temporary again. */
static void test_linked(void)
{
    struct gpume_out_set set = {.keep = true};
    struct gpume_out *out = NULL;
    struct gpume_out_mark mark = begin(&out, &set, "hello");
    char temporary[64];
    snprintf(
        temporary, sizeof temporary, ".a.gpume-%d-%d.tmp", (int)mark.id.pid, (int)mark.id.number);
    gpume_out_close(&out);
    mark.other = "";
    REQUIRE(link(temporary, "a") == 0);
    REQUIRE_EQUAL(gpume_out_set_take_back(&mark, &counting_log), GPUME_OK);
    REQUIRE(holds(temporary, "hello") && !is_there("a"));
    touch("a"); /* another file does not belong to the run */
    REQUIRE_EQUAL(gpume_out_set_take_back(&mark, &counting_log), GPUME_OK);
    REQUIRE(unlink(temporary) == 0 && unlink("a") == 0);
}

/* A run's outputs get their names together, after an older run's seal has been removed. */
static void test_together(void)
{
    struct gpume_out_set set = {.overwrite = true, .together = true, .seal = "seal"};
    struct gpume_out *outs[3] = {NULL}, *one = NULL;
    static const char *const names[] = {"a", "b", "seal"};
    for (size_t i = 0; i < 3; i++) {
        touch(names[i]);
        REQUIRE_EQUAL(gpume_out_open_in(&outs[i], &set, names[i], &counting_log), GPUME_OK);
        REQUIRE_EQUAL(gpume_out_write(outs[i], "new", 3), GPUME_OK);
    }
    REQUIRE_EQUAL(gpume_out_finish(outs[0]), GPUME_OK);
    REQUIRE(holds("a", "") && holds("seal", ""));
    REQUIRE_EQUAL(gpume_out_open_one(&one, &set, "1", &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_finish(one), GPUME_OK);
    gpume_out_close(&one);
    REQUIRE(holds("1", "") && holds("a", "") && !is_there("seal"));
    REQUIRE_EQUAL(gpume_out_finish(outs[1]), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_finish(outs[2]), GPUME_OK);

    /* If the last one cannot get its name, no output gets its name. */
    const unsigned lines = logged.lines;
    REQUIRE(mkdir("seal", 0777) == 0);
    REQUIRE_EQUAL(gpume_out_set_name(&set, &counting_log), GPUME_IO);
    REQUIRE(logged.lines == lines + 1 && holds("a", ""));
    REQUIRE(rmdir("seal") == 0 && mkdir("c", 0777) == 0);
    set.seal = "c/none";
    REQUIRE(unlink("b") == 0 && mkdir("b", 0777) == 0);
    REQUIRE_EQUAL(gpume_out_set_name(&set, &counting_log), GPUME_IO);
    REQUIRE(logged.lines == lines + 2 && !is_there("a"));
    REQUIRE(rmdir("b") == 0 && rmdir("c") == 0);
    set.seal = "seal";
    REQUIRE_EQUAL(gpume_out_set_name(&set, &counting_log), GPUME_OK);
    REQUIRE(holds("a", "new") && holds("b", "new") && holds("seal", "new"));
    for (size_t i = 0; i < 3; i++) {
        gpume_out_close(&outs[i]);
        REQUIRE(unlink(names[i]) == 0);
    }
    REQUIRE(unlink("1") == 0);
    logged.lines = lines;
}

/* Long names with the same beginning that do not fit a temporary's name; one does not fit
 * NAME.partial. */
static void test_long_names(void)
{
    char name[256], alike[256];
    struct gpume_out_set set = {.alone = true, .partial = true};
    struct gpume_out *out = NULL, *other = NULL;
    for (int length = 101; length <= 255; length += 77) {
        snprintf(name, sizeof name, "%0*d", length, 1);
        snprintf(alike, sizeof alike, "%0*d", length, 2);
        REQUIRE_EQUAL(gpume_out_open_in(&out, &set, name, &counting_log), GPUME_OK);
        REQUIRE_EQUAL(gpume_out_open_in(&other, &set, alike, &counting_log), GPUME_OK);
        gpume_temporary_clear(alike, NULL, NULL);
        REQUIRE(gpume_temporary_has_rival(name, "") && gpume_temporary_has_rival(alike, ""));
        REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
        REQUIRE_EQUAL(gpume_out_finish(other), GPUME_OK);
        gpume_out_close(&out);
        gpume_out_close(&other);
        char *a = gpume_path_with_suffix(name, GPUME_OUT_PARTIAL);
        char *b = gpume_path_with_suffix(alike, GPUME_OUT_PARTIAL);
        REQUIRE(a && b && strcmp(a, b) != 0 && unlink(a) == 0 && unlink(b) == 0);
        free(a);
        free(b);
    }
}

/* A link under a temporary's name is replaced; its target stays. */
static void test_own(void)
{
    struct gpume_out_set set = {.overwrite = true, .own = true};
    struct gpume_out *out = NULL;
    FILE *file = fopen("victim", "w");
    REQUIRE(file && fputs("precious", file) >= 0 && fclose(file) == 0);
    REQUIRE(symlink("victim", "a") == 0);
    (void)begin(&out, &set, "state");
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(holds("victim", "precious") && holds("a", "state"));
    REQUIRE(unlink("a") == 0 && unlink("victim") == 0);
}

static void test_kept(void)
{
    struct gpume_out_set set = {.keep = true};
    struct gpume_out *out = NULL;
    const struct gpume_out_mark mark = begin(&out, &set, "hello");
    REQUIRE(look(&mark) == GPUME_AGAIN && strstr(reason, "under way"));
    gpume_out_close(&out);
    REQUIRE(look(&mark) == GPUME_OK && !moved);
    struct gpume_out_mark more = mark;
    more.bytes++;
    REQUIRE(look(&more) == GPUME_INVALID && strstr(reason, "shorter"));

    /* An existing file of the final name is detected before anything is changed. */
    struct gpume_out_set again = {.marks = &mark, .mark_count = 1};
    FILE *file = fopen("a", "w");
    REQUIRE(file && fclose(file) == 0);
    logged.lines = 0;
    REQUIRE_EQUAL(gpume_out_open_in(&out, &again, "a", &counting_log), GPUME_INVALID);
    REQUIRE_EQUAL(logged.lines, 1);
    REQUIRE(unlink("a") == 0 && look(&mark) == GPUME_OK);
    (void)begin(&out, &again, ", world");
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(holds("a", "hello, world"));
    REQUIRE(unlink("a") == 0);
}

static void test_beyond_4_gib(void)
{
    struct gpume_out_set set = {.keep = true};
    struct gpume_out *out = NULL;
    struct stat info;
    struct gpume_out_mark mark = begin(&out, &set, "head");
    gpume_out_close(&out);
    char name[64];
    snprintf(name, sizeof name, ".a.gpume-%d-%d.tmp", (int)mark.id.pid, (int)mark.id.number);
    if (truncate(name, (off_t)(BEYOND + 7)) != 0) { /* sparse, if the file system supports that */
        REQUIRE(unlink(name) == 0);
        return;
    }
    mark.bytes = BEYOND;
    struct gpume_out_set again = {.marks = &mark, .mark_count = 1};
    const struct gpume_out_mark now = begin(&out, &again, "tail");
    REQUIRE_EQUAL(now.bytes, BEYOND + 4);
    REQUIRE_EQUAL(gpume_out_seek(out, BEYOND + 1), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_write(out, "o", 1), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(stat("a", &info) == 0 && (uint64_t)info.st_size == BEYOND + 4);
    FILE *file = fopen("a", "rb");
    char tail[8] = "";
    REQUIRE(file && fseeko(file, (off_t)BEYOND, SEEK_SET) == 0 && fread(tail, 1, 8, file) == 4);
    REQUIRE(strcmp(tail, "toil") == 0);
    REQUIRE(file && fclose(file) == 0 && unlink("a") == 0);
}

/* A process that opens "a" and is killed; its temporary's name. */
static void leave_dead(char name[64])
{
    const pid_t child = fork();
    if (child == 0) {
        struct gpume_out_set set = {0};
        struct gpume_out *out = NULL;
        (void)gpume_out_open_in(&out, &set, "a", &counting_log);
        raise(SIGKILL);
    }
    int status = 0;
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    snprintf(name, 64, ".a.gpume-%d-0.tmp", (int)child);
}

static bool is_gray(const void *opaque, const char *stem)
{
    return strcmp(opaque, "gray") == 0 && strncmp(stem, "gray", 4) == 0;
}

static void test_clear(void)
{
    static const char *const others[] = {".b.gpume-1-0.tmp", ".ab.gpume-1-0.tmp", "a.gpume-1-0.tmp",
        ".a.gpume-1-0.tmp.txt", ".a.gpume-x-0.tmp", ".a.gpume-1-.tmp", ".a.gpume-1.tmp"};
    char dead[64];
    struct gpume_out_set set = {0};
    struct gpume_out *out = NULL;
    const struct gpume_out_mark living = begin(&out, &set, "x");
    leave_dead(dead);
    REQUIRE(is_there(dead));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        touch(others[i]);
    }
    REQUIRE(symlink("b", ".a.gpume-2-0.tmp") == 0);
    gpume_temporary_clear("b/../a", NULL, NULL); /* another folder, if there is one */
    REQUIRE(is_there(dead));
    gpume_temporary_clear("./a", NULL, NULL);
    REQUIRE(!is_there(dead));
    REQUIRE_EQUAL(look(&living), GPUME_AGAIN);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        REQUIRE(unlink(others[i]) == 0);
    }
    REQUIRE(unlink(".a.gpume-2-0.tmp") == 0); /* a link does not belong to the run */
    touch(".gray7.gpume-1-0.tmp");
    gpume_temporary_clear("gray%d", is_gray, "gray");
    REQUIRE(!is_there(".gray7.gpume-1-0.tmp"));
    gpume_out_close(&out);
}

/* An output that another process is writing is refused and stays; what a dead
 * process has left of it is removed. */
static void test_alone(void)
{
    char dead[64];
    struct gpume_out_set set = {.alone = true}, rival = {.alone = true, .keep = true};
    struct gpume_out *out = NULL, *other = NULL;
    leave_dead(dead);
    (void)begin(&out, &set, "mine");
    REQUIRE(!is_there(dead));
    logged.lines = 0;
    REQUIRE_EQUAL(gpume_out_open_in(&other, &rival, "./a", &counting_log), GPUME_AGAIN);
    REQUIRE(logged.lines == 1 && !other && rival.first == NULL);
    REQUIRE_EQUAL(gpume_out_open_in(&other, &rival, "ab", &counting_log), GPUME_OK);
    rival.keep = false;
    gpume_out_close(&other);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(holds("a", "mine") && unlink("a") == 0);
}

/* Files completed one by one are claimed as a series under one name, which is removed at the end.
 * */
static void test_claim(void)
{
    struct gpume_out_set set = {.alone = true, .keep = true};
    struct gpume_out *mine = NULL, *other = NULL;
    struct gpume_out *out = NULL;
    logged.lines = 0;
    REQUIRE_EQUAL(gpume_out_open_claim(&mine, &set, "p%03d.png", &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_open_claim(&other, &set, "./p%d.png", &counting_log), GPUME_AGAIN);
    REQUIRE(logged.lines == 1 && !other);
    REQUIRE_EQUAL(gpume_out_open_claim(&other, &set, "./p%04d.png", &counting_log), GPUME_AGAIN);
    REQUIRE(strncmp(logged.last, "./p%04d.png: is being", 21) == 0); /* as it was named */
    logged.lines = 1;
    REQUIRE_EQUAL(gpume_out_open_claim(&other, &set, "q%d.png", &counting_log), GPUME_OK);
    gpume_out_close(&other);
    REQUIRE_EQUAL(gpume_out_open(&out, "p001.png", false, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    REQUIRE(unlink("p001.png") == 0);
    /* The series of a dead run blocks nothing, and is removed with its files. */
    touch(".p%d.png.gpume-1-0.tmp");
    touch(".p007.png.gpume-1-0.tmp");
    touch(".p7.png.gpume-1-0.tmp"); /* not of this width */
    gpume_out_close(&mine);
    REQUIRE_EQUAL(gpume_out_open_claim(&mine, &set, "p%03d.png", &counting_log), GPUME_OK);
    gpume_temporary_clear_series("./p%03d.png");
    REQUIRE(!is_there(".p%d.png.gpume-1-0.tmp") && !is_there(".p007.png.gpume-1-0.tmp"));
    REQUIRE(unlink(".p7.png.gpume-1-0.tmp") == 0);
    REQUIRE_EQUAL(gpume_out_open_claim(&other, &set, "p%03d.png", &counting_log), GPUME_AGAIN);
    gpume_out_close(&mine);
    set.alone = false;
    REQUIRE_EQUAL(gpume_out_open_claim(&mine, &set, "p%d.png", &counting_log), GPUME_OK);
    REQUIRE(!mine && logged.lines == 2);
}

int main(void)
{
    char folder[] = "test_out_set.XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) {
        return 1;
    }
    test_partial();
    test_ending();
    test_linked();
    test_together();
    test_long_names();
    test_own();
    test_kept();
    test_beyond_4_gib();
    test_clear();
    REQUIRE_EQUAL(logged.lines, 1); /* of test_kept */
    test_alone();
    test_claim();
    /* Fails if temporary files remain in the folder. */
    REQUIRE(chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
