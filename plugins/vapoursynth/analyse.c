/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks of MVTools may overlap, those of libgpume lie on a grid. Where they overlap, the
 * picture is searched several times, moved so that other blocks lie on the grid; the space that
 * this leaves is filled as libgpume fills what lies outside a picture, so a block finds the same
 * match as in the picture itself.
 */
#include "analyse.h"

#include "function.h"

#include <stdlib.h>
#include <string.h>

/* The default of window, where the padding allows it. */
#define WINDOW 16

/* The property MVTools_MVAnalysisData, as MVTools v24 has it. Sizes are in pixels; nobody reads the
 * first two. */
struct description {
    int32_t magic, version;
    int32_t block_w, block_h;
    int32_t pel;    /* units of vectors in a pixel */
    int32_t levels; /* of the pyramid; here 1, the finest */
    int32_t delta, backward;
    int32_t cpu, flags;
    int32_t width, height;
    int32_t overlap_x, overlap_y;
    int32_t blocks_x, blocks_y;
    int32_t bits;
    int32_t ratio_y, ratio_x; /* of luma to chroma */
    int32_t pad_x, pad_y;
};

#define VERSION 5
#define FLAG_BACKWARD 2

/* The property MVTools_vectors: the size of it all in bytes, whether the vectors are valid, then
 * for each level its size, including this number, and its vectors, without gaps between them. */
struct head {
    int32_t bytes, valid, level_bytes;
};

struct vector {
    int32_t x, y;
    int64_t sad;
};

/* Blocks in one direction. */
struct axis {
    int size;   /* of the picture */
    int block;  /* size */
    int step;   /* from a block to the next */
    int count;  /* of blocks, all whole */
    int phases; /* how often the picture is searched, each time moved by another multiple of unit */
    int unit;
    int padding;
};

struct analyse {
    struct gpume_function function;
    struct axis x, y;
    struct description description;
};

/* Where block i lies, modulo the grid, in units. */
static int phase_of(const struct axis *axis, int i)
{
    return i * axis->step % axis->block / axis->unit;
}

/* How far the picture is moved in a phase, so that the phase's blocks lie on the grid. */
static int moved_by(const struct axis *axis, int phase)
{
    return (axis->block - phase * axis->unit) % axis->block;
}

/* --- frames */

static uint8_t *vector_at(const struct analyse *analyse, int x, int y)
{
    return (uint8_t *)analyse->function.scratch + sizeof(struct head) +
           (size_t)(y * analyse->x.count + x) * sizeof(struct vector);
}

/* MVTools' thresholds are for SAD, without the price. */
static struct vector vector_of(
    const struct analyse *analyse, const struct gpume_layer *layer, int column, int row)
{
    const size_t at = (size_t)row * layer->blocks_x + (size_t)column;
    const uint64_t bits = layer->bits ? layer->bits[at] : 0;
    const uint64_t price = (bits * analyse->function.params.lambda + 128) >> 8;
    return (struct vector){.x = layer->vectors[at].dx,
        .y = layer->vectors[at].dy,
        .sad = (int64_t)(layer->costs[at] - price)};
}

/* The blocks that the phases have on the grid. */
static void take_blocks(
    const struct analyse *analyse, const struct gpume_field *field, int phase_x, int phase_y)
{
    const struct axis *x = &analyse->x, *y = &analyse->y;
    for (int i = 0; i < y->count; i++) {
        const int row = (i * y->step + moved_by(y, phase_y)) / y->block;
        for (int k = 0; k < x->count; k++) {
            const int column = (k * x->step + moved_by(x, phase_x)) / x->block;
            if (phase_of(x, k) == phase_x && phase_of(y, i) == phase_y) {
                const struct vector vector = vector_of(analyse, field->layers[0], column, row);
                memcpy(vector_at(analyse, k, i), &vector, sizeof vector);
            }
        }
    }
}

/* Luma of a super clip lies inside its padding, at the top of the first plane. */
static struct gpume_pairs_frame frame_of(
    const struct analyse *analyse, int n, const VSFrame *frame, int phase_x, int phase_y)
{
    const struct axis *x = &analyse->x, *y = &analyse->y;
    const VSAPI *vsapi = analyse->function.vsapi;
    const ptrdiff_t stride = vsapi->getStride(frame, 0);
    const int sample = analyse->function.vi->format.bytesPerSample;
    const uint8_t *luma = vsapi->getReadPtr(frame, 0) + y->padding * stride + x->padding * sample;
    const int phase = phase_y * x->phases + phase_x;
    return (struct gpume_pairs_frame){
        .name = (uint64_t)n * (uint64_t)(x->phases * y->phases) + (uint64_t)phase,
        .plane = {.data = (void *)luma,
            .stride = stride,
            .width = (uint32_t)x->size,
            .height = (uint32_t)y->size,
            .bits = analyse->function.params.bits},
        .left = (uint32_t)moved_by(x, phase_x),
        .top = (uint32_t)moved_by(y, phase_y)};
}

