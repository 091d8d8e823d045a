/* SPDX-License-Identifier: BSD-2-Clause */
/* What a page shows of a run: its costliest blocks, the fields that get pictures, and the film. */
#include "report/report.h"

#include "base/base.h"
#include "report/shell.h"
#include "sinks/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the costliest blocks */

#define CROP_MIN 48u /* pixels of the video, to show enough of the surroundings */
#define SIDE_MAX 72u /* samples of a crop, across and down */

#define CELLS_MAX 129u       /* of a cost surface, across and down */
#define ASKED_BYTES 3000000u /* of surfaces of the block that was asked for */

void gpume_report_gallery_init(
    struct gpume_report_gallery *gallery, const struct gpume_run *run, bool with_crops)
{
    *gallery = (struct gpume_report_gallery){
        .width = run->params.width,
        .height = run->params.height,
        .bits = run->params.bits,
        .with_crops = with_crops,
        .params = run->params,
        .asked_x = run->asked->surface_x,
        .asked_y = run->asked->surface_y,
    };
    const struct gpume_params *p = &run->params;
    const uint32_t columns = 2 * p->window_x * p->subpel + 1,
                   rows = 2 * p->window_y * p->subpel + 1;
    const uint32_t larger = gpume_max_u32(columns, rows);
    if (with_crops && gpume_report_has_surfaces(run)) {
        gallery->step = (larger + CELLS_MAX - 1) / CELLS_MAX;
        gallery->cells_x = (columns + gallery->step - 1) / gallery->step;
        gallery->cells_y = (rows + gallery->step - 1) / gallery->step;
        gallery->with_asked = run->asked->with_surface;
    }
}

/* The least cost of the displacements of a cell. */
static uint32_t cell(const struct gpume_report_gallery *gallery, uint32_t x, uint32_t y)
{
    const struct gpume_params *p = &gallery->params;
    const uint32_t columns = 2 * p->window_x * p->subpel + 1,
                   rows = 2 * p->window_y * p->subpel + 1;
    const uint32_t right = gpume_min_u32((x + 1) * gallery->step, columns);
    const uint32_t bottom = gpume_min_u32((y + 1) * gallery->step, rows);
    uint32_t least = GPUME_NONE;
    for (uint32_t row = y * gallery->step; row < bottom; row++) {
        for (uint32_t column = x * gallery->step; column < right; column++) {
            least = gpume_min_u32(least, gallery->costs[(size_t)row * columns + column]);
        }
    }
    return least;
}

/* Appends the cells of a block's surface. */
static int take_surface(struct gpume_report_gallery *gallery, struct gpume_bytes *surface,
    const struct gpume_field *field, const struct gpume_shown *shown)
{
    const struct gpume_params *p = &gallery->params;
    const struct gpume_block_size shape = {shown->layer->block_w, shown->layer->block_h};
    const size_t columns = 2 * (size_t)p->window_x * p->subpel + 1;
    const size_t rows = 2 * (size_t)p->window_y * p->subpel + 1;
    gallery->costs = gallery->costs ? gallery->costs : malloc(columns * rows * sizeof(uint32_t));
    if (!gallery->costs) {
        return GPUME_NOMEM;
    }
    const int status = gpume_surface(
        p, &field->target, &field->reference, &shape, shown->x, shown->y, gallery->costs);
    for (uint32_t i = 0; i < gallery->cells_x * gallery->cells_y && status == GPUME_OK; i++) {
        const uint32_t least = cell(gallery, i % gallery->cells_x, i / gallery->cells_x);
        gpume_bytes_number(surface, least == GPUME_NONE ? 0 : (uint64_t)least + 1);
    }
    return surface->failed ? GPUME_NOMEM : status;
}

/* The surfaces of the first fields, as far as there is room. */
static int take_asked(struct gpume_report_gallery *gallery, const struct gpume_field *field)
{
    const struct gpume_shown shown = gpume_shown_holding(field, gallery->asked_x, gallery->asked_y);
    gpume_bytes_number(&gallery->asked, field->frame);
    gpume_bytes_number(&gallery->asked, field->ref > field->frame);
    gpume_bytes_number(&gallery->asked, shown.x);
    gpume_bytes_number(&gallery->asked, shown.y);
    const int status = take_surface(gallery, &gallery->asked, field, &shown);
    gallery->with_asked = gallery->asked.count < ASKED_BYTES;
    return status;
}

