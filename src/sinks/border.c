/* SPDX-License-Identifier: BSD-2-Clause */
#include "sinks/border.h"

#include "sinks/shown.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define SHARE_MAX 0.01 /* more suggests a wider window */

/* The window in units of vectors; axes without any displacement have no border. */
struct limits {
    int x, y;
};

static bool touches(struct limits limits, struct gpume_vector vector)
{
    return (limits.x > 0 && abs(vector.dx) == limits.x) ||
           (limits.y > 0 && abs(vector.dy) == limits.y);
}

/* Of one layer with one vector per block. */
static uint64_t count_plain(
    struct limits limits, const struct gpume_vector *vectors, uint64_t blocks)
{
    /* No vector has a component of INT_MAX. */
    const int x = limits.x > 0 ? limits.x : INT_MAX, y = limits.y > 0 ? limits.y : INT_MAX;
    uint64_t count = 0;
    for (uint64_t i = 0; i < blocks; i++) {
        count += (abs(vectors[i].dx) == x) | (abs(vectors[i].dy) == y);
    }
    return count;
}

uint64_t gpume_border_count(const struct gpume_field *field, const struct gpume_params *params)
{
    const uint64_t blocks = gpume_shown_count(field);
    const struct limits limits = {(int)(params->window_x * field->vector_units),
        (int)(params->window_y * field->vector_units)};
    uint64_t count = 0;
    if (field->part_count == 0 && !field->layers[0]->refs2) {
        return count_plain(limits, field->layers[0]->vectors, blocks);
    }
    for (uint64_t i = 0; i < blocks; i++) {
        const struct gpume_part *part = field->part_count > 0 ? &field->parts[i] : NULL;
        const struct gpume_layer *layer = field->layers[part ? part->layer : 0];
        const uint64_t at = part ? part->block : i;
        const bool two = layer->refs2 && layer->refs2[at] != GPUME_NONE;
        count +=
            touches(limits, layer->vectors[at]) || (two && touches(limits, layer->vectors2[at]));
    }
    return count;
}

static uint32_t wider(uint32_t window)
{
    const uint32_t twice = 2 * window + 2;
    return window == 0 ? 0 : twice < GPUME_WINDOW_MAX ? twice : GPUME_WINDOW_MAX;
}

void gpume_border_try(
    uint64_t count, uint64_t blocks, const struct gpume_params *params, char window[32])
{
    const uint32_t x = wider(params->window_x), y = wider(params->window_y);
    window[0] = '\0';
    if ((double)count <= SHARE_MAX * (double)blocks ||
        (x == params->window_x && y == params->window_y)) {
        return;
    }
    if (params->window_x == params->window_y) {
        snprintf(window, 32, "%" PRIu32, x);
    } else {
        snprintf(window, 32, "%" PRIu32 "x%" PRIu32, x, y);
    }
}

void gpume_border_text(uint64_t count, uint64_t blocks, const struct gpume_params *params,
    char text[GPUME_BORDER_TEXT_BYTES])
{
    char window[32];
    gpume_border_try(count, blocks, params, window);
    snprintf(text, GPUME_BORDER_TEXT_BYTES, "%.1f %% of vectors touch the window's border%s%s",
        blocks > 0 ? 100 * (double)count / (double)blocks : 0, window[0] ? "; try -w " : "",
        window);
}
