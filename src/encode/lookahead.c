/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* madvise */
#include "encode/lookahead.h"

#include "base/base.h"
#include "base/log.h"
#include "base/os.h"
#include "encode/blocks.h"
#include "encode/choice.h"
#include "encode/habits.h"
#include "encode/half.h"
#include "encode/kernels/kernels.h"
#include "encode/split.h"
#include "encode/weights.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__linux__) && !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; older ones refuse it */
#endif

/* With blocks on a GPU the processor has only short tasks left. */
#define SPLIT_THREADS 8u
/* Searching is so small a part of the processor's work: one of as many threads. */
#define SEARCH_SHARE 4u
/* Weighted references are searched one at a time. */
#define WEIGHTED_THREADS 8u
/* The second number of pairs with a weighted reference, which are not looked for. */
#define WEIGHTED 1u

/* Before memory is written for the first time: the system then provides its pages at once, where it
 * can, in two thirds of the time that it takes to provide one after the other. */
static void provide_pages(void *memory, size_t bytes)
{
#if defined(MADV_POPULATE_WRITE)
    const long page = sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
    if (page > 0 && bytes >= 4 * (size_t)page) {
        const uintptr_t mask = (uintptr_t)page - 1, first = begin & ~mask;
        (void)madvise((void *)first, ((end + mask) & ~mask) - first, MADV_POPULATE_WRITE);
    }
#else
    (void)memory;
    (void)bytes;
#endif
}

/* Frames that are weighted ahead, at most. */
#define PLANES_MAX 16u

/* --- pieces of memory of one size, in lists; those that are given back are taken again */

/* The first member of what lies in a piece. */
struct link {
    struct link *next;
    uint64_t first, second; /* numbers by which it is found */
};

/* Pieces are cut from slabs, so that the system is seldom asked for memory. */
#define SLAB_BYTES ((size_t)256 << 10)

struct pool_slab {
    struct pool_slab *next;
    _Alignas(max_align_t) uint8_t pieces[];
};

struct pool {
    size_t bytes; /* of a piece, a multiple of its alignment */
    struct link *free;
    struct pool_slab *slabs;
    uint8_t *fresh; /* pieces of the first slab that were never taken */
    size_t fresh_count;
};

static struct pool pool_of(size_t piece_bytes)
{
    return (struct pool){.bytes = gpume_round_up(piece_bytes, _Alignof(max_align_t))};
}

static bool add_slab(struct pool *pool)
{
    const size_t count = (size_t)gpume_max_u64(SLAB_BYTES / pool->bytes, 1);
    const size_t bytes = sizeof(struct pool_slab) + count * pool->bytes;
    struct pool_slab *slab = malloc(bytes);
    if (!slab) {
        return false;
    }
    provide_pages(slab, bytes);
    slab->next = pool->slabs;
    pool->slabs = slab;
    pool->fresh = slab->pieces;
    pool->fresh_count = count;
    return true;
}

/* With undefined content. NULL: out of memory. */
static struct link *pool_take(struct pool *pool)
{
    struct link *link = pool->free;
    if (link) {
        pool->free = link->next;
    } else if (pool->fresh_count > 0 || add_slab(pool)) {
        link = (struct link *)(void *)pool->fresh;
        pool->fresh += pool->bytes;
        pool->fresh_count--;
    }
    return link;
}

/* Gives a list back, which is then empty. */
static void pool_give(struct pool *pool, struct link **list)
{
    while (*list) {
        struct link *link = *list;
        *list = link->next;
        link->next = pool->free;
        pool->free = link;
    }
}

/* Frees all pieces. */
static void pool_finish(struct pool *pool)
{
    while (pool->slabs) {
        struct pool_slab *slab = pool->slabs;
        pool->slabs = slab->next;
        free(slab);
    }
}

/* --- what a lookahead consists of */

/* The match of a frame in one reference. */
struct kept_pair {
    struct link link;
    struct gpume_match match;
};

struct kept_mean {
    struct link link;
    struct gpume_mean mean;
};

