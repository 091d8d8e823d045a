/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of a submission: surfaces of each new frame, among them the filtered one, then the
 * searches. */
#include "arrays/host_sort.h"
#include "base/base.h"
#include "base/os.h"
#include "cpu/cpu.h"

#include <string.h>

/* --- the source */

static void repeat_sample(uint8_t *to, const uint8_t *sample, uint32_t count, uint32_t sample_bytes)
{
    if (sample_bytes == 1) {
        memset(to, *sample, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        memcpy(to + 2 * (size_t)i, sample, 2);
    }
}

/* Repeats the first and the last sample of the picture outwards. row: the start of a padded row
 * that holds its picture samples already. */
static void extend_row(const struct gpume_plan *plan, void *row)
{
    uint32_t bytes = plan->sample_bytes, right = plan->pad_x + plan->params.width;
    uint8_t *to = row;
    repeat_sample(to, to + (size_t)plan->pad_x * bytes, plan->pad_x, bytes);
    repeat_sample(to + (size_t)right * bytes, to + (size_t)(right - 1) * bytes,
        plan->padded_stride - right, bytes);
}

void gpume_pad_row(
    const struct gpume_plan *plan, const struct gpume_plane *plane, void *padded, uint32_t row)
{
    uint32_t bytes = plan->sample_bytes;
    uint32_t below = row < plan->pad_y ? 0 : row - plan->pad_y;
    uint32_t y = gpume_min_u32(below, plane->height - 1);
    const uint8_t *from = gpume_plane_row(plane, y);
    uint8_t *to = (uint8_t *)padded + (size_t)row * plan->padded_stride * bytes;
    memcpy(to + (size_t)plan->pad_x * bytes, from, (size_t)plane->width * bytes);
    extend_row(plan, to);
}

/* --- filters
 *
 * A row is made in runs of neighbouring samples, each from lines of 16-bit samples on the stack, so
 * that 8 and 16 bits share the same plain loops for the compiler's vectors. That 32 bits hold the
 * sums is proved where the weights are made (model/plan.h) or below.
 */
#define RUN 256u  /* samples of a run, a multiple of LANES; its lines stay in the first cache */
#define LANES 16u /* samples that the median sorts side by side */
#define LINE (RUN + 2 * GPUME_PREFILTER_RADIUS_MAX)
#define SQUARE_LINE (RUN + 30u) /* of filters with radii up to 15 */
#define KEPT 14u                /* of 25 samples: the first ones among which the median is sought */

struct filter_run {
    const struct gpume_plan *plan;
    const struct gpume_prefilter_tables *tables;
    const uint8_t *picture; /* row 0, column 0 */
    int64_t x, y;           /* where the run begins */
    uint32_t count; /* samples to make: a multiple of LANES; those past the edge are discarded */
};

static void widen(
    const struct filter_run *run, const uint8_t *row, int64_t x, int64_t end, uint16_t *to)
{
    uint32_t count = (uint32_t)(end - x);
    if (run->plan->sample_bytes == 1) {
        for (uint32_t i = 0; i < count; i++) {
            to[i] = row[x + i];
        }
        return;
    }
    uint16_t peak = (uint16_t)run->tables->peak; /* raw files may hold larger samples */
    memcpy(to, row + 2 * x, 2 * (size_t)count);
    for (uint32_t i = 0; i < count; i++) {
        to[i] = to[i] < peak ? to[i] : peak;
    }
}

/* Loads the samples of row y + j that a run needs: count + 2 radius_x from x - radius_x on. Outside
 * the picture they are its nearest samples. */
static void load_line(const struct filter_run *run, int64_t j, uint16_t *line)
{
    const struct gpume_plan *plan = run->plan;
    int64_t width = plan->params.width, y = gpume_nearest(run->y + j, plan->params.height);
    int64_t first = run->x - run->tables->radius_x;
    int64_t end = run->x + run->count + run->tables->radius_x;
    int64_t from = first < 0 ? 0 : first, to = end > width ? width : end; /* x < width: not empty */
    const uint8_t *row =
        run->picture + y * (int64_t)plan->padded_stride * (int64_t)plan->sample_bytes;
    widen(run, row, from, to, line + (from - first));
    for (int64_t i = 0; i < from - first; i++) {
        line[i] = line[from - first];
    }
    for (int64_t i = to - first; i < end - first; i++) {
        line[i] = line[to - first - 1];
    }
}

static void add_weighted(
    uint32_t *restrict sums, const uint16_t *restrict samples, uint16_t weight, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sums[i] += (uint32_t)samples[i] * weight;
    }
}

