/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The temporal filter on a device, with the kernels of shaders/temporal. Only pictures, vectors and
 * filtered pictures are copied; everything between them is decided there, so that several pictures
 * can be under way. A picture is one batch:
 *
 *     copies      new pictures, vectors
 *     predict     every plane from every reference
 *     measure     noise and texture of every block    -> noise: the variance of each plane
 *     fit         light, and which blocks are used    -> references: which of them are used
 *     average     every plane                        -> spatial, if wanted: the same planes
 *     copies      the planes, the variances
 *
 * Batches run one after the other, so they share all arrays on the device. A picture takes the
 * place of another one in the ring there when no later batch needs that.
 */
#include "base/base.h"
#include "filter/noise.h"
#include "filter/temporal.h"
#include "gpume/compute.h"
#include "temporal/shared.h"

#include <stdlib.h>
#include <string.h>

#include "temporal_average16.inc"
#include "temporal_average8.inc"
#include "temporal_fit16.inc"
#include "temporal_fit8.inc"
#include "temporal_measure16.inc"
#include "temporal_measure8.inc"
#include "temporal_noise.inc"
#include "temporal_predict16.inc"
#include "temporal_predict8.inc"
#include "temporal_references.inc"
#include "temporal_spatial16.inc"
#include "temporal_spatial8.inc"

#define PLANES GPUME_TEMPORAL_PLANES
#define PASSAGES                                                                                   \
    (GPUME_TEMPORAL_STARTED_MAX +                                                                  \
        1) /* the last one gathers vectors, or keeps the result that was taken */
#define NEW_MAX (GPUME_TEMPORAL_RADIUS_MAX + 1) /* pictures that a batch copies */

_Static_assert(sizeof(struct gpume_vector) == sizeof(uint32_t), "a word is a vector");
_Static_assert(GPUME_TEMPORAL_BLOCK == GPUME_TEMPORAL_SIDE, "blocks are of the same size");
_Static_assert(2 * GPUME_TEMPORAL_RADIUS_MAX == GPUME_TEMPORAL_REFERENCES, "all have a place");
_Static_assert(GPUME_TEMPORAL_BEGINS > GPUME_TEMPORAL_RADIUS_MAX, "scenes are remembered");

_Static_assert(
    14 * (GPUME_TEMPORAL_BLOCKS_MAX / GPUME_TEMPORAL_GATHER) + 13 * 256 < GPUME_ITERATIONS_MAX,
    "drivers may end longer loops");

enum step { PREDICT, MEASURE, NOISE, FIT, REFERENCES, AVERAGE, SPATIAL, STEPS };

/* The kernels: for 8-bit samples, and for others where they differ; their arrays by binding. */
static const struct kernel {
    const uint32_t *words[2];
    size_t bytes[2];
    uint32_t array_count;
    uint8_t arrays[GPUME_TEMPORAL_ARRAYS];
} kernels[STEPS] = {
#define BOTH(name) .words = {name##8, name##16}, .bytes = {sizeof name##8, sizeof name##16}
#define ONE(name) .words = {name, name}, .bytes = {sizeof name, sizeof name}
    [PREDICT] = {BOTH(temporal_predict), 3,
        {GPUME_TEMPORAL_PICTURES, GPUME_TEMPORAL_PREDICTIONS, GPUME_TEMPORAL_VECTORS}},
    [MEASURE] = {BOTH(temporal_measure), 3,
        {GPUME_TEMPORAL_PICTURES, GPUME_TEMPORAL_PREDICTIONS, GPUME_TEMPORAL_BLOCKS}},
    [NOISE] = {ONE(temporal_noise), 2, {GPUME_TEMPORAL_BLOCKS, GPUME_TEMPORAL_STATE}},
    [FIT] = {BOTH(temporal_fit), 5,
        {GPUME_TEMPORAL_PICTURES, GPUME_TEMPORAL_PREDICTIONS, GPUME_TEMPORAL_VECTORS,
            GPUME_TEMPORAL_BLOCKS, GPUME_TEMPORAL_STATE}},
    [REFERENCES] = {ONE(temporal_references), 2, {GPUME_TEMPORAL_BLOCKS, GPUME_TEMPORAL_STATE}},
    [AVERAGE] = {BOTH(temporal_average), 7,
        {GPUME_TEMPORAL_PICTURES, GPUME_TEMPORAL_PREDICTIONS, GPUME_TEMPORAL_VECTORS,
            GPUME_TEMPORAL_BLOCKS, GPUME_TEMPORAL_STATE, GPUME_TEMPORAL_RESULT,
            GPUME_TEMPORAL_MEANS}},
    [SPATIAL] = {BOTH(temporal_spatial), 3,
        {GPUME_TEMPORAL_STATE, GPUME_TEMPORAL_RESULT, GPUME_TEMPORAL_MEANS}},
};

