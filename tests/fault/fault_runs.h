/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many runs of a program for the start of one: loading it and its hundred libraries takes longer
 * than a small run. Where the environment says so, each run is a fork of the process as it is when
 * `main` has not begun yet.
 *
 *     GPUME_FAULT_RUNS="N N N"  numbers of runs, one after the other
 *     GPUME_FAULT_COUNTER=NAME  the variable of fault.h that has a run's number as its value, and
 *     GPUME_FAULT_SUFFIX=+      that behind it
 *
 * Run N is in folder N of the current one, its standard error in N.err, its report (fault.h) in
 * N.report, with "status S" as the last line: its exit status, or 128 and the signal's number; it
 * has a minute. Its standard output is in `out`.
 */
#ifndef GPUME_TESTS_FAULT_RUNS_H
#define GPUME_TESTS_FAULT_RUNS_H

/* Before `main`: returns once in each run, or at once where there is nothing to do. */
void fault_runs(void);

#endif
