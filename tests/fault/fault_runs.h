/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts a program once for many runs, because loading it and its hundred libraries takes longer
 * than a small run. If the environment variables below are set, each run is a fork of the process
 * just before `main` begins.
 *
 *     GPUME_FAULT_RUNS="N N N"  the numbers of the runs, in order
 *     GPUME_FAULT_COUNTER=NAME  the variable of fault.h that has a run's number as its value, and
 *     GPUME_FAULT_SUFFIX=+      that behind it
 *
 * Run N works in the subfolder N, its standard error in N.err, its report (fault.h) in N.report,
 * with "status S" as the last line: its exit status, or 128 and the signal's number. A run that
 * takes longer than RUN_SECONDS is killed. Its standard output is in `out`.
 */
#ifndef GPUME_TESTS_FAULT_RUNS_H
#define GPUME_TESTS_FAULT_RUNS_H

/* Called before `main`: returns once in each run, or at once if the variables are not set. */
void fault_runs(void);

#endif
