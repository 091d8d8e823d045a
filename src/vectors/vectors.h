/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/vectors reads and writes files of motion vectors, one field at a time.
 *
 * Fields are defined independently of file formats: what readers return and writers accept. A field
 * is either a list of blocks, each with its position and size, or the results of a search.
 */
#ifndef GPUME_VECTORS_VECTORS_H
#define GPUME_VECTORS_VECTORS_H

#include "base/log.h"
#include "files/out.h"

#include "gpume/gpume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_READ_SIDE_MAX GPUME_SIDE_MAX      /* pixels, of a picture */
#define GPUME_READ_BLOCK_MAX 1024               /* pixels, of a block: more than in any codec */
#define GPUME_READ_BLOCKS_MAX ((size_t)1 << 28) /* of a field: 2^32 pixels in blocks of 4x4 */
#define GPUME_READ_NUMBER_MAX INT64_C(99999999999999999) /* of a frame */

#define GPUME_VECTORS_UNITS 4        /* vectors count in quarters of a pixel */
#define GPUME_VECTORS_ONE UINT64_MAX /* ref2 of a block with one match */

/* What is known about every block, besides position, size and vector. */
enum gpume_vectors_column {
    GPUME_VECTORS_REF = 1u << 0,
    GPUME_VECTORS_COST = 1u << 1,
    GPUME_VECTORS_RANK = 1u << 2,
    GPUME_VECTORS_TIME = 1u << 3,  /* of the frame; 0: unknown */
    GPUME_VECTORS_SHAPE = 1u << 4, /* of the block where no edge cuts it */
    GPUME_VECTORS_BITS = 1u << 5,
    GPUME_VECTORS_REF2 = 1u << 6, /* with the second vector */
    GPUME_VECTORS_CANDIDATE = 1u << 7,
    GPUME_VECTORS_SECOND = 1u << 8,
    GPUME_VECTORS_TIES = 1u << 9,
    GPUME_VECTORS_TEXTURE = 1u << 10,
    GPUME_VECTORS_RETURN = 1u << 11,
    GPUME_VECTORS_FURTHER = 0xff0, /* all from SHAPE on */
};

/* One match of a block. Members that columns does not name are 0 in lists, and undefined in blocks
 * that gpume_vectors_take has made. */
struct gpume_vectors_block {
    uint32_t x, y;  /* upper left corner, pixels */
    uint16_t w, h;  /* pixels, 1 or more */
    int32_t dx, dy; /* in units of GPUME_VECTORS_UNITS, with the sign of gpume.h */
    uint32_t cost, rank;
    uint64_t ref;
    uint16_t shape_w, shape_h;
    uint32_t bits;
    uint64_t ref2; /* GPUME_VECTORS_ONE: there is no second match */
    int32_t dx2, dy2;
    uint32_t candidate;
    uint32_t second; /* GPUME_NONE: there is no second candidate */
    uint32_t ties, texture;
    uint32_t returns; /* in units; GPUME_NONE: unknown */
};

static inline bool gpume_vectors_same_place(
    const struct gpume_vectors_block *a, const struct gpume_vectors_block *b)
{
    return a->x == b->x && a->y == b->y && a->w == b->w && a->h == b->h;
}

/* Read-only, valid until the next call of its owner. */
#define GPUME_VECTORS_FINE 32768

struct gpume_vectors_field {
    uint64_t frame;
    uint64_t ref; /* of the first block; blocks may differ */
    int64_t time_us;
    unsigned columns; /* known: enum gpume_vectors_column */
    bool fine;        /* vectors of the list are in 1/GPUME_VECTORS_FINE pixel, rounded to that */
    size_t count;     /* of blocks, 1 or more */
    uint32_t width, height;                   /* of the picture, as far as blocks cover it */
    const struct gpume_vectors_block *blocks; /* in the order of the file; NULL: */
    const struct gpume_field *results;        /* every block of every layer, or the parts */
    /* Called once by who has been given the field, with the address of a pointer to the results,
     * when it needs them no more: from any thread, perhaps long after the call. NULL: results or
     * blocks are valid only during the call. */
    void (*release)(const struct gpume_field **results);
};

