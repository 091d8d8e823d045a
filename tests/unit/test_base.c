/* SPDX-License-Identifier: BSD-2-Clause */
/* base: the pointer ring, the parallel loop, numbered names, the size arithmetic, planes, joined
 * text, and the tie rule of motion. */
#include "base/base.h"
#include "base/log.h"
#include "base/workers.h"
#include "files/path.h"
#include "gpume/gpume.h"
#include "harness.h"
#include "logged.h"
#include "model/cost.h"
#include "run/queue.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_fifo(void)
{
    struct gpume_fifo fifo;
    int items[7];
    REQUIRE_EQUAL(gpume_fifo_init(&fifo, 3), GPUME_OK);
    REQUIRE(!gpume_fifo_pop(&fifo));
    for (int round = 0; round < 7; round++) { /* the head wraps around more than once */
        gpume_fifo_push(&fifo, &items[round]);
        if (round >= 2) {
            REQUIRE(gpume_fifo_pop(&fifo) == &items[round - 2]);
        }
    }
    REQUIRE_EQUAL(fifo.count, 2);
    gpume_fifo_finish(&fifo);
}

struct sum {
    atomic_uint calls;
    atomic_uint seen[1000];
};

static void count_item(void *opaque, uint32_t item)
{
    struct sum *sum = opaque;
    atomic_fetch_add(&sum->calls, 1);
    atomic_fetch_add(&sum->seen[item], 1);
}

static void test_workers(uint32_t threads)
{
    struct gpume_workers *workers = NULL;
    REQUIRE_EQUAL(gpume_workers_create(&workers, threads), GPUME_OK);
    REQUIRE(threads == 0 || gpume_workers_count(workers) == threads);
    for (uint32_t round = 0; round < 50; round++) {
        static struct sum sum;
        memset(&sum, 0, sizeof(sum));
        uint32_t count = round * 20;
        gpume_workers_run(workers, count_item, &sum, count);
        REQUIRE_EQUAL(atomic_load(&sum.calls), count);
        for (uint32_t i = 0; i < count; i++) {
            REQUIRE_EQUAL(atomic_load(&sum.seen[i]), 1);
        }
    }
    gpume_workers_destroy(&workers);
    REQUIRE(!workers);
    gpume_workers_destroy(&workers);
}

/* A step of a chain, and how many items of it and of its predecessor are done. */
struct link {
    struct gpume_step step;
    const struct link *before;
    atomic_uint done;
    bool early; /* an item ran before the previous step was complete */
};

static void run_link(void *opaque, uint32_t item)
{
    struct link *link = opaque;
    (void)item;
    if (link->before && atomic_load(&link->before->done) != link->before->step.count) {
        link->early = true;
    }
    atomic_fetch_add(&link->done, 1);
}

#define LINKS 6

/* Steps begin when the steps that they wait for are complete, also when they are reused. */
static void test_order_of_steps(uint32_t threads)
{
    static struct link links[LINKS];
    struct gpume_workers *workers = NULL;
    REQUIRE_EQUAL(gpume_workers_create(&workers, threads), GPUME_OK);
    for (uint32_t round = 0; round < 200; round++) {
        struct gpume_step *steps[LINKS];
        for (uint32_t i = 0; i < LINKS; i++) {
            steps[i] = &links[i].step;
            links[i].before = i > 0 ? &links[i - 1] : NULL;
            atomic_store(&links[i].done, 0);
            links[i].step.fn = run_link;
            links[i].step.opaque = &links[i];
            links[i].step.count = (round + i) % 4 * 5;
            links[i].step.after[i % GPUME_WORK_AFTER] =
                i > 0 ? steps[i - 1] : &links[LINKS - 1].step;
        }
        gpume_workers_add(workers, steps, LINKS / 2);
        gpume_workers_add(workers, steps + LINKS / 2, LINKS - LINKS / 2);
        for (uint32_t i = 0; i < LINKS; i++) {
            gpume_workers_wait(workers, steps[i]);
            REQUIRE_EQUAL(atomic_load(&links[i].done), links[i].step.count);
            REQUIRE(!links[i].early);
        }
    }
    struct gpume_step dropped = {.fn = run_link, .opaque = &links[0], .count = 1000};
    gpume_workers_add(workers, &(struct gpume_step *){&dropped}, 1);
    gpume_workers_destroy(&workers);
}

