/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the pipeline asks of an engine. All calls come from one thread, except that frame_memory is
 * called before that thread starts. Slots are numbered 0 .. plan.slots - 1; the pipeline never
 * submits to a slot whose fields are still in use, and collects slots in the order of submission.
 */
#ifndef GPUME_FRAME_ENGINE_H
#define GPUME_FRAME_ENGINE_H

#include "frame/field.h"
#include "model/plan.h"

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
