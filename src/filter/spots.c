/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three pictures are kept: before, the one that is cleaned, after. Its luma is predicted from both
 * others by a search of large blocks, which a spot does not lead astray. What follows is decided by
 * luma alone, on work samples of up to 10 bits:
 *
 *     alike    whether both others show the same scene
 *     mark     samples that contradict both, where these agree
 *     regions  marked samples that touch each other; each is a spot, or is kept:
 *              what surrounds it fits no better, or it is found elsewhere in a neighbour
 *     replace  by the mean of both predictions, luma and the chroma beside it
 *
 * Several threads decide about cells, errors and marks, each for some of the rows; one gathers the
 * regions and replaces.
 */
#include "base/base.h"
#include "base/workers.h"
#include "filter/chroma_taps.h"
#include "filter/temporal.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PLANES GPUME_FILTER_PLANES
#define BLOCK GPUME_SPOTS_BLOCK
#define KEPT 3u
#define PART 16u /* samples of a side: where both predictions have to agree on the whole */
#define CELL 8u  /* the same: whose means say whether two pictures are of one scene */
#define SIDE GPUME_SPOTS_BLOCK /* samples of a side of the largest spot */
#define REACH 16               /* samples, in which what moves is looked for */
#define RING 2u                /* samples around a spot that have to fit, .. */
#define MARGIN 1u              /* .. and that are looked for together with it */
#define LEVELS 256u
#define PIECE 256u /* columns that are added up at a time; whole cells and parts */

/* Steps of 8 bits, to which the usual error of the picture is added. */
#define AGREE 32u              /* that both predictions may differ by, in a sample, .. */
#define AGREE_ON_THE_WHOLE 24u /* .. and on average */
#define WEAK 6u                /* beyond both predictions, with half of that error */
#define STRONG 14u             /* beyond all samples around the place in both */

/* What a sample is marked with. */
#define BRIGHT 1u
#define DARK 2u
#define SIGN 3u
#define SURE 4u
#define SEEN 8u

/* A picture as it came. */
struct picture {
    uint8_t *bytes[PLANES];
    uint16_t *luma;
    int64_t time_us;
};

/* Luma of the picture that is cleaned, as another one predicts it. */
struct guess {
    uint16_t *luma;
    struct gpume_vector *vectors;
};

struct box {
    uint32_t left, top, right, bottom; /* its last column and row, too */
};

struct gpume_spots {
    struct gpume_filter_params params;
    gpume *search;
    struct gpume_bands bands;
    uint32_t blocks_x, parts_x, parts_y;
    uint32_t shift; /* to work samples */
    uint32_t steps; /* log2 of work samples in a step of 8 bits */
    uint64_t put;   /* pictures; i is at i % KEPT */
    struct picture pictures[KEPT];
    struct guess guesses[2];    /* from the picture before, from that after */
    uint16_t *cells;            /* sums of the cells of the picture */
    uint8_t *marks;             /* of samples of luma */
    bool *has_sure;             /* of rows: whether one of their samples is sure */
    bool *agrees;               /* of parts */
    uint32_t *region, *waiting; /* samples of a region; those whose neighbours are not seen yet */
    /* of the picture that is cleaned */
    const struct picture *own, *others[2];
    atomic_uint_fast64_t sum;                /* of the cells */
    atomic_uint_fast64_t texture, unlike[2]; /* of the cells: of what they differ by */
    atomic_uint_fast32_t levels[LEVELS];     /* samples, by their error in steps */
    uint32_t mean;                           /* M */
    uint32_t error;                          /* E */
    struct gpume_plane planes[PLANES];       /* the clean ones */
    struct gpume_spots_picture clean;
    bool ready;
};

/* --- memory */

static uint32_t samples_across(const struct gpume_spots *spots, uint32_t plane)
{
    const uint32_t shift = plane > 0 ? spots->params.chroma_x : 0;
    return (spots->params.width + shift) >> shift;
}

static uint32_t samples_down(const struct gpume_spots *spots, uint32_t plane)
{
    const uint32_t shift = plane > 0 ? spots->params.chroma_y : 0;
    return (spots->params.height + shift) >> shift;
}