/* Copies, and each kernel for each plane, at most. */
#define STEPS_MAX (NEW_MAX * PLANES + 1 + STEPS * PLANES + PLANES + 1)

struct plane_layout {
    uint32_t width, height;
    uint32_t stride; /* quads of a row */
    size_t bytes;    /* of a plane */
    size_t offset;   /* of this one in a picture in host memory */
};

/* A picture in host memory: its planes one after the other. */
struct host_picture {
    gpume_array *array;
    uint8_t *samples;
};

/* A picture that is under way. */
struct passage {
    gpume_batch *batch;
    gpume_array *vectors, *facts;
    struct gpume_vector *vector_memory;
    uint32_t there; /* bit i: reference i is */
    struct gpume_temporal_choice choice;
    const struct gpume_temporal_state *state; /* up to `begins`: in `facts` */
    struct host_picture result;
};

struct device {
    struct gpume_temporal_params params;
    uint32_t planes, blocks_x, blocks_y, references;
    uint32_t sample_bytes;
    gpume_compute *compute;
    struct gpume_compute_info info;
    gpume_program *programs[STEPS];
    struct plane_layout layouts[PLANES];
    size_t picture_bytes;
    gpume_array *pictures[PLANES], *predictions[PLANES], *results[PLANES];
    gpume_array *vectors, *blocks, *state;
    gpume_array *means;         /* of one plane after the other */
    uint32_t ring;              /* pictures on the device */
    uint32_t waiting;           /* pictures in host memory: */
    struct host_picture *hosts; /* those that are put, until they are copied */
    struct passage passages[PASSAGES];
    uint64_t put, copied, started, taken;   /* pictures */
    struct gpume_plane shown[PLANES];       /* of the picture that was taken last, */
    uint32_t begins[GPUME_TEMPORAL_BEGINS]; /* and what was known then of scenes */
};

/* --- open, close */

static void lay_out(struct device *d)
{
    for (uint32_t p = 0; p < d->planes; p++) {
        struct plane_layout *layout = &d->layouts[p];
        layout->width = gpume_temporal_width(&d->params, p);
        layout->height = gpume_temporal_height(&d->params, p);
        layout->stride = (uint32_t)gpume_div_up(layout->width, 4);
        layout->bytes = (size_t)layout->stride * 4 * d->sample_bytes * layout->height;
        layout->offset = d->picture_bytes;
        d->picture_bytes += layout->bytes;
    }
}

static uint64_t table_bytes(const struct device *d)
{
    return (uint64_t)GPUME_TEMPORAL_TABLES * d->blocks_x * d->blocks_y * sizeof(uint32_t);
}

static uint64_t vector_bytes(const struct device *d)
{
    return (uint64_t)d->references * d->blocks_x * d->blocks_y * sizeof(struct gpume_vector);
}

/* A word for each sample of the largest plane; without params.spatial kernels have the array, but
 * do not use it. */
static uint64_t mean_bytes(const struct device *d)
{
    const struct plane_layout *luma = &d->layouts[0];
    const uint64_t quads = d->params.spatial ? (uint64_t)luma->stride * luma->height : 1;
    return quads * 4 * sizeof(uint32_t);
}

