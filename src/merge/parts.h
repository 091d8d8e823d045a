/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * src/merge joins the files of runs over consecutive ranges of frames to those of one run. Main
 * thread only.
 */
#ifndef GPUME_MERGE_PARTS_H
#define GPUME_MERGE_PARTS_H

#include "base/log.h"
#include "files/out.h"
#include "files/pack.h"
#include "sinks/summary.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- a part is the folder of such a run, known by its summary.json */

/* Starts as zero. */
struct gpume_merge_part {
    const char *folder; /* as the user named it */
    json_t *summary;    /* all numbers are reals */
    const json_t *input, *parameters;
    bool is_open; /* it goes on to the end of the input: it was not told how many targets it has */
    uint64_t first, end;     /* target frames: from first to end - 1, or, if open, from first on */
    uint64_t fields, blocks; /* frame pairs, and blocks in tables of them */
    uint32_t candidates;     /* rows of a block in such a table, */
    bool fewer;              /* or, if there are no others, fewer */
    bool two_matches;        /* a block may have two references */
    uint32_t window_x, window_y;
};

/* Reads the folder's summary.json. GPUME_INVALID after one line: there is none, or it is not that
 * of a complete run of a video. GPUME_IO, GPUME_NOMEM. Release it in any case. */
int gpume_merge_part_read(
    struct gpume_merge_part *part, const char *folder, const struct gpume_log *log);
void gpume_merge_part_finish(struct gpume_merge_part *part);

/* Sorts the parts by their frames. GPUME_INVALID after one line: they are not parts of one run,
 * because they overlap, frames are missing between them, or their inputs or parameters differ.
 * whole: they must also begin and end as the run without --start and --frames does. */
int gpume_merge_parts_check(
    struct gpume_merge_part *parts, size_t count, bool whole, const struct gpume_log *log);

/* The path of a file of the part, for free(); NULL after one line: out of memory. */
char *gpume_merge_part_path(
    const struct gpume_merge_part *part, const char *name, const struct gpume_log *log);

/* --- join.c: files of one kind, byte by byte: tables, jsonl, .mvf, .npy, lists of hashes and Y4M.
 * Each is a head, which all of them have in common, and a body. If they are compressed, the head is
 * a separate member, and may be compressed otherwise in each of them. */

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

/* --- the summary of all parts: exact sums, from the rows of their frames.csv, and the
 * sums of their times */

struct gpume_merge_total {
    const struct gpume_merge_part *parts;
    size_t count;
    struct gpume_run run; /* as much of it as gpume_summary_put_results needs */
    struct gpume_summary summary;
};

/* Before the first row. The parts have been checked and outlive it. */
void gpume_merge_total_begin(
    struct gpume_merge_total *total, const struct gpume_merge_part *parts, size_t count);

/* Is called with each row's frame and reference; a status other than GPUME_OK ends the reading. */
typedef int (*gpume_merge_total_fn)(void *opaque, uint64_t frame, uint64_t ref);

/* Adds the rows of a part's frames.csv, in the order of the parts. GPUME_INVALID after one line:
 * it is no such table, or does not fit the part's summary. */
int gpume_merge_total_add(struct gpume_merge_total *total, const struct gpume_merge_part *part,
    gpume_merge_total_fn row, void *opaque, const struct gpume_log *log);

/* Writes summary.json, after the last row. */
void gpume_merge_total_write(const struct gpume_merge_total *total, struct gpume_out *out);

/* Joins reports in .csv and .json; files: one per part of the total, which is complete.
 * GPUME_INVALID after one line: a report is damaged, or has another number of rows than its part.
 */
int gpume_merge_report_write(struct gpume_out *out, const struct gpume_join_file *files,
    const struct gpume_merge_total *total, const struct gpume_log *log);

#endif
