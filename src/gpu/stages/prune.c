/* SPDX-License-Identifier: BSD-2-Clause */
/* The stages of successive elimination: block sums, and the forms of pruning by them. */
#include "gpu/stages/stage.h"

#include "base/base.h"
#include "common/shared.h"
#include "frame/frame.h"

#include "block_sums16.inc"
#include "block_sums8.inc"
#include "prune_small16.inc"
#include "prune_small8.inc"
#include "prune_small_half16.inc"
#include "prune_small_half8.inc"
#include "prune_strips16.inc"
#include "prune_strips8.inc"
#include "prune_strips_half16.inc"
#include "prune_strips_half8.inc"
#include "prune_wide16.inc"
#include "prune_wide8.inc"
#include "prune_wide_half16.inc"
#include "prune_wide_half8.inc"

#include <stdlib.h>
#include <string.h>

/* --- the choice among the forms */

#define SUM_MAX 2047u /* half floats hold these, their differences and small sums of them */
#define EACH_MAX 10u  /* groups of candidates whose bounds an invocation keeps in registers */
/* Candidates to compare. Measured: with 400 and more a submission waits longer for its last block.
 */
#define WORTH 192u
#define COMPARE_ITERATIONS (GPUME_ITERATIONS_MAX / 2) /* of an invocation; bounds need the rest */

static uint32_t shift_for(uint64_t samples, uint32_t bits)
{
    uint64_t largest = samples * ((1u << bits) - 1);
    uint32_t shift = 0;
    while (largest >> shift > SUM_MAX) {
        shift++;
    }
    return shift;
}

#define STRIP_SIDE 16u    /* rows of sums of a quarter lie in registers */
#define STRIPS_MAX 32u    /* of an invocation: a bit each */
#define STRIP_LOCAL 128u  /* measured: 64 and 256 are slower */
#define STRIP_GIVE_UP 16u /* one candidate of this many is compared */

/* Measured on an H200: numbers of candidates up to which an invocation for each square is fastest,
 * and up to which strips are. 8x8 by strips in windows of 7, 16, 32 and 192x48: 20, 42, 90 and 490
 * us per field; with an invocation for each: 15 and 47 us; with a workgroup: 82 and 385 us in the
 * last two. Other blocks than those of whole eights have nothing else. */
static uint64_t small_most(const struct gpume_shape *layer)
{
    bool square = layer->block_w == layer->block_h;
    return square && (layer->block_w == 8 || layer->block_w == 16) ? 300 : 0;
}

static bool is_of_eights(const struct gpume_shape *layer)
{
    return layer->block_w % 8 == 0 && layer->block_h % 8 == 0;
}

static uint64_t strips_most(const struct gpume_shape *layer)
{
    if (layer->block_w > STRIP_SIDE || layer->block_h > STRIP_SIDE) {
        return 0;
    }
    return !is_of_eights(layer) ? UINT64_MAX : layer->block_w * layer->block_h == 64 ? 1200 : 0;
}

enum gpume_prune_kind gpume_prune_kind_of(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    uint32_t bits = layer->cost_bits + gpume_bit_width(plan->candidates);
    if (bits <= 32 && plan->candidates <= small_most(layer)) {
        return GPUME_PRUNE_SMALL;
    }
    if (bits <= 32 && plan->candidates <= strips_most(layer)) {
        return GPUME_PRUNE_STRIPS;
    }
    return is_of_eights(layer) ? GPUME_PRUNE_WIDE : GPUME_PRUNE_NONE;
}

bool gpume_prune_supports(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return gpume_prune_kind_of(plan, layer) != GPUME_PRUNE_NONE &&
           layer->blocks_x <= GPUME_PRUNE_BLOCKS_MAX && layer->blocks_y <= GPUME_PRUNE_BLOCKS_MAX;
}

/* Whether the kernel reads the sums of quarters alone, row by row. */
static bool reads_rows(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    return gpume_prune_kind_of(plan, layer) > GPUME_PRUNE_WIDE;
}

/* An invocation bounds at most 150 eights of candidates twice and lists its share. The list holds
 * 256, of which 7 places may stay free: in each of at most 64 * 300 / 249 + 1 = 78 rounds it
 * compares four candidates, each in up to four squares of eight rows. That is below 25,000
 * iterations, as test_prune counts. */