/* Whether kernels can see as much, and reach every block. */
static bool suits(const struct device *d)
{
    const uint64_t most = gpume_min_u64(d->info.program_bytes_max, d->info.array_bytes_max);
    const uint64_t blocks = (uint64_t)d->blocks_x * d->blocks_y;
    const uint32_t *groups = d->info.groups_max;
    return blocks <= GPUME_TEMPORAL_BLOCKS_MAX && d->ring * d->layouts[0].bytes <= most &&
           table_bytes(d) <= most && mean_bytes(d) <= most &&
           d->picture_bytes <= d->info.array_bytes_max &&
           (!d->params.spatial || d->info.shared_bytes_max >= GPUME_TEMPORAL_TILE_BYTES) &&
           d->info.invocations_max >= GPUME_TEMPORAL_GATHER && d->blocks_x <= groups[0] &&
           gpume_div_up(d->params.height, GPUME_TEMPORAL_LOCAL_Y) <= groups[1] &&
           GPUME_TEMPORAL_REFERENCES <= groups[2];
}

static int create_programs(struct device *d)
{
    const bool wide = d->sample_bytes > 1;
    for (uint32_t i = 0; i < (d->params.spatial ? STEPS : SPATIAL); i++) {
        const struct gpume_program_params params = {.size = sizeof(params),
            .spirv = kernels[i].words[wide],
            .spirv_bytes = kernels[i].bytes[wide],
            .array_count = kernels[i].array_count,
            .push_bytes = sizeof(struct gpume_temporal_push)};
        GPUME_CHECK(gpume_program_create(d->compute, &d->programs[i], &params));
    }
    return GPUME_OK;
}

static int create_arrays(struct device *d)
{
    for (uint32_t p = 0; p < d->planes; p++) {
        const uint64_t bytes = d->layouts[p].bytes;
        GPUME_CHECK(gpume_array_create(d->compute, &d->pictures[p], d->ring * bytes));
        GPUME_CHECK(gpume_array_create(d->compute, &d->predictions[p], d->references * bytes));
        GPUME_CHECK(gpume_array_create(d->compute, &d->results[p], bytes));
    }
    GPUME_CHECK(gpume_array_create(d->compute, &d->vectors, vector_bytes(d)));
    GPUME_CHECK(gpume_array_create(d->compute, &d->blocks, table_bytes(d)));
    GPUME_CHECK(gpume_array_create(d->compute, &d->state, sizeof(struct gpume_temporal_state)));
    return gpume_array_create(d->compute, &d->means, mean_bytes(d));
}

static int create_host_picture(const struct device *d, struct host_picture *picture)
{
    void *memory = NULL;
    GPUME_CHECK(gpume_array_create_host(d->compute, &picture->array, d->picture_bytes, &memory));
    memset(memory, 0, d->picture_bytes); /* also what lies beside the samples */
    picture->samples = memory;
    return GPUME_OK;
}

static int create_passage(const struct device *d, struct passage *passage)
{
    void *vectors = NULL, *facts = NULL;
    GPUME_CHECK(gpume_batch_create(d->compute, &passage->batch, STEPS_MAX));
    GPUME_CHECK(gpume_array_create_host(d->compute, &passage->vectors, vector_bytes(d), &vectors));
    GPUME_CHECK(gpume_array_create_host(
        d->compute, &passage->facts, sizeof(struct gpume_temporal_state), &facts));
    memset(vectors, 0, vector_bytes(d)); /* those of references that are not there, too */
    passage->vector_memory = vectors;
    passage->state = facts;
    return create_host_picture(d, &passage->result);
}

static int device_prepare(void *state, const struct gpume_log *log)
{
    struct device *d = state;
    GPUME_CHECK(create_programs(d));
    GPUME_CHECK(create_arrays(d));
    d->hosts = calloc(d->waiting, sizeof(*d->hosts));
    GPUME_CHECK(d->hosts ? GPUME_OK : gpume_log_nomem(log, "filtering"));
    for (uint32_t i = 0; i < d->waiting; i++) {
        GPUME_CHECK(create_host_picture(d, &d->hosts[i]));
    }
    for (uint32_t i = 0; i < PASSAGES; i++) {
        GPUME_CHECK(create_passage(d, &d->passages[i]));
    }
    return GPUME_OK;
}

