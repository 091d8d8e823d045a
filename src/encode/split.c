/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/split.h"

int gpume_split_init(
    struct gpume_split *split, uint32_t rows, uint32_t threads, const struct gpume_log *log)
{
    const bool many = threads > 1;
    const int status = gpume_workers_create(&split->workers, many ? threads + 1 : 1);
    if (status != GPUME_OK) {
        return status == GPUME_AGAIN ? gpume_log_no_thread(log)
                                     : gpume_log_nomem(log, "the threads of the lookahead");
    }
    if (many) { /* threads that wait have frames to decide */
        gpume_workers_spare_waiters(split->workers);
    }
    split->rows = rows;
    return GPUME_OK;
}

void gpume_split_finish(struct gpume_split *split)
{
    gpume_workers_destroy(&split->workers);
}