/* Weights are below 2^16 and add up to 2^16. Columns: 2^16 (2^bits - 1) + 2^(bits-1) < 2^32, and
 * after the shift at most 2^16 - 2^(16-bits). Rows: 2^32 - 2^(32-bits) + 2^(31-bits) < 2^32. */
static void gauss(const struct filter_run *run, uint16_t *out)
{
    const struct gpume_prefilter_tables *t = run->tables;
    uint32_t sums[LINE] = {0}, side = 2 * t->radius_x + 1, wide = run->count + side - 1;
    uint16_t line[LINE];
    for (uint32_t j = 0; j < side; j++) {
        load_line(run, (int64_t)j - t->radius_y, line);
        add_weighted(sums, line, (uint16_t)t->weights[j], wide);
    }
    for (uint32_t x = 0; x < wide; x++) {
        line[x] = (uint16_t)((sums[x] + (1u << t->shift >> 1)) >> t->shift);
    }
    memset(sums, 0, sizeof(sums));
    for (uint32_t i = 0; i < side; i++) {
        add_weighted(sums, line + i, (uint16_t)t->weights[i], run->count);
    }
    uint32_t shift = 32 - t->shift; /* divisor = 2^shift */
    for (uint32_t x = 0; x < run->count; x++) {
        out[x] = (uint16_t)((sums[x] + (t->divisor >> 1)) >> shift);
    }
}

/*
 * For n = side^2 samples, at most 961, a sum s is below n 2^16. Instead of dividing s by n it is
 * multiplied by m / 2^36 with m = floor(2^36 / n) + 1. As m exceeds 2^36 / n by at most 1, the
 * quotient grows by at most s / 2^36 < n 2^16 / 2^36, which is less than 1 / n, since n^2 2^16 <=
 * 961^2 2^16 < 2^36. So it never reaches the next whole number.
 */
static void box(const struct filter_run *run, uint16_t *out)
{
    const struct gpume_prefilter_tables *t = run->tables;
    uint32_t sums[LINE] = {0}, side = 2 * t->radius_x + 1, wide = run->count + side - 1;
    uint16_t line[LINE];
    for (uint32_t j = 0; j < side; j++) {
        load_line(run, (int64_t)j - t->radius_y, line);
        add_weighted(sums, line, 1, wide);
    }
    uint64_t inverse = (1ull << 36) / t->divisor + 1;
    uint32_t sum = t->divisor / 2;
    for (uint32_t i = 0; i < side - 1; i++) {
        sum += sums[i];
    }
    for (uint32_t x = 0; x < run->count; x++) {
        sum += sums[x + side - 1];
        out[x] = (uint16_t)(sum * inverse >> 36);
        sum -= sums[x];
    }
}

static void kernel(const struct filter_run *run, uint16_t *out)
{
    const struct gpume_prefilter_tables *t = run->tables;
    uint32_t columns = 2 * t->radius_x + 1, rows = 2 * t->radius_y + 1;
    int32_t sums[RUN];
    uint16_t line[SQUARE_LINE];
    for (uint32_t x = 0; x < run->count; x++) {
        sums[x] = (int32_t)(t->divisor / 2);
    }
    for (uint32_t j = 0; j < rows; j++) {
        load_line(run, (int64_t)j - t->radius_y, line);
        for (uint32_t i = 0; i < columns; i++) {
            int32_t weight = t->weights[j * columns + i];
            for (uint32_t x = 0; x < run->count; x++) {
                sums[x] += weight * line[x + i];
            }
        }
    }
    for (uint32_t x = 0; x < run->count; x++) {
        uint32_t value = sums[x] < 0 ? 0 : (uint32_t)sums[x] / t->divisor;
        out[x] = (uint16_t)(value < t->peak ? value : t->peak);
    }
}

