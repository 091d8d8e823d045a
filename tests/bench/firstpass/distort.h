/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Controls of a first pass: vectors are distorted before anything uses them, which shows what they
 * are worth. Costs, kinds of blocks, frame types and offsets follow from the distorted vectors.
 *
 * The linker puts __wrap_gpume_choose in the place of the analysis's own function. That sees no
 * means that a GPU has found, so the analysis must run on the CPU engine. One thread.
 */
#ifndef GPUME_TESTS_DISTORT_H
#define GPUME_TESTS_DISTORT_H

#include <stdbool.h>

/* "as_found", "zero", "reversed" or "shuffled"; false: another name. Without a call the environment
 * variable FIRSTPASS_DISTORT says it. */
bool distort_by(const char *name);

/* Frees what an analysis has used. */
void distort_finish(void);

#endif
