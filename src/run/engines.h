/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The engines of a context: those that it begins with, the others of params.devices, the CPU engine
 * that stands by for them, and what their failures are told with.
 */
#ifndef GPUME_RUN_ENGINES_H
#define GPUME_RUN_ENGINES_H

#include "frame/engine.h"
#include "run/queue.h"

#include <stdbool.h>

#define GPUME_REASON_BYTES 512u
#define GPUME_OWN_TEXTS 4u /* search, cache_dir, device, devices */

/*
 * The log of an engine whose failures need not end the run: its errors are passed on as
 * information, and one is kept as the reason why the engine failed. The engine's thread.
 */
struct gpume_reason {
    struct gpume_log log; /* for the engine; points into this */
    const struct gpume_log *to;
    bool armed; /* the engine is open: keep the last error, not the first one */
    char text[GPUME_REASON_BYTES];
    struct gpume_message message; /* its parts, in `strings`, if it names parameters */
    bool has_message;
    char strings[GPUME_REASON_BYTES];
};

/* `to` outlives it. It must stay where it is. */
void gpume_reason_init(struct gpume_reason *reason, const struct gpume_log *to);

/* The engine is open: from here on, the reason why its last call failed. */
void gpume_reason_arm(struct gpume_reason *reason);

/* Logs the reason as an error after all. NULL is fine. */
void gpume_reason_report(const struct gpume_reason *reason);

/* The reason, up to its first semicolon: without advice. Copied. */
void gpume_reason_copy(const struct gpume_reason *reason, char text[GPUME_REASON_BYTES]);

/* Parameters for an engine that is opened later: a copy in which nothing is the caller's but the
 * functions and what they are given. */
struct gpume_own_params {
    struct gpume_params params; /* points into the others: it must stay where it is */
    struct gpume_prefilter prefilter;
    double *weights;
    char *texts[GPUME_OWN_TEXTS];
};

/* The struct is zeroed before. GPUME_NOMEM, not logged. Call finish after a failure too. */
int gpume_own_params_init(struct gpume_own_params *own, const struct gpume_params *params);
void gpume_own_params_finish(struct gpume_own_params *own);

/*
 * The CPU engine standing by: what is needed to open it when a GPU fails during a run. Both engines
 * give the same bits, so nobody downstream notices, except for one warning and gpume_get_info.
 *
 * Frames' samples and results that the receiver holds lie in the failed engine's memory, which the
 * host alone writes to, and which stays until that engine is closed, at the very end.
 */
struct gpume_standby;

/* Copies the parameters: nothing in the copy is the caller's. The log outlives the standby.
 * GPUME_NOMEM, logged. */
int gpume_standby_create(
    struct gpume_standby **standby, const struct gpume_params *params, const struct gpume_log *log);

/* Sets *standby to NULL; NULL is fine. */
void gpume_standby_destroy(struct gpume_standby **standby);

int gpume_standby_open_engine(
    struct gpume_standby *standby, void **engine, struct gpume_plan *plan);

/* Warns that the run goes on with the CPU engine, from the field of this target frame on. */
void gpume_standby_announce(
    const struct gpume_standby *standby, const struct gpume_reason *reason, uint64_t frame);

#define GPUME_DEVICES_MAX 32u /* in params.devices */

/* A schedule that derives tasks from the frames sent. The pipeline asks it for tasks after every
 * frame and at the end, each time until it has no more, and holds its lock meanwhile. */
struct gpume_task_source {
    /* Sets request->task and request->hidden to the next task that needs no more than the first
     * `frames` frames; false if there is none. A hidden task comes together with the one that it
     * serves. ended: no more frames will come. If next is NULL, all tasks come from
     * gpume_pipeline_request. */
    bool (*next)(void *opaque, uint64_t frames, bool ended, struct gpume_request *request);
    void *opaque;
};

/* An engine that is open. */
struct gpume_pipeline_engine {
    const struct gpume_engine_ops *ops;
    void *opaque;
    const struct gpume_plan *plan;
    struct gpume_reason *reason; /* what it logs to; NULL: to the pipeline's log */
};

#define GPUME_PIPELINE_UNUSABLE "cannot be used; going on without it" /* one of params.devices */

/* Devices of a list that are opened in the background, in their order, when the work needs them, or
 * when those before them have failed. */
struct gpume_spares {
    uint32_t count;
    struct gpume_spare {
        const char *backend;
        char device[256];
    } devices[GPUME_DEVICES_MAX];
    uint64_t open_ns; /* what opening the first device took */
    /* Opens the device of this index. Failures are logged: those of a GPU as warnings. */
    int (*open)(void *opaque, uint32_t index, struct gpume_pipeline_engine *engine,
        struct gpume_plan *plan);
    void (*close)(void *opaque); /* what open is given; NULL: nothing is to be closed */
    void *opaque;
};

/* What a pipeline is made of. Engines, reasons, spares and standby are owned by the pipeline, even
 * if opening fails. */
struct gpume_pipeline_parts {
    struct gpume_pipeline_engine engines[GPUME_DEVICES_MAX];
    uint32_t engine_count; /* 1 or more */
    struct gpume_spares spares;
    struct gpume_standby *standby; /* may be NULL */
    struct gpume_task_source source;
    const struct gpume_log *log; /* outlives the pipeline */
};

struct gpume_engines {
    struct gpume_pipeline_parts parts; /* all but the source */
    struct gpume_plan plans[GPUME_DEVICES_MAX];
};

/* What a context begins with, which other devices it may get (params.devices), and whether the CPU
 * stands by. The struct is zeroed before. Failures are logged, and then nothing is open. */
int gpume_engines_open(
    struct gpume_engines *engines, const struct gpume_params *params, const struct gpume_log *log);

#endif