/* Crops are squares of three times the longer side of a block. */
static void size_crops(struct gpume_report_gallery *gallery, const struct gpume_layer *layer)
{
    const uint32_t longer = gpume_max_u32(layer->block_w, layer->block_h);
    const uint32_t side = gpume_max_u32(3 * longer, CROP_MIN);
    const uint32_t scale = (side + SIDE_MAX - 1) / SIDE_MAX;
    gallery->crop_width = gpume_min_u32(side, gallery->width);
    gallery->crop_height = gpume_min_u32(side, gallery->height);
    gallery->scale = scale;
    gallery->columns = (gallery->crop_width + scale - 1) / scale;
    gallery->rows = (gallery->crop_height + scale - 1) / scale;
}

/* One sample of each crop: the mean of a square, of which the upper 8 bits are kept. */
static void take_sample(const struct gpume_report_gallery *gallery,
    const struct gpume_report_block *block, const struct gpume_field *field, uint32_t column,
    uint32_t row)
{
    const uint32_t left = block->left + column * gallery->scale;
    const uint32_t top = block->top + row * gallery->scale;
    const uint32_t right = gpume_min_u32(left + gallery->scale, block->left + gallery->crop_width);
    const uint32_t bottom = gpume_min_u32(top + gallery->scale, block->top + gallery->crop_height);
    uint32_t sums[GPUME_REPORT_CROPS] = {0};
    for (uint32_t y = top; y < bottom; y++) {
        for (uint32_t x = left; x < right; x++) {
            const uint32_t target = gpume_plane_sample(&field->target, x, y);
            const uint32_t predicted = gpume_plane_sample(&field->predicted, x, y);
            sums[GPUME_REPORT_CROP_TARGET] += target;
            sums[GPUME_REPORT_CROP_PREDICTED] += predicted;
            sums[GPUME_REPORT_CROP_RESIDUAL] +=
                target > predicted ? target - predicted : predicted - target;
        }
    }
    const uint32_t samples = (right - left) * (bottom - top);
    const size_t at = (size_t)row * gallery->columns + column;
    for (size_t i = 0; i < GPUME_REPORT_CROPS; i++) {
        const uint32_t mean = sums[i] / samples >> (gallery->bits - 8);
        block->crops[i * gallery->columns * gallery->rows + at] =
            (unsigned char)(mean < 255 ? mean : 255);
    }
}

/* Where a crop starts whose middle is that of the block, moved to lie inside the picture. */
static uint32_t crop_start(uint32_t at, uint32_t side, uint32_t crop, uint32_t whole)
{
    const uint32_t middle = at + side / 2;
    const uint32_t start = middle > crop / 2 ? middle - crop / 2 : 0;
    return gpume_min_u32(start, whole - crop);
}

static int fill(struct gpume_report_gallery *gallery, struct gpume_report_block *block,
    const struct gpume_field *field, const struct gpume_shown *shown)
{
    unsigned char *const crops = block->crops;
    const struct gpume_bytes surface = block->surface;
    const struct gpume_layer *layer = shown->layer;
    const uint32_t x = shown->x, y = shown->y;
    *block = (struct gpume_report_block){
        .frame = field->frame,
        .ref = field->ref,
        .x = x,
        .y = y,
        .width = gpume_min_u32(layer->block_w, gallery->width - x),
        .height = gpume_min_u32(layer->block_h, gallery->height - y),
        .vector = layer->vectors[shown->index],
        .units = field->vector_units > 0 ? field->vector_units : 1,
        .cost = layer->costs[shown->index],
        .rank = shown->rank,
        .left = crop_start(x, layer->block_w, gallery->crop_width, gallery->width),
        .top = crop_start(y, layer->block_h, gallery->crop_height, gallery->height),
        .crops = crops,
        .surface = surface,
    };
    if (!gallery->with_crops) {
        return GPUME_OK;
    }
    const size_t bytes = (size_t)gallery->columns * gallery->rows * GPUME_REPORT_CROPS;
    block->crops = crops ? crops : malloc(bytes);
    if (!block->crops) {
        return GPUME_NOMEM;
    }
    for (uint32_t row = 0; row < gallery->rows; row++) {
        for (uint32_t column = 0; column < gallery->columns; column++) {
            take_sample(gallery, block, field, column, row);
        }
    }
    gpume_bytes_clear(&block->surface);
    return gallery->step > 0 ? take_surface(gallery, &block->surface, field, shown) : GPUME_OK;
}

