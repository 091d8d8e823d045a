/* SPDX-License-Identifier: BSD-2-Clause */
/* What is done with the vectors of a coded stream: reading, writing and comparing them. */
#ifndef GPUME_CLI_CODED_CODED_H
#define GPUME_CLI_CODED_CODED_H

#include "files/out.h"
#include "job.h"
#include "vectors/vectors.h"

#include "gpume/gpume.h"

/*
 * --- How well given vectors predict a block: the same samples between pixels as
 * params.interpolation defines, computed for single blocks. Pure functions.
 */

#define GPUME_MATCH_SIDE 16u /* pixels, of the largest block */

/* A block, of at most GPUME_MATCH_SIDE pixels per side, inside its picture. */
struct gpume_match_block {
    uint32_t x, y, w, h;
};

/* Samples in raster order, w in a row. */
struct gpume_match_samples {
    int32_t values[GPUME_MATCH_SIDE * GPUME_MATCH_SIDE];
};

struct gpume_match_sums {
    uint64_t sad, sse;
};

/* The samples that the vector, in quarter pixels, points to. Not for
 * GPUME_INTERPOLATION_HEVC. */
void gpume_match_predict(const struct gpume_plane *reference, const struct gpume_match_block *block,
    int32_t dx, int32_t dy, enum gpume_interpolation interpolation,
    struct gpume_match_samples *samples);

/* The block's own samples. */
void gpume_match_take(const struct gpume_plane *plane, const struct gpume_match_block *block,
    struct gpume_match_samples *samples);

struct gpume_match_sums gpume_match_measure(const struct gpume_match_block *block,
    const struct gpume_match_samples *a, const struct gpume_match_samples *b);

/*
 * --- The motion that a coded stream holds, frame by frame: as blocks with the numbers of their
 * references. Decoders do not export those numbers. MPEG-1, MPEG-2, MPEG-4 and H.263 leave no
 * choice; of H.264's references this names the nearest one that was coded before and that other
 * frames may refer to. So it reads ahead, until it knows the future ones. Main thread only.
 */

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

/*
 * --- A comparison with a stream's vectors, frame by frame: how the vectors of the stream predict
 * its blocks, how the best vectors do, and what either cost in bits. The stream does not name its
 * references: of those that come into question, a block is taken to use the one that its vector
 * predicts it from best; and of the vectors that the decoder gives a block with two, the one or the
 * mean of both that predicts it best. Best vectors of a mean are the best of those pairs that
 * consist of the stream's vectors and those that a search for one alone finds.
 */

#define GPUME_VERSUS_PLANES 48u /* frames that are kept: 16 references may be spread so far */
#define GPUME_VERSUS_REACH 16u  /* frames from a pair that is searched to the newest one */
#define GPUME_VERSUS_TRIED 16u  /* references on either side: the most that H.264 allows */
#define GPUME_VERSUS_NONE UINT64_MAX

/* One way to predict a block: from the past, the future, or both. */
struct gpume_versus_side {
    uint64_t refs[2];     /* past and future; GPUME_VERSUS_NONE: not used */
    int32_t dx[2], dy[2]; /* quarter pixels */
    struct gpume_match_sums sums;
    uint32_t bits; /* of the vectors that are used */
};

struct gpume_versus_block {
    struct gpume_match_block place; /* what is visible of it */
    uint8_t shape;                  /* index */
    uint64_t candidates[2];         /* the frames that it is taken to refer to */
    /* The vectors into them: the stream's, and those that were found. Quarter pixels. */
    struct gpume_versus_vectors {
        int32_t dx[2], dy[2];
    } given, found;
    struct gpume_versus_side sides[2]; /* as coded, and with the best vectors */
};

struct gpume_versus_frame {
    uint64_t frame;
    int64_t time_us;
    char type;
    size_t count, capacity;
    struct gpume_versus_block *blocks; /* those that can be compared */
    uint64_t left_out;                 /* blocks that cannot */
};

struct gpume_versus {
    uint32_t width, height;
    uint32_t units;  /* in which bits count vectors, in a pixel: 2 or 4 */
    uint32_t lambda; /* the price of a bit in 1/256 of SAD; 0: best vectors have the least SAD */
    enum gpume_interpolation interpolation;
    struct gpume_plane planes[GPUME_VERSUS_PLANES]; /* by number of the frame */
    struct gpume_vector *maps[2];                   /* of predictors: a cell per 8x8 pixels */
    struct gpume_versus_frame frame;
};