static int device_close(void *state)
{
    struct device *d = state;
    for (uint32_t i = 0; i < PASSAGES; i++) {
        struct passage *passage = &d->passages[i];
        gpume_batch_destroy(&passage->batch);
        gpume_array_destroy(&passage->vectors);
        gpume_array_destroy(&passage->facts);
        gpume_array_destroy(&passage->result.array);
    }
    for (uint32_t i = 0; i < d->waiting && d->hosts; i++) {
        gpume_array_destroy(&d->hosts[i].array);
    }
    for (uint32_t p = 0; p < PLANES; p++) {
        gpume_array_destroy(&d->pictures[p]);
        gpume_array_destroy(&d->predictions[p]);
        gpume_array_destroy(&d->results[p]);
    }
    gpume_array_destroy(&d->vectors);
    gpume_array_destroy(&d->blocks);
    gpume_array_destroy(&d->state);
    gpume_array_destroy(&d->means);
    for (uint32_t i = 0; i < STEPS; i++) {
        gpume_program_destroy(&d->programs[i]);
    }
    const int status = gpume_compute_close(&d->compute);
    free(d->hosts);
    free(d);
    return status;
}

static int open_compute(struct device *d, const struct gpume_log *log)
{
    struct gpume_compute_params own;
    gpume_compute_params_default(&own);
    own.backend = d->params.backend;
    own.device = d->params.device;
    own.cache_dir = d->params.cache_dir;
    own.validate = d->params.validate;
    own.log = log->fn;
    own.log_opaque = log->opaque;
    GPUME_CHECK(gpume_compute_open(&d->compute, &own));
    gpume_compute_get_info(d->compute, &d->info);
    return suits(d) ? GPUME_OK : GPUME_UNSUPPORTED;
}

static int device_open(
    void **state, const struct gpume_temporal_params *params, const struct gpume_log *log)
{
    if (params->backend == GPUME_BACKEND_CPU) {
        return GPUME_UNSUPPORTED;
    }
    struct device *d = calloc(1, sizeof(*d));
    if (!d) {
        return gpume_log_nomem(log, "the filter");
    }
    d->params = *params;
    d->planes = params->chroma ? PLANES : 1;
    d->blocks_x = (uint32_t)gpume_div_up(params->width, GPUME_TEMPORAL_BLOCK);
    d->blocks_y = (uint32_t)gpume_div_up(params->height, GPUME_TEMPORAL_BLOCK);
    d->references = 2 * params->radius;
    d->sample_bytes = params->bits > 8 ? 2 : 1;
    d->ring = 2 * params->radius + 1;
    d->waiting = d->ring + GPUME_TEMPORAL_AHEAD + PASSAGES;
    lay_out(d);
    const int status = open_compute(d, log);
    if (status != GPUME_OK) {
        (void)device_close(d);
        return status;
    }
    *state = d;
    return GPUME_OK;
}

/* --- pictures and fields in */

/* Where a row of a picture in host memory lies. */
static uint8_t *row_of(
    const struct device *d, const struct host_picture *picture, uint32_t plane, uint32_t y)
{
    const struct plane_layout *layout = &d->layouts[plane];
    return picture->samples + layout->offset + (size_t)y * layout->stride * 4 * d->sample_bytes;
}

static void show_plane(const struct device *d, const struct host_picture *picture, uint32_t plane,
    struct gpume_plane *shown)
{
    const struct plane_layout *layout = &d->layouts[plane];
    *shown = (struct gpume_plane){
        .data = picture->samples + layout->offset,
        .stride = (ptrdiff_t)layout->stride * 4 * (ptrdiff_t)d->sample_bytes,
        .width = layout->width,
        .height = layout->height,
        .bits = d->params.bits,
    };
}

static void device_put(void *state, const struct gpume_plane *planes)
{
    struct device *d = state;
    const struct host_picture *picture = &d->hosts[d->put++ % d->waiting];
    for (uint32_t p = 0; p < d->planes; p++) {
        const size_t row_bytes = (size_t)d->layouts[p].width * d->sample_bytes;
        for (uint32_t y = 0; y < d->layouts[p].height; y++) {
            memcpy(row_of(d, picture, p, y), gpume_temporal_row(&planes[p], y), row_bytes);
        }
    }
}

