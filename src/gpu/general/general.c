/* SPDX-License-Identifier: BSD-2-Clause */
/* Stages of the general search: sums of boxes, where its kernels find everything, and what is
 * chosen from what was found. */
#include "gpu/general/general.h"
#include "base/grid.h"
#include "base/status.h"
#include "model/partition.h"

#include <string.h>

#include "boxes16.inc"
#include "boxes8.inc"
#include "choose.inc"
#include "ranges16.inc"
#include "ranges8.inc"
#include "texture16.inc"
#include "texture8.inc"
#include "tree.inc"

/* --- boxes
 *
 * Reads the searched surface, writes BOXES: the sum of the box at every place of every
 * plane that is searched, then the ranges of these sums; once per frame.
 */

enum { SUMS, RANGES };

#define BOX_GROUPS_MAX 32768u /* of one dispatch, one below the other */

_Static_assert(sizeof(struct gpume_boxes_push) == 8 * 4, "words without gaps");
_Static_assert(sizeof(struct gpume_ranges_push) == 10 * 4, "words without gaps");

uint32_t gpume_boxes_side(const struct gpume_plan *plan)
{
    bool large = plan->params.metric != GPUME_METRIC_SATD;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *layer = &plan->layers[i];
        large &= layer->block_w % 16 == 0 && layer->block_h % 16 == 0;
    }
    return large ? 8 : 4;
}

/* Words of a plane's sums: two sums in each at 8 bits, else one. */
static uint32_t boxes_plane_words(const struct gpume_plan *plan)
{
    return (uint32_t)((uint64_t)plan->padded_rows * plan->padded_stride / 2 * plan->sample_bytes);
}

static VkDeviceSize sum_bytes(const struct gpume_plan *plan)
{
    return (VkDeviceSize)gpume_plan_search_planes(plan) * boxes_plane_words(plan) * 4;
}

/* Rows of ranges, see ranges.comp; of whole pixels the first row of a window lies up to three rows
 * before the padded frame. */
static uint32_t range_rows(const struct gpume_plan *plan)
{
    return gpume_plan_searches_fractions(plan) ? plan->padded_rows
                                               : plan->padded_rows / GPUME_GROUP_SIDE + 2;
}

static VkDeviceSize range_bytes(const struct gpume_plan *plan)
{
    uint32_t columns = plan->padded_stride;
    columns /= gpume_plan_searches_fractions(plan) ? 1 : GPUME_GROUP_SIDE;
    return (VkDeviceSize)range_rows(plan) * columns * 4 * plan->sample_bytes;
}

static VkDeviceSize frame_bytes(const struct gpume_plan *plan)
{
    return gpume_round_up(sum_bytes(plan) + range_bytes(plan), GPUME_PART_ALIGN);
}

/* Where a frame's sums and their ranges are; 0 if the run has none. */
static VkDeviceAddress boxes_frame(const struct gpume_work *work, uint64_t sequence)
{
    const struct gpume_buffer *ring = work->memory->parts[GPUME_MEMORY_BOXES];
    uint32_t place = gpume_work_place(work->plan, sequence);
    if (!ring) {
        return 0;
    }
    return work->plan->one_window ? ring[0].address + place * frame_bytes(work->plan)
                                  : ring[place].address;
}

static VkDeviceAddress boxes_ranges(const struct gpume_work *work, uint64_t sequence)
{
    VkDeviceAddress frame = boxes_frame(work, sequence);
    return frame ? frame + sum_bytes(work->plan) : 0;
}

static bool boxes_wanted(const struct gpume_stage_setup *setup)
{
    const struct gpume_params *p = &setup->plan->params;
    bool searches = !gpume_plan_searches_fast(setup->plan) || p->bidirectional;
    return searches && !p->no_elimination;
}

static void boxes_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    uint32_t together = plan->one_window ? plan->ring : 1;
    gpume_need_buffers(needs, GPUME_MEMORY_BOXES, GPUME_BUFFER_DEVICE, frame_bytes(plan) * together,
        plan->ring / together);
}