struct kept_weighing {
    struct link link;
    struct gpume_weighing weighing;
    struct link *planes; /* the processor's, for the weighted samples; NULL: given back */
};

struct kept_result {
    struct link link;
    struct gpume_frame_cost cost;
};

struct window_frame {
    struct gpume_half half;
    struct gpume_intra intra;
    uint32_t *energies;
    struct gpume_luma_stats luma;
    struct link *pairs;           /* by reference, and 0; with a weighted one never found */
    struct link *weighings;       /* by past reference, and 0 */
    struct link *means, *results; /* by past and future reference */
};

/* A frame that is being read. */
struct frame_reading {
    struct gpume_step step;
    const struct gpume_lookahead *lookahead;
    struct window_frame *frame;
    struct gpume_plane luma;
    uint8_t *bands;               /* one for each row of blocks */
    struct gpume_luma_sums *sums; /* the same */
};

struct gpume_lookahead {
    struct gpume_lookahead_params params;
    struct gpume_log log;
    uint32_t blocks_x, blocks_y, blocks;
    atomic_uint_fast64_t first, end; /* positions of the frames that are kept */
    uint64_t begun, read;            /* the same: the ends of those that are, or have been, read */
    struct window_frame *frames;     /* position % params.frames_max */
    uint16_t *all_intra_costs;
    uint32_t *all_energies;
    bool ahead; /* it works before it is asked */
    struct gpume_split split;
    struct frame_reading readings[GPUME_READINGS_MAX]; /* position % count */
    uint32_t reading_count;
    uint16_t *weighted_costs; /* of two frames */
    pthread_mutex_t requests; /* one thread at a time makes them */
    pthread_mutex_t weighing; /* for all weighted* */
    pthread_mutex_t mutex;    /* for lists, pools and habits */
    struct gpume_habits habits;
    struct gpume_searches *searches;
    struct gpume_blocks *work; /* of the searches */
    /* Searches in a weighted reference: frame 2n is the reference, 2n + 1 the target. */
    struct gpume_half weighted;
    struct gpume_searches *weighted_searches;
    uint64_t weighted_count;
    struct pool pairs, means, weighings, results;
    struct pool planes;   /* of weighted references that are compared with plain ones ahead */
    uint32_t plane_count; /* those in use */
};

/* When nothing reads or writes them any more; NULL is fine. */
static void give_planes(struct gpume_lookahead *lookahead, struct link **planes)
{
    if (*planes) {
        pthread_mutex_lock(&lookahead->mutex);
        (*planes)->next = NULL;
        pool_give(&lookahead->planes, planes);
        lookahead->plane_count--;
        pthread_mutex_unlock(&lookahead->mutex);
    }
}

/* Forgets what is known of the frame beside others. */
static void forget_frame(struct gpume_lookahead *lookahead, struct window_frame *frame)
{
    for (struct link *link = frame->weighings; link; link = link->next) {
        give_planes(lookahead, &((struct kept_weighing *)link)->planes);
    }
    pthread_mutex_lock(&lookahead->mutex);
    pool_give(&lookahead->pairs, &frame->pairs);
    pool_give(&lookahead->means, &frame->means);
    pool_give(&lookahead->weighings, &frame->weighings);
    pool_give(&lookahead->results, &frame->results);
    pthread_mutex_unlock(&lookahead->mutex);
}

/* --- reading frames into half planes */

static void read_row(void *opaque, uint32_t y)
{
    const struct frame_reading *r = opaque;
    const struct gpume_lookahead *l = r->lookahead;
    uint8_t *memory = r->bands + (size_t)y * l->blocks_x * GPUME_BAND_BYTES;
    const struct gpume_band band = gpume_band_read(memory, &r->luma, l->blocks_x, y);
    gpume_half_write(&r->frame->half, &band, y);
    if (l->params.energies) {
        gpume_encode_kernels()->energies(
            &band, l->blocks_x, r->frame->energies + (size_t)y * l->blocks_x);
    }
    r->sums[y] = (struct gpume_luma_sums){0};
    gpume_luma_add(&r->sums[y], &r->frame->half, y * GPUME_HALF_BLOCK, (y + 1) * GPUME_HALF_BLOCK);
}