static struct gpume_prune_shape small_shape(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    return (struct gpume_prune_shape){
        .kind = GPUME_PRUNE_SMALL,
        .local = 64,
        .team = 1,
        .give_up = 128, /* measured; many candidates of a block are shared by all invocations */
        .quarter_shift = shift_for(samples / 4, plan->params.bits),
    };
}

/* Rows of a strip, a multiple of `half`: the number by which a team bounds all strips soonest. A
 * strip begins with rows of sums that have no candidate yet. */
static uint32_t strip_rows(const struct gpume_plan *plan, uint32_t half, uint32_t team)
{
    uint64_t rows = 2 * plan->params.window_y + 1, least = UINT64_MAX;
    uint64_t eights = (plan->pad_x + plan->params.window_x + 8) / 8;
    uint32_t chosen = half;
    for (uint32_t strip = half; strip < rows + half; strip += half) {
        uint64_t each = gpume_div_up(gpume_div_up(rows, strip) * eights, team);
        uint64_t work = each * (4 * strip + half + 4);
        if (each <= STRIPS_MAX && work < least) {
            least = work;
            chosen = strip;
        }
    }
    return chosen;
}

/* STRIPS_MAX suffices: a window of up to 500 candidates has at most 64 eights in a row, the widest
 * 129. Iterations of an invocation, as test_prune counts them: it bounds its strips twice. The
 * workgroup lists GIVE_UP candidates of every block and one eight more for every invocation, in
 * rounds that end with a full list and take 2 * (SHARE + 2) iterations. */
static struct gpume_prune_shape strips_shape(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    uint32_t team = plan->candidates > 8192 ? 32 : plan->candidates > 500 ? 8 : 4; /* measured */
    return (struct gpume_prune_shape){
        .kind = GPUME_PRUNE_STRIPS,
        .local = STRIP_LOCAL,
        .team = team,
        .seeds = 2, /* measured: 1 and 4 are slower */
        .part = strip_rows(plan, layer->block_h / 2, team),
        .give_up = (uint32_t)gpume_max_u64(128, plan->candidates / STRIP_GIVE_UP),
        .quarter_shift = shift_for(samples / 4, plan->params.bits),
    };
}

/* Candidates of a block from which something was gained where it was measured: on an NVIDIA H200,
 * and on a processor that takes the part of a GPU. There gpume_prune_policy goes by what it
 * measures. */
static uint64_t prune_candidates_min(
    const struct gpume_plan *plan, const struct gpume_shape *layer, bool processor)
{
    return processor ? 500 : gpume_prune_kind_of(plan, layer) == GPUME_PRUNE_WIDE ? 400 : 100;
}

struct gpume_prune_shape gpume_prune_shape_make(
    const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    enum gpume_prune_kind kind = gpume_prune_kind_of(plan, layer);
    if (kind != GPUME_PRUNE_WIDE) {
        return kind == GPUME_PRUNE_SMALL ? small_shape(plan, layer) : strips_shape(plan, layer);
    }
    uint64_t samples = (uint64_t)layer->block_w * layer->block_h;
    uint32_t rows = (uint32_t)gpume_div_up(2 * plan->params.window_y + 1, 4);
    /* Measured. Large blocks are few, and take long to compare. */
    uint32_t local = plan->candidates > 8192 || samples >= 4096 ? 128 : samples >= 1024 ? 64 : 32;
    uint32_t most = EACH_MAX * local / plan->dx_quads;
    struct gpume_prune_shape shape = {
        .kind = GPUME_PRUNE_WIDE,
        .local = local,
        .part = (uint32_t)gpume_div_up(rows, gpume_div_up(rows, most > 0 ? most : 1)),
        .list = 2 * local,
        .quarter_shift = shift_for(samples / 4, plan->params.bits),
        .sixteenth_shift = shift_for(samples / 16, plan->params.bits),
    };
    /* Limits the loops of an invocation: a candidate takes as many iterations as all invocations
     * need for its runs of eight or sixteen samples, and two more. */
    uint64_t affordable = COMPARE_ITERATIONS / (gpume_div_up(samples / 8, local) + 2);
    shape.give_up = (uint32_t)gpume_min_u64(WORTH, affordable);
    return shape;
}

