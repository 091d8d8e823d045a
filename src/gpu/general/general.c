/* SPDX-License-Identifier: BSD-2-Clause */
/* Stages of the general search: sums of boxes, where its kernels find everything, the passes over a
 * layer, the search for means, and what is chosen from what was found. */
#include "gpu/stages/stage.h"

#include "base/base.h"
#include "model/plan.h"

#include "boxes16.inc"
#include "boxes8.inc"
#include "choose.inc"
#include "general16.inc"
#include "general8.inc"
#include "general_half8.inc"
#include "mean16.inc"
#include "mean8.inc"
#include "mean_half8.inc"
#include "median.inc"
#include "ranges16.inc"
#include "ranges8.inc"
#include "refine16.inc"
#include "refine8.inc"
#include "texture16.inc"
#include "texture8.inc"
#include "tree.inc"

#include <string.h>

/* --- boxes
 *
 * Reads the searched surface, writes BOXES: the sum of the box at every place of every
 * plane that is searched, then the ranges of these sums; once per frame.
 */

enum { SUMS, RANGES };

#define BOX_GROUPS_MAX 32768u /* of one dispatch, one below the other */

_Static_assert(sizeof(struct gpume_boxes_push) == 8 * 4, "words without gaps");
_Static_assert(sizeof(struct gpume_ranges_push) == 10 * 4, "words without gaps");

/* Side of a box whose sums bound candidates: 8, where that leaves four boxes in each block; SATD's
 * tiles need 4. */
static uint32_t boxes_side(const struct gpume_plan *plan)
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
    constants[GPUME_SPEC_BOX] = boxes_side(stage->setup.plan);
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

/* --- search
 *
 * For every pass predictors, then one candidate after the other,
 * then their refinement. Reads the searched surface, writes PREDICTORS and PAIR_*.
 */

/* Loop iterations that compare a place, at most, see cost.glsl. */
static uint32_t iterations_of_place(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    /* A driver need not unroll the loops over a tile: 72 iterations for 64 samples. */
    const struct gpume_params *p = &plan->params;
    bool satd = p->metric == GPUME_METRIC_SATD || gpume_cost_metric(p) == GPUME_METRIC_SATD;
    return satd ? 2 * layer->block_w * layer->block_h
                : layer->block_w / 4 * (layer->block_h + layer->block_h / 4) + 1;
}

#define median8 median /* the depth of samples does not matter */
#define median16 median
#define general_half16 general16 /* half floats are for 8 bits */

enum { MEDIAN, SEARCH, REFINE };

#define LOCAL_GPU 64u     /* measured with windows of 81 and 289 groups, */
#define LOCAL_LARGE 128u  /* and of 1089 */
#define LARGE_WINDOW 512u /* groups */
#define LOCAL_CPU 16u     /* a workgroup of a software driver runs on one core */
#define REFINE_LOCAL 64u
#define NEIGHBOURS 8u
#define SEED_ITERATIONS 16384u /* of an invocation that looks for places to start from */

_Static_assert(sizeof(struct gpume_general_push) == 18 * 4, "words without gaps");

static bool refines(const struct gpume_plan *plan)
{
    return plan->units > 1 && plan->params.subpel_search == GPUME_SUBPEL_REFINE;
}

/* Else the fast search has found all that there is to find. */
static bool search_wanted(const struct gpume_stage_setup *setup)
{
    return gpume_general_wanted(setup) && (!setup->plan->fast_pixels || refines(setup->plan));
}

static uint32_t groups_along(const struct gpume_plan *plan, uint32_t window)
{
    uint32_t pixels = gpume_plan_searches_fractions(plan) ? 1 : GPUME_GROUP_SIDE;
    return (window + pixels - 1) / pixels + 1 + window / pixels;
}

static uint32_t window_groups(const struct gpume_plan *plan)
{
    return groups_along(plan, plan->params.window_x) * groups_along(plan, plan->params.window_y);
}

/* Vectors that a search looks at before it refines: those of whole groups (places.glsl), at most
 * 4100 * 4100. */
static uint32_t places_of(const struct gpume_plan *plan)
{
    uint32_t side = gpume_plan_searches_fractions(plan) ? plan->units : GPUME_GROUP_SIDE;
    return window_groups(plan) * side * side;
}

/* Invocations that search a block: a multiple of a group's places. */
static uint32_t local_of_search(const struct gpume_stage_setup *setup)
{
    bool processor = setup->gpu->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint32_t of_gpu = window_groups(setup->plan) < LARGE_WINDOW ? LOCAL_GPU : LOCAL_LARGE;
    uint32_t most = processor ? LOCAL_CPU : of_gpu, local = 1;
    while (local < most && local < places_of(setup->plan)) {
        local *= 2;
    }
    return local;
}

