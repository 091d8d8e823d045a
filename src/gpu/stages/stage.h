/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One submission as its stages see it: frames to bring, tasks to search, and where everything of
 * theirs lies, in the memory of the Vulkan engine. And stages: the steps that a submission takes on
 * the device, in the order of one table. The engine, its memory, its statistics and its log walk
 * that table. Stages that work on the same things share a file. Some stages run once for every
 * layer of blocks.
 *
 *               reads                               writes
 *   upload      upload memory                       surface SOURCE
 *   prefilter   surface SOURCE, tables              planes, then surface FILTERED
 *   block sums  the searched surface                block sums, patches
 *   prune       patches or surface, block sums      vectors, costs, counts, fallback
 *   match       the searched surface                vectors, costs
 *   fallback    the same, fallback                  vectors, costs of the blocks in fallback
 *   predict     the measured surface, vectors       predicted, partials
 *   reduce      partials                            sums
 *   rank        costs                               ranks, or the host does: collect
 *   readback    results                             the host's copy
 */
#ifndef GPUME_GPU_STAGES_STAGE_H
#define GPUME_GPU_STAGES_STAGE_H

#include "common/shared.h"
#include "frame/frame.h"
#include "general/shared.h"
#include "gpu/vk/gpu.h"
#include "model/plan.h"

/* --- memory
 *
 * The memory of the Vulkan engine: buffers, and arrays that share one. Stages declare what they
 * need, before anything is allocated, so that a plan can be made smaller when it passes what is
 * allowed. Then arrays get their places, and buffers are made.
 */

/* Arrays of one submission, task after task. Results have the same places in the device's buffer
 * and in the host's copy; each holds all layers. Of scratch arrays every layer has its own. */
enum gpume_work_array {
    GPUME_ARRAY_SUMS,    /* GPUME_SUM_WORDS per task and layer */
    GPUME_ARRAY_COUNTS,  /* GPUME_COUNT_BYTES per task, of the fast search per pair */
    GPUME_ARRAY_VECTORS, /* a word per block */
    GPUME_ARRAY_COSTS,   /* a word per block */
    GPUME_ARRAY_RANKS,   /* a word per block */
    GPUME_ARRAY_BITS,    /* these of the general search, see general/shared.h */
    GPUME_ARRAY_REFS,
    GPUME_ARRAY_REFS2,
    GPUME_ARRAY_VECTORS2,
    GPUME_ARRAY_TIES,
    GPUME_ARRAY_TEXTURE,
    GPUME_ARRAY_CHOSEN,
    GPUME_ARRAY_PREDICTED,                      /* a plane per task */
    GPUME_ARRAY_RESULTS,                        /* the number of results: scratch follows */
    GPUME_ARRAY_PARTIALS = GPUME_ARRAY_RESULTS, /* sums of parts of a field */
    GPUME_ARRAY_FALLBACK, /* blocks that pruning leaves to the full search, see match.h */
    GPUME_ARRAY_RANKING,  /* what sorting needs */
    GPUME_ARRAY_GENERAL,  /* from here on of the general search: its table, see general/shared.h */
    GPUME_ARRAY_PREDICTORS,
    GPUME_ARRAY_PAIR_VECTORS,
    GPUME_ARRAY_PAIR_COSTS,
    GPUME_ARRAY_PAIR_TIES,
    GPUME_ARRAY_MEANS,
    GPUME_ARRAY_CELLS,
    GPUME_ARRAY_COUNT,
};

enum gpume_memory_part {
    GPUME_MEMORY_UPLOADS,  /* frames as the host fills them, by pool index; then copies, by slot */
    GPUME_MEMORY_SURFACES, /* one part for each surface: padded frames, all in one buffer or each in
                              its own */
    GPUME_MEMORY_BLOCK_SUMS = GPUME_MEMORY_SURFACES + GPUME_SURFACE_COUNT, /* of all layers */
    GPUME_MEMORY_BOXES,    /* of the general search */
    GPUME_MEMORY_RESULTS,  /* by slot, as the two that follow */
    GPUME_MEMORY_READBACK, /* the host's copy of results */
    GPUME_MEMORY_SCRATCH,
    GPUME_MEMORY_FILTER_STAGING, /* tables of a filter, for the host */
    GPUME_MEMORY_FILTER_TABLES,  /* and for kernels */
    GPUME_MEMORY_FILTER_PLANES,  /* filtered frames of a submission, not yet padded */
    GPUME_MEMORY_GENERAL, /* by slot: the table of the general search and given predictors, for the
                             host */
    GPUME_MEMORY_PARTS,
};

