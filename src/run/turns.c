/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/turns.h"

#define TRIAL 8u /* the part of a submission that a lane takes before it has been measured */
#define MOVE_NS 1000000u /* about two large frames into another engine's memory */
#define REST_NS 5000000u /* for which tasks may wait that one engine takes at once */
#define WORK_NS 5000000u /* under way: more would only be missing elsewhere when tasks run out */

struct gpume_turn *gpume_turns_add(struct gpume_turns *turns, uint32_t slots, uint32_t batch)
{
    struct gpume_turn *turn = &turns->lanes[turns->count++];
    *turn = (struct gpume_turn){.room = slots * batch, .batch = batch, .free_slots = slots};
    return turn;
}

/* How many tasks it may have under way without keeping the others waiting: they wait when their own
 * slots are full. A tenth more, since lanes that are alike never measure quite the same. */
static double most_in_time(const struct gpume_turns *turns, const struct gpume_turn *turn)
{
    double most = (double)UINT32_MAX;
    for (uint32_t i = 0; i < turns->count; i++) {
        const struct gpume_turn *other = &turns->lanes[i];
        if (other != turn && other->present) {
            const double tasks = 1.1 * other->room * (double)other->task_ns / (double)turn->task_ns;
            most = tasks < most ? tasks : most;
        }
    }
    return most;
}

/* Whether the others, even if they wait, are faster by one task than without this lane. */
static bool helps(const struct gpume_turns *turns, const struct gpume_turn *turn)
{
    double lost = 0;
    for (uint32_t i = 0; i < turns->count; i++) {
        const struct gpume_turn *other = &turns->lanes[i];
        if (other != turn && other->present) {
            const double could = (double)turn->task_ns / (double)other->task_ns;
            lost += could > other->room ? could - other->room : 0;
        }
    }
    return lost < 1;
}

/* Of the other lanes. */
static bool are_measured(
    const struct gpume_turns *turns, const struct gpume_turn *turn, bool *exist)
{
    bool measured = true;
    for (uint32_t i = 0; i < turns->count; i++) {
        const struct gpume_turn *other = &turns->lanes[i];
        if (other != turn && other->present) {
            *exist = true;
            measured = measured && other->task_ns > 0;
        }
    }
    return measured;
}

/* How many tasks it could take: half of what it may have under way, so that it need not pause in
 * between. The fastest lane, if it has nothing in flight, can always take some. */
static uint32_t tasks_in_time(const struct gpume_turns *turns, const struct gpume_turn *turn)
{
    bool exist = false;
    const bool measured = are_measured(turns, turn, &exist);
    if (!turn->present || turn->free_slots == 0) {
        return 0;
    }
    if (!exist) {
        return turn->batch;
    }
    if (turn->task_ns == 0 || !measured) {
        const bool first = turn->submissions == 0;
        return turn->task_ns > 0 || first ? (turn->batch + TRIAL - 1) / TRIAL : 0;
    }
    if (turn->submissions >= 2 && turn->in_flight * turn->task_ns > WORK_NS) { /* enough */
        return 0;
    }
    const double most = most_in_time(turns, turn), left = most - turn->in_flight;
    double tasks = most / 2 < left ? most / 2 : left;
    tasks = tasks < 1 && left >= 1 ? 1 : tasks;
    if (tasks >= 1) {
        return tasks < turn->batch ? (uint32_t)tasks : turn->batch;
    }
    return turn->submissions == 0 && helps(turns, turn);
}

/* Whether lanes other than the holder may take tasks. */
static bool passes(const struct gpume_turns *turns, uint32_t waiting)
{
    const struct gpume_turn *holder = &turns->lanes[turns->holder];
    const uint64_t under_way_ns = holder->in_flight * holder->task_ns;
    const bool frames_alone = holder->present && !turns->took && holder->submissions > 0;
    /* The holder has work, but soon none, and can take all that waits at once: frames come more
     * slowly than it searches them. */
    if (holder->present && under_way_ns > 0 && under_way_ns <= REST_NS &&
        waiting <= holder->batch / 2) {
        return false;
    }
    /* Busy: its thread waits for longer than it takes to give frames to another engine. */
    const bool is_busy = holder->collecting && under_way_ns > MOVE_NS;
    return is_busy || (!frames_alone && tasks_in_time(turns, holder) == 0);
}

uint32_t gpume_turns_share(
    const struct gpume_turns *turns, const struct gpume_turn *turn, uint32_t waiting)
{
    const bool is_holder = turn == &turns->lanes[turns->holder];
    return !turns->blocked && (is_holder || passes(turns, waiting)) ? tasks_in_time(turns, turn)
                                                                    : 0;
}

void gpume_turns_take(struct gpume_turns *turns, struct gpume_turn *turn, uint32_t tasks)
{
    const uint32_t index = (uint32_t)(turn - turns->lanes);
    turns->took = tasks > 0 || (turns->took && index == turns->holder);
    turns->holder = index;
    turn->free_slots--;
    turn->submissions++;
    turn->in_flight += tasks;
}

void gpume_turns_complete(struct gpume_turn *turn, uint32_t tasks, uint64_t ns)
{
    turn->submissions--;
    turn->in_flight -= tasks;
    turn->worked_ns += ns;
    if (tasks > 0) {
        const uint64_t task_ns = ns / tasks + 1;
        turn->task_ns = turn->task_ns == 0 ? task_ns : (3 * turn->task_ns + task_ns) / 4;
    }
}

/* --- whether more devices would have work */

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
