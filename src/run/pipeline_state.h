/* SPDX-License-Identifier: BSD-2-Clause */
/* A pipeline's own data, for pipeline.c and pipeline_open.c alone. */
#ifndef GPUME_RUN_PIPELINE_STATE_H
#define GPUME_RUN_PIPELINE_STATE_H

#include "base/fifo.h"
#include "run/lane.h"
#include "run/pipeline.h"

struct gpume_pipeline {
    struct gpume_plan plan; /* of the first lane; what is searched is the same in all of them */
    const struct gpume_log *log;
    struct gpume_standby *standby; /* NULL: if the last engine fails, the run ends */
    struct gpume_reason *reasons[GPUME_LANES_MAX]; /* by lane; NULL: it logs to `log` */
    struct gpume_returns *returns;                 /* NULL without plan.returns */
    struct gpume_task_source source;
    struct gpume_frame *frames; /* the pool: of every engine's memory as many as its plan says */
    uint32_t pool, in_slots;    /* frames; tasks that all slots hold */
    uint64_t run_bytes;         /* of all plans */
    char devices[256];          /* the names of all, where there are several */
    struct gpume_monitor monitor;
    /* Guarded by the monitor's mutex. Functions marked "locked" require that it is held. */
    struct gpume_lane *lanes[GPUME_LANES_MAX];
    uint32_t lane_count;
    struct gpume_lane *standby_lane; /* NULL: the standby engine has not taken over */
    struct gpume_turns turns;
    struct gpume_queue queue;
    struct gpume_fifo free_frames[GPUME_DEVICES_MAX]; /* struct gpume_frame, by home */
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

#endif
