/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * checksearch [--bench]: compares every implementation of the search that this processor supports
 * with the plain one, vector by vector and cost by cost, on random and on adversarial frames, and
 * the field sums computed with each. --bench prints their speed instead, in pixel differences per
 * second.
 */
#include "arrays/host_sort.h"
#include "base/os.h"
#include "brute.h"
#include "cpu/cpu.h"
#include "cpu/search/search.h"
#include "harness.h"
#include "synth.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE UINT32_MAX /* a span has all blocks of its row */

enum content {
    NOISE = SYNTH_NOISE,
    TIES = SYNTH_TIES,
    FLAT = SYNTH_FLAT,
    EXTREME = SYNTH_EXTREME,
    PAN = SYNTH_PAN,
    OVERFULL = SYNTH_OVERFULL,
    BLACK_WHITE, /* target all zero, reference all peak: the largest cost everywhere */
    GRADIENT,    /* slopes: block sums prune nearly everything */
    SAME_SUMS,   /* every 4x4 cell permutes the same samples: sums prune nothing */
    NATURAL,     /* a moving smooth texture with a little noise */
    CONTENTS
};

struct shape {
    uint32_t width, height, bits, block_w, block_h, window_x, window_y;
};

/* One pair of padded frames and the results of two implementations. */
struct field {
    struct gpume_plan plan;
    struct gpume_plane planes[2];
    void *padded[2];
    struct gpume_vector *vectors[2];
    uint32_t *costs[2];
    struct gpume_boxes boxes;
    struct gpume_layer_boxes layer_boxes;
    struct gpume_search_counts counts;
};

/* Bilinear between random values on a 16-pixel lattice. */
static uint32_t smooth(uint32_t x, uint32_t y, uint32_t peak)
{
    uint32_t corner[4];
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t state = ((uint64_t)(x / 16 + i % 2) << 32 | (y / 16 + i / 2)) * 2654435761u + 1;
        harness_random(&state);
        corner[i] = harness_random(&state) & peak;
    }
    uint32_t fx = x % 16, fy = y % 16;
    uint32_t top = corner[0] * (16 - fx) + corner[1] * fx;
    uint32_t bottom = corner[2] * (16 - fx) + corner[3] * fx;
    return (top * (16 - fy) + bottom * fy) / 256;
}

static uint32_t special(
    enum content content, uint32_t peak, uint32_t x, uint32_t y, uint32_t index, uint64_t *random)
{
    uint32_t value;
    switch (content) {
    case BLACK_WHITE:
        return index ? 0 : peak;
    case GRADIENT:
        return (x * 3 + y * 5 + index * 7) & peak;
    case SAME_SUMS:
        return ((x * 5 + y * 7 + index * 3 + (x / 4 * 11 + y / 4 * 13) % 16) % 16) * (peak / 16);
    default:
        value = smooth(x + 100 + index * 2, y + 100 + index, peak) + harness_random(random) % 4;
        return value > peak ? peak : value;
    }
}

static void fill(struct gpume_plane *plane, enum content content, uint32_t index, uint64_t seed)
{
    if (content < BLACK_WHITE) {
        synth_fill(plane, (enum synth_content)content, index, seed);
        return;
    }
    uint64_t random = seed * 77 + index + 1;
    uint32_t peak = (1u << plane->bits) - 1;
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t x = 0; x < plane->width; x++) {
            synth_put(plane, x, y, special(content, peak, x, y, index, &random));
        }
    }
}

