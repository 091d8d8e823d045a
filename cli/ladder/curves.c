/* SPDX-License-Identifier: BSD-2-Clause */
/* What gpume ladder makes of curves: the best sizes, where neighbours cross, and rungs. */
#include "ladder/ladder.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CRF_BOTTOM                                                                                 \
    34 /* of the smallest size at the lower end of the ladder, unless it is given                  \
        */

/* The member `size` of a row. */
static void name_size(char text[24], uint32_t width, uint32_t height)
{
    snprintf(text, 24, "%" PRIu32 "x%" PRIu32, width, height);
}

void gpume_ladder_fill_curves(struct gpume_ladder *ladder)
{
    for (size_t i = 0; i < ladder->size_count; i++) {
        struct gpume_ladder_size *size = &ladder->sizes[i];
        ladder->curves[i].points = size->points;
        ladder->curves[i].count = gpume_ladder_fill(&size->facts, size->points);
        ladder->curves[i].scaling = size->facts.scaling;
    }
}

static void list_points(struct gpume_ladder *ladder)
{
    for (size_t i = 0; i < ladder->size_count; i++) {
        const struct gpume_ladder_size *size = &ladder->sizes[i];
        for (size_t k = 0; k < ladder->curves[i].count; k++) {
            const struct gpume_ladder_point *point = &size->points[k];
            ladder->rows[ladder->row_count++] = (struct gpume_ladder_row){
                .width = size->width,
                .height = size->height,
                .crf = point->crf,
                .bitrate = point->bitrate,
                .psnr = point->psnr,
                .scaling_psnr =
                    size->rescale ? gpume_ladder_psnr(size->facts.scaling) : (double)NAN,
                .best = gpume_ladder_best(ladder->curves, ladder->size_count, point->bitrate) == i,
            };
        }
    }
}

static void find_hull(struct gpume_ladder *ladder)
{
    struct gpume_ladder_stretch stretches[GPUME_LADDER_STRETCHES_MAX];
    const size_t found = gpume_ladder_stretches(
        ladder->curves, ladder->size_count, stretches, GPUME_LADDER_STRETCHES_MAX);
    ladder->hull_count = found < GPUME_LADDER_STRETCHES_MAX ? found : GPUME_LADDER_STRETCHES_MAX;
    for (size_t i = 0; i < ladder->hull_count; i++) {
        const struct gpume_ladder_stretch *stretch = &stretches[i];
        const struct gpume_ladder_size *size = &ladder->sizes[stretch->curve];
        struct gpume_ladder_point from = {0}, to = {0};
        (void)gpume_ladder_at(&ladder->curves[stretch->curve], stretch->from, &from);
        (void)gpume_ladder_at(&ladder->curves[stretch->curve], stretch->to, &to);
        ladder->hull[i] = (struct gpume_ladder_hull_row){
            .width = size->width,
            .height = size->height,
            .from = stretch->from,
            .to = stretch->to,
            .psnr_from = from.psnr,
            .psnr_to = to.psnr,
            .crf_from = from.crf,
            .crf_to = to.crf,
            .kbit_from = stretch->from / 1000,
            .kbit_to = stretch->to / 1000,
        };
        name_size(ladder->hull[i].size, size->width, size->height);
    }
}

static void find_crossings(struct gpume_ladder *ladder)
{
    for (size_t i = 0; i + 1 < ladder->size_count; i++) {
        const struct gpume_ladder_size *larger = &ladder->sizes[i], *smaller = larger + 1;
        struct gpume_ladder_point point;
        double bitrate;
        if (gpume_ladder_meet(&ladder->curves[i], &ladder->curves[i + 1], &bitrate) ==
                GPUME_LADDER_CROSS &&
            gpume_ladder_at(&ladder->curves[i], bitrate, &point)) {
            ladder->crossings[ladder->crossing_count++] = (struct gpume_ladder_crossing_row){
                .width = larger->width,
                .height = larger->height,
                .smaller_width = smaller->width,
                .smaller_height = smaller->height,
                .bitrate = bitrate,
                .psnr = point.psnr,
            };
        }
    }
}

