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