/* Frames that their owner lends are read side by side, if another thread works on. After the split
 * has been opened; false: out of memory. */
static bool open_readings(struct gpume_lookahead *lookahead)
{
    struct gpume_lookahead *l = lookahead;
    bool complete = true;
    l->reading_count = l->ahead ? gpume_min_u32(1 + l->params.lent, GPUME_READINGS_MAX) : 1;
    for (uint32_t i = 0; i < l->reading_count; i++) {
        struct frame_reading *reading = &l->readings[i];
        *reading = (struct frame_reading){
            .step = gpume_split_step(&l->split, GPUME_SPLIT_READ, read_row, reading),
            .lookahead = l,
            .bands = calloc(l->blocks, GPUME_BAND_BYTES),
            .sums = calloc(l->blocks_y, sizeof(*reading->sums)),
        };
        complete = complete && reading->bands && reading->sums;
    }
    return complete;
}

/* When no thread reads any more. */
static void close_readings(struct gpume_lookahead *lookahead)
{
    for (uint32_t i = 0; i < lookahead->reading_count; i++) {
        free(lookahead->readings[i].sums);
        free(lookahead->readings[i].bands);
    }
}

uint32_t gpume_lookahead_readings(const struct gpume_lookahead *lookahead)
{
    return lookahead->reading_count;
}

void gpume_lookahead_begin_reading(
    struct gpume_lookahead *lookahead, const struct gpume_plane *luma)
{
    struct gpume_lookahead *l = lookahead;
    assert(l->begun - l->first < l->params.frames_max && l->begun - l->read < l->reading_count);
    struct frame_reading *reading = &l->readings[l->begun % l->reading_count];
    struct gpume_step *step = &reading->step;
    reading->frame = &l->frames[l->begun % l->params.frames_max];
    if (l->begun++ < l->params.frames_max) {
        const struct gpume_half *half = &reading->frame->half;
        const ptrdiff_t margin = GPUME_HALF_MARGIN * (half->stride + 1);
        provide_pages(half->samples - margin, gpume_half_bytes(l->blocks_x, l->blocks_y));
    }
    reading->luma = *luma;
    gpume_workers_add(l->split.workers, &step, 1);
}

void gpume_lookahead_complete_reading(struct gpume_lookahead *lookahead)
{
    struct gpume_lookahead *l = lookahead;
    const struct frame_reading *reading = &l->readings[l->read % l->reading_count];
    struct window_frame *frame = reading->frame;
    struct gpume_luma_sums sums = {0};
    gpume_workers_wait(l->split.workers, &reading->step);
    for (uint32_t y = 0; y < l->blocks_y; y++) {
        sums.samples += reading->sums[y].samples;
        sums.squares += reading->sums[y].squares;
    }
    frame->luma = gpume_luma_stats(&sums, &frame->half);
    frame->intra.half = &frame->half;
    frame->intra.frame = l->read++;
}

/* --- open, close */

static uint32_t threads_of(const struct gpume_lookahead *l)
{
    return l->params.threads ? l->params.threads : gpume_workers_processors();
}

static int open_searches(struct gpume_lookahead *l)
{
    struct gpume_blocks_params params = {
        .blocks_x = l->blocks_x,
        .blocks_y = l->blocks_y,
        .frames = l->params.frames_max,
        .backend = l->params.backend,
        .device = l->params.device,
        .threads = gpume_max_u32(1, threads_of(l) / SEARCH_SHARE),
        .split = &l->split,
        .cache_dir = l->params.cache_dir,
        .log = l->params.log,
        .log_opaque = l->params.log_opaque,
    };
    GPUME_CHECK(gpume_searches_open(&l->searches, &params));
    l->work = gpume_searches_blocks(l->searches);
    l->ahead = threads_of(l) > 1 || gpume_searches_on_gpu(l->searches);
    if (!l->params.weights) {
        return GPUME_OK;
    }
    /* Few pairs need it, one at a time: nothing for a GPU. */
    params.frames = 2;
    params.backend = GPUME_BACKEND_CPU;
    params.device = NULL;
    params.threads = gpume_min_u32(threads_of(l), WEIGHTED_THREADS);
    GPUME_CHECK(gpume_searches_open(&l->weighted_searches, &params));
    l->weighted = gpume_blocks_half(gpume_searches_blocks(l->weighted_searches), 0);
    return GPUME_OK;
}