static int search(struct analyse *analyse, int n, const VSFrame *target, const VSFrame *reference)
{
    struct gpume_function *function = &analyse->function;
    int status = GPUME_OK;
    for (int i = 0; i < analyse->x.phases * analyse->y.phases && status == GPUME_OK; i++) {
        const struct gpume_field *field = NULL;
        const int x = i % analyse->x.phases, y = i / analyse->x.phases;
        const struct gpume_pairs_frame to = frame_of(analyse, n, target, x, y);
        const struct gpume_pairs_frame from =
            frame_of(analyse, n + function->delta, reference, x, y);
        status = gpume_pairs_search(&function->pairs, &to, &from, &field);
        if (status == GPUME_OK) {
            take_blocks(analyse, field, x, y);
            gpume_field_release(&field);
        }
    }
    return status;
}

/* What MVTools writes where there is no reference: no motion, and a SAD above any that occurs. */
static void take_none(const struct analyse *analyse)
{
    const int64_t pixels = (int64_t)analyse->x.block * analyse->y.block;
    const struct vector none = {.sad = pixels << analyse->function.params.bits};
    for (int i = 0; i < analyse->y.count; i++) {
        for (int k = 0; k < analyse->x.count; k++) {
            memcpy(vector_at(analyse, k, i), &none, sizeof none);
        }
    }
}

static int attach(struct gpume_function *function, int n, const VSFrame *target,
    const VSFrame *reference, VSMap *properties)
{
    struct analyse *analyse = (struct analyse *)function;
    const size_t vectors =
        (size_t)analyse->x.count * (size_t)analyse->y.count * sizeof(struct vector);
    const struct head head = {.bytes = (int32_t)(sizeof head + vectors),
        .valid = reference != NULL,
        .level_bytes = (int32_t)(sizeof head.level_bytes + vectors)};
    int status = GPUME_OK;
    memcpy(function->scratch, &head, sizeof head);
    if (reference) {
        status = search(analyse, n, target, reference);
    } else {
        take_none(analyse);
    }
    if (status == GPUME_OK) {
        function->vsapi->mapSetData(properties, "MVTools_MVAnalysisData",
            (const char *)&analyse->description, sizeof analyse->description, dtBinary, maReplace);
        function->vsapi->mapSetData(properties, "MVTools_vectors", (const char *)function->scratch,
            head.bytes, dtBinary, maReplace);
    }
    return status;
}

/* --- creation */

/* The property Super_NAME of the first frame of a super clip, from min to max. */
static int super_property(
    struct gpume_function *function, const VSFrame *first, const char *name, int min, int max)
{
    const VSMap *properties = function->vsapi->getFramePropertiesRO(first);
    int missing = 0;
    const int64_t value = function->vsapi->mapGetInt(properties, name, 0, &missing);
    if (missing) {
        gpume_function_fail(
            function, "super is no clip that mv.Super made, or lacks its first frame");
    } else if (value < min || value > max) {
        gpume_function_fail(
            function, "super's property %s is %lld, which cannot be true", name, (long long)value);
    }
    return (int)value;
}

static void read_super(struct analyse *analyse)
{
    struct gpume_function *function = &analyse->function;
    const int width = function->vi->width, height = function->vi->height;
    char text[256] = "";
    const VSFrame *first = function->vsapi->getFrame(0, function->node, text, sizeof text);
    if (!first) {
        gpume_function_fail(function, "the super clip has no first frame: %s", text);
        return;
    }
    struct axis *x = &analyse->x, *y = &analyse->y;
    x->padding = super_property(function, first, "Super_hpad", 0, (width - 1) / 2);
    y->padding = super_property(function, first, "Super_vpad", 0, (height - 1) / 2);
    const int rows = function->error[0] ? 0 : height - 2 * y->padding;
    y->size = super_property(function, first, "Super_height", 1, rows);
    function->params.subpel = (uint32_t)super_property(function, first, "Super_pel", 1, 4);
    x->size = function->error[0] ? 0 : width - 2 * x->padding;
    function->vsapi->freeFrame(first);
}

