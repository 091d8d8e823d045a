/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The motion that a coded stream holds, frame by frame: as blocks with the numbers of their
 * references. Decoders do not export those numbers. MPEG-1, MPEG-2, MPEG-4 and H.263 leave no
 * choice; of H.264's references this names the nearest one that was coded before and that other
 * frames may refer to. So it reads ahead, until it knows the future ones. Main thread only.
 */
#ifndef GPUME_CLI_CODED_CODED_H
#define GPUME_CLI_CODED_CODED_H

#include "job.h"
#include "vectors/vectors.h"

#define GPUME_CODED_AHEAD 17u /* frames: more than H.264 may reorder */
#define GPUME_CODED_FACTS 64u /* frames whose coding is remembered */

/* The blocks that decoders export, from the largest to the smallest. */
#define GPUME_CODED_SHAPES 4u
extern const struct gpume_block_size gpume_coded_shapes[GPUME_CODED_SHAPES];

/* The index of the block's shape; GPUME_CODED_SHAPES: it has none of these sizes, or is not in its
 * place on the grid of blocks of its size. */
uint32_t gpume_coded_shape(const struct gpume_vectors_block *block);

/* blocks: sorted by y, then by x; ref2 is the future reference of a block with two. */
struct gpume_coded_frame {
    uint64_t frame;
    int64_t time_us;
    char type; /* see struct gpume_motion */
    bool interlaced, has_future;
    uint32_t units; /* 0: no blocks */
    struct gpume_vectors_block *blocks;
    size_t count, capacity;
};

struct gpume_coded_fact {
    uint64_t coded;
    bool reference;
};

/* The caller sets the first members; the others start as zero. */
struct gpume_coded {
    struct gpume_source *source; /* with options.motion */
    /* Reads a frame in place of gpume_source_read, and does with it what it wants. NULL: nothing.
     */
    int (*read)(void *opaque, int64_t *time_us);
    void *opaque;

    struct gpume_coded_frame queue[GPUME_CODED_AHEAD + 1]; /* by number of the frame */
    struct gpume_coded_fact facts[GPUME_CODED_FACTS];      /* by that number too */
    uint64_t received, returned;                           /* frames */
    bool ended;
};

/* Takes a frame, which is valid until it returns. *enough: no more are wanted. */
typedef enum gpume_exit (*gpume_coded_take_fn)(
    void *client, const struct gpume_coded_frame *frame, bool *enough);

/* Reads the frames of a job's video (step 5, job.h) and passes them on, also those without blocks.
 */
enum gpume_exit gpume_coded_run(
    struct gpume_coded *coded, struct gpume_cli_job *job, gpume_coded_take_fn take, void *client);

/* The number of a frame's k-th nearest past (future: false) or future reference among those frames
 * that have been read, k from 1. UINT64_MAX: it has none. */
uint64_t gpume_coded_reference(
    const struct gpume_coded *coded, uint64_t frame, bool future, uint32_t k);

/* After this many predicted frames without a vector, the decoder is assumed to export none. */
#define GPUME_CODED_SILENT 32u

/* Says why there are no vectors. predicted: of the frames, those that are not of type I. */
enum gpume_exit gpume_coded_refuse(
    const struct gpume_source_info *info, uint64_t frames, uint64_t predicted);

/* Warns that blocks of one field are not where they seem to be, if there are such frames. */
void gpume_coded_warn_interlaced(const struct gpume_source_info *info, uint64_t frames);

void gpume_coded_finish(struct gpume_coded *coded);

#endif