static struct gpume_prune_size *size_of(struct gpume_prune_policy *policy, uint32_t fields)
{
    return &policy->sizes[gpume_bit_width(fields)];
}

bool gpume_prune_policy_next(struct gpume_prune_policy *policy, uint32_t fields)
{
    struct gpume_prune_size *size = size_of(policy, fields);
    if (!size->tried) {
        size->tried = true;
        return true;
    }
    if (size->field_ns[0] == 0 || size->field_ns[1] == 0) {
        return size->pruning;
    }
    /* Longer where a probe costs more, so that probes stay a small share. */
    uint64_t used = size->field_ns[size->pruning], other = size->field_ns[!size->pruning];
    uint64_t period = size->pruning ? GPUME_PRUNE_PROBE_FULL : GPUME_PRUNE_PROBE;
    if (++size->since_probe < period * (other / used + 1)) {
        return size->pruning;
    }
    size->since_probe = 0;
    return !size->pruning;
}

void gpume_prune_policy_measured(
    struct gpume_prune_policy *policy, bool pruned, uint64_t ns, uint32_t fields)
{
    struct gpume_prune_size *size = size_of(policy, fields);
    if (ns == 0 || fields == 0) {
        size->pruning |= size->field_ns[0] == 0 && size->field_ns[1] == 0;
        return;
    }
    size->field_ns[pruned] = ns / fields + 1;
    size->pruning =
        size->field_ns[0] > 0 && size->field_ns[1] > 0 && size->field_ns[1] < size->field_ns[0];
    size->tried = size->field_ns[1] > 0; /* else once more: its time is not known */
}

/* --- from submission to submission */

bool gpume_pruning_next(struct gpume_pruning *pruning, uint32_t slot, uint32_t fields)
{
    bool pruned = pruning->possible && fields > 0;
    if (pruned) {
        pruned = pruning->forced ? pruning->submissions++ % 3 < 2
                                 : gpume_prune_policy_next(&pruning->policy, fields);
    }
    return pruning->pruned[slot] = pruned;
}

/* Of several frame pairs together. */
static uint64_t count_at(const uint32_t *words, uint32_t which, uint32_t pairs)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < pairs * GPUME_COUNT_SLOTS; i++, words += GPUME_COUNT_WORDS) {
        sum += words[2 * which] | (uint64_t)words[2 * which + 1] << 32;
    }
    return sum;
}

void gpume_pruning_count(const struct gpume_pruning *pruning, uint32_t slot,
    const struct gpume_plan *plan, const struct gpume_layout *layout, const struct gpume_task *task,
    const uint32_t *words, struct gpume_stats *stats)
{
    bool pruned = pruning->pruned[slot];
    uint32_t pairs = 1 + task->more_count;
    stats->fields++;
    if (!gpume_plan_searches_fast(plan) && pruned) {
        /* Every pass but the last one looks for one match of each block. */
        uint64_t sweeps = (uint64_t)(plan->passes - 1 + plan->kept) * pairs;
        gpume_stats_count_sweeps(stats, plan, sweeps * plan->sweep_candidates,
            count_at(words, GPUME_COUNT_PAST_PARTS, 1));
        return;
    }
    bool counted = false; /* boxes alone, which the search for means reads, count nothing */
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        counted |= gpume_pruning_used(&layout->pruning[i]);
    }
    pruned = pruned && counted;
    stats->candidates += plan->field_candidates;
    stats->past_blocks += pruned ? count_at(words, GPUME_COUNT_PAST_BLOCKS, pairs) / pairs : 0;
    stats->past_parts += pruned ? count_at(words, GPUME_COUNT_PAST_PARTS, pairs) / pairs : 0;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        bool full = !pruned || !gpume_pruning_used(&layout->pruning[i]);
        stats->past_blocks += full ? plan->layers[i].candidates : 0;
        stats->past_parts += full ? plan->layers[i].candidates : 0;
    }
}

static const struct gpume_pruning_layout *pruning_of(const struct gpume_stage_setup *setup)
{
    return &setup->layout->pruning[setup->layer];
}

#define PRUNE_RESULTS 4u

