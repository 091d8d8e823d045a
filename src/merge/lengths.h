/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that files are as long as their own heads say: one that was cut, or that has more bytes
 * after its end, is not. */
#ifndef GPUME_MERGE_LENGTHS_H
#define GPUME_MERGE_LENGTHS_H

#include "merge/join.h"

#include <sys/types.h>

#define GPUME_MERGE_MVF_HEAD_BYTES 64u

/* The file's head has been read; sets its fields and rows. GPUME_INVALID after one line. */
int gpume_merge_length_mvf(struct gpume_join_file *file, int fd, const struct gpume_log *log);
int gpume_merge_length_npy(struct gpume_join_file *file, int fd, const struct gpume_log *log);
int gpume_merge_length_y4m(struct gpume_join_file *file, int fd, const struct gpume_log *log);

/* A numbered file: a picture, .flo, or .npy. GPUME_INVALID after one line. */
int gpume_merge_length_still(const char *path, const struct gpume_log *log);

/* Reads up to `bytes` bytes; -1: errno. */
ssize_t gpume_merge_read_at(int fd, void *to, size_t bytes, uint64_t at);

/* Says why the part is to be run again. Returns GPUME_INVALID. */
int gpume_merge_refuse(const char *path, const char *why, const struct gpume_log *log);

/* Says why it cannot be read: an errno. GPUME_INVALID: it is missing; GPUME_IO. */
int gpume_merge_complain(const char *path, int error, const struct gpume_log *log);

#endif
