/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both engines answer random parameters of the general search alike: vectors, costs, ranks, bits,
 * references, parts, measures of confidence and sums of every field, and how many candidates there
 * were. Through the public functions. Skips without a
 * Vulkan driver. Usage: test_general [--validate] [--seed N] [--runs N]
 */
#include "gpume/gpume.h"
#include "harness.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES 4u
#define RUNS 40u

static uint64_t state = 17;

static uint32_t below(uint32_t count)
{
    return harness_random(&state) % count;
}

static void on_log(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "  log: %s\n", line);
    }
}

/* Vectors of a pair that depend on its frames alone. */
static int predict(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    const uint32_t *count = opaque;
    uint64_t seed = 1 + 100 * frame + ref;
    for (uint32_t i = 0; i < *count; i++) {
        vectors[i].dx = (int16_t)(harness_random(&seed) % 41 - 20);
        vectors[i].dy = (int16_t)(harness_random(&seed) % 2 ? 30000 : -7);
    }
    return GPUME_OK;
}

static uint32_t count_blocks(const struct gpume_params *p)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->shape_count; i++) {
        uint32_t w = p->shapes[i].width, h = p->shapes[i].height;
        count += (p->width + w - 1) / w * ((p->height + h - 1) / h);
    }
    return count;
}

static void choose_shapes(struct gpume_params *p)
{
    static const struct gpume_block_size shapes[] = {
        {8, 8}, {16, 16}, {4, 4}, {16, 8}, {8, 16}, {12, 20}, {32, 4}, {64, 64}, {128, 128}};
    uint32_t count = 1 + below(3), first = below(9);
    for (uint32_t i = 0; i < count; i++) {
        p->shapes[i] = shapes[(first + i) % 9];
    }
    p->shape_count = count;
}

/* A tree of squares, some of them with their halves. */
static void choose_partition(struct gpume_params *p)
{
    uint32_t side = 32u >> below(3), count = 0;
    do {
        bool has_halves = side > 4 && below(2) == 0;
        p->shapes[count++] = (struct gpume_block_size){side, side};
        if (has_halves) {
            p->shapes[count++] = (struct gpume_block_size){side, side / 2};
            p->shapes[count++] = (struct gpume_block_size){side / 2, side};
        }
        /* The next square follows if halves need it, or if there would be but one shape. */
        side = has_halves || count == 1 || below(2) ? side / 2 : 0;
    } while (side >= 4);
    p->shape_count = count;
    p->partition = p->rate = true;
    p->lambda += p->lambda == 0;
}

static void choose_references(struct gpume_params *p)
{
    static const uint32_t distances[] = {2, 1, 3};
    p->direction = (enum gpume_direction)below(3);
    p->ref_distance = 1 + below(2);
    p->distance_count = below(2) ? 0 : 1 + below(3);
    memcpy(p->distances, distances, sizeof(distances));
    p->best_reference = below(2);
    p->bidirectional = p->direction == GPUME_DIRECTION_BOTH && p->candidates == 1 && !p->confidence;
}

static struct gpume_params choose_params(uint32_t *blocks)
{
    static const uint32_t bits[] = {8, 8, 10, 12};
    struct gpume_params p;
    gpume_params_default(&p);
    p.width = 1 + below(70);
    p.height = 1 + below(50);
    p.bits = bits[below(4)];
    p.window_x = below(10);
    p.window_y = below(8);
    p.edge = below(3) == 0 ? GPUME_EDGE_INSIDE : GPUME_EDGE_EXTEND;
    p.metric = (enum gpume_metric)below(3);
    p.subpel = 1u << below(3);
    p.interpolation = (enum gpume_interpolation)below(3);
    p.subpel_search = below(3) == 0 ? GPUME_SUBPEL_FULL : GPUME_SUBPEL_REFINE;
    if (p.subpel > 1 && p.subpel_search == GPUME_SUBPEL_REFINE) {
        p.refine_metric = (enum gpume_refine_metric)below(4);
    }
    p.rate = below(2);
    p.lambda = p.rate ? below(4000) : 0;
    p.predictor = p.rate ? (enum gpume_predictor)below(3) : GPUME_PREDICTOR_ZERO;
    p.passes = p.predictor == GPUME_PREDICTOR_MEDIAN ? 1 + below(3) : 0;
    p.candidates = below(2) ? 1 : 1 + below(4);
    p.confidence = below(2);
    choose_references(&p);
    choose_shapes(&p);
    if (below(4) == 0) {
        choose_partition(&p);
    }
    if (p.metric == GPUME_METRIC_SSD || p.refine_metric == GPUME_REFINE_BY_SSD) {
        p.bits = 8; /* a cost of a large block must fit 32 bits */
    }
    *blocks = count_blocks(&p);
    p.predict = p.predictor == GPUME_PREDICTOR_GIVEN ? predict : NULL;
    p.predict_opaque = blocks;
    p.no_elimination = below(4) == 0;
    p.log = on_log;
    return p;
}

