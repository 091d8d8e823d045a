/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model/plan and model/prefilter: any parameters, any device within Vulkan's guarantees. Plans must
 * be as plan.h says, and no number may have wrapped.
 */
#include "fuzz_search.h"
#include "model/plan.h"

static void take_filter(struct fuzz_bytes *from, struct gpume_prefilter *filter, double *weights)
{
    *filter = (struct gpume_prefilter){
        .kind = (enum gpume_prefilter_kind)fuzz_about(from, 0, GPUME_PREFILTER_KERNEL),
        .width = fuzz_about(from, 1, 31),
        .weights = weights,
    };
    filter->height = fuzz_u8(from) & 1 ? filter->width : fuzz_about(from, 1, 31);
    filter->sigma = fuzz_u8(from) & 1 ? fuzz_u8(from) / 8.0 : fuzz_real(from);
    filter->range = fuzz_u8(from) & 1 ? fuzz_u8(from) * 4.0 : fuzz_real(from);
    const uint8_t kind = fuzz_u8(from);
    for (size_t i = 0; i < GPUME_PREFILTER_WEIGHTS && from->left > 0; i++) {
        weights[i] = kind & 1 ? fuzz_u8(from) - 128.0 : fuzz_real(from);
    }
}

static void check_tables(const struct gpume_prefilter_tables *tables, uint32_t bits)
{
    int64_t magnitudes = 0;
    const uint64_t across = 2 * tables->radius_x + 1, down = 2 * tables->radius_y + 1;
    const bool line = tables->kind == GPUME_PREFILTER_GAUSS || tables->kind == GPUME_PREFILTER_BOX;
    FUZZ_REQUIRE(tables->radius_x <= GPUME_PREFILTER_RADIUS_MAX);
    FUZZ_REQUIRE(tables->radius_y <= GPUME_PREFILTER_RADIUS_MAX);
    FUZZ_REQUIRE(tables->peak == (1u << bits) - 1);
    if (tables->kind == GPUME_PREFILTER_KERNEL) {
        FUZZ_REQUIRE(across * down <= GPUME_PREFILTER_WEIGHTS);
        for (size_t i = 0; i < across * down; i++) {
            magnitudes += llabs((long long)tables->weights[i]);
        }
        FUZZ_REQUIRE(magnitudes < INT64_C(1) << (31 - bits));
        FUZZ_REQUIRE(tables->divisor > 0);
    } else if (line) {
        FUZZ_REQUIRE(across <= GPUME_PREFILTER_WEIGHTS);
    }
}

static void check_bands(const struct gpume_plan *plan, const struct gpume_caps *caps)
{
    const uint64_t row_bytes = (uint64_t)plan->padded_stride * plan->sample_bytes;
    const bool cut = !plan->one_window && plan->surface_bytes > caps->window_bytes;
    FUZZ_REQUIRE(!cut || plan->filter_rows >= 1);
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *layer = &plan->layers[i];
        const uint64_t rows =
            (uint64_t)layer->band_rows * layer->block_h + 2ull * plan->params.window_y;
        FUZZ_REQUIRE(layer->band_rows >= 1 && layer->band_count >= 1);
        FUZZ_REQUIRE((uint64_t)layer->band_rows * layer->band_count >= layer->blocks_y);
        FUZZ_REQUIRE((uint64_t)layer->band_rows * (layer->band_count - 1) < layer->blocks_y);
        FUZZ_REQUIRE(!cut || layer->band_count == 1 ||
                     rows * row_bytes + caps->align_bytes <= caps->window_bytes);
    }
}

static void check_layers(const struct gpume_plan *plan)
{
    const struct gpume_params *p = &plan->params;
    uint64_t blocks = 0;
    FUZZ_REQUIRE(plan->layer_count >= 1 && plan->layer_count <= GPUME_LAYERS_MAX);
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *layer = &plan->layers[i];
        FUZZ_REQUIRE((uint64_t)layer->blocks_x * layer->block_w >= p->width);
        FUZZ_REQUIRE((uint64_t)(layer->blocks_x - 1) * layer->block_w < p->width);
        FUZZ_REQUIRE((uint64_t)layer->blocks_y * layer->block_h >= p->height);
        FUZZ_REQUIRE((uint64_t)(layer->blocks_y - 1) * layer->block_h < p->height);
        FUZZ_REQUIRE((uint64_t)layer->blocks_x * layer->blocks_y == layer->blocks);
        FUZZ_REQUIRE(layer->blocks == 1 || layer->blocks - 1 < UINT64_C(1) << layer->index_bits);
        FUZZ_REQUIRE(layer->cost_bits <= (plan->general ? 32 : 30));
        FUZZ_REQUIRE(layer->first == blocks);
        blocks += layer->blocks;
    }
    FUZZ_REQUIRE(blocks == plan->blocks);
    FUZZ_REQUIRE(plan->field_candidates >= plan->blocks);
    FUZZ_REQUIRE(plan->field_candidates < plan->layer_count * (UINT64_C(1) << 49));
}

static void check_search(const struct gpume_plan *plan)
{
    FUZZ_REQUIRE(plan->units == 1 || plan->units == 2 || plan->units == 4);
    FUZZ_REQUIRE(plan->planes == plan->units * plan->units);
    FUZZ_REQUIRE(plan->kept >= 1 && plan->kept <= GPUME_CANDIDATES_MAX);
    FUZZ_REQUIRE(plan->passes >= 1 && plan->passes <= GPUME_PASSES_MAX);
    FUZZ_REQUIRE(plan->references >= 1 && plan->references <= GPUME_REFERENCES_MAX);
    FUZZ_REQUIRE(plan->requests >= 1 && plan->requests <= 2 * GPUME_REFERENCES_MAX);
    FUZZ_REQUIRE(plan->distance_count >= 1 && plan->distance_count <= GPUME_DISTANCES_MAX);
    for (uint32_t i = 1; i < plan->distance_count; i++) {
        FUZZ_REQUIRE(plan->distances[i] > plan->distances[i - 1]);
    }
    FUZZ_REQUIRE(plan->reach >= plan->distances[plan->distance_count - 1]);
}

