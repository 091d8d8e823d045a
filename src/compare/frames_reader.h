/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frames.csv, row by row: the figures of fields, by rising frame and reference. What is wrong is
 * one line in the log. One thread a reader.
 */
#ifndef GPUME_COMPARE_FRAMES_READER_H
#define GPUME_COMPARE_FRAMES_READER_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_read_figures {
    bool known;
    bool has_time; /* false: the table has no such column */
    int64_t time_us;
    uint64_t sad_before, sad_after;
    double psnr_before, psnr_after; /* may be infinite */
};

struct gpume_frames_reader;

/* GPUME_IO: cannot be read; GPUME_INVALID: no such table. */
int gpume_frames_reader_open(
    struct gpume_frames_reader **reader, const char *path, const struct gpume_log *log);

/* Those of a field; fields asked for rise. Not known where the file has no such row. ref NULL, or a
 * file without that column: those of the frame's first row. */
int gpume_frames_reader_seek(struct gpume_frames_reader *reader, uint64_t frame,
    const uint64_t *ref, struct gpume_read_figures *figures);

/* Sets *reader to NULL. NULL is fine. */
void gpume_frames_reader_close(struct gpume_frames_reader **reader);

#endif
