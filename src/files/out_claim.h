/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbered files are finished and named one by one. A claim reserves all of them for one run by an
 * empty temporary file, named after the whole series, for as long as it is held.
 */
#ifndef GPUME_FILES_OUT_CLAIM_H
#define GPUME_FILES_OUT_CLAIM_H

#include "files/out.h"
#include "files/out_set.h"

/* Starts as zero and must not move while it is held. */
struct gpume_out_claim {
    struct gpume_out_set set; /* of that file alone */
    struct gpume_out *out;    /* NULL: nothing is claimed */
};

/* path: the numbered name. Claims nothing if the set's outputs may be shared. GPUME_AGAIN after one
 * line: another run writes these files; others as gpume_out_open. */
int gpume_out_claim_open(struct gpume_out_claim *claim, const struct gpume_out_set *set,
    const char *path, const struct gpume_log *log);

void gpume_out_claim_close(struct gpume_out_claim *claim);

#endif
