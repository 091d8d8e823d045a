/* SPDX-License-Identifier: BSD-2-Clause */
/* Median predictors of vectors, as GPUME_PREDICTOR_MEDIAN says. */
#ifndef GPUME_CPU_GENERAL_PREDICT_H
#define GPUME_CPU_GENERAL_PREDICT_H

#include "gpume/gpume.h"
#include "model/shape.h"

/* Makes the predictors of one row of blocks from the layer's vectors. Both arrays are the whole
 * layer's. */
void gpume_predict_row(const struct gpume_shape *layer, uint32_t row,
    const struct gpume_vector *vectors, struct gpume_vector *predictors);

#endif
