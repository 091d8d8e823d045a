/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The general search: random plans, frames and tasks, which both engines must answer alike to the
 * last bit. The engines are opened by hand, so that tasks may pair any frames. Most of the time
 * goes into the driver's compilation of shaders, so the cases are chosen to cover every pair of
 * values of two options with few plans. Usage: test_engines [--validate [FIRST LAST]]: the cases
 * with these numbers in place of the chosen ones
 */
#include "frame/frame.h"
#include "harness.h"
#include "pairwise.h"
#include "synth.h"
#include "vulkan_probe.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES 5u
#define TASKS 6u
#define CASES 38u  /* that run */
#define POOL 1000u /* of which each is chosen */

struct engine {
    const struct gpume_engine_ops *ops;
    void *opaque;
    struct gpume_plan plan;
    struct gpume_frame frames[FRAMES];
    struct gpume_field_box boxes[TASKS];
    struct gpume_submission batch;
};

static uint32_t number; /* of the case that is made or runs */

/* Blocks that show what the cases contain. */
static struct {
    uint32_t means, other_references, ties, missing, whole, halves;
} seen;

static struct pairwise covered; /* by the cases that have run */

static void print_error(void *opaque, enum gpume_log_level level, const char *line)
{
    (void)opaque;
    if (level <= GPUME_LOG_WARNING) {
        fprintf(stderr, "case %u: %s\n", number, line);
    }
}

static const struct gpume_log printed = {.fn = print_error};

/* --- random plans */

static uint32_t below(uint64_t *random, uint32_t limit)
{
    return harness_random(random) % limit;
}

static bool one_in(uint64_t *random, uint32_t count)
{
    return below(random, count) == 0;
}

static void add_shape(struct gpume_params *p, uint32_t width, uint32_t height)
{
    bool is_new = true;
    for (uint32_t i = 0; i < p->shape_count; i++) {
        is_new = is_new && (p->shapes[i].width != width || p->shapes[i].height != height);
    }
    if (is_new) {
        p->shapes[p->shape_count++] = (struct gpume_block_size){width, height};
    }
}

static void choose_tree(struct gpume_params *p, uint64_t *random)
{
    uint32_t side = 8u << below(random, 3), levels = 2 + below(random, 2);
    bool above = !one_in(random, 3), beside = !one_in(random, 3);
    p->partition = true;
    for (; levels > 1 && side > 4; levels--, side /= 2) {
        add_shape(p, side, side);
        if (above) {
            add_shape(p, side, side / 2);
        }
        if (beside) {
            add_shape(p, side / 2, side);
        }
    }
    add_shape(p, side, side);
}

static void choose_shapes(struct gpume_params *p, uint64_t *random)
{
    if (p->rate && p->lambda > 0 && one_in(random, 2)) {
        choose_tree(p, random);
        return;
    }
    for (uint32_t i = below(random, 3); i > 0; i--) {
        add_shape(p, 4 + 4 * below(random, 6), 4 + 4 * below(random, 6));
    }
}

static int predict(void *opaque, uint64_t frame, uint64_t ref, struct gpume_vector *vectors)
{
    (void)opaque, (void)frame, (void)ref, (void)vectors;
    return GPUME_OK; /* never called: boxes are filled by hand */
}

static void choose_rate(struct gpume_params *p, uint64_t *random)
{
    p->rate = !one_in(random, 3);
    if (p->rate) {
        p->lambda = one_in(random, 4) ? 0 : below(random, one_in(random, 4) ? 250000 : 3000);
        p->predictor = (enum gpume_predictor)below(random, 3);
        p->passes = 1 + below(random, 3);
        p->predict = predict;
    }
}

static void choose_references(struct gpume_params *p, uint64_t *random)
{
    p->direction = GPUME_DIRECTION_BOTH;
    p->distance_count = 1 + below(random, 2);
    p->distances[0] = 2;
    p->distances[1] = 1;
    p->best_reference = !one_in(random, 3);
    p->bidirectional = one_in(random, 2);
    if (!p->bidirectional) {
        p->candidates = 1 + (one_in(random, 2) ? below(random, 4) : 0);
        p->confidence = one_in(random, 2);
    }
}