static int create_search_kernel(struct gpume_gpu_stage *stage, uint32_t which, uint32_t local,
    const struct gpume_kernel_code *code)
{
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_LOCAL] = local;
    constants[GPUME_SPEC_BOX] = boxes_side(stage->setup.plan);
    return gpume_stage_kernel(&stage->setup, code, constants, &stage->kernels[which]);
}

static int search_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code of_median = GPUME_FRAME_CODE(
                                              median, 0, struct gpume_general_push),
                                          of_search = GPUME_FRAME_CODE(
                                              general, 0, struct gpume_general_push),
                                          of_half_search = GPUME_FRAME_CODE(
                                              general_half, 0, struct gpume_general_push),
                                          of_refine = GPUME_FRAME_CODE(
                                              refine, 0, struct gpume_general_push);
    const struct gpume_plan *plan = stage->setup.plan;
    bool half = gpume_stage_half(stage->setup.gpu);
    int status = GPUME_OK;
    if (!plan->fast_pixels) {
        GPUME_TRY(create_search_kernel(
            stage, SEARCH, local_of_search(&stage->setup), half ? &of_half_search : &of_search));
    }
    if (plan->passes > 1) {
        GPUME_TRY(create_search_kernel(stage, MEDIAN, 0, &of_median));
    }
    if (refines(plan)) {
        GPUME_TRY(create_search_kernel(stage, REFINE, REFINE_LOCAL, &of_refine));
    }
fail:
    return status;
}

/* Workgroups, each for `share` of a layer's blocks, in dispatches that none take long. work:
 * samples that are compared for a block. */
static void record_layer_blocks(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    uint32_t which, struct gpume_general_push *push, uint64_t block_work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_kernel *kernel = &stage->kernels[which];
    uint32_t pairs = gpume_work_pairs(setup->plan, work->task_count);
    uint32_t step = gpume_stage_blocks_per_dispatch(setup, block_work * setup->plan->references);
    gpume_slot_bind(work->slot, kernel, NULL);
    for (push->block_first = 0; push->block_first < push->layer.blocks; push->block_first += step) {
        uint64_t groups = gpume_min_u64(step, push->layer.blocks - push->block_first);
        push->block_end = push->block_first + (uint32_t)groups;
        if (which == REFINE) {
            groups = gpume_div_up(groups * push->end, REFINE_LOCAL / NEIGHBOURS);
        }
        gpume_slot_dispatch_many(work->slot, kernel, push, groups, pairs);
    }
}

/* Loop iterations that bound a place, at most, see bound.glsl. */
static uint32_t iterations_of_bound(const struct gpume_shape *layer)
{
    return (layer->block_w / 4 + 1) * (layer->block_h / 4) + GPUME_CANDIDATES_MAX + 1;
}

/* How many places one dispatch may take of every block, so that no invocation's loops are too
 * long: with some left for what kernels do besides. */
static uint32_t places_per_dispatch(const struct gpume_stage_setup *setup)
{
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    uint32_t of_place =
        iterations_of_place(setup->plan, layer) + 2 * iterations_of_bound(layer) + 8;
    uint32_t iterations = GPUME_ITERATIONS_MAX - SEED_ITERATIONS - 4096;
    return iterations / of_place * local_of_search(setup); /* a multiple of a group's places */
}

/* One in this many groups may be where a pruned search starts: all of them, if that keeps its loops
 * short enough. */
static uint32_t coarse_step(const struct gpume_stage_setup *setup)
{
    uint64_t each = SEED_ITERATIONS / iterations_of_bound(gpume_stage_layer(setup));
    return (uint32_t)gpume_div_up(window_groups(setup->plan), each * local_of_search(setup));
}

static void record_candidate(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    struct gpume_general_push *push, uint32_t candidate)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    uint32_t places = places_of(setup->plan), step = places_per_dispatch(setup);
    push->candidate = candidate;
    for (push->first = 0; push->first < places; push->first += step) {
        push->end = (uint32_t)gpume_min_u64((uint64_t)push->first + step, places);
        uint64_t count = push->end - push->first;
        record_layer_blocks(stage, work, SEARCH, push, count * layer->block_w * layer->block_h);
        gpume_barrier_kernel_to_kernel(work->slot);
    }
}

static void record_median(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    const struct gpume_general_push *push)
{
    gpume_slot_bind(work->slot, &stage->kernels[MEDIAN], NULL);
    gpume_slot_dispatch_many(work->slot, &stage->kernels[MEDIAN], push,
        gpume_div_up(push->layer.blocks, GPUME_GENERAL_LOCAL),
        gpume_work_pairs(work->plan, work->task_count));
    gpume_barrier_kernel_to_kernel(work->slot);
}

/* push->end: how many candidates of a block are refined. */
static void record_refine(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    struct gpume_general_push *push, uint32_t candidates)
{
    const struct gpume_shape *layer = gpume_stage_layer(&stage->setup);
    push->end = candidates;
    record_layer_blocks(stage, work, REFINE, push,
        2ull * NEIGHBOURS * candidates * layer->block_w * layer->block_h);
    gpume_barrier_kernel_to_kernel(work->slot);
}