/* By decreasing cost; equal costs stay in the order of arrival. */
static int insert(
    struct gpume_report_gallery *gallery, const struct gpume_field *field, uint64_t index)
{
    const struct gpume_shown shown = gpume_shown_at(field, index);
    const uint32_t cost = shown.layer->costs[shown.index];
    size_t place = gallery->count;
    while (place > 0 && gallery->blocks[place - 1].cost < cost) {
        place--;
    }
    if (place == GPUME_REPORT_GALLERY || cost == 0) {
        return GPUME_OK;
    }
    struct gpume_report_block block = {0};
    if (gallery->count == GPUME_REPORT_GALLERY) {
        block = gallery->blocks[--gallery->count]; /* its memory is used again */
    }
    memmove(&gallery->blocks[place + 1], &gallery->blocks[place],
        (gallery->count - place) * sizeof(block));
    gallery->count++;
    const int status = fill(gallery, &block, field, &shown);
    gallery->blocks[place] = block;
    return status;
}

int gpume_report_gallery_add(struct gpume_report_gallery *gallery, const struct gpume_field *field)
{
    const struct gpume_layer *layer = field->layers[0];
    const uint64_t blocks = gpume_shown_count(field);
    uint64_t costliest[GPUME_REPORT_GALLERY_OF] = {0};
    for (uint64_t i = 0; i < blocks; i++) {
        const uint32_t rank = field->part_count > 0 ? field->parts[i].rank : layer->ranks[i];
        if (rank < GPUME_REPORT_GALLERY_OF) {
            costliest[rank] = i;
        }
    }
    if (gallery->scale == 0) {
        size_crops(gallery, layer);
    }
    int status = gallery->with_asked ? take_asked(gallery, field) : GPUME_OK;
    for (size_t i = 0; i < GPUME_REPORT_GALLERY_OF && i < blocks && status == GPUME_OK; i++) {
        status = insert(gallery, field, costliest[i]);
    }
    return status;
}

static void put_crops(const struct gpume_report_gallery *gallery,
    const struct gpume_report_block *block, struct gpume_json *json)
{
    static const char *const names[GPUME_REPORT_CROPS] = {"target", "predicted", "residual"};
    const size_t bytes = (size_t)gallery->columns * gallery->rows;
    gpume_json_count(json, "left", block->left);
    gpume_json_count(json, "top", block->top);
    for (size_t i = 0; i < GPUME_REPORT_CROPS; i++) {
        gpume_json_base64(json, names[i], block->crops + i * bytes, bytes);
    }
}

static void put_pixels(struct gpume_json *json, const char *key, int32_t value, uint32_t units)
{
    char digits[16];
    snprintf(digits, sizeof(digits), "%.8g", (double)value / units);
    gpume_json_digits(json, key, digits);
}

void gpume_report_gallery_put(const struct gpume_report_gallery *gallery, struct gpume_json *json)
{
    gpume_json_begin_list(json, "costliest");
    for (size_t i = 0; i < gallery->count; i++) {
        const struct gpume_report_block *block = &gallery->blocks[i];
        gpume_json_begin(json, NULL);
        gpume_json_count(json, "frame", block->frame);
        gpume_json_count(json, "ref", block->ref);
        gpume_json_count(json, "x", block->x);
        gpume_json_count(json, "y", block->y);
        gpume_json_count(json, "w", block->width);
        gpume_json_count(json, "h", block->height);
        put_pixels(json, "dx", block->vector.dx, block->units);
        put_pixels(json, "dy", block->vector.dy, block->units);
        gpume_json_count(json, "cost", block->cost);
        gpume_json_count(json, "rank", block->rank);
        if (gallery->with_crops) {
            put_crops(gallery, block, json);
            if (gallery->step > 0) {
                gpume_json_base64(json, "surface", block->surface.data, block->surface.count);
            }
        }
        gpume_json_end(json);
    }
    gpume_json_end_list(json);
}

