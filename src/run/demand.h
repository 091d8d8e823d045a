/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the lanes keep up with the source, and how many more devices would have work. Opening a
 * device takes time, during which it also keeps others waiting, so one is opened only when
 *
 * - while the engines were busy, the source has waited for free frames for at least a quarter of
 * the time that opening takes;
 * - by the measured speeds the source would keep another engine busy for a good part of its time;
 * - what is left to do, where that is known, takes several times as long as opening.
 *
 * Where a receiver is slow, the source waits too, but the engines are not at work.
 *
 * Not thread-safe: the monitor's mutex guards it.
 */
#ifndef GPUME_RUN_DEMAND_H
#define GPUME_RUN_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

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