static bool device_repeats(const void *state, const struct gpume_plane *planes)
{
    const struct device *d = state;
    const struct host_picture *last = &d->hosts[(d->put - 1) % d->waiting];
    bool same = true;
    for (uint32_t p = 0; p < d->planes && same; p++) {
        const size_t row_bytes = (size_t)d->layouts[p].width * d->sample_bytes;
        for (uint32_t y = 0; y < d->layouts[p].height && same; y++) {
            same = memcmp(row_of(d, last, p, y), gpume_temporal_row(&planes[p], y), row_bytes) == 0;
        }
    }
    return same;
}

/* The passage of the next picture to be started. */
static struct passage *next_passage(struct device *d)
{
    return &d->passages[d->started % PASSAGES];
}

static void device_add(void *state, const struct gpume_field *field)
{
    struct device *d = state;
    struct passage *passage = next_passage(d);
    const uint32_t index = gpume_temporal_index(field);
    const size_t blocks = (size_t)d->blocks_x * d->blocks_y;
    memcpy(passage->vector_memory + index * blocks, field->vectors,
        blocks * sizeof(struct gpume_vector));
    passage->there |= 1u << index;
}

/* --- a picture */

/* Copies those that the next picture needs and that are not on the device yet. */
static int copy_pictures(struct device *d, const struct passage *passage)
{
    const uint64_t end = gpume_min_u64(d->put, d->started + d->params.radius + 1);
    for (; d->copied < end; d->copied++) {
        const gpume_array *from = d->hosts[d->copied % d->waiting].array;
        const uint64_t place = d->copied % d->ring;
        for (uint32_t p = 0; p < d->planes; p++) {
            const struct plane_layout *layout = &d->layouts[p];
            GPUME_CHECK(gpume_batch_copy(passage->batch, d->pictures[p], place * layout->bytes,
                from, layout->offset, layout->bytes));
        }
    }
    return GPUME_OK;
}

/* Reference i of a picture, which has it. */
static uint64_t reference_of(uint64_t picture, uint32_t i)
{
    return i % 2 == 0 ? picture - i / 2 - 1 : picture + i / 2 + 1;
}

/* What a kernel is told of a plane. */
static struct gpume_temporal_push push_of(
    const struct device *d, const struct passage *passage, uint32_t plane)
{
    const struct gpume_temporal_choice *choice = &passage->choice;
    const struct gpume_temporal_params *params = &d->params;
    const struct plane_layout *layout = &d->layouts[plane];
    struct gpume_temporal_push push = {
        .width = layout->width,
        .height = layout->height,
        .stride = layout->stride,
        .plane = plane,
        .planes = d->planes,
        .shift_x = plane > 0 ? params->shift_x : 0,
        .shift_y = plane > 0 ? params->shift_y : 0,
        .bits = params->bits,
        .blocks_x = d->blocks_x,
        .blocks_y = d->blocks_y,
        .limit_x = params->window_x * GPUME_TEMPORAL_UNITS,
        .limit_y = params->window_y * GPUME_TEMPORAL_UNITS,
        .place = (uint32_t)(d->started % d->ring),
        .there = passage->there,
        .references = d->references,
        .number = (uint32_t)(d->started % GPUME_TEMPORAL_BEGINS),
        .strength = choice->strength,
        .spatial = choice->spatial,
        .measure = choice->measure,
        .given = (uint32_t)gpume_noise_of_sigma(choice->sigma, params->bits),
        .least = (uint32_t)gpume_noise_of_sigma(choice->least, params->bits),
        .most = (uint32_t)gpume_noise_of_sigma(100 * GPUME_TEMPORAL_SIGMA_MAX, params->bits),
    };
    for (uint32_t i = 0; i < d->references; i++) {
        const bool there = passage->there >> i & 1;
        const uint64_t place = there ? reference_of(d->started, i) % d->ring : 0;
        push.places[i / 4] |= (uint32_t)place << 8 * (i % 4);
    }
    return push;
}