static void open_field(
    struct field *field, const struct shape *s, enum gpume_edge edge, enum content content)
{
    static const struct gpume_caps caps = {
        .window_bytes = UINT64_MAX, .align_bytes = 64, .batch_max = 1, .batch_work = 1ull << 32};
    const struct gpume_log log = {0};
    struct gpume_params params;
    gpume_params_default(&params);
    params.width = s->width;
    params.height = s->height;
    params.bits = s->bits;
    params.shape_count = 1;
    params.shapes[0] = (struct gpume_block_size){s->block_w, s->block_h};
    params.window_x = s->window_x;
    params.window_y = s->window_y;
    params.edge = edge;
    memset(field, 0, sizeof(*field));
    REQUIRE(gpume_plan_make(&params, &caps, &log, &field->plan) == GPUME_OK);
    for (uint32_t i = 0; i < 2; i++) {
        field->planes[i] = synth_plane(s->width, s->height, s->bits);
        fill(&field->planes[i], content, i, s->width * 31 + s->block_w);
        field->padded[i] = malloc(field->plan.padded_bytes + GPUME_SEARCH_SLACK_BYTES);
        memset(field->padded[i], 0xa5, field->plan.padded_bytes + GPUME_SEARCH_SLACK_BYTES);
        for (uint32_t row = 0; row < field->plan.padded_rows; row++) {
            gpume_pad_row(&field->plan, &field->planes[i], field->padded[i], row);
        }
        field->vectors[i] = calloc(field->plan.blocks, sizeof(*field->vectors[i]));
        field->costs[i] = calloc(field->plan.blocks, sizeof(*field->costs[i]));
    }
    field->boxes = gpume_boxes_plan(&field->plan);
    for (uint32_t i = 0; i < field->boxes.levels; i++) {
        field->boxes.sums[i] = calloc(gpume_boxes_entries(&field->boxes), sizeof(uint16_t));
    }
    field->layer_boxes = gpume_boxes_of_layer(&field->boxes, &field->plan.layers[0]);
}

static void close_field(struct field *field)
{
    for (uint32_t i = 0; i < 2; i++) {
        free(field->planes[i].data);
        free(field->padded[i]);
        free(field->vectors[i]);
        free(field->costs[i]);
    }
    for (uint32_t i = 0; i < field->boxes.levels; i++) {
        free(field->boxes.sums[i]);
    }
}

/* The array of results holds the hints. */
static void search(struct field *field, const struct gpume_search *with, bool eliminate,
    uint32_t result, uint32_t span_blocks)
{
    struct gpume_search_field all = {.plan = &field->plan,
        .layer = &field->plan.layers[0],
        .target = field->padded[1],
        .reference = field->padded[0],
        .hints = field->vectors[result]};
    if (eliminate) {
        all.boxes = &field->layer_boxes;
        for (uint32_t level = 0; level < field->boxes.levels; level++) {
            for (uint32_t row = 0; row < gpume_boxes_rows(&field->boxes, level); row++) {
                with->box_row(&field->boxes, field->padded[0], level, row);
            }
        }
    }
    memset(&field->counts, 0, sizeof(field->counts));
    for (uint32_t row = 0; row < field->plan.layers[0].blocks_y; row++) {
        struct gpume_span span = {.row = row};
        for (; span.first < field->plan.layers[0].blocks_x; span.first = span.end) {
            uint32_t left = field->plan.layers[0].blocks_x - span.first;
            span.end = span.first + (left < span_blocks ? left : span_blocks);
            with->span(&all, &span, field->vectors[result], field->costs[result], &field->counts);
        }
    }
}

static void compare(
    const struct field *field, const struct gpume_search *with, enum content content)
{
    const struct gpume_params *p = &field->plan.params;
    const struct gpume_shape *layer = &field->plan.layers[0];
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < field->plan.blocks; i++) {
        struct gpume_vector is = field->vectors[1][i], must = field->vectors[0][i];
        uint32_t cost = field->costs[1][i], right = field->costs[0][i];
        if ((is.dx != must.dx || is.dy != must.dy || cost != right) && wrong++ == 0) {
            fprintf(stderr,
                "%s: %ux%u, %u bits, block %ux%u, window %ux%u, edge %d, content %d: block %u has "
                "(%d,%d) cost %u, not (%d,%d) cost %u\n",
                with->name, p->width, p->height, p->bits, layer->block_w, layer->block_h,
                p->window_x, p->window_y, (int)p->edge, (int)content, i, is.dx, is.dy, cost,
                must.dx, must.dy, right);
        }
    }
    REQUIRE_EQUAL(wrong, 0);
}