static int common_divisor(int a, int b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* At most four phases: more overlap would be searched faster in another way. */
static void lay_out(struct analyse *analyse, struct axis *axis, const char *names[2], int block,
    int overlap, int subsampling)
{
    axis->block = block;
    axis->step = block - overlap;
    axis->unit = common_divisor(axis->step, block);
    axis->phases = block / axis->unit;
    axis->count = (axis->size - overlap) / axis->step;
    if (axis->phases > 4) {
        gpume_function_fail(&analyse->function,
            "%s is %d; it must be 0, a quarter or half of %s, %d", names[1], overlap, names[0],
            block);
    } else if (overlap % (1 << subsampling) != 0) {
        gpume_function_fail(&analyse->function,
            "%s is %d; it must be a multiple of %d for this format", names[1], overlap,
            1 << subsampling);
    } else if (axis->size < block) {
        gpume_function_fail(
            &analyse->function, "%s is %d, more than the picture has", names[0], block);
    }
}

static void read_blocks(struct analyse *analyse)
{
    static const uint8_t sizes[][2] = {{4, 4}, {8, 4}, {8, 8}, {16, 8}, {16, 16}, {32, 16},
        {32, 32}, {64, 32}, {64, 64}, {128, 64}, {128, 128}};
    struct gpume_function *function = &analyse->function;
    const VSVideoFormat *format = &function->vi->format;
    const int width = gpume_function_int(function, "blksize", 4, GPUME_BLOCK_MAX, 8);
    const int height = gpume_function_int(function, "blksizev", 2, GPUME_BLOCK_MAX, width);
    const int overlap_x = gpume_function_int(function, "overlap", 0, width / 2, 0);
    const int overlap_y = gpume_function_int(function, "overlapv", 0, height / 2, overlap_x);
    bool known = false;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        known = known || (sizes[i][0] == width && sizes[i][1] == height);
    }
    if (!known) {
        gpume_function_fail(function,
            "blksize x blksizev is %dx%d; it must be 4x4, 8x4, 8x8, 16x8, 16x16, 32x16, 32x32, "
            "64x32, 64x64, 128x64 or 128x128",
            width, height);
        return;
    }
    lay_out(analyse, &analyse->x, (const char *[]){"blksize", "overlap"}, width, overlap_x,
        format->subSamplingW);
    lay_out(analyse, &analyse->y, (const char *[]){"blksizev", "overlapv"}, height, overlap_y,
        format->subSamplingH);
}

/* MVTools reads where vectors lead: never beyond the padding. */
static uint32_t window_in(struct analyse *analyse, const struct axis *axis, uint32_t window)
{
    if (window > (uint32_t)axis->padding) {
        gpume_function_fail(&analyse->function,
            "window is %u, more than the padding of the super clip, %d; give mv.Super hpad=%u and "
            "vpad=%u",
            window, axis->padding, window, window);
    }
    return window;
}

static void read_search(struct analyse *analyse)
{
    struct gpume_function *function = &analyse->function;
    struct gpume_params *params = &function->params;
    const int least =
        analyse->x.padding < analyse->y.padding ? analyse->x.padding : analyse->y.padding;
    uint32_t window[2];
    gpume_function_pair(
        function, "window", 0, GPUME_WINDOW_MAX, least < WINDOW ? least : WINDOW, window);
    params->window_x = window_in(analyse, &analyse->x, window[0]);
    params->window_y = window_in(analyse, &analyse->y, window[1]);
    params->shape_count = 1;
    params->shapes[0] =
        (struct gpume_block_size){(uint32_t)analyse->x.block, (uint32_t)analyse->y.block};
    /* Room for the picture in all its phases. */
    params->width = (uint32_t)(analyse->x.size + analyse->x.block - analyse->x.unit);
    params->height = (uint32_t)(analyse->y.size + analyse->y.block - analyse->y.unit);
    gpume_function_price(function);
}

static void describe(struct analyse *analyse)
{
    const struct gpume_function *function = &analyse->function;
    const VSVideoFormat *format = &function->vi->format;
    analyse->description = (struct description){.version = VERSION,
        .block_w = analyse->x.block,
        .block_h = analyse->y.block,
        .pel = (int32_t)function->params.subpel,
        .levels = 1,
        .delta = abs(function->delta),
        .backward = function->delta > 0,
        .flags = function->delta > 0 ? FLAG_BACKWARD : 0,
        .width = analyse->x.size,
        .height = analyse->y.size,
        .overlap_x = analyse->x.block - analyse->x.step,
        .overlap_y = analyse->y.block - analyse->y.step,
        .blocks_x = analyse->x.count,
        .blocks_y = analyse->y.count,
        .bits = format->bitsPerSample,
        .ratio_y = 1 << format->subSamplingH,
        .ratio_x = 1 << format->subSamplingW,
        .pad_x = analyse->x.padding,
        .pad_y = analyse->y.padding};
}

void VS_CC gpume_analyse_create(
    const VSMap *in, VSMap *out, void *user, VSCore *core, const VSAPI *vsapi)
{
    (void)user;
    struct analyse *analyse = gpume_function_begin(
        "Analyse", sizeof *analyse, attach, "super", "isb", in, out, core, vsapi);
    if (!analyse) {
        return;
    }
    struct gpume_function *function = &analyse->function;
    read_super(analyse);
    if (!function->error[0]) {
        read_blocks(analyse);
    }
    if (!function->error[0]) {
        read_search(analyse);
        describe(analyse);
        function->scratch =
            malloc(sizeof(struct head) +
                   (size_t)analyse->x.count * (size_t)analyse->y.count * sizeof(struct vector));
        if (!function->scratch) {
            gpume_function_fail(function, "out of memory");
        }
    }
    gpume_function_end(function, (uint32_t)(analyse->x.phases * analyse->y.phases), out);
}