void gpume_report_gallery_put_surfaces(
    const struct gpume_report_gallery *gallery, struct gpume_json *json)
{
    gpume_json_begin(json, "surfaces");
    gpume_json_count(json, "step", gallery->step);
    gpume_json_count(json, "columns", gallery->cells_x);
    gpume_json_count(json, "rows", gallery->cells_y);
    gpume_json_base64(json, "asked", gallery->asked.data, gallery->asked.count);
    gpume_json_end(json);
}

uint64_t gpume_report_gallery_surface_bytes(const struct gpume_report_gallery *gallery)
{
    uint64_t bytes = gpume_base64_length(gallery->asked.count);
    for (size_t i = 0; i < gallery->count; i++) {
        bytes += gpume_base64_length(gallery->blocks[i].surface.count);
    }
    return bytes;
}

void gpume_report_gallery_finish(struct gpume_report_gallery *gallery)
{
    for (size_t i = 0; i < gallery->count; i++) {
        free(gallery->blocks[i].crops);
        gpume_bytes_finish(&gallery->blocks[i].surface);
    }
    gpume_bytes_finish(&gallery->asked);
    free(gallery->costs);
    gallery->costs = NULL;
    gallery->count = 0;
}

/* --- the fields that get pictures */

#define GOLDEN UINT64_C(11400714819323198485) /* 2^64 / golden ratio, to the nearest odd number */

/* At most one field per group is kept as the worst, since neighbours look alike. Long runs have
 * larger groups, so that one scene cannot take all pictures. */
#define NEIGHBOURS_MIN 16u
#define GROUPS 64u

/* The liveliest field is taken as this one, in place of the second of the worst order. So one
 * picture is of the first field, two are of the worst as well, and spread ones are as many. */
#define LIVELIEST 4u

/* Luma and change of the liveliest field of large frames: the most bytes of a plane, which a PNG
 * has to reduce to half, and the most bytes in the page. */
#define LIVELIEST_PLANE UINT64_C(12000000)
#define LIVELIEST_BYTES UINT64_C(6000000)

/* The elements of a page around a set, and its entry in the list of sets. */
#define AROUND_BYTES 320u

/* A key below which at least `wanted` of the first `numbers` fields lie, and few more. The number
 * of keys below a limit differs from its expectation by less than 1 + log2(numbers) / 4, the
 * discrepancy of the golden ratio. */
static uint64_t key_below(uint64_t wanted, uint64_t numbers)
{
    uint64_t discrepancy = 1;
    for (uint64_t n = numbers; n > 1; n /= 16) {
        discrepancy++;
    }
    const uint64_t safe = wanted + discrepancy;
    return numbers > safe ? UINT64_MAX / numbers * safe : UINT64_MAX;
}

int gpume_report_picks_init(struct gpume_report_picks *picks, const char *label,
    const struct gpume_run *run, uint32_t pictures, uint64_t bytes_max)
{
    const uint64_t targets = gpume_report_is_both(&run->params) && run->expected > 0
                                 ? run->expected / 2 + run->params.ref_distance
                                 : run->expected;
    const uint64_t group = targets / GROUPS;
    *picks = (struct gpume_report_picks){
        .params = &run->params,
        .bytes_max = bytes_max,
        .pictures = pictures,
        .spread_max = pictures,
        .worst_max = pictures / 2,
        .neighbours = group > NEIGHBOURS_MIN ? group : NEIGHBOURS_MIN,
        /* If the container knows the length, few pictures are encoded only to be dropped. */
        .key_end = key_below(pictures, targets),
    };
    /* One more per order until it is trimmed, the leader of the group, and the liveliest. */
    picks->picks = calloc(picks->spread_max + picks->worst_max + 4, sizeof(*picks->picks));
    if (!picks->picks) {
        return gpume_log_nomem(&run->log, label);
    }
    const int status = gpume_report_encoder_open(&picks->encoder, label, run, GPUME_REPORT_WHOLE);
    return status == GPUME_OK && !gpume_report_encoder_exact(picks->encoder) &&
                   gpume_report_wants_exact(run, LIVELIEST_PLANE)
               ? gpume_report_encoder_open(&picks->lively_encoder, label, run, GPUME_REPORT_ALL)
               : status;
}