/* Puts the smaller of each pair into a, the larger into b. */
static inline void sort2(uint16_t a[restrict LANES], uint16_t b[restrict LANES])
{
    for (uint32_t i = 0; i < LANES; i++) {
        uint16_t low = a[i] < b[i] ? a[i] : b[i];
        b[i] = a[i] < b[i] ? b[i] : a[i];
        a[i] = low;
    }
}

/*
 * Keeps more than half of the side^2 samples. Neither the smallest nor the largest of these can be
 * the median, since more than half of all samples lie on one side of it. Both are dropped, the next
 * sample is added, and so on; the median is the middle one of the last three.
 */
static inline void middle(
    const uint16_t lines[][SQUARE_LINE], uint32_t x, uint32_t side, uint16_t *out)
{
    uint16_t kept[KEPT][LANES];
    uint32_t count = side * side / 2 + 2;
    for (uint32_t k = 0; k < count; k++) {
        memcpy(kept[k], &lines[k / side][x + k % side], sizeof(kept[k]));
    }
    for (uint32_t next = count; count >= 3; next++, count--) {
        for (uint32_t k = 0; k < count / 2; k++) {
            sort2(kept[k], kept[count - 1 - k]);
        }
        for (uint32_t k = 1; k < (count + 1) / 2; k++) {
            sort2(kept[0], kept[k]);
        }
        for (uint32_t k = count / 2; k < count - 1; k++) {
            sort2(kept[k], kept[count - 1]);
        }
        if (count > 3) {
            memcpy(kept[0], &lines[next / side][x + next % side], sizeof(kept[0]));
        }
    }
    memcpy(out, kept[1], sizeof(kept[1]));
}

static void median(const struct filter_run *run, uint16_t *out)
{
    uint16_t lines[5][SQUARE_LINE];
    uint32_t side = 2 * run->tables->radius_x + 1;
    for (uint32_t j = 0; j < side; j++) {
        load_line(run, (int64_t)j - run->tables->radius_y, lines[j]);
    }
    for (uint32_t x = 0; x < run->count; x += LANES) {
        if (side == 3) { /* constants, so that the loops are unrolled */
            middle((const uint16_t(*)[SQUARE_LINE])lines, x, 3, out + x);
        } else {
            middle((const uint16_t(*)[SQUARE_LINE])lines, x, 5, out + x);
        }
    }
}

/*
 * Spatial weights add up to 2^16 at most, and a likeness is at most 2^15. So a product is at most
 * 2^31, and all of them, shifted by 8, add up to at most 2^23. That of the centre is never 0. The
 * sum of products with samples is below 2^39 and needs 64 bits.
 */
static uint16_t bilateral_sample(
    const struct filter_run *run, const uint16_t lines[][SQUARE_LINE], uint32_t x)
{
    const struct gpume_prefilter_tables *t = run->tables;
    uint32_t side = 2 * t->radius_x + 1, whole = 0;
    int32_t centre = lines[t->radius_y][x + t->radius_x];
    uint64_t sum = 0;
    for (uint32_t j = 0; j < side; j++) {
        for (uint32_t i = 0; i < side; i++) {
            int32_t sample = lines[j][x + i];
            uint32_t apart = (uint32_t)(sample < centre ? centre - sample : sample - centre);
            uint32_t likeness = (uint32_t)t->likeness[apart >> t->shift];
            uint32_t weight = (uint32_t)t->weights[j * side + i] * likeness;
            weight >>= GPUME_PREFILTER_PRODUCT_SHIFT;
            whole += weight;
            sum += (uint64_t)weight * (uint32_t)sample;
        }
    }
    return (uint16_t)((sum + whole / 2) / whole);
}

static void bilateral(const struct filter_run *run, uint16_t *out)
{
    uint16_t lines[31][SQUARE_LINE];
    for (uint32_t j = 0; j < 2 * run->tables->radius_y + 1; j++) {
        load_line(run, (int64_t)j - run->tables->radius_y, lines[j]);
    }
    for (uint32_t x = 0; x < run->count; x++) {
        out[x] = bilateral_sample(run, (const uint16_t(*)[SQUARE_LINE])lines, x);
    }
}

