/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Joins files of one kind, byte by byte: tables, jsonl, .mvf, .npy, lists of hashes and Y4M. Each
 * is a head, which all of them have in common, and a body. If they are compressed, the head is a
 * member of its own, and may be compressed otherwise in each of them.
 */
#ifndef GPUME_MERGE_JOIN_H
#define GPUME_MERGE_JOIN_H

#include "base/log.h"
#include "files/out.h"
#include "files/packing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPUME_JOIN_HEAD_MAX ((size_t)64 * 1024)

enum gpume_join_kind { GPUME_JOIN_LINES, GPUME_JOIN_MVF, GPUME_JOIN_NPY, GPUME_JOIN_Y4M };

/* A file to be joined. Starts as zero. */
struct gpume_join_file {
    char *path;
    enum gpume_join_kind kind;
    unsigned char *head; /* for free() */
    size_t head_bytes;
    enum gpume_packing packing;
    unsigned char *text; /* of a compressed head; for free() */
    size_t text_bytes;
    uint64_t bytes; /* of the file */
    uint64_t rows;  /* of an .npy */
    bool is_blocks; /* a table with one row per block */
};

/* Takes over path. fields: frame pairs that it must hold, as far as that can be seen without
 * reading all of it. GPUME_INVALID after one line: it is of no such kind, or not complete.
 * GPUME_IO, GPUME_NOMEM. Release it in any case. */
int gpume_join_look(
    struct gpume_join_file *file, char *path, uint64_t fields, const struct gpume_log *log);
void gpume_join_finish(struct gpume_join_file *file);

/* GPUME_INVALID after one line: their heads differ. */
int gpume_join_check(
    const struct gpume_join_file *a, const struct gpume_join_file *b, const struct gpume_log *log);

/* Writes the head of all of them. */
int gpume_join_head(struct gpume_out *out, const struct gpume_join_file *files, size_t count);

/* Appends a body. lines: of a table or list, as many as it must have; 0: unknown. ended: is asked
 * now and then whether to give up with GPUME_CANCELLED. GPUME_INVALID after one line: it has
 * another number of lines, or is compressed and damaged. */
int gpume_join_append(struct gpume_out *out, const struct gpume_join_file *file, uint64_t lines,
    bool (*ended)(void), const struct gpume_log *log);

/* The whole file, as it is. */
int gpume_join_copy(struct gpume_out *out, const char *path, const struct gpume_log *log);

#endif
