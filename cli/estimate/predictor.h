/* SPDX-License-Identifier: BSD-2-Clause */
/* --predictor FILE: gives the library the vectors of a file as predictors. Opened and closed by the
 * main thread, used by one thread of the library. */
#ifndef GPUME_CLI_ESTIMATE_PREDICTOR_H
#define GPUME_CLI_ESTIMATE_PREDICTOR_H

#include "gpume/gpume.h"

#include <stdatomic.h>

struct gpume_predictor_rows;

struct gpume_predictor_source {
    const char *path;
    struct gpume_params params; /* of the run */
    struct gpume_vectors_reader *reader;
    const struct gpume_vectors_field *next; /* the first that has not been taken; NULL: none */
    /* The rows of the last frames that were read, by frame modulo `kept`: pairs come in the order
     * of their targets, but for the reverse pairs that --confidence searches. */
    struct gpume_predictor_rows *frames;
    uint64_t kept;
    atomic_bool failed; /* the file lacks what the run needs; reported */
};

/* Opens the file and reads its first frame; params: as for gpume_open. A failure has been reported.
 * Call close in either case. */
int gpume_predictor_open(
    struct gpume_predictor_source *source, const char *path, const struct gpume_params *params);

void gpume_predictor_close(struct gpume_predictor_source *source);

/* A gpume_predict_fn; opaque: the source. */
int gpume_predictor_give(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors);

#endif