struct gpume_memory_need {
    enum gpume_buffer_kind kind;
    VkDeviceSize bytes; /* of each buffer */
    uint32_t count;
};

struct gpume_memory_needs {
    VkDeviceSize arrays[GPUME_ARRAY_COUNT][GPUME_LAYERS_MAX]; /* bytes; results: of layer 0 alone */
    struct gpume_memory_need parts[GPUME_MEMORY_PARTS];
    uint32_t binds; /* calls of gpume_slot_bind in a submission, at most */
};

/* Where arrays lie, in bytes. */
struct gpume_array_places {
    VkDeviceSize offsets[GPUME_ARRAY_COUNT][GPUME_LAYERS_MAX];
    VkDeviceSize bytes[GPUME_ARRAY_COUNT][GPUME_LAYERS_MAX];
};

/* Of buffers in all. */
struct gpume_memory_bytes {
    uint64_t host, device;
};

struct gpume_memory {
    struct gpume_buffer *parts[GPUME_MEMORY_PARTS]; /* by number; NULL where none is needed */
};

#define GPUME_PART_ALIGN 256u /* the largest that a device may ask of storage buffer offsets */

static inline void gpume_need_buffers(struct gpume_memory_needs *needs, uint32_t part,
    enum gpume_buffer_kind kind, VkDeviceSize bytes, uint32_t count)
{
    needs->parts[part] = (struct gpume_memory_need){kind, bytes, count};
}

/* The struct is zeroed before. Call destroy after a failure too. */
int gpume_memory_create(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory);
void gpume_memory_destroy(
    struct gpume_gpu *gpu, const struct gpume_memory_needs *needs, struct gpume_memory *memory);

/* --- a submission */

/* What pruning reads: sums of quarter blocks and of sixteenths, the least and the largest quarter
 * of every tile of them, and samples in patches. Kernels for small windows and small blocks read
 * the first alone. */
enum gpume_prune_part {
    GPUME_PRUNE_QUARTERS,
    GPUME_PRUNE_SIXTEENTHS,
    GPUME_PRUNE_GROUPS,
    GPUME_PRUNE_PATCHES,
    GPUME_PRUNE_PARTS,
};

/* Where they lie for a layer, each for the whole ring, in GPUME_MEMORY_BLOCK_SUMS. Layers share the
 * patches, and the sixteenths of a layer may be the quarters of another: `makes` tells which parts
 * are written for this layer. It makes none: the layer is searched without pruning. */
struct gpume_pruning_layout {
    bool makes[GPUME_PRUNE_PARTS];
    VkDeviceSize offset[GPUME_PRUNE_PARTS], bytes[GPUME_PRUNE_PARTS];
};

static inline bool gpume_pruning_used(const struct gpume_pruning_layout *layout)
{
    return layout->makes[GPUME_PRUNE_QUARTERS];
}

struct gpume_layout {
    struct gpume_array_places arrays;
    struct gpume_pruning_layout pruning[GPUME_LAYERS_MAX];
    VkDeviceSize pruning_bytes; /* of all layers */
};

struct gpume_work {
    const struct gpume_plan *plan;
    const struct gpume_layout *layout;
    const struct gpume_memory *memory;
    struct gpume_slot *slot;
    uint32_t slot_index;
    struct gpume_frame *const *frames;
    const uint32_t *uploads; /* of every frame: the upload buffer that holds it */
    uint32_t frame_count;
    const struct gpume_task *tasks;         /* results of task i lie at index i of every array */
    struct gpume_vector *const *predictors; /* of every task; NULL entries: none are given */
    uint32_t task_count;                    /* at most plan.batch */
    bool pruned;                            /* layers that can be are */
};

/* Frame pairs of a number of tasks: pair i * references + j is task i in its reference j. */
static inline uint32_t gpume_work_pairs(const struct gpume_plan *plan, uint32_t tasks)
{
    return tasks * plan->references;
}