static int allocate(struct gpume_lookahead *l)
{
    const uint32_t count = l->params.frames_max;
    const bool has_readings = open_readings(l);
    l->frames = calloc(count, sizeof(*l->frames));
    l->all_intra_costs = calloc((size_t)count * l->blocks, sizeof(*l->all_intra_costs));
    l->all_energies = calloc((size_t)count * l->blocks, sizeof(*l->all_energies));
    l->weighted_costs = calloc((size_t)2 * l->blocks, sizeof(*l->weighted_costs));
    if (!l->frames || !l->all_intra_costs || !l->all_energies || !has_readings ||
        !l->weighted_costs) {
        return gpume_log_nomem(&l->log, "the frames of the lookahead");
    }
    for (uint32_t i = 0; i < count; i++) {
        l->frames[i] = (struct window_frame){
            .half = gpume_blocks_half(l->work, i),
            .intra.costs = l->all_intra_costs + (size_t)i * l->blocks,
            .energies = l->all_energies + (size_t)i * l->blocks,
        };
    }
    if (!gpume_blocks_on_gpu(l->work)) {
        const struct gpume_half *half = &l->frames[0].half;
        gpume_os_prefer_large_pages(half->samples - GPUME_HALF_MARGIN * (half->stride + 1),
            count * gpume_half_bytes(l->blocks_x, l->blocks_y));
    }
    return GPUME_OK;
}

int gpume_lookahead_open(
    struct gpume_lookahead **lookahead, const struct gpume_lookahead_params *params)
{
    const struct gpume_log log = {params->log, params->log_opaque};
    assert(
        params->distance_max < params->frames_max && params->distance_max < GPUME_HABIT_DISTANCES);
    struct gpume_lookahead *l = calloc(1, sizeof(*l));
    if (!l) {
        return gpume_log_nomem(&log, "the lookahead");
    }
    l->params = *params;
    l->log = log;
    pthread_mutex_init(&l->requests, NULL);
    pthread_mutex_init(&l->weighing, NULL);
    pthread_mutex_init(&l->mutex, NULL);
    l->blocks_x = (uint32_t)gpume_div_up(params->width, GPUME_SQUARE);
    l->blocks_y = (uint32_t)gpume_div_up(params->height, GPUME_SQUARE);
    l->blocks = l->blocks_x * l->blocks_y;
    l->pairs = pool_of(sizeof(struct kept_pair) +
                       l->blocks * (sizeof(struct gpume_vector) + sizeof(uint16_t)) +
                       gpume_coarse_count(l->blocks_x, l->blocks_y) * sizeof(struct gpume_vector));
    l->means = pool_of(sizeof(struct kept_mean) + (size_t)l->blocks * 2 * sizeof(uint16_t));
    l->weighings = pool_of(sizeof(struct kept_weighing) + (size_t)l->blocks * 2 * sizeof(uint16_t));
    l->planes = pool_of(sizeof(struct link) + gpume_half_bytes(l->blocks_x, l->blocks_y));
    l->results =
        pool_of(sizeof(struct kept_result) + l->blocks * (sizeof(uint16_t) + sizeof(uint8_t)));
    int status;
    GPUME_TRY(open_searches(l));
    const uint32_t most = gpume_blocks_on_gpu(l->work) ? SPLIT_THREADS : UINT32_MAX;
    GPUME_TRY(gpume_split_init(&l->split, l->blocks_y, gpume_min_u32(threads_of(l), most), &log));
    GPUME_TRY(allocate(l));
    *lookahead = l;
    return GPUME_OK;
fail:
    gpume_lookahead_close(&l);
    return status;
}