/* The words that a run has given, part by part. */
#define PARTS_MAX 4000u

struct answer {
    struct {
        const char *what;
        uint32_t first, count;
    } parts[PARTS_MAX];
    uint32_t part_count, count;
    uint32_t *words;
    struct gpume_stats stats;
};

static void add(struct answer *answer, const char *what, const void *from, uint32_t count)
{
    if (!from || answer->part_count == PARTS_MAX) {
        REQUIRE(!from);
        return;
    }
    answer->words = realloc(answer->words, (answer->count + count) * sizeof(*answer->words));
    memcpy(answer->words + answer->count, from, count * sizeof(*answer->words));
    answer->parts[answer->part_count].what = what;
    answer->parts[answer->part_count].first = answer->count;
    answer->parts[answer->part_count++].count = count;
    answer->count += count;
}

static void add_layer(
    struct answer *answer, const struct gpume_params *p, const struct gpume_layer *layer)
{
    uint32_t count = layer->blocks_x * layer->blocks_y;
    for (uint32_t k = 0; k == 0 || k < p->candidates; k++) {
        uint32_t at = k * layer->candidate_stride;
        add(answer, "costs", layer->costs + at, count);
        add(answer, "vectors", layer->vectors + at, count);
        add(answer, "bits", layer->bits ? layer->bits + at : NULL, count);
    }
    add(answer, "ranks", layer->ranks, count);
    add(answer, "references", layer->refs, count);
    add(answer, "second references", layer->refs2, count);
    add(answer, "second vectors", layer->vectors2, count);
    add(answer, "second", layer->second, count);
    add(answer, "ties", layer->ties, count);
    add(answer, "texture", layer->texture, count);
    add(answer, "returns", layer->returns, count);
}

static void add_field(
    struct answer *answer, const struct gpume_params *p, const struct gpume_field *field)
{
    const uint32_t numbers[] = {
        (uint32_t)field->frame, (uint32_t)field->ref, field->ref_count, field->part_count};
    add(answer, "frame, ref and counts", numbers, 4);
    add(answer, "parts", field->parts,
        field->part_count * (uint32_t)(sizeof(*field->parts) / sizeof(uint32_t)));
    add(answer, "sums", &field->sums, (uint32_t)(sizeof(field->sums) / sizeof(uint32_t)));
    for (uint32_t i = 0; i < field->layer_count; i++) {
        add_layer(answer, p, field->layers[i]);
    }
}

static bool run(const struct gpume_params *params, const struct gpume_plane planes[FRAMES],
    struct answer *answer)
{
    *answer = (struct answer){0};
    gpume *ctx = NULL;
    const struct gpume_field *field;
    uint32_t sent = 0;
    int status = gpume_open(&ctx, params);
    REQUIRE_EQUAL(status, GPUME_OK);
    while (status == GPUME_OK || status == GPUME_AGAIN) {
        if (sent < FRAMES && gpume_send_plane(ctx, &planes[sent], 1000 * sent) == GPUME_OK) {
            sent++;
        } else if (sent == FRAMES) {
            REQUIRE_EQUAL(gpume_finish(ctx), GPUME_OK);
        }
        status = gpume_receive(ctx, &field, 0);
        if (status == GPUME_OK) {
            add_field(answer, params, field);
            gpume_field_release(&field);
        }
    }
    REQUIRE_EQUAL(status, GPUME_EOF);
    gpume_get_stats(ctx, &answer->stats);
    REQUIRE_EQUAL(gpume_close(&ctx), GPUME_OK);
    return status == GPUME_EOF;
}