/* The reference j of a task, which may have fewer than others: then the target itself. */
static inline uint64_t gpume_work_reference(const struct gpume_task *task, uint32_t j)
{
    return j == 0 ? task->reference : j <= task->more_count ? task->more[j - 1] : task->target;
}

/* Upload buffers for copies of frames that lie in other engines' memory. */
static inline uint32_t gpume_work_copies(const struct gpume_plan *plan)
{
    return plan->params.devices ? plan->slots * plan->batch : 0;
}

static inline uint32_t gpume_quad_bytes(const struct gpume_plan *plan)
{
    return 4 * plan->sample_bytes;
}

/* Bytes from one plane of a frame to the next. Where one buffer holds the ring, plane 0 of all
 * frames comes first, which the fast search binds, then plane 1 of all. */
static inline uint64_t gpume_work_plane_bytes(const struct gpume_plan *plan)
{
    return plan->one_window ? plan->ring * plan->padded_bytes : plan->padded_bytes;
}

/* The place of a frame in the ring. */
static inline uint32_t gpume_work_place(const struct gpume_plan *plan, uint64_t sequence)
{
    return (uint32_t)(sequence % plan->ring);
}

/* Writes the rows of the submission's task table. */
void gpume_work_write_tasks(const struct gpume_work *work);

struct gpume_view gpume_view_part(
    const struct gpume_buffer *buffer, VkDeviceSize offset, VkDeviceSize bytes);

/* The slot's buffer of results or of scratch memory. */
const struct gpume_buffer *gpume_work_buffer(
    const struct gpume_work *work, enum gpume_work_array array);

/* An array of the slot. Of results, where layer is 0, what the tasks take: each an equal share. */
struct gpume_view gpume_work_array(
    const struct gpume_work *work, enum gpume_work_array array, uint32_t layer);

/* GPUME_ARRAY_VECTORS or _COSTS as the fast search writes them: those of pairs, where a task has
 * several. */
enum gpume_work_array gpume_work_found(const struct gpume_plan *plan, enum gpume_work_array array);

/* A frame on a surface: plane 0, padded row 0. */
VkDeviceAddress gpume_work_frame_address(
    const struct gpume_work *work, enum gpume_surface surface, uint64_t sequence);

/* Rows `row` to `row_end` of a frame on a surface. *base: quads from the view's start to the
 * frame's row 0, wrapping below zero. */
struct gpume_view gpume_work_rows(const struct gpume_work *work, enum gpume_surface surface,
    uint64_t sequence, uint64_t row, uint64_t row_end, uint32_t *base);

/* The frames of all tasks on a surface, for one band of a layer's block rows: the whole ring or,
 * where that does not fit into a window, parts of the only task's frames. */
void gpume_work_frames(const struct gpume_work *work, enum gpume_surface surface,
    const struct gpume_shape *layer, uint32_t band, struct gpume_view *target,
    struct gpume_view *reference, struct gpume_frames_push *push);

/* What kernels know of the picture and a layer. */
struct gpume_layer_push gpume_work_layer(
    const struct gpume_plan *plan, const struct gpume_shape *layer);

/* --- stages */

struct gpume_cache;
struct gpume_match_choice;

/* What a stage is made for; all pointers outlive it. */
struct gpume_stage_setup {
    struct gpume_gpu *gpu;
    const struct gpume_plan *plan;
    const struct gpume_layout *layout;
    uint32_t layer;                          /* of the stages that run once per layer, else 0 */
    const struct gpume_match_choice *choice; /* the layer's search; NULL until it is made */
    const struct gpume_cache *cache;
};

#define GPUME_STAGE_KERNELS_MAX 3u

struct gpume_gpu_stage {
    const struct gpume_stage_ops *ops; /* NULL: nothing to create, wait for or destroy */
    struct gpume_stage_setup setup;
    struct gpume_kernel kernels[GPUME_STAGE_KERNELS_MAX]; /* those not needed stay zeroed */
    void *own;                                            /* the stage's, freed with it */
};

