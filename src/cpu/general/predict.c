/* SPDX-License-Identifier: BSD-2-Clause */
#include "cpu/general/predict.h"

static int16_t median(int16_t a, int16_t b, int16_t c)
{
    int16_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

static struct gpume_vector predictor_of(
    const struct gpume_shape *layer, uint32_t x, uint32_t y, const struct gpume_vector *vectors)
{
    const struct gpume_vector *at = vectors + (size_t)y * layer->blocks_x + x;
    const struct gpume_vector none = {0, 0};
    struct gpume_vector left = x > 0 ? at[-1] : none;
    if (y == 0) {
        return left;
    }
    const struct gpume_vector *above = at - layer->blocks_x;
    if (layer->blocks_x == 1) {
        return *above;
    }
    struct gpume_vector corner = x + 1 < layer->blocks_x ? above[1] : above[-1];
    return (struct gpume_vector){
        median(left.dx, above->dx, corner.dx), median(left.dy, above->dy, corner.dy)};
}

void gpume_predict_row(const struct gpume_shape *layer, uint32_t row,
    const struct gpume_vector *vectors, struct gpume_vector *predictors)
{
    for (uint32_t x = 0; x < layer->blocks_x; x++) {
        predictors[(size_t)row * layer->blocks_x + x] = predictor_of(layer, x, row, vectors);
    }
}
