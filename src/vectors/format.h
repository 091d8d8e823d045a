/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of formats for vectors, and what each has to give: functions that make bytes of blocks,
 * and functions that make blocks of bytes. Files, threads, order and limits are the business of
 * vectors_writer and vectors_reader. man/gpume-formats.5 says every byte.
 */
#ifndef GPUME_VECTORS_FORMAT_H
#define GPUME_VECTORS_FORMAT_H

#include "base/log.h"
#include "files/byte_stream.h"
#include "files/out.h"
#include "vectors/vectors.h"

/* Of the head of a file and of that of a field, at most. */
#define GPUME_VECTORS_HEAD_BYTES 4096u

/* Blocks that rows() is given at once. */
#define GPUME_VECTORS_PART 256u

/* Behind a row's last byte, that rows() may touch. */
#define GPUME_VECTORS_SLACK_BYTES 128u

/* What a format does not need is NULL. Called by one thread, rows by any. */
struct gpume_vectors_writer_ops {
    size_t state_bytes; /* of memory, zeroed, that all get */
    size_t row_bytes;   /* of a block's row, at most */

    /* Once, before all others; the info outlives the state. GPUME_NOMEM is not logged. */
    int (*open)(void *state, const struct gpume_vectors_info *info);

    /* The first bytes of a file with so many rows; the same number of bytes whatever rows is. */
    size_t (*head)(void *state, uint64_t rows, char at[GPUME_VECTORS_HEAD_BYTES]);

    /* The first bytes of a field, of which rows are asked next. */
    size_t (*begin)(
        void *state, const struct gpume_vectors_field *field, char at[GPUME_VECTORS_HEAD_BYTES]);

    /* Puts the rows of count blocks of that field at `at` and returns their end. */
    char *(*rows)(
        const void *state, const struct gpume_vectors_block *blocks, size_t count, char *at);

    /* Of a row exactly; where the head says how many there are. */
    size_t (*fixed_bytes)(const void *state);

    /* In place of begin and rows: the whole field. */
    int (*field)(void *state, const struct gpume_vectors_field *field, struct gpume_out *out);

    void (*close)(void *state);
};

/* What readers of formats work on. */
struct gpume_vectors_input {
    struct gpume_stream *stream;
    struct gpume_log log;
    void *state;                    /* state_bytes, zeroed for each file */
    struct gpume_vectors_info info; /* open fills in what the file says; columns are a must */
    uint32_t block;                 /* see struct gpume_vectors_source */
    uint64_t frame;                 /* of the file, in formats with a file a frame */
    uint64_t ref;                   /* likewise; counts if has_ref */
    bool has_ref;
};

struct gpume_vectors_row {
    uint64_t frame, ref;
    int64_t time_us;
    struct gpume_vectors_block block;
};

struct gpume_vectors_reader_ops {
    size_t state_bytes;

    /* At the beginning of a file. */
    int (*open)(struct gpume_vectors_input *input);

    /* The next block, its numbers within the limits of vectors.h. GPUME_EOF: the file has none
     * more. What is wrong is refused by the stream, with its place. */
    int (*next)(struct gpume_vectors_input *input, struct gpume_vectors_row *row);

    /* Also after open has failed. May be NULL. */
    void (*close)(struct gpume_vectors_input *input);
};

struct gpume_vectors_format {
    const char *name;      /* for --format and --from */
    const char *extension; /* that means it, with its dot; NULL: none does */
    unsigned columns;      /* that it holds: enum gpume_vectors_column */
    unsigned needs;        /* without which it cannot be written */
    bool needs_grid;       /* likewise: the blocks of a picture's grid */
    bool numbered;         /* a file a frame, by a pattern */
    bool one_field;        /* of a frame, in a file: two want a pattern with a pair of numbers */
    bool counted;          /* its head says how many rows there are */
    bool any_order;        /* decoders write it: a frame's blocks come as they are coded */
    /* Can these, the first bytes of a file, be of this format? NULL: nothing tells. */
    bool (*probe)(const unsigned char *head, size_t bytes);
    const struct gpume_vectors_writer_ops *writer;
    const struct gpume_vectors_reader_ops *reader; /* NULL: it cannot be read */
};

/* By number, from 0; NULL after the last. */
const struct gpume_vectors_format *gpume_vectors_format_at(size_t number);

/* NULL: there is none of that name. */
const struct gpume_vectors_format *gpume_vectors_format_named(const char *name);

/* By the end of a file's name, in any case. NULL: unknown. */
const struct gpume_vectors_format *gpume_vectors_format_of(const char *path);

/* By the first bytes; text that is nothing else is taken for a table in CSV. */
const struct gpume_vectors_format *gpume_vectors_format_probe(
    const unsigned char *head, size_t bytes);

extern const struct gpume_vectors_format gpume_vectors_csv;
extern const struct gpume_vectors_format gpume_vectors_extract_mvs;
extern const struct gpume_vectors_format gpume_vectors_npy;
extern const struct gpume_vectors_format gpume_vectors_mv_extractor;
extern const struct gpume_vectors_format gpume_vectors_flo;
extern const struct gpume_vectors_format gpume_vectors_jsonl;
extern const struct gpume_vectors_format gpume_vectors_mvf;
extern const struct gpume_vectors_format gpume_vectors_hash;

#endif