/* params: of the search, which uses the stream's interpolation and units. GPUME_NOMEM, logged. */
int gpume_versus_init(struct gpume_versus *versus, const struct gpume_source_info *info,
    const struct gpume_params *params);
void gpume_versus_finish(struct gpume_versus *versus);

/* Where the frame of this number is to be written. */
static inline struct gpume_plane *gpume_versus_plane(struct gpume_versus *versus, uint64_t frame)
{
    return &versus->planes[frame % GPUME_VERSUS_PLANES];
}

/* Begins a frame: measures its blocks as coded. */
int gpume_versus_begin(struct gpume_versus *versus, const struct gpume_coded *coded,
    const struct gpume_coded_frame *frame);

/* Takes the best vectors into one of the frames that the blocks refer to. */
void gpume_versus_take(struct gpume_versus *versus, const struct gpume_field *field);

/* All have been taken: measures the blocks as they could be, and counts bits. */
void gpume_versus_end(struct gpume_versus *versus);

/* --- the files: a table of blocks, a table of frames, and a page that shows both */

/* Sums over blocks: as coded, and with the best vectors. */
struct gpume_versus_sums {
    uint64_t blocks, pixels;
    struct gpume_match_sums match[2];
    uint64_t bits[2];
    uint64_t better, equal, worse; /* blocks by the best vectors' SAD */
};

/* A row of the table of frames. */
struct gpume_versus_row {
    uint64_t frame;
    int64_t time_us;
    char type;
    uint64_t left_out;
    struct gpume_versus_sums sums;
};

/* The block as the vectors of a side predict it: those of the frame that has been measured. */
void gpume_versus_predict(struct gpume_versus *versus, const struct gpume_versus_block *block,
    size_t side, struct gpume_match_samples *samples);

#define GPUME_VERSUS_CROP 48u /* pixels across and down, unless the picture is smaller */

/* A block of a frame, and what lies around it in the target frame: the block itself, as coded, and
 * with the best vectors; width x height samples each, of which the upper 8 bits are kept. */
struct gpume_versus_listed {
    uint64_t frame;
    struct gpume_versus_block block;
    uint32_t left, top, width, height;
    unsigned char crops[3][GPUME_VERSUS_CROP * GPUME_VERSUS_CROP];
};

#define GPUME_VERSUS_LISTED 20u

struct gpume_versus_rows {
    struct gpume_versus_row *rows;
    size_t count, capacity;
    uint32_t bits;               /* of a sample; the caller sets it and the next two */
    uint32_t window_x, window_y; /* pixels */
    uint64_t left_out;
    uint64_t interlaced; /* frames; the caller counts them */
    uint64_t at_border;  /* blocks whose best vector touches the window's border */
    uint64_t outside;    /* blocks whose vector in the stream leads out of the window */
    struct gpume_versus_sums all, shapes[GPUME_CODED_SHAPES], both; /* both: means of two */
    /* The blocks whose SAD the best vectors lower most, by how much; the first of equals. */
    struct gpume_versus_listed worst[GPUME_VERSUS_LISTED];
    size_t worst_count;
};

/* Adds the frame that has been compared. GPUME_NOMEM, logged. */
int gpume_versus_rows_add(struct gpume_versus_rows *rows, struct gpume_versus *versus);
void gpume_versus_rows_finish(struct gpume_versus_rows *rows);

/* side: 0 as coded, 1 with the best vectors. */
double gpume_versus_psnr(uint32_t bits, const struct gpume_versus_sums *sums, size_t side);

/* How much less the best vectors' SAD is: "3.9 % less", or "more". */
void gpume_versus_say_gain(const struct gpume_versus_sums *sums, char *text, size_t bytes);

void gpume_versus_write_head(struct gpume_out *out);
void gpume_versus_write_blocks(struct gpume_out *out, const struct gpume_versus_frame *frame);
void gpume_versus_write_frames(struct gpume_out *out, const struct gpume_versus_rows *rows);

/* What the page says of the run besides. */
struct gpume_versus_run {
    const char *input, *codec;
    const struct gpume_params *params;
};

/* label: the page, for messages. Failures of its pictures are logged. */
int gpume_versus_write_page(struct gpume_out *out, const char *label,
    const struct gpume_versus_rows *rows, const struct gpume_versus_run *run);

#endif