static int boxes_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code of_sums =
                                              GPUME_FRAME_CODE(boxes, 0, struct gpume_boxes_push),
                                          of_ranges =
                                              GPUME_FRAME_CODE(ranges, 0, struct gpume_ranges_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    int status;
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_BOX] = gpume_boxes_side(stage->setup.plan);
    GPUME_TRY(gpume_stage_kernel(&stage->setup, &of_sums, constants, &stage->kernels[SUMS]));
    GPUME_TRY(gpume_stage_kernel(&stage->setup, &of_ranges, constants, &stage->kernels[RANGES]));
fail:
    return status;
}

static uint32_t groups_across(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_div_up(plan->padded_stride / 4, GPUME_GENERAL_LOCAL);
}

static void record_plane_sums(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    VkDeviceAddress plane, VkDeviceAddress sums)
{
    struct gpume_boxes_push push = {
        .plane = plane,
        .sums = sums,
        .stride = work->plan->padded_stride / 4,
        .rows = work->plan->padded_rows,
    };
    for (; push.row < push.rows; push.row += BOX_GROUPS_MAX * GPUME_BOXES_ROWS) {
        uint64_t below = gpume_div_up(push.rows - push.row, GPUME_BOXES_ROWS);
        gpume_slot_dispatch(work->slot, &stage->kernels[SUMS], &push, groups_across(work->plan),
            (uint32_t)gpume_min_u64(below, BOX_GROUPS_MAX), 1);
    }
}

static void record_sums(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    gpume_slot_bind(work->slot, &stage->kernels[SUMS], NULL);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        uint64_t sequence = work->frames[i]->sequence;
        VkDeviceAddress plane = gpume_work_frame_address(work, plan->searched, sequence);
        VkDeviceAddress sums = boxes_frame(work, sequence);
        for (uint32_t j = 0; j < gpume_plan_search_planes(plan); j++) {
            record_plane_sums(stage, work, plane, sums);
            plane += gpume_work_plane_bytes(plan);
            sums += (VkDeviceAddress)boxes_plane_words(plan) * 4;
        }
    }
}

static void record_ranges(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    gpume_slot_bind(work->slot, &stage->kernels[RANGES], NULL);
    for (uint32_t i = 0; i < work->frame_count; i++) {
        uint64_t sequence = work->frames[i]->sequence;
        struct gpume_ranges_push push = {
            .sums = boxes_frame(work, sequence),
            .ranges = boxes_ranges(work, sequence),
            .stride = plan->padded_stride / 4,
            .sum_rows = plan->padded_rows,
            .plane_words = boxes_plane_words(plan),
            .rows = range_rows(plan),
        };
        for (; push.row < push.rows; push.row += BOX_GROUPS_MAX) {
            uint64_t below = gpume_min_u64(push.rows - push.row, BOX_GROUPS_MAX);
            gpume_slot_dispatch(work->slot, &stage->kernels[RANGES], &push, groups_across(plan),
                (uint32_t)below, 1);
        }
    }
}

static void boxes_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    record_sums(stage, work);
    gpume_barrier_kernel_to_kernel(work->slot);
    record_ranges(stage, work);
}

const struct gpume_stage_ops gpume_stage_boxes = {
    .name = "boxes",
    .row = GPUME_ROW_MATCH,
    .of_frames = true,
    .wanted = boxes_wanted,
    .needs = boxes_needs,
    .create = boxes_create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = boxes_record,
};

/* --- pairs
 *
 * Writes the table of the general search, where everything of the submission lies, and
 * predictors: those that are given, else zero.
 */

_Static_assert(
    sizeof(struct gpume_general_table) % 16 == 0 && sizeof(struct gpume_general_pair) == 64,
    "as GLSL lays them");

bool gpume_general_wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->general;
}

static VkDeviceSize table_bytes(const struct gpume_plan *plan)
{
    return sizeof(struct gpume_general_table) +
           gpume_work_pairs(plan, plan->batch) * sizeof(struct gpume_general_pair);
}

static bool is_given(const struct gpume_plan *plan)
{
    return plan->params.rate && plan->params.predictor == GPUME_PREDICTOR_GIVEN;
}

/* Given predictors lie behind the table in the host's memory. */
static VkDeviceSize given_offset(const struct gpume_plan *plan)
{
    return gpume_round_up(table_bytes(plan), GPUME_PART_ALIGN);
}

