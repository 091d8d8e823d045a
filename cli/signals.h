/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP: the first ends the run in good order, with the fields that come
 * within a second, or the one in hand where it takes longer, up to ten; the second ends the program
 * at once. SIGPIPE and SIGXFSZ are ignored: they show as failed writes.
 */
#ifndef GPUME_CLI_SIGNALS_H
#define GPUME_CLI_SIGNALS_H

#include "gpume/gpume.h"
#include "media/source.h"

#include <stdbool.h>

/* Blocks the signals for all threads and starts the one that takes them. First thing in main. */
bool gpume_signals_start(void);

/* From now on a signal ends the source, and cancels the context if that was not enough. Before,
 * when there is nothing to clean up, it ends the program. */
void gpume_signals_attach(gpume *ctx, struct gpume_source *source);

/* What a signal, or the deadline, has done before it ends the program by itself: on another thread,
 * after which no function of these returns. NULL: nothing. */
void gpume_signals_set_leave(void (*leave)(void *opaque), void *opaque);

/* From now on a signal is only kept for gpume_signals_caught. */
void gpume_signals_keep(void);

/* From now on a signal ends the program: what it has written to a pipe cannot be taken back. */
void gpume_signals_end(void);

/* From now on a signal changes nothing: the outputs are being completed. */
void gpume_signals_detach(void);

/* The run's time is over: ends it at once as a signal does in the end, and says nothing. False:
 * there is nothing to end, nothing is left to clean up, and the caller ends the program. */
bool gpume_signals_expire(void);

/* Was the run interrupted by a signal, or has its time run out? */
bool gpume_signals_caught(void);

/* Was it a second ago or more? The field in hand is the last one then. */
bool gpume_signals_overdue(void);

void gpume_signals_stop(void);

#endif
