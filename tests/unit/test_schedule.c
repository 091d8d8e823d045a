/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The schedule against a literal list of the tasks: every direction, lists of distances, ranges of
 * targets, with params.best_reference and with hidden tasks. Each task comes as soon as its frames
 * and those of all tasks before it have been sent, with several distances those of its target, and
 * what the plan says about tasks holds.
 */
#include "harness.h"
#include "plans.h"
#include "run/queue.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 24u
#define REQUESTS_MAX 1024u

struct list {
    struct gpume_request requests[REQUESTS_MAX];
    uint32_t count;
};

static struct gpume_request *append(struct list *list, uint64_t target)
{
    struct gpume_request *request = &list->requests[list->count++];
    *request = (struct gpume_request){.task = {.target = target}};
    return request;
}

/* Is it the reverse of a task of an earlier target, or at distance 1 alone of the next task? */
static bool is_near(const struct gpume_plan *plan, uint64_t target, uint64_t ref)
{
    const struct gpume_params *p = &plan->params;
    const uint64_t index = p->first_frame + ref;
    const bool in_range = index >= p->first_target &&
                          (p->target_count == 0 || index - p->first_target < p->target_count);
    const bool alone = plan->distance_count == 1 && plan->distances[0] == 1 && p->memory_max == 0;
    return !p->best_reference && in_range && (ref < target || alone);
}

/* One task for all references, or one for each. */
static void append_tasks(struct list *list, const struct gpume_plan *plan, uint64_t target,
    const uint64_t *refs, uint32_t count)
{
    const uint32_t step = plan->params.best_reference ? count : 1;
    for (uint32_t i = 0; i < count; i += step) {
        for (uint32_t j = i; plan->returns && j < i + step && !is_near(plan, target, refs[j]);
             j++) {
            struct gpume_request *hidden = append(list, refs[j]);
            hidden->task.reference = target;
            hidden->hidden = true;
        }
        struct gpume_task *task = &append(list, target)->task;
        task->reference = refs[i];
        task->more_count = step - 1;
        memcpy(task->more, refs + i + 1, (step - 1) * sizeof(*refs));
    }
}

static bool has_distance(const struct gpume_params *p, uint64_t distance)
{
    for (uint32_t i = 0; i < p->distance_count; i++) {
        if (p->distances[i] == distance) {
            return true;
        }
    }
    return p->distance_count == 0 && p->ref_distance == distance;
}

/* All tasks of `frames` frames. */
static void list_tasks(const struct gpume_plan *plan, uint64_t frames, struct list *list)
{
    const struct gpume_params *p = &plan->params;
    list->count = 0;
    for (uint64_t t = 0; t < frames; t++) {
        const uint64_t index = p->first_frame + t;
        uint64_t refs[2 * FRAMES_MAX];
        uint32_t count = 0;
        for (uint64_t d = 1; d < frames; d++) {
            if (has_distance(p, d) && p->direction != GPUME_DIRECTION_FUTURE && t >= d) {
                refs[count++] = t - d;
            }
            if (has_distance(p, d) && p->direction != GPUME_DIRECTION_PAST && t + d < frames) {
                refs[count++] = t + d;
            }
        }
        if (index >= p->first_target && count > 0 &&
            (p->target_count == 0 || index - p->first_target < p->target_count)) {
            append_tasks(list, plan, t, refs, count);
        }
    }
}

static bool same(const struct gpume_request *a, const struct gpume_request *b)
{
    return a->hidden == b->hidden && a->task.target == b->task.target &&
           a->task.reference == b->task.reference && a->task.more_count == b->task.more_count &&
           memcmp(a->task.more, b->task.more, a->task.more_count * sizeof(*a->task.more)) == 0;
}

/* Of the task that a hidden one serves. */
static uint64_t target_of(const struct gpume_request *request)
{
    return request->hidden ? request->task.reference : request->task.target;
}

/* Tasks that are the same however many frames follow: the common beginning of what they would be
 * after this many frames and after many more. */
