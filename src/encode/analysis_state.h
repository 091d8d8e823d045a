/* SPDX-License-Identifier: BSD-2-Clause */
/* What an analysis consists of: for analysis.c, which takes frames, and decide.c alone. */
#ifndef GPUME_ENCODE_ANALYSIS_STATE_H
#define GPUME_ENCODE_ANALYSIS_STATE_H

#include "base/clock.h"
#include "base/log.h"
#include "base/workers.h"
#include "encode/analysis.h"
#include "encode/quality.h"
#include "encode/types.h"

#include <pthread.h>

/* How a frame is coded, and what that leaves to code. */
struct gpume_coding {
    uint64_t frame, past, future; /* its references; the frame itself for none */
    enum gpume_frame_type type;
    const int16_t *offsets;
    struct gpume_spectrum spectrum;
    int status; /* of measuring it */
};

/* Runs whose types are final, and whose offsets one walk of the tree finds. */
struct gpume_group {
    struct gpume_analysis *analysis;
    uint64_t first; /* the last frame of the group before it; frame 0 belongs to the first group */
    uint32_t count; /* frames after the first */
    uint32_t known; /* count, plus the later frames that the walk reads */
    enum gpume_frame_type types[GPUME_STRETCH_MAX];          /* from the first */
    struct gpume_quality_walk *walk;                         /* NULL without the tree */
    struct gpume_coding codings[GPUME_GROUP_FRAMES_MAX + 1]; /* in coded order */
    uint32_t coding_count;
    struct gpume_step follow, measure; /* the walk; then the spectra */
};

/* Walks of one group or, with many threads, of two are followed while types of the next one are
 * decided. Each takes the frames of a group more. */
#define GPUME_GROUPS GPUME_QUALITY_WALKS
#define GPUME_GROUPS_THREADS 8u   /* with which there are so many, else one less */
#define GPUME_THREADS_OF_GROUP 2u /* that follow walks and measure spectra */

/* How long a thread took for its part of the work: by the clock, and without waiting. */
struct gpume_stage_time {
    uint64_t wall_ns, busy_ns;
};

static inline void gpume_stage_time_begin(struct gpume_stage_time *stage)
{
    stage->wall_ns -= gpume_clock_ns();
    stage->busy_ns -= gpume_clock_thread_ns();
}

static inline void gpume_stage_time_end(struct gpume_stage_time *stage)
{
    stage->busy_ns += gpume_clock_thread_ns();
    stage->wall_ns += gpume_clock_ns();
}

struct gpume_analysis {
    struct gpume_analysis_params params;
    struct gpume_log log;
    struct gpume_lookahead *lookahead;
    struct gpume_types types;
    struct gpume_quality *quality; /* NULL without the tree */
    struct gpume_workers *workers; /* for groups */
    uint32_t blocks, window, frames_max;
    uint32_t lag;          /* frames that are put after one before its costs are found */
    int16_t *aq_offsets;   /* of the frames before `offset_end`: position % frames_max */
    uint32_t *information; /* the same, of those before `informed` */
    uint64_t begun;        /* frames whose reading has begun */
    uint64_t offset_end, informed;
    uint64_t seen;                           /* `costed` when the decider last looked */
    uint64_t coded;                          /* frames that params.decide was called for */
    uint64_t last;                           /* the last I or P frame that has been decided */
    struct gpume_group groups[GPUME_GROUPS]; /* number % GPUME_GROUPS */
    uint64_t groups_begin, groups_end;       /* begun, and not yet passed to params.decide */
    uint32_t groups_max;                     /* GPUME_GROUPS at most */
    bool group_open;                         /* runs are added to the last one */
    struct gpume_stage_time reading, sending, costing, deciding;
    uint64_t walking_ns, walk_wait_ns; /* walks, and waiting for them */
    /* Where the lookahead works ahead, one thread sends the frames that have been read, one finds
     * costs, and one decides, while the caller's reads more. */
    bool sends, costs, decides;
    pthread_t sender, coster, decider;
    pthread_mutex_t mutex; /* for all below */
    pthread_cond_t changed;
    uint64_t read, put, costed, dropped; /* counts of frames: read, also sent, of which the costs
                                            that are expected are known, forgotten */
    bool finished, stop; /* no more frames are to be read; none to be decided either */
    int status;          /* of the threads */
};

/* QP offsets of adaptive quantization, of a frame that is kept. */
static inline int16_t *gpume_analysis_aq_offsets(const struct gpume_analysis *a, uint64_t frame)
{
    return a->aq_offsets + frame % a->frames_max * a->blocks;
}

/* What types.h and quality.h ask for; `opaque` is the analysis. */
int gpume_analysis_coding_cost(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost);
int gpume_analysis_cost(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, uint64_t *cost);
int gpume_analysis_step(
    void *opaque, uint64_t frame, uint64_t past, uint64_t future, struct gpume_quality_step *step);

/* Decides the next run; the first one begins with frame 0. `seen` says how far it may look. */
int gpume_analysis_decide(struct gpume_analysis *analysis);

/* Tells of all runs that have been decided. */
int gpume_analysis_finish_groups(struct gpume_analysis *analysis);

#endif
