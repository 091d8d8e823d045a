/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --timeout: a thread that ends the run when its time is up, whatever it waits for. It first
 * interrupts the run like a signal, keeping partial results; if that takes too long, it ends the
 * program.
 */
#ifndef GPUME_CLI_DEADLINE_H
#define GPUME_CLI_DEADLINE_H

#include <stdbool.h>

/* Call it after gpume_signals_start, which blocks signals in the new thread. seconds 0: no
 * deadline. False after one line: no thread can be started. */
bool gpume_deadline_start(double seconds);

/* The run has ended in time. */
void gpume_deadline_stop(void);

#endif
