/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a source in a thread of its own, a few frames ahead of the one who takes them, so that
 * decoding goes on meanwhile. All functions: one thread, which leaves the source alone until
 * gpume_read_ahead_stop.
 */
#ifndef GPUME_CLI_READ_AHEAD_H
#define GPUME_CLI_READ_AHEAD_H

#include "media/source.h"

#include <pthread.h>

#define GPUME_AHEAD_HELD 4u    /* frames that are valid: the last one taken, and those before it */
#define GPUME_AHEAD_FRAMES 12u /* also those read ahead: enough for unequal times of decoding */

struct gpume_read_ahead {
    struct gpume_source *source;
    uint64_t end; /* frames to read in all */
    struct gpume_luma_view views[GPUME_AHEAD_FRAMES];
    int64_t times_us[GPUME_AHEAD_FRAMES];
    bool running;
    pthread_t thread;
    pthread_mutex_t mutex; /* of all below; the thread writes to the next view, if it is returned */
    pthread_cond_t changed;
    uint64_t read, taken, returned; /* frames */
    bool stop, ended;
    int status; /* GPUME_OK: the thread has not failed and not reached the end of the input */
};

/* Starts as zero. Allocates memory; false: there is not enough. */
bool gpume_read_ahead_init(struct gpume_read_ahead *ahead, const struct gpume_source_info *info);
void gpume_read_ahead_finish(struct gpume_read_ahead *ahead);

/* Starts to read up to `count` frames; 0: all. On failure one line has been logged. */
int gpume_read_ahead_start(
    struct gpume_read_ahead *ahead, struct gpume_source *source, uint64_t count);

/* Waits for the next frame, which is valid until GPUME_AHEAD_HELD more are taken. False: there is
 * none. */
bool gpume_read_ahead_next(
    struct gpume_read_ahead *ahead, const struct gpume_plane **plane, int64_t *time_us);

/* Ends the thread, if it runs, and cancels the source if not all frames have been read. Returns
 * what ended the reading, as gpume_source_read does; GPUME_OK: all `count` frames have been read.
 */
int gpume_read_ahead_stop(struct gpume_read_ahead *ahead);

#endif