static size_t row_bytes(const struct gpume_spots *spots, uint32_t plane)
{
    return (size_t)samples_across(spots, plane) * (spots->params.bits > 8 ? 2 : 1);
}

static bool open_spot_memory(struct gpume_spots *spots)
{
    const size_t luma = (size_t)spots->params.width * spots->params.height;
    const size_t blocks = spots->blocks_x * gpume_div_up(spots->params.height, BLOCK);
    bool complete = true;
    for (uint32_t p = 0; p < spots->params.plane_count; p++) {
        const size_t bytes = row_bytes(spots, p) * samples_down(spots, p);
        for (uint32_t i = 0; i < KEPT; i++) {
            spots->pictures[i].bytes[p] = malloc(bytes);
            complete = complete && spots->pictures[i].bytes[p];
        }
        spots->planes[p] = (struct gpume_plane){.data = malloc(bytes),
            .stride = (ptrdiff_t)row_bytes(spots, p),
            .width = samples_across(spots, p),
            .height = samples_down(spots, p),
            .bits = spots->params.bits};
        complete = complete && spots->planes[p].data;
    }
    for (uint32_t i = 0; i < KEPT; i++) {
        spots->pictures[i].luma = malloc(luma * sizeof(uint16_t));
        complete = complete && spots->pictures[i].luma;
    }
    for (uint32_t i = 0; i < 2; i++) {
        spots->guesses[i].luma = malloc(luma * sizeof(uint16_t));
        spots->guesses[i].vectors = malloc(blocks * sizeof(struct gpume_vector));
        complete = complete && spots->guesses[i].luma && spots->guesses[i].vectors;
    }
    spots->cells = malloc(luma / (CELL * CELL) * sizeof *spots->cells + 1);
    spots->marks = malloc(luma);
    spots->has_sure = malloc(spots->params.height * sizeof *spots->has_sure);
    spots->agrees = malloc((size_t)spots->parts_x * spots->parts_y * sizeof *spots->agrees);
    spots->region = malloc(luma * sizeof *spots->region);
    spots->waiting = malloc(luma * sizeof *spots->waiting);
    return complete && spots->cells && spots->marks && spots->has_sure && spots->agrees &&
           spots->region && spots->waiting;
}

uint64_t gpume_spots_bytes(const struct gpume_filter_params *params)
{
    const struct gpume_spots shape = {.params = *params};
    const uint64_t luma = (uint64_t)params->width * params->height;
    const uint64_t blocks =
        gpume_div_up(params->width, BLOCK) * gpume_div_up(params->height, BLOCK);
    const uint64_t parts = gpume_div_up(params->width, PART) * gpume_div_up(params->height, PART);
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < params->plane_count; p++) {
        bytes += (uint64_t)row_bytes(&shape, p) * samples_down(&shape, p);
    }
    return (KEPT + 1) * bytes + luma * ((KEPT + 2) * sizeof(uint16_t) + 1 + 2 * sizeof(uint32_t)) +
           luma / (CELL * CELL) * sizeof(uint16_t) + params->height +
           2 * blocks * sizeof(struct gpume_vector) + parts;
}

int gpume_spots_open(struct gpume_spots **out, const struct gpume_filter_params *params,
    gpume *search, const struct gpume_log *log)
{
    struct gpume_spots *spots = calloc(1, sizeof(*spots));
    if (!spots) {
        return gpume_log_nomem(log, "finding spots");
    }
    spots->params = *params;
    spots->blocks_x = (uint32_t)gpume_div_up(params->width, BLOCK);
    spots->parts_x = (uint32_t)gpume_div_up(params->width, PART);
    spots->parts_y = (uint32_t)gpume_div_up(params->height, PART);
    spots->shift = params->bits > 10 ? params->bits - 10 : 0;
    spots->steps = params->bits - spots->shift - 8;
    if (!open_spot_memory(spots)) {
        gpume_spots_close(&spots);
        return gpume_log_nomem(log, "finding spots");
    }
    spots->search = search;
    spots->bands.threads = params->threads > 0 ? params->threads : gpume_workers_processors();
    *out = spots;
    return GPUME_OK;
}