/* Rows of a frame of sums, whole tiles, and sums in each of them. */
static uint32_t prune_sum_rows(const struct gpume_plan *plan)
{
    return (uint32_t)gpume_round_up(plan->padded_rows, 4);
}

/* Kernels that read rows take eights of sums: those of the window, and the one behind them. */
static uint32_t prune_sum_stride(const struct gpume_plan *plan, const struct gpume_shape *layer)
{
    if (!reads_rows(plan, layer)) {
        return plan->padded_stride;
    }
    uint64_t window = gpume_round_up(plan->pad_x + plan->params.window_x + 1, 8);
    return (uint32_t)gpume_round_up((layer->blocks_x - 1) * layer->block_w + window + 8, 8);
}

/* Patches in a row of them, and in a frame. Kernels that take eight samples at a time read those
 * right of the last that has samples, and ignore them. */
static uint32_t prune_patch_stride(const struct gpume_plan *plan)
{
    uint64_t before = gpume_round_up(plan->pad_x, GPUME_PATCH_COLUMNS) - plan->pad_x;
    return (uint32_t)gpume_div_up(before + plan->padded_stride + 8, GPUME_PATCH_COLUMNS);
}

static uint32_t prune_patches(const struct gpume_plan *plan)
{
    uint64_t rows = GPUME_PATCH_WORDS * 4 / GPUME_PATCH_COLUMNS / plan->sample_bytes;
    uint64_t before = gpume_round_up(plan->pad_y, rows) - plan->pad_y;
    return (uint32_t)gpume_div_up(before + plan->padded_rows, rows) * prune_patch_stride(plan);
}

static VkDeviceSize part_bytes(
    const struct gpume_plan *plan, const struct gpume_shape *layer, enum gpume_prune_part part)
{
    VkDeviceSize frame = part == GPUME_PRUNE_PATCHES
                             ? (VkDeviceSize)prune_patches(plan) * GPUME_PATCH_WORDS * 4
                             : (VkDeviceSize)prune_sum_rows(plan) * prune_sum_stride(plan, layer) *
                                   2; /* 16 bits each */
    VkDeviceSize bytes = gpume_round_up(plan->ring * frame, GPUME_PART_ALIGN);
    return part == GPUME_PRUNE_GROUPS ? bytes / 8 : bytes; /* 32 bits for every tile of 16 sums */
}

static void place_part(const struct gpume_plan *plan, uint32_t layer, enum gpume_prune_part part,
    struct gpume_layout *layout)
{
    struct gpume_pruning_layout *pruning = &layout->pruning[layer];
    pruning->makes[part] = true;
    pruning->offset[part] = layout->pruning_bytes;
    pruning->bytes[part] = part_bytes(plan, &plan->layers[layer], part);
    layout->pruning_bytes =
        gpume_round_up(layout->pruning_bytes + pruning->bytes[part], GPUME_PART_ALIGN);
}

/* The layer reads a part that another one makes. */
static void share_part(struct gpume_pruning_layout *pruning, enum gpume_prune_part part,
    const struct gpume_pruning_layout *maker, enum gpume_prune_part made)
{
    pruning->offset[part] = maker->offset[made];
    pruning->bytes[part] = maker->bytes[made];
}

static bool is_wide(
    const struct gpume_plan *plan, uint32_t layer, const struct gpume_layout *layout)
{
    return gpume_pruning_used(&layout->pruning[layer]) && !reads_rows(plan, &plan->layers[layer]);
}

/* Quarters of blocks with half its sides are of as many samples as its sixteenths, cut alike. */
static void place_sixteenths(
    const struct gpume_plan *plan, uint32_t layer, struct gpume_layout *layout)
{
    const struct gpume_shape *whole = &plan->layers[layer];
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *half = &plan->layers[i];
        if (2 * half->block_w == whole->block_w && 2 * half->block_h == whole->block_h &&
            is_wide(plan, i, layout)) {
            share_part(&layout->pruning[layer], GPUME_PRUNE_SIXTEENTHS, &layout->pruning[i],
                GPUME_PRUNE_QUARTERS);
            return;
        }
    }
    place_part(plan, layer, GPUME_PRUNE_SIXTEENTHS, layout);
}

