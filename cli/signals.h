/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SIGINT, SIGTERM and SIGHUP. The first one ends the run in order: it keeps the motion fields
 * that arrive within a second, or waits up to ten seconds for the current one. The second ends the
 * program at once. SIGPIPE and SIGXFSZ are ignored and show as failed writes.
 *
 * --timeout: when the time is up, the run ends like after a signal, but at once. If it has not
 * ended ten seconds later, whatever it waits for, the program ends.
 */
#ifndef GPUME_CLI_SIGNALS_H
#define GPUME_CLI_SIGNALS_H

#include "gpume/filter.h"
#include "media/source.h"

#include <stdbool.h>

/* Starts the thread that waits for signals and for the time limit. Call it before other threads
 * start. catches: blocks the signals in all threads; otherwise they keep their default action.
 * limit: seconds; 0: none. False after one line: no thread can be started. */
bool gpume_signals_start(bool catches, double limit);

/* From now on a signal ends the source, and cancels the context and the filter if that does not
 * suffice. Before this call a signal ends the program, since there is nothing to clean up. */
void gpume_signals_attach(gpume *ctx, gpume_filter *filter, struct gpume_source *source);

/* A function to call before a signal or --timeout ends the program. It runs on another thread,
 * and none of the functions here returns afterwards. NULL: none. */
void gpume_signals_set_leave(void (*leave)(void *opaque), void *opaque);

/* From now on a signal is only noted, for gpume_signals_caught. */
void gpume_signals_keep(void);

/* Output has begun that cannot be removed, such as on a pipe: messages say so. */
void gpume_signals_end(void);

/* From now on a signal changes nothing. completing: the outputs are being completed, which may take
 * seconds; a signal says so. */
void gpume_signals_detach(bool completing);

/* True if the run was interrupted by a signal, or its time has run out. */
bool gpume_signals_caught(void);

/* Says that the run was interrupted, which the caller has noticed, unless --timeout has said why.
 */
void gpume_signals_say_interrupted(void);

/* True if that was at least a second ago. The current frame pair is the last one then. */
bool gpume_signals_overdue(void);

/* Nothing but standard output is written: from now on the program ends with its reader, without a
 * word, as others in a pipeline do. */
void gpume_signals_end_with_reader(void);

void gpume_signals_stop(void);

#endif