static uint32_t count_certain(const struct gpume_plan *plan, uint64_t frames)
{
    static struct list now, later;
    list_tasks(plan, frames, &now);
    list_tasks(plan, 2 * FRAMES_MAX, &later);
    uint32_t count = 0;
    while (count < now.count && same(&now.requests[count], &later.requests[count])) {
        count++;
    }
    while (count > 0 && now.requests[count - 1].hidden) { /* they come with the task they serve */
        count--;
    }
    /* With several distances, the tasks of a target come together. */
    while (plan->distance_count > 1 && count > 0 && count < later.count &&
           target_of(&later.requests[count - 1]) == target_of(&later.requests[count])) {
        count--;
    }
    return count;
}

static void check_task(
    const struct gpume_plan *plan, const struct gpume_task *task, uint64_t frames)
{
    uint64_t oldest = task->target < task->reference ? task->target : task->reference;
    for (uint32_t i = 0; i < task->more_count; i++) {
        oldest = task->more[i] < oldest ? task->more[i] : oldest;
    }
    REQUIRE(frames - 1 - oldest <= plan->reach);
    REQUIRE(task->more_count < plan->references);
}

static void check(const struct gpume_params *params, uint32_t frames)
{
    static struct list expected;
    const struct gpume_plan plan = plans_make(params, UINT64_MAX);
    struct gpume_schedule schedule = gpume_schedule_make(&plan);
    uint32_t taken = 0;
    list_tasks(&plan, frames, &expected);
    for (uint32_t sent = 0; sent <= frames + 1; sent++) {
        const bool ended = sent > frames;
        const uint64_t count = ended ? frames : sent;
        const uint32_t before = taken;
        struct gpume_request request = {0};
        while (gpume_schedule_next(&schedule, count, ended, &request) && harness_failures == 0) {
            REQUIRE(taken < expected.count && same(&request, &expected.requests[taken]));
            check_task(&plan, &request.task, count);
            taken++;
        }
        REQUIRE_EQUAL(taken, ended ? expected.count : count_certain(&plan, count));
        REQUIRE(taken - before <= plan.requests * (ended ? plan.reach : 1));
    }
}

static void test_all(void)
{
    static const uint32_t lists[][4] = {{0}, {1}, {2, 1}, {1, 4, 2}, {7, 3, 5}};
    static const uint64_t ranges[][3] = {/* first frame, first target, count */
        {0, 0, 0}, {0, 3, 4}, {5, 8, 0}, {5, 2, 6}, {5, 7, 1}, {0, 30, 2}, {9, 3, UINT64_MAX}};
    for (uint32_t i = 0; i < 5 * 3 * 4 * 7; i++) {
        struct gpume_params params;
        gpume_params_default(&params);
        params.width = params.height = 16;
        params.ref_distance = 2;
        memcpy(params.distances, lists[i % 5], sizeof(*lists));
        for (; params.distances[params.distance_count] > 0; params.distance_count++) {
        }
        params.direction = (enum gpume_direction)(i / 5 % 3);
        params.best_reference = i / 15 % 2;
        params.confidence = i / 30 % 2;
        params.memory_max = i % 4 == 1 ? UINT64_MAX : 0; /* no mutual pairs */
        params.first_frame = ranges[i / 60][0];
        params.first_target = ranges[i / 60][1];
        params.target_count = ranges[i / 60][2];
        for (uint32_t frames = 0; frames < FRAMES_MAX && harness_failures == 0;
             frames += 1 + frames / 4) {
            check(&params, frames);
        }
    }
}

/* gpume_search makes the tasks. */
static void test_manual(void)
{
    struct gpume_params params;
    struct gpume_request request = {0};
    gpume_params_default(&params);
    params.width = params.height = 16;
    params.direction = GPUME_DIRECTION_MANUAL;
    params.confidence = true;
    const struct gpume_plan plan = plans_make(&params, UINT64_MAX);
    struct gpume_schedule schedule = gpume_schedule_make(&plan);
    REQUIRE(!plan.returns);
    REQUIRE(!gpume_schedule_next(&schedule, 10, false, &request));
    REQUIRE(!gpume_schedule_next(&schedule, 10, true, &request));
}

int main(void)
{
    test_all();
    test_manual();
    return harness_verdict();
}
