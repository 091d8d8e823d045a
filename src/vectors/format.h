/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of formats, one per file of src/vectors/formats: functions that turn blocks into bytes
 * and bytes into blocks; and what several formats share: rows of named columns, and the header of
 * .npy files. vectors.h has the files, threads, order and limits. man/gpume-formats.5 specifies
 * every byte.
 */
#ifndef GPUME_VECTORS_FORMAT_H
#define GPUME_VECTORS_FORMAT_H

#include "base/log.h"
#include "files/byte_stream.h"
#include "files/bytes.h"
#include "files/out.h"
#include "files/pack.h"
#include "vectors/vectors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest header of a file, or of a field. */
#define GPUME_VECTORS_HEAD_BYTES 4096u

/* Most rows that one call of rows() gets. */
#define GPUME_VECTORS_PART 256u

/* Bytes after the last row that rows() may overwrite. */
#define GPUME_VECTORS_SLACK_BYTES 128u

/* The file that a format's writer is working on. */
struct gpume_vectors_target {
    const struct gpume_vectors_info *info;
    const struct gpume_vectors_field *field; /* being written: for excess, begin, rows and field */
    void *state;                             /* state_bytes, zeroed once */
    const struct gpume_log *log;             /* for what the output does not log */
};

/* Functions that a format does not need are NULL. rows, plain and whole are called on any thread,
 * for several fields at once, and so do not change the state; the others are called on one. */
struct gpume_vectors_writer_ops {
    size_t state_bytes; /* of the format's own memory; 0: none */
    size_t row_bytes;   /* longest row of one block, but for: */
    size_t further;     /* the columns of GPUME_VECTORS_FURTHER, together */

    /* Called first. GPUME_NOMEM is not logged. */
    int (*open)(const struct gpume_vectors_target *target);

    /* What the field's list of blocks has that the file cannot hold after its header; NULL:
     * nothing. */
    const char *(*excess)(const struct gpume_vectors_target *target);

    /* Writes the header of a file with that many rows; its length does not depend on rows. */
    size_t (*head)(const struct gpume_vectors_target *target, uint64_t rows,
        char at[GPUME_VECTORS_HEAD_BYTES]);

    /* Writes the header of the field whose rows follow. */
    size_t (*begin)(const struct gpume_vectors_target *target, char at[GPUME_VECTORS_HEAD_BYTES]);

    /* Writes count rows of the field to `at` and returns their end. */
    char *(*rows)(const struct gpume_vectors_target *target,
        const struct gpume_vectors_block *blocks, size_t count, char *at);

    /* The same for a field of gpume_vectors_plain, straight from `count` blocks of its layer from
     * `index` on. NULL: use rows. */
    char *(*plain)(const struct gpume_vectors_target *target, const struct gpume_layer *layer,
        size_t index, size_t count, char *at);

    /* Writes what stands for the whole field, at most GPUME_VECTORS_HEAD_BYTES, to `at` and returns
     * its length; replaces begin and rows. */
    size_t (*whole)(const struct gpume_vectors_target *target, char *at);

    /* Length of every row, for formats whose header holds the number of rows. */
    size_t (*fixed_bytes)(const struct gpume_vectors_target *target);

    /* Writes the whole field to the output; replaces begin and rows. */
    int (*field)(const struct gpume_vectors_target *target, struct gpume_out *out);

    /* Writes what remains after the last field. */
    int (*finish)(const struct gpume_vectors_target *target, struct gpume_out *out);

    /* Called even if open failed. */
    void (*close)(const struct gpume_vectors_target *target);
};

/* The file that a format's reader is working on. */
struct gpume_vectors_input {
    struct gpume_stream *stream;
    struct gpume_log log;
    void *state;                    /* state_bytes, zeroed for each file */
    struct gpume_vectors_info info; /* open sets columns and what else the file states */
    uint32_t block;                 /* see struct gpume_vectors_source */
    bool fine;                      /* the same */
    uint64_t frame, ref;            /* from the file's name, in formats with one file per frame */
    bool has_ref;                   /* the name states the reference */
};

struct gpume_vectors_row {
    uint64_t frame, ref;
    int64_t time_us;
    bool begins; /* a field, as far as the file tells fields apart */
    struct gpume_vectors_block block;
};

struct gpume_vectors_reader_ops {
    size_t state_bytes;