static VkDeviceSize task_predictors(const struct gpume_plan *plan)
{
    return (VkDeviceSize)plan->references * plan->blocks * sizeof(struct gpume_vector);
}

static void pairs_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    VkDeviceSize words = (VkDeviceSize)plan->batch * plan->references * plan->blocks * 4;
    VkDeviceSize found = gpume_general_chooses(plan) ? words * plan->kept : 0;
    VkDeviceSize given = is_given(plan) ? plan->batch * task_predictors(plan) : 0;
    gpume_need_buffers(
        needs, GPUME_MEMORY_GENERAL, GPUME_BUFFER_UPLOAD, given_offset(plan) + given, plan->slots);
    needs->arrays[GPUME_ARRAY_GENERAL][0] = table_bytes(plan);
    needs->arrays[GPUME_ARRAY_PREDICTORS][0] = plan->params.rate ? words : 0;
    needs->arrays[GPUME_ARRAY_PAIR_VECTORS][0] = found;
    needs->arrays[GPUME_ARRAY_PAIR_COSTS][0] = found;
    needs->arrays[GPUME_ARRAY_PAIR_TIES][0] = plan->params.confidence ? words : 0;
}

static VkDeviceAddress address_of(const struct gpume_work *work, enum gpume_work_array array)
{
    const struct gpume_array_places *places = &work->layout->arrays;
    return places->bytes[array][0] == 0
               ? 0
               : gpume_work_buffer(work, array)->address + places->offsets[array][0];
}

struct gpume_general_push gpume_general_push_make(
    const struct gpume_work *work, const struct gpume_shape *layer)
{
    const struct gpume_plan *plan = work->plan;
    return (struct gpume_general_push){
        .table = address_of(work, GPUME_ARRAY_GENERAL),
        .layer = gpume_work_layer(plan, layer),
        .plane_quads = (uint32_t)(gpume_work_plane_bytes(plan) / gpume_quad_bytes(plan)),
        .pruned = work->pruned,
        .box_words = boxes_plane_words(plan),
    };
}

static struct gpume_general_table table_of(const struct gpume_work *work)
{
    bool chooses = gpume_general_chooses(work->plan);
    return (struct gpume_general_table){
        .predictors = address_of(work, GPUME_ARRAY_PREDICTORS),
        .pair_vectors = address_of(work, chooses ? GPUME_ARRAY_PAIR_VECTORS : GPUME_ARRAY_VECTORS),
        .pair_costs = address_of(work, chooses ? GPUME_ARRAY_PAIR_COSTS : GPUME_ARRAY_COSTS),
        .pair_ties = address_of(work, GPUME_ARRAY_PAIR_TIES),
        .vectors = address_of(work, GPUME_ARRAY_VECTORS),
        .costs = address_of(work, GPUME_ARRAY_COSTS),
        .bits = address_of(work, GPUME_ARRAY_BITS),
        .refs = address_of(work, GPUME_ARRAY_REFS),
        .refs2 = address_of(work, GPUME_ARRAY_REFS2),
        .vectors2 = address_of(work, GPUME_ARRAY_VECTORS2),
        .ties = address_of(work, GPUME_ARRAY_TIES),
        .texture = address_of(work, GPUME_ARRAY_TEXTURE),
        .chosen = address_of(work, GPUME_ARRAY_CHOSEN),
        .predicted = address_of(work, GPUME_ARRAY_PREDICTED),
        .partials = address_of(work, GPUME_ARRAY_PARTIALS),
        .means = address_of(work, GPUME_ARRAY_MEANS),
        .cells = address_of(work, GPUME_ARRAY_CELLS),
        .counts = address_of(work, GPUME_ARRAY_COUNTS),
    };
}

static void write_pairs(const struct gpume_work *work, struct gpume_general_pair *pairs)
{
    const struct gpume_plan *plan = work->plan;
    for (uint32_t i = 0; i < work->task_count; i++) {
        const struct gpume_task *task = &work->tasks[i];
        for (uint32_t j = 0; j < plan->references; j++) {
            bool exists = j <= task->more_count;
            uint64_t reference = gpume_work_reference(task, j);
            *pairs++ = (struct gpume_general_pair){
                .target = gpume_work_frame_address(work, plan->searched, task->target),
                .reference = gpume_work_frame_address(work, plan->searched, reference),
                .measured_target = gpume_work_frame_address(work, plan->measured, task->target),
                .measured_reference = gpume_work_frame_address(work, plan->measured, reference),
                .target_boxes = boxes_frame(work, task->target),
                .reference_boxes = boxes_frame(work, reference),
                .reference_ranges = boxes_ranges(work, reference),
                .exists = exists,
                .future = reference > task->target,
            };
        }
    }
}

