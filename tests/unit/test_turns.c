/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast lanes are together, by the turns that they get, in simulated time: lanes take tasks in
 * order, work as long as their speed says, and have a slot free again when all tasks before its own
 * are complete too. A lane that cannot take anything waits until its oldest submission is complete.
 * Lanes that are alike are almost as fast as all of them could be, and no lane makes the run
 * slower. If tasks come slowly, a free lane takes them while another one is at work for long;
 * otherwise all lanes but one rest.
 */
#include "harness.h"
#include "run/queue.h"

#include <string.h>

#define TASKS 20000u
#define SLOTS 3u
#define LANES 8u

struct slot {
    uint64_t first, end;  /* tasks; none: free */
    uint64_t complete_ns; /* when */
    uint64_t submitted_ns, worked_ns;
    bool collected;
};

struct sim {
    struct gpume_turns turns;
    struct gpume_turn *lanes[LANES];
    struct slot slots[LANES][SLOTS];
    uint64_t free_ns[LANES];      /* when the engine has done all that it has */
    uint64_t collected_ns[LANES]; /* when the latest submission was collected */
    uint64_t task_ns[LANES];      /* true speed */
    uint64_t taken[LANES];        /* tasks */
    uint32_t count;
    uint64_t source_ns; /* from one task to the next; 0: all are there from the beginning */
    uint64_t burst;     /* tasks that come at the same time */
    uint64_t latency_ns, held_ns; /* of a submission besides its work; of fields by the receiver */
    uint64_t now, next;
    uint64_t waited_ns; /* of all tasks, from when they come until they are complete */
    uint64_t seed;
};

/* The number of tasks that have come. */
static uint64_t come(const struct sim *sim)
{
    const uint64_t period = sim->source_ns * sim->burst;
    const uint64_t tasks = period > 0 ? (sim->now / period + 1) * sim->burst : TASKS;
    return tasks < TASKS ? tasks : TASKS;
}

/* False: it takes no task now. */
static bool submit(struct sim *sim, uint32_t lane, struct slot *slot)
{
    const uint64_t left = come(sim) - sim->next;
    const uint32_t share = gpume_turns_share(&sim->turns, sim->lanes[lane], (uint32_t)left);
    const uint32_t tasks = share < left ? share : (uint32_t)left;
    if (tasks == 0) {
        return false;
    }
    const uint64_t start = sim->now > sim->free_ns[lane] ? sim->now : sim->free_ns[lane];
    const uint64_t noise = 90 + harness_random(&sim->seed) % 21; /* percent */
    *slot = (struct slot){.first = sim->next,
        .end = sim->next + tasks,
        .worked_ns = tasks * sim->task_ns[lane] * noise / 100};
    sim->free_ns[lane] = start + slot->worked_ns;
    slot->complete_ns = sim->free_ns[lane] + sim->latency_ns;
    slot->submitted_ns = sim->now;
    for (; sim->next < slot->end; sim->next++) {
        sim->waited_ns += slot->complete_ns - sim->next * sim->source_ns;
    }
    sim->taken[lane] += tasks;
    gpume_turns_take(&sim->turns, sim->lanes[lane], tasks);
    return true;
}

static void collect(struct sim *sim, uint32_t lane, struct slot *slot)
{
    const uint64_t before = sim->collected_ns[lane];
    const uint64_t since = slot->submitted_ns > before ? slot->submitted_ns : before;
    slot->collected = true;
    sim->collected_ns[lane] = sim->now;
    gpume_turns_complete(sim->lanes[lane], (uint32_t)(slot->end - slot->first), sim->now - since);
}

/* The end of the tasks that are complete in order. */
static uint64_t delivered(const struct sim *sim)
{
    uint64_t end = sim->next;
    for (uint32_t i = 0; i < sim->count; i++) {
        for (uint32_t j = 0; j < SLOTS; j++) {
            const struct slot *slot = &sim->slots[i][j];
            if (slot->end > 0 && !slot->collected && slot->first < end) {
                end = slot->first;
            }
        }
    }
    return end;
}