/* Of equals the earlier one is worse. */
static bool is_worse(const struct gpume_report_rating *a, const struct gpume_report_rating *b)
{
    return a->cut != b->cut               ? a->cut
           : a->sse_after != b->sse_after ? a->sse_after > b->sse_after
                                          : a->frame < b->frame;
}

/* Whether a precedes b in that order. */
static bool precedes(const struct gpume_report_pick *a, const struct gpume_report_pick *b,
    enum gpume_report_reason order)
{
    return order == GPUME_REPORT_SPREAD ? a->key < b->key
                                        : is_worse(&a->set.rating, &b->set.rating);
}

/* Takes reasons away. A pick without any is released, and the last one moves to its place. */
static void drop(struct gpume_report_picks *picks, size_t index, unsigned reasons)
{
    struct gpume_report_pick *pick = &picks->picks[index];
    pick->reasons &= ~reasons;
    if (pick->reasons == 0) {
        gpume_report_set_finish(&pick->set);
        *pick = picks->picks[--picks->count];
        picks->picks[picks->count] = (struct gpume_report_pick){0};
    }
}

static void remember_refused(struct gpume_report_picks *picks, const struct gpume_report_pick *pick,
    enum gpume_report_reason order)
{
    if (order == GPUME_REPORT_SPREAD) {
        picks->key_end = pick->key < picks->key_end ? pick->key : picks->key_end;
    } else if (!picks->has_refused || is_worse(&pick->set.rating, &picks->refused)) {
        picks->has_refused = true;
        picks->refused = pick->set.rating;
    }
}

/* Drops the last picks of an order while there are more than `most`, or too many bytes. Fields that
 * come after a dropped one in the order are refused from then on. */
static void trim(struct gpume_report_picks *picks, enum gpume_report_reason order, size_t most)
{
    for (;;) {
        size_t count = 0, last = 0;
        uint64_t bytes = 0;
        for (size_t i = 0; i < picks->count; i++) {
            const struct gpume_report_pick *pick = &picks->picks[i];
            if (pick->reasons & (unsigned)order) {
                last = count == 0 || precedes(&picks->picks[last], pick, order) ? i : last;
                bytes += gpume_report_set_bytes(&pick->set);
                count++;
            }
        }
        if (count == 0 || (count <= most && bytes <= picks->bytes_max)) {
            return;
        }
        remember_refused(picks, &picks->picks[last], order);
        drop(picks, last, (unsigned)order);
    }
}

static int make_pick(struct gpume_report_picks *picks, struct gpume_report_draft *draft,
    uint64_t index, unsigned reasons)
{
    struct gpume_report_pick *pick = &picks->picks[picks->count];
    const int status = gpume_report_set_make(&pick->set, picks->encoder, draft);
    if (status == GPUME_OK) {
        pick->key = index * GOLDEN;
        pick->reasons = reasons;
        picks->count++;
    }
    return status;
}

static struct gpume_report_encoder *encoder_of_liveliest(struct gpume_report_picks *picks)
{
    return picks->lively_encoder ? picks->lively_encoder : picks->encoder;
}

/* The liveliest field becomes a pick; if it is one already, with luma and change. */
static int close_liveliest(struct gpume_report_picks *picks)
{
    size_t i = 0;
    while (i < picks->count && picks->picks[i].set.rating.frame != picks->lively.rating.frame) {
        i++;
    }
    if (!picks->lively.full) {
        return GPUME_OK;
    }
    struct gpume_report_pick *pick = &picks->picks[i];
    const int status =
        gpume_report_set_make(&pick->set, encoder_of_liveliest(picks), &picks->lively);
    if (status != GPUME_OK) {
        return status;
    }
    if (i == picks->count) {
        picks->count++;
        pick->key = picks->lively_index * GOLDEN;
    }
    pick->reasons |= GPUME_REPORT_LIVELIEST;
    uint64_t bytes = 0;
    for (size_t k = 0; k < GPUME_REPORT_SIDES; k++) {
        bytes += gpume_base64_length(pick->set.sides[k].pictures[GPUME_REPORT_LUMA].count) +
                 gpume_base64_length(pick->set.sides[k].pictures[GPUME_REPORT_CHANGE].count);
    }
    for (size_t k = 0; k < GPUME_REPORT_SIDES && picks->lively_encoder; k++) {
        if (bytes > LIVELIEST_BYTES) {
            gpume_bytes_finish(&pick->set.sides[k].pictures[GPUME_REPORT_LUMA]);
            gpume_bytes_finish(&pick->set.sides[k].pictures[GPUME_REPORT_CHANGE]);
        }
    }
    return GPUME_OK;
}

