/* SPDX-License-Identifier: BSD-2-Clause */
/* What a comparison with a stream's vectors writes: a table of blocks, a table of frames, and a
 * page that shows both. Main thread only. */
#ifndef GPUME_CLI_CODED_VERSUS_TABLE_H
#define GPUME_CLI_CODED_VERSUS_TABLE_H

#include "coded/versus.h"
#include "files/out.h"

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

/* A block of a frame. */
struct gpume_versus_listed {
    uint64_t frame;
    struct gpume_versus_block block;
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

/* Adds a frame that has been compared. GPUME_NOMEM, logged. */
int gpume_versus_rows_add(struct gpume_versus_rows *rows, const struct gpume_versus_frame *frame);
void gpume_versus_rows_finish(struct gpume_versus_rows *rows);

/* side: 0 as coded, 1 with the best vectors. */
double gpume_versus_psnr(uint32_t bits, const struct gpume_versus_sums *sums, size_t side);

/* How much less the best vectors' SAD is, in percent. */
double gpume_versus_gain(const struct gpume_versus_sums *sums);

/* The same in words: "3.9 % less", or "more". */
void gpume_versus_say_gain(const struct gpume_versus_sums *sums, char *text, size_t bytes);

void gpume_versus_write_head(struct gpume_out *out);
void gpume_versus_write_blocks(struct gpume_out *out, const struct gpume_versus_frame *frame);
void gpume_versus_write_frames(struct gpume_out *out, const struct gpume_versus_rows *rows);

/* What the page says of the run besides. */
struct gpume_versus_run {
    const char *input, *codec;
    const struct gpume_params *params;
};

void gpume_versus_write_page(struct gpume_out *out, const struct gpume_versus_rows *rows,
    const struct gpume_versus_run *run);

#endif
