/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames and fields on their way, with what keeps their memory alive, and the interface of an
 * engine, which makes the one from the other. */
#ifndef GPUME_FRAME_FRAME_H
#define GPUME_FRAME_FRAME_H

#include "model/plan.h"

#include "gpume/gpume.h"

#include <stdatomic.h>

/* --- one luma frame of the pool, shared by reference count: the lane holds it while the engine
 * reads it, a field while its receiver may read it. With the last reference it goes back to the
 * pool. */

struct gpume_frame {
    struct gpume_plane plane; /* memory provided by the engine */
    uint64_t sequence;        /* 0 for the first frame sent */
    int64_t time_us;
    const void *home;    /* that engine */
    uint32_t home_index; /* the engine's number in the pipeline */
    uint32_t pool_index; /* the memory's number there */
    atomic_uint refs;
    void (*recycle)(void *owner, struct gpume_frame *frame);
    void *owner;
};

void gpume_frame_ref(struct gpume_frame *frame);

/* Drops a reference and sets *frame to NULL; NULL is fine. */
void gpume_frame_unref(struct gpume_frame **frame);

/* --- a field: the public part plus what it needs. It lives in a slot of a lane; its arrays point
 * into the engine's memory of that slot, which stays untouched until the last reference is
 * released. */

/* What an engine finds for a task: arrays over the blocks of all layers, one layer after the other.
 * Those marked * hold plan.kept candidates, one after the other. NULL: the plan does not want it.
 */
struct gpume_results {
    const struct gpume_vector *vectors; /* * */
    const uint32_t *costs;              /* *; GPUME_NONE: no such candidate */
    const uint32_t *ranks;              /* by layer */
    const uint32_t *bits;               /* * */
    const uint32_t *refs, *refs2;       /* indices in the task's references */
    const struct gpume_vector *vectors2;
    const uint32_t *ties, *texture;
    const uint32_t *chosen; /* 1: params.partition chose this block, 0: not */
};

struct gpume_field_box {
    struct gpume_field field; /* first: the public pointer is a pointer to the box */
    struct gpume_task task;   /* frames by sequence number */
    bool hidden;     /* its vectors serve `returns` of another field; it is not delivered */
    uint64_t number; /* its place in the order of all tasks */
    struct gpume_frame *target, *reference; /* held with params.want_frames, else NULL */
    uint32_t slot;
    atomic_uint refs;
    void (*recycle)(void *owner, struct gpume_field_box *box);
    void *owner;
    struct gpume_results results;
    /* In units, for every reference of the task those of all layers; NULL: none are given. */
    struct gpume_vector *predictors;
    uint64_t references[GPUME_REFERENCES_MAX]; /* field.refs */
    struct gpume_part *parts; /* room for the blocks of the finest layer; with params.partition */
    uint32_t *returns;        /* of all layers; with plan.returns */
    struct gpume_layer *layers;
    const struct gpume_layer **layer_list;
};

/* Fills in what all fields of a plan have in common; the box is zeroed before. Call finish after a
 * failure too. */
int gpume_field_box_init(struct gpume_field_box *box, const struct gpume_plan *plan);
void gpume_field_box_finish(struct gpume_field_box *box);

/* Fills in the frames that the field's task names. first_frame: the index of sequence number 0. */
void gpume_field_box_describe(struct gpume_field_box *box, uint64_t first_frame);

/* Points the layers and the field into the results and the returns. */
void gpume_field_box_complete(struct gpume_field_box *box, const struct gpume_plan *plan);

/* --- statistics as rows of a name and a time, for engines that fill them and for who adds them up
 */

/* Adds ns to the row of that name, which is appended if there is none. name: a constant string. */
void gpume_stats_add_ns(struct gpume_stats *stats, const char *name, uint64_t ns);

/* Counts a field of the general search as one sweep over every block, like any other field: all
 * sweeps of its task (references, passes, matches, fractions) share in what was compared, so that
 * all fields have equally many candidates. tried: candidates of all sweeps;
 * compared: those that sums of boxes did not exclude. */
void gpume_stats_count_sweeps(
    struct gpume_stats *stats, const struct gpume_plan *plan, uint64_t tried, uint64_t compared);

/* Adds everything that `from` counts and measures. */
void gpume_stats_add(struct gpume_stats *to, const struct gpume_stats *from);

/* Subtracts everything that `counted` counts, but no times. */
void gpume_stats_uncount(struct gpume_stats *from, const struct gpume_stats *counted);

/*
 * --- What the pipeline asks of an engine. All calls come from one thread, except that frame_memory
 * is called before that thread starts. Slots are numbered 0 .. plan.slots - 1; the pipeline never
 * submits to a slot whose fields are still in use, and collects slots in the order of submission.
 */

/* A submission: tables of frames and of tasks. Up to plan.batch frames by rising sequence number,
 * and up to plan.batch tasks, each in the box of its field. A frame takes the place of another one
 * whose sequence number is the same modulo plan.ring. A task may pair any frames that have come
 * with it or before and still have their places. Where work is divided among engines, an engine
 * gets only the frames that its tasks need, and the same one again if its place was taken. Either
 * table may be empty. */
struct gpume_submission {
    struct gpume_frame *frames[GPUME_BATCH_MAX];
    uint32_t frame_count;
    struct gpume_field_box *fields[GPUME_BATCH_MAX];
    uint32_t field_count;
};

#define GPUME_ENGINE_SEARCHES_MAX 16u /* implementations of one engine */

struct gpume_engine_ops {
    /* For gpume_list_searches: at most GPUME_ENGINE_SEARCHES_MAX. */
    int (*list_searches)(const char *device, struct gpume_search_info *searches, uint32_t *count);
    /* Makes the plan for this engine and allocates everything. GPUME_AGAIN, not logged: the engine
     * needs more than params.memory_max, but without box sums it may need less: try again with
     * params.no_elimination. */
    int (*open)(void **engine, const struct gpume_params *params, const struct gpume_log *log,
        struct gpume_plan *plan);
    /* Memory of plan.plane_bytes for the samples of pool frame number index < plan.pool; NULL if
     * there is none. With params.devices the engine gets frames of other engines' memory too. */
    void *(*frame_memory)(void *engine, uint32_t index);
    /* Starts the work. The frames' samples stay readable until the slot is collected. */
    int (*submit)(void *engine, uint32_t slot, const struct gpume_submission *batch);
    /* Waits for the slot and fills vectors, costs, ranks, sums and predicted of every field box. */
    int (*collect)(void *engine, uint32_t slot, const struct gpume_submission *batch);
    /* Makes a collect under way return GPUME_CANCELLED soon. From any thread. NULL: collecting
     * never takes long. */
    void (*cancel)(void *engine);
    /* The times of the stages and the counts of candidates so far. */
    void (*get_stats)(void *engine, struct gpume_stats *stats);
    void (*get_info)(void *engine, struct gpume_info *info);
    /* Sets *engine to NULL. GPUME_OK, or the failure that closing brought to light. */
    int (*close)(void **engine);
};

extern const struct gpume_engine_ops gpume_engine_cpu;
extern const struct gpume_engine_ops gpume_engine_gpu;

#endif
