/* SPDX-License-Identifier: BSD-2-Clause */
/* gpu/stages/results: a field's sums use a workgroup count that follows the number of samples, and
 * no invocation's 32-bit sum overflows. gpu/plan_gpu: kernels bind what the device allows. */
#include "gpu/engine_gpu.h"
#include "gpu/stages/stage.h"
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

/* A device with lavapipe's limit, whose planes of 64 bytes per row and 8 samples are larger than
 * the frames that a batch reads. */
static void test_ranges(uint32_t height, bool want_predicted, bool whole)
{
    struct gpume_gpu gpu = {.heap_bytes = UINT64_C(1) << 40};
    gpu.properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    gpu.properties.limits.maxStorageBufferRange = 128u << 20;
    const struct gpume_engine_gpu_rules rules = {0};
    const struct gpume_log silent = {0};
    gpu.log = &silent;
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = 8;
    params.height = height;
    params.window_x = params.window_y = 1;
    params.want_predicted = want_predicted;
    struct gpume_plan_gpu planned;
    REQUIRE_EQUAL(gpume_plan_gpu_make(&gpu, &params, &rules, &planned), GPUME_OK);
    const uint64_t predicted = planned.plan.batch * planned.plan.plane_bytes;
    REQUIRE_EQUAL(predicted <= gpu.properties.limits.maxStorageBufferRange, whole);
    REQUIRE(planned.plan.batch > 1);
}

int main(void)
{
    test_ranges(524296, false, false);
    test_ranges(524296, true, true);
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
