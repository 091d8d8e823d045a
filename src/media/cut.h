/* SPDX-License-Identifier: BSD-2-Clause */
/* A frame of which its input has only the beginning, and what is said of it. */
#ifndef GPUME_MEDIA_CUT_H
#define GPUME_MEDIA_CUT_H

#include "base/log.h"

#include <stdint.h>

struct gpume_cut {
    uint64_t there, whole; /* bytes of the frame's samples; whole is 0: no frame is cut */
};

/* The input has frames, and is used to the last whole one; frame: the index of the next. */
void gpume_cut_warn(
    const struct gpume_cut *cut, const char *label, uint64_t frame, const struct gpume_log *log);

/* It is the first one, and nothing is left to be used: GPUME_FORMAT. */
int gpume_cut_refuse(const struct gpume_cut *cut, const char *label, const struct gpume_log *log);

#endif