static void check_plan(const struct gpume_plan *plan, const struct gpume_caps *caps)
{
    const struct gpume_params *p = &plan->params;
    uint64_t ring;
    FUZZ_REQUIRE(plan->plane_stride % 64 == 0);
    FUZZ_REQUIRE(plan->plane_stride >= (uint64_t)p->width * plan->sample_bytes);
    FUZZ_REQUIRE(plan->plane_bytes == (uint64_t)plan->plane_stride * p->height);
    FUZZ_REQUIRE(plan->padded_stride % 4 == 0);
    FUZZ_REQUIRE(plan->padded_stride >= (uint64_t)plan->pad_x + p->width + p->window_x);
    FUZZ_REQUIRE(plan->padded_rows == (uint64_t)p->height + 2ull * p->window_y);
    FUZZ_REQUIRE(plan->padded_bytes % caps->align_bytes == 0);
    FUZZ_REQUIRE(plan->padded_bytes >=
                 (uint64_t)plan->padded_stride * plan->padded_rows * plan->sample_bytes);
    FUZZ_REQUIRE(plan->surface_bytes == plan->padded_bytes * plan->planes);
    FUZZ_REQUIRE(plan->batch >= 1 && plan->batch <= GPUME_BATCH_MAX);
    FUZZ_REQUIRE(plan->batch <= caps->batch_max);
    FUZZ_REQUIRE(plan->slots >= 1 && plan->slots <= GPUME_SLOTS_MAX);
    FUZZ_REQUIRE(plan->ring == plan->reach + plan->batch);
    FUZZ_REQUIRE(plan->pool > plan->slots * plan->batch);
    FUZZ_REQUIRE(!__builtin_mul_overflow(plan->ring, plan->surface_bytes, &ring));
    FUZZ_REQUIRE(ring <= INT64_MAX);
    FUZZ_REQUIRE(!plan->one_window || ring <= caps->window_bytes);
    FUZZ_REQUIRE(plan->run_bytes < UINT64_C(1) << 56);
    /* An engine compares what it needs; this is a part of that. */
    const uint64_t frames = plan->pool * plan->plane_bytes;
    const bool fits = p->memory_max == 0 || frames + plan->run_bytes <= p->memory_max;
    FUZZ_REQUIRE(gpume_plan_check_memory(plan, frames, false, &(struct gpume_log){0}) ==
                 (fits ? GPUME_OK : GPUME_INVALID));
    FUZZ_REQUIRE(gpume_plan_check_memory(plan, frames, true, &(struct gpume_log){0}) ==
                 (fits ? GPUME_OK : GPUME_AGAIN));
    check_layers(plan);
    check_search(plan);
    check_bands(plan, caps);
    if (gpume_plan_filters(plan)) {
        check_tables(&plan->prefilter, p->bits);
    }
}

int FUZZ_TARGET(const uint8_t *data, size_t bytes)
{
    struct fuzz_bytes from = {data, bytes};
    static struct gpume_plan plan; /* as large as a stack's page */
    double weights[GPUME_PREFILTER_WEIGHTS] = {0};
    struct gpume_prefilter filter;
    const uint8_t flags = fuzz_u8(&from);
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = fuzz_about(&from, 1, flags & 1 ? 4096 : 1u << 20);
    params.height = fuzz_about(&from, 1, flags & 2 ? 4096 : 1u << 20);
    params.bits = fuzz_about(&from, 8, 16);
    params.block = flags & 4 ? 4 + 4 * (fuzz_u8(&from) % 32u) : fuzz_about(&from, 4, 128);
    params.window_x = fuzz_about(&from, 0, 512);
    params.window_y = fuzz_about(&from, 0, 512);
    params.edge = (enum gpume_edge)fuzz_about(&from, 0, 1);
    params.metric = (enum gpume_metric)fuzz_about(&from, 0, 0);
    params.ref_distance = fuzz_about(&from, 1, 1024);
    params.first_frame = fuzz_u64(&from);
    params.want_frames = flags & 8;
    params.want_predicted = flags & 16;
    const struct gpume_caps caps = {
        .window_bytes = flags & 32 ? UINT64_MAX : (UINT64_C(1) << 16) + fuzz_u32(&from),
        .align_bytes = 1u << fuzz_u8(&from) % 9,
        .batch_max = 1 + fuzz_u32(&from) % 128,
        .batch_work = fuzz_u64(&from),
    };
    if (flags & 64) {
        take_filter(&from, &filter, weights);
        params.prefilter = &filter;
    }
    if (flags & 128) {
        params.memory_max = fuzz_u64(&from) >> 16;
    }
    if (from.left > 0) {
        fuzz_take_search(&from, &params, false);
    }
    memset(&plan, 0xa5, sizeof plan);
    const int status = gpume_plan_make(&params, &caps, &(struct gpume_log){0}, &plan);
    FUZZ_REQUIRE(status == GPUME_OK || status == GPUME_INVALID || status == GPUME_UNSUPPORTED);
    if (status == GPUME_OK) {
        check_plan(&plan, &caps);
    }
    return 0;
}
