/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/demand.h"

/* Of the time that opening takes: what the source has waited, at least, and how long is measured at
 * most, since a run may have easier and harder parts. */
#define WAITED 0.25
#define MEASURED 8
#define BUSY 0.75  /* of the engines' time: with less, something else is slow too */
#define WORTH 0.25 /* of an engine's time, which the next one would have to do */
/* Times the opening, for each device: it is missing meanwhile, and is closed again at the end. */
#define PAYS_AFTER 3u

void gpume_demand_wait(struct gpume_demand *demand, uint64_t now_ns)
{
    if (demand->waiting_since_ns == 0) {
        demand->waiting_since_ns = now_ns;
    }
}

void gpume_demand_resume(struct gpume_demand *demand, uint64_t now_ns)
{
    if (demand->waiting_since_ns > 0) {
        demand->waited_ns += now_ns - demand->waiting_since_ns;
        demand->waiting_since_ns = 0;
    }
}

void gpume_demand_restart(struct gpume_demand *demand)
{
    *demand = (struct gpume_demand){
        .open_ns = demand->open_ns, .waiting_since_ns = demand->waiting_since_ns};
}

static void begin(
    struct gpume_demand *demand, uint64_t now_ns, const struct gpume_demand_facts *facts)
{
    demand->since_ns = now_ns;
    demand->waited_ns = 0;
    demand->waiting_since_ns = now_ns;
    demand->worked_ns = facts->worked_ns;
    demand->fields = facts->fields;
}

/* Devices that pay by the time which is left. */
static double most_that_pay(
    const struct gpume_demand *demand, double measured_ns, const struct gpume_demand_facts *facts)
{
    const double fields = (double)(facts->fields - demand->fields);
    const double left_ns = fields > 0 ? (double)facts->left * measured_ns / fields : measured_ns;
    return left_ns / (PAYS_AFTER * (double)(demand->open_ns + 1));
}

/* Measuring begins when the source waits, so that it does not include the beginning of the run. */
uint32_t gpume_demand_more(
    struct gpume_demand *demand, uint64_t now_ns, const struct gpume_demand_facts *facts)
{
    if (demand->since_ns == 0) {
        if (demand->waiting_since_ns > 0) {
            begin(demand, now_ns, facts);
        }
        return 0;
    }
    const double measured = (double)(now_ns - demand->since_ns);
    const double waits =
        demand->waiting_since_ns > 0 ? (double)(now_ns - demand->waiting_since_ns) : 0;
    const double waited = (double)demand->waited_ns + waits, open = (double)demand->open_ns;
    const double worked = (double)(facts->worked_ns - demand->worked_ns);
    if (waited < WAITED * open || measured <= 0) {
        if (measured > MEASURED * open) {
            gpume_demand_restart(demand);
        }
        return 0;
    }
    const double lanes = facts->lanes;
    const double busy = worked < lanes * measured ? worked : lanes * measured;
    const double wanted = busy / (measured - waited + measured / 64); /* 64 engines at most */
    double more = wanted - lanes + 1 - WORTH;
    const double most = facts->left < UINT64_MAX ? most_that_pay(demand, measured, facts) : more;
    gpume_demand_restart(demand);
    if (busy < BUSY * lanes * measured || more < 1) {
        return 0;
    }
    more = more < most ? more : most;
    return (uint32_t)more;
}
