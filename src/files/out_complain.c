/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/out_inside.h"
#include "files/remedy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *remedy_of(int error)
{
    static const struct {
        int error;
        const char *remedy;
    } remedies[] = {
        {ENOSPC, "free some space or write elsewhere"},
        {EDQUOT, "free some space or write elsewhere"},
        {EFBIG, "raise the limit on file sizes (ulimit -f) or write elsewhere"},
        {EPIPE, "the reader closed the pipe early"},
        {EACCES, "change its permissions or write elsewhere"},
        {EPERM, "change its permissions or write elsewhere"},
        {EROFS, "change its permissions or write elsewhere"},
        {ENOENT, "create its folder first"},
        {ENOTDIR, "a file has the name of its folder; write elsewhere"},
        {EISDIR, "move the folder of that name away"},
        {ENOTEMPTY, "move the folder of that name away"},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++) {
        if (remedies[i].error == error) {
            return remedies[i].remedy;
        }
    }
    return gpume_remedy(error, "write elsewhere");
}

int gpume_out_complain(struct gpume_out *out, const char *what, int error)
{
    char reason[128] = "unknown error";
    if (strerror_r(error, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", error);
    }
    out->status = gpume_log_fail(
        &out->log, GPUME_IO, "%s: %s: %s; %s", out->label, what, reason, remedy_of(error));
    return out->status;
}