    /* At the beginning of a file. */
    int (*open)(struct gpume_vectors_input *input);

    /* The next block, its numbers within the limits of vectors.h. GPUME_EOF: end of the file.
     * GPUME_AGAIN: it lies outside the picture and is left out. Errors are logged with the
     * position, by gpume_stream_refuse. */
    int (*next)(struct gpume_vectors_input *input, struct gpume_vectors_row *row);

    /* Called even if open failed. May be NULL. */
    void (*close)(struct gpume_vectors_input *input);
};

struct gpume_vectors_format {
    const char *name;           /* for --format and --from */
    const char *extension;      /* with its dot; NULL: none */
    unsigned columns;           /* that it can hold: enum gpume_vectors_column */
    unsigned needs;             /* columns that it cannot be written without */
    bool needs_grid;            /* holds only blocks of one size that cover the picture */
    bool numbered;              /* one file per frame, named by a pattern */
    bool one_field;             /* per file: two per frame need a pattern with a pair of numbers */
    bool counted;               /* its header holds the number of rows */
    bool binary;                /* its bytes are no text, even if they are not compressed */
    bool fixed_units;           /* vectors count in the units of its info */
    bool fixed_refs;            /* blocks have their own references only if its info says so */
    bool at_end;                /* all bytes are written by finish: a run cannot be resumed */
    bool any_order;             /* a frame's blocks may come in any order, as decoders write them */
    enum gpume_packing packing; /* of files that are written; any may be read */
    const char *begins;         /* what all its files begin with; NULL: no such text */
    /* Whether a file of this format can begin with these bytes. NULL: it can if `begins` allows it.
     */
    bool (*probe)(const unsigned char *head, size_t bytes);
    const struct gpume_vectors_writer_ops *writer;
    const struct gpume_vectors_reader_ops *reader; /* NULL: write-only, and then: */
    const char *unread;                            /* what is in such a file, and what to do */
};

/* The formats in turn, from 0; NULL after the last. */
const struct gpume_vectors_format *gpume_vectors_format_at(size_t number);

/* NULL: unknown name. */
const struct gpume_vectors_format *gpume_vectors_format_named(const char *name);

/* The format that a file's extension stands for, in upper or lower case. NULL: unknown. */
const struct gpume_vectors_format *gpume_vectors_format_of(const char *path);

/* The format that the first bytes belong to; CSV if no other format recognises them. */
const struct gpume_vectors_format *gpume_vectors_format_probe(
    const unsigned char *head, size_t bytes);

/* All formats, in the order in which gpume_vectors_format_probe asks whose a file is. */
#define GPUME_VECTORS_FORMATS(ROW)                                                                 \
    ROW(csv)                                                                                       \
    ROW(jsonl)                                                                                     \
    ROW(npy)                                                                                       \
    ROW(npz)                                                                                       \
    ROW(mvf)                                                                                       \
    ROW(extract_mvs)                                                                               \
    ROW(mv_extractor)                                                                              \
    ROW(flo)                                                                                       \
    ROW(hash)                                                                                      \
    ROW(csv_gz)                                                                                    \
    ROW(csv_zst)                                                                                   \
    ROW(jsonl_gz)                                                                                  \
    ROW(jsonl_zst)

#define GPUME_VECTORS_DECLARE(name) extern const struct gpume_vectors_format gpume_vectors_##name;
GPUME_VECTORS_FORMATS(GPUME_VECTORS_DECLARE)

/* --- A match of a block as a row of named columns, which vectors.csv, .jsonl and .npy have in
 * common.
 */

enum gpume_block_column {
    GPUME_BLOCK_FRAME,
    GPUME_BLOCK_REF,
    GPUME_BLOCK_X,
    GPUME_BLOCK_Y,
    GPUME_BLOCK_W,
    GPUME_BLOCK_H,
    GPUME_BLOCK_DX,
    GPUME_BLOCK_DY,
    GPUME_BLOCK_COST,
    GPUME_BLOCK_RANK,
    GPUME_BLOCK_SHAPE, /* from here on, written only where a run asks for it */
    GPUME_BLOCK_BITS,
    GPUME_BLOCK_REF2,
    GPUME_BLOCK_DX2,
    GPUME_BLOCK_DY2,
    GPUME_BLOCK_CANDIDATE,
    GPUME_BLOCK_SECOND,
    GPUME_BLOCK_TIES,
    GPUME_BLOCK_TEXTURE,
    GPUME_BLOCK_RETURN,
    GPUME_BLOCK_COLUMNS,
};

