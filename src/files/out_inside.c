/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/out_inside.h"

#include "gpume/gpume.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int gpume_out_complain(struct gpume_out *out, const char *what, int error)
{
    char reason[128] = "unknown error";
    if (strerror_r(error, reason, sizeof reason) != 0) {
        snprintf(reason, sizeof reason, "error %d", error);
    }
    const char *hint = "write elsewhere";
    if (error == ENOSPC || error == EDQUOT) {
        hint = "free some space or write elsewhere";
    } else if (error == EPIPE) {
        hint = "the reader closed the pipe early";
    } else if (error == EACCES || error == EPERM || error == EROFS) {
        hint = "change its permissions or write elsewhere";
    } else if (error == ENOENT || error == ENOTDIR) {
        hint = "create its folder first";
    } else if (error == EISDIR || error == ENOTEMPTY) {
        hint = "move the folder of that name away";
    }
    gpume_log_write(&out->log, GPUME_LOG_ERROR, "%s: %s: %s; %s", out->label, what, reason, hint);
    out->status = GPUME_IO;
    return out->status;
}
