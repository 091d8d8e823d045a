/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `gpume compare` reads of a run besides its vectors: frames.csv, row by row, and the settings
 * in summary.json. One thread per reader.
 */
#ifndef GPUME_COMPARE_RUN_READER_H
#define GPUME_COMPARE_RUN_READER_H

#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct gpume_read_statistics {
    bool known;
    bool has_time; /* does the table have this column? */
    int64_t time_us;
    uint64_t sad_before, sad_after;
    double psnr_before, psnr_after; /* may be infinite */
};

/* The statistics of fields, by rising frame and reference. Errors are logged in one line. */
struct gpume_frames_reader;

/* GPUME_IO: cannot be read; GPUME_INVALID: not such a table. */
int gpume_frames_reader_open(
    struct gpume_frames_reader **reader, const char *path, const struct gpume_log *log);

/* The row of a field; fields must be requested in rising order. `known` is false if there is none.
 * With ref NULL, or without a column for references: the frame's first row. */
int gpume_frames_reader_seek(struct gpume_frames_reader *reader, uint64_t frame,
    const uint64_t *ref, struct gpume_read_statistics *statistics);

/* Sets *reader to NULL. NULL is fine. */
void gpume_frames_reader_close(struct gpume_frames_reader **reader);

/* Input, parameters and engine. */
#define GPUME_READ_SETTINGS_MAX 64u

struct gpume_read_setting {
    char name[48];   /* "--window", "engine device", "input name" */
    char value[160]; /* without quotes; longer ones are truncated */
};

struct gpume_read_settings {
    struct gpume_read_setting items[GPUME_READ_SETTINGS_MAX];
    uint32_t count;
};

/* GPUME_IO: the file cannot be read; GPUME_INVALID: it is not a complete summary; GPUME_NOMEM.
 * There are no settings then. Nothing is logged. */
int gpume_read_settings(struct gpume_read_settings *settings, const char *path);

/* NULL: there is no such setting. */
const char *gpume_read_settings_find(const struct gpume_read_settings *settings, const char *name);

#endif