void gpume_spots_close(struct gpume_spots **pointer)
{
    struct gpume_spots *spots = *pointer;
    *pointer = NULL;
    if (!spots) {
        return;
    }
    for (uint32_t i = 0; i < KEPT; i++) {
        for (uint32_t p = 0; p < PLANES; p++) {
            free(spots->pictures[i].bytes[p]);
        }
        free(spots->pictures[i].luma);
    }
    for (uint32_t p = 0; p < PLANES; p++) {
        free(spots->planes[p].data);
    }
    for (uint32_t i = 0; i < 2; i++) {
        free(spots->guesses[i].luma);
        free(spots->guesses[i].vectors);
    }
    gpume_bands_finish(&spots->bands);
    free(spots->cells);
    free(spots->marks);
    free(spots->has_sure);
    free(spots->agrees);
    free(spots->region);
    free(spots->waiting);
    free(spots);
}

/* --- pictures in */

/* To rows of 16-bit samples without gaps. */
static void widen(uint16_t *to, const struct gpume_plane *from)
{
    for (uint32_t y = 0; y < from->height; y++) {
        const uint8_t *row = gpume_temporal_row(from, y);
        uint16_t *samples = to + (size_t)y * from->width;
        if (from->bits > 8) {
            memcpy(samples, row, from->width * sizeof *samples);
            continue;
        }
        for (uint32_t x = 0; x < from->width; x++) {
            samples[x] = row[x];
        }
    }
}

bool gpume_spots_repeats(const struct gpume_spots *spots, const struct gpume_plane *planes)
{
    const struct picture *last = &spots->pictures[(spots->put - 1) % KEPT];
    bool same = true;
    for (uint32_t p = 0; p < spots->params.plane_count && same; p++) {
        const size_t bytes = row_bytes(spots, p);
        for (uint32_t y = 0; y < planes[p].height && same; y++) {
            same =
                memcmp(last->bytes[p] + y * bytes, gpume_temporal_row(&planes[p], y), bytes) == 0;
        }
    }
    return same;
}

/* --- what may be a spot */