/* The best size at a bitrate, at a CRF of one decimal. False: no size goes there. */
static bool make_rung(
    const struct gpume_ladder *ladder, double bitrate, struct gpume_ladder_rung_row *rung)
{
    const size_t best = gpume_ladder_best(ladder->curves, ladder->size_count, bitrate);
    struct gpume_ladder_point point;
    if (best == ladder->size_count || !gpume_ladder_at(&ladder->curves[best], bitrate, &point)) {
        return false;
    }
    const struct gpume_ladder_size *size = &ladder->sizes[best];
    *rung = (struct gpume_ladder_rung_row){.width = size->width,
        .height = size->height,
        .crf = round(point.crf * 10) / 10,
        .bitrate = bitrate,
        .psnr = point.psnr,
        .measured_bitrate = NAN,
        .measured_psnr = NAN,
        .bitrate_off = NAN,
        .psnr_off = NAN,
        .kbit = bitrate / 1000,
        .measured_kbit = NAN};
    name_size(rung->size, size->width, size->height);
    snprintf(rung->rung, sizeof(rung->rung), "%" PRIu32 "x%" PRIu32 ":crf=%.1f", size->width,
        size->height, rung->crf);
    return true;
}

/* The bitrates of the highest and the lowest rung; an end that was given moves the other one. */
static void find_ends(const struct gpume_ladder *ladder, double *top, double *bottom)
{
    const struct gpume_ladder_options *options = ladder->options;
    const struct gpume_ladder_curve *smallest = &ladder->curves[ladder->size_count - 1];
    *top = options->max_bitrate > 0
               ? (double)options->max_bitrate
               : gpume_ladder_bitrate_at(&ladder->curves[0], GPUME_LADDER_CRF_TOP);
    *bottom = options->min_bitrate > 0 ? (double)options->min_bitrate
                                       : gpume_ladder_bitrate_at(smallest, CRF_BOTTOM);
    if (options->max_bitrate > 0) {
        *bottom = fmin(*bottom, *top);
    } else {
        *top = fmax(*top, *bottom);
    }
}

/* Refuses bitrates that were given and leave none. */
static enum gpume_exit propose_rungs(struct gpume_ladder *ladder)
{
    double top, bottom;
    char range[80] = "no curve has two points";
    if (ladder->hull_count > 0) {
        snprintf(range, sizeof(range), "the curves go from %.3g to %.4g kbit/s",
            ladder->hull[0].from / 1000, ladder->hull[ladder->hull_count - 1].to / 1000);
    }
    find_ends(ladder, &top, &bottom);
    const uint32_t count = bottom < top ? ladder->options->rungs : 1;
    uint32_t beyond = 0, same = 0; /* rungs that are left out */
    for (uint32_t i = 0; i < count; i++) {
        const double part = count > 1 ? (double)i / (count - 1) : 0;
        struct gpume_ladder_rung_row *rung = &ladder->rungs[ladder->rung_count];
        if (!make_rung(ladder, top * pow(bottom / top, part), rung)) {
            beyond++;
        } else if (ladder->rung_count > 0 && strcmp(rung[-1].rung, rung->rung) == 0) {
            same++;
        } else {
            ladder->rung_count++;
        }
    }
    const struct gpume_ladder_options *options = ladder->options;
    const bool is_given = options->min_bitrate > 0 || options->max_bitrate > 0;
    if (ladder->rung_count == 0 && ladder->hull_count > 0 && is_given) {
        const bool is_low = options->min_bitrate == 0 || top < ladder->hull[0].from;
        return gpume_refuse(GPUME_EXIT_USAGE,
            "--%s-bitrate %.0fk: no rung is left: %s; give bitrates within that, or more --crf",
            is_low ? "max" : "min", (is_low ? top : bottom) / 1000, range);
    }
    if (beyond > 0) {
        gpume_console_warning("%" PRIu32 " of %" PRIu32 " rung%s left out: %s; give "
                              "--min-bitrate and --max-bitrate, or more --crf",
            beyond, count, gpume_plural(count), range);
    }
    if (same > 0) {
        gpume_console_warning("%" PRIu32 " of %" PRIu32 " rung%s left out, with the size "
                              "and the CRF of another; give fewer --rungs, or --min-bitrate and "
                              "--max-bitrate farther apart",
            same, count, gpume_plural(count));
    }
    return GPUME_EXIT_DONE;
}

enum gpume_exit gpume_ladder_find(struct gpume_ladder *ladder)
{
    list_points(ladder);
    find_hull(ladder);
    find_crossings(ladder);
    return propose_rungs(ladder);
}
