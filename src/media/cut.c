/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/cut.h"

#include <inttypes.h>

void gpume_cut_warn(
    const struct gpume_cut *cut, const char *label, uint64_t frame, const struct gpume_log *log)
{
    gpume_log_write(log, GPUME_LOG_WARNING,
        "%s: frame %" PRIu64 " is incomplete: it has %" PRIu64 " of its %" PRIu64
        " bytes; only the frames before it are used",
        label, frame, cut->there, cut->whole);
}

int gpume_cut_refuse(const struct gpume_cut *cut, const char *label, const struct gpume_log *log)
{
    return gpume_log_fail(log, GPUME_FORMAT,
        "%s: contains no complete frame: the first has %" PRIu64 " of its %" PRIu64
        " bytes; give the whole file",
        label, cut->there, cut->whole);
}
