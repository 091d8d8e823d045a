/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/analysis_state.h"

#include "base/grid.h"
#include "base/status.h"
#include "encode/aq.h"
#include "encode/costs.h"
#include "encode/weights.h"

/* --- what types and quality ask for */

int gpume_analysis_cost(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    struct gpume_analysis *a = opaque;
    struct gpume_frame_cost found;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, past, future, &found));
    *cost = found.inner_cost;
    return GPUME_OK;
}

int gpume_analysis_coding_cost(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost)
{
    struct gpume_analysis *a = opaque;
    struct gpume_frame_cost found;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, past, future, &found));
    *cost = gpume_weight_coding_cost(&found.weight, frame - past, found.inner_cost);
    return GPUME_OK;
}

static uint32_t *information_at(const struct gpume_analysis *a, uint64_t frame)
{
    return a->information + frame % a->frames_max * a->blocks;
}

/* The frame's, and those of all frames before it on the way. */
static const uint32_t *information_of(struct gpume_analysis *a, uint64_t frame)
{
    for (; a->informed <= frame; a->informed++) {
        struct gpume_frame_facts facts;
        gpume_lookahead_facts(a->lookahead, a->informed, &facts);
        gpume_tree_information(a->blocks, facts.intra_costs,
            gpume_analysis_aq_offsets(a, a->informed), information_at(a, a->informed));
    }
    return information_at(a, frame);
}

int gpume_analysis_step(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, struct gpume_quality_step *step)
{
    struct gpume_analysis *a = opaque;
    struct gpume_frame_cost cost;
    struct gpume_frame_facts facts;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, past, future, &cost));
    gpume_lookahead_facts(a->lookahead, frame, &facts);
    *step = (struct gpume_quality_step){.tree = {.intra_costs = facts.intra_costs,
                                            .costs = cost.costs,
                                            .kinds = cost.kinds,
                                            .past = cost.past,
                                            .future = cost.future,
                                            .information = information_of(a, frame)},
        .aq_offsets = gpume_analysis_aq_offsets(a, frame)};
    return GPUME_OK;
}

/* --- decisions */

/* Of all frames that may be looked at. */
static void find_aq_offsets(struct gpume_analysis *a)
{
    for (; a->offset_end < a->seen; a->offset_end++) {
        const uint32_t *energies = gpume_lookahead_energies(a->lookahead, a->offset_end);
        if (energies) {
            uint32_t *scratch = information_at(a, a->offset_end); /* which is found later */
            gpume_aq_offsets(&a->params.options, energies, a->blocks, scratch,
                gpume_analysis_aq_offsets(a, a->offset_end));
        }
    }
}

static uint32_t count_skipped(const struct gpume_frame_cost *cost, uint32_t blocks)
{
    uint32_t skipped = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        skipped += gpume_coded_cost(cost->costs[i]) == 0 && cost->kinds[i] != GPUME_FROM_SELF;
    }
    return skipped;
}

static int report(struct gpume_analysis *a, const struct gpume_coding *coding)
{
    struct gpume_frame_cost cost;
    struct gpume_frame_facts facts;
    const uint64_t frame = coding->frame;
    GPUME_CHECK(gpume_lookahead_cost(a->lookahead, frame, coding->past, coding->future, &cost));
    gpume_lookahead_facts(a->lookahead, frame, &facts);
    GPUME_CHECK(coding->status);
    const struct gpume_decision decision = {
        .display = frame,
        .coded = a->coded++,
        .type = coding->type,
        .has_past = coding->past != frame,
        .has_future = coding->future != frame,
        .past = coding->past,
        .future = coding->future,
        .weight = cost.weight,
        .blocks_x = gpume_lookahead_blocks_x(a->lookahead),
        .blocks_y = gpume_lookahead_blocks_y(a->lookahead),
        .offsets = coding->offsets,
        .costs = cost.costs,
        .intra_costs = facts.intra_costs,
        .kinds = cost.kinds,
        .past_vectors = cost.past,
        .future_vectors = cost.future,
        .cost = cost.cost,
        .intra_cost = facts.intra_cost,
        .intra_blocks = cost.intra_blocks,
        .skipped_blocks = count_skipped(&cost, a->blocks),
        .spectrum = &coding->spectrum,
    };
    return a->params.decide(a->params.opaque, &decision);
}

static const int16_t *offsets_of(
    const struct gpume_analysis *a, const struct gpume_group *group, uint64_t frame)
{
    const int16_t *found = group->walk ? gpume_quality_offsets(group->walk, frame) : NULL;
    return found ? found : gpume_analysis_aq_offsets(a, frame);
}

static void add_coding(struct gpume_group *group, uint64_t frame, uint64_t past, uint64_t future)
{
    group->codings[group->coding_count++] = (struct gpume_coding){.frame = frame,
        .past = past,
        .future = future,
        .type = group->types[frame - group->first],
        .offsets = offsets_of(group->analysis, group, frame)};
}