static struct gpume_params choose_params(uint64_t *random)
{
    static const uint32_t depths[] = {8, 8, 10, 12, 16};
    static const struct gpume_prefilter gauss = {
        .size = sizeof(struct gpume_prefilter), .kind = GPUME_PREFILTER_GAUSS, .sigma = 1};
    struct gpume_params p;
    gpume_params_default(&p);
    p.width = 1 + below(random, 70);
    p.height = 1 + below(random, 50);
    p.bits = depths[below(random, 5)];
    p.block = 4 + 4 * below(random, 5);
    p.window_x = below(random, 6);
    p.window_y = below(random, 6);
    p.edge = (enum gpume_edge)one_in(random, 3);
    p.metric = (enum gpume_metric)below(random, p.bits > 10 ? 2 : 3); /* costs fit 32 bits */
    p.subpel = 1u << below(random, 3);
    p.interpolation = (enum gpume_interpolation)(p.bits > 12 ? 0 : below(random, 3));
    p.subpel_search = (enum gpume_subpel_search)below(random, 2);
    if (p.subpel > 1 && p.subpel_search == GPUME_SUBPEL_REFINE) {
        p.refine_metric = (enum gpume_refine_metric)(number % (p.bits > 10 ? 3 : 4));
    }
    p.want_predicted = !one_in(random, 3);
    p.prefilter = one_in(random, 5) ? &gauss : NULL;
    choose_rate(&p, random);
    choose_shapes(&p, random);
    choose_references(&p, random);
    return p;
}

/* --- engines */

/* Uploads all frames, as many at a time as the plan allows. */
static void send_frames(struct engine *engine, const struct gpume_plane *planes)
{
    const struct gpume_plan *plan = &engine->plan;
    for (uint32_t i = 0; i < FRAMES; i++) {
        struct gpume_frame *frame = &engine->frames[i];
        frame->plane = planes[i];
        frame->sequence = i;
        frame->pool_index = i % plan->pool;
        frame->home = engine->opaque;
        frame->plane.data = engine->ops->frame_memory(engine->opaque, frame->pool_index);
        frame->plane.stride = plan->plane_stride;
        for (uint32_t y = 0; y < planes[i].height; y++) {
            memcpy((char *)frame->plane.data + (size_t)y * plan->plane_stride,
                (const char *)planes[i].data + (ptrdiff_t)y * planes[i].stride,
                (size_t)planes[i].width * plan->sample_bytes);
        }
        engine->batch = (struct gpume_submission){.frames = {frame}, .frame_count = 1};
        REQUIRE_EQUAL(engine->ops->submit(engine->opaque, 0, &engine->batch), GPUME_OK);
        REQUIRE_EQUAL(engine->ops->collect(engine->opaque, 0, &engine->batch), GPUME_OK);
    }
}

static bool open_engine(struct engine *engine, const struct gpume_engine_ops *ops,
    const struct gpume_params *params, const struct gpume_plane *planes)
{
    *engine = (struct engine){.ops = ops};
    int status = ops->open(&engine->opaque, params, &printed, &engine->plan);
    REQUIRE_EQUAL(status, GPUME_OK);
    if (status != GPUME_OK) {
        return false;
    }
    for (uint32_t i = 0; i < TASKS; i++) {
        REQUIRE_EQUAL(gpume_field_box_init(&engine->boxes[i], &engine->plan), GPUME_OK);
    }
    send_frames(engine, planes);
    return true;
}

static void close_engine(struct engine *engine)
{
    if (!engine->opaque) {
        return;
    }
    for (uint32_t i = 0; i < TASKS; i++) {
        gpume_field_box_finish(&engine->boxes[i]);
    }
    REQUIRE_EQUAL(engine->ops->close(&engine->opaque), GPUME_OK);
}