void gpume_lookahead_close(struct gpume_lookahead **lookahead)
{
    struct gpume_lookahead *l = *lookahead;
    if (!l) {
        return;
    }
    if (l->searches) {
        gpume_searches_end(l->searches);
    }
    gpume_split_finish(&l->split); /* no step reads or writes any more */
    close_readings(l);
    gpume_searches_close(&l->searches);
    gpume_searches_close(&l->weighted_searches);
    for (uint32_t i = 0; l->frames && i < l->params.frames_max; i++) {
        forget_frame(l, &l->frames[i]);
    }
    pool_finish(&l->pairs);
    pool_finish(&l->means);
    pool_finish(&l->weighings);
    pool_finish(&l->planes);
    pool_finish(&l->results);
    free(l->weighted_costs);
    free(l->all_energies);
    free(l->all_intra_costs);
    free(l->frames);
    pthread_mutex_destroy(&l->mutex);
    pthread_mutex_destroy(&l->weighing);
    pthread_mutex_destroy(&l->requests);
    free(l);
    *lookahead = NULL;
}

const char *gpume_lookahead_engine(const struct gpume_lookahead *lookahead)
{
    return gpume_searches_engine(lookahead->searches);
}

uint32_t gpume_lookahead_lag(const struct gpume_lookahead *lookahead)
{
    return lookahead->ahead ? GPUME_LOOKAHEAD_LAG : 0;
}

struct gpume_workers *gpume_lookahead_workers(const struct gpume_lookahead *lookahead)
{
    return lookahead->split.workers;
}

uint32_t gpume_lookahead_blocks_x(const struct gpume_lookahead *lookahead)
{
    return lookahead->blocks_x;
}

uint32_t gpume_lookahead_blocks_y(const struct gpume_lookahead *lookahead)
{
    return lookahead->blocks_y;
}

/* --- frames */

static struct window_frame *frame_at(const struct gpume_lookahead *l, uint64_t position)
{
    assert(position >= l->first && position < l->end);
    return &l->frames[position % l->params.frames_max];
}

/* Memory from a pool, for a list. NULL: out of memory. */
static struct link *take_from(struct gpume_lookahead *l, struct pool *pool)
{
    pthread_mutex_lock(&l->mutex);
    struct link *link = pool_take(pool);
    pthread_mutex_unlock(&l->mutex);
    return link;
}

/* Another thread may find it from now on. */
static void add_to_list(struct gpume_lookahead *l, struct link **list, struct link *link,
    uint64_t first, uint64_t second)
{
    pthread_mutex_lock(&l->mutex);
    *link = (struct link){*list, first, second};
    *list = link;
    pthread_mutex_unlock(&l->mutex);
}

/* NULL: there is none. */
static struct link *find_in_list(
    struct gpume_lookahead *l, struct link *const *list, uint64_t first, uint64_t second)
{
    pthread_mutex_lock(&l->mutex);
    struct link *link = *list;
    while (link && (link->first != first || link->second != second)) {
        link = link->next;
    }
    pthread_mutex_unlock(&l->mutex);
    return link;
}

/* A pair, new or in use before; NULL: out of memory. `half`: of the reference. */
static struct kept_pair *take_pair(
    struct gpume_lookahead *l, uint64_t target, uint64_t reference, const struct gpume_half *half)
{
    struct window_frame *frame = frame_at(l, target);
    struct kept_pair *pair = (struct kept_pair *)take_from(l, &l->pairs);
    if (!pair) {
        return NULL;
    }
    struct gpume_vector *vectors = (struct gpume_vector *)(void *)(pair + 1);
    struct gpume_vector *coarse = vectors + l->blocks;
    const uint32_t coarse_count = gpume_coarse_count(l->blocks_x, l->blocks_y);
    *pair = (struct kept_pair){.match = {.target = &frame->half,
                                   .reference = half,
                                   .target_frame = target,
                                   .reference_frame = reference,
                                   .coarse = coarse,
                                   .vectors = vectors,
                                   .costs = (uint16_t *)(void *)(coarse + coarse_count)}};
    add_to_list(l, &frame->pairs, &pair->link, reference, half == &l->weighted ? WEIGHTED : 0);
    return pair;
}

