/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/out_set.h"

#include "base/status.h"
#include "files/out.h"
#include "files/pattern.h"

#include <stdlib.h>

int gpume_out_set_check_alone(
    const char *label, const char *final, const char *temporary, const struct gpume_log *log)
{
    if (!gpume_temporary_has_rival(final, temporary)) {
        return GPUME_OK;
    }
    gpume_log_write(log, GPUME_LOG_ERROR,
        "%s: is being written by a run that is still under way; wait for its end or choose another "
        "name",
        label);
    return GPUME_AGAIN;
}

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
