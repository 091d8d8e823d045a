/* SPDX-License-Identifier: BSD-2-Clause */
/* One of the two runs that are compared: its files, and the motion field just read. One thread. */
#ifndef GPUME_CLI_COMPARE_SIDE_H
#define GPUME_CLI_COMPARE_SIDE_H

#include "compare/run_reader.h"
#include "vectors/reader.h"

#include <stdbool.h>

#define GPUME_SIDE_FILES 3

/* Starts as zero. */
struct gpume_side {
    bool is_folder;                /* the output folder of a run */
    char *names[GPUME_SIDE_FILES]; /* vectors; of a folder also frames.csv and summary.json */
    struct gpume_vectors_reader *vectors;
    struct gpume_frames_reader *frames;      /* NULL: no frames.csv */
    const struct gpume_vectors_field *field; /* the current one; NULL: all have been read */
};

/* Finds the files of an input. */
int gpume_side_name(struct gpume_side *side, const char *input);

/* Reads the first field. block: of .flo files, or 0. memory_max: for two sides, each of which gets
 * half; 0: no limit. */
int gpume_side_open(struct gpume_side *side, uint32_t block, uint64_t memory_max);

/* None without a summary.json. */
void gpume_side_settings(const struct gpume_side *side, struct gpume_read_settings *settings);

/* Is it a pipe or device, which can be read only once? */
bool gpume_side_is_special(const struct gpume_side *side);

void gpume_side_close(struct gpume_side *side);

#endif