static uint32_t difference(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* The sums of the work samples of `count` cells side by side, of a piece at most. Those of a column
 * are at most 8 * 1023, of a cell 64 * 1023 < 2^16. */
static void add_up_cells(
    const struct gpume_spots *spots, const uint16_t *luma, uint32_t count, uint16_t *sums)
{
    const uint32_t shift = spots->shift;
    uint16_t columns[PIECE] = {0};
    for (uint32_t y = 0; y < CELL; y++) {
        const uint16_t *samples = luma + (size_t)y * spots->params.width;
        for (uint32_t x = 0; x < count * CELL; x++) {
            columns[x] = (uint16_t)(columns[x] + (samples[x] >> shift));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sum = 0;
        for (uint32_t x = 0; x < CELL; x++) {
            sum += columns[i * CELL + x];
        }
        sums[i] = (uint16_t)sum;
    }
}

/* Of rows of cells, of the picture; there are below 2^26 cells. */
static void measure_scene(void *opaque, uint32_t begin, uint32_t end)
{
    struct gpume_spots *spots = opaque;
    const uint32_t across = spots->params.width / CELL;
    uint64_t sum = 0;
    for (uint32_t y = begin; y < end; y++) {
        const uint16_t *luma = spots->own->luma + (size_t)y * CELL * spots->params.width;
        uint16_t *cells = spots->cells + (size_t)y * across;
        for (uint32_t x = 0; x < across; x += PIECE / CELL) {
            add_up_cells(
                spots, luma + x * CELL, gpume_min_u32(across - x, PIECE / CELL), cells + x);
        }
        for (uint32_t x = 0; x < across; x++) {
            sum += cells[x];
        }
    }
    spots->sum += sum;
}

/* Of rows of cells, of both predictions beside the picture. */
static void compare_scenes(void *opaque, uint32_t begin, uint32_t end)
{
    struct gpume_spots *spots = opaque;
    const uint32_t across = spots->params.width / CELL;
    uint64_t texture = 0, unlike[2] = {0};
    for (uint32_t i = begin * across; i < end * across; i++) {
        texture += difference(spots->cells[i], spots->mean);
    }
    for (uint32_t y = begin; y < end; y++) {
        const size_t row = (size_t)y * CELL * spots->params.width;
        for (uint32_t x = 0; x < across; x += PIECE / CELL) {
            const uint32_t count = gpume_min_u32(across - x, PIECE / CELL);
            for (uint32_t k = 0; k < 2; k++) {
                uint16_t sums[PIECE / CELL];
                add_up_cells(spots, spots->guesses[k].luma + row + x * CELL, count, sums);
                for (uint32_t i = 0; i < count; i++) {
                    unlike[k] += difference(spots->cells[y * across + x + i], sums[i]);
                }
            }
        }
    }
    spots->texture += texture;
    spots->unlike[0] += unlike[0];
    spots->unlike[1] += unlike[1];
}

/* Whether both predictions are of the same scene, by their cells. Magnitudes count, not squares, of
 * which dirt would have too much. */
static bool are_alike(struct gpume_spots *spots)
{
    const uint32_t down = spots->params.height / CELL;
    const uint64_t count = (uint64_t)down * (spots->params.width / CELL);
    const size_t row_bytes = (size_t)CELL * spots->params.width * sizeof(uint16_t);
    spots->sum = spots->texture = spots->unlike[0] = spots->unlike[1] = 0;
    gpume_bands_run(&spots->bands, down, row_bytes, measure_scene, spots);
    spots->mean = count > 0 ? (uint32_t)(spots->sum / count) : 0;
    gpume_bands_run(&spots->bands, down, 2 * row_bytes, compare_scenes, spots);
    const uint64_t most = spots->texture + 16 * count * (CELL * CELL << spots->steps);
    return 8 * spots->unlike[0] <= most && 8 * spots->unlike[1] <= most;
}

/* How far a sample is from its predictions. */
static uint32_t error_at(const struct gpume_spots *spots, size_t at)
{
    const uint32_t own = spots->own->luma[at] >> spots->shift;
    return gpume_max_u32(difference(own, spots->guesses[0].luma[at] >> spots->shift),
        difference(own, spots->guesses[1].luma[at] >> spots->shift));
}

static void count_levels(void *opaque, uint32_t begin, uint32_t end)
{
    struct gpume_spots *spots = opaque;
    const size_t width = spots->params.width;
    uint32_t levels[LEVELS] = {0};
    for (size_t i = begin * width; i < end * width; i++) {
        levels[gpume_min_u32(error_at(spots, i) >> spots->steps, LEVELS - 1)]++;
    }
    for (uint32_t i = 0; i < LEVELS; i++) {
        spots->levels[i] += levels[i];
    }
}

/* E: the error that more than half of all samples do not exceed, in whole steps of 8 bits. */
static uint32_t usual_error(struct gpume_spots *spots)
{
    const uint32_t width = spots->params.width, height = spots->params.height;
    for (uint32_t i = 0; i < LEVELS; i++) {
        spots->levels[i] = 0;
    }
    gpume_bands_run(&spots->bands, height, 3 * width * sizeof(uint16_t), count_levels, spots);
    uint32_t error = 0;
    for (uint64_t sum = spots->levels[0]; 2 * sum <= (uint64_t)width * height;
         sum += spots->levels[error]) {
        error++;
    }
    return error;
}

/* A number of steps of 8 bits beside a part of the usual error, in work samples. */
static uint32_t threshold(const struct gpume_spots *spots, uint32_t steps, uint32_t error)
{
    return (steps + error) << spots->steps;
}

/* Says of the parts of a piece, from one on, whether both predictions agree about each. What they
 * differ by in a column is at most 16 * 1023 < 2^16. */
static void find_agreement(struct gpume_spots *spots, uint32_t part_x, uint32_t part_y)
{
    const uint32_t width = spots->params.width, shift = spots->shift;
    const uint32_t top = part_y * PART, bottom = gpume_min_u32(spots->params.height, top + PART);
    const uint32_t left = part_x * PART, across = gpume_min_u32(width - left, PIECE);
    const uint32_t most = threshold(spots, AGREE_ON_THE_WHOLE, spots->error);
    uint16_t columns[PIECE] = {0};
    for (uint32_t y = top; y < bottom; y++) {
        const uint16_t *before = spots->guesses[0].luma + (size_t)y * width + left;
        const uint16_t *after = spots->guesses[1].luma + (size_t)y * width + left;
        for (uint32_t x = 0; x < across; x++) {
            const int32_t apart = (before[x] >> shift) - (after[x] >> shift);
            columns[x] = (uint16_t)(columns[x] + abs(apart));
        }
    }
    bool *agrees = spots->agrees + (size_t)part_y * spots->parts_x + part_x;
    for (uint32_t begin = 0; begin < across; begin += PART) {
        const uint32_t end = gpume_min_u32(across, begin + PART);
        uint32_t sum = 0;
        for (uint32_t x = begin; x < end; x++) {
            sum += columns[x];
        }
        agrees[begin / PART] = sum <= (end - begin) * (bottom - top) * most;
    }
}

/* Whether a sample lies beyond all those around its place in both predictions. */
static bool is_sure(const struct gpume_spots *spots, uint32_t x, uint32_t y, bool bright)
{
    const uint32_t width = spots->params.width, height = spots->params.height;
    const uint32_t own = spots->own->luma[(size_t)y * width + x] >> spots->shift;
    const uint32_t beyond = threshold(spots, STRONG, spots->error);
    bool sure = true;
    for (uint32_t i = 0; i < 9 && sure; i++) {
        const size_t at = (size_t)gpume_nearest((int64_t)y + i / 3 - 1, height) * width +
                          (size_t)gpume_nearest((int64_t)x + i % 3 - 1, width);
        for (uint32_t k = 0; k < 2; k++) {
            const uint32_t other = spots->guesses[k].luma[at] >> spots->shift;
            sure = sure && (bright ? own > other + beyond : other > own + beyond);
        }
    }
    return sure;
}

/* Marks the samples of a row that contradict both predictions, where these agree. */
static void mark_samples(const struct gpume_spots *spots, size_t start)
{
    const uint32_t width = spots->params.width, shift = spots->shift;
    const int32_t agree = (int32_t)threshold(spots, AGREE, spots->error);
    const int32_t beyond = (int32_t)threshold(spots, WEAK, spots->error / 2);
    const uint16_t *restrict own = spots->own->luma + start;
    const uint16_t *restrict before = spots->guesses[0].luma + start;
    const uint16_t *restrict after = spots->guesses[1].luma + start;
    uint8_t *restrict marks = spots->marks + start;
    for (uint32_t x = 0; x < width; x++) {
        const int32_t v = own[x] >> shift, a = before[x] >> shift, b = after[x] >> shift;
        const int32_t low = a < b ? a : b, high = a < b ? b : a;
        const uint32_t mark = (v > high + beyond ? BRIGHT : 0) | (v + beyond < low ? DARK : 0);
        marks[x] = (uint8_t)(high - low <= agree ? mark : 0);
    }
}

static void mark_row(struct gpume_spots *spots, uint32_t y)
{
    const size_t start = (size_t)y * spots->params.width;
    const bool *agrees = spots->agrees + (size_t)(y / PART) * spots->parts_x;
    uint8_t *marks = spots->marks + start;
    mark_samples(spots, start);
    spots->has_sure[y] = false;
    for (uint32_t x = 0; x < spots->params.width; x++) {
        if (marks[x] != 0 && !agrees[x / PART]) {
            marks[x] = 0;
        } else if (marks[x] != 0 && is_sure(spots, x, y, marks[x] == BRIGHT)) {
            marks[x] |= SURE;
            spots->has_sure[y] = true;
        }
    }
}

/* --- regions */

static struct box widened(const struct gpume_spots *spots, struct box box, uint32_t by)
{
    return (struct box){box.left > by ? box.left - by : 0, box.top > by ? box.top - by : 0,
        gpume_min_u32(box.right + by, spots->params.width - 1),
        gpume_min_u32(box.bottom + by, spots->params.height - 1)};
}

/* Gathers the marked samples of the same sign that touch each other, from one on. Returns their
 * count. */
static uint32_t gather(struct gpume_spots *spots, uint32_t first, struct box *box, uint32_t *sure)
{
    const uint32_t width = spots->params.width;
    const uint8_t sign = spots->marks[first] & SIGN;
    uint32_t count = 0, waiting = 0;
    *box = (struct box){first % width, first / width, first % width, first / width};
    *sure = 0;
    spots->waiting[waiting++] = first;
    spots->marks[first] |= SEEN;
    while (waiting > 0) {
        const uint32_t at = spots->waiting[--waiting], x = at % width, y = at / width;
        const struct box around = widened(spots, (struct box){x, y, x, y}, 1);
        spots->region[count++] = at;
        *sure += (spots->marks[at] & SURE) != 0;
        *box = (struct box){gpume_min_u32(box->left, x), gpume_min_u32(box->top, y),
            gpume_max_u32(box->right, x), gpume_max_u32(box->bottom, y)};
        for (uint32_t v = around.top; v <= around.bottom; v++) {
            for (uint32_t u = around.left; u <= around.right; u++) {
                uint8_t *mark = &spots->marks[(size_t)v * width + u];
                if ((*mark & SIGN) == sign && !(*mark & SEEN)) {
                    *mark |= SEEN;
                    spots->waiting[waiting++] = v * width + u;
                }
            }
        }
    }
    return count;
}

static uint32_t mean_at(const struct gpume_spots *spots, size_t at)
{
    const uint32_t a = spots->guesses[0].luma[at] >> spots->shift;
    const uint32_t b = spots->guesses[1].luma[at] >> spots->shift;
    return (a + b + 1) >> 1;
}

static uint32_t contrast_at(const struct gpume_spots *spots, size_t at)
{
    return difference(spots->own->luma[at] >> spots->shift, mean_at(spots, at));
}

/* Whether a sample of this sign is marked here or beside. */
static bool touches(const struct gpume_spots *spots, uint32_t x, uint32_t y, uint8_t sign)
{
    const struct box around = widened(spots, (struct box){x, y, x, y}, 1);
    bool found = false;
    for (uint32_t v = around.top; v <= around.bottom && !found; v++) {
        for (uint32_t u = around.left; u <= around.right && !found; u++) {
            found = (spots->marks[(size_t)v * spots->params.width + u] & SIGN) == sign;
        }
    }
    return found;
}

/* Whether what surrounds a region fits, beyond the usual error, four times as well as the region:
 * around what moves it does not. */
static bool stands_out(const struct gpume_spots *spots, uint32_t count, struct box box)
{
    const uint8_t sign = spots->marks[spots->region[0]] & SIGN;
    const struct box ring = widened(spots, box, RING);
    uint64_t contrast = 0, errors = 0, samples = 0;
    for (uint32_t i = 0; i < count; i++) {
        contrast += contrast_at(spots, spots->region[i]);
    }
    for (uint32_t y = ring.top; y <= ring.bottom; y++) {
        for (uint32_t x = ring.left; x <= ring.right; x++) {
            if (!touches(spots, x, y, sign)) {
                errors += error_at(spots, (size_t)y * spots->params.width + x);
                samples++;
            }
        }
    }
    const uint64_t usual = samples * threshold(spots, 0, spots->error);
    return samples > 0 && (errors <= usual || 4 * count * (errors - usual) <= contrast * samples);
}

/* The sum of differences between a box and what lies (dx,dy) away in a picture, as far as it is
 * below a limit. */
static uint64_t compare_box(const struct gpume_spots *spots, struct box box,
    const struct picture *other, int32_t dx, int32_t dy, uint64_t limit)
{
    const uint32_t width = spots->params.width, height = spots->params.height;
    uint64_t sum = 0;
    for (uint32_t y = box.top; y <= box.bottom && sum < limit; y++) {
        const uint16_t *own = spots->own->luma + (size_t)y * width;
        const uint16_t *row = other->luma + (size_t)gpume_nearest((int64_t)y + dy, height) * width;
        for (uint32_t x = box.left; x <= box.right; x++) {
            sum += difference(
                own[x] >> spots->shift, row[gpume_nearest((int64_t)x + dx, width)] >> spots->shift);
        }
    }
    return sum;
}

/* Whether a box is found in a neighbour at less than two thirds of what it differs from its
 * predictions by. */
static bool is_found(const struct gpume_spots *spots, struct box box)
{
    uint64_t sum = 0;
    box = widened(spots, box, MARGIN);
    for (uint32_t y = box.top; y <= box.bottom; y++) {
        for (uint32_t x = box.left; x <= box.right; x++) {
            sum += contrast_at(spots, (size_t)y * spots->params.width + x);
        }
    }
    const uint64_t limit = gpume_div_up(2 * sum, 3);
    bool found = false;
    for (int32_t dy = -REACH; dy <= REACH && !found; dy++) {
        for (int32_t dx = -REACH; dx <= REACH && !found; dx++) {
            found = compare_box(spots, box, spots->others[0], dx, dy, limit) < limit ||
                    compare_box(spots, box, spots->others[1], dx, dy, limit) < limit;
        }
    }
    return found;
}

/* --- clean pictures */

static uint32_t sample_at(
    const struct gpume_spots *spots, const struct picture *picture, uint32_t plane, size_t at)
{
    const uint8_t *bytes = picture->bytes[plane];
    return spots->params.bits > 8 ? ((const uint16_t *)(const void *)bytes)[at] : bytes[at];
}

/* A sample of chroma as a neighbour predicts it. */
static uint32_t predict_sample(
    const struct gpume_spots *spots, uint32_t plane, uint32_t index, uint32_t x, uint32_t y)
{
    const struct gpume_filter_params *p = &spots->params;
    const uint32_t width = samples_across(spots, plane), height = samples_down(spots, plane);
    const struct gpume_vector v =
        spots->guesses[index].vectors[(size_t)((y << p->chroma_y) / BLOCK) * spots->blocks_x +
                                      (x << p->chroma_x) / BLOCK];
    const int32_t dx = v.dx * (1 << (1 - p->chroma_x)), dy = v.dy * (1 << (1 - p->chroma_y));
    const int32_t peak = (int32_t)(1u << p->bits) - 1;
    int32_t sum = 0;
    for (int32_t j = 0; j < GPUME_CHROMA_TAPS; j++) {
        const size_t row = (size_t)gpume_nearest((int64_t)y + (dy >> 3) + j - 1, height) * width;
        for (int32_t i = 0; i < GPUME_CHROMA_TAPS; i++) {
            const size_t at = row + (size_t)gpume_nearest((int64_t)x + (dx >> 3) + i - 1, width);
            sum += gpume_chroma_taps[dx & 7][i] * gpume_chroma_taps[dy & 7][j] *
                   (int32_t)sample_at(spots, spots->others[index], plane, at);
        }
    }
    sum = (sum + 2048) >> 12;
    return (uint32_t)(sum < 0 ? 0 : sum > peak ? peak : sum);
}

static void replace(const struct gpume_spots *spots, uint32_t plane, size_t at, uint32_t value)
{
    uint8_t *bytes = spots->planes[plane].data;
    if (spots->params.bits > 8) {
        ((uint16_t *)(void *)bytes)[at] = (uint16_t)value;
    } else {
        bytes[at] = (uint8_t)value;
    }
}

/* Chroma beside a spot of luma. */
static void replace_chroma(const struct gpume_spots *spots, uint32_t x, uint32_t y)
{
    const uint32_t cx = x >> spots->params.chroma_x, cy = y >> spots->params.chroma_y;
    for (uint32_t p = 1; p < spots->params.plane_count; p++) {
        replace(spots, p, (size_t)cy * samples_across(spots, p) + cx,
            (predict_sample(spots, p, 0, cx, cy) + predict_sample(spots, p, 1, cx, cy) + 1) >> 1);
    }
}

/* A sample of a spot, and the chroma beside it. */
static void replace_sample(struct gpume_spots *spots, uint32_t at)
{
    const uint32_t width = spots->params.width;
    const uint32_t sum = (uint32_t)spots->guesses[0].luma[at] + spots->guesses[1].luma[at];
    replace(spots, 0, at, (sum + 1) >> 1);
    replace_chroma(spots, at % width, at / width);
    spots->clean.replaced++;
}

static void replace_regions(struct gpume_spots *spots, uint32_t y)
{
    const uint32_t width = spots->params.width;
    for (uint32_t i = y * width; i < (y + 1) * width; i++) {
        if ((spots->marks[i] & (SURE | SEEN)) != SURE) {
            continue;
        }
        struct box box;
        uint32_t sure;
        const uint32_t count = gather(spots, i, &box, &sure);
        const bool spot = box.right - box.left < SIDE && box.bottom - box.top < SIDE && sure >= 2 &&
                          stands_out(spots, count, box) && !is_found(spots, box);
        for (uint32_t k = 0; k < count && spot; k++) {
            replace_sample(spots, spots->region[k]);
        }
    }
}

/* Rows of parts. */
static void mark_parts(void *opaque, uint32_t begin, uint32_t end)
{
    struct gpume_spots *spots = opaque;
    for (uint32_t part_y = begin; part_y < end; part_y++) {
        for (uint32_t part_x = 0; part_x < spots->parts_x; part_x += PIECE / PART) {
            find_agreement(spots, part_x, part_y);
        }
    }
    const uint32_t bottom = gpume_min_u32(spots->params.height, end * PART);
    for (uint32_t y = begin * PART; y < bottom; y++) {
        mark_row(spots, y);
    }
}

static void remove_spots(struct gpume_spots *spots)
{
    if (!are_alike(spots)) {
        return;
    }
    spots->error = usual_error(spots);
    gpume_bands_run(&spots->bands, spots->parts_y,
        (size_t)3 * PART * spots->params.width * sizeof(uint16_t), mark_parts, spots);
    for (uint32_t y = 0; y < spots->params.height; y++) {
        if (spots->has_sure[y]) {
            replace_regions(spots, y);
        }
    }
}

/* has_both: it is predicted from both sides. */
static void clean_picture(struct gpume_spots *spots, uint64_t number, bool has_both)
{
    spots->own = &spots->pictures[number % KEPT];
    spots->others[0] = &spots->pictures[(number + KEPT - 1) % KEPT];
    spots->others[1] = &spots->pictures[(number + 1) % KEPT];
    for (uint32_t p = 0; p < spots->params.plane_count; p++) {
        memcpy(spots->planes[p].data, spots->own->bytes[p],
            row_bytes(spots, p) * samples_down(spots, p));
    }
    spots->clean =
        (struct gpume_spots_picture){.planes = spots->planes, .time_us = spots->own->time_us};
    spots->ready = true;
    if (has_both) {
        remove_spots(spots);
    }
}

/* --- the search */

/* Keeps what a field says of its picture; that of the future is the last one of it. */
static void take_field(struct gpume_spots *spots, const struct gpume_field *field)
{
    const bool future = field->ref > field->frame;
    struct guess *guess = &spots->guesses[future];
    widen(guess->luma, &field->predicted);
    memcpy(guess->vectors, field->vectors,
        (size_t)field->blocks_x * field->blocks_y * sizeof *guess->vectors);
    if (future) {
        clean_picture(spots, field->frame, field->frame > 0);
    }
}

/* Sends the picture that was put last, and receives what it makes possible. */
static int search_picture(struct gpume_spots *spots, const struct gpume_plane *luma)
{
    const struct gpume_field *field = NULL;
    int status = gpume_send_plane(spots->search, luma, 0);
    while (status == GPUME_OK && (status = gpume_receive(spots->search, &field, 0)) == GPUME_OK) {
        take_field(spots, field);
        gpume_field_release(&field);
    }
    return status == GPUME_AGAIN ? GPUME_OK : status;
}

int gpume_spots_put(struct gpume_spots *spots, const struct gpume_plane *planes, int64_t time_us)
{
    struct picture *picture = &spots->pictures[spots->put++ % KEPT];
    for (uint32_t p = 0; p < spots->params.plane_count; p++) {
        const size_t bytes = row_bytes(spots, p);
        for (uint32_t y = 0; y < planes[p].height; y++) {
            memcpy(picture->bytes[p] + y * bytes, gpume_temporal_row(&planes[p], y), bytes);
        }
    }
    widen(picture->luma, &planes[0]);
    picture->time_us = time_us;
    return search_picture(spots, &planes[0]);
}

void gpume_spots_finish(struct gpume_spots *spots)
{
    if (spots->put > 0) {
        clean_picture(spots, spots->put - 1, false);
    }
}

const struct gpume_spots_picture *gpume_spots_ready(const struct gpume_spots *spots)
{
    return spots->ready ? &spots->clean : NULL;
}

void gpume_spots_pass(struct gpume_spots *spots)
{
    spots->ready = false;
}
