/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/out_claim.h"

#include "base/status.h"
#include "files/pattern.h"

#include <stdlib.h>

int gpume_out_claim_open(struct gpume_out_claim *claim, const struct gpume_out_set *set,
    const char *path, const struct gpume_log *log)
{
    *claim = (struct gpume_out_claim){
        .set = {.overwrite = true, .own = true, .alone = true, .label = path}};
    if (!set->alone) {
        return GPUME_OK;
    }
    char *series = gpume_pattern_series(path);
    const int status = series ? gpume_out_open_in(&claim->out, &claim->set, series, log)
                              : gpume_log_nomem(log, path);
    free(series);
    return status;
}

void gpume_out_claim_close(struct gpume_out_claim *claim)
{
    gpume_out_close(&claim->out);
}
