/* SPDX-License-Identifier: BSD-2-Clause */
/* The two halves of the public API. Both consume all their input. */
#ifndef GPUME_TESTS_FUZZ_API_H
#define GPUME_TESTS_FUZZ_API_H

#include "fuzz.h"

#include <stdbool.h>

/* general: also with the parameters of the general search. */
void fuzz_motion(struct fuzz_bytes *from, bool general);
void fuzz_compute(struct fuzz_bytes *from);

#endif
