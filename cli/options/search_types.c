/* SPDX-License-Identifier: BSD-2-Clause */
#include "options/search_types.h"

#include "options/types.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool add_shape(struct gpume_shape_list *list, uint32_t width, uint32_t height)
{
    if (list->count == GPUME_SHAPES_MAX) {
        return false;
    }
    list->shapes[list->count++] = (struct gpume_block_size){width, height};
    return true;
}

/* Squares from the largest side to the smallest, each half of the one before. */
static bool add_squares(
    struct gpume_shape_list *list, uint32_t largest, uint32_t smallest, bool halves)
{
    uint32_t side = largest;
    bool fits = add_shape(list, side, side);
    while (fits && side > smallest && side % 2 == 0) {
        const uint32_t half = side / 2;
        fits = !halves || (add_shape(list, side, half) && add_shape(list, half, side));
        side = half;
        fits = fits && add_shape(list, side, side);
    }
    return fits && side == smallest;
}

/* Moves *text behind a side. */
static bool take_side(const char **text, uint32_t *side)
{
    const size_t length = strspn(*text, "0123456789");
    uint64_t number;
    if (!gpume_parse_digits(*text, length, GPUME_BLOCK_MAX, &number) || number < GPUME_BLOCK_MIN ||
        number % 4 != 0) {
        return false;
    }
    *side = (uint32_t)number;
    *text += length;
    return true;
}

static bool take_text(const char **text, const char *wanted)
{
    const size_t length = strlen(wanted);
    if (strncmp(*text, wanted, length) != 0) {
        return false;
    }
    *text += length;
    return true;
}

static bool take_shapes(const char **text, struct gpume_shape_list *list)
{
    uint32_t first, second;
    if (!take_side(text, &first)) {
        return false;
    }
    if (take_text(text, "x")) {
        return take_side(text, &second) && add_shape(list, first, second);
    }
    if (take_text(text, "..")) {
        return take_side(text, &second) &&
               add_squares(list, first, second, take_text(text, "+rect"));
    }
    return add_shape(list, first, first);
}

static bool parse_shapes(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_shape_list list = {.count = 0};
    (void)option;
    do {
        if (!take_shapes(&text, &list)) {
            return false;
        }
    } while (take_text(&text, ","));
    *(struct gpume_shape_list *)field = list;
    return *text == '\0';
}

static void describe_shapes(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes,
        "up to %d shapes such as 8, 16x8, 64..8 or 64..8+rect, with commas between them and sides "
        "that are multiples of 4 from 4 to 128, e.g. 8",
        GPUME_SHAPES_MAX);
}

void gpume_shape_list_apply(const struct gpume_shape_list *list, struct gpume_params *params)
{
    const bool plain = list->count == 1 && list->shapes[0].width == list->shapes[0].height;
    if (list->count > 0) {
        params->block = list->shapes[0].width;
        params->shape_count = plain ? 0 : list->count;
        memcpy(params->shapes, list->shapes, sizeof(params->shapes));
    }
}

static void insert(struct gpume_distance_list *list, uint32_t distance)
{
    uint32_t at = list->count++;
    for (; at > 0 && list->distances[at - 1] > distance; at--) {
        list->distances[at] = list->distances[at - 1];
    }
    list->distances[at] = distance;
}

static bool parse_distances(const struct gpume_option *option, const char *text, void *field)
{
    struct gpume_distance_list list = {.count = 0};
    (void)option;
    do {
        const size_t length = strspn(text, "0123456789");
        uint64_t number;
        if (!gpume_parse_digits(text, length, GPUME_DISTANCE_MAX, &number) || number == 0 ||
            list.count == GPUME_DISTANCES_MAX) {
            return false;
        }
        insert(&list, (uint32_t)number);
        text += length;
    } while (take_text(&text, ","));
    *(struct gpume_distance_list *)field = list;
    return *text == '\0';
}

static void describe_distances(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes,
        "a whole number from 1 to %d, or a list of at most %d with commas, e.g. 1,2,4",
        GPUME_DISTANCE_MAX, GPUME_DISTANCES_MAX);
}

void gpume_distance_list_apply(const struct gpume_distance_list *list, struct gpume_params *params)
{
    if (list->count > 0) {
        params->ref_distance = list->distances[0];
        params->distance_count = list->count > 1 ? list->count : 0;
        memcpy(params->distances, list->distances, sizeof(params->distances));
    }
}

static bool parse_subpel(const struct gpume_option *option, const char *text, void *field)
{
    (void)option;
    if (text[0] == '\0' || !strchr("124", text[0]) || text[1] != '\0') {
        return false;
    }
    *(uint32_t *)field = (uint32_t)(text[0] - '0');
    return true;
}

static void describe_subpel(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes, "1, 2 or 4");
}

static void subpel_words(const struct gpume_option *option, char *text, size_t bytes)
{
    (void)option;
    snprintf(text, bytes, "1 2 4");
}

void gpume_lambda_apply(double lambda, double qp, struct gpume_params *params)
{
    if (lambda >= 0 || qp >= 0) {
        params->rate = true;
        params->lambda = (uint32_t)floor(256 * (lambda >= 0 ? lambda : exp2((qp - 12) / 6)) + 0.5);
    }
}

const struct gpume_option_type gpume_type_shapes = {
    sizeof(struct gpume_shape_list), parse_shapes, describe_shapes, NULL};
const struct gpume_option_type gpume_type_distances = {
    sizeof(struct gpume_distance_list), parse_distances, describe_distances, NULL};
const struct gpume_option_type gpume_type_subpel = {
    sizeof(uint32_t), parse_subpel, describe_subpel, subpel_words};