static void check_one(struct field *field, const struct gpume_search *with, enum content content)
{
    bool boxes = with->box_row && field->boxes.levels;
    memset(field->vectors[1], 0x55, field->plan.blocks * sizeof(*field->vectors[1]));
    search(field, with, false, 1, 3);
    compare(field, with, content);
    for (int pass = 0; boxes && pass < 2; pass++) { /* with good hints, then with bad ones */
        search(field, with, true, 1, pass ? 2 : WHOLE);
        compare(field, with, content);
        for (uint32_t i = 0; i < field->plan.blocks; i++) {
            field->vectors[1][i] = (struct gpume_vector){(int16_t)(i % 7), (int16_t)(i % 5 - 2)};
        }
    }
}

static void check(const struct shape *shape, enum gpume_edge edge, enum content content)
{
    static uint32_t next;
    struct field field;
    const uint32_t number = next++;
    if (!harness_has_case(number + number / CONTENTS)) { /* another share for each shape */
        return;
    }
    open_field(&field, shape, edge, content);
    search(&field, &gpume_search_plain, false, 0, WHOLE);
    for (uint32_t i = 1; gpume_search_at(i); i++) {
        if (gpume_search_at(i)->available()) {
            check_one(&field, gpume_search_at(i), content);
        }
    }
    close_field(&field);
}

static void check_all(const struct shape *shape)
{
    for (int content = 0; content < CONTENTS; content++) {
        check(shape, GPUME_EDGE_EXTEND, (enum content)content);
        check(shape, GPUME_EDGE_INSIDE, (enum content)content);
    }
}

/* Two and a bit by one and a half blocks. Every content with either edge, one of them at each
 * depth. */
static void check_block(uint32_t width, uint32_t height)
{
    for (uint32_t bits = 8; bits <= 10; bits += 2) {
        uint32_t cut = width / 4 % 5;
        const struct shape shape = {
            2 * width + cut, height + height / 2, bits, width, height, 9, 4};
        for (uint32_t content = 0; content < CONTENTS; content++) {
            bool extends = (content + bits / 2 + width / 4) % 2;
            check(&shape, extends ? GPUME_EDGE_EXTEND : GPUME_EDGE_INSIDE, (enum content)content);
        }
    }
}

/* All squares, rectangles of all widths, and every size at which a search switches its method. */
static void check_blocks(void)
{
    static const uint32_t sides[] = {4, 8, 12, 16, 20, 32, 64};
    for (uint32_t block = GPUME_BLOCK_MIN; block <= GPUME_BLOCK_MAX; block += 4) {
        check_block(block, block);
        check_block(block, GPUME_BLOCK_MAX + GPUME_BLOCK_MIN - block);
    }
    for (uint32_t i = 0; i < 7 * 7; i++) {
        if (i / 7 != i % 7) {
            check_block(sides[i / 7], sides[i % 7]);
        }
    }
}

static void check_shapes(void)
{
    static const struct shape shapes[] = {{1, 1, 8, 8, 8, 7, 7}, {1, 1, 16, 4, 4, 3, 3},
        {5, 3, 8, 8, 8, 2, 9}, {64, 48, 8, 8, 8, 7, 7}, {67, 50, 8, 8, 8, 8, 8},
        {70, 61, 8, 16, 16, 16, 16}, {96, 64, 8, 16, 16, 32, 32}, {64, 64, 8, 32, 32, 17, 15},
        {40, 40, 8, 8, 8, 0, 0}, {40, 40, 8, 4, 4, 0, 20}, {41, 39, 8, 12, 12, 24, 0},
        {8, 4, 8, 8, 8, 512, 1}, {4, 8, 8, 4, 4, 2, 512}, {20, 12, 8, 4, 4, 100, 37},
        {130, 130, 8, 64, 64, 12, 12}, {131, 260, 8, 128, 128, 5, 6}, {64, 48, 10, 8, 8, 7, 7},
        {61, 47, 12, 16, 16, 20, 9}, {260, 132, 16, 128, 128, 2, 1}, {70, 70, 16, 32, 32, 8, 7},
        {33, 21, 16, 4, 4, 31, 3}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        check_all(&shapes[i]);
    }
}

