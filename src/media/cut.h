/* SPDX-License-Identifier: BSD-2-Clause */
/* A frame that its input ends within, and the messages about it. */
#ifndef GPUME_MEDIA_CUT_H
#define GPUME_MEDIA_CUT_H

#include "base/log.h"

#include <stdint.h>

struct gpume_cut {
    uint64_t there, whole; /* bytes of samples, in the input and in all; 0, 0: no frame is cut */
};

/* Warns that frame `frame` is incomplete, and that only the frames before it are used. */
void gpume_cut_warn(
    const struct gpume_cut *cut, const char *label, uint64_t frame, const struct gpume_log *log);

/* Logs the error that the first frame is incomplete, so that there is none to use. GPUME_FORMAT. */
int gpume_cut_refuse(const struct gpume_cut *cut, const char *label, const struct gpume_log *log);

#endif