/* Tasks from `first` on, as many as one submission takes. Returns how many. */
static uint32_t run_tasks(
    struct engine *engine, uint32_t first, const struct gpume_task *tasks, uint64_t seed)
{
    const struct gpume_plan *plan = &engine->plan;
    engine->batch = (struct gpume_submission){0};
    for (uint32_t i = first; i < TASKS && engine->batch.field_count < plan->batch; i++) {
        struct gpume_field_box *box = &engine->boxes[i];
        uint64_t random = seed + i;
        box->task = tasks[i];
        for (uint32_t j = 0; box->predictors && j < plan->references * plan->blocks; j++) {
            box->predictors[j] = (struct gpume_vector){
                (int16_t)((int)below(&random, 41) - 20), (int16_t)((int)below(&random, 41) - 20)};
        }
        engine->batch.fields[engine->batch.field_count++] = box;
    }
    REQUIRE_EQUAL(engine->ops->submit(engine->opaque, 0, &engine->batch), GPUME_OK);
    REQUIRE_EQUAL(engine->ops->collect(engine->opaque, 0, &engine->batch), GPUME_OK);
    return engine->batch.field_count;
}

/* --- comparison */

static void compare_words(const char *name, const uint32_t *cpu, const uint32_t *gpu,
    const uint32_t *costs, uint32_t count)
{
    uint32_t wrong = 0;
    REQUIRE_EQUAL(cpu != NULL, gpu != NULL);
    for (uint32_t i = 0; cpu && gpu && i < count; i++) {
        bool counts = !costs || costs[i] != GPUME_NONE;
        if (counts && cpu[i] != gpu[i] && wrong++ == 0) {
            fprintf(stderr, "case %u: %s[%u] is %u on the CPU, %u on the GPU\n", number, name, i,
                cpu[i], gpu[i]);
        }
    }
    REQUIRE_EQUAL(wrong, 0);
}

static const uint32_t *words_of(const struct gpume_vector *vectors)
{
    return (const uint32_t *)(const void *)vectors;
}

static void compare_predicted(
    const struct gpume_plan *plan, const struct gpume_plane *cpu, const struct gpume_plane *gpu)
{
    uint32_t wrong = 0;
    for (uint32_t y = 0; y < plan->params.height; y++) {
        for (uint32_t x = 0; x < plan->params.width; x++) {
            wrong += synth_sample(cpu, x, y) != synth_sample(gpu, x, y);
        }
    }
    REQUIRE_EQUAL(wrong, 0);
}

static void compare(
    const struct gpume_plan *plan, struct gpume_field_box *cpu, struct gpume_field_box *gpu)
{
    const struct gpume_results *a = &cpu->results, *b = &gpu->results;
    uint32_t blocks = plan->blocks, kept = plan->kept * blocks;
    compare_words("costs", a->costs, b->costs, NULL, kept);
    compare_words("vectors", words_of(a->vectors), words_of(b->vectors), a->costs, kept);
    compare_words("bits", a->bits, b->bits, a->costs, kept);
    compare_words("ranks", a->ranks, b->ranks, NULL, blocks);
    compare_words("refs", a->refs, b->refs, NULL, blocks);
    compare_words("refs2", a->refs2, b->refs2, NULL, blocks);
    compare_words("vectors2", words_of(a->vectors2), words_of(b->vectors2), NULL, blocks);
    compare_words("ties", a->ties, b->ties, NULL, blocks);
    compare_words("texture", a->texture, b->texture, NULL, blocks);
    compare_words("chosen", a->chosen, b->chosen, NULL, blocks);
    REQUIRE_EQUAL(cpu->field.predicted.data != NULL, gpu->field.predicted.data != NULL);
    REQUIRE_EQUAL(cpu->field.sums.zero, gpu->field.sums.zero);
    REQUIRE_EQUAL(cpu->field.sums.sad_before, gpu->field.sums.sad_before);
    REQUIRE_EQUAL(cpu->field.sums.sad_after, gpu->field.sums.sad_after);
    REQUIRE_EQUAL(cpu->field.sums.sse_before, gpu->field.sums.sse_before);
    REQUIRE_EQUAL(cpu->field.sums.sse_after, gpu->field.sums.sse_after);
    if (cpu->field.predicted.data && gpu->field.predicted.data) {
        compare_predicted(plan, &cpu->field.predicted, &gpu->field.predicted);
    }
}