/* With and without a predicted plane; if there is one, the match is assembled in it. */
static void check_sums(
    const struct field *field, const struct gpume_search *with, const struct brute *brute)
{
    const struct gpume_plan *plan = &field->plan;
    struct gpume_search_field all = {.plan = plan,
        .layer = &plan->layers[0],
        .target = field->padded[1],
        .reference = field->padded[0]};
    void *predicted = calloc(1, plan->plane_bytes);
    for (int pass = 0; pass < 2; pass++) {
        struct gpume_sums sums = {0};
        for (uint32_t row = 0; row < plan->layers[0].blocks_y; row++) {
            struct gpume_span span = {.row = row};
            for (; span.first < plan->layers[0].blocks_x; span.first = span.end) {
                span.end = span.first + 70 < plan->layers[0].blocks_x ? span.first + 70
                                                                      : plan->layers[0].blocks_x;
                struct gpume_sums part = gpume_measure_span(
                    with, &all, &span, field->vectors[0], pass ? predicted : NULL);
                sums.zero += part.zero;
                sums.sad_before += part.sad_before;
                sums.sad_after += part.sad_after;
                sums.sse_before += part.sse_before;
                sums.sse_after += part.sse_after;
            }
        }
        REQUIRE_EQUAL(sums.zero, brute->zero);
        REQUIRE_EQUAL(sums.sad_before, brute->sad_before);
        REQUIRE_EQUAL(sums.sad_after, brute->sad_after);
        REQUIRE_EQUAL(sums.sse_before, brute->sse_before);
        REQUIRE_EQUAL(sums.sse_after, brute->sse_after);
    }
    free(predicted);
}

/* Wider than one assembly step, with blocks of every kind, cut on both sides. */
static void check_all_sums(void)
{
    static const uint32_t blocks[][2] = {{4, 4}, {8, 8}, {12, 12}, {16, 16}, {36, 36}, {64, 64},
        {100, 100}, {128, 128}, {16, 8}, {8, 16}, {4, 128}, {128, 4}};
    for (uint32_t i = 0; i < 2 * sizeof(blocks) / sizeof(*blocks); i++) {
        const uint32_t *block = blocks[i / 2];
        const struct shape shape = {1094, 130, i % 2 ? 16 : 8, block[0], block[1], 1, 1};
        struct field field;
        open_field(&field, &shape, GPUME_EDGE_EXTEND, NOISE);
        search(&field, &gpume_search_plain, false, 0, WHOLE);
        struct brute brute = brute_layer(
            &field.plan.params, shape.block_w, shape.block_h, &field.planes[1], &field.planes[0]);
        for (uint32_t j = 0; j < brute.blocks; j++) {
            REQUIRE_EQUAL(field.vectors[0][j].dx, brute.dx[j]);
            REQUIRE_EQUAL(field.vectors[0][j].dy, brute.dy[j]);
            REQUIRE_EQUAL(field.costs[0][j], brute.costs[j]);
        }
        for (uint32_t j = 0; gpume_search_at(j); j++) {
            if (gpume_search_at(j)->available()) {
                check_sums(&field, gpume_search_at(j), &brute);
            }
        }
        brute_free(&brute);
        close_field(&field);
    }
}

