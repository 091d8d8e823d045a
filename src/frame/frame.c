/* SPDX-License-Identifier: BSD-2-Clause */
#include "frame/frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- frames */

void gpume_frame_ref(struct gpume_frame *frame)
{
    atomic_fetch_add_explicit(&frame->refs, 1, memory_order_relaxed);
}

void gpume_frame_unref(struct gpume_frame **out)
{
    struct gpume_frame *frame = *out;
    if (!frame) {
        return;
    }
    *out = NULL;
    unsigned before = atomic_fetch_sub_explicit(&frame->refs, 1, memory_order_acq_rel);
    assert(before > 0);
    if (before == 1) {
        frame->recycle(frame->owner, frame);
    }
}

/* --- fields */

_Static_assert(sizeof(struct gpume_field_box) <= GPUME_FIELD_BYTES, "as planned");

/* What only some plans want. */
static int allocate_options(struct gpume_field_box *box, const struct gpume_plan *plan)
{
    const bool predicts = plan->params.predictor == GPUME_PREDICTOR_GIVEN;
    if (predicts) {
        box->predictors = calloc((size_t)plan->references * plan->blocks, sizeof(*box->predictors));
    }
    if (plan->params.partition) {
        box->parts = calloc(plan->layers[plan->finest].blocks, sizeof(*box->parts));
    }
    if (plan->returns) {
        box->returns = calloc(plan->blocks, sizeof(*box->returns));
    }
    return (predicts && !box->predictors) || (plan->params.partition && !box->parts) ||
                   (plan->returns && !box->returns)
               ? GPUME_NOMEM
               : GPUME_OK;
}

int gpume_field_box_init(struct gpume_field_box *box, const struct gpume_plan *plan)
{
    const uint32_t count = plan->layer_count;
    box->layers = calloc(count, sizeof(*box->layers));
    box->layer_list = calloc(count, sizeof(*box->layer_list));
    if (!box->layers || !box->layer_list) {
        return GPUME_NOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct gpume_shape *shape = &plan->layers[i];
        box->layers[i] = (struct gpume_layer){.block_w = shape->block_w,
            .block_h = shape->block_h,
            .blocks_x = shape->blocks_x,
            .blocks_y = shape->blocks_y};
        box->layer_list[i] = &box->layers[i];
    }
    if (allocate_options(box, plan) != GPUME_OK) {
        return GPUME_NOMEM;
    }
    box->field.blocks_x = plan->layers[0].blocks_x;
    box->field.blocks_y = plan->layers[0].blocks_y;
    box->field.vector_units = plan->units;
    box->field.refs = box->references;
    box->field.layer_count = count;
    box->field.layers = box->layer_list;
    return GPUME_OK;
}

void gpume_field_box_finish(struct gpume_field_box *box)
{
    free(box->predictors);
    free(box->parts);
    free(box->returns);
    free(box->layers);
    free((void *)box->layer_list);
}

void gpume_field_box_describe(struct gpume_field_box *box, uint64_t first_frame)
{
    const struct gpume_task *task = &box->task;
    box->field.frame = first_frame + task->target;
    box->field.ref = first_frame + task->reference;
    box->field.tag = task->tag;
    box->field.ref_count = 1 + task->more_count;
    box->references[0] = box->field.ref;
    for (uint32_t i = 0; i < task->more_count; i++) {
        box->references[1 + i] = first_frame + task->more[i];
    }
}

static const uint32_t *part_of(const uint32_t *array, uint32_t first)
{
    return array ? array + first : NULL;
}

void gpume_field_box_complete(struct gpume_field_box *box, const struct gpume_plan *plan)
{
    const struct gpume_results *r = &box->results;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const uint32_t first = plan->layers[i].first;
        struct gpume_layer *layer = &box->layers[i];
        layer->vectors = r->vectors + first;
        layer->costs = r->costs + first;
        layer->ranks = r->ranks + first;
        layer->candidate_stride = plan->blocks;
        layer->bits = part_of(r->bits, first);
        layer->refs = part_of(r->refs, first);
        layer->refs2 = part_of(r->refs2, first);
        layer->vectors2 = r->vectors2 ? r->vectors2 + first : NULL;
        layer->second = plan->params.confidence ? layer->costs + plan->blocks : NULL;
        layer->ties = part_of(r->ties, first);
        layer->texture = part_of(r->texture, first);
        layer->returns = part_of(box->returns, first);
    }
    box->field.vectors = r->vectors;
    box->field.costs = r->costs;
    box->field.ranks = r->ranks;
}

/* --- statistics */

void gpume_stats_add_ns(struct gpume_stats *stats, const char *name, uint64_t ns)
{
    uint32_t i = 0;
    while (i < stats->stage_count && strcmp(stats->stages[i].name, name) != 0) {
        i++;
    }
    if (i == stats->stage_count) {
        assert(stats->stage_count < GPUME_STAGES_MAX);
        stats->stages[stats->stage_count++] = (struct gpume_stage){name, 0};
    }
    stats->stages[i].ns += ns;
}

void gpume_stats_count_sweeps(
    struct gpume_stats *stats, const struct gpume_plan *plan, uint64_t tried, uint64_t compared)
{
    double share = tried > 0 ? (double)compared / (double)tried : 1;
    uint64_t past = (uint64_t)((double)plan->field_candidates * share);
    stats->candidates += plan->field_candidates;
    stats->past_blocks += past;
    stats->past_parts += past;
}

void gpume_stats_add(struct gpume_stats *to, const struct gpume_stats *from)
{
    to->fields += from->fields;
    to->busy_ns += from->busy_ns;
    to->candidates += from->candidates;
    to->past_blocks += from->past_blocks;
    to->past_parts += from->past_parts;
    for (uint32_t i = 0; i < from->stage_count; i++) {
        gpume_stats_add_ns(to, from->stages[i].name, from->stages[i].ns);
    }
}

void gpume_stats_uncount(struct gpume_stats *from, const struct gpume_stats *counted)
{
    from->fields -= counted->fields;
    from->candidates -= counted->candidates;
    from->past_blocks -= counted->past_blocks;
    from->past_parts -= counted->past_parts;
}