#define ALONE 64

/* A step that notes which threads take part in it. */
struct crowd {
    struct gpume_step step;
    struct gpume_pace pace;
    pthread_t threads[ALONE];
};

static void note_thread(void *opaque, uint32_t item)
{
    struct crowd *crowd = opaque;
    crowd->threads[item] = pthread_self();
}

/* A step that takes less time than waking a thread has one thread, and so has a step of one item.
 */
static void test_pace(void)
{
    static struct crowd crowd;
    struct gpume_workers *workers = NULL;
    REQUIRE_EQUAL(gpume_workers_create(&workers, 8), GPUME_OK);
    for (uint32_t round = 0; round < 200; round++) {
        crowd.step = (struct gpume_step){
            .fn = note_thread, .opaque = &crowd, .count = ALONE, .pace = &crowd.pace};
        atomic_store(&crowd.pace.item_ns, 1000);
        gpume_workers_do(workers, &crowd.step);
        for (uint32_t i = 1; i < ALONE; i++) {
            REQUIRE(pthread_equal(crowd.threads[i], crowd.threads[0]));
        }
        REQUIRE(atomic_load(&crowd.pace.item_ns) > 0);
    }
    gpume_workers_destroy(&workers);
}

/* Waits until two threads are in the step: it ends only if both take part. */
static void meet(void *opaque, uint32_t item)
{
    atomic_uint *come = opaque;
    (void)item;
    atomic_fetch_add(come, 1);
    while (atomic_load(come) < 2) {
        sched_yield();
    }
}

/* A step whose items take long has as many threads as it can use. */
static void test_wide_pace(void)
{
    struct gpume_workers *workers = NULL;
    REQUIRE_EQUAL(gpume_workers_create(&workers, 3), GPUME_OK);
    for (uint32_t round = 0; round < 50; round++) {
        atomic_uint come = 0;
        struct gpume_pace pace = {.item_ns = 1000000};
        struct gpume_step step = {.fn = meet, .opaque = &come, .count = 2, .pace = &pace};
        gpume_workers_do(workers, &step);
        REQUIRE_EQUAL(atomic_load(&come), 2);
    }
    gpume_workers_destroy(&workers);
}

static void *use_workers(void *opaque)
{
    static const uint32_t counts[] = {1, 0, 7, 100, 3};
    for (uint32_t round = 0; round < 200; round++) {
        struct link first = {.step = {.fn = run_link, .count = counts[round % 5]}};
        struct link second = {.step = {.fn = run_link, .count = counts[round % 4]}};
        first.step.opaque = &first;
        second.step.opaque = &second;
        second.before = &first;
        second.step.after[round % GPUME_WORK_AFTER] = &first.step;
        gpume_workers_add(opaque, (struct gpume_step *[]){&first.step, &second.step}, 2);
        gpume_workers_wait(opaque, &second.step);
        if (atomic_load(&first.done) != first.step.count ||
            atomic_load(&second.done) != second.step.count || second.early) {
            return "wrong";
        }
    }
    return NULL;
}

/* Several threads queue and wait at the same time. */
static void test_users_of_workers(uint32_t threads, bool spared)
{
    struct gpume_workers *workers = NULL;
    pthread_t users[3];
    REQUIRE_EQUAL(gpume_workers_create(&workers, threads), GPUME_OK);
    if (spared) {
        gpume_workers_spare_waiters(workers);
    }
    for (uint32_t i = 0; i < 3; i++) {
        REQUIRE_EQUAL(pthread_create(&users[i], NULL, use_workers, workers), 0);
    }
    REQUIRE(!use_workers(workers));
    for (uint32_t i = 0; i < 3; i++) {
        void *verdict;
        REQUIRE_EQUAL(pthread_join(users[i], &verdict), 0);
        REQUIRE(!verdict);
    }
    gpume_workers_destroy(&workers);
}

