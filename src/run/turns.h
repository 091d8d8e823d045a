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

#endif