/* The pair of two frames, requested by now. Call with the mutex of requests held. */
static int request_pair(
    struct gpume_lookahead *l, uint64_t target, uint64_t reference, struct kept_pair **out)
{
    struct kept_pair *pair =
        (struct kept_pair *)find_in_list(l, &frame_at(l, target)->pairs, reference, 0);
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
    struct kept_pair *past, *future;
    struct kept_mean *mean; /* of both */
};

/* The mean of both matches, requested by now. Call with the mutex of requests held. */
static int request_mean(struct gpume_lookahead *l, uint64_t frame, uint64_t past, uint64_t future,
    struct sources *sources)
{
    struct window_frame *target = frame_at(l, frame);
    struct kept_mean *mean = (struct kept_mean *)find_in_list(l, &target->means, past, future);
    if (!mean) {
        mean = (struct kept_mean *)take_from(l, &l->means);
        if (!mean) {
            return gpume_log_nomem(&l->log, "a mean of the lookahead");
        }
        uint16_t *costs = (uint16_t *)(void *)(mean + 1);
        *mean = (struct kept_mean){
            .mean = {.past = &sources->past->match,
                .future = &sources->future->match,
                .past_share = gpume_past_share(l->params.shares, past, frame, future),
                .both = costs,
                .still = costs + l->blocks}};
        gpume_blocks_mean(l->work, &mean->mean);
        add_to_list(l, &target->means, &mean->link, past, future);
    }
    sources->mean = mean;
    return GPUME_OK;
}

/* All that a frame is predicted from, requested by now. Call with the mutex of requests held. */
static int request_sources(struct gpume_lookahead *l, uint64_t frame, uint64_t past,
    uint64_t future, struct sources *sources)
{
    *sources = (struct sources){0};
    if (past != frame) {
        GPUME_CHECK(request_pair(l, frame, past, &sources->past));
    }
    if (future != frame) {
        GPUME_CHECK(request_pair(l, frame, future, &sources->future));
    }
    return past != frame && future != frame ? request_mean(l, frame, past, future, sources)
                                            : GPUME_OK;
}

static struct gpume_weight guess_weight(
    const struct window_frame *target, const struct window_frame *reference)
{
    const uint64_t samples = (uint64_t)target->half.width * target->half.height;
    return gpume_weight_guess(&target->luma, &reference->luma, samples);
}

/* Planes for weighted samples, if too many are not in use; NULL: they are, or out of memory. */
static struct link *take_planes(struct gpume_lookahead *l)
{
    pthread_mutex_lock(&l->mutex);
    struct link *planes = l->plane_count < PLANES_MAX ? pool_take(&l->planes) : NULL;
    l->plane_count += planes != NULL;
    pthread_mutex_unlock(&l->mutex);
    return planes;
}

/* Finds ahead what the frame costs by the weight of its past reference, if there is one. The
 * processor does not where many are under way. */
static int request_weighing(
    struct gpume_lookahead *l, uint64_t frame, uint64_t past, const struct sources *sources)
{
    struct window_frame *target = frame_at(l, frame);
    const bool on_gpu = gpume_blocks_on_gpu(l->work);
    const struct gpume_weight weight = guess_weight(target, frame_at(l, past));
    struct link *planes = NULL;
    if (gpume_weight_is_none(&weight) || (!on_gpu && !(planes = take_planes(l)))) {
        return GPUME_OK;
    }
    struct kept_weighing *kept = (struct kept_weighing *)take_from(l, &l->weighings);
    if (!kept) {
        give_planes(l, &planes);
        return gpume_log_nomem(&l->log, "a weight of the lookahead");
    }
    uint16_t *costs = (uint16_t *)(void *)(kept + 1);
    *kept = (struct kept_weighing){.weighing = {.plain = &sources->past->match,
                                       .weight = weight,
                                       .moved = costs,
                                       .still = costs + l->blocks},
        .planes = planes};
    if (planes) {
        kept->weighing.weighted = gpume_half_at((uint8_t *)(planes + 1), l->blocks_x, l->blocks_y);
    }
    gpume_blocks_weigh(l->work, &kept->weighing);
    add_to_list(l, &target->weighings, &kept->link, past, 0);
    return GPUME_OK;
}