/* What a number in a column means, and how text spells it. */
enum gpume_block_type {
    GPUME_BLOCK_NUMBER,
    GPUME_BLOCK_PIXELS,  /* in units of GPUME_VECTORS_UNITS; decimals in shortest form */
    GPUME_BLOCK_OUTLINE, /* width << 16 | height; 16x8 */
};

#define GPUME_BLOCK_EMPTY INT64_MIN /* no value, where a column is optional */

struct gpume_block_column_kind {
    const char *name;
    unsigned flag; /* of enum gpume_vectors_column; 0: every file has this column */
    enum gpume_block_type type;
    bool optional;    /* cells may be empty */
    int64_t min, max; /* accepted from files */
};

extern const struct gpume_block_column_kind gpume_block_columns[GPUME_BLOCK_COLUMNS];

/* Longest text of all columns from SHAPE on, with a comma after each. */
#define GPUME_BLOCK_FURTHER_BYTES 136u

/* Whether files with these columns of enum gpume_vectors_column have it. */
static inline bool gpume_block_has(unsigned columns, enum gpume_block_column column)
{
    const unsigned flag = gpume_block_columns[column].flag;
    return (columns & flag) == flag;
}

/* The number in a column from SHAPE on. */
int64_t gpume_block_number(const struct gpume_vectors_block *block, enum gpume_block_column column);

/* Writes a number that is not empty, and returns its end; may touch 7 bytes after it. */
char *gpume_block_put(char *at, enum gpume_block_type type, int64_t number);

/* The reverse: parses the text up to its end, or up to a character in ",} \t\"". Returns where it
 * stopped, or NULL: it is no number, or out of the column's range. */
const char *gpume_block_parse(enum gpume_block_column column, const char *text, int64_t *number);

/* What the column's text may be, to follow "not ". */
void gpume_block_describe(enum gpume_block_column column, char *text, size_t bytes);

/* Sets all values to what a file without these columns means: 0, or empty if optional. */
void gpume_block_clear(int64_t values[GPUME_BLOCK_COLUMNS]);

/* The block with these values, which are within the limits. */
struct gpume_vectors_row gpume_block_row(const int64_t values[GPUME_BLOCK_COLUMNS]);

/*
 * --- The header of a .npy file, as NumPy's numpy.lib.format describes it: magic, version, length,
 * and a Python dictionary of type, order and shape.
 */

#define GPUME_NPY_MAGIC "\x93NUMPY"
#define GPUME_NPY_MAGIC_BYTES 6u
#define GPUME_NPY_COLUMNS_MAX 64u
#define GPUME_NPY_NAME_BYTES 32u
#define GPUME_NPY_TEXT_BYTES_MAX 9u   /* of a column with text */
#define GPUME_NPY_ITEM_BYTES_MAX 576u /* 64 columns of 9 bytes */

/* A member of a structured type; a plain type has one member without a name. */
struct gpume_npy_column {
    char name[GPUME_NPY_NAME_BYTES];
    char kind;     /* 'i', 'u', 'f', or 'S' for text */
    uint8_t bytes; /* 1, 2, 4 or 8; of text: 1 to 9 */
    size_t offset; /* in the item */
};

struct gpume_npy {
    struct gpume_npy_column columns[GPUME_NPY_COLUMNS_MAX];
    size_t count;
    size_t item_bytes;
    uint32_t dimensions; /* 1 or 2 */
    uint64_t shape[2];
};

/* Writes a header of exactly `total` bytes, a multiple of 64. descr: the type in Python's notation.
 * shape: a tuple in that notation, too, such as "(4, 10)". */
void gpume_npy_head(char *at, size_t total, const char *descr, const char *shape);

/* Reads the header. Refuses types other than little-endian numbers, tables in Fortran order, and
 * more than two dimensions. */
int gpume_npy_read(struct gpume_stream *stream, struct gpume_npy *npy);

/* Reads a column of an item. False: not an integer, or it does not fit an int64_t. */
bool gpume_npy_int(
    const struct gpume_npy_column *column, const unsigned char *item, int64_t *value);

#endif