/* Notes what a field shows. */
static void note(const struct gpume_plan *plan, const struct gpume_results *results)
{
    for (uint32_t i = 0; i < plan->layer_count; i++) {
        const struct gpume_shape *layer = &plan->layers[i];
        for (uint32_t j = layer->first; j < layer->first + layer->blocks; j++) {
            bool chosen = results->chosen && results->chosen[j];
            seen.means += results->refs2 && results->refs2[j] != GPUME_NONE;
            seen.other_references += results->refs && results->refs[j] > 0;
            seen.ties += results->ties && results->ties[j] > 0;
            seen.missing += results->costs[(plan->kept - 1) * plan->blocks + j] == GPUME_NONE;
            seen.whole += chosen && layer->block_w == layer->block_h;
            seen.halves += chosen && layer->block_w != layer->block_h;
        }
    }
}

/* --- cases */

static void describe(const struct gpume_params *p)
{
    fprintf(stderr,
        "case %u: %ux%u, %u bits, window %ux%u, edge %u, metric %u, refined %u, subpel %u by %u, "
        "full %u, rate %u, lambda %u, predictor %u, passes %u, best %u, bidirectional %u, "
        "candidates %u, confidence %u, partition %u, shapes",
        number, p->width, p->height, p->bits, p->window_x, p->window_y, p->edge, p->metric,
        p->refine_metric, p->subpel, p->interpolation, p->subpel_search, p->rate, p->lambda,
        p->predictor, p->passes, p->best_reference, p->bidirectional, p->candidates, p->confidence,
        p->partition);
    for (uint32_t i = 0; i < p->shape_count; i++) {
        fprintf(stderr, " %ux%u", p->shapes[i].width, p->shapes[i].height);
    }
    fprintf(stderr, " or %u\n", p->block);
}

static void choose_tasks(struct gpume_task *tasks, const struct gpume_plan *plan, uint64_t *random)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        struct gpume_task *task = &tasks[i];
        *task = (struct gpume_task){.size = sizeof(*task)};
        task->target = below(random, FRAMES);
        task->reference = below(random, FRAMES);
        task->more_count = below(random, plan->references);
        for (uint32_t j = 0; j < task->more_count; j++) {
            task->more[j] = below(random, FRAMES);
        }
    }
}

struct test_case {
    uint32_t number;
    struct gpume_params params;
    enum synth_content content;
    uint64_t random;
};

static struct test_case make_case(uint32_t index)
{
    static const enum synth_content contents[] = {
        SYNTH_NOISE, SYNTH_TIES, SYNTH_EXTREME, SYNTH_PAN, SYNTH_GRAIN, SYNTH_SLOPE, SYNTH_SPECKS};
    struct test_case made = {.number = index, .random = 7 + index};
    number = index;
    for (uint32_t i = 0; i < 5; i++) {
        harness_random(&made.random); /* similar seeds begin alike */
    }
    made.params = choose_params(&made.random);
    made.content = contents[below(&made.random, 7)];
    return made;
}

static uint8_t class_of(uint32_t value, uint32_t first, uint32_t second)
{
    return (uint8_t)((value >= first) + (value >= second));
}

/* The values whose pairs are to be covered. Without subpel or rate, what depends on it is 7. */
static void classify(const struct test_case *c, uint8_t values[PAIRWISE_FACTORS_MAX])
{
    const struct gpume_params *p = &c->params;
    bool subpel = p->subpel > 1;
    const uint8_t all[] = {class_of(p->width, p->block, 2 * p->block),
        class_of(p->height, p->block, 2 * p->block), class_of(p->bits, 9, 13),
        (uint8_t)(p->block / 4 - 1), class_of(p->window_x, 1, 3), class_of(p->window_y, 1, 3),
        p->edge == GPUME_EDGE_INSIDE, (uint8_t)p->metric, (uint8_t)p->subpel,
        subpel ? (uint8_t)p->interpolation : 7, subpel ? (uint8_t)p->subpel_search : 7,
        (uint8_t)p->refine_metric, p->want_predicted, p->prefilter != NULL,
        p->rate ? class_of(p->lambda, 1, 3000) : 7, p->rate ? (uint8_t)p->predictor : 7,
        p->rate ? (uint8_t)p->passes : 7, (uint8_t)p->distance_count, p->best_reference,
        p->bidirectional, class_of(p->candidates, 2, 3), p->confidence, p->partition,
        (uint8_t)(p->shape_count < 4 ? p->shape_count : 4), (uint8_t)c->content};
    _Static_assert(sizeof(all) <= PAIRWISE_FACTORS_MAX, "too many factors");
    memcpy(values, all, sizeof(all));
    covered.factors = sizeof(all);
}