static void place_more(const struct gpume_plan *plan, struct gpume_layout *layout)
{
    const struct gpume_pruning_layout *patched = NULL;
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        if (!is_wide(plan, i, layout)) {
            continue;
        }
        place_part(plan, i, GPUME_PRUNE_GROUPS, layout);
        place_sixteenths(plan, i, layout);
        if (patched) {
            share_part(&layout->pruning[i], GPUME_PRUNE_PATCHES, patched, GPUME_PRUNE_PATCHES);
        } else {
            place_part(plan, i, GPUME_PRUNE_PATCHES, layout);
            patched = &layout->pruning[i];
        }
    }
}

void gpume_prune_plan(const struct gpume_gpu *gpu, bool always, uint64_t window_bytes,
    const struct gpume_plan *plan, struct gpume_layout *layout)
{
    const VkPhysicalDeviceProperties *p = &gpu->properties;
    const bool processor = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const uint64_t most = gpume_min_u64(window_bytes, p->limits.maxStorageBufferRange);
    if (!gpume_plan_searches_fast(plan) || plan->params.no_elimination || !plan->one_window) {
        return;
    }
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *layer = &plan->layers[i];
        const uint64_t least = always ? 0 : prune_candidates_min(plan, layer, processor);
        VkDeviceSize largest = part_bytes(plan, layer, GPUME_PRUNE_QUARTERS);
        if (!reads_rows(plan, layer)) {
            largest = gpume_max_u64(largest, part_bytes(plan, layer, GPUME_PRUNE_PATCHES));
        }
        if (plan->candidates >= least && gpume_prune_supports(plan, layer) && largest <= most) {
            place_part(plan, i, GPUME_PRUNE_QUARTERS, layout);
        }
    }
    place_more(plan, layout);
}

/* Where the kernel reads_rows, every part is that of quarters. */
static struct gpume_view view_of_part(const struct gpume_work *work,
    const struct gpume_stage_setup *setup, enum gpume_prune_part part)
{
    const struct gpume_pruning_layout *layout = pruning_of(setup);
    if (layout->bytes[part] == 0) {
        part = GPUME_PRUNE_QUARTERS;
    }
    return gpume_view_part(
        work->memory->parts[GPUME_MEMORY_BLOCK_SUMS], layout->offset[part], layout->bytes[part]);
}

static bool prune_wanted(const struct gpume_stage_setup *setup)
{
    return gpume_pruning_used(pruning_of(setup));
}

static bool prune_used(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    (void)stage;
    return work->pruned;
}

/* The specialisation constants of all these kernels. */
static void prune_constants(
    const struct gpume_stage_setup *setup, uint32_t constants[GPUME_SPEC_COUNT])
{
    struct gpume_prune_shape shape = gpume_prune_shape_make(setup->plan, gpume_stage_layer(setup));
    gpume_stage_constants(setup, constants);
    constants[GPUME_SPEC_LOCAL] = shape.local;
    constants[GPUME_SPEC_QUARTER_SHIFT] = shape.quarter_shift;
    constants[GPUME_SPEC_SIXTEENTH_SHIFT] = shape.sixteenth_shift;
    constants[GPUME_SPEC_PART] = shape.part;
    constants[GPUME_SPEC_LIST] = shape.list;
    constants[GPUME_SPEC_GIVE_UP] = shape.give_up;
    constants[GPUME_SPEC_TEAM] = shape.team;
    constants[GPUME_SPEC_SEEDS] = shape.seeds;
    constants[GPUME_SPEC_ROWS] = shape.kind != GPUME_PRUNE_WIDE;
    constants[GPUME_SPEC_SIXTEENTHS] = pruning_of(setup)->makes[GPUME_PRUNE_SIXTEENTHS];
}

/* Blocks that one dispatch may take.
 * Looking at a candidate twice costs about as much as 64 pixel differences. */
static uint32_t prune_blocks(const struct gpume_stage_setup *setup)
{
    return gpume_stage_blocks_per_dispatch(
        setup, setup->plan->candidates * 64 * setup->plan->references);
}

