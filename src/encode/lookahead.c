/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/lookahead.h"

#include "base/grid.h"
#include "base/status.h"
#include "encode/choice.h"
#include "encode/lookahead_state.h"

#include <assert.h>
#include <stdlib.h>

/* The second number of pairs with a weighted reference, which are not looked for. */
#define WEIGHTED 1u
/* Frames that are weighted ahead, at most. */
#define PLANES_MAX 16u

/* --- frames */

static struct gpume_kept_frame *frame_at(const struct gpume_lookahead *l, uint64_t position)
{
    assert(position >= l->first && position < l->end);
    return &l->frames[position % l->params.frames_max];
}

/* Memory from a pool, for a list. NULL: out of memory. */
static struct gpume_link *take(struct gpume_lookahead *l, struct gpume_pool *pool)
{
    pthread_mutex_lock(&l->mutex);
    struct gpume_link *link = gpume_pool_take(pool);
    pthread_mutex_unlock(&l->mutex);
    return link;
}

/* Another thread may find it from now on. */
static void add(struct gpume_lookahead *l, struct gpume_link **list, struct gpume_link *link,
    uint64_t first, uint64_t second)
{
    pthread_mutex_lock(&l->mutex);
    *link = (struct gpume_link){*list, first, second};
    *list = link;
    pthread_mutex_unlock(&l->mutex);
}

/* NULL: there is none. */
static struct gpume_link *find(
    struct gpume_lookahead *l, struct gpume_link *const *list, uint64_t first, uint64_t second)
{
    pthread_mutex_lock(&l->mutex);
    struct gpume_link *link = *list;
    while (link && (link->first != first || link->second != second)) {
        link = link->next;
    }
    pthread_mutex_unlock(&l->mutex);
    return link;
}

/* A pair, new or in use before; NULL: out of memory. `half`: of the reference. */
static struct gpume_kept_pair *take_pair(
    struct gpume_lookahead *l, uint64_t target, uint64_t reference, const struct gpume_half *half)
{
    struct gpume_kept_frame *frame = frame_at(l, target);
    struct gpume_kept_pair *pair = (struct gpume_kept_pair *)take(l, &l->pairs);
    if (!pair) {
        return NULL;
    }
    struct gpume_vector *vectors = (struct gpume_vector *)(void *)(pair + 1);
    struct gpume_vector *coarse = vectors + l->blocks;
    const uint32_t coarse_count = gpume_coarse_count(l->blocks_x, l->blocks_y);
    *pair = (struct gpume_kept_pair){.match = {.target = &frame->half,
                                         .reference = half,
                                         .target_frame = target,
                                         .reference_frame = reference,
                                         .coarse = coarse,
                                         .vectors = vectors,
                                         .costs = (uint16_t *)(void *)(coarse + coarse_count)}};
    add(l, &frame->pairs, &pair->link, reference, half == &l->weighted ? WEIGHTED : 0);
    return pair;
}

static struct gpume_kept_pair *find_pair(
    struct gpume_lookahead *l, uint64_t target, uint64_t reference)
{
    return (struct gpume_kept_pair *)find(l, &frame_at(l, target)->pairs, reference, 0);
}

/* The pair of two frames, requested by now. Needs the mutex of requests. */
static int request(
    struct gpume_lookahead *l, uint64_t target, uint64_t reference, struct gpume_kept_pair **out)
{
    struct gpume_kept_pair *pair = find_pair(l, target, reference);
    if (!pair) {
        pair = take_pair(l, target, reference, &frame_at(l, reference)->half);
        if (!pair) {
            return gpume_log_nomem(&l->log, "a search of the lookahead");
        }
        GPUME_CHECK(gpume_searches_request(l->searches, &pair->match));
    }
    *out = pair;
    return GPUME_OK;
}

/* What a frame is predicted from; NULL: it has no such reference. */
struct sources {
    struct gpume_kept_pair *past, *future;
    struct gpume_kept_mean *mean; /* of both */
};

/* The mean of both matches, requested by now. Needs the mutex of requests. */
static int request_mean(struct gpume_lookahead *l, uint64_t frame, uint64_t past, uint64_t future,
    struct sources *sources)
{
    struct gpume_kept_frame *target = frame_at(l, frame);
    struct gpume_kept_mean *mean = (struct gpume_kept_mean *)find(l, &target->means, past, future);
    if (!mean) {
        mean = (struct gpume_kept_mean *)take(l, &l->means);
        if (!mean) {
            return gpume_log_nomem(&l->log, "a mean of the lookahead");
        }
        uint16_t *costs = (uint16_t *)(void *)(mean + 1);
        *mean = (struct gpume_kept_mean){
            .mean = {.past = &sources->past->match,
                .future = &sources->future->match,
                .past_share = gpume_past_share(l->params.shares, past, frame, future),
                .both = costs,
                .still = costs + l->blocks}};
        gpume_blocks_mean(l->work, &mean->mean);
        add(l, &target->means, &mean->link, past, future);
    }
    sources->mean = mean;
    return GPUME_OK;
}

