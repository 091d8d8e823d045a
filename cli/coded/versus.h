/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A comparison with a stream's vectors, frame by frame: how the vectors of the stream predict its
 * blocks, how the best vectors do, and what either cost in bits. The stream does not name its
 * references: of those that come into question, a block is taken to use the one that its vector
 * predicts it from best; and of the vectors that the decoder gives a block with two, the one or the
 * mean of both that predicts it best. Best vectors of a mean are the best of those pairs that
 * consist of the stream's vectors and those that a search for one alone finds.
 */
#ifndef GPUME_CLI_CODED_VERSUS_H
#define GPUME_CLI_CODED_VERSUS_H

#include "coded/coded.h"
#include "coded/match.h"
#include "files/out.h"

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