/* The index of the leader of the group, or count if it has not been encoded. */
static size_t find_leader(const struct gpume_report_picks *picks)
{
    size_t i = 0;
    while (i < picks->count && !(picks->picks[i].reasons & GPUME_REPORT_LEADS)) {
        i++;
    }
    return i;
}

/* The group is complete: its leader enters the worst order. */
static int close_group(struct gpume_report_picks *picks)
{
    const size_t leader = find_leader(picks);
    if (leader < picks->count) {
        picks->picks[leader].reasons |= GPUME_REPORT_WORST;
        drop(picks, leader, GPUME_REPORT_LEADS);
    } else if (picks->draft.full) {
        const int status = make_pick(picks, &picks->draft, picks->draft_index, GPUME_REPORT_WORST);
        if (status != GPUME_OK) {
            return status;
        }
    }
    trim(picks, GPUME_REPORT_WORST, picks->worst_max);
    return GPUME_OK;
}

/* Whether a field is worse than the rest of its group so far, and than any that was refused. */
static bool leads(const struct gpume_report_picks *picks, const struct gpume_report_rating *rating)
{
    const size_t leader = find_leader(picks);
    if (picks->worst_max == 0 || (picks->has_refused && !is_worse(rating, &picks->refused))) {
        return false;
    }
    if (leader < picks->count) {
        return is_worse(rating, &picks->picks[leader].set.rating);
    }
    return !picks->draft.full || is_worse(rating, &picks->draft.rating);
}

int gpume_report_picks_add(
    struct gpume_report_picks *picks, const struct gpume_field *field, bool cut, bool liveliest)
{
    int status = GPUME_OK;
    const uint64_t index = picks->fields++;
    if (liveliest && picks->pictures >= LIVELIEST) {
        GPUME_TRY(gpume_report_draft_take(&picks->lively, encoder_of_liveliest(picks), field, cut));
        picks->lively_index = index;
    }
    if (index % picks->neighbours == 0) {
        GPUME_TRY(close_group(picks));
    }
    const struct gpume_report_rating rating = {field->frame, cut, field->sums.sse_after};
    const bool is_leader = leads(picks, &rating);
    if (is_leader) {
        const size_t leader = find_leader(picks);
        picks->draft.full = false;
        if (leader < picks->count) {
            drop(picks, leader, GPUME_REPORT_LEADS);
        }
    }
    if (index * GOLDEN < picks->key_end) {
        GPUME_TRY(gpume_report_draft_take(&picks->spare, picks->encoder, field, cut));
        GPUME_TRY(make_pick(picks, &picks->spare, index,
            GPUME_REPORT_SPREAD | (is_leader ? (unsigned)GPUME_REPORT_LEADS : 0)));
        trim(picks, GPUME_REPORT_SPREAD, picks->spread_max);
    } else if (is_leader) {
        GPUME_TRY(gpume_report_draft_take(&picks->draft, picks->encoder, field, cut));
        picks->draft_index = index;
    }
fail:
    return status;
}

int gpume_report_picks_add_second(struct gpume_report_picks *picks, const struct gpume_field *field)
{
    int status = GPUME_OK;
    if (picks->draft.full && picks->draft.rating.frame == field->frame) {
        GPUME_TRY(gpume_report_draft_add(&picks->draft, picks->encoder, field));
    }
    if (picks->lively.full && picks->lively.rating.frame == field->frame) {
        GPUME_TRY(gpume_report_draft_add(&picks->lively, encoder_of_liveliest(picks), field));
    }
    for (size_t i = 0; i < picks->count; i++) {
        struct gpume_report_set *set = &picks->picks[i].set;
        if (set->rating.frame == field->frame) {
            GPUME_TRY(gpume_report_set_add(set, &picks->spare, picks->encoder, field));
        }
    }
fail:
    return status;
}