/* Gives the results back to whom they belong, if they have been lent for longer than a call. */
static inline void gpume_vectors_release(const struct gpume_vectors_field *field)
{
    const struct gpume_field *results = field->results;
    if (field->release) {
        field->release(&results);
    }
}

/* What all fields of a file share. */
struct gpume_vectors_info {
    unsigned columns;       /* known: enum gpume_vectors_column */
    uint32_t width, height; /* of the picture, pixels */
    /* Size of the blocks, which form a grid from (0,0) that covers the picture; 0, 0: no grid. */
    uint32_t block_w, block_h;
    uint32_t units;      /* of vectors in a pixel: 1, 2 or 4; 0: 1 */
    uint32_t candidates; /* rows per block, at most; 0: 1 */
    bool joined;         /* blocks of a field may differ in their references */
    bool overlaps;       /* there are several shapes, each of which covers the picture */
    bool has_search;     /* the members below are known */
    uint32_t bits, window_x, window_y;
    enum gpume_edge edge;
    enum gpume_metric metric;
    const char *prefilter; /* NULL: none */
};

/* Blocks of the grid, across and down. */
static inline uint32_t gpume_vectors_blocks_x(const struct gpume_vectors_info *info)
{
    return (info->width - 1) / info->block_w + 1;
}

static inline uint32_t gpume_vectors_blocks_y(const struct gpume_vectors_info *info)
{
    return (info->height - 1) / info->block_h + 1;
}

/* The units that hold all vectors of the field's list: `so_far` or more. */
uint32_t gpume_vectors_units(const struct gpume_vectors_field *field, uint32_t so_far);

/* How many blocks a field's results have: its parts, or all blocks of all layers. */
size_t gpume_vectors_blocks(const struct gpume_field *results);

/* Points *rows to the rows of blocks first to first + count - 1: in the field's list, or made from
 * its results in `buffer`, which has room for count * info->candidates of them. Returns how many.
 */
size_t gpume_vectors_take(const struct gpume_vectors_info *info,
    const struct gpume_vectors_field *field, size_t first, size_t count,
    struct gpume_vectors_block *buffer, const struct gpume_vectors_block **rows);

/* The layer of a field whose rows hold dx, dy, cost and perhaps rank as they are in its arrays, and
 * besides only what follows from a block's number. NULL: it is no such field. */
const struct gpume_layer *gpume_vectors_plain(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field);

/* How many rows gpume_vectors_take makes of all blocks. */
size_t gpume_vectors_rows(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field);

/* Whether the field's list has blocks with different references. */
bool gpume_vectors_is_joined(const struct gpume_vectors_field *field);

/* Sets width, height and block size of *info to the grid that the field's list of blocks forms; the
 * block size is 0, 0 if they form none. */
void gpume_vectors_find_grid(
    const struct gpume_vectors_field *field, struct gpume_vectors_info *info);

/* Whether the field's blocks are exactly those of the grid in info, as those of one layer are. */
bool gpume_vectors_on_grid(
    const struct gpume_vectors_info *info, const struct gpume_vectors_field *field);

/* Computes the ranks of blocks, as gpume.h defines them, from their costs. One thread. */
struct gpume_vectors_ranker;

int gpume_vectors_ranker_create(struct gpume_vectors_ranker **ranker, const struct gpume_log *log);

/* *ranked: a copy of the field, which has a list of blocks, with ranks; valid until the next call.
 * GPUME_NOMEM is logged. */
int gpume_vectors_ranker_apply(struct gpume_vectors_ranker *ranker,
    const struct gpume_vectors_field *field, const struct gpume_vectors_field **ranked);

/* Sets *ranker to NULL. NULL is fine. */
void gpume_vectors_ranker_destroy(struct gpume_vectors_ranker **ranker);