static void make_run(const struct filter_run *run, uint16_t *out)
{
    switch (run->tables->kind) {
    case GPUME_PREFILTER_GAUSS:
        gauss(run, out);
        break;
    case GPUME_PREFILTER_BOX:
        box(run, out);
        break;
    case GPUME_PREFILTER_MEDIAN:
        median(run, out);
        break;
    case GPUME_PREFILTER_BILATERAL:
        bilateral(run, out);
        break;
    case GPUME_PREFILTER_KERNEL:
        kernel(run, out);
        break;
    }
}

static void store_samples(
    const struct gpume_plan *plan, const uint16_t *from, uint32_t count, void *to)
{
    if (plan->sample_bytes == 2) {
        memcpy(to, from, 2 * (size_t)count);
        return;
    }
    uint8_t *narrow = to;
    for (uint32_t i = 0; i < count; i++) {
        narrow[i] = (uint8_t)from[i];
    }
}

/* The padding above and below repeats the picture's first and last row. */
static void extend_rows(const struct gpume_plan *plan, uint8_t *filtered, uint32_t y)
{
    size_t row_bytes = (size_t)plan->padded_stride * plan->sample_bytes;
    const uint8_t *row = filtered + (plan->pad_y + y) * row_bytes;
    for (uint32_t i = 0; y == 0 && i < plan->pad_y; i++) {
        memcpy(filtered + i * row_bytes, row, row_bytes);
    }
    for (uint32_t i = 1; y == plan->params.height - 1 && i <= plan->pad_y; i++) {
        memcpy(filtered + (plan->pad_y + y + i) * row_bytes, row, row_bytes);
    }
}

/* Makes row y < height of the filtered surface with its ends repeated outwards, and with the first
 * and last rows those above and below the picture. padded: the complete source surface. Rows may be
 * made in parallel. */
static void prefilter_row(
    const struct gpume_plan *plan, const void *padded, void *filtered, uint32_t y)
{
    size_t bytes = plan->sample_bytes, row_bytes = plan->padded_stride * bytes;
    uint8_t *row = (uint8_t *)filtered + (plan->pad_y + y) * row_bytes;
    struct filter_run run = {.plan = plan,
        .tables = &plan->prefilter,
        .picture = (const uint8_t *)padded + plan->pad_y * row_bytes + plan->pad_x * bytes,
        .y = y};
    for (uint32_t x = 0; x < plan->params.width; x += RUN) {
        uint16_t out[RUN];
        uint32_t count = gpume_min_u32(RUN, plan->params.width - x);
        run.x = x;
        run.count = (uint32_t)gpume_round_up(count, LANES);
        make_run(&run, out);
        store_samples(plan, out, count, row + (plan->pad_x + x) * bytes);
    }
    extend_row(plan, row);
    extend_rows(plan, filtered, y);
}

/* --- the steps */

/* Rows per work item, so that handing one out costs less than 1 %. Filtering takes much longer. */
#define PAD_ROWS 16u
#define FILTER_ROWS 8u
#define BOX_ROWS 16u
#define THREAD_ITEMS 8u /* per layer and thread: few threads wait for the last one */

void gpume_shared_divide(struct gpume_shared *shared, uint32_t threads)
{
    for (uint32_t i = 0; i < shared->plan.layer_count; i++) {
        const struct gpume_shape *layer = &shared->plan.layers[i];
        struct gpume_layer_division *division = &shared->divisions[i];
        uint64_t wanted = threads > 1 ? (uint64_t)threads * THREAD_ITEMS : 1;
        uint64_t per_row = gpume_min_u64(gpume_div_up(wanted, layer->blocks_y), layer->blocks_x);
        division->blocks = (uint32_t)gpume_div_up(layer->blocks_x, per_row);
        division->per_row = (uint32_t)gpume_div_up(layer->blocks_x, division->blocks);
        division->items = division->per_row * layer->blocks_y;
    }
}

static uint32_t end_row(uint32_t item, uint32_t item_rows, uint32_t rows)
{
    return (uint32_t)gpume_min_u64(((uint64_t)item + 1) * item_rows, rows);
}

/* --- surfaces */

static void pad_item(void *opaque, uint32_t item)
{
    const struct gpume_steps *steps = opaque;
    const struct gpume_plan *plan = &steps->shared->plan;
    uint32_t end = end_row(item, PAD_ROWS, plan->padded_rows);
    for (uint32_t row = item * PAD_ROWS; row < end; row++) {
        gpume_pad_row(plan, &steps->frame->plane, steps->surfaces[GPUME_SURFACE_SOURCE], row);
    }
}