/* All that a frame is predicted from, requested by now. Needs the mutex of requests. */
static int request_sources(struct gpume_lookahead *l, uint64_t frame, uint64_t past,
    uint64_t future, struct sources *sources)
{
    *sources = (struct sources){0};
    if (past != frame) {
        GPUME_CHECK(request(l, frame, past, &sources->past));
    }
    if (future != frame) {
        GPUME_CHECK(request(l, frame, future, &sources->future));
    }
    return past != frame && future != frame ? request_mean(l, frame, past, future, sources)
                                            : GPUME_OK;
}

static struct gpume_weight guess_weight(
    const struct gpume_kept_frame *target, const struct gpume_kept_frame *reference)
{
    const uint64_t samples = (uint64_t)target->half.width * target->half.height;
    return gpume_weight_guess(&target->luma, &reference->luma, samples);
}

/* Planes for weighted samples, if too many are not in use; NULL: they are, or out of memory. */
static struct gpume_link *take_planes(struct gpume_lookahead *l)
{
    pthread_mutex_lock(&l->mutex);
    struct gpume_link *planes = l->plane_count < PLANES_MAX ? gpume_pool_take(&l->planes) : NULL;
    l->plane_count += planes != NULL;
    pthread_mutex_unlock(&l->mutex);
    return planes;
}

/* Finds ahead what the frame costs by the weight of its past reference, if there is one. The
 * processor does not where many are under way. */
static int request_weighing(
    struct gpume_lookahead *l, uint64_t frame, uint64_t past, const struct sources *sources)
{
    struct gpume_kept_frame *target = frame_at(l, frame);
    const bool on_gpu = gpume_blocks_on_gpu(l->work);
    const struct gpume_weight weight = guess_weight(target, frame_at(l, past));
    struct gpume_link *planes = NULL;
    if (gpume_weight_is_none(&weight) || (!on_gpu && !(planes = take_planes(l)))) {
        return GPUME_OK;
    }
    struct gpume_kept_weighing *kept = (struct gpume_kept_weighing *)take(l, &l->weighings);
    if (!kept) {
        free(planes);
        return gpume_log_nomem(&l->log, "a weight of the lookahead");
    }
    uint16_t *costs = (uint16_t *)(void *)(kept + 1);
    *kept = (struct gpume_kept_weighing){.weighing = {.plain = &sources->past->match,
                                             .weight = weight,
                                             .moved = costs,
                                             .still = costs + l->blocks},
        .planes = planes};
    if (planes) {
        kept->weighing.weighted = gpume_half_at((uint8_t *)(planes + 1), l->blocks_x, l->blocks_y);
    }
    gpume_blocks_weigh(l->work, &kept->weighing);
    add(l, &target->weighings, &kept->link, past, 0);
    return GPUME_OK;
}

/* What another thread may add to meanwhile. */
static const struct gpume_link *first_of(struct gpume_lookahead *l, struct gpume_link *const *list)
{
    pthread_mutex_lock(&l->mutex);
    const struct gpume_link *first = *list;
    pthread_mutex_unlock(&l->mutex);
    return first;
}

/* Waits for the match. False: the search has failed, so jobs that need the match never start. The
 * failure is already logged, and the next call returns it too. */
static bool await(struct gpume_lookahead *l, const struct gpume_match *match)
{
    return gpume_searches_wait(l->searches, match) == GPUME_OK;
}

/* Returns when nothing that reads the planes of a past frame before `end` is under way any more.
 * Pairs with a weighted reference are complete once they are found. */
static void wait_for_frame(struct gpume_lookahead *l, struct gpume_kept_frame *frame, uint64_t end)
{
    const struct gpume_link *link = first_of(l, &frame->pairs);
    for (; link; link = link->next) {
        const struct gpume_match *match = &((const struct gpume_kept_pair *)link)->match;
        if (link->second != WEIGHTED && match->reference_frame < end) {
            (void)await(l, match);
        }
    }
    for (link = first_of(l, &frame->means); link; link = link->next) {
        const struct gpume_kept_mean *kept = (const struct gpume_kept_mean *)link;
        if (link->first < end && await(l, kept->mean.past) && await(l, kept->mean.future)) {
            gpume_blocks_wait(l->work, &kept->mean.job);
        }
    }
    for (link = first_of(l, &frame->weighings); link; link = link->next) {
        const struct gpume_weighing *weighing =
            &((const struct gpume_kept_weighing *)link)->weighing;
        if (link->first < end && await(l, weighing->plain)) {
            gpume_blocks_wait(l->work, &weighing->job);
        }
    }
}

