/* SPDX-License-Identifier: BSD-2-Clause */
/* base: the pointer ring, the parallel loop, the size arithmetic, and the tie rule of motion. */
#include "base/fifo.h"
#include "base/grid.h"
#include "base/log.h"
#include "base/workers.h"
#include "gpume/gpume.h"
#include "harness.h"
#include "motion/order.h"

#include <stdatomic.h>
#include <string.h>

static void test_fifo(void)
{
    struct gpume_fifo fifo;
    int items[7];
    REQUIRE_EQUAL(gpume_fifo_init(&fifo, 3), GPUME_OK);
    REQUIRE(!gpume_fifo_pop(&fifo));
    for (int round = 0; round < 7; round++) { /* the head goes round more than once */
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

/* A step of a chain, and how much of it and of the one before is done. */
struct link {
    struct gpume_step step;
    const struct link *before;
    atomic_uint done;
    bool early; /* an item ran before the step before was over */
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

/* Steps begin when what they wait for is over, also when they are used again. */
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
            links[i].step.after[i % 2] = i > 0 ? steps[i - 1] : &links[LINKS - 1].step;
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
    REQUIRE(wins(1, 5, 5, 2, 0, 0));   /* cost before all */
    REQUIRE(wins(2, 0, 0, 2, -7, -7)); /* then zero */
    REQUIRE(!wins(2, -7, -7, 2, 0, 0));
    REQUIRE(wins(2, 7, -1, 2, -7, 1)); /* then the smallest dy */
    REQUIRE(wins(2, -7, 1, 2, 7, 1));  /* then the smallest dx */
    REQUIRE(!wins(2, 3, 3, 2, 3, 3));  /* nothing wins over itself */
    REQUIRE(!wins(2, 0, 0, 2, 0, 0));
}

static char logged[2000];

static void keep_line(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    (void)level;
    snprintf(logged, sizeof(logged), "%s", line);
}

static void test_log(void)
{
    struct gpume_log log = {.fn = keep_line};
    char long_text[1500];
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    gpume_log_write(&log, GPUME_LOG_INFO, "%d and %s", 7, "eight");
    REQUIRE(strcmp(logged, "7 and eight") == 0);
    gpume_log_write(&log, GPUME_LOG_INFO, "%s", long_text);
    REQUIRE_EQUAL(strlen(logged), 1023);
    gpume_log_write(NULL, GPUME_LOG_INFO, "nobody listens");
    gpume_log_write(&(struct gpume_log){0}, GPUME_LOG_INFO, "nobody listens");
}

int main(void)
{
    test_fifo();
    test_workers(1);
    test_order_of_steps(1);
    test_order_of_steps(4);
    test_workers(3);
    test_workers(0);
    test_grid();
    test_order();
    test_log();
    return harness_verdict();
}
