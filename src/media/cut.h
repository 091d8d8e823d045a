/* SPDX-License-Identifier: BSD-2-Clause */
/* An incomplete frame at the end of an input, and the messages about it. */
#ifndef GPUME_MEDIA_CUT_H
#define GPUME_MEDIA_CUT_H

#include "base/log.h"

#include <stdint.h>

struct gpume_cut {
    uint64_t there, whole; /* bytes present and bytes needed; 0, 0: no frame is incomplete */
};

/* Warns that frame `frame` is incomplete, and that only the frames before it are used. */
void gpume_cut_warn(
    const struct gpume_cut *cut, const char *label, uint64_t frame, const struct gpume_log *log);

/* Logs that even the first frame is incomplete. Returns GPUME_FORMAT. */
int gpume_cut_refuse(const struct gpume_cut *cut, const char *label, const struct gpume_log *log);

#endif