/* --- frames come and go */

/* Requests what will be asked for of a frame, by the distances to its references. */
static int request_expected(
    struct gpume_lookahead *l, uint64_t frame, uint32_t past, uint32_t future)
{
    struct sources sources;
    GPUME_CHECK(request_sources(l, frame, frame - past, frame + future, &sources));
    return past > 0 && future == 0 && l->params.weights
               ? request_weighing(l, frame, frame - past, &sources)
               : GPUME_OK;
}

/* The first frame of which a prediction has to be requested; none before `oldest` is touched. */
static uint64_t first_expected(
    struct gpume_lookahead *l, uint64_t oldest, uint32_t past, uint32_t future, uint64_t end)
{
    pthread_mutex_lock(&l->mutex);
    struct gpume_habit *habit = &l->habits.of[past][future];
    uint64_t first = end;
    if (past + future > 0 && gpume_habits_expects(&l->habits, past, future)) {
        first = gpume_max_u64(habit->next, oldest + past);
        habit->next = gpume_max_u64(habit->next, end);
    }
    pthread_mutex_unlock(&l->mutex);
    return first;
}

/* Requests all that the newest frame makes possible and that will be asked for: also of frames just
 * before it, if that has not been seen before. */
static int request_ahead(struct gpume_lookahead *l)
{
    const uint64_t newest = l->end - 1;
    const uint32_t most = l->params.distance_max;
    const uint64_t oldest = newest - gpume_min_u64(newest - l->first, most);
    for (uint32_t past = 0; past <= most; past++) {
        for (uint32_t future = 0; future <= most && future <= newest; future++) {
            const uint64_t end = newest - future + 1;
            for (uint64_t frame = first_expected(l, oldest, past, future, end); frame < end;
                 frame++) {
                GPUME_CHECK(request_expected(l, frame, past, future));
            }
        }
    }
    return GPUME_OK;
}

int gpume_lookahead_send(struct gpume_lookahead *lookahead)
{
    struct gpume_lookahead *l = lookahead;
    const uint64_t position = l->end;
    l->end = position + 1;
    struct gpume_kept_frame *frame = frame_at(l, position);
    gpume_blocks_add(l->work, &frame->intra);
    GPUME_CHECK(gpume_searches_send(l->searches, &frame->half));
    if (l->ahead) {
        pthread_mutex_lock(&l->requests);
        const int status = request_ahead(l);
        pthread_mutex_unlock(&l->requests);
        GPUME_CHECK(status);
    }
    /* One half of the lag is for the searches, the other one for what follows. */
    const uint64_t pending = (uint64_t)gpume_lookahead_lag(l) / 2 * 2 * l->params.distance_max;
    return pending > 0 ? gpume_searches_drain(l->searches, pending) : GPUME_OK;
}

int gpume_lookahead_put(struct gpume_lookahead *lookahead, const struct gpume_plane *luma)
{
    gpume_lookahead_begin_reading(lookahead, luma);
    gpume_lookahead_complete_reading(lookahead);
    return gpume_lookahead_send(lookahead);
}

/* Later frames may still be searched in a frame that is being dropped; its planes must stay until
 * those searches end. */
static void wait_for_readers(struct gpume_lookahead *l, uint64_t first)
{
    const uint64_t end = gpume_min_u64(l->end, first + l->params.distance_max);
    for (uint64_t frame = first; l->ahead && frame < end; frame++) {
        wait_for_frame(l, frame_at(l, frame), first);
    }
}

void gpume_lookahead_drop(struct gpume_lookahead *lookahead, uint64_t first)
{
    struct gpume_lookahead *l = lookahead;
    assert(first <= l->end);
    for (uint64_t position = l->first; position < first; position++) {
        struct gpume_kept_frame *frame = frame_at(l, position);
        gpume_blocks_wait(l->work, &frame->intra.job);
        wait_for_frame(l, frame, UINT64_MAX);
    }
    wait_for_readers(l, first);
    for (; l->first < first; l->first++) {
        pthread_mutex_lock(&l->mutex);
        gpume_kept_forget(l, frame_at(l, l->first));
        pthread_mutex_unlock(&l->mutex);
    }
}