static int run_step(const struct device *d, const struct passage *passage, enum step step,
    const struct gpume_temporal_push *push, const uint32_t groups[3])
{
    gpume_array *const all[GPUME_TEMPORAL_ARRAYS] = {
        [GPUME_TEMPORAL_PICTURES] = d->pictures[push->plane],
        [GPUME_TEMPORAL_PREDICTIONS] = d->predictions[push->plane],
        [GPUME_TEMPORAL_VECTORS] = d->vectors,
        [GPUME_TEMPORAL_BLOCKS] = d->blocks,
        [GPUME_TEMPORAL_STATE] = d->state,
        [GPUME_TEMPORAL_RESULT] = d->results[push->plane],
        [GPUME_TEMPORAL_MEANS] = d->means,
    };
    gpume_array *arrays[GPUME_TEMPORAL_ARRAYS];
    for (uint32_t i = 0; i < kernels[step].array_count; i++) {
        arrays[i] = all[kernels[step].arrays[i]];
    }
    return gpume_batch_run(passage->batch, d->programs[step], arrays, push, groups);
}

/* The same kernel for each plane. A workgroup for a block, or for quads; z: references. */
static int run_planes(const struct device *d, const struct passage *passage, enum step step,
    const struct gpume_temporal_push pushes[PLANES], bool by_blocks, uint32_t z)
{
    for (uint32_t p = 0; p < d->planes; p++) {
        const struct plane_layout *layout = &d->layouts[p];
        const uint32_t groups[] = {
            by_blocks ? d->blocks_x
                      : (uint32_t)gpume_div_up(layout->stride, GPUME_TEMPORAL_LOCAL_X),
            by_blocks ? d->blocks_y
                      : (uint32_t)gpume_div_up(layout->height, GPUME_TEMPORAL_LOCAL_Y),
            z};
        GPUME_CHECK(run_step(d, passage, step, &pushes[p], groups));
    }
    return GPUME_OK;
}

/* The means, which share an array, so the result follows at once. */
static int run_result(
    const struct device *d, const struct passage *passage, const struct gpume_temporal_push *push)
{
    const struct plane_layout *layout = &d->layouts[push->plane];
    const uint32_t quads[] = {(uint32_t)gpume_div_up(layout->stride, GPUME_TEMPORAL_LOCAL_X),
        (uint32_t)gpume_div_up(layout->height, GPUME_TEMPORAL_LOCAL_Y), 1};
    const uint32_t tiles[] = {(uint32_t)gpume_div_up(layout->width, GPUME_TEMPORAL_TILE_W),
        (uint32_t)gpume_div_up(layout->height, GPUME_TEMPORAL_TILE_H), 1};
    GPUME_CHECK(run_step(d, passage, AVERAGE, push, quads));
    return push->spatial > 0 ? run_step(d, passage, SPATIAL, push, tiles) : GPUME_OK;
}

static int run_kernels(const struct device *d, const struct passage *passage)
{
    const uint32_t each[] = {d->planes, 1, 1}, one[] = {1, 1, 1};
    struct gpume_temporal_push pushes[PLANES];
    for (uint32_t p = 0; p < d->planes; p++) {
        pushes[p] = push_of(d, passage, p);
    }
    GPUME_CHECK(run_planes(d, passage, PREDICT, pushes, false, d->references));
    GPUME_CHECK(run_planes(d, passage, MEASURE, pushes, true, 1));
    GPUME_CHECK(run_step(d, passage, NOISE, &pushes[0], each));
    GPUME_CHECK(run_planes(d, passage, FIT, pushes, true, d->references));
    GPUME_CHECK(run_step(d, passage, REFERENCES, &pushes[0], one));
    for (uint32_t p = 0; p < d->planes; p++) {
        GPUME_CHECK(run_result(d, passage, &pushes[p]));
    }
    return GPUME_OK;
}

