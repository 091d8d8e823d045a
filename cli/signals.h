/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP: the first ends the run in good order, the second ends the program at
 * once. SIGPIPE and SIGXFSZ are ignored: they show as failed writes.
 */
#ifndef GPUME_CLI_SIGNALS_H
#define GPUME_CLI_SIGNALS_H

#include "gpume/gpume.h"
#include "media/source.h"

#include <stdbool.h>

/* Blocks the signals for all threads and starts the one that takes them. First thing in main. */
bool gpume_signals_start(void);

/* From now on a signal cancels these. Before, when there is nothing to clean up, it ends the
 * program. */
void gpume_signals_attach(gpume *ctx, struct gpume_source *source);

/* From now on a signal is only kept for gpume_signals_caught. */
void gpume_signals_keep(void);

/* From now on a signal ends the program: what it has written to a pipe cannot be taken back. */
void gpume_signals_end(void);

/* From now on a signal changes nothing: the outputs are being completed. */
void gpume_signals_detach(void);

/* The run's time is over: cancels as a signal does, and says nothing. False: there is nothing to
 * cancel, and nothing to clean up. */
bool gpume_signals_expire(void);

/* Was the run cancelled by a signal, or has its time run out? */
bool gpume_signals_caught(void);

void gpume_signals_stop(void);

#endif