/* The first pick of an order, not before index `from`; count if there is none. */
static size_t find_first(
    const struct gpume_report_picks *picks, size_t from, enum gpume_report_reason order)
{
    size_t first = picks->count;
    for (size_t i = from; i < picks->count; i++) {
        const struct gpume_report_pick *pick = &picks->picks[i];
        if (pick->reasons & (unsigned)order &&
            (first == picks->count || precedes(pick, &picks->picks[first], order))) {
            first = i;
        }
    }
    return first;
}

static void swap(struct gpume_report_pick *a, struct gpume_report_pick *b)
{
    const struct gpume_report_pick kept = *a;
    *a = *b;
    *b = kept;
}

/* The bytes of luma that a set does not need if that of its reference, or the one whose reference
 * it is, is in the page as well. */
static uint64_t luma_spared(const struct gpume_report_picks *picks,
    const struct gpume_report_set *before, const struct gpume_report_set *set)
{
    const bool next = before->rating.frame + picks->params->ref_distance == set->rating.frame;
    return next && before->sides[0].pictures[GPUME_REPORT_CHANGE].count > 0 &&
                   !gpume_report_is_key(picks->params, set->rating.frame)
               ? gpume_base64_length(set->sides[0].pictures[GPUME_REPORT_LUMA].count)
               : 0;
}

/* What the set adds to the bytes of those that are chosen. */
static uint64_t bytes_added(
    const struct gpume_report_picks *picks, size_t chosen, const struct gpume_report_set *set)
{
    uint64_t bytes = gpume_report_set_bytes(set);
    for (size_t i = 0; i < chosen; i++) {
        const struct gpume_report_set *other = &picks->picks[i].set;
        bytes -= luma_spared(picks, other, set) + luma_spared(picks, set, other);
    }
    return bytes;
}

static void drop_spared(struct gpume_report_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++) {
        for (size_t k = 0; k < picks->count; k++) {
            struct gpume_report_set *set = &picks->picks[i].set;
            if (luma_spared(picks, &picks->picks[k].set, set) > 0) {
                gpume_bytes_finish(&set->sides[0].pictures[GPUME_REPORT_LUMA]);
            }
        }
    }
}

/* What the film's set of that frame takes in the page. */
static uint64_t film_bytes(const struct gpume_report_film *film, uint64_t frame)
{
    for (size_t i = 0; film && i < film->count; i++) {
        if (film->sets[i].rating.frame == frame) {
            return gpume_report_set_bytes(&film->sets[i]) + AROUND_BYTES;
        }
    }
    return 0;
}

/* Moves the picks that stay to the front and returns their number. */
static size_t choose(
    struct gpume_report_picks *picks, const struct gpume_report_film *film, uint64_t bytes_max)
{
    uint64_t bytes = film ? film->bytes : 0;
    size_t chosen = 0;
    enum gpume_report_reason order = GPUME_REPORT_SPREAD;
    while (chosen < picks->count && chosen < picks->pictures) {
        size_t next = chosen + 1 == LIVELIEST ? find_first(picks, chosen, GPUME_REPORT_LIVELIEST)
                                              : picks->count;
        next = next < picks->count ? next : find_first(picks, chosen, order);
        next = next < picks->count ? next : find_first(picks, chosen, GPUME_REPORT_SPREAD);
        next = next < picks->count ? next : find_first(picks, chosen, GPUME_REPORT_WORST);
        const struct gpume_report_set *set = &picks->picks[next].set;
        bytes += bytes_added(picks, chosen, set); /* modulo 2^64, as is the next */
        bytes -= film_bytes(film, set->rating.frame);
        if (bytes > bytes_max) {
            break;
        }
        swap(&picks->picks[chosen++], &picks->picks[next]);
        order = order == GPUME_REPORT_SPREAD ? GPUME_REPORT_WORST : GPUME_REPORT_SPREAD;
    }
    return chosen;
}

