/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/pictures.h"

#include "base/status.h"
#include "console.h"
#include "draw/overlay.h"
#include "files/bytes.h"
#include "html.h"
#include "media/picture.h"

#include <stdlib.h>

#define DIM 40u        /* percent, beneath arrows */
#define SIDE_MIN 480u  /* pixels that pictures should be wide */
#define SIDE_MAX 1920u /* and are at most, if they are enlarged */
#define CELL_MIN 16u   /* pixels of a block in which an arrow can be told from others */
#define ACROSS_MAX 64u /* blocks across of which arrows can be told apart on a page */

static uint32_t choose_scale(uint32_t width, uint32_t block)
{
    uint32_t scale = 1;
    while ((width * scale < SIDE_MIN || block * scale < CELL_MIN) &&
           width * scale * 2 <= SIDE_MAX && scale < GPUME_OVERLAY_SCALE_MAX) {
        scale *= 2;
    }
    return scale;
}

static bool make_rgb(struct gpume_methods_pictures *pictures)
{
    const struct gpume_plane *luma = pictures->worst->pair.target;
    pictures->rgb = (struct gpume_plane){.data = malloc((size_t)3 * luma->width * luma->height),
        .stride = (ptrdiff_t)3 * luma->width,
        .width = luma->width,
        .height = luma->height,
        .bits = 8};
    uint8_t *to = pictures->rgb.data;
    for (uint32_t y = 0; to && y < luma->height; y++) {
        const uint8_t *from = (const uint8_t *)luma->data + (ptrdiff_t)y * luma->stride;
        for (uint32_t x = 0; x < luma->width; x++, to += 3) {
            to[0] = to[1] = to[2] = from[x];
        }
    }
    return to != NULL;
}

static int open_overlay(const struct gpume_methods_pictures *pictures, uint32_t window,
    enum gpume_overlay_style style, struct gpume_overlay **overlay)
{
    const struct gpume_tally_pair *pair = &pictures->worst->pair;
    const struct gpume_overlay_options options = {
        .width = pair->target->width,
        .height = pair->target->height,
        .bits = 8,
        .block_w = pair->block,
        .block_h = pair->block,
        .window_x = window,
        .window_y = window,
        .look = {.style = style,
            .key = style == GPUME_OVERLAY_COST ? GPUME_OVERLAY_KEY_OFF : GPUME_OVERLAY_KEY_AUTO,
            .scale = pictures->scale,
            .dim = style == GPUME_OVERLAY_ARROWS ? DIM : 0,
            .flow_max = GPUME_OVERLAY_FLOW_AUTO},
    };
    return gpume_overlay_create(overlay, &options);
}

int gpume_methods_pictures_open(struct gpume_methods_pictures *pictures,
    const struct gpume_worst *worst, uint32_t window, const char *label)
{
    const struct gpume_tally_pair *pair = &worst->pair;
    *pictures = (struct gpume_methods_pictures){.worst = worst,
        .scale = choose_scale(pair->target->width, pair->block),
        .coloured = pair->target->width / pair->block > ACROSS_MAX,
        .label = label,
        .costs = calloc(worst->blocks, sizeof(*pictures->costs)),
        .least = calloc(worst->blocks, sizeof(*pictures->least))};
    int status = pictures->costs && pictures->least && make_rgb(pictures) ? GPUME_OK : GPUME_NOMEM;
    status = status ? status
                    : open_overlay(pictures, window,
                          pictures->coloured ? GPUME_OVERLAY_FLOW : GPUME_OVERLAY_ARROWS,
                          &pictures->motion);
    status = status ? status : open_overlay(pictures, window, GPUME_OVERLAY_COST, &pictures->heat);
    if (status != GPUME_OK) {
        return status == GPUME_NOMEM ? gpume_log_nomem(&gpume_console, label)
                                     : gpume_log_fail(&gpume_console, GPUME_INVALID,
                                           "%s: the frames are too large for pictures", label);
    }
    const struct gpume_tally_pair exact = gpume_worst_pair(worst, 0);
    gpume_tally_costs(&exact, pictures->least);
    return gpume_still_open(&pictures->still, label, pictures->rgb.width * pictures->scale,
        pictures->rgb.height * pictures->scale, true, false, &gpume_console);
}

void gpume_methods_pictures_close(struct gpume_methods_pictures *pictures)
{
    gpume_overlay_destroy(&pictures->motion);
    gpume_overlay_destroy(&pictures->heat);
    gpume_still_close(&pictures->still);
    free(pictures->rgb.data);
    free(pictures->costs);
    free(pictures->least);
}

static int put_picture(struct gpume_methods_pictures *pictures, struct gpume_overlay *overlay,
    size_t search, const char *what, struct gpume_out *out)
{
    const struct gpume_tally_pair pair = gpume_worst_pair(pictures->worst, search);
    const struct gpume_layer layer = {
        .block_w = pair.block,
        .block_h = pair.block,
        .blocks_x = pair.target->width / pair.block,
        .blocks_y = pair.target->height / pair.block,
        .vectors = pair.vectors,
        .costs = pictures->costs,
        .ranks = pictures->costs, /* of no meaning for these styles */
    };
    const struct gpume_layer *layers[] = {&layer};
    const struct gpume_field field = {
        .frame = pictures->worst->target, .vector_units = 1, .layer_count = 1, .layers = layers};
    struct gpume_plane picture;
    const unsigned char *data;
    size_t bytes;
    if (gpume_overlay_draw(overlay, &pictures->rgb, &field, &picture) != GPUME_OK) {
        return gpume_log_nomem(&gpume_console, pictures->label);
    }
    GPUME_CHECK(gpume_still_encode(pictures->still, &picture, &data, &bytes));
    gpume_html_print(out,
        "<img alt=\"%s\" width=\"%u\" height=\"%u\" src=\"data:image/jpeg;base64,", what,
        (unsigned)picture.width, (unsigned)picture.height);
    gpume_base64_write(out, data, bytes);
    gpume_html_put(out, "\">");
    return GPUME_OK;
}

int gpume_methods_picture_vectors(
    struct gpume_methods_pictures *pictures, size_t search, struct gpume_out *out)
{
    return put_picture(pictures, pictures->motion, search, "vectors", out);
}

int gpume_methods_picture_loss(
    struct gpume_methods_pictures *pictures, size_t search, struct gpume_out *out)
{
    const struct gpume_tally_pair pair = gpume_worst_pair(pictures->worst, search);
    gpume_tally_costs(&pair, pictures->costs);
    for (size_t i = 0; search > 0 && i < pictures->worst->blocks; i++) {
        pictures->costs[i] -= pictures->least[i];
    }
    return put_picture(pictures, pictures->heat, search, search > 0 ? "loss" : "cost", out);
}
