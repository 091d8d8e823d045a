/* SPDX-License-Identifier: BSD-2-Clause */
/* The engines of a context, and over their lanes the pipeline from frames to fields. */
#ifndef GPUME_RUN_PIPELINE_H
#define GPUME_RUN_PIPELINE_H

#include "frame/frame.h"
#include "run/lane.h"
#include "run/queue.h"

#include <stdbool.h>

/*
 * --- The engines of a context: those that it begins with, the others of params.devices, the CPU
 * engine that stands by for them, and what their failures are told with.
 */

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

/*
 * --- Frames and tasks come in, motion fields go out. Lanes (lane.h) take both from one queue
 * (queue.h) and complete fields, which leave the queue in the order of their tasks. Only two things
 * can block: the sender waits when all frames of the pool are in use, and a lane waits when all its
 * slots hold fields that the receiver has not released. Everything is allocated at the start for
 * the worst case. The only signal that travels upstream is "stop".
 *
 *   acquire -> fill -> send --+            +-> lane: submit ... collect --+
 *      ^            request --+-> [queue] -+-> lane                       +-> [queue] -> receive
 *      +---- last reference to the frame dropped
 *
 * A run of several devices begins with one. The others get lanes when those that are open do not
 * keep up with the sender (queue.h): a thread opens one after the other.
 *
 * The tasks of a lane whose GPU fails go back to the queue, for the other lanes. If there is none,
 * the next device gets a lane, and after the last one the standby engine.
 */

/* A device that is not open yet, or was not to be opened. */
struct gpume_spare_state {
    struct gpume_lane *lane; /* NULL: it has none */
    bool failed;
};

/* The frames in an engine's memory. */
struct gpume_home {
    struct gpume_frame *frames; /* as many as its plan says */
    struct gpume_fifo free;     /* struct gpume_frame */
};

struct gpume_pipeline {
    struct gpume_plan plan; /* of the first lane; what is searched is the same in all of them */
    const struct gpume_log *log;
    struct gpume_standby *standby; /* NULL: if the last engine fails, the run ends */
    struct gpume_reason *reasons[GPUME_LANES_MAX]; /* by lane; NULL: it logs to `log` */
    struct gpume_returns *returns;                 /* NULL without plan.returns */
    struct gpume_task_source source;
    char devices[256];    /* the names of all, where there are several */
    uint32_t first_count; /* engines that were open at the beginning */
    struct gpume_spares spares;
    pthread_t opener; /* opens them */
    bool opener_started;
    pthread_cond_t wanted; /* for the opener: a device is wanted, or the run ends */
    struct gpume_monitor monitor;
    /* Guarded by the monitor's mutex. Functions marked "locked" require that it is held. */
    struct gpume_lane *lanes[GPUME_LANES_MAX];
    uint32_t lane_count;
    struct gpume_lane *standby_lane; /* NULL: the standby engine has not taken over */
    struct gpume_turns turns;
    struct gpume_queue queue;
    struct gpume_home homes[GPUME_DEVICES_MAX]; /* the pool */
    uint32_t home_count;
    uint32_t pool, in_slots; /* frames; tasks that all slots hold */
    uint64_t run_bytes;      /* of all plans */
    struct gpume_demand demand;
    uint64_t expected_frames; /* that will be sent; 0: unknown */
    struct gpume_spare_state spare_states[GPUME_DEVICES_MAX];
    uint32_t spares_tried;  /* of the spares, in their order */
    uint32_t spares_wanted; /* to be tried */
    /* Of the last lane that has failed, while another device is to go on. */
    const struct gpume_reason *failed_reason;
    int failed_status;
    bool replacing; /* no lane is left, and the next device is to go on, which is being opened */
    struct gpume_fifo ready;  /* fields to receive, struct gpume_field_box */
    uint64_t sent_count;      /* frames */
    uint64_t requested_count; /* tasks that are not hidden */
    uint64_t received_count;  /* fields */
    uint64_t standby_frame;   /* the oldest target that the standby engine searched */
    bool taking_over;         /* the standby engine is being opened, or open */
    bool delivering;          /* a lane's thread moves fields from the queue to `ready` */
    bool cancelled;           /* stop at once */
    int status;               /* the first failure */
};

/* With params.check, this also opens the reference searches that check every field. */
int gpume_pipeline_open(struct gpume_pipeline **pipeline, const struct gpume_pipeline_parts *parts);

/* Requests one search. Both frames must be among the last plan.reach frames sent. Returns
 * GPUME_AGAIN if too many tasks are waiting, and GPUME_INVALID after gpume_pipeline_finish. */
int gpume_pipeline_request(struct gpume_pipeline *pipeline, const struct gpume_task *task);

/* These implement the public functions of the same name. */
int gpume_pipeline_acquire(
    struct gpume_pipeline *pipeline, struct gpume_frame **frame, uint32_t flags);
int gpume_pipeline_send(
    struct gpume_pipeline *pipeline, struct gpume_frame **frame, int64_t time_us);
int gpume_pipeline_finish(struct gpume_pipeline *pipeline);
int gpume_pipeline_receive(
    struct gpume_pipeline *pipeline, const struct gpume_field **field, uint32_t flags);
void gpume_pipeline_cancel(struct gpume_pipeline *pipeline);
void gpume_pipeline_expect(struct gpume_pipeline *pipeline, uint64_t frames);
int gpume_pipeline_open_devices(struct gpume_pipeline *pipeline);
void gpume_pipeline_get_info(struct gpume_pipeline *pipeline, struct gpume_info *info);
void gpume_pipeline_get_stats(struct gpume_pipeline *pipeline, struct gpume_stats *stats);
uint32_t gpume_pipeline_lane_count(struct gpume_pipeline *pipeline);
void gpume_pipeline_get_lane(
    struct gpume_pipeline *pipeline, uint32_t index, struct gpume_lane_info *info);
int gpume_pipeline_close(struct gpume_pipeline **pipeline);

#endif