const uint32_t *gpume_lookahead_energies(const struct gpume_lookahead *lookahead, uint64_t frame)
{
    return lookahead->params.energies ? frame_at(lookahead, frame)->energies : NULL;
}

/* Less than 2^16 costs for each of at most 2^32 blocks. */
static uint64_t sum_of(const uint16_t *costs, uint32_t blocks)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        sum += costs[i];
    }
    return sum;
}

void gpume_lookahead_facts(
    const struct gpume_lookahead *lookahead, uint64_t frame, struct gpume_frame_facts *facts)
{
    const struct gpume_kept_frame *f = frame_at(lookahead, frame);
    gpume_blocks_wait(lookahead->work, &f->intra.job);
    *facts = (struct gpume_frame_facts){
        .intra_costs = f->intra.costs,
        .intra_cost = sum_of(f->intra.costs, lookahead->blocks),
        .energies = gpume_lookahead_energies(lookahead, frame),
    };
}

/* --- costs */

/* Finds the weight of the past reference, beside its plain match; unless there is none, the
 * weighted samples are then in l->weighted. */
static struct gpume_weight find_weight(struct gpume_lookahead *l,
    const struct gpume_kept_frame *target, const struct gpume_kept_frame *reference,
    const struct gpume_match *match)
{
    const struct gpume_weight weight = guess_weight(target, reference);
    if (gpume_weight_is_none(&weight)) {
        return weight;
    }
    const struct gpume_plain_costs plain = {target->intra.costs, match->costs, match->vectors};
    struct gpume_kept_weighing *kept =
        (struct gpume_kept_weighing *)find(l, &target->weighings, match->reference_frame, 0);
    if (kept) {
        gpume_blocks_wait(l->work, &kept->weighing.job);
        pthread_mutex_lock(&l->mutex);
        gpume_kept_give_planes(l, kept);
        pthread_mutex_unlock(&l->mutex);
    }
    const bool known = kept && kept->weighing.found;
    if (known &&
        !gpume_weight_pays_at(&target->half, &plain, kept->weighing.still, kept->weighing.moved)) {
        return GPUME_WEIGHT_NONE;
    }
    gpume_weight_apply(&l->split, &weight, &reference->half, &l->weighted);
    return known || gpume_weight_pays(
                        &l->split, &target->half, &plain, &l->weighted, l->weighted_costs)
               ? weight
               : GPUME_WEIGHT_NONE;
}

/* Searches the frame in l->weighted. */
static int search_weighted(struct gpume_lookahead *l, uint64_t target, struct gpume_kept_pair **out)
{
    const uint64_t number = 2 * l->weighted_count++;
    struct gpume_kept_pair *pair = take_pair(l, target, number, &l->weighted);
    if (!pair) {
        return gpume_log_nomem(&l->log, "a search of the lookahead");
    }
    pair->match.target_frame = number + 1;
    GPUME_CHECK(gpume_searches_send(l->weighted_searches, &l->weighted));
    GPUME_CHECK(gpume_searches_send(l->weighted_searches, &frame_at(l, target)->half));
    GPUME_CHECK(gpume_searches_request(l->weighted_searches, &pair->match));
    GPUME_CHECK(gpume_searches_wait(l->weighted_searches, &pair->match));
    *out = pair;
    return GPUME_OK;
}

/* Weighs the past reference, which is the only one; its plain match is ready. */
static int weigh_past(struct gpume_lookahead *l, uint64_t frame, uint64_t past,
    struct gpume_weight *weight, struct gpume_kept_pair **pair)
{
    pthread_mutex_lock(&l->weighing);
    *weight = find_weight(l, frame_at(l, frame), frame_at(l, past), &(*pair)->match);
    const int status = gpume_weight_is_none(weight) ? GPUME_OK : search_weighted(l, frame, pair);
    pthread_mutex_unlock(&l->weighing);
    return status;
}

static int await_sources(
    struct gpume_lookahead *l, const struct gpume_kept_frame *target, const struct sources *sources)
{
    if (sources->past) {
        GPUME_CHECK(gpume_searches_wait(l->searches, &sources->past->match));
    }
    if (sources->future) {
        GPUME_CHECK(gpume_searches_wait(l->searches, &sources->future->match));
    }
    if (sources->mean) {
        gpume_blocks_wait(l->work, &sources->mean->mean.job);
    }
    gpume_blocks_wait(l->work, &target->intra.job);
    return GPUME_OK;
}