static int by_frame(const void *a, const void *b)
{
    const uint64_t left = ((const struct gpume_report_pick *)a)->set.rating.frame;
    const uint64_t right = ((const struct gpume_report_pick *)b)->set.rating.frame;
    return left < right ? -1 : left > right;
}

int gpume_report_picks_complete(
    struct gpume_report_picks *picks, const struct gpume_report_film *film, uint64_t bytes_max)
{
    int status = close_group(picks);
    status = status ? status : close_liveliest(picks);
    const size_t chosen = choose(picks, film, bytes_max);
    while (picks->count > chosen) {
        drop(picks, picks->count - 1, picks->picks[picks->count - 1].reasons);
    }
    drop_spared(picks);
    qsort(picks->picks, picks->count, sizeof(*picks->picks), by_frame);
    return status;
}

void gpume_report_picks_finish(struct gpume_report_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++) {
        gpume_report_set_finish(&picks->picks[i].set);
    }
    free(picks->picks);
    gpume_report_draft_finish(&picks->draft);
    gpume_report_draft_finish(&picks->spare);
    gpume_report_draft_finish(&picks->lively);
    gpume_report_encoder_close(&picks->encoder);
    gpume_report_encoder_close(&picks->lively_encoder);
    *picks = (struct gpume_report_picks){0};
}

/* --- the film */

int gpume_report_film_init(struct gpume_report_film *film, const char *label,
    const struct gpume_run *run, uint64_t bytes_max)
{
    *film = (struct gpume_report_film){
        .label = label, .log = run->log, .bytes_max = bytes_max, .step = 1};
    return gpume_report_encoder_open(&film->encoder, label, run, GPUME_REPORT_FILM);
}

/* Keeps every second set, until the rest takes at most bytes_max. */
static void thin_film(struct gpume_report_film *film, uint64_t bytes_max)
{
    while (film->count > 1 && film->bytes > bytes_max) {
        size_t kept = 0;
        film->bytes = 0;
        for (size_t i = 0; i < film->count; i++) {
            struct gpume_report_set *set = &film->sets[i];
            if (i % 2 == 1) {
                gpume_report_set_finish(set);
            } else {
                film->bytes += gpume_report_set_bytes(set) + AROUND_BYTES;
                film->sets[kept++] = *set;
            }
        }
        film->count = kept;
        film->step *= 2;
    }
}

int gpume_report_film_add(struct gpume_report_film *film, const struct gpume_field *field)
{
    int status = GPUME_OK;
    if (film->fields++ % film->step != 0) {
        return GPUME_OK;
    }
    struct gpume_report_set *sets = gpume_grow(film->sets, film->count, &film->room, sizeof(*sets));
    if (!sets) {
        return gpume_log_nomem(&film->log, film->label);
    }
    film->sets = sets;
    GPUME_TRY(gpume_report_draft_take(&film->draft, film->encoder, field, false));
    film->sets[film->count] = (struct gpume_report_set){0};
    GPUME_TRY(gpume_report_set_make(&film->sets[film->count], film->encoder, &film->draft));
    film->bytes += gpume_report_set_bytes(&film->sets[film->count++]) + AROUND_BYTES;
    thin_film(film, film->bytes_max);
fail:
    return status;
}

int gpume_report_film_add_second(struct gpume_report_film *film, const struct gpume_field *field)
{
    struct gpume_report_set *last = film->count > 0 ? &film->sets[film->count - 1] : NULL;
    if (!last || last->rating.frame != field->frame) {
        return GPUME_OK;
    }
    film->bytes -= gpume_report_set_bytes(last);
    const int status = gpume_report_set_add(last, &film->draft, film->encoder, field);
    film->bytes += gpume_report_set_bytes(last);
    thin_film(film, film->bytes_max);
    return status;
}

void gpume_report_film_complete(struct gpume_report_film *film, uint64_t bytes_max)
{
    thin_film(film, bytes_max);
}

void gpume_report_film_finish(struct gpume_report_film *film)
{
    for (size_t i = 0; i < film->count; i++) {
        gpume_report_set_finish(&film->sets[i]);
    }
    free(film->sets);
    gpume_report_draft_finish(&film->draft);
    gpume_report_encoder_close(&film->encoder);
    *film = (struct gpume_report_film){0};
}