static void filter_item(void *opaque, uint32_t item)
{
    const struct gpume_steps *steps = opaque;
    const struct gpume_plan *plan = &steps->shared->plan;
    uint32_t end = end_row(item, FILTER_ROWS, plan->params.height);
    for (uint32_t y = item * FILTER_ROWS; y < end && !gpume_is_cancelled(&steps->shared->cancelled);
         y++) {
        prefilter_row(plan, steps->surfaces[GPUME_SURFACE_SOURCE],
            steps->surfaces[GPUME_SURFACE_FILTERED], y);
    }
}

static struct gpume_step surface_step(
    struct gpume_steps *steps, enum gpume_surface surface, const struct gpume_plan *plan)
{
    const struct {
        gpume_work_fn fn;
        uint32_t rows, item_rows;
    } makers[GPUME_SURFACE_COUNT] = {
        [GPUME_SURFACE_SOURCE] = {pad_item, plan->padded_rows, PAD_ROWS},
        [GPUME_SURFACE_FILTERED] = {filter_item, plan->params.height, FILTER_ROWS},
    };
    return (struct gpume_step){.fn = makers[surface].fn,
        .opaque = steps,
        .pace = &steps->shared->paces.make[surface],
        .count = (uint32_t)gpume_div_up(makers[surface].rows, makers[surface].item_rows)};
}

static void fraction_item(void *opaque, uint32_t item)
{
    const struct gpume_fractions *fractions = opaque;
    const struct gpume_steps *steps = fractions->steps;
    if (!gpume_is_cancelled(&steps->shared->cancelled)) {
        steps->shared->search->general->fraction_rows(
            &steps->shared->plan, steps->surfaces[fractions->surface], item * GPUME_FRACTION_ROWS);
    }
}

/* The box sums of the searched surface, some rows of them. */
static void sum_item(void *opaque, uint32_t item)
{
    const struct gpume_steps *steps = opaque;
    const struct gpume_plan *plan = &steps->shared->plan;
    uint32_t count = GPUME_RING_BOXES * gpume_plan_search_planes(plan);
    for (uint32_t i = 0; i < count && !gpume_is_cancelled(&steps->shared->cancelled); i++) {
        uint32_t box = i % GPUME_RING_BOXES, plane = i / GPUME_RING_BOXES;
        if (steps->sums[box]) {
            steps->shared->search->general->sum_rows(plan,
                (const uint8_t *)steps->surfaces[plan->searched] + plane * plan->padded_bytes,
                (uint8_t *)steps->sums[box] + 2 * plane * plan->padded_bytes, 4u << box,
                item * GPUME_FRACTION_ROWS);
        }
    }
}

static void init_fractions(struct gpume_steps *steps, enum gpume_surface surface)
{
    const struct gpume_plan *plan = &steps->shared->plan;
    struct gpume_fractions *fractions = &steps->fractions[surface];
    *fractions = (struct gpume_fractions){.steps = steps, .surface = surface};
    fractions->step = (struct gpume_step){.fn = fraction_item,
        .opaque = fractions,
        .pace = &steps->shared->paces.fractions,
        .count = (uint32_t)gpume_div_up(plan->padded_rows, GPUME_FRACTION_ROWS)};
}

/* --- box sums */

static void box_item(void *opaque, uint32_t item)
{
    const struct gpume_box_level *work = opaque;
    struct gpume_steps *steps = work->steps;
    const struct gpume_boxes *boxes = &steps->scratch->boxes;
    uint64_t start = steps->probing ? gpume_clock_thread_ns() : 0;
    uint32_t end = end_row(item, BOX_ROWS, gpume_boxes_rows(boxes, work->level));
    for (uint32_t row = item * BOX_ROWS;
         row < end && !gpume_is_cancelled(&steps->shared->cancelled); row++) {
        steps->shared->search->box_row(boxes, steps->summed, work->level, row);
    }
    if (steps->probing) {
        uint64_t before = work->level ? steps->box_ns[item] : 0;
        steps->box_ns[item] = before + gpume_clock_thread_ns() - start;
    }
}