static void test_grid(void)
{
    REQUIRE_EQUAL(gpume_div_up(0, 8), 0);
    REQUIRE_EQUAL(gpume_div_up(8, 8), 1);
    REQUIRE_EQUAL(gpume_div_up(9, 8), 2);
    REQUIRE_EQUAL(gpume_round_up(9, 8), 16);
    REQUIRE_EQUAL(gpume_bit_width(0), 0);
    REQUIRE_EQUAL(gpume_bit_width(7), 3);
    REQUIRE_EQUAL(gpume_bit_width(8), 4);
    REQUIRE_EQUAL(gpume_bit_width(UINT64_MAX), 64);
}

static bool wins(uint32_t cost_a, int32_t ax, int32_t ay, uint32_t cost_b, int32_t bx, int32_t by)
{
    return gpume_candidate_wins(
        (struct gpume_candidate){cost_a, ax, ay}, (struct gpume_candidate){cost_b, bx, by});
}

static void test_order(void)
{
    REQUIRE(wins(1, 5, 5, 2, 0, 0));   /* cost first */
    REQUIRE(wins(2, 0, 0, 2, -7, -7)); /* then zero */
    REQUIRE(!wins(2, -7, -7, 2, 0, 0));
    REQUIRE(wins(2, 7, -1, 2, -7, 1)); /* then the smallest dy */
    REQUIRE(wins(2, -7, 1, 2, 7, 1));  /* then the smallest dx */
    REQUIRE(!wins(2, 3, 3, 2, 3, 3));  /* nothing beats itself */
    REQUIRE(!wins(2, 0, 0, 2, 0, 0));
}

static void test_log(void)
{
    struct gpume_log log = {.fn = logged_line};
    char long_text[1500];
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    gpume_log_write(&log, GPUME_LOG_INFO, "%d and %s", 7, "eight");
    REQUIRE(strcmp(logged.last, "7 and eight") == 0);
    gpume_log_write(&log, GPUME_LOG_INFO, "%s", long_text);
    REQUIRE_EQUAL(strlen(logged.last), 1023);
    gpume_log_write(NULL, GPUME_LOG_INFO, "nobody listens");
    gpume_log_write(&(struct gpume_log){0}, GPUME_LOG_INFO, "nobody listens");
}

static void test_joined_text(void)
{
    char text[12] = "";
    gpume_text_join(text, sizeof(text), ", ", "%d", 1);
    REQUIRE(strcmp(text, "1") == 0);
    gpume_text_join(text, sizeof(text), ", ", "%s", "two");
    REQUIRE(strcmp(text, "1, two") == 0);
    gpume_text_join(text, sizeof(text), " or ", "%d", 345); /* has no room for all digits */
    REQUIRE(strcmp(text, "1, two or 3") == 0);
    gpume_text_join(text, sizeof(text), ", ", "%d", 6);
    REQUIRE(strcmp(text, "1, two or 3") == 0);
}

/* Rows from the last to the first, of which parts are copied. */
static void test_planes(void)
{
    uint16_t from[2][3] = {{1, 2, 300}, {4, 5, 600}}, to[2][2] = {{0}};
    const struct gpume_plane turned = {from[1], -(ptrdiff_t)sizeof(from[0]), 3, 2, 10};
    const struct gpume_plane part = {to, sizeof(to[0]), 2, 2, 10};
    REQUIRE_EQUAL(gpume_plane_row_bytes(&part), 4);
    REQUIRE_EQUAL(gpume_plane_sample(&turned, 2, 0), 600);
    REQUIRE_EQUAL(gpume_plane_sample(&turned, 2, 1), 300);
    gpume_plane_copy(&part, &turned);
    REQUIRE(to[0][0] == 4 && to[0][1] == 5 && to[1][0] == 1 && to[1][1] == 2);
}

