/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What --resume needs to continue a run: what identifies the run, its sums so far, and the
 * temporary files of its outputs with the number of valid bytes in each. One thread.
 *
 * About once a second, between two fields, cli/estimate/outputs.c drains all outputs and saves the
 * state, and once more before the outputs get their names, with a note that they may have them. A
 * state is replaced as a whole, ends with a checksum over all of it, and names no byte that was not
 * written before. --resume compares the job with its own and the files with what they were: a file
 * that is newer than the state was modified since. Then files that have names by now become
 * temporary files again, the seal first, and are cut at their recorded lengths by the first write
 * after that; so a run that finds its input too short only has to rename them.
 */
#ifndef GPUME_RESUME_STATE_H
#define GPUME_RESUME_STATE_H

#include "base/log.h"
#include "files/out.h"
#include "sinks/summary.h"

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* --- which files a run reads */

#define GPUME_RUN_IDENTITY_BYTES (PATH_MAX + 64)

/* What a run reads, as it was at one moment. */
struct gpume_run_input {
    char name[GPUME_RUN_IDENTITY_BYTES];
    char reference[GPUME_RUN_IDENTITY_BYTES]; /* the first of two still pictures, or "" */
    char predictor[GPUME_RUN_IDENTITY_BYTES]; /* the file of --predictor, or "" */
    /* Checksums of inode number, size and modification time of each file. */
    uint64_t files, predictor_file;
};

/* reference: NULL for a video; predictor: NULL for none. A file is identified by its inode number,
 * a numbered name by the folder and its last part, a pipe by its name: its inode number may be
 * reused. */
void gpume_run_input_look(
    struct gpume_run_input *input, const char *name, const char *reference, const char *predictor);

bool gpume_run_input_is_same(const struct gpume_run_input *a, const struct gpume_run_input *b);

/* Whether the input can be told from others: standard input only if it is a file. */
bool gpume_run_identity_is_certain(const char *input);

/* --- the state, and the file that holds it: beside the first output, replaced as a whole */

/* An output of the run. Their order is always the same. */
struct gpume_run_state_output {
    const char *name; /* "vectors" */
    const char *path;
    bool series; /* numbered files, one after the other */
    bool marked; /* it has a temporary file */
    bool moved;  /* which was renamed when the outputs were finished */
    struct gpume_out_mark mark;
};

struct gpume_run_state {
    const struct gpume_summary *summary; /* run, codec, and all sums so far */
    const struct gpume_run_input *input; /* as it was when the run opened it */
    uint64_t weights;                    /* checksum of the prefilter's kernel */
    struct gpume_run_state_output *outputs;
    size_t output_count;
    /* The outputs are being renamed, or have been: one without its temporary file is called
     * NAME.partial if partial, and has its own name if ending. */
    bool partial, ending;
    bool synced; /* the outputs are on the disk, so a restart of the machine loses nothing */
    uint64_t saved_s, saved_ns; /* when the state that was read was written */
};

/* `.NAME.gpume-state` beside the file that path stands for; for free(). NULL without memory. */
char *gpume_run_state_path(const char *path);

/* Failures have been logged, and leave the old file. */
int gpume_run_state_write(
    const struct gpume_run_state *state, const char *path, const struct gpume_log *log);

/* Reads the sums into *summary, and the marks and flags into *state, whose other members are given.
 * GPUME_EOF: there is no state, or none of its files is left. After one line GPUME_INVALID: it is
 * the state of another run, or cannot be continued; GPUME_AGAIN: that run is still under way;
 * GPUME_IO, GPUME_NOMEM: it cannot be read. */
int gpume_run_state_read(struct gpume_run_state *state, struct gpume_summary *summary,
    const char *path, const struct gpume_log *log);

/* Removes, beside each output, the states of ended runs that had one of the same outputs, other
 * than `path`, this run's own. */
void gpume_run_state_supersede(const struct gpume_run_state *state, const char *path);

#endif
