/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes to pipes and terminals, which wait for as long as their readers do not read. Who wants to
 * end the process asks here whether one of them waits. Any thread.
 */
#ifndef GPUME_FILES_STALL_H
#define GPUME_FILES_STALL_H

#include <stdbool.h>
#include <stdint.h>

/* Around each write that may wait. */
void gpume_stall_begin(void);
void gpume_stall_end(void);

/* Is one under way, and has none ended since the last look? last: of this caller; starts as 0. */
bool gpume_stall_look(uint64_t *last);

#endif
