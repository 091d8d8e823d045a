/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Half-resolution frames (half.h) of a stretch of a video, and what it costs to predict one of them
 * from others. libgpume finds the vectors of 8x8 blocks at a quarter of the resolution
 * (blocks.h). From these it finds quarter-pixel vectors of the blocks at half the
 * resolution, intra costs, and the costs of the means of two matches, on the processor or on a GPU.
 * choice.h finds the cheapest prediction of each block. Costs are SATD of 8-bit samples with the
 * penalties of costs.h. They are the same on every engine and with any number of threads. With a
 * GPU or several threads the lookahead works ahead of what it is asked: on several frames at a
 * time, from what has been asked of the frames before (habits.h). One thread may read frames while
 * another one sends those that have been read, a third one finds costs that will be asked for, and
 * a fourth one asks and drops frames.
 */
#ifndef GPUME_ENCODE_LOOKAHEAD_H
#define GPUME_ENCODE_LOOKAHEAD_H

#include "encode/costs.h"
#include "encode/decision.h"
#include "encode/distortion.h"

struct gpume_lookahead;

/* Where it works ahead, a frame's facts and costs are ready when this many more frames have been
 * put. */
#define GPUME_LOOKAHEAD_LAG 8u

/* Frames that are read at a time, at most: enough to keep its threads busy. */
#define GPUME_READINGS_MAX 4u

struct gpume_lookahead_params {
    uint32_t width, height;             /* of the frames that are put in */
    uint32_t distance_max;              /* between a frame and a reference: bframes + 1 */
    uint32_t frames_max;                /* kept at once; more than distance_max */
    bool weights;                       /* find weights for past references (fades) */
    bool shares;                        /* means of two references weigh them by distance */
    struct gpume_pattern_costs pattern; /* what inner_bits counts */
    bool energies;                      /* compute those that adaptive quantization needs */
    uint32_t lent; /* how many frames put before the last one still hold their samples */
    enum gpume_backend backend;
    const char *device;
    uint32_t threads;
    const char *cache_dir;
    gpume_log_fn log;
    void *log_opaque;
};

/* Negative gpume_status after one line: no such device, a size that it does not take, or memory ran
 * out. Strings of the params are needed only here. */
int gpume_lookahead_open(
    struct gpume_lookahead **lookahead, const struct gpume_lookahead_params *params);

/* What the frames' engine is, for messages: "NVIDIA H200", "2 threads". Valid until the lookahead
 * is closed. */
const char *gpume_lookahead_engine(const struct gpume_lookahead *lookahead);

/* GPUME_LOOKAHEAD_LAG, or 0 if it does not work ahead. */
uint32_t gpume_lookahead_lag(const struct gpume_lookahead *lookahead);

/* Those that do its work, and may do its owner's too. */
struct gpume_workers *gpume_lookahead_workers(const struct gpume_lookahead *lookahead);

/* Before the first frame: the cost of frames from references at these distances, 0 for none, will
 * often be asked for. */
void gpume_lookahead_expect(struct gpume_lookahead *lookahead, uint32_t past, uint32_t future);

uint32_t gpume_lookahead_blocks_x(const struct gpume_lookahead *lookahead);
uint32_t gpume_lookahead_blocks_y(const struct gpume_lookahead *lookahead);

/* Adds the next frame: luma at full resolution. Positions count from 0. gpume_lookahead_drop must
 * have left less than frames_max. Negative gpume_status: the engine has failed, or memory ran out;
 * logged. */
int gpume_lookahead_put(struct gpume_lookahead *lookahead, const struct gpume_plane *luma);

/* The steps of putting a frame. Reading needs the luma, until it is complete, and the room; up to
 * gpume_lookahead_readings frames may be read at a time, which are completed in their order.
 * Sending the next one that has been read starts the engine's work on it, perhaps from another
 * thread. */
uint32_t gpume_lookahead_readings(const struct gpume_lookahead *lookahead);
void gpume_lookahead_begin_reading(
    struct gpume_lookahead *lookahead, const struct gpume_plane *luma);
void gpume_lookahead_complete_reading(struct gpume_lookahead *lookahead);
int gpume_lookahead_send(struct gpume_lookahead *lookahead);

/* Forgets all frames before this position. While another thread puts frames, none of the last
 * distance_max that have been put may be among them. */
void gpume_lookahead_drop(struct gpume_lookahead *lookahead, uint64_t first);

/* Of a frame: 256 times the variance of each of its squares (kernels.h), valid until it is dropped;
 * NULL unless params.energies. */
const uint32_t *gpume_lookahead_energies(const struct gpume_lookahead *lookahead, uint64_t frame);

/* Of one frame, valid until the frame is dropped. */
struct gpume_frame_facts {
    const uint16_t *intra_costs;
    uint64_t intra_cost;      /* their sum */
    const uint32_t *energies; /* NULL unless params.energies */
};
/* May wait for the intra costs. */
void gpume_lookahead_facts(
    const struct gpume_lookahead *lookahead, uint64_t frame, struct gpume_frame_facts *facts);

/* Of one frame when it is predicted from given others. */
struct gpume_frame_cost {
    uint64_t cost; /* sum over all blocks of the cheapest prediction */
    /* The same without the blocks at the picture's edge; with them, where it is up to 2 blocks wide
     * or high. */
    uint64_t inner_cost;
    uint64_t inner_bits;   /* the sum over the same blocks of what coding them takes: costs.h */
    uint32_t intra_blocks; /* that are cheapest from their own frame */
    const uint16_t *costs; /* of each block, the cheapest prediction */
    const uint8_t *kinds;  /* enum gpume_source_kind */
    const struct gpume_vector *past, *future; /* quarter pixels; NULL without such a reference */
    struct gpume_weight weight;               /* of the past reference, where it is the only one */
};

/* The cost of `frame` from its references `past` < frame < `future`; past == frame and future ==
 * frame mean that there is none. The distances are at most distance_max. A frame with a future
 * reference has no intra blocks. Results stay until the frame is dropped. Negative gpume_status:
 * the engine has failed, or memory ran out; logged. */
int gpume_lookahead_cost(struct gpume_lookahead *lookahead, uint64_t frame, uint64_t past,
    uint64_t future, struct gpume_frame_cost *cost);

/* Finds the costs that are expected to be asked for and become known with this frame, so that
 * asking does not wait. Any thread, beside one that asks for costs up to an earlier frame. */
int gpume_lookahead_find_expected(struct gpume_lookahead *lookahead, uint64_t newest);

/* What is left to code of the frame by those predictions; it fails where gpume_lookahead_cost does.
 * offsets: of each block's QP, in 1/256; NULL: none. losses: NULL: not wanted;
 * weights: those of XPSNR for them; NULL: none. */
int gpume_lookahead_spectrum(struct gpume_lookahead *lookahead, uint64_t frame, uint64_t past,
    uint64_t future, const int16_t *offsets, struct gpume_spectrum *spectrum,
    struct gpume_losses *losses, const struct gpume_loss_weights *weights);

void gpume_lookahead_close(struct gpume_lookahead **lookahead);

#endif