/* What pruning writes, as kernels bind it: vectors, costs, fallback, counts. */
static void prune_results(const struct gpume_work *work, const struct gpume_stage_setup *setup,
    struct gpume_view views[PRUNE_RESULTS])
{
    views[0] = gpume_work_array(work, gpume_work_found(work->plan, GPUME_ARRAY_VECTORS), 0);
    views[1] = gpume_work_array(work, gpume_work_found(work->plan, GPUME_ARRAY_COSTS), 0);
    views[2] = gpume_work_array(work, GPUME_ARRAY_FALLBACK, setup->layer);
    views[3] = gpume_work_array(work, GPUME_ARRAY_COUNTS, 0);
}

/* --- block sums
 *
 * Reads the searched surface, writes the sums of quarter and sixteenth blocks at every
 * position that the layer makes, and patches; one dispatch for the frames of the submission that
 * have none yet, which the task table lists. The first layer zeroes what pruning counts, for all of
 * them.
 */

_Static_assert(
    sizeof(struct gpume_block_sums_push) == 7 * 4, "words without gaps, as GLSL lays them");

static void block_sums_needs(
    const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs)
{
    gpume_need_buffers(
        needs, GPUME_MEMORY_BLOCK_SUMS, GPUME_BUFFER_DEVICE, setup->layout->pruning_bytes, 1);
}

/* own: by place in the ring 1 + the frame whose sums are there, 0 = none. */
static int block_sums_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code code =
        GPUME_TASK_CODE(block_sums, 5, struct gpume_block_sums_push);
    uint32_t constants[GPUME_SPEC_COUNT];
    stage->own = calloc(stage->setup.plan->ring, sizeof(uint64_t));
    if (!stage->own) {
        return gpume_log_nomem(stage->setup.gpu->log, "block sums");
    }
    prune_constants(&stage->setup, constants);
    return gpume_stage_kernel(&stage->setup, &code, constants, &stage->kernels[0]);
}

/* The counts of every frame pair, which are one for all layers, and every layer's number of blocks
 * that fall back. */
static void clear_counts(const struct gpume_stage_setup *setup, const struct gpume_work *work)
{
    struct gpume_stage_setup layer = *setup;
    struct gpume_view counts = gpume_work_array(work, GPUME_ARRAY_COUNTS, 0);
    gpume_slot_clear(work->slot, &counts);
    for (layer.layer = 0; layer.layer < setup->plan->layer_count; layer.layer++) {
        if (prune_wanted(&layer)) {
            struct gpume_view fallback = gpume_work_array(work, GPUME_ARRAY_FALLBACK, layer.layer);
            fallback.offset += (VkDeviceSize)gpume_stage_fallback_list(&layer) * 4;
            fallback.bytes = 4;
            gpume_slot_clear(work->slot, &fallback);
        }
    }
    gpume_barrier_clear_to_kernel(work->slot);
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Adds the frame to the list if its sums are not there yet. */
static void list_frame(
    const struct gpume_gpu_stage *stage, uint64_t sequence, uint32_t *list, uint32_t *count)
{
    uint64_t *summed = stage->own;
    uint32_t place = gpume_work_place(stage->setup.plan, sequence);
    if (summed[place] != sequence + 1) {
        summed[place] = sequence + 1;
        list[(*count)++] = place;
    }
}

/* By rising place, so that memory is read in order. */
static uint32_t list_frames(const struct gpume_gpu_stage *stage, const struct gpume_work *work,
    uint32_t list[2 * GPUME_TASKS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < work->task_count; i++) {
        list_frame(stage, work->tasks[i].target, list, &count);
        for (uint32_t j = 0; j < work->plan->references; j++) {
            uint64_t reference = gpume_work_reference(&work->tasks[i], j);
            list_frame(stage, reference, list, &count);
        }
    }
    qsort(list, count, sizeof(*list), by_place);
    return count;
}

static void block_sums_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_plan *plan = setup->plan;
    struct gpume_task_table *table = work->slot->uniforms.mapped;
    uint32_t first = 0;
    while (!gpume_pruning_used(&setup->layout->pruning[first])) {
        first++;
    }
    if (setup->layer == first) {
        clear_counts(setup, work);
    }
    uint32_t list[2 * GPUME_TASKS_MAX];
    uint32_t count = list_frames(stage, work, list);
    memcpy(table->sum_frames, list, count * sizeof(*list)); /* every layer lists the same */
    if (count == 0) {
        return;
    }
    struct gpume_block_sums_push push = {
        .frame_quads = (uint32_t)(plan->padded_bytes / gpume_quad_bytes(plan)),
        .stride = plan->padded_stride / 4,
        .rows = plan->padded_rows,
        .sum_stride = prune_sum_stride(plan, gpume_stage_layer(setup)) / 4,
        .patch_stride = prune_patch_stride(plan),
        .patches = pruning_of(setup)->makes[GPUME_PRUNE_PATCHES] ? prune_patches(plan) : 0,
    };
    push.sum_quads = prune_sum_rows(plan) * push.sum_stride;
    struct gpume_view views[] = {
        gpume_view_part(&work->memory->parts[GPUME_MEMORY_SURFACES + plan->searched][0], 0,
            gpume_work_plane_bytes(plan)),
        view_of_part(work, setup, GPUME_PRUNE_QUARTERS),
        view_of_part(work, setup, GPUME_PRUNE_SIXTEENTHS),
        view_of_part(work, setup, GPUME_PRUNE_GROUPS),
        view_of_part(work, setup, GPUME_PRUNE_PATCHES),
    };
    gpume_slot_bind(work->slot, &stage->kernels[0], views);
    gpume_slot_dispatch(work->slot, &stage->kernels[0], &push,
        (uint32_t)gpume_div_up(push.sum_stride, GPUME_BLOCK_SUMS_LOCAL),
        (uint32_t)gpume_div_up(push.rows, GPUME_BLOCK_SUMS_ROWS), count);
}

