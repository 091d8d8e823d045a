/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins files of one kind, byte by byte: tables, jsonl, .mvf, .npy, lists of hashes and Y4M. Each
 * is a head, which all of them have in common, and a body. If they are compressed, the head is a
 * separate member, and may be compressed otherwise in each of them.
 */
#ifndef GPUME_MERGE_JOIN_H
#define GPUME_MERGE_JOIN_H

#include "base/log.h"
#include "files/out.h"
#include "files/out_set.h"
#include "files/pack.h"
#include "merge/part.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_JOIN_HEAD_MAX ((size_t)64 * 1024)

enum gpume_join_kind { GPUME_JOIN_LINES, GPUME_JOIN_MVF, GPUME_JOIN_NPY, GPUME_JOIN_Y4M };

/* What a row of a file is. */
enum gpume_join_rows {
    GPUME_JOIN_FIELDS,  /* a frame pair */
    GPUME_JOIN_BLOCKS,  /* a block, or one of its candidates */
    GPUME_JOIN_MATCHES, /* one of the two matches that a block may have */
};

/* A file to be joined. Starts as zero. */
struct gpume_join_file {
    char *path;
    enum gpume_join_kind kind;
    unsigned char *head; /* for free() */
    size_t head_bytes;
    enum gpume_packing packing;
    unsigned char *text; /* of a compressed head; for free() */
    size_t text_bytes;
    enum gpume_join_rows each;
    uint64_t bytes;              /* of the file */
    uint64_t fields;             /* of an .mvf */
    uint64_t rows;               /* of an .npy or .mvf; pictures of a .y4m */
    size_t rows_at, rows_digits; /* the place of that number in the head of an .npy */
    uint64_t lines;              /* that a table or list must have; 0: any number */
};

/* Takes over path. GPUME_INVALID after one line: it is of no such kind, or not as long as its own
 * heads say. GPUME_IO, GPUME_NOMEM. Release it in any case. */
int gpume_join_look(struct gpume_join_file *file, char *path, const struct gpume_log *log);

/* GPUME_INVALID after one line: it has not the frame pairs or blocks that its part has. Lines are
 * counted when they are copied. Where a block may have several rows, all of the file is read. */
int gpume_join_count(
    struct gpume_join_file *file, const struct gpume_merge_part *part, const struct gpume_log *log);

void gpume_join_finish(struct gpume_join_file *file);

/* GPUME_INVALID after one line: their heads differ. */
int gpume_join_check(
    const struct gpume_join_file *a, const struct gpume_join_file *b, const struct gpume_log *log);

/* Writes the head of all of them. GPUME_INVALID after one line: it has no room for all rows. */
int gpume_join_head(struct gpume_out *out, const struct gpume_join_file *files, size_t count,
    const struct gpume_log *log);

/* Appends a body. ended: is asked now and then whether to give up with GPUME_CANCELLED.
 * GPUME_INVALID after one line: it has another number of lines than it must have, is compressed and
 * damaged, or has changed since it was looked at. */
int gpume_join_append(struct gpume_out *out, const struct gpume_join_file *file,
    bool (*ended)(void), const struct gpume_log *log);

/* The whole file, as it is. */
int gpume_join_copy(struct gpume_out *out, const char *path, const struct gpume_log *log);

/* --- numbered files of a part: one for each frame, or for each frame and its reference */

/* GPUME_INVALID after one line: the file of this frame pair is missing or not whole. */
int gpume_merge_series_check(const struct gpume_merge_part *part, const char *pattern,
    uint64_t frame, uint64_t ref, const struct gpume_log *log);

/* Copies it into the folder, where it has its name at once. */
int gpume_merge_series_copy(const struct gpume_merge_part *part, const char *pattern,
    uint64_t frame, uint64_t ref, const char *folder, struct gpume_out_set *set,
    const struct gpume_log *log);

/* Whether a numbered file, a picture, .flo, or .npy, is as long as its own head says. GPUME_INVALID
 * after one line. */
int gpume_merge_length_still(const char *path, const struct gpume_log *log);

#endif
