/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast lanes are together, by the turns that they get, in simulated time: lanes take tasks in
 * order, work as long as their speed says, and have a slot free again when all tasks before its own
 * are complete too. Lanes that are alike are almost as fast as all of them could be, and no lane
 * makes the run slower.
 */
#include "harness.h"
#include "run/turns.h"

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
    uint64_t free_ns[LANES]; /* when the engine has done all that it has */
    uint64_t task_ns[LANES]; /* true speed */
    uint32_t count;
    uint64_t now, next, delivered;
    uint64_t seed;
};

static void submit(struct sim *sim, uint32_t lane, struct slot *slot)
{
    const uint32_t share = gpume_turns_share(&sim->turns, sim->lanes[lane]);
    const uint64_t left = TASKS - sim->next;
    const uint32_t tasks = share < left ? share : (uint32_t)left;
    if (tasks == 0) {
        return;
    }
    const uint64_t start = sim->now > sim->free_ns[lane] ? sim->now : sim->free_ns[lane];
    const uint64_t noise = 90 + harness_random(&sim->seed) % 21; /* percent */
    *slot = (struct slot){.first = sim->next,
        .end = sim->next + tasks,
        .submitted_ns = sim->now,
        .worked_ns = tasks * sim->task_ns[lane] * noise / 100};
    slot->complete_ns = sim->free_ns[lane] = start + slot->worked_ns;
    sim->next += tasks;
    gpume_turns_take(&sim->turns, sim->lanes[lane], tasks);
}

static void collect(struct sim *sim, uint32_t lane, struct slot *slot)
{
    slot->collected = true;
    gpume_turns_complete(sim->lanes[lane], (uint32_t)(slot->end - slot->first), slot->worked_ns);
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

/* All that happens now; true: something did. */
static bool act(struct sim *sim)
{
    bool acted = false;
    for (uint32_t i = 0; i < sim->count; i++) {
        for (uint32_t j = 0; j < SLOTS; j++) {
            struct slot *slot = &sim->slots[i][j];
            if (slot->end == 0) {
                const uint64_t before = sim->next;
                submit(sim, i, slot);
                acted |= sim->next > before;
            } else if (!slot->collected && slot->complete_ns <= sim->now) {
                collect(sim, i, slot);
                acted = true;
            } else if (slot->collected && slot->end <= delivered(sim)) {
                *slot = (struct slot){0};
                sim->lanes[i]->free_slots++;
                acted = true;
            }
        }
    }
    return acted;
}

/* The next time at which something happens; false: never. */
static bool advance(struct sim *sim)
{
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < sim->count; i++) {
        for (uint32_t j = 0; j < SLOTS; j++) {
            const struct slot *slot = &sim->slots[i][j];
            if (slot->end > 0 && !slot->collected && slot->complete_ns < next) {
                next = slot->complete_ns;
            }
        }
    }
    sim->now = next;
    return next != UINT64_MAX;
}

/* Tasks in the time that a task takes the first lane. */
static double speed(const uint64_t *task_ns, const uint32_t *batches, uint32_t count)
{
    static struct sim sim;
    sim = (struct sim){.count = count, .seed = 1};
    for (uint32_t i = 0; i < count; i++) {
        sim.lanes[i] = gpume_turns_add(&sim.turns, SLOTS, batches[i]);
        sim.lanes[i]->present = true;
        sim.task_ns[i] = task_ns[i];
    }
    do {
        while (act(&sim)) {
        }
    } while (advance(&sim));
    REQUIRE_EQUAL(sim.next, TASKS);
    sim.now = 0;
    for (uint32_t i = 0; i < count; i++) {
        sim.now = sim.free_ns[i] > sim.now ? sim.free_ns[i] : sim.now;
    }
    return (double)TASKS * (double)task_ns[0] / (double)sim.now;
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
    return harness_verdict();
}