/*
 * --- Reads a file of vectors, written by this program or another, field by field. It holds one
 * field in memory, or all fields of a frame in formats whose blocks may come in any order. An error
 * in the file is one line in the log, with the file and the position. One thread per reader.
 */

struct gpume_vectors_format;
struct gpume_vectors_reader;

/* path: "-" is standard input; may be a pattern (files/path.h) in formats with one file per
 * frame or field. */
struct gpume_vectors_source {
    const char *path;
    const struct gpume_vectors_format *format; /* NULL: recognised by the first bytes */
    uint32_t block;      /* in formats with one vector per pixel: side of the blocks; 0: 1 */
    bool fine;           /* vectors of .flo files may have any fraction: see gpume_vectors_field */
    uint64_t memory_max; /* for blocks, sizeof(struct gpume_vectors_block) each; 0: no limit */
    struct gpume_log log;
};

/* GPUME_IO: cannot be read; GPUME_INVALID: not such a file, or without vectors; GPUME_NOMEM. */
int gpume_vectors_reader_open(
    struct gpume_vectors_reader **reader, const struct gpume_vectors_source *source);

/* The next field, as a list of blocks; NULL after the last. Fields come by rising frame. A frame
 * has one for each reference, or one whose blocks differ in their references. Blocks are at most
 * GPUME_READ_BLOCK_MAX wide and high and lie inside a picture whose sides are GPUME_READ_SIDE_MAX +
 * GPUME_READ_BLOCK_MAX. */
int gpume_vectors_reader_next(
    struct gpume_vectors_reader *reader, const struct gpume_vectors_field **field);

/* What the file states; with a grid only if it states one. Valid until the reader is closed. */
const struct gpume_vectors_info *gpume_vectors_reader_info(
    const struct gpume_vectors_reader *reader);

const struct gpume_vectors_format *gpume_vectors_reader_format(
    const struct gpume_vectors_reader *reader);

/* Sets *reader to NULL. NULL is fine. */
void gpume_vectors_reader_close(struct gpume_vectors_reader **reader);

/*
 * --- Writes fields of vectors to one file in any format, or to one file per frame. On machines
 * with many processors a few threads of the writer format the rows of several fields at once; this
 * does not change the output. All calls for one writer come from one thread. Errors are logged, in
 * one line.
 */

struct gpume_vectors_format;
struct gpume_vectors_writer;

struct gpume_vectors_output {
    const char *path; /* see files/out.h; may be a pattern in formats with one file per frame */
    const struct gpume_vectors_format *format;
    struct gpume_out_set *set; /* of the run; outlives the writer */
    uint32_t processors;       /* that the run may use; 0: all */
    struct gpume_log log;
};

/* info: what all fields share; columns that the format lacks are ignored. GPUME_INVALID: the format
 * needs more than is known. GPUME_UNSUPPORTED: unsuitable name. */
int gpume_vectors_writer_open(struct gpume_vectors_writer **writer,
    const struct gpume_vectors_output *output, const struct gpume_vectors_info *info);

/* Fields come by rising frame and, within a frame, one for each reference. A field with `release`
 * is released in any case, perhaps after the call; errors may be returned by a later one.
 * GPUME_INVALID: the format cannot hold this field. GPUME_UNSUPPORTED: the name does not tell its
 * file from another's.
 */
int gpume_vectors_writer_field(
    struct gpume_vectors_writer *writer, const struct gpume_vectors_field *field);

/* Returns when all fields that it has got are released. */
int gpume_vectors_writer_wait(struct gpume_vectors_writer *writer);

/* All fields of the current frame have come: completes its file if each frame has its own. */
int gpume_vectors_writer_settle(struct gpume_vectors_writer *writer);

/* Completes the output: on GPUME_OK all files have their final names. */
int gpume_vectors_writer_finish(struct gpume_vectors_writer *writer);

/* Removes an unfinished file. Sets *writer to NULL. NULL is fine. */
void gpume_vectors_writer_close(struct gpume_vectors_writer **writer);

#endif