static void test_pattern_names(void)
{
    static const struct {
        const char *path;
        enum gpume_pattern_kind kind;
        const char *name; /* for 7 and 12 */
    } cases[] = {
        {"a.flo", GPUME_PATTERN_PLAIN, "a.flo"},
        {"a%%d.flo", GPUME_PATTERN_PLAIN, "a%d.flo"},
        {"b/a%d.flo", GPUME_PATTERN_NUMBERED, "b/a7.flo"},
        {"%03d", GPUME_PATTERN_NUMBERED, "007"},
        {"%d-%04d.flo", GPUME_PATTERN_PAIR, "7-0012.flo"},
        {"%d%d%d", GPUME_PATTERN_WRONG, NULL},
        {"a%d%d.flo", GPUME_PATTERN_WRONG, NULL},
        {"a%d20%03d.flo", GPUME_PATTERN_WRONG, NULL},
        {"a%d%%%d.flo", GPUME_PATTERN_PAIR, "a7%12.flo"},
        {"%d/a", GPUME_PATTERN_WRONG, NULL},
        {"%d/%d", GPUME_PATTERN_WRONG, NULL},
        {"%s", GPUME_PATTERN_WRONG, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        REQUIRE_EQUAL(gpume_pattern_kind(cases[i].path), cases[i].kind);
        if (cases[i].name) {
            char *name = gpume_pattern_name_pair(
                cases[i].path, (struct gpume_pattern_numbers){.first = 7, .second = 12});
            REQUIRE(name && strcmp(name, cases[i].name) == 0);
            free(name);
        }
    }
}

/* By number, not by name; names that the pattern cannot produce do not count. */
static void test_pattern_list(void)
{
    static const char *const files[] = {
        "f10-2", "f9-3", "f9-1", "f09-1", "f9", "f9-1x", "g9-1", "f99999999999999999999999-1"};
    struct gpume_pattern_numbers *numbers = NULL;
    size_t count = 0;
    uint64_t lowest = 0;
    char folder[] = "test_base.XXXXXX";
    REQUIRE(mkdtemp(folder) != NULL && chdir(folder) == 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        FILE *file = fopen(files[i], "w");
        REQUIRE(file != NULL && fclose(file) == 0);
    }
    REQUIRE_EQUAL(gpume_pattern_list("f%d-%d", &numbers, &count), GPUME_OK);
    REQUIRE_EQUAL(count, 3);
    REQUIRE(count == 3 && numbers[0].first == 9 && numbers[0].second == 1);
    REQUIRE(count == 3 && numbers[1].first == 9 && numbers[1].second == 3);
    REQUIRE(count == 3 && numbers[2].first == 10 && numbers[2].second == 2);
    free(numbers);
    REQUIRE(gpume_pattern_find("./f%d", &lowest) && lowest == 9);
    REQUIRE(!gpume_pattern_find("h%d", &lowest));
    REQUIRE(!gpume_pattern_find("nowhere/f%d", &lowest));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        REQUIRE(unlink(files[i]) == 0);
    }
    REQUIRE(chdir("..") == 0 && rmdir(folder) == 0);
}

static void count_rows(void *opaque, uint32_t begin, uint32_t end)
{
    for (uint32_t row = begin; row < end; row++) {
        count_item(opaque, row);
    }
}

/* Every row once, whether threads share the picture or not. */
static void test_bands(uint32_t threads)
{
    static const size_t row_bytes[] = {1, 300, 1000000};
    struct gpume_bands bands = {.threads = threads};
    for (uint32_t i = 0; i < sizeof(row_bytes) / sizeof(*row_bytes); i++) {
        for (uint32_t rows = 0; rows <= 1000; rows += 125) {
            static struct sum sum;
            memset(&sum, 0, sizeof(sum));
            gpume_bands_run(&bands, rows, row_bytes[i], count_rows, &sum);
            REQUIRE_EQUAL(atomic_load(&sum.calls), rows);
            for (uint32_t row = 0; row < rows; row++) {
                REQUIRE_EQUAL(atomic_load(&sum.seen[row]), 1);
            }
        }
    }
    REQUIRE((bands.workers != NULL) == (threads > 1));
    gpume_bands_finish(&bands);
}

int main(void)
{
    test_pattern_names();
    test_pattern_list();
    test_fifo();
    test_workers(1);
    test_order_of_steps(1);
    test_order_of_steps(4);
    test_order_of_steps(64);
    test_pace();
    test_wide_pace();
    test_users_of_workers(1, false);
    test_users_of_workers(5, false);
    test_users_of_workers(3, true);
    test_workers(3);
    test_workers(0);
    test_bands(0);
    test_bands(1);
    test_bands(5);
    test_grid();
    test_order();
    test_log();
    test_joined_text();
    test_planes();
    return harness_verdict();
}