/* Of the lane's submissions that have not been collected; NULL: there is none. */
static struct slot *oldest(struct sim *sim, uint32_t lane)
{
    struct slot *found = NULL;
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &sim->slots[lane][i];
        if (slot->end > 0 && !slot->collected && (!found || slot->first < found->first)) {
            found = slot;
        }
    }
    return found;
}

/* As the thread of a lane does: it submits if it can, otherwise collects, otherwise waits. False:
 * nothing can be done now. */
static bool act(struct sim *sim, uint32_t lane)
{
    struct gpume_turn *turn = sim->lanes[lane];
    for (uint32_t i = 0; i < SLOTS && !turn->collecting; i++) {
        if (sim->slots[lane][i].end == 0 && submit(sim, lane, &sim->slots[lane][i])) {
            return true;
        }
    }
    struct slot *slot = oldest(sim, lane);
    const bool waited = turn->collecting;
    turn->collecting = slot && slot->complete_ns > sim->now;
    if (slot && !turn->collecting) {
        collect(sim, lane, slot);
        return true;
    }
    return turn->collecting && !waited; /* another one may have the turn now */
}

static bool release(struct sim *sim, uint32_t lane)
{
    bool released = false;
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &sim->slots[lane][i];
        if (slot->collected && slot->end <= delivered(sim) &&
            sim->now >= slot->complete_ns + sim->held_ns) {
            *slot = (struct slot){0};
            sim->lanes[lane]->free_slots++;
            released = true;
        }
    }
    return released;
}

/* All that happens now; true: something did. */
static bool act_all(struct sim *sim)
{
    bool acted = false;
    for (uint32_t i = 0; i < sim->count; i++) {
        acted |= act(sim, i);
        acted |= release(sim, i);
    }
    return acted;
}

/* The next time at which something happens; false: never. */
static bool advance(struct sim *sim)
{
    uint64_t next = come(sim) < TASKS ? come(sim) * sim->source_ns : UINT64_MAX;
    for (uint32_t i = 0; i < sim->count; i++) {
        const struct slot *slot = oldest(sim, i);
        if (slot && slot->complete_ns < next) {
            next = slot->complete_ns;
        }
        for (uint32_t j = 0; j < SLOTS; j++) {
            const struct slot *held = &sim->slots[i][j];
            const uint64_t until = held->complete_ns + sim->held_ns;
            next = held->collected && until > sim->now && until < next ? until : next;
        }
    }
    sim->now = next;
    return next != UINT64_MAX;
}

static void simulate(struct sim *sim, const uint64_t *task_ns, const uint32_t *batches,
    uint32_t count, uint64_t source_ns, uint64_t burst)
{
    sim->turns = (struct gpume_turns){0};
    sim->count = count;
    sim->source_ns = source_ns;
    sim->burst = burst;
    sim->seed = 1;
    for (uint32_t i = 0; i < count; i++) {
        sim->lanes[i] = gpume_turns_add(&sim->turns, SLOTS, batches[i]);
        sim->lanes[i]->present = true;
        sim->task_ns[i] = task_ns[i];
    }
    do {
        while (act_all(sim)) {
        }
    } while (advance(sim));
    REQUIRE_EQUAL(sim->next, TASKS);
}

/* Tasks in the time that a task takes the first lane. */
static double speed(const uint64_t *task_ns, const uint32_t *batches, uint32_t count)
{
    struct sim sim = {0};
    uint64_t end = 0;
    simulate(&sim, task_ns, batches, count, 0, 1);
    for (uint32_t i = 0; i < count; i++) {
        end = sim.free_ns[i] > end ? sim.free_ns[i] : end;
    }
    return (double)TASKS * (double)task_ns[0] / (double)end;
}