const struct gpume_stage_ops gpume_stage_block_sums = {
    .name = "block sums",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = prune_wanted,
    .binds = 1,
    .needs = block_sums_needs,
    .create = block_sums_create,
    .used = prune_used,
    .before = gpume_barrier_kernel_to_kernel,
    .record = block_sums_record,
};

/* --- pruning in wide windows
 *
 * A workgroup for each block: reads patches and block sums, writes
 * vectors, costs, counts and fallback; once per layer, in parts that keep a dispatch short.
 */

_Static_assert(
    sizeof(struct gpume_prune_wide_push) == 15 * 4, "words without gaps, as GLSL lays them");

static bool wide_wanted(const struct gpume_stage_setup *setup)
{
    return prune_wanted(setup) && !reads_rows(setup->plan, gpume_stage_layer(setup));
}

static int wide_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code codes[] = {
        GPUME_TASK_CODE(prune_wide, 8, struct gpume_prune_wide_push),
        GPUME_TASK_CODE(prune_wide_half, 8, struct gpume_prune_wide_push),
    };
    uint32_t constants[GPUME_SPEC_COUNT];
    prune_constants(&stage->setup, constants);
    return gpume_stage_kernel(
        &stage->setup, &codes[gpume_stage_half(stage->setup.gpu)], constants, &stage->kernels[0]);
}

static void wide_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    struct gpume_prune_wide_push push = {
        .frames.stride = plan->padded_stride / 4,
        .layer = gpume_work_layer(plan, layer),
        .fallback_list = gpume_stage_fallback_list(setup),
        .sum_quads = prune_sum_rows(plan) * (prune_sum_stride(plan, layer) / 4),
        .patch_stride = prune_patch_stride(plan),
        .patches = prune_patches(plan),
    };
    struct gpume_view views[4 + PRUNE_RESULTS] = {
        view_of_part(work, setup, GPUME_PRUNE_PATCHES),
        view_of_part(work, setup, GPUME_PRUNE_QUARTERS),
        view_of_part(work, setup, GPUME_PRUNE_SIXTEENTHS),
        view_of_part(work, setup, GPUME_PRUNE_GROUPS),
    };
    prune_results(work, setup, &views[4]);
    gpume_slot_bind(work->slot, &stage->kernels[0], views);
    /* blocks_y is at most GPUME_PRUNE_BLOCKS_MAX */
    uint32_t step = (uint32_t)gpume_max_u64(prune_blocks(setup) / layer->blocks_x, 1);
    for (; push.row_first < layer->blocks_y; push.row_first += step) {
        uint64_t rows = gpume_min_u64(step, layer->blocks_y - push.row_first);
        gpume_slot_dispatch(work->slot, &stage->kernels[0], &push, layer->blocks_x, (uint32_t)rows,
            gpume_work_pairs(plan, work->task_count));
    }
}