static void search_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_plan *plan = work->plan;
    struct gpume_general_push push =
        gpume_general_push_make(work, gpume_stage_layer(&stage->setup));
    push.coarse = coarse_step(&stage->setup);
    if (plan->fast_pixels) {
        record_refine(stage, work, &push, 1);
        return;
    }
    for (uint32_t pass = 0; pass < plan->passes; pass++) {
        /* The next pass needs the best vector alone. */
        uint32_t candidates = pass + 1 < plan->passes ? 1 : plan->kept;
        if (pass > 0) {
            record_median(stage, work, &push);
        }
        for (uint32_t i = 0; i < candidates; i++) {
            record_candidate(stage, work, &push, i);
        }
        if (refines(plan)) {
            record_refine(stage, work, &push, candidates);
        }
    }
}

const struct gpume_stage_ops gpume_stage_general_search = {
    .name = "general search",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = search_wanted,
    .create = search_create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = search_record,
};

/* --- means
 *
 * Reads the searched surface, PREDICTORS and MEANS, which choose has
 * started; writes MEANS and results of a layer, turn by turn.
 */

#define mean_half16 mean16 /* half floats are for 8 bits */

#define TURNS (2 * GPUME_MEAN_ROUNDS)
#define CLOSING_PLACES 3u

_Static_assert(sizeof(struct gpume_mean_push) == 20 * 4, "words without gaps");

static bool means_wanted(const struct gpume_stage_setup *setup)
{
    return setup->plan->params.bidirectional;
}

static void means_needs(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    needs->arrays[GPUME_ARRAY_MEANS][0] =
        (VkDeviceSize)setup->plan->batch * setup->plan->blocks * GPUME_MEAN_WORDS * 4;
}

/* Enough to share out the vector that moves and its neighbours. */
static uint32_t local_of_means(const struct gpume_stage_setup *setup)
{
    return (uint32_t)gpume_max_u64(local_of_search(setup), 16);
}

static int means_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code codes[] = {
        GPUME_FRAME_CODE(mean, 0, struct gpume_mean_push),
        GPUME_FRAME_CODE(mean_half, 0, struct gpume_mean_push),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    gpume_stage_constants(&stage->setup, constants);
    constants[GPUME_SPEC_LOCAL] = local_of_means(&stage->setup);
    constants[GPUME_SPEC_BOX] = boxes_side(stage->setup.plan);
    return gpume_stage_kernel(
        &stage->setup, &codes[gpume_stage_half(stage->setup.gpu)], constants, &stage->kernels[0]);
}

/* Some places of every block, in dispatches that none take long. */
static void record_places(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    struct gpume_mean_push *push)
{
    const struct gpume_shape *layer = gpume_stage_layer(&stage->setup);
    uint64_t places = push->general.end - push->general.first + CLOSING_PLACES;
    uint32_t step =
        gpume_stage_blocks_per_dispatch(&stage->setup, places * layer->block_w * layer->block_h);
    for (uint32_t first = 0; first < layer->blocks; first += step) {
        uint32_t count = (uint32_t)gpume_min_u64(step, layer->blocks - first);
        push->general.block_first = first;
        push->general.block_end = first + count;
        gpume_slot_dispatch_many(work->slot, &stage->kernels[0], push, count, work->task_count);
    }
    gpume_barrier_kernel_to_kernel(work->slot);
}

/* The places of the window, then what closes a turn: in the same dispatch, if an invocation could
 * take as many places more. */
static void record_turn(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    struct gpume_mean_push *push)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    uint32_t places = places_of(setup->plan);
    uint32_t step = places_per_dispatch(setup), local = local_of_means(setup);
    push->is_last = false;
    for (uint32_t first = 0; !push->is_last; first = push->general.end) {
        push->general.first = first;
        push->general.end = (uint32_t)gpume_min_u64((uint64_t)first + step, places);
        uint32_t left = step - (push->general.end - first);
        push->is_last =
            first == places || (push->general.end == places && left >= CLOSING_PLACES * local);
        record_places(stage, work, push);
    }
}

static void means_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    struct gpume_mean_push push = {
        .general = gpume_general_push_make(work, gpume_stage_layer(&stage->setup))};
    push.general.coarse = coarse_step(&stage->setup);
    gpume_slot_bind(work->slot, &stage->kernels[0], NULL);
    for (push.turn = 0; push.turn < TURNS; push.turn++) {
        record_turn(stage, work, &push);
    }
}

const struct gpume_stage_ops gpume_stage_means = {
    .name = "means",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = means_wanted,
    .needs = means_needs,
    .create = means_create,
    .before = gpume_barrier_kernel_to_kernel,
    .record = means_record,
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