static bool differ(const struct answer *got, const struct answer *expected)
{
    REQUIRE_EQUAL(got->part_count, expected->part_count);
    REQUIRE_EQUAL(got->count, expected->count);
    for (uint32_t i = 0; i < got->part_count && got->count == expected->count; i++) {
        for (uint32_t j = 0; j < got->parts[i].count; j++) {
            uint32_t at = got->parts[i].first + j;
            if (got->words[at] != expected->words[at]) {
                fprintf(stderr, "part %u, %s, block %u: ", i, got->parts[i].what, j);
                fprintf(stderr, "%08x, expected %08x\n", got->words[at], expected->words[at]);
                REQUIRE_EQUAL(got->words[at], expected->words[at]);
                return true;
            }
        }
    }
    return got->count != expected->count;
}

static void describe(uint32_t index, const struct gpume_params *p)
{
    fprintf(stderr,
        "run %u: %ux%u %u bits window %ux%u edge %d metric %d %d subpel %u %d %d rate %d %u %d %u "
        "candidates %u confidence %d direction %d distance %u of %u best %d mean %d shape %ux%u of "
        "%u partition %d\n",
        index, p->width, p->height, p->bits, p->window_x, p->window_y, (int)p->edge, (int)p->metric,
        (int)p->refine_metric, p->subpel, (int)p->interpolation, (int)p->subpel_search, p->rate,
        p->lambda, (int)p->predictor, p->passes, p->candidates, p->confidence, (int)p->direction,
        p->ref_distance, p->distance_count, p->best_reference, p->bidirectional, p->shapes[0].width,
        p->shapes[0].height, p->shape_count, p->partition);
}

/* Which candidates are eliminated depends on the order of the search, how many there are does not.
 */
static void check_stats(const struct answer *gpu, const struct answer *cpu, bool no_elimination)
{
    REQUIRE_EQUAL(gpu->stats.fields, cpu->stats.fields);
    REQUIRE_EQUAL(gpu->stats.candidates, cpu->stats.candidates);
    for (uint32_t i = 0; i < 2; i++) {
        const struct gpume_stats *stats = i == 0 ? &gpu->stats : &cpu->stats;
        REQUIRE(stats->past_parts <= stats->past_blocks);
        REQUIRE(stats->past_blocks <= stats->candidates);
        REQUIRE(!no_elimination || stats->past_parts == stats->candidates);
    }
}

/* Searches the same frames with both engines. stats: of the GPU and the CPU; may be NULL. */
static void compare_engines(uint32_t index, struct gpume_params params, enum synth_content content,
    bool validate, struct gpume_stats stats[2])
{
    struct gpume_plane planes[FRAMES];
    static struct answer gpu, cpu;
    for (uint32_t i = 0; i < FRAMES; i++) {
        planes[i] = synth_plane(params.width, params.height, params.bits);
        synth_fill(&planes[i], content, i, index + 1);
    }
    params.backend = GPUME_BACKEND_CPU;
    bool ran = run(&params, planes, &cpu);
    params.search = NULL;
    params.backend = GPUME_BACKEND_VULKAN;
    params.validate = validate;
    ran = run(&params, planes, &gpu) && ran;
    if (!ran || differ(&gpu, &cpu)) {
        describe(index, &params);
    }
    check_stats(&gpu, &cpu, params.no_elimination);
    if (stats) {
        stats[0] = gpu.stats;
        stats[1] = cpu.stats;
    }
    free(gpu.words);
    free(cpu.words);
    for (uint32_t i = 0; i < FRAMES; i++) {
        free(planes[i].data);
    }
}

/* Leaves what the fast search can do for whole pixels, to be refined. The plain search of the CPU
 * leaves them to the general one. */
