/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The returns of params.confidence, or want_returns, with both directions, against their
 * definition: the vectors of the reverse pairs come from a context that searches each frame pair
 * for itself. A range of targets gives the same fields as the whole. Fields carry their own frames,
 * agree with params.check, and may be kept while others are received. With both engines.
 */
#include "gpume/gpume.h"
#include "harness.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES 9u
#define BLOCKS_MAX 64u
#define FIELDS_MAX (FRAMES * 6u)

struct kept_layer {
    struct gpume_vector vectors[BLOCKS_MAX];
    uint32_t refs[BLOCKS_MAX], returns[BLOCKS_MAX];
};

struct kept {
    uint64_t frame, ref;
    struct kept_layer layers[GPUME_SHAPES_MAX];
    struct gpume_part parts[BLOCKS_MAX];
    uint32_t part_count;
};

struct run {
    struct gpume_params params;
    struct kept fields[FIELDS_MAX];
    uint32_t count;
};

static struct gpume_plane clip[FRAMES];
static enum gpume_backend backend;

static void keep_layer(struct kept_layer *to, const struct gpume_field *field, uint32_t index)
{
    const struct gpume_layer *layer = field->layers[index];
    for (uint32_t i = 0; i < layer->blocks_x * layer->blocks_y; i++) {
        to->vectors[i] = layer->vectors[i];
        to->refs[i] = (uint32_t)field->refs[layer->refs ? layer->refs[i] : 0];
        to->returns[i] = layer->returns ? layer->returns[i] : GPUME_NONE;
    }
}

static bool same_plane(const struct gpume_plane *a, const struct gpume_plane *b)
{
    for (uint32_t i = 0; i < a->width * a->height; i++) {
        if (synth_sample(a, i % a->width, i / a->width) !=
            synth_sample(b, i % a->width, i / a->width)) {
            return false;
        }
    }
    return true;
}

static void keep(struct run *run, const struct gpume_field *field)
{
    struct kept *kept = &run->fields[run->count++];
    *kept = (struct kept){.frame = field->frame, .ref = field->ref};
    for (uint32_t i = 0; i < field->layer_count; i++) {
        keep_layer(&kept->layers[i], field, i);
    }
    kept->part_count = field->part_count;
    for (uint32_t i = 0; i < field->part_count; i++) {
        kept->parts[i] = field->parts[i];
    }
    REQUIRE_EQUAL(field->checked, run->params.check ? field->matched : 0);
    REQUIRE(!run->params.check || field->checked > 0);
    if (run->params.want_frames) {
        REQUIRE(same_plane(&field->target, &clip[field->frame]));
        REQUIRE(same_plane(&field->reference, &clip[field->ref]));
    }
}

/* Every fourth field is kept until the next such one has come, since one may always be kept. */
static void search(struct run *run)
{
    const struct gpume_field *field = NULL, *held = NULL;
    gpume *ctx = NULL;
    uint32_t sent = 0;
    int status = gpume_open(&ctx, &run->params);
    REQUIRE_EQUAL(status, GPUME_OK);
    run->count = 0;
    while (status == GPUME_OK || status == GPUME_AGAIN) {
        if (sent < FRAMES && gpume_send_plane(ctx, &clip[sent], 0) == GPUME_OK) {
            sent++;
            continue;
        }
        if (sent == FRAMES) {
            gpume_finish(ctx);
        }
        status = gpume_receive(ctx, &field, 0);
        if (status == GPUME_OK) {
            keep(run, field);
            if (run->count % 4 == 1) {
                gpume_field_release(&held);
                held = field;
            } else {
                gpume_field_release(&field);
            }
        }
    }
    gpume_field_release(&held);
    REQUIRE_EQUAL(status, GPUME_EOF);
    /* Reverse pairs that were searched for the fields alone do not count. */
    struct gpume_stats stats;
    gpume_get_stats(ctx, &stats);
    REQUIRE_EQUAL(stats.fields, run->count);
    REQUIRE_EQUAL(stats.candidates % stats.fields, 0);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
}

struct place {
    uint32_t x, y, w, h; /* visible */
};

static struct place place_of(const struct run *run, uint32_t layer, uint32_t block)
{
    const struct gpume_params *p = &run->params;
    const uint32_t w = p->shapes[layer].width, h = p->shapes[layer].height;
    const uint32_t across = (p->width + w - 1) / w;
    const uint32_t x = block % across * w, y = block / across * h;
    return (struct place){
        x, y, x + w > p->width ? p->width - x : w, y + h > p->height ? p->height - y : h};
}

static bool holds(const struct place *place, double x, double y)
{
    return x >= place->x && x < place->x + place->w && y >= place->y && y < place->y + place->h;
}

static const struct kept *find_pair(const struct run *run, uint64_t frame, uint64_t ref)
{
    uint32_t i = 0;
    while (i + 1 < run->count && (run->fields[i].frame != frame || run->fields[i].ref != ref)) {
        i++;
    }
    REQUIRE(run->fields[i].frame == frame && run->fields[i].ref == ref);
    return &run->fields[i];
}