const struct gpume_stage_ops gpume_stage_prune_wide = {
    .name = "prune, a workgroup for each block",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = wide_wanted,
    .binds = 1,
    .create = wide_create,
    .used = prune_used,
    .before = gpume_barrier_kernel_to_kernel,
    .record = wide_record,
};

/* --- pruning in small windows and of small blocks
 *
 * Several blocks in a workgroup, by sums of quarters alone: reads the searched surface and block
 * sums, writes vectors, costs, counts and fallback; once per layer, in parts that keep a dispatch
 * short.
 */

_Static_assert(
    sizeof(struct gpume_prune_small_push) == 14 * 4, "words without gaps, as GLSL lays them");

static bool small_wanted(const struct gpume_stage_setup *setup)
{
    return prune_wanted(setup) && reads_rows(setup->plan, gpume_stage_layer(setup));
}

static bool takes_strips(const struct gpume_stage_setup *setup)
{
    return gpume_prune_kind_of(setup->plan, gpume_stage_layer(setup)) == GPUME_PRUNE_STRIPS;
}

static int small_create(struct gpume_gpu_stage *stage)
{
    static const struct gpume_kernel_code codes[2][2] = {
        {GPUME_TASK_CODE(prune_small, 6, struct gpume_prune_small_push),
            GPUME_TASK_CODE(prune_small_half, 6, struct gpume_prune_small_push)},
        {GPUME_TASK_CODE(prune_strips, 6, struct gpume_prune_small_push),
            GPUME_TASK_CODE(prune_strips_half, 6, struct gpume_prune_small_push)},
    };
    bool strips = takes_strips(&stage->setup), half = gpume_stage_half(stage->setup.gpu);
    uint32_t constants[GPUME_SPEC_COUNT];
    prune_constants(&stage->setup, constants);
    constants[GPUME_SPEC_KEY_BITS] = gpume_bit_width(stage->setup.plan->candidates);
    return gpume_stage_kernel(&stage->setup, &codes[strips][half], constants, &stage->kernels[0]);
}

static void small_record(const struct gpume_gpu_stage *stage, const struct gpume_work *work)
{
    const struct gpume_stage_setup *setup = &stage->setup;
    const struct gpume_plan *plan = setup->plan;
    const struct gpume_shape *layer = gpume_stage_layer(setup);
    struct gpume_prune_shape shape = gpume_prune_shape_make(plan, layer);
    uint32_t group = shape.local / shape.team; /* blocks of a workgroup */
    uint32_t sum_stride = prune_sum_stride(plan, layer) / (takes_strips(setup) ? 4 : 8);
    struct gpume_prune_small_push push = {
        .layer = gpume_work_layer(plan, layer),
        .fallback_list = gpume_stage_fallback_list(setup),
        .sum_stride = sum_stride,
        .sum_places = prune_sum_rows(plan) * sum_stride,
    };
    struct gpume_view views[2 + PRUNE_RESULTS], reference;
    /* Target and reference are both the whole ring. */
    gpume_work_frames(work, plan->searched, layer, 0, &views[0], &reference, &push.frames);
    views[1] = view_of_part(work, setup, GPUME_PRUNE_QUARTERS);
    prune_results(work, setup, &views[2]);
    gpume_slot_bind(work->slot, &stage->kernels[0], views);
    uint32_t step = (uint32_t)gpume_min_u64(prune_blocks(setup), GPUME_PRUNE_BLOCKS_MAX * group);
    step = step > group ? step / group * group : group;
    for (; push.block_first < layer->blocks; push.block_first += step) {
        uint64_t blocks = gpume_min_u64(step, layer->blocks - push.block_first);
        gpume_slot_dispatch(work->slot, &stage->kernels[0], &push,
            (uint32_t)gpume_div_up(blocks, group), 1, gpume_work_pairs(plan, work->task_count));
    }
}

const struct gpume_stage_ops gpume_stage_prune_small = {
    .name = "prune, several blocks in a workgroup",
    .row = GPUME_ROW_MATCH,
    .of_layers = true,
    .wanted = small_wanted,
    .binds = 1,
    .create = small_create,
    .used = prune_used,
    .before = gpume_barrier_kernel_to_kernel,
    .record = small_record,
};
