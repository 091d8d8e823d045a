/* SPDX-License-Identifier: BSD-2-Clause */
#include "media/cut.h"

#include <inttypes.h>
#include <stdio.h>

void gpume_cut_warn(const struct gpume_cut *cut, const char *label, uint64_t taken,
    uint64_t decoded, uint64_t promised, const struct gpume_log *log)
{
    char of[32] = "";
    if (promised > decoded) {
        snprintf(of, sizeof of, " of %" PRIu64, promised);
    }
    if (cut->whole > 0) {
        gpume_log_write(log, GPUME_LOG_WARNING,
            "%s: frame %" PRIu64 " is incomplete: it has %" PRIu64 " of its %" PRIu64
            " bytes; only the frames before it are used",
            label, taken, cut->there, cut->whole);
    } else if (cut->reason[0]) {
        gpume_log_write(log, GPUME_LOG_WARNING,
            "%s: reading breaks off after %" PRIu64 "%s frame%s: %s; only that part is used", label,
            decoded, of, decoded == 1 && !of[0] ? "" : "s", cut->reason);
    }
}

int gpume_cut_refuse(const struct gpume_cut *cut, const char *label, const char *codec,
    const char *remedy, const struct gpume_log *log)
{
    if (cut->whole > 0) {
        return gpume_log_fail(log, GPUME_FORMAT,
            "%s: contains no complete frame: the first has %" PRIu64 " of its %" PRIu64
            " bytes; give the whole file",
            label, cut->there, cut->whole);
    }
    return gpume_log_fail(log, GPUME_FORMAT,
        "%s: contains no complete frame of its %s video%s%s; %s", label, codec,
        cut->reason[0] ? ": " : "", cut->reason, remedy);
}
