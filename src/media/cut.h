/* SPDX-License-Identifier: BSD-2-Clause */
/* Where and why an input ends before its last frame, and the messages about it. */
#ifndef GPUME_MEDIA_CUT_H
#define GPUME_MEDIA_CUT_H

#include "base/log.h"

#include <stdint.h>

/* Zeroed: the input is complete. */
struct gpume_cut {
    uint64_t there, whole; /* bytes present and bytes needed of a frame that is incomplete */
    char reason[300];      /* why reading stops early, if not because of such a frame */
};

/* Warns, if the input is cut, that only the frames before that are used: `taken` from the input,
 * `decoded` of `promised` frames (0: unknown). */
void gpume_cut_warn(const struct gpume_cut *cut, const char *label, uint64_t taken,
    uint64_t decoded, uint64_t promised, const struct gpume_log *log);

/* Logs that the input has not even one complete frame. Returns GPUME_FORMAT. */
int gpume_cut_refuse(const struct gpume_cut *cut, const char *label, const char *codec,
    const char *remedy, const struct gpume_log *log);

#endif
