/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --timeout: a thread that ends the run when its time is over, whatever it waits for. First as a
 * signal would, with partial results; where that takes too long, the program at once.
 */
#ifndef GPUME_CLI_DEADLINE_H
#define GPUME_CLI_DEADLINE_H

#include <stdbool.h>

/* After gpume_signals_start, so that signals go elsewhere. seconds: 0 = no deadline. False, said:
 * no thread can be started. */
bool gpume_deadline_start(double seconds);

/* The run has ended by itself. */
void gpume_deadline_stop(void);

#endif