/* Of the next numbers, the case with most new pairs for its number of layers, each of which takes
 * its own shaders. */
static struct test_case next_case(void)
{
    static uint32_t next = 1;
    uint8_t values[PAIRWISE_FACTORS_MAX];
    struct test_case best;
    uint32_t best_worth = 0;
    for (uint32_t i = 0; i < POOL; i++) {
        struct test_case c = make_case(next++);
        classify(&c, values);
        uint32_t worth = 100 * pairwise_count_new(&covered, values) / (2 + c.params.shape_count);
        if (i == 0 || worth > best_worth) {
            best_worth = worth;
            best = c;
        }
    }
    return best;
}

static void search_both(const struct test_case *c, const struct gpume_plane *planes)
{
    struct engine cpu = {0}, gpu = {0};
    uint64_t random = c->random;
    if (open_engine(&cpu, &gpume_engine_cpu, &c->params, planes) &&
        open_engine(&gpu, &gpume_engine_gpu, &c->params, planes)) {
        struct gpume_task tasks[TASKS];
        choose_tasks(tasks, &cpu.plan, &random);
        for (uint32_t i = 0; i < TASKS; i += run_tasks(&gpu, i, tasks, c->number)) {
        }
        for (uint32_t i = 0; i < TASKS; i++) {
            run_tasks(&cpu, i, tasks, c->number);
            compare(&cpu.plan, &cpu.boxes[i], &gpu.boxes[i]);
            note(&cpu.plan, &cpu.boxes[i].results);
        }
    }
    close_engine(&cpu);
    close_engine(&gpu);
}

static void run_case(struct test_case c, bool validate)
{
    struct gpume_plane planes[FRAMES];
    uint8_t values[PAIRWISE_FACTORS_MAX];
    unsigned failures = harness_failures;
    c.params.backend = GPUME_BACKEND_VULKAN;
    c.params.validate = validate;
    number = c.number;
    for (uint32_t i = 0; i < FRAMES; i++) {
        planes[i] = synth_plane(c.params.width, c.params.height, c.params.bits);
        synth_fill(&planes[i], c.content, i, c.number);
    }
    search_both(&c, planes);
    for (uint32_t i = 0; i < FRAMES; i++) {
        free(planes[i].data);
    }
    classify(&c, values);
    pairwise_add(&covered, values);
    if (harness_failures > failures) {
        describe(&c.params);
    }
}

int main(int argc, char **argv)
{
    bool validate = argc > 1 && strcmp(argv[1], "--validate") == 0;
    vulkan_probe_or_skip(validate);
    if (argc > 3) {
        uint32_t last = (uint32_t)strtoul(argv[3], NULL, 10);
        for (uint32_t i = (uint32_t)strtoul(argv[2], NULL, 10); i <= last; i++) {
            run_case(make_case(i), validate);
        }
        return harness_verdict();
    }
    for (uint32_t i = 0; i < CASES; i++) {
        const struct test_case next = next_case();
        if (harness_has_case(i)) {
            run_case(next, validate);
        }
    }
    printf("%u pairs; means %u, other references %u, ties %u, missing %u, whole %u, halves %u\n",
        covered.pairs, seen.means, seen.other_references, seen.ties, seen.missing, seen.whole,
        seen.halves);
    REQUIRE(!harness_has_all_cases() || (seen.means && seen.other_references && seen.ties &&
                                            seen.missing && seen.whole && seen.halves));
    return harness_verdict();
}
