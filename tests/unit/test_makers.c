/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * files/makers through files/out: items of many jobs stand in the file in their order, between what
 * is written directly; jobs are under way at once; every job ends once, even if nothing can be
 * written. Works in its own folder below the current one.
 */
#include "files/out.h"
#include "harness.h"
#include "logged.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOBS = 400, PLACES = 5, ITEM_BYTES = 70000, THREADS = 4 };

/* A job whose items say which they are, and how often it has ended. */
struct counted {
    struct gpume_job job;
    uint32_t number;
    atomic_uint ended;
};

static uint32_t items_of(uint32_t number)
{
    return 1 + number * 7 % 11;
}

/* From 4 bytes on, each of which follows from the job and the item. */
static size_t item_bytes(uint32_t number, uint32_t item)
{
    return 4 + (number * 7919 + item * 104729) % (number % 50 == 0 ? ITEM_BYTES - 4 : 3000);
}

static size_t make_counted(void *opaque, uint32_t item, char *at)
{
    const struct counted *counted = opaque;
    const size_t bytes = item_bytes(counted->number, item);
    memset(at, (int)(counted->number + 31 * item), bytes);
    return bytes;
}

static void end_counted(void *opaque)
{
    struct counted *counted = opaque;
    atomic_fetch_add(&counted->ended, 1);
}

static void add_counted(struct gpume_out *out, struct gpume_makers *makers, struct counted *counted,
    uint32_t number, int wanted)
{
    gpume_makers_wait(makers, &counted->job);
    counted->number = number;
    counted->job = (struct gpume_job){
        .make = make_counted, .done = end_counted, .opaque = counted, .count = items_of(number)};
    const int status = gpume_out_add(out, makers, &counted->job, ITEM_BYTES);
    REQUIRE(status == GPUME_OK || status == wanted);
}

static void write_all(const char *path, struct gpume_makers *makers)
{
    static struct counted places[PLACES];
    struct gpume_out *out = NULL;
    uint32_t ended = 0;
    memset(places, 0, sizeof(places));
    REQUIRE_EQUAL(gpume_out_open(&out, path, true, &counting_log), GPUME_OK);
    for (uint32_t i = 0; i < JOBS; i++) {
        add_counted(out, makers, &places[i % PLACES], i, GPUME_OK);
        if (i % 7 == 0) {
            REQUIRE_EQUAL(gpume_out_text(out, "between"), GPUME_OK);
        }
    }
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    for (uint32_t i = 0; i < PLACES; i++) {
        ended += atomic_load(&places[i].ended);
    }
    REQUIRE_EQUAL(ended, JOBS);
    gpume_out_close(&out);
}

static bool next_is(FILE *file, const char *bytes, size_t count)
{
    static char read[ITEM_BYTES];
    return fread(read, 1, count, file) == count && memcmp(read, bytes, count) == 0;
}

/* Is this what a loop would have written? */
static bool is_right(const char *path)
{
    static char wanted[ITEM_BYTES];
    FILE *file = fopen(path, "rb");
    bool right = file != NULL;
    for (uint32_t i = 0; right && i < JOBS; i++) {
        for (uint32_t item = 0; right && item < items_of(i); item++) {
            const size_t bytes = item_bytes(i, item);
            memset(wanted, (int)(i + 31 * item), bytes);
            right = next_is(file, wanted, bytes);
        }
        right = right && (i % 7 != 0 || next_is(file, "between", 7));
    }
    right = right && fgetc(file) == EOF;
    if (file) {
        fclose(file);
    }
    return right;
}

static void test_order(void)
{
    write_all("alone", NULL);
    REQUIRE(is_right("alone"));
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        struct gpume_makers *makers = gpume_makers_open(threads);
        REQUIRE(makers != NULL && gpume_makers_count(makers) == threads);
        write_all("several", makers);
        REQUIRE(is_right("several"));
        gpume_makers_close(&makers);
        REQUIRE(makers == NULL);
    }
    gpume_makers_close(&(struct gpume_makers *){NULL});
}

static pthread_barrier_t both;

static size_t meet(void *opaque, uint32_t item, char *at)
{
    (void)opaque;
    (void)item;
    pthread_barrier_wait(&both); /* hangs unless the other job is under way, too */
    *at = 'm';
    return 1;
}

static void test_at_once(void)
{
    struct gpume_out *out = NULL;
    struct gpume_makers *makers = gpume_makers_open(2);
    struct gpume_job jobs[2] = {{.make = meet, .count = 1}, {.make = meet, .count = 1}};
    REQUIRE(makers != NULL && pthread_barrier_init(&both, NULL, 2) == 0);
    REQUIRE_EQUAL(gpume_out_open(&out, "met", true, &counting_log), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_add(out, makers, &jobs[0], 1), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_add(out, makers, &jobs[1], 1), GPUME_OK);
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_OK);
    gpume_out_close(&out);
    gpume_makers_close(&makers);
    pthread_barrier_destroy(&both);
}

/* Closed while jobs are under way, and onto a full device. */
static void test_ends(void)
{
    static struct counted places[PLACES];
    struct gpume_makers *makers = gpume_makers_open(THREADS);
    struct gpume_out *out = NULL;
    uint32_t ended = 0;
    REQUIRE(makers != NULL);
    REQUIRE_EQUAL(gpume_out_open(&out, "given up", true, &counting_log), GPUME_OK);
    for (uint32_t i = 0; i < PLACES; i++) {
        add_counted(out, makers, &places[i], i, GPUME_OK);
    }
    gpume_out_close(&out);
    logged.lines = 0;
    REQUIRE_EQUAL(gpume_out_open(&out, "/dev/full", true, &counting_log), GPUME_OK);
    for (uint32_t i = 0; i < JOBS; i++) {
        add_counted(out, makers, &places[i % PLACES], i, GPUME_IO);
    }
    REQUIRE_EQUAL(gpume_out_finish(out), GPUME_IO);
    REQUIRE_EQUAL(logged.lines, 1);
    gpume_out_close(&out);
    gpume_makers_close(&makers);
    for (uint32_t i = 0; i < PLACES; i++) {
        ended += atomic_load(&places[i].ended);
    }
    REQUIRE_EQUAL(ended, PLACES + JOBS);
}

int main(void)
{
    static const char folder[] = "test_makers_folder";
    static const char *const made[] = {"alone", "several", "met"};
    if (mkdir(folder, 0777) != 0 || chdir(folder) != 0) {
        perror(folder);
        return 1;
    }
    test_order();
    test_at_once();
    test_ends();
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        REQUIRE(unlink(made[i]) == 0);
    }
    /* Fails if temporary files remain in the folder. */
    REQUIRE(chdir("..") == 0 && rmdir(folder) == 0);
    return harness_verdict();
}