static void bench_one(
    struct field *field, const struct gpume_search *with, bool eliminate, const char *content)
{
    const struct gpume_params *p = &field->plan.params;
    double differences = (double)p->width * p->height * (double)field->plan.candidates;
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        memset(field->vectors[1], 0, field->plan.blocks * sizeof(*field->vectors[1]));
        uint64_t start = gpume_clock_thread_ns();
        search(field, with, eliminate, 1, WHOLE);
        uint64_t time = gpume_clock_thread_ns() - start;
        best = time < best ? time : best;
    }
    printf("%-7s %-11s %-8s %2u bits block %3u window %2u: %8.1f G px/s, %8.2f ms", with->name,
        eliminate ? "elimination" : "", content, p->bits, field->plan.layers[0].block_w,
        p->window_x, differences / (double)best, (double)best / 1e6);
    double hundredth = (double)field->counts.candidates / 100;
    if (eliminate) {
        printf(", left %.2f %%, %.2f %%", (double)field->counts.past_blocks / hundredth,
            (double)field->counts.past_parts / hundredth);
    }
    printf("\n");
}

/* The engine's work for one field apart from the search: padding, sums, ranks. */
static void bench_rest(struct field *field, const struct gpume_search *with)
{
    const struct gpume_plan *plan = &field->plan;
    struct gpume_search_field all = {.plan = plan,
        .layer = &plan->layers[0],
        .target = field->padded[1],
        .reference = field->padded[0]};
    uint32_t *scratch = calloc(plan->blocks, (1 + GPUME_HOST_RANK_WORDS) * sizeof(*scratch));
    uint64_t best[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    for (int i = 0; i < 7; i++) {
        uint64_t times[4] = {gpume_clock_thread_ns()};
        for (uint32_t row = 0; row < plan->padded_rows; row++) {
            gpume_pad_row(plan, &field->planes[1], field->padded[1], row);
        }
        times[1] = gpume_clock_thread_ns();
        for (uint32_t row = 0; row < plan->layers[0].blocks_y; row++) {
            struct gpume_span span = {row, 0, plan->layers[0].blocks_x};
            gpume_measure_span(with, &all, &span, field->vectors[1], NULL);
        }
        times[2] = gpume_clock_thread_ns();
        gpume_host_rank(field->costs[1], plan->blocks, plan->layers[0].cost_bits, scratch,
            scratch + plan->blocks);
        times[3] = gpume_clock_thread_ns();
        for (int j = 0; j < 3; j++) {
            uint64_t time = times[j + 1] - times[j];
            best[j] = time < best[j] ? time : best[j];
        }
    }
    printf("%-8s pad %.2f ms, measure %.2f ms, rank %.2f ms\n", with->name, (double)best[0] / 1e6,
        (double)best[1] / 1e6, (double)best[2] / 1e6);
    free(scratch);
}

static void bench(void)
{
    static const struct shape shapes[] = {{1920, 1080, 8, 8, 8, 7, 7},
        {1920, 1080, 8, 16, 16, 32, 32}, {1920, 1080, 8, 4, 4, 7, 7}, {1920, 1080, 8, 32, 32, 7, 7},
        {1920, 1080, 10, 8, 8, 7, 7}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        for (int natural = 0; natural < 2; natural++) {
            struct field field;
            open_field(&field, &shapes[i], GPUME_EDGE_EXTEND, natural ? NATURAL : NOISE);
            for (uint32_t j = 1; gpume_search_at(j); j++) {
                if (gpume_search_at(j)->available()) {
                    const char *content = natural ? "natural" : "noise";
                    bench_one(&field, gpume_search_at(j), false, content);
                    if (gpume_search_at(j)->box_row && field.boxes.levels) {
                        bench_one(&field, gpume_search_at(j), true, content);
                    }
                    bench_rest(&field, gpume_search_at(j));
                }
            }
            close_field(&field);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    check_shapes();
    check_blocks();
    check_all_sums();
    return harness_verdict();
}