static int copy_results(const struct device *d, const struct passage *passage)
{
    for (uint32_t p = 0; p < d->planes; p++) {
        GPUME_CHECK(gpume_batch_copy(passage->batch, passage->result.array, d->layouts[p].offset,
            d->results[p], 0, d->layouts[p].bytes));
    }
    return gpume_batch_copy(
        passage->batch, passage->facts, 0, d->state, 0, sizeof(struct gpume_temporal_state));
}

static int device_start(void *state, const struct gpume_temporal_choice *choice)
{
    struct device *d = state;
    struct passage *passage = next_passage(d);
    passage->choice = *choice;
    GPUME_CHECK(copy_pictures(d, passage));
    GPUME_CHECK(
        gpume_batch_copy(passage->batch, d->vectors, 0, passage->vectors, 0, vector_bytes(d)));
    GPUME_CHECK(run_kernels(d, passage));
    GPUME_CHECK(copy_results(d, passage));
    GPUME_CHECK(gpume_batch_submit(passage->batch));
    d->started++;
    next_passage(d)->there = 0;
    return GPUME_OK;
}

static int device_take(void *state, struct gpume_temporal_picture *picture)
{
    struct device *d = state;
    const struct passage *passage = &d->passages[d->taken % PASSAGES];
    GPUME_CHECK(gpume_batch_wait(passage->batch));
    d->taken++;
    *picture =
        (struct gpume_temporal_picture){.planes = d->shown, .references = passage->state->count};
    memcpy(d->begins, passage->state->begins, sizeof(d->begins));
    for (uint32_t p = 0; p < d->planes; p++) {
        picture->variance[p] = passage->state->curves[p].variance;
        show_plane(d, &passage->result, p, &d->shown[p]);
    }
    return GPUME_OK;
}

/* --- a failure */

static void give_pictures(const struct device *d, const struct gpume_temporal_ops *ops, void *heir)
{
    const uint64_t radius = d->params.radius, from = d->taken > radius ? d->taken - radius : 0;
    for (uint64_t number = from; number < d->put; number++) {
        struct gpume_plane planes[PLANES];
        for (uint32_t p = 0; p < d->planes; p++) {
            show_plane(d, &d->hosts[number % d->waiting], p, &planes[p]);
        }
        ops->put(heir, planes);
    }
}

static void give_fields(
    const struct device *d, uint64_t picture, const struct gpume_temporal_ops *ops, void *heir)
{
    const struct passage *passage = &d->passages[picture % PASSAGES];
    const size_t blocks = (size_t)d->blocks_x * d->blocks_y;
    for (uint32_t i = 0; i < d->references; i++) {
        if (passage->there >> i & 1) {
            const struct gpume_field field = {.frame = picture,
                .ref = reference_of(picture, i),
                .vectors = passage->vector_memory + i * blocks};
            ops->add(heir, &field);
        }
    }
}

static int device_hand_over(void *state, const struct gpume_temporal_ops *ops, void *heir)
{
    const struct device *d = state;
    const uint64_t radius = d->params.radius, from = d->taken > radius ? d->taken - radius : 0;
    bool begins[GPUME_TEMPORAL_RADIUS_MAX] = {false};
    for (uint32_t i = 0; i < GPUME_TEMPORAL_RADIUS_MAX && i < d->taken; i++) {
        begins[i] = d->begins[(d->taken - 1 - i) % GPUME_TEMPORAL_BEGINS];
    }
    ops->begin(heir, from, d->taken, begins);
    give_pictures(d, ops, heir);
    for (uint64_t picture = d->taken; picture < d->started; picture++) {
        give_fields(d, picture, ops, heir);
        GPUME_CHECK(ops->start(heir, &d->passages[picture % PASSAGES].choice));
    }
    give_fields(d, d->started, ops, heir);
    return GPUME_OK;
}

const struct gpume_temporal_ops gpume_temporal_device = {
    .predicts = true,
    .ahead = GPUME_TEMPORAL_STARTED_MAX,
    .open = device_open,
    .prepare = device_prepare,
    .put = device_put,
    .repeats = device_repeats,
    .add = device_add,
    .start = device_start,
    .take = device_take,
    .hand_over = device_hand_over,
    .close = device_close,
};