struct gpume_stage_ops {
    const char *name;
    enum gpume_gpu_row row; /* that its time is added to */
    bool of_frames;         /* it runs for the frames of a submission, else for its tasks */
    bool of_layers;         /* once per layer */
    uint32_t binds;         /* calls of gpume_slot_bind, beside those that needs declares */
    /* Whether a run has it at all. NULL: every run. */
    bool (*wanted)(const struct gpume_stage_setup *setup);
    /* Declares memory and descriptors. Arithmetic alone. NULL: it needs none. */
    void (*needs)(const struct gpume_stage_setup *setup, struct gpume_memory_needs *needs);
    /* Its only kernel, with the usual constants; or NULL: starts to make its kernels. Both NULL: it
     * has none. It is destroyed after a failure too. */
    const struct gpume_kernel_code *code;
    int (*create)(struct gpume_gpu_stage *stage);
    /* NULL: the kernels are all that there is to wait for, and to destroy. */
    int (*wait)(struct gpume_gpu_stage *stage);
    void (*destroy)(struct gpume_gpu_stage *stage);
    /* Whether this submission takes it. NULL: every submission. */
    bool (*used)(const struct gpume_gpu_stage *stage, const struct gpume_work *work);
    /* The barrier that makes visible what it reads, before all of its layers. NULL: none. */
    void (*before)(struct gpume_slot *slot);
    /* Writes commands and nothing else: no submission, no waiting, no allocation. */
    void (*record)(const struct gpume_gpu_stage *stage, const struct gpume_work *work);
    /* When the results of a task are back: what the host adds to them. NULL: nothing. */
    void (*collect)(const struct gpume_gpu_stage *stage, const struct gpume_results *results);
};

extern const struct gpume_stage_ops gpume_stage_upload, gpume_stage_prefilter,
    gpume_stage_block_sums, gpume_stage_prune_wide, gpume_stage_prune_small, gpume_stage_match,
    gpume_stage_fallback, gpume_stage_predict, gpume_stage_reduce, gpume_stage_rank,
    gpume_stage_readback;

static inline const struct gpume_shape *gpume_stage_layer(const struct gpume_stage_setup *setup)
{
    return &setup->plan->layers[setup->layer];
}

/* A plan on a device: where everything lies, and the memory that its stages take. */
struct gpume_plan_gpu {
    struct gpume_plan plan;
    struct gpume_layout layout;
    struct gpume_memory_needs needs;
    struct gpume_memory_bytes bytes; /* of all needs */
};

/* Fills in what these stages, up to NULL, need for planned->plan and for the pruning that its
 * layout has, in that many slots. Nothing is allocated. */
void gpume_stages_plan(struct gpume_gpu *gpu, const struct gpume_stage_ops *const *stages,
    uint32_t slots, struct gpume_plan_gpu *planned);

int gpume_stage_create(const struct gpume_stage_ops *ops, const struct gpume_stage_setup *setup,
    struct gpume_gpu_stage *stage);
int gpume_stage_wait(struct gpume_gpu_stage *stage);
/* Whether half float arithmetic pays, for bounds and for 8-bit samples. */
bool gpume_stage_half(const struct gpume_gpu *gpu);

/* Zeroed is fine. */
void gpume_stage_destroy(struct gpume_gpu_stage *stage);

/* A kernel's two variants, for 8-bit and 16-bit samples. */
struct gpume_kernel_code {
    const uint32_t *words8, *words16;
    size_t bytes8, bytes16;
    uint32_t buffer_count, push_bytes;
    bool tasks; /* it reads the task table */
};