static int evaluate(struct gpume_lookahead *l, uint64_t frame, uint64_t past, uint64_t future,
    struct gpume_kept_result **out)
{
    const struct gpume_kept_frame *target = frame_at(l, frame);
    struct sources sources;
    struct gpume_weight weight = GPUME_WEIGHT_NONE;
    pthread_mutex_lock(&l->requests);
    const int status = request_sources(l, frame, past, future, &sources);
    pthread_mutex_unlock(&l->requests);
    GPUME_CHECK(status);
    GPUME_CHECK(await_sources(l, target, &sources));
    if (l->params.weights && sources.past && !sources.future) {
        GPUME_CHECK(weigh_past(l, frame, past, &weight, &sources.past));
    }
    struct gpume_kept_result *result = (struct gpume_kept_result *)take(l, &l->results);
    if (!result) {
        return gpume_log_nomem(&l->log, "costs of the lookahead");
    }
    uint16_t *costs = (uint16_t *)(void *)(result + 1);
    const struct gpume_choice choice = {.target = &target->half,
        .intra_costs = target->intra.costs,
        .past = sources.past ? &sources.past->match : NULL,
        .future = sources.future ? &sources.future->match : NULL,
        .mean = sources.mean ? &sources.mean->mean : NULL,
        .costs = costs,
        .kinds = (uint8_t *)(costs + l->blocks)};
    result->cost = gpume_choose(&choice);
    result->cost.weight = weight;
    *out = result;
    return GPUME_OK;
}

void gpume_lookahead_expect(struct gpume_lookahead *lookahead, uint32_t past, uint32_t future)
{
    gpume_habits_expect(&lookahead->habits, past, future);
}

static int find_cost(struct gpume_lookahead *l, uint64_t frame, uint64_t past, uint64_t future,
    struct gpume_kept_result **out)
{
    struct gpume_link **results = &frame_at(l, frame)->results;
    *out = (struct gpume_kept_result *)find(l, results, past, future);
    if (!*out) {
        GPUME_CHECK(evaluate(l, frame, past, future, out));
        add(l, results, &(*out)->link, past, future);
    }
    return GPUME_OK;
}

int gpume_lookahead_cost(struct gpume_lookahead *lookahead, uint64_t frame, uint64_t past,
    uint64_t future, struct gpume_frame_cost *cost)
{
    struct gpume_lookahead *l = lookahead;
    const uint64_t before = frame - past, after = future - frame;
    struct gpume_kept_result *result;
    assert(before <= l->params.distance_max && after <= l->params.distance_max);
    pthread_mutex_lock(&l->mutex);
    gpume_habits_note(&l->habits, frame, (uint32_t)before, (uint32_t)after);
    pthread_mutex_unlock(&l->mutex);
    GPUME_CHECK(find_cost(l, frame, past, future, &result));
    *cost = result->cost;
    return GPUME_OK;
}

static bool is_expected(struct gpume_lookahead *l, uint32_t past, uint32_t future)
{
    pthread_mutex_lock(&l->mutex);
    const bool expected = gpume_habits_expects(&l->habits, past, future);
    pthread_mutex_unlock(&l->mutex);
    return expected;
}

int gpume_lookahead_find_expected(struct gpume_lookahead *lookahead, uint64_t newest)
{
    struct gpume_lookahead *l = lookahead;
    const uint64_t reach = gpume_min_u64(newest - l->first, l->params.distance_max);
    for (uint32_t past = 0; past <= reach; past++) {
        for (uint32_t future = 0; past + future <= reach; future++) {
            const uint64_t frame = newest - future;
            struct gpume_kept_result *result;
            if (is_expected(l, past, future)) {
                GPUME_CHECK(find_cost(l, frame, frame - past, newest, &result));
            }
        }
    }
    return GPUME_OK;
}

int gpume_lookahead_spectrum(struct gpume_lookahead *lookahead, uint64_t frame, uint64_t past,
    uint64_t future, const int16_t *offsets, struct gpume_spectrum *spectrum)
{
    struct gpume_frame_cost cost;
    GPUME_CHECK(gpume_lookahead_cost(lookahead, frame, past, future, &cost));
    const struct gpume_predicted predicted = {
        .frame = frame,
        .target = &frame_at(lookahead, frame)->half,
        .past = {&frame_at(lookahead, past)->half, cost.past},
        .future = {&frame_at(lookahead, future)->half, cost.future},
        .past_share = gpume_past_share(lookahead->params.shares, past, frame, future),
        .weight = cost.weight,
        .distance = frame - past,
        .kinds = cost.kinds,
        .costs = cost.costs,
        .offsets = offsets,
    };
    gpume_spectrum_measure(spectrum, &predicted);
    return GPUME_OK;
}
