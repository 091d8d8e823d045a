/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which lane takes the next submission from the queue. One lane after the other has the turn. It
 * keeps it while it has a free slot, so that few frames go to more than one engine, and until it
 * has taken a task, so that its frames have not gone there for nothing. While it waits long for its
 * engine, any other one may take what comes. Where frames come slowly, the others rest.
 *
 * Fields are delivered in order, so that the others wait for a slow lane once their slots are full.
 * It takes only as many tasks as make the run faster even so, by the measured speed of all lanes,
 * and few until all have been measured. One lane alone takes as many as its engine can.
 *
 * Not thread-safe: the monitor's mutex guards it.
 */
#ifndef GPUME_RUN_TURNS_H
#define GPUME_RUN_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define GPUME_LANES_MAX 33u /* the devices of a list, and the standby engine */

/* What is known of a lane. */
struct gpume_turn {
    bool present;         /* it takes part */
    uint32_t room;        /* tasks that its slots hold */
    uint32_t batch;       /* tasks in a submission, at most */
    uint32_t free_slots;  /* that hold nothing */
    uint32_t in_flight;   /* tasks that the engine has */
    uint32_t submissions; /* that the engine has */
    uint64_t task_ns;     /* measured time per task; 0: not measured yet */
    uint64_t worked_ns;   /* in all */
    bool collecting;      /* its thread waits for the engine, and takes nothing meanwhile */
};

struct gpume_turns {
    struct gpume_turn lanes[GPUME_LANES_MAX];
    uint32_t count;
    uint32_t holder;
    bool took;    /* the holder has taken a task */
    bool blocked; /* the holder is still asking for predictors */
};

/* A new lane, not present yet. */
struct gpume_turn *gpume_turns_add(struct gpume_turns *turns, uint32_t slots, uint32_t batch);

/* How many of the tasks that wait, if `waiting` do, or of those that come with the next frames this
 * lane may take now; 0: it is not its turn. */
uint32_t gpume_turns_share(
    const struct gpume_turns *turns, const struct gpume_turn *turn, uint32_t waiting);

/* The lane takes a submission of `tasks` tasks, which uses up a free slot. */
void gpume_turns_take(struct gpume_turns *turns, struct gpume_turn *turn, uint32_t tasks);

/* A submission of `tasks` tasks is complete; the engine worked on it alone for `ns`. */
void gpume_turns_complete(struct gpume_turn *turn, uint32_t tasks, uint64_t ns);

/*
 * --- whether the lanes keep up with the source, and how many more devices would have work. Opening
 * a device takes time, during which it also keeps others waiting, so one is opened only when
 *
 * - while the engines were busy, the source has waited for free frames for at least a quarter of
 * the time that opening takes;
 * - by the measured speeds the source would keep another engine busy for a good part of its time;
 * - what is left to do, where that is known, takes several times as long as opening.
 *
 * Where a receiver is slow, the source waits too, but the engines are not at work.
 */

struct gpume_demand {
    uint64_t open_ns;          /* what opening a device takes */
    uint64_t since_ns;         /* when measuring began; 0: it has not */
    uint64_t waited_ns;        /* by the source since then, without the present wait */
    uint64_t waiting_since_ns; /* 0: it does not wait */
    /* What had been done when measuring began. */
    uint64_t worked_ns, fields;
};

/* What has been done since the run began, and is left to do. */
struct gpume_demand_facts {
    uint32_t lanes;     /* at work */
    uint64_t worked_ns; /* engine time of all lanes */
    uint64_t fields;    /* that have been delivered */
    uint64_t left;      /* fields yet to come; UINT64_MAX: unknown */
};

/* The source finds no free frame. */
void gpume_demand_wait(struct gpume_demand *demand, uint64_t now_ns);

/* The source has got a free frame. */
void gpume_demand_resume(struct gpume_demand *demand, uint64_t now_ns);

/* A device has been opened, or given up: what was measured before does not count any more. */
void gpume_demand_restart(struct gpume_demand *demand);

/* How many devices should be opened beyond those that are open. */
uint32_t gpume_demand_more(
    struct gpume_demand *demand, uint64_t now_ns, const struct gpume_demand_facts *facts);

#endif