/* That of the arrays of words called name8 and name16; push: the type of its push constants. */
#define GPUME_KERNEL_CODE(name, buffers, push)                                                     \
    .words8 = name##8, .words16 = name##16, .bytes8 = sizeof(name##8),                             \
    .bytes16 = sizeof(name##16), .buffer_count = (buffers), .push_bytes = sizeof(push)
/* Of a kernel without the task table, and of one that reads it. */
#define GPUME_FRAME_CODE(name, buffers, push)                                                      \
    {                                                                                              \
        GPUME_KERNEL_CODE(name, buffers, push)                                                     \
    }
#define GPUME_TASK_CODE(name, buffers, push)                                                       \
    {                                                                                              \
        GPUME_KERNEL_CODE(name, buffers, push), .tasks = true                                      \
    }

/* The variant for the plan's samples. constants NULL: those of gpume_stage_constants. */
int gpume_stage_kernel(const struct gpume_stage_setup *setup, const struct gpume_kernel_code *code,
    const uint32_t constants[GPUME_SPEC_COUNT], struct gpume_kernel *kernel);

/* The specialisation constants of the plan and the layer, by id; those of one kernel alone are 0.
 */
void gpume_stage_constants(
    const struct gpume_stage_setup *setup, uint32_t constants[GPUME_SPEC_COUNT]);

/* The blocks that pruning leaves to the full search: GPUME_ARRAY_FALLBACK of a layer has a word for
 * each of its blocks in every pair (1: search it in full), then the number of those blocks, then
 * their indices. Gives the words before that number. */
static inline uint32_t gpume_stage_fallback_list(const struct gpume_stage_setup *setup)
{
    return gpume_work_pairs(setup->plan, setup->plan->batch) * gpume_stage_layer(setup)->blocks;
}

/* Blocks of a layer that one dispatch may take where each costs that many pixel differences, so
 * that none keeps the device busy for long. */
uint32_t gpume_stage_blocks_per_dispatch(
    const struct gpume_stage_setup *setup, uint64_t block_work);

/* Workgroups for a number of rows of the picture: as many as have a quad of samples for each
 * invocation. Each leaves one set of partial sums for every task. */
uint32_t gpume_predict_groups(const struct gpume_plan *plan, uint64_t rows);

/* Sets of partial sums of one task. */
uint32_t gpume_predict_partials(const struct gpume_plan *plan, const struct gpume_shape *layer);

/* Places the block sums of the layers that are pruned: those where it may pay, or (always) all that
 * a kernel suits, of which no part is larger than window_bytes. */
void gpume_prune_plan(const struct gpume_gpu *gpu, bool always, uint64_t window_bytes,
    const struct gpume_plan *plan, struct gpume_layout *layout);

/*
 * --- the general search (plan.general): every metric, fraction, rate, reference and candidate,
 * after the surfaces are there. Its kernels reach surfaces and arrays by address, so that no
 * window, band or range limits them (shaders/general/shared.h has the layout).
 *
 *               reads                               writes
 *   pairs       the host's table, predictors        GENERAL, PREDICTORS
 *   fractions   plane 0 of the surfaces             their other planes
 *   boxes       the searched surface                BOXES: sums and their ranges
 *   search      the searched surface, PREDICTORS    PREDICTORS, PAIR_*; a layer's passes. With
 *               plan.fast_pixels it only refines what the fast search has found: PAIR_* with
 *               several references, else results, and then there is no choose
 *   choose      PAIR_*, PREDICTORS                  results, MEANS
 *   means       the searched surface, PREDICTORS,   MEANS, results
 *               MEANS
 *   texture     the measured surface                TEXTURE
 *   partition   COSTS, BITS                         CHOSEN, CELLS
 *   measure     the measured surface, results,      PREDICTED, PARTIALS, SUMS
 *               CELLS
 */

extern const struct gpume_stage_ops gpume_stage_pairs, gpume_stage_fractions, gpume_stage_boxes,
    gpume_stage_general_search, gpume_stage_choose, gpume_stage_means, gpume_stage_texture,
    gpume_stage_partition, gpume_stage_measure;

/* Whether there are results of pairs, to choose those of tasks from. */
static inline bool gpume_general_chooses(const struct gpume_plan *plan)
{
    return plan->general && (!plan->fast_pixels || plan->references > 1);
}

bool gpume_general_wanted(const struct gpume_stage_setup *setup);

/* What all kernels need to know. */
struct gpume_general_push gpume_general_push_make(
    const struct gpume_work *work, const struct gpume_shape *layer);

/*
 * --- The shape of pruning (successive elimination) for a layer, and the policy that decides which
 * submissions are pruned. Pure arithmetic; results are the same whatever it decides.
 */

enum gpume_prune_kind {
    GPUME_PRUNE_NONE,   /* no kernel suits the layer */
    GPUME_PRUNE_WIDE,   /* prune_wide.comp */
    GPUME_PRUNE_SMALL,  /* prune_small.comp */
    GPUME_PRUNE_STRIPS, /* prune_strips.comp */
};

struct gpume_prune_shape {
    enum gpume_prune_kind kind;
    uint32_t local; /* invocations of a workgroup */
    uint32_t team;  /* of them for one block; wide: 0 */
    uint32_t seeds; /* candidates that are compared first; strips alone */
    uint32_t part;  /* rows of groups of candidates that are taken at a time; strips: of a strip */
    uint32_t
        list; /* quads of candidates that can wait; short, as it is shared memory; wide alone */
    uint32_t give_up; /* candidates of a block to compare, or to list, before it falls back */
    uint32_t quarter_shift, sixteenth_shift; /* low bits cut off sums: 11 are kept */
};

/* Workgroups along an axis that every device takes; and a block's place in 16 bits in
 * prune_small.comp and prune_strips.comp. */
#define GPUME_PRUNE_BLOCKS_MAX 65535u

/* The kernel for the layer. Sides of whole eights suit prune_wide.comp: sixteenths begin with a
 * pair of samples, quarters with a quad. */
enum gpume_prune_kind gpume_prune_kind_of(
    const struct gpume_plan *plan, const struct gpume_shape *layer);

/* Whether a kernel suits the layer, and takes as many blocks. */
bool gpume_prune_supports(const struct gpume_plan *plan, const struct gpume_shape *layer);

struct gpume_prune_shape gpume_prune_shape_make(
    const struct gpume_plan *plan, const struct gpume_shape *layer);

/*
 * With or without pruning, submission by submission. The way in use is measured all the time, the
 * other one every GPUME_PRUNE_PROBE submissions or, where it is much slower, as much less often.
 * The time of the full search does not depend on the pictures, only on the device's clock: it is
 * probed every GPUME_PRUNE_PROBE_FULL. Both are known for submissions of about the same size, since
 * fields share the fixed cost of a submission, which is larger with pruning; where frames come
 * slowly, submissions are small. The first submission is pruned, and until both times are known the
 * full search is used: pruning can take eight times as long, and several submissions are under way.
 * A device without timestamps always prunes.
 */
#define GPUME_PRUNE_PROBE 16u
#define GPUME_PRUNE_PROBE_FULL 128u
#define GPUME_PRUNE_SIZES 8u /* by the bits of the number of fields */
_Static_assert(GPUME_BATCH_MAX < 1u << (GPUME_PRUNE_SIZES - 1), "a size for every submission");

struct gpume_prune_size {
    bool pruning;         /* the way in use */
    bool tried;           /* a submission was pruned */
    uint64_t field_ns[2]; /* per field without and with pruning, as measured last; 0: never */
    uint32_t since_probe; /* submissions of this size */
};

struct gpume_prune_policy {
    struct gpume_prune_size sizes[GPUME_PRUNE_SIZES];
};

/* Whether the next submission, of that many fields (at most GPUME_BATCH_MAX), is pruned. */
bool gpume_prune_policy_next(struct gpume_prune_policy *policy, uint32_t fields);

/* A submission of that many fields has taken ns; 0: its time is not known. */
void gpume_prune_policy_measured(
    struct gpume_prune_policy *policy, bool pruned, uint64_t ns, uint32_t fields);

/* --- from submission to submission: which of them are pruned, and how far their candidates came.
 * The pipeline's thread. */

struct gpume_pruning {
    bool possible;        /* some layer has block sums */
    bool forced;          /* in two of three submissions, whatever is measured: for tests */
    uint64_t submissions; /* while forced */
    struct gpume_prune_policy policy;
    bool pruned[GPUME_SLOTS_MAX]; /* the slot's submission is */
};

/* Decides about the slot's next submission. */
bool gpume_pruning_next(struct gpume_pruning *pruning, uint32_t slot, uint32_t fields);

/* Adds a field of the slot to the counts of stats. words: its task's counts, as read back. */
void gpume_pruning_count(const struct gpume_pruning *pruning, uint32_t slot,
    const struct gpume_plan *plan, const struct gpume_layout *layout, const struct gpume_task *task,
    const uint32_t *words, struct gpume_stats *stats);

#endif