static void init_boxes(struct gpume_steps *steps)
{
    const struct gpume_boxes *boxes = &steps->scratch->boxes;
    for (uint32_t i = 0; i < boxes->levels; i++) {
        steps->levels[i] = (struct gpume_box_level){steps, i};
        steps->boxes[i] = (struct gpume_step){.fn = box_item,
            .opaque = &steps->levels[i],
            .pace = &steps->shared->paces.boxes[i],
            .count = (uint32_t)gpume_div_up(gpume_boxes_rows(boxes, i), BOX_ROWS)};
    }
}

/* --- layers */

static struct gpume_span span_of(const struct gpume_layer_steps *layer, uint32_t item)
{
    const struct gpume_layer_division *division = layer->division;
    struct gpume_span span = {.row = item / division->per_row};
    span.first = item % division->per_row * division->blocks;
    span.end = gpume_min_u32(span.first + division->blocks, layer->searched.layer->blocks_x);
    return span;
}

/* The next blocks of a span that are wanted, after those of `run`. False: there are none. */
static bool next_run(
    const struct gpume_layer_steps *layer, const struct gpume_span *span, struct gpume_span *run)
{
    const size_t row = (size_t)span->row * layer->searched.layer->blocks_x;
    const unsigned char *wanted = layer->wanted ? layer->wanted + row : NULL;
    run->first = run->end;
    while (run->first < span->end && wanted && !wanted[run->first]) {
        run->first++;
    }
    run->end = wanted ? run->first : span->end;
    while (run->end < span->end && wanted[run->end]) {
        run->end++;
    }
    return run->first < span->end;
}

static void search_span_item(void *opaque, uint32_t index)
{
    struct gpume_layer_steps *layer = opaque;
    struct gpume_item *item = &layer->items[index];
    if (gpume_is_cancelled(&layer->shared->cancelled)) {
        return;
    }
    struct gpume_span span = span_of(layer, index);
    struct gpume_search_field field = layer->searched;
    if (!gpume_policy_eliminates(&layer->choice, index)) {
        field.boxes = NULL;
    }
    item->counts = (struct gpume_search_counts){0};
    uint64_t start = layer->choice.probing ? gpume_clock_thread_ns() : 0;
    for (struct gpume_span run = {.row = span.row, .end = span.first};
         next_run(layer, &span, &run);) {
        layer->shared->search->span(&field, &run, layer->vectors, layer->costs, &item->counts);
    }
    item->probe_ns = layer->choice.probing ? gpume_clock_thread_ns() - start : 0;
}

/* A separate step: measuring each span right after its search was 25 % slower. */
static void measure_span_item(void *opaque, uint32_t index)
{
    struct gpume_layer_steps *layer = opaque;
    struct gpume_span span = span_of(layer, index);
    if (!gpume_is_cancelled(&layer->shared->cancelled)) {
        layer->items[index].sums = gpume_measure_span(
            layer->shared->search, &layer->measured, &span, layer->vectors, layer->predicted);
    }
}

static void rank_layer_item(void *opaque, uint32_t item)
{
    struct gpume_layer_steps *layer = opaque;
    (void)item;
    if (!gpume_is_cancelled(&layer->shared->cancelled)) {
        const struct gpume_shape *shape = layer->searched.layer;
        gpume_host_rank(
            layer->costs, shape->blocks, shape->cost_bits, layer->ranks, layer->scratch->ranking);
    }
}

static void init_layer(struct gpume_steps *steps, uint32_t index)
{
    struct gpume_shared *shared = steps->shared;
    struct gpume_layer_steps *layer = &steps->layers[index];
    const struct gpume_shape *shape = &shared->plan.layers[index];
    layer->shared = shared;
    layer->division = &shared->divisions[index];
    layer->scratch = steps->scratch;
    layer->boxes = gpume_boxes_of_layer(&steps->scratch->boxes, shape);
    layer->searched = (struct gpume_search_field){
        .plan = &shared->plan, .layer = shape, .cancelled = &shared->cancelled};
    layer->measured = layer->searched;
    layer->vectors = steps->vectors + shape->first;
    layer->costs = steps->costs + shape->first;
    layer->ranks = steps->ranks ? steps->ranks + shape->first : NULL;
    layer->predicted = index == 0 ? steps->predicted : NULL;
    uint32_t items = layer->division->items;
    layer->search = (struct gpume_step){.fn = search_span_item,
        .opaque = layer,
        .pace = &shared->paces.search[index],
        .count = items};
    layer->rank = (struct gpume_step){.fn = rank_layer_item, .opaque = layer, .count = 1};
    layer->measure = (struct gpume_step){.fn = measure_span_item,
        .opaque = layer,
        .pace = &shared->paces.measure[index],
        .count = items};
}