/* What another thread may add to meanwhile. */
static const struct link *first_of(struct gpume_lookahead *l, struct link *const *list)
{
    pthread_mutex_lock(&l->mutex);
    const struct link *first = *list;
    pthread_mutex_unlock(&l->mutex);
    return first;
}

/* Waits for the match. False: the search has failed, so jobs that need the match never start. The
 * failure is already logged, and the next call returns it too. */
static bool await_match(struct gpume_lookahead *l, const struct gpume_match *match)
{
    return gpume_searches_wait(l->searches, match) == GPUME_OK;
}

/* Returns when nothing that reads the planes of a past frame before `end` is under way any more.
 * Pairs with a weighted reference are complete once they are found. */
static void wait_for_frame(struct gpume_lookahead *l, struct window_frame *frame, uint64_t end)
{
    const struct link *link = first_of(l, &frame->pairs);
    for (; link; link = link->next) {
        const struct gpume_match *match = &((const struct kept_pair *)link)->match;
        if (link->second != WEIGHTED && match->reference_frame < end) {
            (void)await_match(l, match);
        }
    }
    for (link = first_of(l, &frame->means); link; link = link->next) {
        const struct kept_mean *kept = (const struct kept_mean *)link;
        if (link->first < end && await_match(l, kept->mean.past) &&
            await_match(l, kept->mean.future)) {
            gpume_blocks_wait(l->work, &kept->mean.job);
        }
    }
    for (link = first_of(l, &frame->weighings); link; link = link->next) {
        const struct gpume_weighing *weighing = &((const struct kept_weighing *)link)->weighing;
        if (link->first < end && await_match(l, weighing->plain)) {
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
    struct window_frame *frame = frame_at(l, position);
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

void gpume_lookahead_drop(struct gpume_lookahead *lookahead, uint64_t first)
{
    struct gpume_lookahead *l = lookahead;
    assert(first <= l->end);
    for (uint64_t position = l->first; position < first; position++) {
        struct window_frame *frame = frame_at(l, position);
        gpume_blocks_wait(l->work, &frame->intra.job);
        wait_for_frame(l, frame, UINT64_MAX);
    }
    /* Later frames may still be searched in a frame that is being dropped; its planes must stay
     * until those searches end. */
    const uint64_t readers_end = gpume_min_u64(l->end, first + l->params.distance_max);
    for (uint64_t frame = first; l->ahead && frame < readers_end; frame++) {
        wait_for_frame(l, frame_at(l, frame), first);
    }
    for (; l->first < first; l->first++) {
        forget_frame(l, frame_at(l, l->first));
    }
}

const uint32_t *gpume_lookahead_energies(const struct gpume_lookahead *lookahead, uint64_t frame)
{
    return lookahead->params.energies ? frame_at(lookahead, frame)->energies : NULL;
}

void gpume_lookahead_facts(
    const struct gpume_lookahead *lookahead, uint64_t frame, struct gpume_frame_facts *facts)
{
    const struct window_frame *f = frame_at(lookahead, frame);
    gpume_blocks_wait(lookahead->work, &f->intra.job);
    *facts = (struct gpume_frame_facts){
        .intra_costs = f->intra.costs,
        .energies = gpume_lookahead_energies(lookahead, frame),
    };
    for (uint32_t i = 0; i < lookahead->blocks; i++) {
        facts->intra_cost += f->intra.costs[i];
    }
}

/* --- costs */

/* Finds the weight of the past reference, beside its plain match; unless there is none, the
 * weighted samples are then in l->weighted. */
static struct gpume_weight find_weight(struct gpume_lookahead *l, const struct window_frame *target,
    const struct window_frame *reference, const struct gpume_match *match)
{
    const struct gpume_weight weight = guess_weight(target, reference);
    if (gpume_weight_is_none(&weight)) {
        return weight;
    }
    const struct gpume_plain_costs plain = {target->intra.costs, match->costs, match->vectors};
    struct kept_weighing *kept =
        (struct kept_weighing *)find_in_list(l, &target->weighings, match->reference_frame, 0);
    if (kept) {
        gpume_blocks_wait(l->work, &kept->weighing.job);
        give_planes(l, &kept->planes);
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
static int search_weighted(struct gpume_lookahead *l, uint64_t target, struct kept_pair **out)
{
    const uint64_t number = 2 * l->weighted_count++;
    struct kept_pair *pair = take_pair(l, target, number, &l->weighted);
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
    struct gpume_weight *weight, struct kept_pair **pair)
{
    pthread_mutex_lock(&l->weighing);
    *weight = find_weight(l, frame_at(l, frame), frame_at(l, past), &(*pair)->match);
    const int status = gpume_weight_is_none(weight) ? GPUME_OK : search_weighted(l, frame, pair);
    pthread_mutex_unlock(&l->weighing);
    return status;
}

static int await_sources(
    struct gpume_lookahead *l, const struct window_frame *target, const struct sources *sources)
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

static int evaluate_prediction(struct gpume_lookahead *l, uint64_t frame, uint64_t past,
    uint64_t future, struct kept_result **out)
{
    const struct window_frame *target = frame_at(l, frame);
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
    struct kept_result *result = (struct kept_result *)take_from(l, &l->results);
    if (!result) {
        return gpume_log_nomem(&l->log, "costs of the lookahead");
    }
    uint16_t *costs = (uint16_t *)(void *)(result + 1);
    const struct gpume_choice choice = {.target = &target->half,
        .intra_costs = target->intra.costs,
        .past = sources.past ? &sources.past->match : NULL,
        .future = sources.future ? &sources.future->match : NULL,
        .mean = sources.mean ? &sources.mean->mean : NULL,
        .pattern = l->params.pattern,
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
    struct kept_result **out)
{
    struct link **results = &frame_at(l, frame)->results;
    *out = (struct kept_result *)find_in_list(l, results, past, future);
    if (!*out) {
        GPUME_CHECK(evaluate_prediction(l, frame, past, future, out));
        add_to_list(l, results, &(*out)->link, past, future);
    }
    return GPUME_OK;
}

int gpume_lookahead_cost(struct gpume_lookahead *lookahead, uint64_t frame, uint64_t past,
    uint64_t future, struct gpume_frame_cost *cost)
{
    struct gpume_lookahead *l = lookahead;
    const uint64_t before = frame - past, after = future - frame;
    struct kept_result *result;
    assert(before <= l->params.distance_max && after <= l->params.distance_max);
    pthread_mutex_lock(&l->mutex);
    gpume_habits_note(&l->habits, frame, (uint32_t)before, (uint32_t)after);
    pthread_mutex_unlock(&l->mutex);
    GPUME_CHECK(find_cost(l, frame, past, future, &result));
    *cost = result->cost;
    return GPUME_OK;
}

int gpume_lookahead_find_expected(struct gpume_lookahead *lookahead, uint64_t newest)
{
    struct gpume_lookahead *l = lookahead;
    const uint64_t reach = gpume_min_u64(newest - l->first, l->params.distance_max);
    for (uint32_t past = 0; past <= reach; past++) {
        for (uint32_t future = 0; past + future <= reach; future++) {
            const uint64_t frame = newest - future;
            struct kept_result *result;
            pthread_mutex_lock(&l->mutex);
            const bool is_expected = gpume_habits_expects(&l->habits, past, future);
            pthread_mutex_unlock(&l->mutex);
            if (is_expected) {
                GPUME_CHECK(find_cost(l, frame, frame - past, newest, &result));
            }
        }
    }
    return GPUME_OK;
}

int gpume_lookahead_spectrum(struct gpume_lookahead *lookahead, uint64_t frame, uint64_t past,
    uint64_t future, const int16_t *offsets, struct gpume_spectrum *spectrum,
    struct gpume_losses *losses, const struct gpume_loss_weights *weights)
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
    if (losses) {
        gpume_losses_measure(losses, &predicted, weights);
    }
    return GPUME_OK;
}