static void clear_array(const struct gpume_work *work, enum gpume_work_array array)
{
    struct gpume_view view = gpume_work_array(work, array, 0);
    gpume_slot_clear(work->slot, &view);
}

/* As many bytes from `offset` of the host's memory to the start of an array. */
static void send_array(const struct gpume_work *work, VkDeviceSize offset,
    enum gpume_work_array array, VkDeviceSize bytes)
{
    const struct gpume_buffer *host = &work->memory->parts[GPUME_MEMORY_GENERAL][work->slot_index];
    struct gpume_view from = gpume_view_part(host, offset, bytes);
    struct gpume_view to = gpume_work_array(work, array, 0);
    gpume_slot_copy_view(work->slot, &from, &to);
}

static void send_predictors(const struct gpume_work *work, uint8_t *host)
{
    const struct gpume_plan *plan = work->plan;
    VkDeviceSize bytes = task_predictors(plan), offset = given_offset(plan);
    for (uint32_t i = 0; i < work->task_count; i++) {
        memcpy(host + offset + i * bytes, work->predictors[i], bytes);
    }
    send_array(work, offset, GPUME_ARRAY_PREDICTORS, work->task_count * bytes);
}

static void pairs_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    (void)stage;
    const struct gpume_plan *plan = work->plan;
    uint8_t *host = work->memory->parts[GPUME_MEMORY_GENERAL][work->slot_index].mapped;
    struct gpume_general_table table = table_of(work);
    memcpy(host, &table, sizeof(table));
    write_pairs(work, (struct gpume_general_pair *)(void *)(host + sizeof(table)));
    send_array(work, 0, GPUME_ARRAY_GENERAL, table_bytes(plan));
    if (is_given(plan)) {
        send_predictors(work, host);
    } else if (plan->params.rate) {
        clear_array(work, GPUME_ARRAY_PREDICTORS);
    }
    if (!plan->fast_pixels) { /* else the fast search counts */
        clear_array(work, GPUME_ARRAY_COUNTS);
    }
    gpume_barrier_clear_to_kernel(work->slot);
}

const struct gpume_stage_ops gpume_stage_pairs = {
    .name = "pairs",
    .row = GPUME_ROW_MATCH,
    .wanted = gpume_general_wanted,
    .needs = pairs_needs,
    .record = pairs_record,
};

/* --- choose
 *
 * Reads PAIR_* and PREDICTORS; writes results, those of the best reference, and the state
 * from which means start.
 */

#define choose8 choose /* the depth of samples does not matter */
#define choose16 choose

static const struct gpume_kernel_code choose_code =
    GPUME_FRAME_CODE(choose, 0, struct gpume_general_push);

static void choose_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_params *p = &plan->params;
    VkDeviceSize words = (VkDeviceSize)plan->batch * plan->blocks * 4;
    needs->arrays[GPUME_ARRAY_VECTORS][0] = words * plan->kept;
    needs->arrays[GPUME_ARRAY_COSTS][0] = words * plan->kept;
    needs->arrays[GPUME_ARRAY_BITS][0] = p->rate ? words * plan->kept : 0;
    needs->arrays[GPUME_ARRAY_REFS][0] = p->best_reference ? words : 0;
    needs->arrays[GPUME_ARRAY_REFS2][0] = p->bidirectional ? words : 0;
    needs->arrays[GPUME_ARRAY_VECTORS2][0] = p->bidirectional ? words : 0;
    needs->arrays[GPUME_ARRAY_TIES][0] = p->confidence ? words : 0;
}

static bool choose_wanted(const struct gpume_stage_setup *setup)
{
    return gpume_general_chooses(setup->plan);
}