/* The reverse pair's vector at the pixel: of the same layer, or of the part that holds it. */
static struct gpume_vector vector_at(
    const struct run *run, const struct kept *pair, uint32_t layer, double x, double y)
{
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        const uint32_t of = run->params.partition ? pair->parts[i].layer : layer;
        const uint32_t block = run->params.partition ? pair->parts[i].block : i;
        const struct place place = place_of(run, of, block);
        if (holds(&place, x, y)) {
            return pair->layers[of].vectors[block];
        }
    }
    REQUIRE(false);
    return (struct gpume_vector){0};
}

static double clamp(double value, uint32_t size)
{
    return fmin(fmax(floor(value), 0), size - 1);
}

static void check_block(const struct run *run, const struct run *pairs, const struct kept *field,
    uint32_t layer, uint32_t block)
{
    const struct gpume_vector forward = field->layers[layer].vectors[block];
    const struct place at = place_of(run, layer, block);
    const double units = run->params.subpel;
    const double x = clamp(at.x + at.w / 2.0 + forward.dx / units, run->params.width);
    const double y = clamp(at.y + at.h / 2.0 + forward.dy / units, run->params.height);
    const struct kept *pair = find_pair(pairs, field->layers[layer].refs[block], field->frame);
    const struct gpume_vector back = vector_at(pairs, pair, layer, x, y);
    const int x_away = abs(forward.dx + back.dx), y_away = abs(forward.dy + back.dy);
    REQUIRE_EQUAL(field->layers[layer].returns[block], x_away > y_away ? x_away : y_away);
}

static uint32_t blocks_of(const struct run *run, uint32_t layer)
{
    const struct gpume_params *p = &run->params;
    const uint32_t w = p->shapes[layer].width, h = p->shapes[layer].height;
    return (p->width + w - 1) / w * ((p->height + h - 1) / h);
}

static void check_fields(const struct run *run, const struct run *pairs)
{
    uint32_t away = 0;
    for (uint32_t i = 0; i < run->count && harness_failures == 0; i++) {
        for (uint32_t layer = 0; layer < run->params.shape_count; layer++) {
            for (uint32_t block = 0; block < blocks_of(run, layer); block++) {
                check_block(run, pairs, &run->fields[i], layer, block);
                away += run->fields[i].layers[layer].returns[block] > 0;
            }
        }
    }
    REQUIRE(run->count > 0 && away > 0);
}

/* Targets first and first + 1, of frames that all have been sent. */
static void check_range(const struct run *whole, uint64_t first)
{
    static struct run part;
    part = (struct run){.params = whole->params};
    part.params.first_target = first;
    part.params.target_count = 2;
    search(&part);
    uint32_t at = 0, same = 0;
    for (uint32_t i = 0; i < whole->count; i++) {
        if (whole->fields[i].frame >= first && whole->fields[i].frame < first + 2) {
            REQUIRE(memcmp(&whole->fields[i], &part.fields[at++], sizeof(struct kept)) == 0);
            same++;
        }
    }
    REQUIRE_EQUAL(same, part.count);
    REQUIRE(same > 0);
}

static void check(struct gpume_params params)
{
    static struct run run, pairs;
    run.params = pairs.params = params;
    pairs.params.best_reference = pairs.params.check = pairs.params.want_frames = false;
    search(&run);
    search(&pairs);
    check_fields(&run, &pairs);
    check_range(&run, 0);
    check_range(&run, 4);
    check_range(&run, FRAMES - 2);
}

static struct gpume_params params_of(uint32_t number)
{
    static const struct gpume_block_size shapes[] = {{16, 16}, {16, 8}, {8, 16}, {8, 8}};
    struct gpume_params params;
    gpume_params_default(&params);
    params.backend = backend;
    params.threads = 2;
    params.width = clip[0].width;
    params.height = clip[0].height;
    params.window_x = params.window_y = 3;
    params.direction = GPUME_DIRECTION_BOTH;
    params.confidence = number % 7 < 4;
    params.want_returns = !params.confidence;
    params.shape_count = 1 + number % 4;
    memcpy(params.shapes, shapes, sizeof(shapes));
    params.subpel = 1u << number % 3;
    params.distances[0] = 3;
    params.distances[1] = 1;
    params.distance_count = number % 5 % 3;
    params.best_reference = number / 4 % 2;
    params.want_frames = number % 3 == 1;
    params.check = number % 3 == 0;
    return params;
}

int main(int argc, char **argv)
{
    const bool cpu = argc < 2 || strcmp(argv[1], "cpu") == 0;
    backend = cpu ? GPUME_BACKEND_CPU : GPUME_BACKEND_VULKAN;
    if (!cpu) {
        vulkan_probe_or_skip(false);
    }
    for (uint32_t i = 0; i < FRAMES; i++) {
        clip[i] = synth_plane(37, 27, 8);
        synth_fill(&clip[i], i % 3 ? SYNTH_GRAIN : SYNTH_NOISE, i, 20060923u);
    }
    for (uint32_t i = 0; i < 8; i++) {
        struct gpume_params params = params_of(i);
        check(params);
        if (params.shape_count == 4) {
            params.partition = params.rate = true;
            params.lambda = 512;
            params.predictor = GPUME_PREDICTOR_MEDIAN;
            check(params);
        }
    }
    for (uint32_t i = 0; i < FRAMES; i++) {
        free(clip[i].data);
    }
    return harness_verdict();
}