static void init_general(struct gpume_steps *steps, struct gpume_allocations *memory)
{
    struct gpume_shared *shared = steps->shared;
    struct gpume_general *general = gpume_allocate(memory, 1, sizeof(*general));
    steps->general = general;
    if (general) {
        general->kernels = shared->search;
        general->cancelled = &shared->cancelled;
        general->scratch = steps->scratch->ranking;
        general->paces = shared->paces.general;
        general->whole_vectors = steps->vectors;
        general->whole_costs = steps->costs;
        gpume_general_init(general, &shared->plan, memory);
    }
}

static void init_fast(struct gpume_steps *steps, struct gpume_allocations *memory)
{
    const struct gpume_plan *plan = &steps->shared->plan;
    const uint64_t box_items = gpume_div_up(plan->padded_rows, BOX_ROWS);
    steps->layers = gpume_allocate(memory, plan->layer_count, sizeof(*steps->layers));
    steps->vectors = gpume_allocate(memory, plan->blocks, sizeof(*steps->vectors));
    steps->costs = gpume_allocate(memory, plan->blocks, sizeof(*steps->costs));
    steps->box_ns = gpume_allocate(memory, box_items, sizeof(*steps->box_ns));
    if (!plan->general) { /* else it has its own of these */
        steps->ranks = gpume_allocate(memory, plan->blocks, sizeof(*steps->ranks));
        steps->predicted =
            plan->params.want_predicted ? gpume_allocate(memory, plan->plane_bytes, 1) : NULL;
    }
    init_boxes(steps);
    for (uint32_t i = 0; !memory->failed && i < plan->layer_count; i++) {
        init_layer(steps, i);
        steps->layers[i].items = gpume_allocate(
            memory, steps->shared->divisions[i].items, sizeof(*steps->layers[i].items));
    }
}

void gpume_steps_init(struct gpume_steps *steps, struct gpume_shared *shared,
    struct gpume_scratch *scratch, struct gpume_allocations *memory)
{
    const struct gpume_plan *plan = &shared->plan;
    steps->shared = shared;
    steps->scratch = scratch;
    for (uint32_t i = 0; i < GPUME_SURFACE_COUNT; i++) {
        steps->make[i] = surface_step(steps, (enum gpume_surface)i, plan);
        init_fractions(steps, (enum gpume_surface)i);
    }
    steps->sum = (struct gpume_step){.fn = sum_item,
        .opaque = steps,
        .pace = &shared->paces.sum,
        .count = steps->fractions[0].step.count};
    if (gpume_plan_searches_fast(plan)) {
        init_fast(steps, memory);
    }
    if (plan->general) {
        init_general(steps, memory);
    }
}

struct gpume_item gpume_layer_total(const struct gpume_layer_steps *layer)
{
    struct gpume_item total = {0};
    for (uint32_t i = 0; i < layer->division->items; i++) {
        const struct gpume_item *item = &layer->items[i];
        gpume_measure_add(&total.sums, &item->sums);
        total.counts.candidates += item->counts.candidates;
        total.counts.past_blocks += item->counts.past_blocks;
        total.counts.past_parts += item->counts.past_parts;
    }
    return total;
}

struct gpume_probe gpume_steps_probe(const struct gpume_steps *steps, uint32_t index)
{
    const struct gpume_layer_steps *layer = &steps->layers[index];
    struct gpume_probe probe = {0};
    for (uint32_t i = 0; i < layer->division->items; i++) {
        bool eliminated = gpume_policy_eliminates(&layer->choice, i);
        probe.ns[eliminated] += layer->items[i].probe_ns;
        probe.items[eliminated]++;
    }
    for (uint32_t i = 0; i < steps->boxes[0].count; i++) {
        probe.box_ns += steps->box_ns[i];
    }
    probe.box_ns /= steps->shared->plan.layer_count;
    return probe;
}