/* A run in coded order: its end, the reference B frame, all others. */
static void add_run(struct gpume_group *group, uint64_t begin, uint64_t end)
{
    const enum gpume_frame_type *types = group->types;
    uint64_t middle = end;
    add_coding(group, end, types[end - group->first] <= GPUME_FRAME_I ? end : begin, end);
    for (uint64_t frame = begin + 1; frame < end; frame++) {
        if (types[frame - group->first] == GPUME_FRAME_B_REF) {
            middle = frame;
            add_coding(group, frame, begin, end);
        }
    }
    for (uint64_t frame = begin + 1; frame < end; frame++) {
        if (frame != middle) {
            add_coding(
                group, frame, frame < middle ? begin : middle, frame < middle ? middle : end);
        }
    }
}

static void list_codings(struct gpume_group *group)
{
    uint64_t begin = group->first;
    group->coding_count = 0;
    if (begin == 0) {
        add_run(group, 0, 0);
    }
    for (uint64_t end = begin + 1; end <= group->first + group->count; end++) {
        if (!gpume_type_is_b(group->types[end - group->first])) {
            add_run(group, begin, end);
            begin = end;
        }
    }
}

/* Waits for what is still to be found of the oldest group, reports it, and forgets its frames. */
static int finish_group(struct gpume_analysis *a)
{
    const struct gpume_group *group = &a->groups[a->groups_begin % GPUME_GROUPS];
    const uint64_t start = gpume_clock_ns();
    gpume_workers_wait(a->workers, &group->measure);
    a->walk_wait_ns += gpume_clock_ns() - start;
    a->walking_ns += group->follow.busy_ns + group->measure.busy_ns;
    for (uint32_t i = 0; i < group->coding_count; i++) {
        GPUME_CHECK(report(a, &group->codings[i]));
    }
    const uint64_t end = group->first + group->count;
    gpume_lookahead_drop(a->lookahead, end);
    a->groups_begin++;
    pthread_mutex_lock(&a->mutex);
    a->dropped = end;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->mutex);
    return GPUME_OK;
}

static void follow(void *opaque, uint32_t item)
{
    const struct gpume_group *group = opaque;
    (void)item;
    gpume_quality_follow(group->analysis->quality, group->walk);
}

static void measure(void *opaque, uint32_t item)
{
    struct gpume_group *group = opaque;
    struct gpume_coding *coding = &group->codings[item];
    coding->status = gpume_lookahead_spectrum(group->analysis->lookahead, coding->frame,
        coding->past, coding->future, coding->offsets, &coding->spectrum);
}

static struct gpume_group *last_group(struct gpume_analysis *a)
{
    return &a->groups[(a->groups_end - 1) % GPUME_GROUPS];
}

/* Makes sure that there is a group to add runs to. Its first frame is treated as an intra frame, so
 * that the walk does not look at frames before it. */
static int open_group(struct gpume_analysis *a)
{
    if (a->group_open) {
        return GPUME_OK;
    }
    if (a->groups_end - a->groups_begin == a->groups_max) {
        GPUME_CHECK(finish_group(a));
    }
    a->groups_end++;
    a->group_open = true;
    *last_group(a) =
        (struct gpume_group){.analysis = a, .first = a->last, .types = {GPUME_FRAME_IDR}};
    return GPUME_OK;
}

/* While the walk is followed and spectra are measured, types of the next group can be decided. */
static int close_group(struct gpume_analysis *a)
{
    struct gpume_group *group = last_group(a);
    struct gpume_step *steps[] = {&group->follow, &group->measure};
    const struct gpume_stretch stretch = {group->first, group->known + 1, group->types};
    if (a->quality) {
        GPUME_CHECK(gpume_quality_prepare(a->quality, &stretch, group->count, &group->walk));
    }
    list_codings(group);
    group->follow =
        (struct gpume_step){.fn = follow, .opaque = group, .count = group->walk ? 1 : 0};
    group->measure = (struct gpume_step){
        .fn = measure, .opaque = group, .count = group->coding_count, .after = {&group->follow}};
    gpume_workers_add(a->workers, steps, 2);
    a->group_open = false;
    return GPUME_OK;
}

int gpume_analysis_decide(struct gpume_analysis *a)
{
    const uint32_t count = (uint32_t)gpume_min_u64(a->seen - 1 - a->last, a->window);
    uint32_t decided = 0;
    find_aq_offsets(a);
    GPUME_CHECK(open_group(a));
    struct gpume_group *group = last_group(a);
    enum gpume_frame_type *types = group->types + group->count + 1;
    if (count > 0) {
        GPUME_CHECK(gpume_types_decide(&a->types, a->last, count, types, &decided));
        a->last += decided;
        gpume_types_commit(&a->types, a->last, types[decided - 1]);
    }
    group->known = group->count + count;
    group->count += decided;
    return group->count < GPUME_GROUP_FRAMES ? GPUME_OK : close_group(a);
}

int gpume_analysis_finish_groups(struct gpume_analysis *a)
{
    if (a->group_open) {
        GPUME_CHECK(close_group(a));
    }
    while (a->groups_begin < a->groups_end) {
        GPUME_CHECK(finish_group(a));
    }
    return GPUME_OK;
}