static void simplify(struct gpume_params *p)
{
    p->search = below(2) ? "plain" : NULL;
    p->metric = GPUME_METRIC_SAD;
    p->subpel = p->subpel == 4 ? 4 : 2;
    p->subpel_search = GPUME_SUBPEL_REFINE;
    p->rate = p->confidence = p->partition = p->best_reference = p->bidirectional = false;
    p->lambda = p->passes = p->candidates = 0;
    p->predictor = GPUME_PREDICTOR_ZERO;
}

static void check(uint32_t index, bool validate)
{
    uint32_t blocks;
    struct gpume_params params = choose_params(&blocks);
    if (index % 3 == 2) {
        simplify(&params);
    }
    compare_engines(index, params, (enum synth_content)below(SYNTH_OVERFULL), validate, NULL);
}

/* Where an invocation looks at enough places that its loops come near the limit of drivers. On a
 * flat picture nothing is excluded, and all places of the window tie. */
static void check_large_window(bool validate)
{
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = params.height = params.block = 16;
    params.window_x = params.window_y = GPUME_WINDOW_MAX;
    params.confidence = true;
    params.ref_distance = FRAMES - 1;
    params.log = on_log;
    compare_engines(RUNS, params, SYNTH_FLAT, validate, NULL);
}

/* The largest blocks: comparing one vector takes most of the loops that an invocation may have. */
static void check_large_blocks(bool validate)
{
    static const struct gpume_block_size shapes[] = {{128, 128}, {128, 64}};
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = 140;
    params.height = 70;
    params.shape_count = 2;
    memcpy(params.shapes, shapes, sizeof(shapes));
    params.window_x = params.window_y = 2;
    params.metric = GPUME_METRIC_SATD;
    params.subpel = 4;
    params.direction = GPUME_DIRECTION_BOTH;
    params.bidirectional = true;
    params.log = on_log;
    compare_engines(RUNS + 1, params, SYNTH_PAN, validate, NULL);
}

/* Of one frame pair, which is always searched with elimination: where the sums of boxes rise
 * steadily some candidates are excluded, where they are all alike none is. */
static void check_elimination(enum gpume_metric metric, uint32_t subpel, bool validate)
{
    struct gpume_params params;
    struct gpume_stats slope[2], flat[2];
    gpume_params_default(&params);
    params.width = 48;
    params.height = 32;
    params.block = 16;
    params.window_x = 7;
    params.window_y = 5;
    params.edge = GPUME_EDGE_INSIDE;
    params.metric = metric;
    params.subpel = subpel;
    params.subpel_search = GPUME_SUBPEL_FULL;
    params.rate = true;
    params.predictor = GPUME_PREDICTOR_MEDIAN;
    params.passes = 2;
    params.ref_distance = FRAMES - 1;
    params.log = on_log;
    compare_engines(RUNS + 2, params, SYNTH_SLOPE, validate, slope);
    compare_engines(RUNS + 2, params, SYNTH_FLAT, validate, flat);
    for (uint32_t i = 0; i < 2; i++) {
        REQUIRE_EQUAL(slope[i].candidates, (8 + 15 + 8) * (6 + 6));
        REQUIRE(slope[i].past_parts > 0 && slope[i].past_parts < slope[i].candidates);
        REQUIRE_EQUAL(flat[i].past_parts, flat[i].candidates);
    }
}

int main(int argc, char **argv)
{
    uint32_t runs = RUNS;
    bool validate = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--validate") == 0) {
            validate = true;
        } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            state = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
            runs = (uint32_t)strtoul(argv[++i], NULL, 10);
        }
    }
    vulkan_probe_or_skip(validate);
    for (uint32_t i = 0; i < runs && harness_failures == 0; i++) {
        if (harness_has_case(i)) {
            check(i, validate);
        }
    }
    check_large_window(validate);
    check_large_blocks(validate);
    check_elimination(GPUME_METRIC_SAD, 2, validate);
    check_elimination(GPUME_METRIC_SATD, 1, validate);
    check_elimination(GPUME_METRIC_SSD, 1, validate);
    return harness_verdict();
}