/* least: of what all lanes could do together. */
static void check(const uint64_t *task_ns, const uint32_t *batches, uint32_t count, double least)
{
    double possible = 0;
    for (uint32_t i = 0; i < count; i++) {
        possible += (double)task_ns[0] / (double)task_ns[i];
    }
    const double reached = speed(task_ns, batches, count);
    printf("%u lanes: %.3f of %.3f\n", count, reached, possible);
    REQUIRE(reached >= least * possible);
}

/* Tasks that come one by one. most: from when a task comes until it is complete, on average. */
static void check_slow(uint64_t task_ns, uint64_t source_ns, uint32_t batch, double most)
{
    struct sim sim = {0};
    simulate(&sim, (const uint64_t[]){task_ns, task_ns}, (const uint32_t[]){batch, batch}, 2,
        source_ns, 1);
    const double waited = (double)sim.waited_ns / TASKS / (double)task_ns;
    printf("a task every %.2f: complete after %.3f\n", (double)source_ns / (double)task_ns, waited);
    REQUIRE(waited <= most);
}

/* Tasks that come nearly as fast as one lane is, in bursts that fill its slots. least: the part of
 * them that one lane takes. */
static void check_rest(uint64_t task_ns, uint64_t latency_ns, uint64_t held_ns, uint64_t source_ns,
    uint64_t burst, double least)
{
    struct sim sim = {.latency_ns = latency_ns, .held_ns = held_ns};
    const uint64_t alike[] = {task_ns, task_ns, task_ns, task_ns};
    uint64_t busiest = 0;
    simulate(&sim, alike, (const uint32_t[]){22, 22, 22, 22}, 4, source_ns, burst);
    for (uint32_t i = 0; i < 4; i++) {
        busiest = sim.taken[i] > busiest ? sim.taken[i] : busiest;
    }
    printf("%llu tasks every %.2f: one lane takes %.3f\n", (unsigned long long)burst,
        (double)source_ns * (double)burst / (double)task_ns, (double)busiest / TASKS);
    REQUIRE((double)busiest / TASKS >= least);
}

int main(void)
{
    static const uint64_t alike[] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
    static const uint32_t large[] = {64, 64, 64, 64, 64, 64, 64, 64}, seven[] = {7, 7, 7, 7},
                          single[] = {1, 1, 1, 1};
    check(alike, large, 1, 1);
    check(alike, large, 2, 0.97);
    check(alike, seven, 2, 0.97);
    check(alike, seven, 4, 0.97);
    check(alike, single, 4, 0.95);
    check(alike, large, 8, 0.95);
    /* Unlike ones. */
    check((const uint64_t[]){1000, 1500}, seven, 2, 0.95);
    check((const uint64_t[]){1000, 3000}, large, 2, 0.93);
    check((const uint64_t[]){3000, 1000, 1000}, seven, 3, 0.95);
    /* A processor beside a GPU: it helps, or does no harm. */
    check((const uint64_t[]){1000, 8000}, (const uint32_t[]){7, 1}, 2, 0.97);
    check((const uint64_t[]){1000, 100000}, (const uint32_t[]){7, 1}, 2, 0.97);
    check((const uint64_t[]){1000, 2000000}, (const uint32_t[]){64, 1}, 2, 0.88);
    check((const uint64_t[]){1000, 100000}, (const uint32_t[]){1, 64}, 2, 0.9);
    /* Slower than both lanes together, and than one alone. */
    check_slow(10000000, 6000000, 1, 1.01);
    check_slow(10000000, 6000000, 64, 1.01);
    check_slow(10000000, 12000000, 64, 1.01);
    check_slow(10000, 12000, 64, 1.01);
    check_rest(40000, 300000, 100000, 450000, 1, 0.99);
    check_rest(40000, 300000, 300000, 250000, 1, 0.99);
    check_rest(40000, 300000, 100000, 450000, 8, 0.99);
    check_rest(100000, 100000, 100000, 110000, 4, 0.99);
    return harness_verdict();
}
