/* SPDX-License-Identifier: BSD-2-Clause */
/* gpu/stages/predict: a field's sums use a workgroup count that follows the number of samples, and
 * no invocation's 32-bit sum overflows. */
#include "gpu/stages/predict.h"
#include "harness.h"
#include "plans.h"

static void test_groups(uint32_t width, uint32_t height, uint64_t window_bytes, uint32_t groups)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = width;
    params.height = height;
    const struct gpume_plan plan = plans_make(&params, window_bytes);
    const struct gpume_shape *layer = &plan.layers[0];
    const uint64_t band = (uint64_t)layer->band_rows * params.block;
    REQUIRE_EQUAL(gpume_predict_groups(&plan, band), groups);
    REQUIRE_EQUAL(gpume_predict_partials(&plan, layer), layer->band_count * groups);
    const uint64_t quads = (width + 3) / 4 * (band < height ? band : height);
    const uint64_t lanes = (uint64_t)groups * GPUME_REDUCE_LOCAL;
    REQUIRE((quads + lanes - 1) / lanes * 4 * UINT16_MAX <= UINT32_MAX);
}

int main(void)
{
    test_groups(1, 1, UINT64_MAX, 1);
    test_groups(20, 12, UINT64_MAX, 1);
    test_groups(64, 64, UINT64_MAX, 4);
    test_groups(65, 64, UINT64_MAX, 5);
    test_groups(352, 288, UINT64_MAX, 99);
    test_groups(1920, 1080, UINT64_MAX, 256);
    test_groups(65536, 1024, UINT64_MAX, 256);
    /* In bands of eight rows: windows of 22 rows of 80 samples, and their alignment. */
    test_groups(64, 64, 256 + 22 * 80, 1);
    return harness_verdict();
}