static void choose_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    struct gpume_general_push push = gpume_general_push_make(work, &work->plan->layers[0]);
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    gpume_slot_dispatch_many(work->slot, &stage->kernels[0], &push,
        gpume_div_up(work->plan->blocks, GPUME_GENERAL_LOCAL), work->task_count);
    gpume_barrier_kernel_to_kernel(work->slot);
}

const struct gpume_stage_ops gpume_stage_choose = {
    .name = "choose",
    .row = GPUME_ROW_MATCH,
    .wanted = choose_wanted,
    .needs = choose_needs,
    .code = &choose_code,
    .before = gpume_barrier_kernel_to_kernel,
    .record = choose_record,
};

/* --- texture
 *
 * Reads the measured surface, writes TEXTURE of a layer; a workgroup for each block.
 */

static const struct gpume_kernel_code texture_code =
    GPUME_FRAME_CODE(texture, 0, struct gpume_general_push);

static bool texture_wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->params.confidence;
}

static void texture_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    needs->arrays[GPUME_ARRAY_TEXTURE][0] =
        (VkDeviceSize)setup->plan->batch * setup->plan->blocks * 4;
}

static void texture_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_shape *layer = gpume_stage_layer(&stage->setup);
    struct gpume_general_push push = gpume_general_push_make(work, layer);
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    gpume_slot_dispatch_many(
        work->slot, &stage->kernels[0], &push, layer->blocks, work->task_count);
}

const struct gpume_stage_ops gpume_stage_texture = {
    .name = "texture",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = texture_wanted,
    .needs = texture_needs,
    .code = &texture_code,
    .record = texture_record,
};

/* --- partition
 *
 * Reads costs and bits, writes CHOSEN and CELLS; a workgroup for each block of the
 * largest square.
 */

#define tree8 tree /* the depth of samples does not matter */
#define tree16 tree

_Static_assert(sizeof(struct gpume_tree_push) == 26 * 4, "words without gaps, and one behind");
_Static_assert(GPUME_TREE_LEVELS == GPUME_PARTITION_LEVELS, "as GLSL knows it");

static const struct gpume_kernel_code partition_code =
    GPUME_FRAME_CODE(tree, 0, struct gpume_tree_push);

static bool partition_wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->params.partition;
}

static void partition_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    const struct gpume_plan *plan = setup->plan;
    needs->arrays[GPUME_ARRAY_CHOSEN][0] = (VkDeviceSize)plan->batch * plan->blocks * 4;
    needs->arrays[GPUME_ARRAY_CELLS][0] =
        (VkDeviceSize)plan->batch * gpume_partition_smallest(plan)->blocks * 4;
}

/* GPUME_NONE: the plan lacks that layer. */
static uint32_t first_of(const struct gpume_plan *plan, uint32_t layer)
{
    return layer == GPUME_NONE ? GPUME_NONE : plan->layers[layer].first;
}

static void partition_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    const struct gpume_partition partition = gpume_partition_of(plan);
    struct gpume_tree_push push = {
        .table = gpume_general_push_make(work, &plan->layers[0]).table,
        .width = plan->params.width,
        .height = plan->params.height,
        .field_blocks = plan->blocks,
        .side = partition.levels[0].side,
        .levels = partition.level_count,
    };
    for (uint32_t i = 0; i < partition.level_count; i++) {
        const struct gpume_partition_level *level = &partition.levels[i];
        push.first[GPUME_TREE_SPLITS * i + 0] = first_of(plan, level->whole);
        push.first[GPUME_TREE_SPLITS * i + 1] = first_of(plan, level->above);
        push.first[GPUME_TREE_SPLITS * i + 2] = first_of(plan, level->beside);
    }
    struct gpume_view chosen = gpume_work_array(work, GPUME_ARRAY_CHOSEN, 0);
    gpume_slot_clear(work->slot, &chosen);
    gpume_barrier_clear_to_kernel(work->slot);
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    gpume_slot_dispatch_many(work->slot, &stage->kernels[0], &push,
        plan->layers[partition.levels[0].whole].blocks, work->task_count);
}

const struct gpume_stage_ops gpume_stage_partition = {
    .name = "partition",
    .row = GPUME_ROW_REDUCE,
    .wanted = partition_wanted,
    .needs = partition_needs,
    .code = &partition_code,
    .before = gpume_barrier_kernel_to_kernel,
    .record = partition_record,
};
